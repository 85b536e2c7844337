"""Reads a document: first pages with their tables, then what only images show.

A page that fails does not affect the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from ingestion.errors import CancelledError, DocumentError, ReaderDiedError
from ingestion.invisible_characters import label_line, title_line
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages
from ingestion.ocr.text_quality import better_reading, join_line_breaks, vocabulary
from ingestion.pages.document_facts import document_facts
from ingestion.pages.kinds import page_kinds
from ingestion.pages.margins import opening_words, running_lines, running_spans
from ingestion.pages.page_labels import page_labels
from ingestion.precedence import giving_way
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.formats import MADE, format_of
from ingestion.reading.reader import Reader, made_pdf
from ingestion.reading.turns import Turns
from ingestion.records import (
    NAMED,
    NO_FACTS,
    Cell,
    DocumentFacts,
    DocumentInfo,
    Line,
    Page,
    Rect,
    Row,
    Table,
    Word,
)
from ingestion.tables.detection import continue_tables

__all__ = ["READER_VERSION", "TOO_SLOW", "Circumstances", "DocumentReading", "read_document"]

Result = TypeVar("Result")
Part = TypeVar("Part", Word, Line, Row, Cell)

# Raised when other text, figures or tables are read of the same file than before. Documents that were read by
# an earlier one are then read again.
READER_VERSION = 4
# A file that ends its reader so often was made for it; a file with more than ten times the text of the
# longest budget volumes is no document.
MOST_DEATHS = 5
MOST_CHARACTERS = 50_000_000
GIVEN_UP = "This page was not read: the file has too many errors or too much text."
# Seconds of a core that reading the pages of a file without OCR may take, and as many more for each page: the
# slowest real file takes 0.1 a page.
MOST_SECONDS, SECONDS_A_PAGE = 120.0, 1.0
TOO_SLOW = "This page was not read: the pages before it took too long. Split the file, or export it again."
NOT_READ = (GIVEN_UP, TOO_SLOW)
# Pages for which a further reader is worth its start, 0.15 s.
PAGES_A_READER = 20
# Pages from which a file is looked through for pages that are there several times.
MANY_PAGES = 100
# So many pages take as long as one image. Fewer images are read with the pages: for those that are left for
# later, all pages are read once more.
PAGES_AN_IMAGE = 10
Progress = Callable[[str, int, int], None]
# However many documents are read at once, no more pages than there are cores are in OCR together.
_OCR_PLACES = Turns(len(os.sched_getaffinity(0)))


def _nobody(*_: object) -> None:
    """Takes no notice of progress."""


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """A document as read.

    info: what opening the file tells.
    pages: all pages in physical order, unreadable ones with their problem.
    facts: what the document says of itself.
    to_come: how many pages' images are still to be read; those without usable text are empty until then.
    languages: the codes of those in which its images were or will be read.
    """

    info: DocumentInfo
    pages: tuple[Page, ...]
    facts: DocumentFacts = NO_FACTS
    to_come: int = 0
    languages: str = ENGLISH.codes


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
    images_later: whether to stop before the first image is read, if there is text without them and they
        would take longer than the pages.
    most_pages: how many pages a file may have, 0 for any number.
    languages: in which images are read.
    """

    password: str | None = None
    processes: int = 2
    progress: Progress = _nobody
    cancelled: Callable[[], bool] = bool
    images: Mapping[int, Page] = field(default_factory=dict)
    keep: Callable[[Page], None] = _nobody
    ocr_pages: frozenset[int] | None = None
    images_later: bool = False
    most_pages: int = 0
    languages: ScanLanguages = ENGLISH


CALM = Circumstances()


def read_document(path: Path, how: Circumstances = CALM) -> DocumentReading:
    """All pages of `path`: text and tables first, then OCR of the pages without usable text and of pictures
    of text on the others.

    A page that cannot be read becomes a page with a problem. Raises DocumentError where the file cannot be
    opened at all, and CancelledError.
    """
    if path.suffix == MADE or not format_of(path).maker:
        reading = _OpenFile(path, how).read()
    else:
        with made_pdf(path, path.name, password=how.password, cancelled=how.cancelled) as made:
            reading = _OpenFile(made, how).read()
    return replace(reading, languages=how.languages.codes)


