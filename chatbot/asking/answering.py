"""Turns a prompt into a checked answer or a refusal, with a chat model or in the documents' own words.

It does not search for pages.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from chatbot.answer.citations.citation_forms import read_citations
from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.citations.model_refusals import is_refusal
from chatbot.answer.citations.named_pages import uncited_pages
from chatbot.answer.citations.shown_keys import with_whole_keys, without_added
from chatbot.answer.extractive.amending_sentences import amending_sentences
from chatbot.answer.extractive.main_points import main_points
from chatbot.answer.extractive.passage_answers import Likeness, extract_answer, says_again
from chatbot.answer.extractive.whole_quotations import whole_quotations
from chatbot.answer.prompt import Request, build_prompt, size_of, without_rules
from chatbot.answer.stated_change import stated_change
from chatbot.answer.tables.cell_lookup import by_year
from chatbot.answer.tables.operations import by_operation
from chatbot.answer.tables.table_answers import compute_answer, leaves_average_out
from chatbot.answer.verdict import NO, YES, by_sentence
from chatbot.answer.verification.checked_text import check_statements
from chatbot.answer.verification.own_text import check_quoted
from chatbot.answer.verification.reading_call import StatementReading
from chatbot.asking.model_prompts import ModelPrompts
from chatbot.asking.model_turns import ModelTurns
from chatbot.errors import ModelError
from chatbot.evidence.highlights import confidence_of
from chatbot.evidence.page import forget_pages, page_of
from chatbot.evidence.page_figures import in_doubt
from chatbot.evidence.passages import orders_of
from chatbot.models.cosine_scale import EMBEDDED, as_minilms
from chatbot.models.embedders import SentenceVectors
from chatbot.records import (
    NOT_IN_DOCUMENTS,
    NOT_SO_FAR,
    NOT_SURE,
    Answer,
    Citation,
    Event,
    Hit,
    ModelFailure,
    Notice,
    PageRef,
    Prompt,
    Stage,
    Token,
    Understanding,
)
from chatbot.search.amendments import Amendments
from chatbot.search.corpus_vocabulary import is_about, known_terms, listed, opens_with, topic_likeness
from chatbot.search.editions import amended_notice, superseded
from chatbot.search.refusal import (
    SearchEvidence,
    also_known,
    explain,
    left_out,
    refusal_evidence,
    unnamed,
    why_not,
)
from chatbot.search.retrieval import Query, Retriever
from chatbot.search.routing import document_parts
from chatbot.store.library import Library
from ingestion.language.sentences import sentences, within_sentence
from ingestion.language.terms import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatbot.models.chat import LLM, Reply

__all__ = [
    "HAD_SAID",
    "NOT_CALCULATED",
    "NO_AVERAGE",
    "SET_ASIDE",
    "Answering",
    "PromptedQuestion",
    "reply_notices",
]

# Sentences that sum up pages.
POINTS = 6
# Pages that a refusal names as nearest.
NEAREST = 3
# Words of a name that the file's name may leave out.
OF_FIRMS = frozenset(
    "of the and inc corp corporation company co plc ltd limited group holdings city government".split()
)
# The notice that a rating changed an answer in the documents' own words.
SET_ASIDE = "You rated another answer to this question as not helpful. This one puts other passages first."
# The passage nearest to a refused question: the share of the question's words or the cosine that it must
# have, how it is shown, and how many characters of it.
LEAST_CLOSE, LEAST_LIKE = 0.5, 0.35
COMES_CLOSEST = "This passage comes closest."
CLOSEST, LONGEST_QUOTE = "Closest passage, on page {page} of “{document}”: {quote}", 300
# Goes between the reason why a model failed and the part of its answer that had come.
HAD_SAID = " It had written: "
# The notice that an average is asked for and the answer only has figures to work it out from.
NO_AVERAGE = "The average was not calculated. The answer quotes what the pages say."
# What follows where a cited figure may be read in two ways.
NOT_CALCULATED = "nothing was calculated from them"
# The notice that a model repeated its instructions.
REPEATED = "The chat model repeated some of its instructions. Those sentences were removed."
# If an endpoint reads less than this share of a prompt's tokens, by our count, it has cut the prompt. Other
# vocabularies need more tokens for a text, not fewer.
LEAST_READ = 0.75
CUT = (
    "The model read only {read:,} of about {sent:,} tokens. Its context length is too short, so some "
    "sources were lost."
)
CUT_HINT = "Raise its context length (for Ollama: OLLAMA_CONTEXT_LENGTH), or lower FINPOLICY_CONTEXT_TOKENS."
# The notice that a prompt was too long for its model.
SHORTENED = "The prompt was too long for {name}. It was shortened and sent again."
SHORTENED_HINT = "Set FINPOLICY_CONTEXT_TOKENS to the model's context length."
# The notice that a model names pages in its own words.
PAGES_UNCHECKED = "The answer mentions {pages} without a citation. Only numbered citations are checked."


@dataclass(frozen=True, slots=True)
class PromptedQuestion:
    """A question with its prompt.

    prompt: the pages found for it.
    understanding: what it asks for.
    vector: of its subject; None if it was searched by words alone.
    computed: the answer that tables and sentences state or add up to, "" if they do not.
    known: whether any document in reach has a term of its names and years.
    reason: a key of refusal.REASONS; None if the pages may answer. Without a model it decides, with one it is
        advice.
    avoid: the text of an answer that was rated not helpful, "" for none.
    beside: the answer to the same question for another period, whose row is preferred; "" for none.
    around: whether its passage is shown with the text around it.
    sums_up: whether its pages are to be summed up.
    in_part: whether the documents are not completely read yet.
    hasty: whether `reason` was judged by words alone.
    sent: the prompts of a chat model, whose first sources are those of `prompt`; None if none answers.
    names: of the documents that are asked, () for all.
    """

    prompt: Prompt
    understanding: Understanding
    vector: NDArray[np.float32] | None
    computed: str
    known: Callable[[str], bool]
    reason: str | None = None
    avoid: str = ""
    beside: str = ""
    around: bool = False
    sums_up: bool = False
    in_part: bool = False
    hasty: bool = False
    sent: ModelPrompts | None = None
    names: Sequence[str] = ()


class Answering:
    """Answers from the pages of a library. Safe from several threads."""

    def __init__(self, library: Library, *, context_tokens: int) -> None:
        """context_tokens: of a prompt."""
        self._library, self._context_tokens = library, context_tokens
        self._sentences = SentenceVectors(library.embedder)
        self._amendments = Amendments(library)

    def forget(self) -> None:
        """Drop everything kept of pages that were read, because they may have been erased."""
        forget_pages()
        self._sentences.forget()

    @property
    def sentence_vectors(self) -> Callable[[Sequence[str]], NDArray[np.float32]] | None:
        """Makes unit rows of sentences; None where an endpoint would be called for each page."""
        if self._library.embedder.fingerprint.startswith(EMBEDDED):
            return self._sentences.vectors
        return None

    def prompt(self, question: str, hits: Sequence[Hit], query: str = "") -> Prompt:
        """A prompt of these pages alone. query: what was searched, "" for the question itself."""
        nonce = secrets.token_hex(3)
        return build_prompt(Request(question, query or question, hits, (), (), nonce, self._context_tokens))

    def judged(
        self,
        prompt: Prompt,
        query: Query,
        *,
        remembered: str = "",
        avoid: str = "",
        beside: str = "",
        hasty: bool = False,
    ) -> PromptedQuestion:
        """The question with what its pages state, and whether they may answer.

        query: that found the pages. remembered: an answer that was given before and
        still stands. avoid, beside: as in PromptedQuestion. hasty: raise no doubt where words alone raise
        none. That is enough as advice to a chat model; judging what the sentences mean takes most of the
        time. Raises KeyError or IndexError if a page was erased meanwhile.
        """
        understanding = replace(query.asked, whose=self._whose(prompt, query.asked))
        known = known_terms(self._library, understanding, query.names)
        asked = PromptedQuestion(
            prompt,
            understanding,
            query.vector,
            remembered or self._computed(prompt, understanding),
            also_known(understanding, list(prompt.sources.values()), known),
            avoid=avoid,
            beside=beside,
            hasty=hasty,
            names=query.names,
        )
        if remembered:
            return asked
        if hasty and self._why_not(replace(asked, vector=None)) is None:
            return asked
        return replace(asked, reason=self._why_not(asked), hasty=False)

    def answer(self, asked: PromptedQuestion, stop: Callable[[], bool]) -> Generator[Event, None, Answer]:
        """The checked answer or the refusal, with the events on the way.

        The last events name what it leaves out and newer documents that it does not use. A chat model is
        asked whatever the search judged; without one the answer is in the documents' own words.
        """
        if asked.sent is None:
            answer = yield from self._own_words(asked)
        else:
            answer = yield from self._answer(asked, asked.sent, asked.sent.first, stop)
        cited = {citation.document for citation in answer.citations if citation.document}
        newer = superseded(listed(self._library), cited, asked.understanding.years)
        amended = [
            amended_notice(name, other) for name, other in self._amendments.of(cited) if other not in cited
        ]
        answer = replace(answer, superseded=(*newer, *amended))
        for sentence in (*self._lacking(asked, answer), *_pages_unchecked(answer), *answer.superseded):
            yield Notice(sentence)
        return answer

    def checked(self, prompt: Prompt, text: str, model: str) -> Answer:
        """An answer of this text, with citations, figures and statements checked against the prompt's pages.

        model: who wrote it.
        """
        if model == "extractive":
            text, prompt = whole_quotations(text, prompt, self.page)
            found = check_quoted(text, prompt)
        else:
            found = check_statements(text, prompt)
        return Answer(
            prompt.question,
            prompt.search_query,
            found.text,
            True,
            citations=tuple(map(self._with_confidence, found.citations)),
            numbers=found.numbers,
            prompt=prompt,
            model=model,
            statements=found.statements,
        )

    def quoted(self, prompt: Prompt, text: str, lead: str) -> Answer:
        """The answer with what the pages of a prompt say, below a line that is on none of them.

        A figure without a key is a count, or stands before the end of its piece, as in a heading.
        """
        answer = self.checked(prompt, text, "extractive")
        return replace(
            answer,
            text="\n\n".join(filter(None, [lead, answer.text])),
            numbers=tuple(number for number in answer.numbers if number.citation),
            considered=tuple(prompt.sources.values()),
            understanding=Understanding(prompt.question, prompt.question, "summary"),
        )

    def as_written(self, answer: Answer) -> str:
        """A chat model's answer with whole keys, without those that a check added."""
        prompt = answer.prompt
        assert prompt is not None
        statements = [replace(one, text=with_whole_keys(one.text, prompt)) for one in answer.statements]
        return without_added(with_whole_keys(answer.text, prompt), statements, prompt)

    def marked(self, answer: Answer, reading: StatementReading) -> Answer:
        """A chat model's answer with the marks that a reading of its statements proves.

        Its citations are checked against the pages of its prompt.
        """
        assert answer.prompt is not None
        found = check_statements(self.as_written(answer), answer.prompt, reading)
        return replace(
            answer,
            text=found.text,
            citations=tuple(map(self._with_confidence, found.citations)),
            numbers=found.numbers,
            statements=found.statements,
            reading=reading.record,
        )

    def page(self, hit: Hit, number: int) -> Hit:
        """Another page of a hit's document, the hit itself if that page was erased meanwhile."""
        found = Retriever(self._library).beginnings(hit.version, hit.document, [number])
        return next(iter(found), hit)

    def said(self, asked: PromptedQuestion, *, avoid: str = "") -> str:
        """What the pages say without a model, with its keys; "" if they do not answer.

        avoid: text that comes last. Nothing is computed then.
        """
        if asked.reason:
            return ""
        if asked.computed and not avoid:
            return asked.computed
        if asked.sums_up:
            return "\n".join(main_points(asked.prompt, POINTS, self.sentence_vectors))
        likeness = self.likeness(asked.vector)
        return extract_answer(
            asked.prompt,
            asked.understanding,
            likeness=likeness,
            avoid=avoid,
            beside=asked.beside,
            around=asked.around,
        )

    def doubt(self, asked: PromptedQuestion) -> str:
        """A sentence on why the search doubts that the pages answer; "" if it does not."""
        if asked.reason:
            return explain(asked.reason, asked.understanding, asked.known)
        return ""

    # --- whether there is an answer
    # -----------------------------------------------------------------------------------------

    def _computed(self, prompt: Prompt, understanding: Understanding) -> str:
        """The answer that tables and sentences state or add up to.

        "" also if the pages are not about whom the question names.
        """
        first = next(iter(prompt.sources.values()), None)
        if first is None:
            return ""
        rows = " ".join(row.label for table in first.tables for row in table.rows)
        names = [name for name in understanding.names if not {*terms(name)} <= {*terms(rows)}]
        if names and not any(is_about(self._library, first.version, name) for name in names):
            return ""
        parts = document_parts(first.document)
        for name in names:
            # "Acme Europe": a part of whom the document is about.
            if _calls(parts, name) is None and not opens_with(self._library, first.version, name):
                return ""
        return (
            compute_answer(prompt, understanding)
            or stated_change(prompt, understanding)
            or by_operation(prompt, understanding)
        )

    def _whose(self, prompt: Prompt, understanding: Understanding) -> str:
        """The one name of the question that the first document has, "" for none or several.

        A name that the question marks as the owner ("Acme's debt") counts too, if the document has a part of
        it.
        """
        first = next(iter(prompt.sources.values()), None)
        if first is None:
            return ""
        subject = understanding.subject
        parts = document_parts(first.document)
        names = [name for name in understanding.names if f"&{name}" not in subject]  # the end of "PG&E"
        called = {name: _calls(parts, name) for name in names}
        own = [name for name, has_all in called.items() if has_all or _is_owner(name, has_all, subject)]
        if len(own) != 1:
            return ""
        whose = re.split(r"['’]s\b", own[0])[0]  # "Acme's R&D"
        # "Acme's auditor's"
        names_other = re.search(rf"{re.escape(whose)}['’]s?\s(?:\w+\s){{0,2}}\w+['’]s?\s", subject)
        if whose.islower():
            whose = whose.title()  # typed without a capital
        if whose and not names_other and is_about(self._library, first.version, whose):
            return whose
        return ""

    def _why_not(self, asked: PromptedQuestion) -> str | None:
        """A key of REASONS; None if the pages may answer."""
        hits = tuple(asked.prompt.sources.values())
        if not hits:
            if self._library.catalog.active():
                return "no_page"
            return "no_documents"
        return why_not(self.evidence(asked), hits)

    def evidence(self, asked: PromptedQuestion) -> dict[str, float]:
        """What speaks for and against an answer, see `refusal_evidence`."""
        hits = tuple(asked.prompt.sources.values())
        found = [passage for hit in hits for passage in page_of(hit).passages]
        with_heads = [f"{passage.head} {passage.text}" for passage in found]
        likeness = None
        if self.likeness(asked.vector) is not None:
            texts = [passage.text for passage in found]
            likeness = topic_likeness(self._library, self._sentences, asked.understanding, hits, texts)
        rows = []
        for passage in found:
            if passage.row and passage.table:
                row_text = " ".join([passage.head, passage.text, *passage.table.heads])
                rows.append((passage.row.label, row_text))
        for table in (table for hit in hits for table in hit.tables):
            turned = by_year(table)
            if turned is not table:
                rows += [
                    (row.label, " ".join([table.caption, row.label, *turned.heads])) for row in turned.rows
                ]
        evidence = SearchEvidence(hits, asked.known, with_heads, bool(asked.computed), likeness, rows)
        return refusal_evidence(asked.understanding, evidence)

    def likeness(self, vector: NDArray[np.float32] | None) -> Likeness | None:
        """A function that tells how near sentences are to the question; None if that is not measured."""
        vectors = self.sentence_vectors
        if vector is None or vectors is None:
            return None
        fingerprint = self._library.embedder.fingerprint

        def near(texts: Sequence[str]) -> list[float]:
            cosines = as_minilms(fingerprint, vectors(texts) @ vector, sentences=True)
            likenesses: list[float] = cosines.tolist()
            return likenesses

        return near

    # --- the answer
    # --------------------------------------------------------------------------------------------------------

    def _own_words(self, asked: PromptedQuestion) -> Generator[Event, None, Answer]:
        """The answer or the refusal without a model."""
        if asked.hasty:
            asked = replace(asked, reason=self._why_not(asked))
        if asked.reason:
            return self._refusal(asked, asked.reason)
        yield Stage("answering")
        text = self.said(asked)
        if asked.avoid and says_again(text, asked.avoid):
            other = self.said(asked, avoid=asked.avoid)
            if not says_again(other, asked.avoid):
                yield Notice(SET_ASIDE)
                text = other
        if not text:
            return self._refusal(asked, "not_in_excerpts")
        text = f"{_other_period(asked.understanding, text)}{text}"
        answer = self.checked(asked.prompt, text, "extractive")
        verdict = self._verdict(asked, answer)
        if verdict:
            answer = self.checked(asked.prompt, f"{verdict} {text}", "extractive")
        answer = self._with_amendments(asked, answer)
        yield Token(with_whole_keys(answer.text, answer.prompt or asked.prompt))
        return answer

    def _with_amendments(self, asked: PromptedQuestion, answer: Answer) -> Answer:
        """The answer with what documents in reach say of the same that amend those which it cites first."""
        scope = set(self._library.scope(asked.names).values())
        prompt = answer.prompt or asked.prompt
        first, gap, rest = with_whole_keys(answer.text, prompt).partition("\n\n")
        keys = {key.strip("[]") for key in KEYS_IN_BRACKETS.findall(first)}
        quoted_hits = [prompt.sources[key] for key in keys if key in prompt.sources]
        cited = {hit.document for hit in quoted_hits}
        passages = [passage for hit in quoted_hits for passage in page_of(hit).passages]
        mode = "keyword" if asked.vector is None else "hybrid"
        said = first
        for name, other in self._amendments.of(cited):
            if other in cited or other not in scope:
                continue
            hits = Retriever(self._library).search(
                Query(prompt.search_query, asked.vector, (other,), mode, understanding=asked.understanding)
            )
            for hit in hits:
                key, with_hit = prompt.with_source(hit)
                found = amending_sentences(first, passages, page_of(hit).passages)
                quoted = " ".join(f"{escape_keys(sentence)} [{key}]" for sentence in found)
                if not found and hit is hits[0]:
                    likeness = self.likeness(asked.vector)
                    own = replace(with_hit, sources={key: hit})
                    quoted = extract_answer(own, asked.understanding, likeness=likeness).partition("\n\n")[0]
                    quoted = quoted if _shares_words(quoted, asked.understanding) else ""
                if quoted:
                    said += f"\n{amended_notice(name, other)}\n{quoted}"
                    prompt = with_hit
                    break
        if said == first:
            return answer
        return self.checked(prompt, f"{said}{gap}{rest}", "extractive")

    def _verdict(self, asked: PromptedQuestion, answer: Answer) -> str:
        """The yes or no with which an answer in the documents' own words begins.

        "" if it says so itself, or if the question holds no figure against an amount.
        """
        question = asked.understanding.reading
        if question.bound is None or answer.text.startswith((YES, NO)):
            return ""
        if asked.computed and not asked.avoid:
            return ""
        documents = {hit.document.replace("_", " ") for hit in asked.prompt.sources.values()}
        about = terms(" ".join([asked.understanding.whose, *documents]))

        def shared_terms(sentence: str) -> int:
            return len(set(question.terms).intersection(terms(sentence)))

        candidates = sentences(KEYS_IN_BRACKETS.sub("", answer.first))
        return by_sentence(question, about, max(candidates, key=shared_terms, default=""))

    def _answer(
        self, asked: PromptedQuestion, sent: ModelPrompts, prompt: Prompt, stop: Callable[[], bool]
    ) -> Generator[Event, None, Answer]:
        """The answer of a chat model. prompt: one of `sent`."""
        yield Stage("answering")
        model, models, owner = sent.model, sent.models, sent.ask.owner
        turns = ModelTurns(model, prompt, sent, max_tokens=models.answer_tokens(owner), stop=stop)
        try:
            yield from turns.events()
        except ModelError as error:
            if error.kind == "length" and prompt is sent.first and not turns.first_seconds:
                yield Notice(SHORTENED.format(name=model.name), SHORTENED_HINT)
                return (yield from self._answer(asked, sent, sent.shorter(), stop))
            yield Notice(error.message + _had_said(turns.text, turns.prompt, end=" …"), error.hint)
            fallback = yield from self._own_words(asked)
            failure = ModelFailure(error.kind or "other", error.message, error.hint)
            spent = turns.usage and replace(turns.usage, cost=models.cost(owner, turns.usage))
            own = _in_place_of(model, fallback, turns.prompt)
            return replace(own, error=str(error), failure=failure, usage=spent)
        prompt, reply, usage = turns.prompt, turns.reply, turns.usage
        assert reply is not None and usage is not None
        usage = replace(usage, cost=models.cost(owner, usage))
        yield from reply_notices(reply, prompt)
        answered = without_rules(reply.text)
        if answered != reply.text:
            yield Notice(REPEATED)
        text = read_citations(answered, prompt)
        answer = self.checked(prompt, text, model.name)
        answer = replace(answer, sent_to=(model.name, model.host), usage=usage)
        if is_refusal(text) and all(one.status != "cited_by_check" for one in answer.statements):
            return replace(self._refusal(asked, "not_in_excerpts"), **_said_by_model(answer))
        return answer

    def _refusal(self, asked: PromptedQuestion, reason: str) -> Answer:
        prompt = asked.prompt
        pages = [PageRef(hit.document, hit.page, hit.page_label) for hit in prompt.sources.values()]
        text = explain(reason, asked.understanding, asked.known)
        closest = self._closest(asked)
        if closest and reason == "no_page":
            text = COMES_CLOSEST
        if reason != "no_documents":
            beginning = NOT_SURE if closest else NOT_IN_DOCUMENTS
            text = f"{NOT_SO_FAR if asked.in_part else beginning} {text}"
        if closest:
            text += f"\n\n{closest}"
        return Answer(
            prompt.question,
            prompt.search_query,
            text,
            False,
            reason=reason,
            nearest=tuple(pages[:NEAREST]),
            prompt=prompt,
        )

    def _closest(self, asked: PromptedQuestion) -> str:
        """The text that comes nearest to a question that the pages do not answer, with its page.

        It may be of another year if the question's own is missing. "" if it lacks half of the question's
        words and is unlike it in meaning, or is on a page that addresses its reader as a machine.
        """
        undated = asked.understanding.reading.undated
        of_any_year = replace(asked.understanding, years=(), subject=undated.text)
        text = ""
        if asked.understanding.years and of_any_year.measures:
            text = self._computed(asked.prompt, of_any_year)
        if not text:
            likeness = self.likeness(asked.vector)
            text = extract_answer(asked.prompt, asked.understanding, likeness=likeness, composed=False)
        found = KEYS_IN_BRACKETS.search(text)
        hit = asked.prompt.sources.get(found[0].strip("[]")) if found else None
        if hit is None:
            return ""
        first, _, _ = text.partition("\n\n")
        words = " ".join(KEYS_IN_BRACKETS.sub("", first).split())
        likeness = self.likeness(asked.vector)
        # What is nearest to a question about somebody unknown is about somebody else.
        if likeness is None or asked.reason == "no_entity":
            is_like = False
        else:
            is_like = likeness([words])[0] >= LEAST_LIKE
        if orders_of(hit) or not (is_like or _shares_words(words, of_any_year)):
            return ""
        quote = words if len(words) <= LONGEST_QUOTE else f"{words[:LONGEST_QUOTE].rpartition(' ')[0]} …"
        return CLOSEST.format(page=hit.page, document=hit.document, quote=quote)

    def _lacking(self, asked: PromptedQuestion, answer: Answer) -> tuple[str, ...]:
        """Sentences on what the question names and the answer leaves out."""
        if not answer.answered:
            return ()
        cited = {(citation.version, citation.page) for citation in answer.citations}
        quoted = [hit for hit in asked.prompt.sources.values() if (hit.version, hit.page) in cited]
        other = unnamed(asked.understanding, quoted, asked.known, partial(is_about, self._library))
        average = ""
        if answer.model == "extractive" and leaves_average_out(asked.prompt.question, answer.text):
            average = NO_AVERAGE
        doubted = [hit.page for hit in quoted if _is_in_doubt(answer.citations, hit)]
        doubt = f"{in_doubt(min(doubted), NOT_CALCULATED).capitalize()}." if doubted else ""
        return (*left_out(asked.understanding, asked.known), *filter(None, [other, average, doubt]))

    def _with_confidence(self, citation: Citation) -> Citation:
        """The citation with how surely its own words were read, rather than its page as a whole.

        Only citations of pages that OCR read change.
        """
        if citation.confidence is None or citation.start < 0:
            return citation
        if citation.version is None or citation.page is None:
            return citation
        try:
            words = self._library.catalog.page(citation.version, citation.page).words
        except KeyError:  # erased meanwhile
            return citation
        return replace(citation, confidence=confidence_of(words, citation.start, citation.end))


