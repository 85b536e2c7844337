"""From a prompt to its checked answer, or to the reason why there is none: by a chat model, or in the
documents' own words; finds no page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from chatbot.answer.citations.citation_forms import read_citations
from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.citations.model_refusals import is_refusal
from chatbot.answer.citations.model_statements import (
    CheckedText,
    check_behind,
    check_quoted,
    check_statements,
    with_whole_keys,
)
from chatbot.answer.citations.named_pages import uncited_pages
from chatbot.answer.derive.arithmetic import work_out
from chatbot.answer.extractive.passage_answers import Likeness, extract_answer, says_again
from chatbot.answer.prompt import size_of, without_rules
from chatbot.answer.tables.operations import by_operation
from chatbot.answer.tables.table_answers import compute_answer, leaves_average_out
from chatbot.answer.verdict import NO, UNSAID, YES, asks_yes_or_no, by_sentence
from chatbot.errors import ModelError
from chatbot.evidence.page import forget_pages, page_of
from chatbot.evidence.passages import orders_of
from chatbot.fit import ANSWERS, fit_of
from chatbot.models.cosine_scale import EMBEDDED, as_minilms
from chatbot.models.embedders import SentenceVectors
from chatbot.records import (
    MODEL_TEXT,
    Answer,
    Citation,
    Event,
    Notice,
    PageRef,
    Prompt,
    Stage,
    Token,
    Understanding,
)
from chatbot.search.corpus_vocabulary import is_about, known_terms, listed, opens_with, topic_likeness
from chatbot.search.editions import superseded
from chatbot.search.fusion import embed_query, mean_vector
from chatbot.search.refusal import (
    SearchEvidence,
    also_known,
    explain,
    left_out,
    refusal_evidence,
    unnamed,
    why_not,
)
from chatbot.search.routing import document_parts
from chatbot.store.library import Library
from ingestion.language.periods import without_periods
from ingestion.language.sentences import sentences
from ingestion.language.terms import content_terms, terms
from ingestion.pages.highlights import confidence_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatbot.models.chat import LLM, Reply

__all__ = ["HAD_SAID", "NOTHING_FOUND", "NO_AVERAGE", "SET_ASIDE", "Answering", "PromptedQuestion"]

# Pages that a refusal names as the nearest.
NEAREST = 3
# Words of a name that a file's name may lack.
OF_FIRMS = frozenset(
    "of the and inc corp corporation company co plc ltd limited group holdings city government".split()
)
# What is said where a rating changed an answer in the documents' own words.
SET_ASIDE = (
    "You rated another answer to this question not helpful: what it quoted was set aside, and other "
    "passages come first."
)
# How a refusal begins, and where not all of the documents is read.
NOT_IN_DOCUMENTS, NOT_SO_FAR = (
    "Not in these documents.",
    "Not in what has been read of these documents so far.",
)
# What of the pages comes nearest to a question that is refused, the share of the question's words that it
# must have, and how much of it is shown.
LEAST_CLOSE = 0.5
CLOSEST, LONGEST_QUOTE = "Nearest to it, on page {page} of “{document}”: {quote}", 300
# Between why a model failed and what of its answer had come.
HAD_SAID = " It had said: "
# What is said where an average is asked for and the answer has only what it might be worked out from.
NO_AVERAGE = "No average is worked out here: the answer quotes what the pages say."
# What is said where a model's answer is put behind the documents' own words.
NOTHING_FOUND = (
    "Nothing of the chat model's answer was found in the pages given to it: what can be said without it "
    "comes first."
)
# What is said where a model repeats what it was told.
REPEATED = "The chat model repeated some of its instructions: these sentences are left out."
# The share of a prompt's tokens, by our count, below which an endpoint has cut it: other vocabularies take
# more tokens for a text, not fewer.
LEAST_READ = 0.75
CUT = (
    "The model's endpoint read {read:,} of about {sent:,} tokens of the prompt: its context is too short, "
    "and sources were lost."
)
CUT_HINT = "Raise its context (with Ollama, OLLAMA_CONTEXT_LENGTH), or lower FINPOLICY_CONTEXT_TOKENS."
# Said where a prompt was too long for its model.
SHORTENED = "The prompt was too long for {name}: it is asked again with less of the pages."
SHORTENED_HINT = "Set FINPOLICY_CONTEXT_TOKENS to what the model takes."
# What is said where a model names pages in its own words.
PAGES_UNCHECKED = "The answer speaks of {pages} without a citation: only what is numbered is checked."


@dataclass(frozen=True, slots=True)
class PromptedQuestion:
    """A question with its prompt. vector: of its subject, None where it was searched by words alone.
    computed: the answer that its tables and sentences state or add up to, "" where they do not. known:
    whether any document in reach has a term of its names and years. reason: a key of refusal.REASONS, None
    where the pages may answer: a verdict without a model, advice to one; hasty: None by words alone. avoid:
    the text of an answer that was rated not helpful, "" for none. around: its passage is to be shown with
    what stands around it. in_part: not all of the documents is read yet. sent: the prompt of a chat model,
    whose first sources are those of `prompt`; shorter: another for a model to which that is too long. waited:
    is told the seconds to the model's first word, and says what follows from it."""

    prompt: Prompt
    understanding: Understanding
    vector: NDArray[np.float32] | None
    computed: str
    known: Callable[[str], bool]
    reason: str | None = None
    avoid: str = ""
    around: bool = False
    in_part: bool = False
    hasty: bool = False
    sent: Prompt | None = None
    shorter: Callable[[], Prompt] | None = None
    waited: Callable[[float], Sequence[Notice]] = lambda _: ()


