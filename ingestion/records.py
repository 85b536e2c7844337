"""What reading a PDF yields: words, pages and chunks, frozen; no behaviour beyond what their fields imply."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

__all__ = [
    "BESIDE",
    "NAMED",
    "NO_FACTS",
    "Cell",
    "Chunk",
    "DocumentFacts",
    "DocumentInfo",
    "HorizontalExtent",
    "Line",
    "Page",
    "Place",
    "Rect",
    "Row",
    "Span",
    "Table",
    "VerticalExtent",
    "Word",
    "around",
    "around_words",
    "turn_back",
]


class HorizontalExtent:
    """What has a left and a right side, x0 and x1, as fractions of the page's width."""

    __slots__ = ()
    x0: float
    x1: float

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def centre(self) -> float:
        return (self.x0 + self.x1) / 2

    def overlap(self, other: HorizontalExtent) -> float:
        """How much of their width both have in common, less than 0 where they stand apart."""
        return min(self.x1, other.x1) - max(self.x0, other.x0)


class VerticalExtent:
    """What has a top and a bottom, y0 and y1, as fractions of the page's height."""

    __slots__ = ()
    y0: float
    y1: float

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2

    def level(self, other: VerticalExtent) -> float:
        """How much of their height both have in common, less than 0 where one stands below the other."""
        return min(self.y1, other.y1) - max(self.y0, other.y0)


@dataclass(frozen=True, slots=True)
class Rect(HorizontalExtent, VerticalExtent):
    """A rectangle on a page as fractions of the shown page's width and height, origin top left, each in
    [0, 1].
    """

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def area(self) -> float:
        return self.width * self.height

    def holds(self, other: Rect) -> bool:
        """Whether the middle of the other stands in this one."""
        return self.x0 <= other.centre <= self.x1 and self.y0 <= other.middle <= self.y1

    def meets(self, other: Rect) -> bool:
        """Whether the two share more than a side."""
        return self.overlap(other) > 0 and self.level(other) > 0


# Where text of a page stands that the page does not show, such as the notes of a slide.
BESIDE = Rect(0.0, 0.4, 1.0, 0.41)


# Turns (left, top, right, bottom) in points of a page into a rectangle of the page as shown.
Place = Callable[[float, float, float, float], Rect]


def around(boxes: Iterable[Rect]) -> Rect:
    """The rectangle around some, at least one."""
    lefts, tops, rights, bottoms = zip(*((box.x0, box.y0, box.x1, box.y1) for box in boxes), strict=True)
    return Rect(min(lefts), min(tops), max(rights), max(bottoms))


def turn_back(box: Rect, degrees: int) -> Rect:
    """A box on a page turned clockwise by `degrees` (0, 90, 180, 270) as a box on the page before."""
    if degrees == 90:
        return Rect(box.y0, 1 - box.x1, box.y1, 1 - box.x0)
    if degrees == 180:
        return Rect(1 - box.x1, 1 - box.y1, 1 - box.x0, 1 - box.y0)
    if degrees == 270:
        return Rect(1 - box.y1, box.x0, 1 - box.y0, box.x1)
    return box


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its place. confidence: 0-100 from OCR, None where the PDF itself gives the text.

    start, end: its offsets in the page's text, -1 where they are not known.
    """

    text: str
    box: Rect
    confidence: float | None = None
    start: int = -1
    end: int = -1

    @property
    def sure(self) -> float:
        """Its confidence, 0 where it has none."""
        return self.confidence or 0.0


def around_words(words: Iterable[Word]) -> Rect:
    """The rectangle around some words, at least one."""
    return around(word.box for word in words)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page's text with the box around its words. start, end: offsets in the page's text."""

    start: int
    end: int
    box: Rect


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table. text: as printed, digits that extraction had split rejoined. start, end: offsets
    in the page's text from the first of its words to the last; other cells' words may stand between them.
    name: of a workbook's cell, such as "B7", "" elsewhere."""

    text: str
    start: int
    end: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table. label: its words in the first column, continuation lines joined. section: the
    heading rows above it that it belongs to, outermost first, joined by " > ". cells: one for each value
    column, None where there is nothing. start, end: offsets in the page's text of all its words."""

    label: str
    cells: tuple[Cell | None, ...]
    section: str = ""
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a page. caption: its title as printed, "" without one. unit: lines such as "(in millions,
    except per share)".

    heads: one for each value column, spanning heads first ("Year ended June 30, > 2024"). continued: heads,
    caption and unit are those of the table on the page before. box: around all of it.
    """

    caption: str
    unit: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    box: Rect
    continued: bool = False


# (start, end) of a stretch of text, as offsets.
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What opening a PDF tells. title, labels (the PDF's own page labels by physical order): None where it
    has none.
    """

    pages: int
    title: str | None
    labels: tuple[str | None, ...]
    encrypted: bool


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What a document says of itself. period: the year, or the years "2025-26", that it is about. status:
    "draft", "proposed", "adopted", "revised", "amendment" or "superseded". None where it does not say."""

    period: str | None = None
    status: str | None = None


NO_FACTS = DocumentFacts()
# The span of what is said of a page and not on it.
NAMED = (0, 0)


@dataclass(frozen=True, slots=True)
class Page:
    """One page as read.

    number: physical, 1-based. label: the printed page number or None; label_source: "printed" (found in a
    header or footer series), "pdf" (the file's own labels) or None. method: "text" (PDFium), "text-pypdf",
    "ocr", "text+ocr" (text, and pictures on the page read by OCR) or "none" (blank or unreadable).
    confidence: mean OCR word confidence 0-100, None for text. words: only those read by OCR, whose boxes
    cannot be had again cheaply. lines: in the order of the text. tables: in reading order. problem: why this
    page was not read, None where it was. running: offsets of running heads and feet. kinds: what the page is,
    see `page_kinds`. instructions: offsets of text that addresses its reader as a machine, NAMED among them
    where the PDF's own label of the page does, or its title (first page). remarks: what is in the file and
    not in the text, such as words that nobody sees, each as told to users.
    """

    number: int
    text: str
    label: str | None = None
    label_source: str | None = None
    method: str = "text"
    confidence: float | None = None
    words: tuple[Word, ...] = field(default=(), repr=False)
    lines: tuple[Line, ...] = field(default=(), repr=False)
    tables: tuple[Table, ...] = field(default=(), repr=False)
    problem: str | None = None
    running: tuple[Span, ...] = ()
    kinds: tuple[str, ...] = ()
    instructions: tuple[Span, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of one page. page: physical, 1-based. ordinal: 0-based in the document.

    start, end: character offsets, page.text[start:end] == text. context: document title and section heading,
    and where the page begins mid-sentence the beginning of that sentence from the page before; searched with
    the text, never shown as it.
    """

    page: int
    ordinal: int
    start: int
    end: int
    text: str
    context: str = ""