def _is_in_doubt(citations: Sequence[Citation], hit: Hit) -> bool:
    """Whether what is cited of a page has a figure that may be read in two ways."""
    spans = [(cited.start, cited.end) for cited in citations if cited.page == hit.page]
    doubted = [placed.figure for placed in page_of(hit).figures.all if placed.figure.other is not None]
    return any(start <= figure.start < end for figure in doubted for start, end in spans)


def _shares_words(text: str, asked: Understanding) -> bool:
    """Whether a passage has more than LEAST_CLOSE of a question's words."""
    words = set(asked.reading.terms)
    return len(words.intersection(terms(text))) > LEAST_CLOSE * len(words)


def _other_period(asked: Understanding, text: str) -> str:
    """What an answer begins with whose figures are of another period than the one asked for; else ""."""
    other = asked.other_period(text.partition("\n\n")[0])
    return f"For {within_sentence(other[1].said)}, not {other[0].said}: " if other else ""


def _calls(parts: Sequence[str], name: str) -> bool | None:
    """Whether a document's name has all of a name; "mcdonalds" has that of McDonald.

    None if it has only a part of it: Acme's document is not that of "Acme Cloud".
    """
    joined = "".join(parts)
    words = [word for word in re.findall(r"\w+", name.casefold()) if word not in OF_FIRMS]
    found = {word in joined for word in words}
    return None if len(found) == 2 else found == {True}


