"""Finds what stands at the edges of pages, and the heads and feet that run through them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from statistics import median_high as median
from typing import NamedTuple

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.precedence import giving_way
from ingestion.records import Line, Page, Rect, Span

__all__ = [
    "EDGES",
    "MARKS",
    "OF_PAGES",
    "PAGE_WORD",
    "EdgeRow",
    "edge_rows",
    "is_number_line",
    "line_shape",
    "opening_words",
    "running_lines",
    "running_spans",
    "usual_height",
]

# Where headers and footers are. The sides hold those of sheets set sideways.
EDGES = frozenset({"head", "foot", "side"})
# Rows at either edge that may be headers and footers. Three take a running title of two lines with the number
# below; more are taken only in the outer MARGIN of the page.
EDGE_ROWS = 3
MOST_EDGE_ROWS = 6
MARGIN = 0.12
SIDE_MARGIN = 0.08
# How many lines in the side margins are looked at. More are the numbers of paragraphs or lines.
MOST_SIDE_LINES = 12
# A line that is this much higher than others includes a number that stands below it.
TALL = 1.8
# Text set sideways is this much higher than wide, and at least this high.
UPRIGHT = 2.0
LOWEST_UPRIGHT = 0.06
# How many characters at a line's end are searched for such a number.
LONGEST_NUMBER = 12
TRAILING = re.compile(
    r"(?<![\d,])(?<!\d\.)(?:\b(?:[A-Z]{1,3}|[IVXLC]{1,7}|\d{1,3})-)?\d{1,4}$|(?<=\s)[ivxlc]{1,8}$"
)
# How many near pages a line must run through, how near they are, and the height within which it is in the
# same place.
SUPPORT = 3
NEAR = 6
SAME_HEIGHT = 0.02
# A running head may name the section too. Lines that share this many first words, on this share of the pages,
# are the same.
SAME_WORDS = 3
SHARE = 0.3
# Heads, units and sources of tables repeat as running lines do, and so do rows of figures.
TABLE_TEXT = re.compile(
    r"(?i)(?:table|chart|figure|box|annex|schedule|exhibit|note)\s(?:\w{0,2}\d|[ivxlc]+\b|\w\b)|(?:notes?"
    r"|sources?):|\(",
)
FIGURE = re.compile(rf"[({DRAWN_SIGNS}-]*\d[\d.,]*[)%]*")
# What stands left, centre and right is a running line. More pieces are heads of columns.
MOST_PIECES = 3
# Lines of one text or table are closer than this share of their height. Running lines stand apart.
CLOSE = 0.8
_WORD = re.compile(r"\w+")
# Marks around a page number that say nothing.
MARKS = " \t|·•–—-_~<>*.,:;#"
PAGE_WORD = r"(?:page|pg|p|pag|página|pagina|seite|sheet|slide|folio)[.:]?\s?(?:no\.?)?\s?[-–]?"
OF_PAGES = r"(?:of|/|von|de|sur)\s?\d{1,4}"
# A line that is a page's number alone: "Page 1 of 2", "1 / 2", "- 1 -", "Budget Book | 1".
_NUMBER_LINE = re.compile(
    rf"(?i)(?P<before>.*\S\s*[|·•]\s*)?(?:(?P<named>{PAGE_WORD})|(?P<opened>[-–—~]\s?))?(?P<number>\d{{1,4}})"
    rf"(?P<counted>\s?{OF_PAGES})?(?P<closed>\s?[-–—~])?(?P<after>\s*[|·•]\s*\S.*)?",
)


class EdgeRow(NamedTuple):
    """Lines that stand beside each other at a page's edge.

    side: one of EDGES, or "inner" for the row next to the last of heads or feet.
    depth: rows between it and that edge, 0 at a side.
    pieces: offsets of its lines in the page's text, from left to right.
    boxes: theirs.
    """

    side: str
    depth: int
    pieces: tuple[Span, ...]
    boxes: tuple[Rect, ...]


def line_shape(line: str) -> str:
    """Returns a line with its digits and roman numerals made alike.

    The same header on two pages then has the same shape.
    """
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.strip().casefold())


def is_number_line(line: str, own: Collection[str] = ()) -> bool:
    """Whether a line is a page's number in any form but a bare one.

    own: the number of the page as it may be printed. A number that does not say that it is a page's is one
    of these.
    """
    found = _NUMBER_LINE.fullmatch(line.strip())
    if found is None:
        return False
    if found["named"]:
        return True
    marked = found["counted"] or found["before"] or found["after"] or (found["opened"] and found["closed"])
    return bool(marked) and found["number"] in own


def usual_height(pages: Sequence[Page]) -> float:
    """Returns the usual height of a line, as a share of the page; 0 if no line has a place."""
    return median([_line_height(page.lines) for page in pages if page.lines] or [0.0])


def _line_height(lines: Sequence[Line]) -> float:
    return median(line.box.height for line in lines)


def edge_rows(page: Page, usual: float) -> list[EdgeRow]:
    """Returns the rows at the edges of a page, outermost first on each side.

    There are none if no line has a place. A page of few rows has them both as heads and as feet. usual: see
    usual_height.
    """
    lines = [line for line in page.lines if line.box.area > 0]
    if not lines:
        return []
    highest = TALL * min(usual, _line_height(lines))
    parts = list[Line]()
    for line in lines:
        # Text set sideways shares its height with everything.
        if line.box.height <= max(UPRIGHT * line.box.width, LOWEST_UPRIGHT):
            parts += _parted(page.text, line, highest)
    level = sorted(parts, key=lambda line: line.box.middle)
    rows = [*_outer("head", _beside(level)), *_outer("foot", _beside(level[::-1]))]
    known = {start for row in rows for start, _ in row.pieces}
    others = [line for line in lines if line.start not in known]
    sides = [line for line in others if line.box.x1 <= SIDE_MARGIN or line.box.x0 >= 1 - SIDE_MARGIN]
    for line in sides[:MOST_SIDE_LINES]:
        # No level line is beside a header or footer there.
        if not any(_level_with(line.box, other.box) for other in level):
            rows.append(EdgeRow("side", 0, ((line.start, line.end),), (line.box,)))
    return rows


# A line's shape, its words, and its place.
_Key = tuple[str, str, str, int]


def running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Returns the shapes (see line_shape) of headers and footers.

    These run through the edges of at least SUPPORT near pages in the same place. A shape that ends in "…" is
    a beginning that lines at the edges of at least SHARE of all pages have in common.

    pages: with their labels.
    """
    usual = usual_height(pages)
    whole: dict[_Key, list[int]] = defaultdict(list)
    begun: dict[_Key, list[int]] = defaultdict(list)
    for index, page in enumerate(giving_way(pages)):
        for (start, end), shape, row in _edge_lines(page, usual):
            words = _words(page, start, end)
            first = _beginning(shape)
            for place in _places(row):
                whole[shape, words, *place].append(index)
                if first:
                    begun[first, _beginning(words), *place].append(index)
    often = max(SUPPORT, SHARE * len(pages))
    running = {key[0] for key, indexes in whole.items() if _near(indexes)}
    running |= {key[0] for key, indexes in begun.items() if len(set(indexes)) >= often}
    return frozenset(running)


