"""One document read whole: text first, then what only its images show, labels last; a page that fails costs no other page."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ingestion.errors import CancelledError, DocumentError, ReaderDiedError
from ingestion.facts import document_facts
from ingestion.instructions import find_instructions
from ingestion.labels import page_labels
from ingestion.margins import running_lines, running_spans
from ingestion.page_kinds import page_kinds
from ingestion.reader import LOOK_SECONDS, Reader
from ingestion.records import NAMED, NO_FACTS, DocumentFacts, DocumentInfo, Page, Rect, Row
from ingestion.tables import continue_tables
from ingestion.text_quality import better_reading, join_line_breaks, needs_reading_again, vocabulary
from ingestion.unseen import label_line, title_line

__all__ = ["Circumstances", "Reading", "read_document"]

Result = TypeVar("Result")

# A file that ends its reader so often is made to; a file with more text than ten times the longest budget volumes is no document.
MOST_DEATHS = 5
MOST_CHARACTERS = 50_000_000
GIVEN_UP = "The file made the reader fail too often, or has too much text; this page was not read."
# Pages of text for which a further reader is worth its start, 0.15 s.
PAGES_A_READER = 60
Progress = Callable[[str, int, int], None]
# However many documents are read at once, no more pages than there are cores are in OCR together.
_OCR_PLACES = threading.BoundedSemaphore(len(os.sched_getaffinity(0)))


def _never() -> bool:
    return False


def _no_progress(phase: str, done: int, total: int) -> None:
    return


def _not_kept(page: Page) -> None:
    return


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as read: every page is there, in physical order, the unreadable ones with their problem."""

    info: DocumentInfo
    pages: tuple[Page, ...]
    facts: DocumentFacts = NO_FACTS


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How a document is read. password: for this reading only. processes: reading at once, at least 1. progress(phase, done, total):
    phase "reading" or "ocr". cancelled: asked a few times a second. images: pages read from their images before, by number;
    keep: called with each further one, from any thread. ocr_pages: the only pages that are read from their images, None for all that need it."""

    password: str | None = None
    processes: int = 2
    progress: Progress = _no_progress
    cancelled: Callable[[], bool] = _never
    images: Mapping[int, Page] = field(default_factory=dict)
    keep: Callable[[Page], None] = _not_kept
    ocr_pages: frozenset[int] | None = None


CALM = Circumstances()


def read_document(path: Path, how: Circumstances = CALM) -> Reading:
    """All pages of `path`: text first, then OCR of the pages without usable text and of pictures of text on the others.

    Raises DocumentError where the file cannot be opened at all, and CancelledError; a page that cannot be read is a page with a problem.
    """
    return _Document(path, how).read()


class _Document:
    """One file while it is read."""

    def __init__(self, path: Path, how: Circumstances) -> None:
        self._path, self._how = path, how
        self._free: list[Reader] = []
        self._deaths = self._characters = 0

    def read(self) -> Reading:
        try:
            with self._reader() as reader:
                info = reader.info
            texts = self._texts(info.pages)
            pages = {page.number: page for page, _ in texts}
            again = {page.number for page in pages.values() if page.problem != GIVEN_UP and _unread(page)}
            pictures = {page.number: found for page, found in texts if found and page.number not in again}
            images = self._images(sorted({*again, *pictures}), pictures, pages)
        finally:
            for reader in self._free:
                reader.close()
        ordering = _ordering(info)
        info = replace(info, title=title_line(info.title), labels=tuple(map(label_line, info.labels)))
        finished = _finished([*{**pages, **images}.values()], info.labels, ordering)
        return Reading(info, finished, document_facts(finished, info.title))

    def _texts(self, count: int) -> list[tuple[Page, Sequence[Rect]]]:
        """Each page's text, and where it has pictures that may hold more."""

        def read(number: int) -> tuple[Page, Sequence[Rect]]:
            if self._characters > MOST_CHARACTERS:
                raise DocumentError(GIVEN_UP)
            with self._reader() as reader:
                page, pictures = reader.text(number)
            self._characters += len(page.text)
            return page, pictures

        threads = min(self._how.processes, -(-count // PAGES_A_READER))
        done = self._each(range(1, count + 1), read, lambda page: (page, ()), phase="reading", threads=threads)
        return [done[number] for number in range(1, count + 1)]

    def _images(self, numbers: Sequence[int], pictures: Mapping[int, Sequence[Rect]], pages: Mapping[int, Page]) -> dict[int, Page]:
        """Pages as their images make them, by number."""
        known = {number: page for number, page in self._how.images.items() if number in pages}

        def read(number: int) -> Page:
            page = pages[number]
            with self._ocr_place(), self._reader() as reader:
                better = reader.pictures(page, pictures[number]) if number in pictures else better_reading(page, reader.ocr(number))
            self._how.keep(better)
            return better

        def unread(page: Page) -> Page:
            return pages[page.number] if page.number in pictures else better_reading(pages[page.number], page)

        only = self._how.ocr_pages
        missing = [number for number in numbers if number not in known and (only is None or number in only)]
        return {**known, **self._each(missing, read, unread, phase="ocr", threads=self._how.processes)}

    def _each(
        self, numbers: Sequence[int], read: Callable[[int], Result], unread: Callable[[Page], Result], *, phase: str, threads: int
    ) -> dict[int, Result]:
        """number -> what `read` gives, or `unread` of an empty page that says what stopped it."""
        done: dict[int, Result] = {}
        if numbers:
            self._how.progress(phase, 0, len(numbers))

        def step(number: int) -> None:
            if self._how.cancelled():
                return
            try:
                if self._deaths >= MOST_DEATHS:
                    raise DocumentError(GIVEN_UP)
                result = read(number)
            except CancelledError:
                return
            except DocumentError as error:
                self._deaths += isinstance(error, ReaderDiedError)
                result = unread(Page(number, "", method="none", problem=error.message))
            done[number] = result
            self._how.progress(phase, len(done), len(numbers))

        with ThreadPoolExecutor(max(1, threads)) as pool:
            list(pool.map(step, numbers))
        if self._how.cancelled():
            raise CancelledError("Cancelled.")
        return done

    @contextmanager
    def _ocr_place(self) -> Iterator[None]:
        """One of the places for OCR, waited for; other documents may have them for a while."""
        while not _OCR_PLACES.acquire(timeout=LOOK_SECONDS):
            if self._how.cancelled():
                raise CancelledError("Cancelled.")
        try:
            yield
        finally:
            _OCR_PLACES.release()

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        """A reader that nobody else uses meanwhile; one that died is not used again."""
        try:
            reader = self._free.pop()
        except IndexError:
            reader = Reader(self._path, password=self._how.password, cancelled=self._how.cancelled)
        try:
            yield reader
        except (ReaderDiedError, CancelledError):
            reader.close()
            raise
        except BaseException:
            self._free.append(reader)
            raise
        self._free.append(reader)


def _unread(page: Page) -> bool:
    return page.problem is not None or needs_reading_again(page.text)


def _ordering(info: DocumentInfo) -> frozenset[int]:
    """The pages whose own label addresses a machine, and the first where the title does. info: as the file has it, for what is unseen can be read."""
    called = [(1, info.title), *enumerate(info.labels, 1)]
    return frozenset(number for number, text in called if text and find_instructions(text))


def _finished(pages: Sequence[Page], embedded: Sequence[str | None], ordering: Container[int]) -> tuple[Page, ...]:
    """Pages with their words joined across line ends, and with what only all pages together tell: labels, running lines, table heads.
    ordering: see _ordering."""
    words = vocabulary([page.text for page in pages])
    pages = continue_tables([_joined(page, words) for page in pages])
    labels = page_labels(pages, embedded)
    pages = [replace(page, label=label, label_source=source) for page, (label, source) in zip(pages, labels, strict=True)]
    running = running_lines(pages)
    return tuple(
        replace(page, running=running_spans(page, running), kinds=page_kinds(page), instructions=(*named, *find_instructions(page.text)))
        for page in pages
        for named in [(NAMED,) if page.number in ordering else ()]
    )


def _joined(page: Page, words: frozenset[str]) -> Page:
    """The page with hyphens at line ends resolved, all offsets moved with the text."""
    text, moved = join_line_breaks(page.text, words)
    if text == page.text:
        return page
    return replace(
        page,
        text=text,
        words=tuple(replace(word, start=moved(word.start), end=moved(word.end)) for word in page.words),
        lines=tuple(replace(line, start=moved(line.start), end=moved(line.end)) for line in page.lines),
        tables=tuple(replace(table, rows=tuple(_moved_row(row, moved) for row in table.rows)) for table in page.tables),
    )


def _moved_row(row: Row, moved: Callable[[int], int]) -> Row:
    cells = tuple(cell and replace(cell, start=moved(cell.start), end=moved(cell.end)) for cell in row.cells)
    return replace(row, cells=cells, start=moved(row.start), end=moved(row.end))