def _is_owner(name: str, has_all: bool | None, subject: str) -> bool:
    """Whether a question marks a name as the owner, "Acme's", that a document's name does not have at all."""
    return has_all is not None and re.search(rf"{re.escape(name)}['’]s\b", subject) is not None


def _had_said(written: str, prompt: Prompt, *, end: str = "") -> str:
    """What a model wrote whose answer is replaced, as a part of a notice; "" for nothing.

    end: goes behind it.
    """
    if not written:
        return ""
    text = KEYS_IN_BRACKETS.sub("", read_citations(written, prompt)).strip()
    return f"{HAD_SAID}“{text}{end}”"


def _in_place_of(model: LLM, own: Answer, sent: Prompt) -> Answer:
    """An answer or a refusal in the documents' own words, with what was sent to the model it replaces."""
    prompt = own.prompt and replace(own.prompt, messages=sent.messages)
    return replace(own, prompt=prompt, sent_to=(model.name, model.host))


def reply_notices(reply: Reply, prompt: Prompt) -> Iterator[Notice]:
    """Notices that a reply is incomplete, and that its prompt was cut."""
    if reply.finish == "stopped":
        yield Notice("You stopped the answer.", "")
    elif reply.finish != "stop":
        yield Notice("The answer reached its token limit and was cut off.", "Raise FINPOLICY_ANSWER_TOKENS.")
    notice = _was_cut(reply, prompt)
    if notice:
        yield notice


def _was_cut(reply: Reply, prompt: Prompt) -> Notice | None:
    """A notice that an endpoint read far less of the prompt than it was sent.

    Some endpoints cut a prompt without a word if their context is short.
    """
    sent = size_of(prompt)
    if not 0 < reply.prompt_tokens < LEAST_READ * sent:
        return None
    return Notice(CUT.format(read=reply.prompt_tokens, sent=sent), CUT_HINT)


def _said_by_model(answer: Answer) -> dict[str, Any]:
    """The fields that a refusal takes from a chat model's answer, which is checked like any other."""
    fields = ("text", "citations", "numbers", "statements", "prompt", "model", "sent_to", "usage")
    return {name: getattr(answer, name) for name in fields}


def _pages_unchecked(answer: Answer) -> tuple[str, ...]:
    """A sentence for the pages that a model's answer names beside its citations."""
    if not answer.answered or answer.model == "extractive":
        return ()
    named = uncited_pages(answer.text, answer.citations)
    if not named:
        return ()
    plural = "s" if len(named) > 1 else ""
    return (PAGES_UNCHECKED.format(pages=f"page{plural} {' and '.join(named)}"),)