def running_spans(
    page: Page, running: frozenset[str], opening: frozenset[str] = frozenset()
) -> tuple[Span, ...]:
    """Returns (start, end) of the running heads and feet at a page's edges, and of its page number.

    running: see running_lines.
    opening: see opening_words; an outermost line in the margin that has no other words runs.
    """
    spans = set()
    own = {str(page.number), *(page.label or "").split("–")}
    for (start, end), shape, row in _edge_lines(page, usual_height([page])):
        line = page.text[start:end]
        if page.label and not shape.strip(MARKS):
            runs = line.strip(MARKS) in page.label.split("–")
        else:
            runs = not running.isdisjoint({shape, _beginning(shape)})
        if runs or (not row.depth and (is_number_line(line, own) or _repeats(line, row, opening))):
            end += page.text.startswith("\n", end)
            spans.add((start, end))
    return tuple(sorted(spans))


def opening_words(page: Page) -> frozenset[str]:
    """Returns the words of the lines at the edges of a document's first page, which name it."""
    spans = (span for row in edge_rows(page, usual_height([page])) for span in row.pieces)
    return frozenset(word for span in spans for word in _WORD.findall(page.text[slice(*span)].casefold()))


def _repeats(line: str, row: EdgeRow, opening: frozenset[str]) -> bool:
    """Whether a line in the margin says again what the first page has at its edges."""
    words = _WORD.findall(line.casefold())
    in_margin = all(map(_is_in_margin, row.boxes))
    return in_margin and len(words) >= SAME_WORDS and opening.issuperset(words)


