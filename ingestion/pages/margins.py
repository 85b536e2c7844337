"""Finds what stands at the edges of pages and which of it runs through them: heads, feet; knows lines and
places, reads no numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.records import Line, Page, Rect

__all__ = [
    "EDGES",
    "MARKS",
    "EdgeRow",
    "edge_rows",
    "line_shape",
    "running_lines",
    "running_spans",
    "usual_height",
]

# Where headers and footers are; the sides hold those of sheets set sideways.
EDGES = frozenset({"head", "foot", "side"})
# Rows at either edge that may be headers and footers: three take a running title set in two lines with the
# number below; more only in the outer MARGIN of the page. Where lines have no places, the first and last
# EDGE_ROWS lines of the text.
EDGE_ROWS = 3
MOST_EDGE_ROWS = 6
MARGIN = 0.12
SIDE_MARGIN = 0.08
# Lines in the side margins looked at; more are the numbers of paragraphs or lines.
MOST_SIDE_LINES = 12
# A line that is so much higher than others has taken a number below it into itself.
TALL = 1.8
# Text set sideways is so much higher than wide, and at least that high.
UPRIGHT = 2.0
LOWEST_UPRIGHT = 0.06
# Characters of a line's end in which such a number is looked for.
LONGEST_NUMBER = 12
TRAILING = re.compile(
    r"(?<![\d,])(?<!\d\.)(?:\b(?:[A-Z]{1,3}|[IVXLC]{1,7}|\d{1,3})-)?\d{1,4}$|(?<=\s)[ivxlc]{1,8}$"
)
# Near pages through whose edges a line must run, how near they are, and the height within which it is in the
# same place.
SUPPORT = 3
NEAR = 6
SAME_HEIGHT = 0.02
# A running head may name the section too: lines that share so many first words, on so large a share of the
# pages, are one.
SAME_WORDS = 3
SHARE = 0.3
# Heads, units and sources of tables repeat as running lines do; so do rows of figures.
TABLE_TEXT = re.compile(
    (
        r"(?:table|chart|figure|box|annex|schedule|exhibit|note)\s(?:\w{0,2}\d|[ivxlc]+\b|\w\b)|(?:notes?"
        r"|sources?):|\("
    ),
    re.I,
)
FIGURE = re.compile(rf"[({DRAWN_SIGNS}-]*\d[\d.,]*[)%]*")
# What stands left, centre and right is a running line, more pieces are heads of columns.
MOST_PIECES = 3
# Lines of one text or table are less far apart than that share of their height; what runs stands apart.
CLOSE = 0.8
# What stands around a page number and says nothing.
MARKS = " \t|·•–—-_~<>*.,:;#"


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """What stands beside each other at a page's edge. side: one of EDGES, or "inner" for the row next to the
    last of heads or feet, or "outside" for text off the sheet; depth: rows between it and that edge, 0 at a
    side. pieces: offsets of its lines in the page's text, from left to right; boxes: theirs, empty where
    places are not known."""

    side: str
    depth: int
    pieces: tuple[tuple[int, int], ...]
    boxes: tuple[Rect, ...] = ()


def line_shape(line: str) -> str:
    """A line with its digits and roman numerals made alike, so that the same header on two pages is the
    same text.
    """
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.strip().casefold())


def usual_height(pages: Sequence[Page]) -> float:
    """The usual height of a line, as a share of the page; 0 where no line has a place."""
    return _middle([_middle([line.box.height for line in page.lines]) for page in pages if page.lines])


def edge_rows(page: Page, usual: float) -> list[EdgeRow]:
    """The rows at the edges of a page, outermost first on each side: by their places, or by the order of the
    text without any.

    A page of few rows has them both as heads and as feet. usual: see usual_height.
    """
    lines = [line for line in page.lines if line.box.x0 < line.box.x1 and line.box.y0 < line.box.y1]
    if not lines:
        spans = [match.span() for match in re.finditer(r"\S[^\n]*", page.text)]
        heads = [EdgeRow("head", depth, (span,)) for depth, span in enumerate(spans[:EDGE_ROWS])]
        return heads + [
            EdgeRow("foot", depth, (span,)) for depth, span in enumerate(spans[: -EDGE_ROWS - 1 : -1])
        ]
    highest = TALL * min(usual, _middle([line.box.height for line in lines]))
    parts = [part for line in lines if not _upright(line.box) for part in _parted(page.text, line, highest)]
    level = sorted(parts, key=lambda line: line.box.middle)
    ends = [*_outer("head", _beside(level)), *_outer("foot", _beside(level[::-1]))]
    known = {start for row in ends for start, _ in row.pieces}
    sides = [
        line
        for line in lines
        if (line.box.x1 <= SIDE_MARGIN or line.box.x0 >= 1 - SIDE_MARGIN) and line.start not in known
    ]
    turned = any(_upright(line.box) for line in sides)
    free = [
        line
        for line in sides[:MOST_SIDE_LINES]
        if turned or not any(_level_with(line.box, other.box) for other in level)
    ]
    outside = [line for line in page.lines if not (line.box.x0 < line.box.x1 and line.box.y0 < line.box.y1)][
        :MOST_SIDE_LINES
    ]
    ends += [EdgeRow("side", 0, ((line.start, line.end),), (line.box,)) for line in free]
    return ends + [EdgeRow("outside", 0, ((line.start, line.end),)) for line in outside]


def running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Shapes (see line_shape) of lines that run through the edges of at least SUPPORT near pages in the same
    place: headers and footers; ending in "…" the beginnings that lines at the edges of at least SHARE of all
    pages have in common. pages: with their labels."""
    usual = usual_height(pages)
    whole: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    begun: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    for index, page in enumerate(pages):
        for (start, end), shape, row in _edge_lines(page, usual):
            if row.boxes:
                words = _words(page, start, end)
            else:
                words = shape
            for place in _places(row):
                whole[shape, words, *place].append(index)
                if first := _beginning(shape):
                    begun[first, _beginning(words), *place].append(index)
    often = max(SUPPORT, SHARE * len(pages))
    runs = {shape for (shape, *_), found in whole.items() if _near(found)}
    return frozenset(runs | {start for (start, *_), found in begun.items() if len(set(found)) >= often})