class Answering:
    """Answers from the pages of a library. Safe from several threads."""

    def __init__(self, library: Library, *, answer_tokens: int) -> None:
        """answer_tokens: the most that a chat model may write."""
        self._library, self._answer_tokens = library, answer_tokens
        self._sentences = SentenceVectors(library.embedder)

    def forget(self) -> None:
        """Keep nothing of pages that were read, which may have been erased."""
        forget_pages()
        self._sentences.forget()

    @property
    def sentence_vectors(self) -> Callable[[Sequence[str]], NDArray[np.float32]] | None:
        """Unit rows of sentences; None where another's endpoint would be asked for each page."""
        if self._library.embedder.fingerprint.startswith(EMBEDDED):
            return self._sentences.vectors
        return None

    def judged(
        self,
        prompt: Prompt,
        understanding: Understanding,
        vector: NDArray[np.float32] | None,
        names: Sequence[str],
        *,
        remembered: str = "",
        avoid: str = "",
        hasty: bool = False,
    ) -> PromptedQuestion:
        """The question with what its pages state, and whether they may answer. names: of the documents that
        are asked, () for all. remembered: an answer that was given before and still stands. avoid: one that
        was rated not helpful. hasty: where words alone raise no doubt none is raised, as advice to a chat
        model, for what the sentences of the pages mean takes most of the time. Raises KeyError or IndexError
        where a page was erased meanwhile."""
        understanding = replace(understanding, whose=self._whose(prompt, understanding))
        computed = remembered or self._computed(prompt, understanding)
        asked = PromptedQuestion(
            prompt,
            understanding,
            vector,
            computed,
            self._known(prompt, understanding, names),
            avoid=avoid,
            hasty=hasty,
        )
        if remembered or (hasty and self._why_not(replace(asked, vector=None)) is None):
            return asked
        return replace(asked, reason=self._why_not(asked), hasty=False)

    def answer(
        self, asked: PromptedQuestion, model: LLM | None, stop: Callable[[], bool]
    ) -> Generator[Event, None, Answer]:
        """The checked answer, or the refusal, with the events on the way; last among them what it leaves out,
        and newer documents that it does not rest on.

        model: asked whatever the search judged; None for the documents' own words, or where no page was
        found.
        """
        answer = yield from (self._own_words(asked) if model is None else self._answer(asked, model, stop))
        cited = {citation.document for citation in answer.citations if citation.document}
        answer = replace(
            answer, superseded=superseded(listed(self._library), cited, asked.understanding.years)
        )
        for sentence in (*self._lacking(asked, answer), *_pages_unchecked(answer), *answer.superseded):
            yield Notice(sentence)
        return answer

    def checked(self, prompt: Prompt, text: str, model: str) -> Answer:
        """An answer of this text, its citations, figures and statements checked against the prompt's
        pages. model: who wrote it.
        """
        return self._as_answer(
            prompt,
            check_quoted(text, prompt) if model == "extractive" else check_statements(text, prompt),
            model,
        )

    def _as_answer(self, prompt: Prompt, found: CheckedText, model: str) -> Answer:
        sure = tuple(self._with_confidence(citation) for citation in found.citations)
        answer = Answer(
            prompt.question,
            prompt.search_query,
            found.text,
            True,
            citations=sure,
            numbers=found.numbers,
            prompt=prompt,
            model=model,
        )
        return replace(answer, statements=found.statements)

    def said(self, asked: PromptedQuestion, *, avoid: str = "") -> str:
        """What the pages say without a model, with its keys; "" where they do not answer. avoid: text that
        comes last, and nothing is computed then.
        """
        if asked.reason:
            return ""
        computed = "" if avoid else asked.computed
        return computed or extract_answer(
            asked.prompt,
            asked.understanding,
            likeness=self._likeness(asked.vector),
            avoid=avoid,
            around=asked.around,
        )

    def doubt(self, asked: PromptedQuestion) -> str:
        """Why the search doubts that the pages answer, in a sentence; "" where it does not."""
        if asked.reason:
            return explain(asked.reason, asked.understanding, asked.known)
        return ""

    def refusal_evidence(
        self, answer: Answer, names: Sequence[str], *, by_words: bool = False
    ) -> dict[str, float]:
        """What spoke for and against an answer that was given, asked of these documents (() for all); {}
        where no page was found.

        by_words: as where nothing is embedded.
        """
        if answer.prompt is None or answer.understanding is None or not answer.prompt.sources:
            return {}
        understanding = answer.understanding
        if by_words:
            vector = None
        else:
            vector = mean_vector(embed_query(self._library.embedder, understanding.subject).chunks)
        known = self._known(answer.prompt, understanding, names)
        computed = self._computed(answer.prompt, understanding)
        return self._evidence(PromptedQuestion(answer.prompt, understanding, vector, computed, known))

    def _known(
        self, prompt: Prompt, understanding: Understanding, names: Sequence[str]
    ) -> Callable[[str], bool]:
        return also_known(
            understanding, list(prompt.sources.values()), known_terms(self._library, understanding, names)
        )

    # --- whether there is an answer
    # -----------------------------------------------------------------------------------------

    def _computed(self, prompt: Prompt, understanding: Understanding) -> str:
        """The answer that tables and sentences state or add up to; "" where they are not of whom the
        question names.
        """
        first = next(iter(prompt.sources.values()), None)
        if first is None or (
            understanding.names
            and not any(is_about(self._library, first.version, name) for name in understanding.names)
        ):
            return ""
        parts = document_parts(first.document)
        if any(
            _calls(parts, name) is None and not opens_with(self._library, first.version, name)
            for name in understanding.names
        ):
            return ""  # "Acme Europe": of a part of whom the document is about
        return (
            compute_answer(prompt, understanding)
            or work_out(prompt, understanding)
            or by_operation(prompt, understanding)
        )

    def _whose(self, prompt: Prompt, understanding: Understanding) -> str:
        """The one name of the question that the first document is called by, or that the question says is
        whose ("Acme's debt"); "" for none or several.
        """
        first = next(iter(prompt.sources.values()), None)
        if first is None:
            return ""
        parts = document_parts(first.document)
        subject = understanding.subject
        names = [name for name in understanding.names if f"&{name}" not in subject]  # the end of "PG&E"
        called = {name: _calls(parts, name) for name in names}
        own = [
            name
            for name, all_of in called.items()
            if all_of or (all_of is False and re.search(rf"{re.escape(name)}['’]s\b", subject))
        ]
        whose = re.split(r"['’]s\b", own[0])[0] if len(own) == 1 else ""  # "Acme's R&D"
        others = re.search(
            rf"{re.escape(whose)}['’]s?\s(?:\w+\s){{0,2}}\w+['’]s?\s", subject
        )  # "Acme's auditor's"
        whose = whose.title() if whose.islower() else whose  # typed without a capital
        if whose and not others and is_about(self._library, first.version, whose):
            return whose
        return ""

    def _why_not(self, asked: PromptedQuestion) -> str | None:
        """None where the pages may answer, else a key of REASONS."""
        hits = tuple(asked.prompt.sources.values())
        if not hits:
            if self._library.catalog.active():
                return "no_page"
            return "no_documents"
        return why_not(self._evidence(asked), hits)

    def _evidence(self, asked: PromptedQuestion) -> dict[str, float]:
        """See chatbot/search/refusal.py."""
        hits = tuple(asked.prompt.sources.values())
        found = [passage for hit in hits for passage in page_of(hit).passages]
        with_heads = [f"{passage.head} {passage.text}" for passage in found]
        likeness = None
        if self._likeness(asked.vector) is not None:
            likeness = topic_likeness(
                self._library, self._sentences, asked.understanding, hits, [passage.text for passage in found]
            )
        rows = [
            (passage.row.label, " ".join([passage.head, passage.text, *passage.table.heads]))
            for passage in found
            if passage.row and passage.table
        ]
        return refusal_evidence(
            asked.understanding,
            SearchEvidence(hits, asked.known, with_heads, bool(asked.computed), likeness, rows),
        )

    def _likeness(self, vector: NDArray[np.float32] | None) -> Likeness | None:
        """How near sentences are to the question; None where that is not measured."""
        vectors = self.sentence_vectors
        if vector is None or vectors is None:
            return None

        def near(texts: Sequence[str]) -> list[float]:
            cosines: list[float] = as_minilms(
                self._library.embedder.fingerprint, vectors(texts) @ vector, sentences=True
            ).tolist()
            return cosines

        return near

    # --- the answer
    # --------------------------------------------------------------------------------------------------------

    def _own_words(self, asked: PromptedQuestion) -> Generator[Event, None, Answer]:
        """What is answered, or refused, without a model."""
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
        answer = self.checked(asked.prompt, text, "extractive")
        if verdict := self._verdict(asked, answer):
            answer = self.checked(asked.prompt, f"{verdict} {text}", "extractive")
        yield Token(with_whole_keys(answer.text, asked.prompt))
        return answer

    def _verdict(self, asked: PromptedQuestion, answer: Answer) -> str:
        """What an answer in the documents' own words begins with where yes or no would do; "" where it
        says so itself, or neither is asked for.
        """
        question = asked.understanding.subject
        if not asks_yes_or_no(question) or answer.text.startswith((YES, NO, UNSAID)):
            return ""
        if asked.computed and not asked.avoid:
            return UNSAID
        documents = {hit.document.replace("_", " ") for hit in asked.prompt.sources.values()}
        wanted = set(content_terms(question))
        said = sentences(KEYS_IN_BRACKETS.sub("", answer.first))
        nearest = max(said, key=lambda sentence: len(wanted.intersection(terms(sentence))), default="")
        fits = fit_of(replace(answer, understanding=asked.understanding)) == ANSWERS
        return (
            by_sentence(
                question, terms(" ".join([asked.understanding.whose, *documents])), nearest, fits=fits
            )
            or UNSAID
        )

    def _answer(
        self, asked: PromptedQuestion, model: LLM, stop: Callable[[], bool]
    ) -> Generator[Event, None, Answer]:
        yield Stage("answering")
        prompt = asked.sent or asked.prompt
        started = time.monotonic()
        said: list[str] = []
        reply = model.stream(prompt.messages, max_tokens=self._answer_tokens, stop=stop)
        try:
            for piece in reply:
                if not said:
                    yield from asked.waited(time.monotonic() - started)
                said.append(piece)
                yield Token(piece)
        except ModelError as error:
            if error.kind == "length" and asked.shorter is not None and not said:
                yield Notice(SHORTENED.format(name=model.name), SHORTENED_HINT)
                return (
                    yield from self._answer(replace(asked, sent=asked.shorter(), shorter=None), model, stop)
                )
            partial = (
                f"{HAD_SAID}“{KEYS_IN_BRACKETS.sub('', read_citations(''.join(said), prompt)).strip()} …”"
                if said
                else ""
            )
            yield Notice(error.message + partial, error.hint)
            fallback = yield from self._own_words(asked)
            return replace(fallback, error=str(error), sent_to=(model.name, model.host))
        finally:
            reply.close()
        if reply.finish != "stop":
            reason = (
                "You stopped the answer."
                if reply.finish == "stopped"
                else "The answer reached its token limit and lacks its end."
            )
            yield Notice(reason, "" if reply.finish == "stopped" else "Raise FINPOLICY_ANSWER_TOKENS.")
        if notice := _was_cut(reply, prompt):
            yield notice
        yield Stage("checking")
        written = "".join(said).replace(
            MODEL_TEXT, ""
        )  # which parts a model's text from the documents' own words
        if (answered := without_rules(written)) != written:
            yield Notice(REPEATED)
        text = read_citations(answered, prompt)
        answer = replace(self.checked(prompt, text, model.name), sent_to=(model.name, model.host))
        if is_refusal(text) and not any(one.status == "cited_by_check" for one in answer.statements):
            return replace(self._refusal(asked, "not_in_excerpts"), **_said_by_model(answer))
        if answer.statements and all(one.status == "unsupported" for one in answer.statements):
            yield Notice(NOTHING_FOUND)
            answer = yield from self._behind_own_words(asked, answer, text)
        return answer

    def _behind_own_words(
        self, asked: PromptedQuestion, answer: Answer, text: str
    ) -> Generator[Event, None, Answer]:
        """What is said without a model, and after it the text of one of which nothing was found. answer:
        that text, checked; text: as it was written.
        """
        own = yield from self._own_words(asked)
        prompt = asked.sent or asked.prompt
        if own.answered:
            found = check_behind(with_whole_keys(own.text, asked.prompt), text, prompt)
            return replace(self._as_answer(prompt, found, answer.model), sent_to=answer.sent_to)
        said = _said_by_model(answer)
        return replace(own, **{**said, "text": f"{own.text}\n\n{MODEL_TEXT}\n\n{answer.text}"})

    def _refusal(self, asked: PromptedQuestion, reason: str) -> Answer:
        prompt = asked.prompt
        nearest = tuple(PageRef(hit.document, hit.page, hit.page_label) for hit in prompt.sources.values())[
            :NEAREST
        ]
        why = explain(reason, asked.understanding, asked.known)
        if reason == "no_documents":
            text = why
        else:
            text = f"{NOT_SO_FAR if asked.in_part else NOT_IN_DOCUMENTS} {why}"
        if closest := self._closest(asked):
            text += f"\n\n{closest}"
        return Answer(
            prompt.question, prompt.search_query, text, False, reason=reason, nearest=nearest, prompt=prompt
        )

    def _closest(self, asked: PromptedQuestion) -> str:
        """What of the pages comes nearest to a question that they do not answer, of another year where its
        own is missing, with its page; "" where it lacks half of the question's words, and on a page that
        addresses its reader as a machine."""
        meant = replace(asked.understanding, years=(), subject=without_periods(asked.understanding.subject))
        if asked.understanding.years and meant.measures:
            stated = self._computed(asked.prompt, meant)
        else:
            stated = ""
        text = stated or extract_answer(
            asked.prompt, asked.understanding, likeness=self._likeness(asked.vector)
        )
        first, _, _ = text.partition("\n\n")
        found = KEYS_IN_BRACKETS.search(text)
        if found:
            hit = asked.prompt.sources.get(found[0].strip("[]"))
        else:
            hit = None
        words = " ".join(KEYS_IN_BRACKETS.sub("", first).split())
        wanted = set(content_terms(meant.subject))
        if hit is None or len(wanted & set(terms(words))) <= LEAST_CLOSE * len(wanted) or orders_of(hit):
            return ""
        if len(words) <= LONGEST_QUOTE:
            quote = words
        else:
            quote = f"{words[:LONGEST_QUOTE].rpartition(' ')[0]} …"
        return CLOSEST.format(page=hit.page, document=hit.document, quote=quote)

    def _lacking(self, asked: PromptedQuestion, answer: Answer) -> tuple[str, ...]:
        """Sentences for what the question names and the answer does not speak of."""
        if not answer.answered:
            return ()
        cited = {(citation.version, citation.page) for citation in answer.citations}
        quoted = [hit for hit in asked.prompt.sources.values() if (hit.version, hit.page) in cited]
        other = unnamed(asked.understanding, quoted, asked.known, partial(is_about, self._library))
        if answer.model == "extractive" and leaves_average_out(asked.prompt.question, answer.text):
            average = NO_AVERAGE
        else:
            average = ""
        return (*left_out(asked.understanding, asked.known), *filter(None, [other, average]))

    def _with_confidence(self, citation: Citation) -> Citation:
        """The citation with how surely its own words were read, where OCR read them, rather than its page
        as a whole.
        """
        if (
            citation.confidence is None
            or citation.version is None
            or citation.page is None
            or citation.start < 0
        ):
            return citation
        try:
            words = self._library.catalog.page(citation.version, citation.page).words
        except KeyError:  # erased meanwhile
            return citation
        return replace(citation, confidence=confidence_of(words, citation.start, citation.end))