def _near(indexes: Sequence[int]) -> bool:
    """Whether SUPPORT pages of these are near each other.

    indexes: in order, repeated if a page has the line twice.
    """
    pages = sorted(set(indexes))
    return any(last - first <= NEAR for first, last in zip(pages, pages[SUPPORT - 1 :], strict=False))


def _words(page: Page, start: int, end: int) -> str:
    """Returns a line with the page's own number made alike and other numbers kept.

    This is the same on each page but for that number.
    """
    text = page.text[start:end].casefold()
    label = re.escape((page.label or "").casefold())
    return re.sub(rf"(?<!\w){label}(?!\w)", "#", text) if label else text


def _edge_lines(page: Page, usual: float) -> Iterator[tuple[Span, str, EdgeRow]]:
    """Yields the offsets, shape and row of each line at an edge.

    Lines that belong to the text next to them or to a table are left out.
    """
    rows = edge_rows(page, usual)
    for row, attached in zip(rows, _attached(page, rows), strict=True):
        if attached:
            continue
        for start, end in row.pieces:
            if not TABLE_TEXT.match(page.text, start, end):
                yield (start, end), line_shape(page.text[start:end]), row


def _places(row: EdgeRow) -> list[tuple[str, int]]:
    """Returns keys of which two rows in the same place share at least one.

    The keys are two bands of the page, and being outermost, however much is on it.
    """
    band = row.boxes[0].middle / (2 * SAME_HEIGHT)
    bands = [(row.side + " band", int(band)), (row.side + " next", int(band + 0.5))]
    return bands if row.depth else [(row.side, 0), *bands]


def _beginning(shape: str) -> str:
    """Returns the first words of a running head that names the section after them.

    Returns "" for a line without any more words, and for sentences.
    """
    words = shape.split()
    if len(words) > SAME_WORDS and not shape.endswith((".", ",", ";")):
        return " ".join(words[:SAME_WORDS]) + " …"
    return ""


def _outer(side: str, rows: Sequence[Sequence[Line]]) -> Iterator[EdgeRow]:
    """Yields the rows that may be heads or feet, and the next one; rows: from that edge inwards."""
    for depth, row in enumerate(rows):
        inner = depth >= EDGE_ROWS and (depth >= MOST_EDGE_ROWS or not _is_in_margin(row[0].box))
        offsets = tuple((line.start, line.end) for line in row)
        boxes = tuple(line.box for line in row)
        yield EdgeRow("inner" if inner else side, depth, offsets, boxes)
        if inner:
            return


def _is_in_margin(box: Rect) -> bool:
    """Whether a line stands in the outer margin at the top or the foot."""
    return box.y1 <= MARGIN or box.y0 >= 1 - MARGIN


