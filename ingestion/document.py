"""One document read: its text alone, or whole, first pages with their tables, then what only images show;
a page that fails costs no other page.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from ingestion.errors import CancelledError, DocumentError, ReaderDiedError
from ingestion.invisible_characters import label_line, title_line
from ingestion.ocr.text_quality import better_reading, join_line_breaks, vocabulary
from ingestion.pages.document_facts import document_facts
from ingestion.pages.kinds import page_kinds
from ingestion.pages.margins import running_lines, running_spans
from ingestion.pages.page_labels import page_labels
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.reader import LOOK_SECONDS, Reader
from ingestion.records import NAMED, NO_FACTS, DocumentFacts, DocumentInfo, Page, Rect, Row
from ingestion.tables.detection import continue_tables

__all__ = ["IMAGES", "TABLES", "Circumstances", "DocumentReading", "read_document", "read_text"]

Result = TypeVar("Result")

# A file that ends its reader so often is made to; a file with more text than ten times the longest budget
# volumes is no document.
MOST_DEATHS = 5
MOST_CHARACTERS = 50_000_000
GIVEN_UP = "The file made the reader fail too often, or has too much text; this page was not read."
# What a reading may lack: tables, with all that only images show; or the latter alone.
TABLES, IMAGES = "tables", "images"
# Pages of text for which a further reader is worth its start, 0.15 s.
PAGES_A_READER = 60
# Images that are read in a moment: what there is without them is not worth being stored first.
FEW_IMAGES = 8
# Bytes from which a file is taken to have so many before it says how many it has.
LARGE_FILE = 500_000
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
class DocumentReading:
    """A document as read: every page is there, in physical order, the unreadable ones with their problem.

    lacks: TABLES where only its text was read, IMAGES where the images of some pages were not, "" where
    nothing is missing. to_come: pages whose image is still to be read; of those without usable text nothing
    stands here.
    """

    info: DocumentInfo
    pages: tuple[Page, ...]
    facts: DocumentFacts = NO_FACTS
    lacks: str = ""
    to_come: int = 0


def _not_awaited(reading: DocumentReading) -> None:
    return


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How a document is read. password: for this reading only. processes: reading at once, at least 1.
    progress(phase, done, total): phase "reading" or "ocr". cancelled: asked a few times a second. images:
    pages read from their images before, by number; keep: called with each further one, from any thread.
    ocr_pages: the only pages that are read from their images, None for all that need it. before_images: gets
    what there is before the first image is read, where more than FEW_IMAGES have to be. images_later: what
    there is before the first image is all. awaited: someone waits for it, so that it goes before all other
    reading."""

    password: str | None = None
    processes: int = 2
    progress: Progress = _no_progress
    cancelled: Callable[[], bool] = _never
    images: Mapping[int, Page] = field(default_factory=dict)
    keep: Callable[[Page], None] = _not_kept
    ocr_pages: frozenset[int] | None = None
    before_images: Callable[[DocumentReading], None] = _not_awaited
    images_later: bool = False
    awaited: bool = False


CALM = Circumstances()


def read_text(path: Path, how: Circumstances = CALM) -> DocumentReading:
    """The text of all pages of `path`, with running lines and page labels: what words can be found by, in
    a tenth of the time. Raises as read_document.
    """
    return _OpenFile(path, how).read_text()


def read_document(path: Path, how: Circumstances = CALM) -> DocumentReading:
    """All pages of `path`: text and tables first, then OCR of the pages without usable text and of pictures
    of text on the others.

    Raises DocumentError where the file cannot be opened at all, and CancelledError; a page that cannot be
    read is a page with a problem.
    """
    return _OpenFile(path, how).read()


@dataclass(frozen=True, slots=True)
class _Layer:
    """A page as its text layer has it. unread: that is no text. pictures: where it has some that may hold
    more.
    """

    page: Page
    unread: bool
    pictures: Sequence[Rect] = ()