def running_spans(page: Page, running: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """(start, end) of the lines at a page's edges that are running heads, feet and its bare page number;
    running: see running_lines.
    """
    spans = set()
    for (start, end), shape, _ in _edge_lines(page, usual_height([page])):
        number = page.label and not shape.strip(MARKS)
        if (
            page.text[start:end].strip(MARKS) == page.label
            if number
            else not running.isdisjoint({shape, _beginning(shape)})
        ):
            spans.add((start, end + page.text.startswith("\n", end)))
    return tuple(sorted(spans))


def _near(indexes: Sequence[int]) -> bool:
    """SUPPORT pages of these are near each other; indexes: in order, repeated where a page has the line
    twice.
    """
    pages = sorted(set(indexes))
    return any(last - first <= NEAR for first, last in zip(pages, pages[SUPPORT - 1 :], strict=False))


def _words(page: Page, start: int, end: int) -> str:
    """A line with the page's own number made alike, other numbers kept: what is the same on each page but
    for that.
    """
    text = page.text[start:end].casefold()
    if page.label:
        return re.sub(rf"(?<!\w){re.escape(page.label.casefold())}(?!\w)", "#", text)
    return text


def _edge_lines(page: Page, usual: float) -> Iterator[tuple[tuple[int, int], str, EdgeRow]]:
    """Each line at an edge that belongs neither to the text next to it nor to a table: its offsets, its
    shape and its row.
    """
    rows = edge_rows(page, usual)
    for row, attached in zip(rows, _attached(page, rows), strict=True):
        for start, end in row.pieces if not attached else ():
            if not TABLE_TEXT.match(page.text, start, end):
                yield (start, end), line_shape(page.text[start:end]), row


def _places(row: EdgeRow) -> list[tuple[str, int]]:
    """What two rows in the same place have one of in common: one of two bands of the page, or being
    outermost, however much is on it.
    """
    if not row.boxes:
        return [("text", 0)]
    band = _level(row) / (2 * SAME_HEIGHT)
    bands = [(row.side + " band", int(band)), (row.side + " next", int(band + 0.5))]
    if row.depth:
        return bands
    return [(row.side, 0), *bands]


def _beginning(shape: str) -> str:
    """The first words of a running head that names the section after them; "" for a line without any more
    words, and for sentences.
    """
    words = shape.split()
    if len(words) > SAME_WORDS and not shape.endswith((".", ",", ";")):
        return " ".join(words[:SAME_WORDS]) + " …"
    return ""


def _outer(side: str, rows: Sequence[Sequence[Line]]) -> Iterator[EdgeRow]:
    """The rows that may be heads or feet, and the next one; rows: from that edge inwards."""
    for depth, row in enumerate(rows):
        inner = depth >= EDGE_ROWS and (
            depth == MOST_EDGE_ROWS or (row[0].box.y1 > MARGIN and row[0].box.y0 < 1 - MARGIN)
        )
        yield EdgeRow(
            "inner" if inner else side,
            depth,
            tuple((line.start, line.end) for line in row),
            tuple(line.box for line in row),
        )
        if inner:
            return


def _attached(page: Page, rows: Sequence[EdgeRow]) -> list[bool]:
    """Whether each row is of a table, farther in than a part of one, or as close to one or to other text as
    lines of one text are; rows: outermost first on each side.

    What stands outermost may be as close to text; a row with the page's number belongs to nothing.
    """
    tables = [_of_a_table(page, row) for row in rows]
    for index in range(1, len(rows)):
        tables[index] |= rows[index].depth > 0 and (
            tables[index - 1] or bool(TABLE_TEXT.match(page.text, *rows[index - 1].pieces[0]))
        )
    attached = [table or row.side == "inner" for table, row in zip(tables, rows, strict=True)]
    for index in range(len(rows) - 2, -1, -1):
        row = rows[index]
        inner = rows[index + 1]
        if row.boxes and row.depth < inner.depth:
            gap = max(inner.boxes[0].y0 - row.boxes[0].y1, row.boxes[0].y0 - inner.boxes[0].y1)
            close = gap < CLOSE * row.boxes[0].height
            tables[index] |= close and tables[index + 1]
            attached[index] |= tables[index] or (close and attached[index + 1] and row.depth > 0)
    return [held and not _has_number(page, row) for held, row in zip(attached, rows, strict=True)]


def _has_number(page: Page, row: EdgeRow) -> bool:
    """The page's own number is in it, and it is no edge of the text."""
    return row.side != "inner" and any(
        word.strip(MARKS) == page.label for start, end in row.pieces for word in page.text[start:end].split()
    )


def _of_a_table(page: Page, row: EdgeRow) -> bool:
    """It ends in three figures, or in two with a point or comma, is in too many pieces for a running line,
    or in a table that was found.
    """
    words = " ".join(page.text[start:end] for start, end in row.pieces).rsplit(None, 3)
    figures = [word for word in words[-3:] if FIGURE.fullmatch(word)]
    sums = len(figures) == 3 or (
        len(figures) == 2 and figures == words[-2:] and any(mark in word for word in figures for mark in ".,")
    )
    return (
        sums
        or len(row.pieces) > MOST_PIECES
        or any(table.box.y0 <= _level(row) <= table.box.y1 for table in page.tables)
    )


def _level(row: EdgeRow) -> float:
    if row.boxes:
        return row.boxes[0].middle
    return -1.0


def _beside(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines grouped to rows, each from left to right, until there are enough; lines: from an edge inwards."""
    rows: list[list[Line]] = []
    for line in lines:
        if rows:
            last = rows[-1][0].box
        else:
            last = None
        if last and _level_with(last, line.box):
            rows[-1].append(line)
        elif len(rows) > MOST_EDGE_ROWS:
            break
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]


def _level_with(one: Rect, other: Rect) -> bool:
    """Two different boxes that stand beside each other: they share a third of the lower one's height."""
    return one != other and 3 * one.level(other) > min(one.height, other.height)


def _parted(text: str, line: Line, highest: float) -> list[Line]:
    """A line, or where it is too high for one and ends in a number, what comes before that and the number at
    its foot; how far right that stands is not known."""
    box = line.box
    if box.height > highest:
        match = TRAILING.search(text[max(line.start, line.end - LONGEST_NUMBER) : line.end])
    else:
        match = None
    if match is None or line.end - line.start == len(match.group()):
        return [line]
    foot = box.y1 - highest / TALL
    at = line.end - len(match.group())
    return [
        Line(line.start, at, Rect(box.x0, box.y0, box.x1, foot)),
        Line(at, line.end, Rect(box.x0, foot, box.x1, box.y1)),
    ]


def _upright(box: Rect) -> bool:
    """It is text set sideways, which shares its height with everything."""
    return box.height > max(UPRIGHT * box.width, LOWEST_UPRIGHT)


def _middle(heights: Sequence[float]) -> float:
    if heights:
        return sorted(heights)[len(heights) // 2]
    return 0.0
