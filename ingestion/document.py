"""Reads a document: only its text, or all of it, first pages with their tables, then what only images show.

A page that fails does not affect the others.
"""

from __future__ import annotations

import os
from collections import Counter
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
from ingestion.reading.reader import Reader
from ingestion.reading.turns import Turns
from ingestion.records import NAMED, NO_FACTS, DocumentFacts, DocumentInfo, Page, Rect, Row, Table
from ingestion.tables.detection import continue_tables

__all__ = [
    "IMAGES",
    "READER_VERSION",
    "TABLES",
    "Circumstances",
    "DocumentReading",
    "read_document",
    "read_text",
]

Result = TypeVar("Result")

# Raised when other text, figures or tables are read of the same file than before. Documents that were read by
# an earlier one are then read again.
READER_VERSION = 2
# A file that ends its reader so often was made for it; a file with more than ten times the text of the
# longest budget volumes is no document.
MOST_DEATHS = 5
MOST_CHARACTERS = 50_000_000
GIVEN_UP = "This page was not read: the file has too many errors or too much text."
# What a reading may lack: tables and all that only images show, or only the latter.
TABLES, IMAGES = "tables", "images"
# Pages of text for which a further reader is worth its start, 0.15 s.
PAGES_A_READER = 60
# Pages from which a file is looked through for pages that are there several times.
MANY_PAGES = 100
# So few images are read in a moment; it is not worth storing first what there is without them.
FEW_IMAGES = 8
# Bytes from which a file is assumed to have many pages before it says how many it has.
LARGE_FILE = 500_000
Progress = Callable[[str, int, int], None]
# However many documents are read at once, no more pages than there are cores are in OCR together.
_OCR_PLACES = Turns(len(os.sched_getaffinity(0)))


def _never() -> bool:
    return False


def _no_progress(phase: str, done: int, total: int) -> None:
    return


def _not_kept(page: Page) -> None:
    return


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A document as read.

    info: what opening the file tells.
    pages: all pages in physical order, unreadable ones with their problem.
    facts: what the document says of itself.
    lacks: TABLES where only its text was read, IMAGES where the images of some pages were not, "" where
        nothing is missing.
    to_come: how many pages' images are still to be read; those without usable text are empty until then.
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
    """How a document is read.

    password: for this reading only.
    processes: how many read at once, at least 1.
    progress: called with (phase, done, total); phase is "reading" or "ocr".
    cancelled: called a few times a second; true stops the reading.
    images: pages read from their images before, by number.
    keep: called with each further page read from its image, from any thread.
    ocr_pages: the only pages that are read from their images, None for all that need it.
    before_images: called with what there is before the first image is read, where more than FEW_IMAGES must
        be read.
    images_later: whether to stop before the first image is read.
    awaited: whether someone waits, so that this reading takes precedence over all others.
    most_pages: how many pages a file may have, 0 for any number.
    """

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
    most_pages: int = 0


CALM = Circumstances()


def read_text(path: Path, how: Circumstances = CALM) -> DocumentReading:
    """The text of all pages of `path`, with running lines and page labels. Raises as read_document.

    It is enough for a search by words, and takes a tenth of the time.
    """
    return _OpenFile(path, how).read_text()


def read_document(path: Path, how: Circumstances = CALM) -> DocumentReading:
    """All pages of `path`: text and tables first, then OCR of the pages without usable text and of pictures
    of text on the others.

    A page that cannot be read becomes a page with a problem. Raises DocumentError where the file cannot be
    opened at all, and CancelledError.
    """
    return _OpenFile(path, how).read()


@dataclass(frozen=True, slots=True)
class _Layer:
    """A page as its text layer has it.

    unread: whether that is no text.
    pictures: where the page has pictures that may hold more.
    """

    page: Page
    unread: bool
    pictures: Sequence[Rect] = ()


