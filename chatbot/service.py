"""Offers the chatbot to every user interface as one object: documents, questions, ratings, page images.

The object keeps no state for a user. Other modules carry out the steps of an answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.asking.answering import Answering
from chatbot.asking.asker import Asker
from chatbot.asking.direct_answers import DirectAnswers
from chatbot.asking.memory_context import MemoryContext
from chatbot.asking.model_roles import ChatModels
from chatbot.asking.multi_document import MultiDocument
from chatbot.asking.page_answers import PageAnswers
from chatbot.asking.question import Ask, checked
from chatbot.asking.reading_back import ReadingBack
from chatbot.asking.side_by_side import SideBySide
from chatbot.asking.whole_document import WholeDocument
from chatbot.comparison import Comparison, Entry, EntryPlace, question_in
from chatbot.comparison.fiscal_years import COVER_PAGES, fiscal_month, fiscal_text
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.comparison.key_figures import KeyFigureSheet, key_figure_sheet
from chatbot.errors import NotFoundError, ProjectError, StoreError, UsageError
from chatbot.evidence.highlights import locate_quotes
from chatbot.lookup.key_figure_sheets import KeyFigureSheets
from chatbot.lookup.lookups import Lookups
from chatbot.memory.cases.case_layer import CaseLayer
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import Conversations
from chatbot.memory.layers import LayerOpening, MemoryLayer, open_layers
from chatbot.memory.memory_database import open_memories
from chatbot.memory.memory_service import MemoryService
from chatbot.memory.salvage import damage_of
from chatbot.memory.session_texts import SessionTexts
from chatbot.memory.signals.records import SignalOptions
from chatbot.memory.signals.signal_layer import SignalLayer
from chatbot.memory.situations.situation_layer import SituationLayer
from chatbot.memory.user_settings_store import UserSettingsStore
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.models.tokens import encodable
from chatbot.records import Answer, DocumentRow, Event, Exchange, Hit, Notice, PageReport, Stage
from chatbot.search.corpus_vocabulary import listed
from chatbot.search.editions import series_of
from chatbot.search.follow_up.rules import standalone_query
from chatbot.search.page_search import Find, Finder
from chatbot.settings import PROGRAM, Settings
from chatbot.store.addition_queue import Additions, add_files
from chatbot.store.doctor import Finding, examine
from chatbot.store.document_names import known_as
from chatbot.store.library import AddResult, Library, Upload
from chatbot.store.part_checks import PartChecks, StorePart
from chatbot.store.reader_pool import Readers
from chatbot.tools.tool_servers import ToolServers
from ingestion.pages.document_facts import period_in
from ingestion.pages.title_text import name_title
from ingestion.precedence import precedence
from ingestion.records import Rect

if TYPE_CHECKING:
    from pathlib import Path

    from chatbot.models.chat import LLM

__all__ = ["Chatbot"]

log = logging.getLogger(__name__)

Layer = TypeVar("Layer")

# Seconds between two searches for deleted ratings, each of which reads all of their files.
SWEEP_SECONDS = 3_600
# Stages in which a question waits for others, as it does for a chat model's answer.
WAITING = frozenset({"tools", "looking", "checking"})
MEND = f"Stop the server and run `{PROGRAM} doctor --repair`, which saves all rows that can be read."


def _timings(stages: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Returns (stage, seconds) from the start times of the stages; the last stage lasts until now.

    A stage that was reached again counts once, where it was first. The clock is time.perf_counter.
    """
    ends = [*(began for _, began in stages[1:]), time.perf_counter()]
    lasted = dict[str, float]()
    for (name, began), end in zip(stages, ends, strict=True):
        lasted[name] = lasted.get(name, 0.0) + end - began
    return tuple((name, round(seconds, 3)) for name, seconds in lasted.items())


def _no_progress(phase: str, done: int, total: int) -> None:
    pass


def _tell_nobody(notice: Notice) -> None:
    pass