class _Layer(NamedTuple):
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
        # Of each page the number of the first that shows the same; only that is read.
        self._firsts: Sequence[int] = ()
        self._deaths = self._deaths_in_tables = self._characters = 0
        self._seconds = 0.0

    def read(self) -> DocumentReading:
        with self._readers() as info:
            layers = self._layers()
            pages = {layer.page.number: layer.page for layer in layers}
            again = {
                layer.page.number for layer in layers if layer.unread and layer.page.problem not in NOT_READ
            }
            pictures = {
                layer.page.number: layer.pictures
                for layer in layers
                if layer.pictures and layer.page.number not in again
            }
            numbers = sorted({*again, *pictures})
            if self._how.images_later and len(numbers) > info.pages / PAGES_AN_IMAGE:
                # Pages as they are until their images are read; those without usable text
                # are empty.
                early = [
                    Page(layer.page.number, "", method="none", problem=layer.page.problem)
                    if layer.unread
                    else layer.page
                    for layer in layers
                ]
                if any(page.text for page in early):
                    return _reading(info, self._firsts, early, len(numbers))
            images = self._images(numbers, pictures, pages)
        return _reading(info, self._firsts, [*{**pages, **images}.values()])

    @contextmanager
    def _readers(self) -> Iterator[DocumentInfo]:
        """What opening the file tells, with reading processes kept until the context ends."""
        try:
            with self._reader() as reader:
                info = reader.info
                self._firsts = range(1, info.pages + 1)
                if info.pages >= MANY_PAGES:
                    self._firsts = reader.firsts() or self._firsts
            yield info
        finally:
            for reader in self._free:
                reader.close()

    def _layers(self) -> list[_Layer]:
        """The text layer of each page that is read."""
        times = Counter(self._firsts)

        def step(number: int) -> _Layer:
            if self._seconds > MOST_SECONDS + SECONDS_A_PAGE * len(self._firsts):
                raise DocumentError(TOO_SLOW)
            if self._characters <= MOST_CHARACTERS:
                layer = self._page(number)
                self._characters += len(layer.page.text) * times[number]
                if self._characters <= MOST_CHARACTERS:
                    return layer
            raise DocumentError(GIVEN_UP)

        threads = min(self._how.processes, -(-len(times) // PAGES_A_READER))
        done = self._each([*times], step, partial(_Layer, unread=True), phase="reading", threads=threads)
        return [done[number] for number in times]

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
        with self._reader() as reader:
            return _Layer(*reader.page(number, tables=False))

    def _images(
        self, numbers: Sequence[int], pictures: Mapping[int, Sequence[Rect]], pages: Mapping[int, Page]
    ) -> dict[int, Page]:
        """Pages as their images make them, by number."""
        known = {number: page for number, page in self._how.images.items() if number in pages}

        def read(number: int) -> Page:
            page = pages[number]
            with _OCR_PLACES.turn(self, self._how.cancelled), self._reader() as reader:
                if number in pictures:
                    better = reader.pictures(page, pictures[number], self._how.languages)
                else:
                    better = better_reading(page, reader.ocr(number, self._how.languages))
            self._how.keep(better)
            return better

        def unread(page: Page) -> Page:
            return better_reading(pages[page.number], page)

        only = self._how.ocr_pages
        wanted = {first for number, first in enumerate(self._firsts, 1) if only is None or number in only}
        missing = [number for number in numbers if number in wanted and number not in known]
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
        """number -> what `read` gives, or what `unread` gives for an empty page with the problem."""
        done = dict[int, Result]()
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
                if error.retryable:  # the machine's fault, not the page's
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
    def _reader(self) -> Iterator[Reader]:
        """A reader that nobody else uses meanwhile; a reader that died is not used again."""
        how = self._how
        try:
            reader = self._free.pop()
        except IndexError:
            reader = Reader(
                self._path, password=how.password, cancelled=how.cancelled, most_pages=how.most_pages
            )
        before = reader.seconds
        try:
            yield reader
        except (ReaderDiedError, CancelledError):
            reader.close()
            raise
        except BaseException:
            self._free.append(reader)
            raise
        finally:
            self._seconds += reader.seconds - before
        self._free.append(reader)


def _reading(
    info: DocumentInfo, firsts: Sequence[int], pages: Sequence[Page], to_come: int = 0
) -> DocumentReading:
    """The reading of a document, with words joined across line ends.

    It has what only all pages together show: labels, running lines and table heads; each page's kinds; and
    instructions to machines, NAMED where its own label, or on the first page the title, has them.
    """
    read = {page.number: page for page in pages}
    pages = [replace(read[first], number=number) for number, first in enumerate(firsts, 1)]
    title = title_line(info.title)
    shown = replace(info, title=title, labels=tuple(map(label_line, info.labels)))
    words = vocabulary(giving_way([page.text for page in pages]))
    pages = continue_tables([_joined(page, words) for page in giving_way(pages)])
    labels = page_labels(pages, shown.labels)
    labelled = zip(pages, labels, strict=True)
    pages = [
        page if page.label else replace(page, label=label, label_source=source)
        for page, (label, source) in labelled
    ]
    running = running_lines(pages)
    opening = opening_words(pages[0]) if pages else frozenset()
    pages = [
        replace(page, running=running_spans(page, running, opening if page.number > 1 else frozenset()))
        for page in giving_way(pages)
    ]
    # A machine reads the invisible characters of the title and the labels too.
    names = [(1, info.title), *enumerate(info.labels, 1)]
    named = {number: (NAMED,) for number, name in names if name and find_instructions(name)}
    instructions_in = cache(find_instructions)
    pages = [
        replace(
            page,
            kinds=page_kinds(page),
            instructions=(*named.get(page.number, ()), *instructions_in(page.text)),
        )
        for page in giving_way(pages)
    ]
    return DocumentReading(shown, tuple(pages), document_facts(pages, title), to_come)


def _joined(page: Page, words: frozenset[str]) -> Page:
    """The page with hyphens at line ends resolved, all offsets moved with the text."""
    text, moved = join_line_breaks(page.text, words)
    if text == page.text:
        return page
    return replace(
        page,
        text=text,
        words=tuple(_moved(word, moved) for word in page.words),
        lines=tuple(_moved(line, moved) for line in page.lines),
        tables=tuple(_moved_table(table, moved) for table in page.tables),
    )


def _moved(part: Part, moved: Callable[[int], int]) -> Part:
    return replace(part, start=moved(part.start), end=moved(part.end))


def _moved_table(table: Table, moved: Callable[[int], int]) -> Table:
    rows = list[Row]()
    for row in table.rows:
        cells = tuple(cell and _moved(cell, moved) for cell in row.cells)
        rows.append(_moved(replace(row, cells=cells), moved))
    return replace(table, rows=tuple(rows))
