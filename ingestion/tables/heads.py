"""Finds the heads, caption and unit above a table's rows, and which head is for which columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from operator import itemgetter

from ingestion.language.periods import YEARLESS
from ingestion.records import HorizontalExtent, VerticalExtent
from ingestion.tables.captions import CAPTION, bracketed_units, caption_of, is_bare_unit, is_unit
from ingestion.tables.columns import Column, counts_up, parted
from ingestion.tables.lines import INK, Lines, Piece, VisualLine
from ingestion.tables.word_kinds import is_period, stacked

__all__ = ["Head", "head_of"]

# Heads and the rows below them stand no further apart than this many line heights.
HEAD_GAP = 3.2
# The most lines that heads take, and the most words in a head.
MOST_HEAD_LINES = 10
MOST_HEAD_WORDS = 9
# A spanning head stands over the middle of its columns to within this share of the distance between two.
BALANCE = 0.3
BALANCE_OF_HEADS = 0.4
# Of several runs of columns the widest counts that is off by no more of these shares than the best.
BEST = 0.5
# Heads set to the right end there to within this share of it.
ALIGNED = 0.12
# Lines of one head stand closer than this many line heights. A rule is drawn between a spanning head and
# those under it.
SPAN_GAP = 0.25
# Texts over the labels that belong to the years over the values: "Years ended December 31,", "At 30 June".
PERIOD_LABEL = re.compile(YEARLESS, re.IGNORECASE)
LONGEST_PERIOD = 60


@dataclass(slots=True)
class Head:
    """What stands above the rows.

    heads: one for each column.
    caption: the table's title, "" without one.
    unit: in what its figures are given, "" if nothing says so.
    top: the first line that belongs to the table.
    """

    heads: list[str]
    caption: str
    unit: str
    top: int


def head_of(
    lines: Lines,
    first: int,
    floor: int,
    columns: Sequence[Column],
    labels: tuple[float, float],
) -> Head:
    """Returns heads, caption and unit above lines[first].

    floor: the first line that may be looked at. labels: their left and right sides.
    """
    zone = _Zone(columns, *labels)
    rows = list[list[Piece]]()
    units = list[str]()
    periods = list[str]()
    top = first
    while top > max(floor, first - MOST_HEAD_LINES):
        line = lines[top - 1]
        over, others = zone.split(line)
        if lines[top].y0 - line.y1 > HEAD_GAP * line.height:
            break
        # A unit line may stand over the labels, between the rows and the heads above it.
        if over or not all(map(is_unit, others)):
            if not zone.is_head(line, over) or (rows and _are_years(rows[0]) and _are_years(over)):
                break  # years above others are the axis of a chart
            if len(over) == 1 and is_unit(over[0].text) and not is_bare_unit(over[0].text):
                units.insert(0, over[0].text)  # it says more than the head of a column would
            elif not counts_up([piece.text for piece in over]):
                rows.insert(0, over)
        for text in others:
            units += [text] if is_unit(text) else bracketed_units(text)
        periods += [text for text in others if PERIOD_LABEL.fullmatch(text[:LONGEST_PERIOD])]
        top -= 1
    caption, above, top = caption_of(lines, top, floor)
    heads = zone.heads(rows)
    if periods:
        heads = [stacked((periods[0], head)) if is_period(head) else head for head in heads]
    return Head(heads, caption, next(iter([*above, *reversed(units)]), ""), top)


def _are_years(pieces: Sequence[Piece]) -> bool:
    return len(pieces) > 1 and all(piece.text.isdecimal() and is_period(piece.text) for piece in pieces)


@dataclass(slots=True)
class _Head(HorizontalExtent, VerticalExtent):
    """One head as printed, in one line or several.

    core: the (first, last) column that it stands over itself.
    """

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    core: tuple[int, int]

    def add(self, part: _Head) -> None:
        """Adds the next line of the head."""
        self.text = f"{self.text} {part.text}"
        self.x0, self.x1, self.y1 = min(self.x0, part.x0), max(self.x1, part.x1), part.y1
        self.core = min(self.core[0], part.core[0]), max(self.core[1], part.core[1])


def _on_one_line(first: _Head, second: _Head) -> bool:
    return first.level(second) > 0.2 * min(first.height, second.height)


def _goes_on(head: _Head, part: _Head, heads: Sequence[_Head], parts: Sequence[_Head]) -> bool:
    """Whether a line of heads goes on with the one above it, instead of being one of several under it.

    parts: the heads of the line.
    """
    if part.y0 - head.y1 > SPAN_GAP * part.height:
        return False
    if is_period(head.text):
        return len(parts) <= sum(_on_one_line(other, head) for other in heads)
    return not is_period(part.text) or not _is_one_of_periods(part, parts)


def _is_one_of_periods(part: _Head, parts: Sequence[_Head]) -> bool:
    """Whether other periods that are written alike stand beside one, as under a head that spans them."""
    line = sorted(parts, key=lambda other: other.x0)
    place = line.index(part)
    beside = [other.text for other in line[max(0, place - 1) : place + 2] if other is not part]
    return part.text not in beside and _form(part.text) in map(_form, beside)


def _form(period: str) -> str:
    return re.sub("[0-9]+", "0", re.sub("[^\\W\\d_]+", "a", period))


# The (first, last) column that a head stands over.
_Span = tuple[int, int]


class _Zone:
    """The columns of a table, and what stands over which of them."""

    def __init__(self, columns: Sequence[Column], left: float, right: float) -> None:
        """left, right: sides of the labels."""
        self._columns = columns
        self._left, self._right = left, right
        self._lowest: list[_Head | None] = [None] * len(columns)  # the last head of a column alone
        self._x0, self._x1 = columns[0].left, columns[-1].x1
        self._pitch = (self._x1 - self._x0) / len(columns)

    def is_head(self, line: VisualLine, heads: Sequence[Piece]) -> bool:
        """Whether a line with these pieces over the columns stands there rather than across the page.

        The only piece of a line is the table's caption if it stands over the middle of the whole table, and
        spans columns if it stands over the middle of these.
        """
        if CAPTION.match(line.text) or any(len(piece.words) > MOST_HEAD_WORDS for piece in heads):
            return False
        piece = line.pieces[0]
        if len(line.pieces) > 1 or not 1 < len(self._columns) > len(heads):
            return bool(heads)
        if piece.x0 < self._x0 - self._pitch / 2:
            return False
        off_columns = abs(piece.centre - (self._x0 + self._x1) / 2)
        off_table = abs(piece.centre - (self._left + self._x1) / 2)
        return off_columns <= off_table or off_table > self._pitch / 4

    def split(self, line: VisualLine) -> tuple[list[Piece], list[str]]:
        """Returns the pieces over the value columns, and the texts over the labels."""
        heads = list[Piece]()
        others = list[str]()
        for piece in line.pieces:
            if not self._is_over_values(piece):
                others.append(piece.text)
            elif is_unit(piece.text):
                heads.append(piece)
            else:
                heads += parted(piece, self._columns, line.letter)
        return heads, others

    def _is_over_values(self, piece: Piece) -> bool:
        """Whether a piece stands over the value columns rather than over the labels."""
        reach = piece.centre + 0.25 * piece.width
        return piece.x1 > self._x0 and (reach > self._x0 or piece.x0 > self._right)

    def heads(self, rows: Sequence[Sequence[Piece]]) -> list[str]:
        """Returns the head of each column, from the pieces of each line above it."""
        heads = self._merged(rows)
        for head in heads:
            first, last = head.core
            for number in range(first, last + 1):
                self._lowest[number] = head if first == last else None
        stacks: list[list[tuple[_Span, str]]] = [[] for _ in self._columns]
        for head, span in self._spans(heads):
            for stack in stacks[span[0] : span[1] + 1]:
                text = head.text
                if stack and stack[-1][0] == span:
                    _, above = stack.pop()
                    text = f"{above} {text}"
                stack.append((span, text))
        return [stacked(map(itemgetter(1), stack)) for stack in stacks]

    def _merged(self, rows: Sequence[Sequence[Piece]]) -> list[_Head]:
        """Returns heads from top to bottom, the lines of each joined.

        Such lines stand close, one over one.
        """
        heads = list[_Head]()
        for row in rows:
            parts = list(map(self._head, row))
            for part in parts:
                over = [head for head in heads if head.overlap(part) > 0]
                last = max(over, key=lambda head: head.y1, default=None)
                under = [other for other in parts if last and other.overlap(last) > 0]
                if last and len(under) == 1 and _goes_on(last, part, heads, parts):
                    last.add(part)
                else:
                    heads.append(part)
        return sorted(heads, key=lambda head: head.y0)

    def _head(self, piece: Piece) -> _Head:
        """Returns a piece as a head, a scanned one as high as a font's box."""
        top, bottom = piece.words[0].box.y0, max(word.box.y1 for word in piece.words)
        more = 0.0 if piece.words[0].confidence is None else INK * (bottom - top)
        return _Head(piece.text, piece.x0, piece.x1, top - more, bottom + more, self._under(piece))

    def _spans(self, heads: Sequence[_Head]) -> list[tuple[_Head, _Span]]:
        """Returns each head with its columns.

        If two on one line reach for the same column, the nearer has it.
        """
        spans = list[_Span]()
        for head in heads:
            beside = [other for other in heads if other is not head and _on_one_line(other, head)]
            span = self._repeated(head, beside) or self._span(head, heads, beside)
            for above, (first, last) in zip(heads, spans, strict=False):
                # What stands under a spanning head reaches no further than that.
                within = first <= head.core[0] <= head.core[1] <= last > first
                if within and above.y1 <= head.y0 + SPAN_GAP * head.height:
                    span = self._widest(head, max(span[0], first), min(span[1], last))
            spans.append(span)
        self._settle(heads, spans)
        return list(zip(heads, spans, strict=True))

    def _settle(self, heads: Sequence[_Head], spans: list[_Span]) -> None:
        """Gives each column that two heads on one line reach for to the nearer head."""
        order = sorted(range(len(heads)), key=lambda number: heads[number].x0)
        for left, right in combinations(order, 2):
            if _on_one_line(heads[left], heads[right]):
                middle = heads[left].centre + heads[right].centre
                spans[left], spans[right] = self._apart(spans[left], spans[right], middle)

    def _apart(self, left: _Span, right: _Span, middle: float) -> tuple[_Span, _Span]:
        """Returns two spans without the columns that both have.

        middle: that between their heads, doubled.
        """
        while left[1] >= right[0] and left[0] < left[1] and right[0] < right[1]:
            if 2 * self._columns[right[0]].centre < middle:
                right = (right[0] + 1, right[1])
            else:
                left = (left[0], right[0] - 1)
        return left, right

    def _repeated(self, head: _Head, beside: Sequence[_Head]) -> _Span | None:
        """Returns the columns of a head over periods that repeat once for each head on its line.

        Returns None if they do not repeat.
        """
        line = sorted([head, *beside], key=lambda other: other.x0)
        periods = [lowest.text for lowest in self._lowest if lowest and is_period(lowest.text)]
        once = periods[: len(periods) // len(line)]
        repeated = len(set(once)) == len(once) > 1 and periods == once * len(line)
        if not repeated or len(periods) < len(self._columns) or is_period(head.text):
            return None
        place = line.index(head) * len(once)
        return place, place + len(once) - 1

    def _span(self, head: _Head, heads: Sequence[_Head], beside: Sequence[_Head]) -> _Span:
        """Returns the (first, last) column that a head is for.

        These are the columns it stands over, and those around if others stand under it.
        """
        if beside and head.core[0] == head.core[1]:
            floor, column = head.y1 - SPAN_GAP * head.height, head.core[0]
            below = [other for other in heads if other.y0 >= floor and other is not head]
            under = [other for other in below if other.core[0] <= column <= other.core[1]]
            if any(self._is_aligned(head, other) for other in under):
                return head.core
        taken = {column for other in beside for column in range(other.core[0], other.core[1] + 1)}
        lowest, highest = head.core
        while lowest > 0 and lowest - 1 not in taken:
            lowest -= 1
        while highest + 1 < len(self._columns) and highest + 1 not in taken:
            highest += 1
        return self._widest(head, lowest, highest)

    def _is_aligned(self, head: _Head, under: _Head) -> bool:
        """Whether two heads are lines of one, set to the right of their column or as wide as it allows."""
        of_periods = is_period(under.text) or is_period(head.text)
        return not of_periods and abs(head.x1 - under.x1) < ALIGNED * self._pitch

    def _under(self, piece: Piece) -> _Span:
        """Returns the (first, last) column that a piece stands over itself."""
        overlaps = [column.overlap(piece) for column in self._columns]
        over = [number for number, overlap in enumerate(overlaps) if overlap > 0]
        if not over:
            distances = [abs(column.centre - piece.centre) for column in self._columns]
            nearest = distances.index(min(distances))
            return nearest, nearest
        if len(over) > 1:
            # A head wider than its column hangs over the next one a little.
            most = max(self._share(number, piece) for number in over)
            over = [number for number in over if self._share(number, piece) > 0.5 * most]
        return over[0], over[-1]

    def _share(self, number: int, piece: Piece) -> float:
        """Returns how much of a column or of a piece, whichever is narrower, the two have in common."""
        column = self._columns[number]
        return column.overlap(piece) / max(1e-9, min(column.width, piece.width))

    def _widest(self, head: _Head, lowest: int, highest: int) -> _Span:
        """Returns the widest of the runs of columns between two over whose middle a head stands best."""
        starts = range(lowest, head.core[0] + 1)
        ends = range(head.core[1], highest + 1)
        offs = {fit: self._off_middle(head.centre, *fit) for fit in product(starts, ends)}
        most = min(1.0, min(offs.values()) + BEST)
        fits = (fit for fit, off in offs.items() if off <= most)
        return max(fits, key=lambda fit: fit[1] - fit[0], default=head.core)

    def _off_middle(self, centre: float, start: int, end: int) -> float:
        """Returns how far a head stands from the middle of these columns, of their heads or else of their
        values, as a share of the most that is allowed."""
        first, last = self._lowest[start], self._lowest[end]
        if first and last and start < end:
            return abs((first.x0 + last.x1) / 2 - centre) / (BALANCE_OF_HEADS * self._pitch)
        lefts, right = (self._columns[start].left, self._columns[start].x0), self._columns[end].x1
        return min(abs((left + right) / 2 - centre) for left in lefts) / (BALANCE * self._pitch)