class Chatbot:
    """Takes documents in and gives page-cited answers out.

    It opens the store and is its only owner until closed. Several threads may use it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        model: LLM | None = None,
        mend: bool = False,
    ) -> None:
        """Opens the store. Raises StoreError (see Library) and SettingsError.

        embedder, model: by default those that the settings choose.
        mend: see open_memories.
        """
        self.settings = settings
        self.readers = Readers()
        embedder = embedder or make_embedder(settings)
        self.library = Library(settings, embedder, erasing=self._forget)
        try:
            # set_aside: where the file of memories is now, if it could not be read.
            self.memories, self.set_aside = open_memories(settings, mend=mend)
            self.conversations, self.own = (
                Conversations(self.memories),
                UserSettingsStore(self.memories, settings),
            )
            self.session_texts = SessionTexts(self.memories if settings.database else None)
            layers = open_layers(
                LayerOpening(
                    self.memories, settings, self.library.embedder, self.library.catalog, self.own.settings
                )
            )
            self.cases = _opened(CaseLayer, layers).cases
            self.situations = _opened(SituationLayer, layers).situations
            self._signal_layer = _opened(SignalLayer, layers)
            self.signals = self._signal_layer.signals
            self.memory = MemoryService(
                settings,
                self.conversations,
                self.library.catalog,
                self.library.embedder,
                layers,
                settings_of=self.own.settings,
            )
            with suppress(StoreError):  # reported where they are read
                self.memory.sweep()
            with suppress(StoreError):
                self._forget_quoted()
            with suppress(StoreError):
                self.cases.sweep()
        except BaseException:
            for opened in (getattr(self, name, None) for name in ("conversations", "signals", "memories")):
                if opened is not None:
                    opened.close()
            self.library.close()
            raise
        self.models = ChatModels(settings, self.own, model)
        self.memory_context = MemoryContext(
            self.library, self.memory, self.cases, self.situations, self.models
        )
        self.finder = Finder(self.library, context_tokens=settings.context_tokens)
        self.answering = Answering(self.library, context_tokens=settings.context_tokens)
        whole = WholeDocument(self.library, self.finder, self.answering)
        pages = PageAnswers(self.library, self.finder, self.answering, self.memory_context)
        direct_answers = DirectAnswers(self.library, self.memory_context, whole, pages)
        several = MultiDocument(self.finder, self.answering)
        self.reading = ReadingBack(self.answering, self.own)
        self.tools = ToolServers(settings, settings.home)
        self._key_figures = KeyFigureSheets(self.library)
        self.lookups = Lookups(self.library, self.finder, self._key_figures, self.readers)
        self._asker = Asker(
            self.library,
            self.finder,
            self.answering,
            self.memory_context,
            direct_answers,
            several,
            self.models,
            settings.context_tokens,
            self.tools,
            self.lookups,
            self.reading,
        )
        self.parts = PartChecks(self._parts())
        self.side_by_side = SideBySide(self._asker, settings)

    @property
    def ready(self) -> bool:
        """Whether questions can be asked and all that is stored is found by its words."""
        return self.library.indexes.words_whole

    def close(self) -> None:
        """Closes the store, and ends the servers of tools."""
        self.parts.close()
        self.tools.close()
        self.readers.close()
        self.conversations.close()
        self.session_texts.close()
        self.signals.close()
        self.memories.close()
        self.library.close()

    def _parts(self) -> list[StorePart]:
        settings, library = self.settings, self.library
        database = "Postgres" if settings.database else "SQLite"
        return [
            StorePart("catalog", database, lambda: library.catalog.meta("")),
            StorePart("conversations", database, lambda: self.memories.read("select 1")),
            StorePart(
                "words",
                "Postgres" if settings.database else "tantivy",
                lambda: library.indexes.keywords.frequencies(("",)),
            ),
            StorePart(
                "vectors", "Chroma server" if settings.chroma_url else "Chroma", library.indexes.vectors.ping
            ),
            StorePart(
                "copies",
                "object store" if settings.objects else "folder",
                lambda: library.copies.has("0" * 64),
            ),
            StorePart("news", "Postgres" if self.signals.options.address else "SQLite", self.signals.ping),
        ]

    def __enter__(self) -> Chatbot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- documents
    # --------------------------------------------------------------------------------------------------------

    def check(
        self,
        *,
        repair: bool = False,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
    ) -> Iterator[Finding]:
        """Checks the memories, then the documents; see `examine`."""
        for line in damage_of(self.memories):
            yield Finding(None, f"the memories are damaged: {line}", MEND)
        yield from examine(self.library, repair=repair, progress=progress)

    def documents(self) -> list[DocumentRow]:
        """Returns all documents, including removed ones that can be restored."""
        return self.library.catalog.documents()

    def titles(self) -> dict[str, str]:
        """Returns name -> title of all documents, removed ones too; no two titles are alike.

        A title is of unknown origin, to be escaped where it is shown.
        """
        return self.library.catalog.titles()

    def title(self, name: str) -> str:
        """Returns the title of a document; of one that is not there, its name, tidied."""
        return self.titles().get(name) or name_title(name)

    def editions(self, names: Sequence[str]) -> list[list[str]]:
        """Returns the groups of these documents that are editions of one, the oldest of each first."""
        there = listed(self.library)
        chosen = [there[name] for name in names if name in there]
        groups = {tuple(series_of(document.name, chosen)) for document in chosen}
        return [list(group) for group in sorted(groups) if len(group) > 1]

    def fiscal_years(self, names: Sequence[str]) -> dict[str, str]:
        """Returns name -> fiscal year, such as "FY 2018 (to May)", of those documents that say it."""
        found = {}
        for version, name in self.library.scope(names).items():
            pages = self.library.catalog.pages(version, range(1, COVER_PAGES + 1))
            month = fiscal_month(page.text for _, page in sorted(pages.items()))
            found[name] = fiscal_text(self.library.facts(version).period or period_in(name), month)
        return {name: text for name, text in found.items() if text}

    def add(
        self,
        uploads: Sequence[Upload],
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        started: float | None = None,
        through: Additions | None = None,
        readers: int = 0,
    ) -> Iterator[AddResult]:
        """Adds files and waits for them; see addition_queue.add_files.

        progress(document, phase, done, total): called with the phase of a job, such as "reading".
        through: the queue of a server that has the store open.
        readers: files that are read at a time, 0 for one per core.
        """
        yield from add_files(
            self.library,
            uploads,
            readers=readers or self.settings.threads,
            progress=progress,
            started=started,
            through=through,
        )

    def add_unread(
        self,
        passwords: Mapping[str, str],
        *,
        progress: Callable[[str, str, int, int], None],
        through: Additions | None = None,
        languages: str = "",
    ) -> Iterator[AddResult]:
        """Adds what users copied into the folder of documents.

        Of files that failed before, only those are tried that have a password now.

        passwords: by document name.
        through: as in add.
        languages: see Job.
        """
        found = {
            file.name: file
            for file in self.library.unread(wait=True)
            if not file.problem or file.name in passwords
        }
        begun: set[str] = set()

        def noted(document: str, phase: str, done: int, total: int) -> None:
            if document in found and document not in begun:
                begun.add(document)
                self.library.try_unread(found[document])
            progress(document, phase, done, total)

        for result in self.add(
            [Upload(one.path, one.name, passwords.get(one.name), languages) for one in found.values()],
            progress=noted,
            through=through,
        ):
            self.library.tried(found[result.document], result)
            yield result

    def remove(self, name: str, *, purge: bool = False) -> list[Path]:
        """Hides a document, or erases it; see Library.remove.

        Hiding does not wait for an addition that is under way.
        """
        with self.library.reserve.lent():
            try:
                return self.library.remove(known_as(encodable(name)), purge=purge)
            finally:
                if purge:
                    self.answering.forget()
                    self._key_figures.forget()
                    self.memory.forget_erased()
                    self._forget_quoted()

    def restore(self, name: str) -> None:
        """Restores a removed document."""
        self.library.restore(known_as(encodable(name)))

    def resume(
        self,
        *,
        progress: Callable[[str, str, int, int], None] = lambda document, phase, done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> list[AddResult]:
        """Finishes what an earlier process left undone; see Library.resume.

        progress: as in add.
        cancelled: asked between files, pages and batches.
        """
        return self.library.resume(progress=progress, cancelled=cancelled)

    def report(self, name: str) -> list[PageReport]:
        """Returns how each page of a stored document was read."""
        return self.library.catalog.report(next(iter(self.library.scope([name]))))

    # --- searching and asking
    # -----------------------------------------------------------------------------------------------

    def search(
        self, text: str, *, names: Sequence[str] = (), mode: str = "hybrid", k: int = 3, raw: bool = False
    ) -> list[Hit]:
        """Returns the best pages for a query, at most k, one hit a page.

        With `raw` it returns the k nearest chunks instead. Raises QuestionError, NotFoundError, ModelError.
        """
        return self.find(Find(text, tuple(names), mode, k, raw))

    def find(
        self,
        find: Find,
        *,
        progress: Callable[[str, int, int], None] = _no_progress,
        tell: Callable[[Notice], None] = _tell_nobody,
    ) -> list[Hit]:
        """Searches like `search`; with the strategy "union" more than k pages may come.

        progress(phase, done, total): phase "embedding" or "searching", counted in pieces of a long query.
        tell: receives what the user should know.
        """
        if find.raw:
            reranker = None
        else:
            reranker = self.models.reranking()
        return self.finder.find(
            replace(find, query=checked(find.query)), reranker, progress=progress, tell=tell
        )

    def standalone(self, question: str, history: Sequence[Exchange]) -> str:
        """Returns the query that is searched for a question after these exchanges."""
        return standalone_query(checked(question), history)

    def ask(self, ask: Ask, *, stop: Callable[[], bool] = lambda: False) -> Iterator[Event]:
        """Answers a question: yields stages, tokens and notices as they come, and the Answer last.

        A chat model's answer may come twice: as soon as it is complete, and with the marks of its reading.
        Closing the generator stops the work. Raises QuestionError, NotFoundError. If the chat model fails,
        this is a Notice, and the answer is the extractive one, with `error` set.
        """
        draft = self.memory.draft(ask.conversation, ask.owner, ask.question)
        said = list[str]()
        failed = True
        stages = list[tuple[str, float]]()
        try:
            asker = self.side_by_side.asker(ask.model)
            waits = WAITING if asker.models.answering(ask.owner) is None else WAITING | {"answering"}
            with ExitStack() as passing, closing(asker.events(ask, stop)) as events:
                passing.enter_context(precedence())
                first = next(events)  # from here on the question can be asked
                problem = draft.begin()
                for event in chain([problem] if problem else [], [first], events):
                    if isinstance(event, Notice):
                        said.append(event.text)
                    elif isinstance(event, Stage) and event.name != (stages[-1][0] if stages else ""):
                        stages.append((event.name, time.perf_counter()))
                        passing.close()
                        if event.name not in waits:
                            passing.enter_context(precedence())
                    elif isinstance(event, Answer):
                        event = replace(event, notices=tuple(said), timings=_timings(stages))
                    passed, problem = draft.take(event)
                    if problem:
                        said.append(problem.text)
                        yield problem
                        if isinstance(passed, Answer):
                            passed = replace(passed, notices=tuple(said))
                    yield passed
            failed = False
        except GeneratorExit:
            failed = False
            raise
        finally:
            draft.give_up(failed=failed)

    def read_back(
        self, conversation: str, number: int, owner: str, *, stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Event]:
        """Reads a kept answer back, and keeps it with its marks: yields the stage, and the Answer last.

        Nothing comes where no model reads. Raises NotFoundError, UsageError and StoreError.
        """
        answer = self.memory.answer(conversation, number, owner)
        if answer is None or answer.prompt is None:
            raise NotFoundError("The pages of this answer are not kept.", hint="Ask the question again.")
        kept = answer.prompt.sources
        stored = {key: self.answering.page(hit, hit.page) for key, hit in kept.items() if hit.version > 0}
        sources = {**kept, **stored}
        whole = replace(answer, prompt=replace(answer.prompt, sources=sources))
        for event in self.reading.events(whole, self.models.verifying(owner), stop):
            if isinstance(event, Answer):
                self.memory.keep(conversation, number, event, owner)
            yield event

    def compare(
        self,
        comparison: Comparison,
        *,
        places: Sequence[EntryPlace] | None = None,
        owner: str = "local",
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[Notice], None] = _tell_nobody,
    ) -> Iterator[Entry]:
        """Asks one question of each document and year, and yields the entries of the table in its order.

        Of each document the last year is asked first: other years prefer the row of that answer. An entry
        that fails is yielded too. Closing the generator stops the work, as does `stop`, after which no entry
        comes.

        places: places in the table, None for all.
        tell: receives what the user should know, such as that a document is not fully read. The same message
            may come for several places.
        """
        wanted = comparison.places if places is None else places
        for document, of_document in groupby(wanted, key=attrgetter("document")):
            *earlier, last = of_document
            ask = Ask(question_in(comparison.question, last.year), (document,), owner=owner)
            newest, said = self._entry(last, ask, stop, tell)
            for place in earlier:
                question = question_in(comparison.question, place.year)
                entry, _ = self._entry(place, replace(ask, question=question, beside=said), stop, tell)
                if stop():
                    return
                yield entry
            if stop():
                return
            yield newest

    def _entry(
        self, place: EntryPlace, ask: Ask, stop: Callable[[], bool], tell: Callable[[Notice], None]
    ) -> tuple[Entry, str]:
        """An entry of a comparison with the text of its answer, "" if it was refused, failed or stopped."""
        answer = None
        notices: list[Notice] = []
        try:
            with closing(self.ask(ask, stop=stop)) as events:  # type: ignore[type-var]
                for event in events:
                    if stop():
                        return Entry(place, "failed"), ""
                    if isinstance(event, Notice):
                        notices.append(event)
                    if isinstance(event, Answer):
                        answer = event
            assert answer is not None
            for notice in notices:
                if notice.text not in answer.superseded:  # the reader has chosen the edition
                    tell(notice)
            return read_entry(answer, place), answer.text if answer.answered else ""
        except ProjectError as error:
            return Entry(place, "failed", reason=error.message, hint=error.hint), ""

    def key_figures(
        self,
        names: Sequence[str] = (),
        *,
        progress: Callable[[str, int, int], None] = _no_progress,
        stop: Callable[[], bool] = lambda: False,
    ) -> KeyFigureSheet:
        """Makes the sheet of key figures of these documents, of all where no names are given.

        Documents that `stop` leaves out are missing in it. Raises NotFoundError.

        progress(document, done, total): called before each document.
        """
        found = []
        for figures in self._key_figures.each(names, progress=progress):
            found.append(figures)
            if stop():
                break
        return key_figure_sheet(found)

    def figures_of(self, names: Sequence[str]) -> Iterator[DocumentFigures]:
        """Yields the key figures of each of these documents. Raises NotFoundError."""
        return self._key_figures.each(names)

    def settle(self, ask: Ask) -> None:
        """Does what can wait until an answer was given. To be called after `ask`, when nobody waits. Never
        fails.
        """
        if ask.conversation is not None:
            # Of a model that is named, or of none, nothing but the answer is asked.
            model = None if ask.model else self.models.answering(ask.owner)
            self.memory.settle(ask.conversation, ask.owner, model)
            with suppress(ProjectError):  # the next one makes them
                self._forget_quoted()
                self.cases.sweep(every=SWEEP_SECONDS)
                self.cases.catch_up()

    def rate(self, conversation: str, number: int, owner: str, *, helpful: bool, word: str = "") -> None:
        """Remembers what a reader thinks of an answer: similar questions will follow it or avoid it.

        word: the reason, in the reader's words.

        Raises NotFoundError for an answer that is not kept, UsageError for one that cannot be an example or
        is in a private conversation, and StoreError.
        """
        if conversation.startswith(PRIVATE):
            raise UsageError(
                "Private conversations and their ratings are not saved.",
                hint="To rate the answer, ask in another conversation.",
            )
        answer = self.memory.answer(conversation, number, owner)
        if answer is None:
            raise NotFoundError("That answer is no longer kept.", hint="Ask again, then rate the new answer.")
        if not answer.from_documents:
            raise UsageError(
                "That answer is not from the documents.",
                hint="Only answers from the documents can be rated.",
            )
        self.cases.rate(owner, answer, int(helpful), word=word)
        sources = [note.origin for note in answer.notes if note.layer == SignalLayer.name and note.origin]
        self.signals.ratings.rate(owner, conversation, number, sources, helpful=helpful)

    def bookmarks(self, version: int) -> list[tuple[str, int, int]]:
        """Returns (title, page, depth from 0) of the bookmarks in a document's file.

        Titles are of unknown origin. Raises DocumentError, NotFoundError, and EncryptedError for a file that
        needs a password.
        """
        with self.readers.reading(self.library.file_to_read(version)) as reader:
            return reader.outline()

    def page_image(
        self,
        version: int,
        page: int,
        quote: str = "",
        start: int = -1,
        *,
        dpi: int = 110,
        password: str | None = None,
    ) -> tuple[bytes, tuple[Rect, ...]]:
        """Returns (PNG of the page, rectangles over `quote`), without rectangles if the quote is not found.

        page: physical, 1-based.
        start: the quotation's offset in the page's text, -1 for its first place.

        Raises DocumentError, NotFoundError, and EncryptedError if the file needs a password, which is never
        stored.
        """
        try:
            stored = self.library.catalog.page(version, page)
        except KeyError as error:
            raise NotFoundError("That page is no longer kept.", hint="Add the document again.") from error
        with self.readers.reading(self.library.file_to_read(version), password) as reader:
            (places,) = locate_quotes(reader, page, stored, [(quote, start)])
            return reader.png(page, dpi=dpi), places

    def signal_options(self, owner: str) -> SignalOptions:
        """Returns the options of an owner for recalling news signals."""
        return self._signal_layer.options_of(owner)

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Removes from the ratings what quotes files that are being erased.

        Ratings that cannot be read do not keep a document from being erased; they are tried again later.
        """
        try:
            if hasattr(self, "cases"):  # opening the store may finish an interrupted erasure
                self._forget_quoted()
        except StoreError as error:
            log.warning("ratings that quote erased documents: %s", error)

    def _forget_quoted(self) -> None:
        """Does the work of `_forget`. Raises StoreError."""
        if digests := self.library.catalog.quoted():
            self.cases.forget(digests)
            self.library.catalog.forgotten(digests)


def _opened(kind: type[Layer], layers: Sequence[MemoryLayer]) -> Layer:
    """Returns the opened memory layer of a kind."""
    return next(layer for layer in layers if isinstance(layer, kind))