class _OpenFile:
    """One file while it is read."""

    def __init__(self, path: Path, how: Circumstances) -> None:
        self._path, self._how = path, how
        self._free: list[Reader] = []
        # Pages that show the same as an earlier one, with its number.
        self._same: Mapping[int, int] = {}
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
            with_text = [layer for layer in layers if layer.page.number not in again]
            pictures = {layer.page.number: layer.pictures for layer in with_text if layer.pictures}
            numbers = sorted({*again, *pictures})
            if numbers and self._is_wanted_early(len(numbers)):
                early = _reading(info, self._without_images(layers), IMAGES, len(numbers))
                if self._how.images_later:
                    return early
                self._how.before_images(early)
            images = self._images(numbers, pictures, pages)
        return _reading(info, [*{**pages, **images}.values()])

    def _is_wanted_early(self, images: int) -> bool:
        """Whether what there is before so many images are read is of use by itself."""
        if self._how.images_later:
            return True
        return self._how.before_images is not _not_awaited and images > FEW_IMAGES

    @contextmanager
    def _readers(self) -> Iterator[DocumentInfo]:
        """What opening the file tells, with reading processes kept until the context ends.

        A large file is opened by two at once.
        """
        try:
            with ThreadPoolExecutor(1) as beside:
                if self._how.processes > 1 and _size(self._path) >= LARGE_FILE:
                    beside.submit(self._open_another)
                with self._reader() as reader:
                    info = reader.info
                    if info.pages >= MANY_PAGES:
                        self._same = reader.repeats()
            yield info
        finally:
            for reader in self._free:
                reader.close()

    def _open_another(self) -> None:
        with suppress(DocumentError, CancelledError), self._reader():
            pass

    def _without_images(self, layers: Sequence[_Layer]) -> list[Page]:
        """Pages as they are until their images are read; those without usable text are empty."""
        pages: list[Page] = []
        for layer in layers:
            page = layer.page
            if layer.unread:
                page = Page(page.number, "", method="none", problem=page.problem)
            pages.append(page)
        return pages

    def _layers(self, count: int, read: Callable[[int], _Layer]) -> list[_Layer]:
        """Each page's text layer."""

        def step(number: int) -> _Layer:
            if self._characters > MOST_CHARACTERS:
                raise DocumentError(GIVEN_UP)
            layer = read(number)
            self._characters += len(layer.page.text) * times[number]
            if self._characters > MOST_CHARACTERS and times[number] > 1:
                raise DocumentError(GIVEN_UP)
            return layer

        def unread(page: Page) -> _Layer:
            return _Layer(page, unread=True)

        numbers = range(1, count + 1)
        times = Counter(self._same.get(number, number) for number in numbers)
        threads = min(self._how.processes, -(-count // PAGES_A_READER))
        done = self._each(numbers, step, unread, phase="reading", threads=threads)
        return [done[number] for number in numbers]

    def _text(self, number: int) -> _Layer:
        with self._reader() as reader:
            return _Layer(*reader.text(number))

    def _page(self, number: int) -> _Layer:
        """A page with its tables, unless these make the reader fail where the text alone does not."""
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
            with _OCR_PLACES.turn(self, self._how.cancelled), self._reader() as reader:
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
        made = self._each(missing, read, unread, phase="ocr", threads=self._how.processes)
        return {**known, **made}

    def _each(
        self,
        numbers: Sequence[int],
        read: Callable[[int], Result],
        unread: Callable[[Page], Result],
        *,
        phase: str,
        threads: int,
    ) -> dict[int, Result]:
        """number -> what `read` gives, or what `unread` gives for an empty page with the problem.

        Of pages that show the same, one is read.
        """
        done: dict[int, Result] = {}
        alike = dict[int, list[int]]()
        for number in numbers:
            alike.setdefault(self._same.get(number, number), []).append(number)
        if numbers:
            self._how.progress(phase, 0, len(numbers))

        def step(alike: Sequence[int]) -> None:
            number, *others = alike
            if self._how.cancelled():
                return
            try:
                if self._deaths >= MOST_DEATHS:
                    raise DocumentError(GIVEN_UP)
                result = read(number)
            except CancelledError:
                return
            except DocumentError as error:
                if error.retryable:  # the machine's fault, not the page's
                    raise
                self._deaths += isinstance(error, ReaderDiedError)
                result = unread(Page(number, "", method="none", problem=error.message))
            done[number] = result
            done.update((other, _numbered(result, other)) for other in others)
            self._how.progress(phase, len(done), len(numbers))

        with ThreadPoolExecutor(max(1, threads)) as pool:
            list(pool.map(step, alike.values()))
        if self._how.cancelled():
            raise CancelledError("Cancelled.")
        return done

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        """A reader that nobody else uses meanwhile; a reader that died is not used again."""
        how = self._how
        try:
            reader = self._free.pop()
        except IndexError:
            reader = Reader(
                self._path,
                password=how.password,
                cancelled=how.cancelled,
                awaited=how.awaited,
                most_pages=how.most_pages,
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


def _numbered(result: Result, number: int) -> Result:
    """What was read of one page for another that shows the same."""
    if isinstance(result, _Layer):
        return replace(result, page=replace(result.page, number=number))
    assert isinstance(result, Page)
    return replace(result, number=number)


def _size(path: Path) -> int:
    """Bytes of a file; 0 where it cannot be read, which its reader will explain."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _ordering(info: DocumentInfo) -> frozenset[int]:
    """The pages whose own label addresses a machine, and the first page where the title does.

    info: as the file has it, because a machine reads invisible characters too.
    """
    names = [(1, info.title), *enumerate(info.labels, 1)]
    return frozenset(number for number, text in names if text and find_instructions(text))


def _reading(info: DocumentInfo, pages: Sequence[Page], lacks: str = "", to_come: int = 0) -> DocumentReading:
    """The reading of these pages, with words joined across line ends.

    It has what only all pages together show: labels, running lines and table heads. Where tables were read,
    it also has each page's kinds and instructions to machines.
    """
    title = title_line(info.title)
    shown = replace(info, title=title, labels=tuple(map(label_line, info.labels)))
    words = vocabulary([page.text for page in pages])
    pages = continue_tables([_joined(page, words) for page in pages])
    labels = page_labels(pages, shown.labels)
    labelled = zip(pages, labels, strict=True)
    pages = [replace(page, label=label, label_source=source) for page, (label, source) in labelled]
    running = running_lines(pages)
    pages = [replace(page, running=running_spans(page, running)) for page in pages]
    if lacks != TABLES:
        ordering = _ordering(info)
        pages = [_judged(page, page.number in ordering) for page in pages]
    return DocumentReading(shown, tuple(pages), document_facts(pages, title), lacks, to_come)


def _judged(page: Page, is_ordering: bool) -> Page:
    """The page with its kinds and instructions.

    is_ordering: whether its own label, or on the first page the title, addresses a machine.
    """
    instructions = find_instructions(page.text)
    if is_ordering:
        instructions = (NAMED, *instructions)
    return replace(page, kinds=page_kinds(page), instructions=instructions)


def _joined(page: Page, words: frozenset[str]) -> Page:
    """The page with hyphens at line ends resolved, all offsets moved with the text."""
    text, moved = join_line_breaks(page.text, words)
    if text == page.text:
        return page
    moved_words = tuple(replace(word, start=moved(word.start), end=moved(word.end)) for word in page.words)
    lines = tuple(replace(line, start=moved(line.start), end=moved(line.end)) for line in page.lines)
    tables = tuple(_moved_table(table, moved) for table in page.tables)
    return replace(page, text=text, words=moved_words, lines=lines, tables=tables)


def _moved_table(table: Table, moved: Callable[[int], int]) -> Table:
    return replace(table, rows=tuple(_moved_row(row, moved) for row in table.rows))


def _moved_row(row: Row, moved: Callable[[int], int]) -> Row:
    cells = tuple(cell and replace(cell, start=moved(cell.start), end=moved(cell.end)) for cell in row.cells)
    return replace(row, cells=cells, start=moved(row.start), end=moved(row.end))