class _OpenFile:
    """One file while it is read."""

    def __init__(self, path: Path, how: Circumstances) -> None:
        self._path, self._how = path, how
        self._free: list[Reader] = []
        self._deaths = self._deaths_in_tables = self._characters = 0

    def read_text(self) -> DocumentReading:
        with self._readers() as info:
            layers = self._layers(info.pages, self._text)
        return _reading(info, self._without_images(layers), TABLES, sum(layer.unread for layer in layers))

    def read(self) -> DocumentReading:
        with self._readers() as info:
            layers = self._layers(info.pages, self._page)
            pages = {layer.page.number: layer.page for layer in layers}
            again = {layer.page.number for layer in layers if layer.unread and layer.page.problem != GIVEN_UP}
            pictures = {
                layer.page.number: layer.pictures
                for layer in layers
                if layer.pictures and layer.page.number not in again
            }
            numbers = sorted({*again, *pictures})
            if numbers and (
                self._how.images_later
                or (self._how.before_images is not _not_awaited and len(numbers) > FEW_IMAGES)
            ):
                early = _reading(info, self._without_images(layers), IMAGES, len(numbers))
                if self._how.images_later:
                    return early
                self._how.before_images(early)
            images = self._images(numbers, pictures, pages)
        return _reading(info, [*{**pages, **images}.values()])

    @contextmanager
    def _readers(self) -> Iterator[DocumentInfo]:
        """Reading processes until all is read, and what opening the file tells. A large file is opened by
        two at once.
        """
        try:
            with ThreadPoolExecutor(1) as beside:
                if self._how.processes > 1 and _size(self._path) >= LARGE_FILE:
                    beside.submit(self._open_another)
                with self._reader() as reader:
                    info = reader.info
            yield info
        finally:
            for reader in self._free:
                reader.close()

    def _open_another(self) -> None:
        with suppress(DocumentError, CancelledError), self._reader():
            pass

    def _without_images(self, layers: Sequence[_Layer]) -> list[Page]:
        """Pages as they are until their images are read: of those whose text is none nothing stands."""
        return [
            Page(layer.page.number, "", method="none", problem=layer.page.problem)
            if layer.unread
            else layer.page
            for layer in layers
        ]

    def _layers(self, count: int, read: Callable[[int], _Layer]) -> list[_Layer]:
        """Each page's text layer."""

        def step(number: int) -> _Layer:
            if self._characters > MOST_CHARACTERS:
                raise DocumentError(GIVEN_UP)
            layer = read(number)
            self._characters += len(layer.page.text)
            return layer

        threads = min(self._how.processes, -(-count // PAGES_A_READER))
        done = self._each(
            range(1, count + 1),
            step,
            lambda page: _Layer(page, unread=True),
            phase="reading",
            threads=threads,
        )
        return [done[number] for number in range(1, count + 1)]

    def _text(self, number: int) -> _Layer:
        with self._reader() as reader:
            return _Layer(*reader.text(number))

    def _page(self, number: int) -> _Layer:
        """With its tables, unless these make the reader fail where the text alone does not."""
        if self._deaths_in_tables < MOST_DEATHS:
            try:
                with self._reader() as reader:
                    return _Layer(*reader.page(number))
            except DocumentError as error:
                if error.retryable:
                    raise
                self._deaths_in_tables += isinstance(error, ReaderDiedError)
        return self._text(number)

    def _images(
        self, numbers: Sequence[int], pictures: Mapping[int, Sequence[Rect]], pages: Mapping[int, Page]
    ) -> dict[int, Page]:
        """Pages as their images make them, by number."""
        known = {number: page for number, page in self._how.images.items() if number in pages}

        def read(number: int) -> Page:
            page = pages[number]
            with self._ocr_place(), self._reader() as reader:
                if number in pictures:
                    better = reader.pictures(page, pictures[number])
                else:
                    better = better_reading(page, reader.ocr(number))
            self._how.keep(better)
            return better

        def unread(page: Page) -> Page:
            if page.number in pictures:
                return pages[page.number]
            return better_reading(pages[page.number], page)

        only = self._how.ocr_pages
        missing = [number for number in numbers if number not in known and (only is None or number in only)]
        return {**known, **self._each(missing, read, unread, phase="ocr", threads=self._how.processes)}

    def _each(
        self,
        numbers: Sequence[int],
        read: Callable[[int], Result],
        unread: Callable[[Page], Result],
        *,
        phase: str,
        threads: int,
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
                if error.retryable:  # the machine's fault and not the page's
                    raise
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
            reader = Reader(
                self._path,
                password=self._how.password,
                cancelled=self._how.cancelled,
                awaited=self._how.awaited,
            )
        try:
            yield reader
        except (ReaderDiedError, CancelledError):
            reader.close()
            raise
        except BaseException:
            self._free.append(reader)
            raise
        self._free.append(reader)


def _size(path: Path) -> int:
    """Bytes; 0 where it cannot be looked at, which its reader explains."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _ordering(info: DocumentInfo) -> frozenset[int]:
    """The pages whose own label addresses a machine, and the first where the title does. info: as the file
    has it, for what is unseen can be read.
    """
    called = [(1, info.title), *enumerate(info.labels, 1)]
    return frozenset(number for number, text in called if text and find_instructions(text))


def _reading(info: DocumentInfo, pages: Sequence[Page], lacks: str = "", to_come: int = 0) -> DocumentReading:
    """Pages with their words joined across line ends, and with what only all pages together tell: labels,
    running lines, table heads; and with what each is and orders, where its tables are there."""
    title = title_line(info.title)
    shown = replace(info, title=title, labels=tuple(map(label_line, info.labels)))
    words = vocabulary([page.text for page in pages])
    pages = continue_tables([_joined(page, words) for page in pages])
    labels = page_labels(pages, shown.labels)
    pages = [
        replace(page, label=label, label_source=source)
        for page, (label, source) in zip(pages, labels, strict=True)
    ]
    running = running_lines(pages)
    pages = [replace(page, running=running_spans(page, running)) for page in pages]
    if lacks != TABLES:
        ordering = _ordering(info)
        pages = [
            replace(page, kinds=page_kinds(page), instructions=(*named, *find_instructions(page.text)))
            for page in pages
            for named in [(NAMED,) if page.number in ordering else ()]
        ]
    return DocumentReading(shown, tuple(pages), document_facts(pages, title), lacks, to_come)


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
        tables=tuple(
            replace(table, rows=tuple(_moved_row(row, moved) for row in table.rows)) for table in page.tables
        ),
    )


def _moved_row(row: Row, moved: Callable[[int], int]) -> Row:
    cells = tuple(cell and replace(cell, start=moved(cell.start), end=moved(cell.end)) for cell in row.cells)
    return replace(row, cells=cells, start=moved(row.start), end=moved(row.end))