def _calls(parts: Sequence[str], name: str) -> bool | None:
    """Whether a document's name has all of a name, "mcdonalds" that of McDonald; None where it has a part
    of it: of "Acme Cloud" Acme's document is not.
    """
    joined = "".join(parts)
    words = [word for word in re.findall(r"\w+", name.casefold()) if word not in OF_FIRMS]
    there = [any(part.startswith(word) for part in parts) or word in joined for word in words]
    if any(there) and not all(there):
        return None
    return bool(there) and all(there)


def _was_cut(reply: Reply, prompt: Prompt) -> Notice | None:
    """That an endpoint read far less of the prompt than it was sent, as some do without a word where their
    context is short.
    """
    sent = size_of(prompt)
    if not 0 < reply.prompt_tokens < LEAST_READ * sent:
        return None
    return Notice(CUT.format(read=reply.prompt_tokens, sent=sent), CUT_HINT)


def _said_by_model(answer: Answer) -> dict[str, Any]:
    """What of a chat model's answer stands where it is taken for a refusal, which is checked as any answer
    is.
    """
    return {
        name: getattr(answer, name)
        for name in ("text", "citations", "numbers", "statements", "prompt", "model", "sent_to")
    }


def _pages_unchecked(answer: Answer) -> tuple[str, ...]:
    """A sentence for the pages that a model's answer names beside its citations."""
    if answer.answered and answer.model != "extractive":
        named = uncited_pages(answer.text, answer.citations)
    else:
        named = ()
    if named:
        return (PAGES_UNCHECKED.format(pages=f"page{'s' * (len(named) > 1)} {' and '.join(named)}"),)
    return ()
