"""The chatbot as one object that every shell calls: adding, searching, asking; holds no user's state."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence, Set
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from chatbot.answer.arithmetic import work_out
from chatbot.answer.citations import check_answer
from chatbot.answer.compared import read_entry
from chatbot.answer.computed import compute_answer
from chatbot.answer.extractive import Likeness, extract_answer
from chatbot.answer.pages import forget_pages
from chatbot.answer.passages import passages
from chatbot.answer.prompt import NOT_THERE, Request, build_prompt
from chatbot.comparing import Comparison, Entry, Place, question_in
from chatbot.errors import ModelError, NotFoundError, ProjectError, QuestionError, StoreError, UsageError
from chatbot.measures import Measure
from chatbot.memory.cases.layer import CaseLayer
from chatbot.memory.cases.rated import Rated
from chatbot.memory.cases.store import Cases, Documents, is_sound
from chatbot.memory.conversations.store import PRIVATE, open_conversations
from chatbot.memory.own_settings import OwnModel, open_own_settings
from chatbot.memory.remembering import Before, Remembering
from chatbot.memory.signals.layer import SignalLayer
from chatbot.memory.signals.records import Options
from chatbot.memory.signals.store import Signals
from chatbot.memory.situations.advice import advice_of
from chatbot.memory.situations.layer import SituationLayer
from chatbot.memory.situations.store import Situations
from chatbot.records import Answer, Citation, DocumentRow, Event, Exchange, Hit, Notice, PageRef, Prompt, Recall, Stage, Token, Understanding
from chatbot.search.fusion import LongQuery, embed_query, embedding_steps, mean_vector, split_query, worth_searching
from chatbot.search.newer import Listed, newer_notice, newer_of
from chatbot.search.pages import WEIGHTS, Weights
from chatbot.search.questions import measures_of, operands_of, understand
from chatbot.search.reach import is_about, known_terms, named_documents, topic_likeness
from chatbot.search.refusal import Found, concerns, explain, left_out, refusal_evidence, unnamed, why_not
from chatbot.search.reranking import MOST_PAGES as PAGES_RERANKED
from chatbot.search.reranking import make_reranking_model, rerank
from chatbot.search.retrieval import Query, Retriever
from chatbot.search.rewrite import standalone_query
from chatbot.search.rewriting import make_rewriting_model, rewrite
from chatbot.settings import Settings
from chatbot.store.embedders import Embedder, SentenceVectors, make_embedder
from chatbot.store.holdings import index_mark
from chatbot.store.library import AddResult, Library, Upload
from chatbot.store.names import known_as
from chatbot.tokens import encodable
from ingestion.page_kinds import PRIMARY_STATEMENTS
from ingestion.readers import Readers
from ingestion.records import DocumentFacts, PageReport, Rect
from ingestion.render import confidence_of, locate_quote

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatbot.models import LLM

__all__ = ["LONGEST_QUESTION", "Ask", "Chatbot", "Find"]

log = logging.getLogger(__name__)

# A longer question is a document: it should be added, not asked. 60,000 characters are embedded in 60 windows, within two seconds.
LONGEST_QUESTION = 60_000
# Pages that reach the prompt: of the development questions, the page that answers is among the first three for .91 and among four for .94.
PAGES_IN_PROMPT = 4
NEAREST = 3
# Operands of a ratio that are searched for, and pages that all of them together may bring.
MOST_OPERANDS, MOST_PAGES = 4, 5
# Pages down to which the statement is looked for that a measure is read from.
STATEMENT_DEPTH = 30
# Seconds between two looks through the ratings that were deleted, each of which reads all of their files.
SWEEP_SECONDS = 3_600
# What stands in the place of a model's name where a line was remembered and nothing was asked.
MEMORY = "memory"
# Fingerprints of the embedder whose cosines the thresholds of refusal were taken from.
CALIBRATED = "minilm-"


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its circumstances. names: documents to stay in, () for all. history: exchanges to use instead of a
    conversation's. conversation: id, None to remember nothing. owner: whose conversation it is."""

    question: str
    names: tuple[str, ...] = ()
    conversation: str | None = None
    history: tuple[Exchange, ...] | None = None
    owner: str = "local"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its prompt. vector: of its subject, None where it was searched by words alone. computed: the answer
    that its tables and sentences state or add up to, "" where they do not. known: whether any document in reach has a term of its names and years."""

    prompt: Prompt
    understanding: Understanding
    vector: NDArray[np.float32] | None
    computed: str
    known: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Find:
    """A search with its circumstances. names: documents to stay in, () for all. mode: of retrieval.MODES. k: pages. raw: the nearest chunks by
    their vectors alone, instead of pages. strategy: of fusion.STRATEGIES, for a query longer than the embedder takes; not with raw. weights: of
    the kinds of evidence."""

    query: str
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3
    raw: bool = False
    strategy: str = "average"
    weights: Weights = WEIGHTS


def _timings(stages: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """(stage, seconds) from when each began, on the clock of time.perf_counter; the last goes on until now."""
    ends = [*(began for _, began in stages[1:]), time.perf_counter()]
    return tuple((name, round(end - began, 3)) for (name, began), end in zip(stages, ends, strict=True))


def _no_progress(phase: str, done: int, total: int) -> None:
    pass


def _tell_nobody(notice: Notice) -> None:
    pass


class Chatbot:
    """Documents in, page-cited answers out. Opens the store and is its one owner until closed; safe from several threads."""

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None, model: LLM | None = None) -> None:
        """embedder, model: default to what the settings choose. Raises StoreError (see Library) and SettingsError."""
        self.settings = settings
        self._model = model
        self._model_chosen = self._model_given = model is not None
        self.readers = Readers()
        embedder = embedder or make_embedder(settings)
        documents = Documents(self._digest_of, lambda: self.library.catalog.live_hashes())
        self.cases = Cases(settings.store / "cases", embedder, documents=documents)
        # Files that were erased and that a rating may still quote.
        self._quoted = set[str]()
        self.library = Library(settings, embedder, erasing=self._forget)
        try:
            self.conversations, self.set_aside = open_conversations(settings.store / "conversations.sqlite3")
            self.situations = Situations(settings.store / "situations", self.library.embedder)
            self.own = open_own_settings(settings.store / "preferences.sqlite3", settings)
            self.signals = Signals(settings.store / "signals", self.library.embedder, _signal_options(settings))
            signals = SignalLayer(self.signals, options_of=self.signal_options)
            layers = (CaseLayer(self.cases), SituationLayer(self.situations), signals)
            self.memory = Remembering(
                settings, self.conversations, self.library.catalog, self.library.embedder, layers, settings_of=self.own.settings
            )
            self.memory.sweep()
            with suppress(StoreError):  # told where they are read
                self.cases.sweep()
        except BaseException:
            for opened in (getattr(self, name, None) for name in ("conversations", "situations", "own", "signals")):
                if opened is not None:
                    opened.close()
            self.library.close()
            raise
        self._retriever = Retriever(self.library)
        self._sentences = SentenceVectors(self.library.embedder)

    def close(self) -> None:
        """Give the store free."""
        self.readers.close()
        self.conversations.close()
        self.situations.close()
        self.own.close()
        self.signals.close()
        self.library.close()

    def __enter__(self) -> Chatbot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- documents ----------------------------------------------------------------------------------------------------------

    def documents(self) -> list[DocumentRow]:
        """All documents, removed ones that can be restored among them."""
        return self.library.documents()

    def add(
        self,
        uploads: Sequence[Upload],
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
        started: float | None = None,
    ) -> Iterator[AddResult]:
        """Add files; see Library.add. progress(document, phase, done, total): phase "reading", "ocr" or "embedding"."""
        yield from self.library.add(uploads, progress=progress, cancelled=cancelled, started=started)

    def remove(self, name: str, *, purge: bool = False) -> None:
        """Hide a document, or erase it; see Library.remove. Hiding does not wait for an addition that is under way."""
        self.library.remove(known_as(encodable(name)), purge=purge)
        if purge:
            forget_pages()
            self._sentences.forget()
            self.memory.forget_erased()
            self._forget_quoted()

    def restore(self, name: str) -> None:
        """Bring a removed document back."""
        self.library.restore(known_as(encodable(name)))

    def resume(
        self,
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[AddResult]:
        """Finish what an earlier process left; see Library.resume. progress, cancelled: as in add."""
        return self.library.resume(progress=progress, cancelled=cancelled)

    def report(self, name: str) -> list[PageReport]:
        """How each page of a live document fared."""
        return self.library.catalog.report(next(iter(self.library.scope([name]))))

    # --- searching and asking -----------------------------------------------------------------------------------------------

    def search(self, text: str, *, names: Sequence[str] = (), mode: str = "hybrid", k: int = 3, raw: bool = False) -> list[Hit]:
        """The best pages for a query, at most k, one hit a page; with `raw` the k nearest chunks instead. Raises QuestionError, NotFoundError, ModelError."""
        return self.find(Find(text, tuple(names), mode, k, raw))

    def find(
        self, find: Find, *, progress: Callable[[str, int, int], None] = _no_progress, tell: Callable[[Notice], None] = _tell_nobody
    ) -> list[Hit]:
        """As search; with the strategy "union" more than k pages may come.

        progress(phase, done, total): phase "embedding" or "searching", of the pieces of a long query. tell: gets what the user should know.
        """
        query, embedder = _checked(find.query), self.library.embedder
        self.library.scope(find.names)
        if find.raw:
            return self._retriever.raw(mean_vector(worth_searching(embed_query(embedder, query).chunks)), find.names, find.k)
        understanding = understand(query, query)
        subject = understanding.subject
        words = find.mode == "keyword"
        long = split_query(embedder, subject) if words else embed_query(embedder, subject, progress=partial(progress, "embedding"))
        if long.failure:
            tell(_in_part(long.failure))
        reranker = self._reranker(self.settings)
        wanted = Query(query, None, find.names, find.mode, max(find.k, PAGES_RERANKED) if reranker else find.k, understanding, find.weights)
        hits = self._retriever.search_long(wanted, long, find.strategy, progress=partial(progress, "searching"))
        if reranker:
            ranked = rerank(query, hits, reranker, max_tokens=self.settings.context_tokens)
            hits = list(ranked.hits)
            if ranked.notice:
                tell(ranked.notice)
        return hits if find.strategy == "union" else hits[: find.k]

    def standalone(self, question: str, history: Sequence[Exchange]) -> str:
        """The query that is searched for a question after these exchanges."""
        return standalone_query(_checked(question), history)

    def ask(self, ask: Ask, *, stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Answer a question: stages, tokens and notices as they come, and the Answer last. Closing the generator stops the work.

        Raises QuestionError, NotFoundError. A failing chat model is a Notice, and the answer is then the extractive one, with `error` set.
        """
        draft, said, failed = self.memory.draft(ask.conversation, ask.owner, ask.question), list[str](), True
        stages = list[tuple[str, float]]()
        try:
            with closing(self._events(ask, stop)) as events:
                first = next(events)  # by now the question can be asked
                problem = draft.begin()
                for event in chain([problem] if problem else [], [first], events):
                    if isinstance(event, Notice):
                        said.append(event.text)
                    elif isinstance(event, Stage) and event.name != (stages[-1][0] if stages else ""):
                        stages.append((event.name, time.perf_counter()))
                    elif isinstance(event, Answer):
                        event = replace(event, notices=tuple(said), timings=_timings(stages))
                    passed, problem = draft.take(event)
                    if problem:
                        said.append(problem.text)
                        yield problem
                        passed = replace(passed, notices=tuple(said)) if isinstance(passed, Answer) else passed
                    yield passed
            failed = False
        except GeneratorExit:
            failed = False
            raise
        finally:
            draft.give_up(failed=failed)

    def compare(
        self, comparison: Comparison, *, places: Sequence[Place] | None = None, owner: str = "local", stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Entry]:
        """Ask one question of each document, in each year: the entries of the table as they come, in its order; one that fails is an entry too.

        places: of the table, None for all. Closing the generator stops the work, as does `stop`, after which no entry comes.
        """
        for place in comparison.places if places is None else places:
            answer = None
            try:
                with closing(self.ask(Ask(question_in(comparison.question, place.year), (place.document,), owner=owner), stop=stop)) as events:  # type: ignore[type-var]
                    for event in events:
                        if stop():
                            return
                        answer = event if isinstance(event, Answer) else answer
                assert answer is not None
                yield read_entry(answer, place)
            except ProjectError as error:
                yield Entry(place, "failed", reason=error.message, hint=error.hint)

    def settle(self, ask: Ask) -> None:
        """What may wait until an answer was given: to be called after `ask`, where nobody waits for it. Never fails."""
        if ask.conversation is not None:
            self.memory.settle(ask.conversation, ask.owner, self.model(ask.owner))
            with suppress(ProjectError):  # the next one makes them
                self._forget_quoted()
                self.cases.sweep(every=SWEEP_SECONDS)
                self.cases.catch_up(ask.owner)

    def rate(self, conversation: str, number: int, owner: str, *, helpful: bool, word: str = "") -> None:
        """Remember what its reader thinks of an answer: similar questions will follow it, or avoid it. word: why, in the reader's words.

        Raises NotFoundError for an answer that is not kept, UsageError for one that is no example or stands in a private conversation, StoreError.
        """
        if conversation.startswith(PRIVATE):
            raise UsageError("A private conversation is kept nowhere, nor are ratings in it.", hint="Ask in another conversation to rate the answer.")
        answer = self.memory.answer(conversation, number, owner)
        if answer is None:
            raise NotFoundError("That answer is not kept any more.", hint="Ask again, and rate the new answer.")
        if answer.model == MEMORY:
            raise UsageError("That line was only noted; it is no answer, and no example.", hint="Rate an answer from the documents.")
        self.cases.rate(owner, answer, int(helpful), word=word)

    def _events(self, ask: Ask, stop: Callable[[], bool]) -> Generator[Event, None, None]:
        """As ask, without `notices` in the answer."""
        started = time.perf_counter()
        question = _checked(ask.question)
        index = index_mark(self.library.catalog, self.library.embedder.fingerprint, self.library.scope(ask.names))
        exchanges = self._exchanges(ask)
        yield Stage("searching")
        meant, lent = self.memory.gone_back(question, ask.conversation, ask.owner) if ask.conversation and ask.history is None else (question, ())
        query = yield from self._completed(meant, lent or exchanges, ask.owner, stop)
        advice = self._advice(ask)
        if advice is not None:
            yield from advice
            return
        understanding = understand(question, query)
        vector = yield from self._vector_or_notice(understanding.subject)
        mode = "hybrid" if vector is not None else "keyword"
        wanted = Query(query, vector, ask.names, mode, PAGES_IN_PROMPT, understanding)
        before = self._before(ask, query, vector)
        yield from before.notices
        rated, reranker = self._rated(ask, query, vector), self._reranker(self.own.settings(ask.owner), ask.owner)
        while True:
            unrated = yield from self._pages_of_whom(wanted, stop, reranker)
            hits = rated.applied(unrated, partial(self._more_of_whom, wanted))
            prompt = build_prompt(
                Request(question, query, hits, before.exchanges, before.notes, secrets.token_hex(3), self.settings.context_tokens, before.earlier)
            )
            try:
                remembered = self._remembered(rated, prompt)
                computed = remembered or self._computed(prompt, understanding)
                asked = _Asked(prompt, understanding, vector, computed, known_terms(self.library, understanding, ask.names))
                reason = None if remembered else self._why_not(asked)
                yield from [Notice(rated.why)] if remembered else rated.told(unrated, hits)
                break
            except (KeyError, IndexError):
                if {hit.version for hit in hits} <= self.library.scope(()).keys():
                    raise  # a page was not erased meanwhile: what is there now would not answer either
        answer = self._refusal(asked, reason) if reason else (yield from self._answer(asked, self.model(ask.owner), stop))
        answer = replace(answer, superseded=self._superseded(answer))
        for sentence in (*self._lacking(asked, answer), *answer.superseded):
            yield Notice(sentence)
        yield replace(
            answer,
            considered=tuple(hits),
            conversation=ask.conversation,
            understanding=understanding,
            fingerprint=self.library.embedder.fingerprint,
            notes=before.notes,
            compression=before.compression,
            names=ask.names,
            index=index,
            seconds=round(time.perf_counter() - started, 3),
        )

    def page_image(self, version: int, page: int, quote: str = "", *, dpi: int = 110, password: str | None = None) -> tuple[bytes, tuple[Rect, ...]]:
        """(PNG of the page, rectangles over `quote`, empty where it is not found). page: physical, 1-based. Raises DocumentError,
        NotFoundError, and EncryptedError where the file needs a password, which is never stored."""
        try:
            stored = self.library.catalog.page(version, page)
        except KeyError as error:
            raise NotFoundError("That page is not kept any more.", hint="Add the document again.") from error
        with self.readers.reading(self.library.file(version), password) as reader:
            glyphs = [(word.text, word.box) for word in stored.words] if stored.method == "ocr" else reader.glyphs(page) if quote else []
            # What was read from a picture on a page of text is not among the characters of the file.
            glyphs += [(word.text, word.box) for word in stored.words] if stored.method == "text+ocr" else []
            return reader.png(page, dpi=dpi), locate_quote(glyphs, quote) if quote else ()

    def model(self, owner: str | None = None) -> LLM | None:
        """The chat model that an owner chose, or the settings; None for extractive answers. owner: None for the settings' own."""
        if owner is not None:
            return self.own.model(owner, self.model)
        if not self._model_chosen:
            from chatbot.models import make_model

            self._model, self._model_chosen = (make_model(self.settings) if self.settings.chat_model else None), True
        return self._model

    def signal_options(self, owner: str) -> Options:
        """What holds for an owner where news signals are recalled."""
        return _signal_options(self.own.settings(owner))

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _exchanges(self, ask: Ask) -> tuple[Exchange, ...]:
        if ask.history is not None:
            return ask.history
        return self.memory.window(ask.conversation, ask.owner) if ask.conversation else ()

    def _forget(self, digests: Set[str]) -> None:
        """Take what quotes files that are being erased out of the ratings; those that cannot be read keep no document from going, and are tried again."""
        self._quoted |= digests
        try:
            self._forget_quoted()
        except StoreError as error:
            log.warning("ratings that quote erased documents: %s", error)

    def _forget_quoted(self) -> None:
        """Raises StoreError."""
        digests = frozenset(self._quoted)
        self.cases.forget(digests)
        self._quoted -= digests

    def _digest_of(self, version: int) -> str:
        kept = self.library.catalog.version(version)
        return kept.sha256 if kept else ""

    def _rated(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> Rated:
        """What its owner's ratings say of a question; nothing where cases are switched off, or cannot be read."""
        if vector is None or ask.conversation is None or not self.memory.is_on(ask.conversation, ask.owner, CaseLayer.name):
            return Rated()
        try:
            same = self.cases.of_question(ask.owner, query, vector, ask.names) if self.model(ask.owner) is None else None
            weights = {(one.document_id, one.page): one for one in self.cases.weighed_pages(ask.owner, vector)}
        except ProjectError:  # the layer tells of it
            return Rated()
        older = partial(self._is_older, self._listed() if weights else {})
        return Rated(weights, self._digest_of, same.case if same else None, older)

    def _remembered(self, rated: Rated, prompt: Prompt) -> str:
        """The remembered answer, "" where there is none or it does not stand up to being checked anew."""
        text = rated.text(prompt)
        return text if text and is_sound(self._checked_answer(prompt, text, "extractive")) else ""

    def _advice(self, ask: Ask) -> Iterator[Event] | None:
        """The answer to a line that is advice to be remembered ("when … then …"); None for any other, and where situations are switched off."""
        advice = advice_of(ask.question) if ask.conversation and ask.history is None else None
        if advice is None or ask.conversation is None or not self.memory.is_on(ask.conversation, ask.owner, SituationLayer.name):
            return None
        text = f"Noted. When a question describes this, it will be recalled: {advice.situation} → {advice.recommendation}."
        if ask.conversation.startswith(PRIVATE):
            text = "Not noted: nothing of a private conversation is kept. Say it in another one, and it will be recalled."
        else:
            try:
                self.situations.add(ask.owner, [(advice.situation, advice.recommendation)])
            except ProjectError as error:
                text = f"Not noted: {error.message} {error.hint}".strip()
        return iter((Token(text), Answer(ask.question, ask.question, text, True, model=MEMORY, conversation=ask.conversation)))

    def _before(self, ask: Ask, query: str, vector: NDArray[np.float32] | None) -> Before:
        """What the prompt is given of what was said before."""
        if ask.history is not None:
            return Before(self.memory.fitted(ask.history, query, self.own.settings(ask.owner)))
        return self.memory.before(Recall(query, vector, ask.conversation, ask.owner, ask.names, time.time())) if ask.conversation else Before()

    def _completed(self, question: str, exchanges: Sequence[Exchange], owner: str, stop: Callable[[], bool]) -> Generator[Event, None, str]:
        """The query that is searched: of a follow-up in the chat model's words where that is switched on."""
        settings = self.own.settings(owner)
        model = self._helper(settings, owner, make_rewriting_model) if settings.rewrite and exchanges else None
        if model is None:
            return standalone_query(question, exchanges)
        rewritten = rewrite(question, exchanges, model, stop=stop)
        if rewritten.notice:
            yield rewritten.notice
        return rewritten.query

    def _first_pages(self, query: Query, stop: Callable[[], bool], reranker: LLM | None) -> Generator[Event, None, list[Hit]]:
        """The best pages, in the chat model's order where that is switched on."""
        if reranker is None:
            return self._retriever.search(query)
        ranked = rerank(
            query.text, self._retriever.search(replace(query, k=PAGES_RERANKED)), reranker, max_tokens=self.settings.context_tokens, stop=stop
        )
        if ranked.notice:
            yield ranked.notice
        return list(ranked.hits[: query.k])

    def _reranker(self, settings: Settings, owner: str | None = None) -> LLM | None:
        """The chat model that puts pages into order, None where that is off."""
        return self._helper(settings, owner, make_reranking_model) if settings.rerank else None

    def _helper(self, settings: Settings, owner: str | None, make: Callable[[Settings], LLM | None]) -> LLM | None:
        """The chat model for a short call beside the answer; one that was handed in does all."""
        if owner is not None and self.own.is_own(owner):
            made = make(settings)
            return OwnModel(made) if made else None
        return self._model if self._model_given else make(settings)

    def _pages(self, query: Query, stop: Callable[[], bool], reranker: LLM | None) -> Generator[Event, None, list[Hit]]:
        """The best pages; of a measure also the statement that it is read from, and of a ratio or a difference the best page for each operand,
        for these stand in different statements."""
        hits = yield from self._first_pages(query, stop, reranker)
        assert query.understanding is not None
        operands = operands_of(measures_of(query.understanding))
        if not hits or not operands:
            return hits
        wanted = [replace(query.understanding, measures=(operand.name,), kinds=operand.kinds) for operand in operands[:MOST_OPERANDS]]
        best = [hit for one in wanted for hit in self._retriever.search(replace(query, k=1, understanding=one))] if len(wanted) > 1 else []
        best += self._statements(query, operands, [*hits, *best])
        found = {(hit.version, hit.page): hit for hit in [hits[0], *best, *hits]}
        return list(found.values())[: max(query.k, len({(hit.version, hit.page) for hit in [hits[0], *best]}))][:MOST_PAGES]

    def _statements(self, query: Query, operands: Sequence[Measure], hits: Sequence[Hit]) -> list[Hit]:
        """The statements of the first hit's document that these measures are read from and that are not among the hits: notes and segments
        speak of a measure in more words than the statement does."""
        there = {kind for hit in hits if hit.version == hits[0].version for kind in hit.kinds}
        lacking = {kind for operand in operands for kind in operand.kinds if kind in PRIMARY_STATEMENTS and there.isdisjoint(operand.kinds)}
        if not lacking:
            return []
        deeper = self._retriever.search(replace(query, names=(hits[0].document,), k=STATEMENT_DEPTH))
        return list({kind: hit for hit in reversed(deeper) for kind in lacking.intersection(hit.kinds)}.values())

    def _pages_of_whom(self, query: Query, stop: Callable[[], bool], reranker: LLM | None) -> Generator[Event, None, list[Hit]]:
        """The best pages of those whom the question names; where another's are among the best, only documents about the named are searched."""
        hits = yield from self._pages(query, stop, reranker)
        assert query.understanding is not None
        whose = named_documents(self.library, query.understanding, query.names)
        own = [hit for hit in hits if concerns(query.understanding, hit, whose)]
        if len(own) == len(hits):
            return hits
        scope = self.library.scope(query.names)
        versions = {hit.version for hit in own}.union(*whose.values())
        again = yield from self._pages(replace(query, names=tuple(name for version, name in scope.items() if version in versions)), stop, reranker)
        return [hit for hit in again if concerns(query.understanding, hit, whose)]

    def _more_of_whom(self, query: Query, names: Sequence[str], k: int) -> list[Hit]:
        """The best k pages of these documents (() for those that are asked), of whom the question names alone."""
        assert query.understanding is not None
        whose = named_documents(self.library, query.understanding, query.names)
        hits = self._retriever.search(replace(query, names=tuple(names) or query.names, k=k))
        return [hit for hit in hits if concerns(query.understanding, hit, whose)]

    def _lacking(self, asked: _Asked, answer: Answer) -> tuple[str, ...]:
        """Sentences for what the question names and the answer does not speak of."""
        if not answer.answered:
            return ()
        cited = {(citation.version, citation.page) for citation in answer.citations}
        quoted = [hit for hit in asked.prompt.sources.values() if (hit.version, hit.page) in cited]
        other = unnamed(asked.understanding, quoted, asked.known, partial(is_about, self.library))
        return (*left_out(asked.understanding, asked.known), *filter(None, [other]))

    def _vector_or_notice(self, query: str) -> Generator[Event, None, NDArray[np.float32] | None]:
        """The unit vector of a query, None where there is none, saying why; of a long one the mean over its pieces, and how far it is."""
        waiting, steps = self.library.without_vectors(), embedding_steps(self.library.embedder, query)
        try:
            while True:
                done, total = next(steps)
                if total > 1:
                    yield Stage("searching", done, total)
        except StopIteration as end:
            long: LongQuery = end.value
        except ModelError as error:
            yield Notice(f"Searched by words alone: {error.message}", error.hint)
            return None
        finally:
            steps.close()
        if long.failure:
            yield _in_part(long.failure)
        if waiting:
            names = ", ".join(sorted({version.document for version in waiting})[:3])
            yield Notice(f"Still being indexed, found by words alone so far: {names}.", "Ask again in a minute for the best pages.")
        return mean_vector(worth_searching(long.chunks))

    def _answer(self, asked: _Asked, model: LLM | None, stop: Callable[[], bool]) -> Generator[Event, None, Answer]:
        yield Stage("answering")
        prompt = asked.prompt
        if model is None:
            return (yield from self._extractive(asked))
        said: list[str] = []
        reply = model.stream(prompt.messages, max_tokens=self.settings.answer_tokens, stop=stop)
        try:
            for piece in reply:
                said.append(piece)
                yield Token(piece)
        except ModelError as error:
            partial = f" It had said: “{''.join(said)}”." if said else ""
            yield Notice(error.message + partial, error.hint)
            fallback = yield from self._extractive(asked)
            return replace(fallback, error=str(error), sent_to=(model.name, model.host))
        finally:
            reply.close()
        if reply.finish != "stop":
            reason = "You stopped the answer." if reply.finish == "stopped" else "The answer reached its token limit and lacks its end."
            yield Notice(reason, "" if reply.finish == "stopped" else "Raise FINPOLICY_ANSWER_TOKENS.")
        yield Stage("checking")
        text = "".join(said)
        if NOT_THERE.casefold() in text.casefold()[: 4 * len(NOT_THERE)]:
            return replace(self._refusal(asked, "not_in_excerpts"), text=text, model=model.name, sent_to=(model.name, model.host))
        return replace(self._checked_answer(prompt, text, model.name), sent_to=(model.name, model.host))

    def _extractive(self, asked: _Asked) -> Generator[Event, None, Answer]:
        prompt = asked.prompt
        text = asked.computed or extract_answer(prompt, asked.understanding, likeness=self._likeness(asked.vector))
        if not text:
            return self._refusal(asked, "not_in_excerpts")
        yield Token(text)
        return self._checked_answer(prompt, text, "extractive")

    def _likeness(self, vector: NDArray[np.float32] | None) -> Likeness | None:
        """How near sentences are to the question; only by the embedded model, because another's endpoint would be asked for each page."""
        if vector is None or not self.library.embedder.fingerprint.startswith(CALIBRATED):
            return None

        def near(texts: Sequence[str]) -> list[float]:
            cosines: list[float] = (self._sentences.vectors(texts) @ vector).tolist()
            return cosines

        return near

    def _checked_answer(self, prompt: Prompt, text: str, model: str) -> Answer:
        shown, citations, numbers = check_answer(text, prompt)
        sure = tuple(self._with_confidence(citation) for citation in citations)
        return Answer(prompt.question, prompt.search_query, shown, True, citations=sure, numbers=numbers, prompt=prompt, model=model)

    def _with_confidence(self, citation: Citation) -> Citation:
        """The citation with how surely its own words were read, where OCR read them, rather than its page as a whole."""
        if citation.confidence is None or citation.version is None or citation.page is None or citation.start < 0:
            return citation
        try:
            words = self.library.catalog.page(citation.version, citation.page).words
        except KeyError:  # erased meanwhile
            return citation
        return replace(citation, confidence=confidence_of(words, citation.start, citation.end))

    def _computed(self, prompt: Prompt, understanding: Understanding) -> str:
        """The answer that tables and sentences state or add up to; "" where they are not of whom the question names."""
        first = next(iter(prompt.sources.values()), None)
        if first is None or (understanding.names and not any(is_about(self.library, first.version, name) for name in understanding.names)):
            return ""
        return compute_answer(prompt, understanding) or work_out(prompt, understanding)

    def _why_not(self, asked: _Asked) -> str | None:
        """None where the pages may answer, else a key of REASONS."""
        hits = tuple(asked.prompt.sources.values())
        if not hits:
            return "no_page" if self.library.catalog.active() else "no_documents"
        return why_not(self._evidence(asked), hits)

    def refusal_evidence(self, answer: Answer, names: Sequence[str], *, by_words: bool = False) -> dict[str, float]:
        """What spoke for and against an answer that was given, asked of these documents (() for all); {} where no page was found.

        by_words: as where nothing is embedded.
        """
        if answer.prompt is None or answer.understanding is None or not answer.prompt.sources:
            return {}
        understanding = answer.understanding
        vector = None if by_words else mean_vector(embed_query(self.library.embedder, understanding.subject).chunks)
        known, computed = known_terms(self.library, understanding, names), self._computed(answer.prompt, understanding)
        return self._evidence(_Asked(answer.prompt, understanding, vector, computed, known))

    def _evidence(self, asked: _Asked) -> dict[str, float]:
        """See search/refusal.py."""
        hits = tuple(asked.prompt.sources.values())
        found = [passage for hit in hits for passage in passages(hit)]
        with_heads = [f"{passage.head} {passage.text}" for passage in found]
        likeness = None
        if self._likeness(asked.vector) is not None:
            likeness = topic_likeness(self.library, self._sentences, asked.understanding, hits, [passage.text for passage in found])
        rows = [
            (passage.row.label, " ".join([passage.head, passage.text, *passage.table.heads])) for passage in found if passage.row and passage.table
        ]
        return refusal_evidence(asked.understanding, Found(hits, asked.known, with_heads, bool(asked.computed), likeness, rows))

    def _refusal(self, asked: _Asked, reason: str) -> Answer:
        prompt = asked.prompt
        nearest = tuple(PageRef(hit.document, hit.page, hit.page_label) for hit in prompt.sources.values())[:NEAREST]
        why = explain(reason, asked.understanding, asked.known)
        text = why if reason == "no_documents" else f"Not in these documents. {why}"
        return Answer(prompt.question, prompt.search_query, text, False, reason=reason, nearest=nearest, prompt=prompt)

    def _listed(self) -> dict[str, Listed]:
        """The documents that are there, by name."""
        return {row.name: Listed(row.name, row.title, DocumentFacts(row.period, row.status)) for row in self.documents() if row.removed_at is None}

    @staticmethod
    def _is_older(listed: Mapping[str, Listed], hit: Hit, other: Hit) -> bool:
        """Whether a page's document is of the series of another's and older."""
        there = [listed[name] for name in {hit.document, other.document} if name in listed]
        return len(there) == 2 and newer_of(hit.document, there) is not None

    def _superseded(self, answer: Answer) -> tuple[str, ...]:
        """A sentence for each cited document that has a newer one of its series, itself not cited."""
        rows = self._listed()
        cited = {citation.document for citation in answer.citations if citation.document in rows}
        pairs = [(name, newer_of(name, list(rows.values()))) for name in sorted(filter(None, cited))]
        return tuple(newer_notice(rows[name], rows[newer]) for name, newer in pairs if newer and newer not in cited)


def _signal_options(settings: Settings) -> Options:
    return Options(settings.signals_database, settings.signals_threshold, settings.signals_confidence, settings.signals_hours, settings.signals_notes)


def _in_part(error: ModelError) -> Notice:
    return Notice(f"Parts of the question were searched without their meaning: {error.message}", error.hint)


def _checked(question: str) -> str:
    """The question without surrounding space. Raises QuestionError where it is empty or too long."""
    question = question.strip()
    if not any(map(str.isalnum, question)):
        raise QuestionError("The question is empty.", hint="Ask something about the documents.")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"The question has {len(question):,} characters.", hint=f"Ask in at most {LONGEST_QUESTION:,}, or add the text as a document."
        )
    return encodable(question.replace("\x00", " "))