def _attached(page: Page, rows: Sequence[EdgeRow]) -> list[bool]:
    """Tells for each row whether it belongs to the text or table next to it.

    It does if it is of a table, or farther in than a part of one, or as close to one or to other text as
    lines of one text are. What stands outermost may be as close to text. A row with the page's number
    belongs to nothing.

    rows: outermost first on each side.
    """
    tables = [_is_of_table(page, row) for row in rows]
    for index in range(1, len(rows)):
        if rows[index].depth > 0 and not tables[index]:
            begun = TABLE_TEXT.match(page.text, *rows[index - 1].pieces[0])
            tables[index] = tables[index - 1] or begun is not None
    attached = list(tables)
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        attached[index] |= row.side == "inner"
        if index + 1 == len(rows) or not _is_close(row, rows[index + 1]):
            continue
        tables[index] |= tables[index + 1]
        attached[index] |= tables[index]
        if row.depth > 0:
            attached[index] |= attached[index + 1]
    for index, row in enumerate(rows):
        attached[index] &= not _has_number(page, row)
    return attached


def _is_close(row: EdgeRow, inner: EdgeRow) -> bool:
    """Whether the next row is farther in on the same side, and as close as a line of the same text."""
    box = row.boxes[0]
    return row.depth < inner.depth and -box.level(inner.boxes[0]) < CLOSE * box.height


def _has_number(page: Page, row: EdgeRow) -> bool:
    """Whether the page's own number is in a row that is no edge of the text."""
    words = (word for start, end in row.pieces for word in page.text[start:end].split())
    return row.side != "inner" and any(word.strip(MARKS) == page.label for word in words)


def _is_of_table(page: Page, row: EdgeRow) -> bool:
    """Whether a row is of a table.

    It then ends in three figures, or in two with a point or comma, is in too many pieces for a running line,
    or stands in a table that was found.
    """
    if len(row.pieces) > MOST_PIECES or _ends_in_figures(page, row):
        return True
    return any(table.box.y0 <= box.middle <= table.box.y1 for table in page.tables for box in row.boxes[:1])


def _ends_in_figures(page: Page, row: EdgeRow) -> bool:
    """Whether a row ends in three figures, or in two with a point or comma."""
    text = " ".join(page.text[start:end] for start, end in row.pieces)
    words = text.rsplit(None, 3)[-3:]
    figures = [word for word in words if FIGURE.fullmatch(word)]
    if len(figures) != 2:
        return len(figures) == 3
    return figures == words[-2:] and any(mark in figure for figure in figures for mark in ".,")


def _beside(lines: Sequence[Line]) -> list[list[Line]]:
    """Returns lines grouped to rows, each from left to right, until there are enough.

    lines: from an edge inwards.
    """
    rows = list[list[Line]]()
    for line in lines:
        if rows and _level_with(rows[-1][0].box, line.box):
            rows[-1].append(line)
        elif len(rows) > MOST_EDGE_ROWS:
            break
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]


def _level_with(first: Rect, second: Rect) -> bool:
    """Whether two different boxes stand beside each other: they share a third of the lower one's height."""
    return first != second and 3 * first.level(second) > min(first.height, second.height)


def _parted(text: str, line: Line, highest: float) -> list[Line]:
    """Returns a line, or two if it is too high for one and ends in a number.

    The two are what comes before the number, and the number at the foot. How far right the number stands is
    not known.
    """
    box = line.box
    if box.height <= highest:
        return [line]
    start = max(line.start, line.end - LONGEST_NUMBER)
    match = TRAILING.search(text[start : line.end])
    # A hyphen had joined the two lines.
    broken = text.rfind("\n", line.start, line.end) + 1
    at = broken or line.end - len(match[0] if match else "")
    if match is None or at == line.start:
        return [line]
    foot = box.y1 - highest / TALL
    return [Line(line.start, at, replace(box, y1=foot)), Line(at, line.end, replace(box, y0=foot))]
