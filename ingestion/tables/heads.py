"""What stands above a table's rows: which head is for which columns; knows where things stand, not what
heads say but periods.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.language.months import MONTH_NAME
from ingestion.records import Across, Down
from ingestion.tables.captions import CAPTION, caption_of, is_bare_unit, is_unit
from ingestion.tables.columns import Column, head_row, parted, row_values
from ingestion.tables.lines import INK, Piece, VisualLine
from ingestion.tables.word_kinds import is_period

__all__ = ["Head", "head_of"]

# Heads and the rows below them stand no further apart than so many line heights.
HEAD_GAP = 3.2
# Lines that heads may take, and words in one of them.
MOST_HEAD_LINES = 10
MOST_HEAD_WORDS = 9
# A line of heads has hardly more of them than there are columns.
MOST_MORE_HEADS = 3
# A spanning head stands over the middle of its columns to within this share of the distance between two.
BALANCE = 0.3
BALANCE_OF_HEADS = 0.4
# Heads set to the right end there to within this share of it.
ALIGNED = 0.12
# Lines of one head stand closer than so many line heights; a rule is drawn between a spanning head and those
# under it.
SPAN_GAP = 0.25
SEPARATOR = " > "
# What over the labels belongs to the years over the values: "Years ended December 31,", "At 30 June".
PERIOD_LABEL = re.compile(
    r"(?:for )?(?:the )?[\w-]* ?(?:years?|quarters?|months|weeks|periods?) end(?:ed|ing)\b[\w ,]*"
    rf"|(?:as (?:of|at) |at )?(?:\d{{1,2}} )?{MONTH_NAME}(?: \d{{1,2}})?,?",
    re.IGNORECASE,
)
LONGEST_PERIOD = 60


@dataclass(slots=True)
class Head:
    """What stands above the rows. heads: one for each column; top: the first line that belongs to the
    table.
    """

    heads: list[str]
    caption: str
    unit: str
    top: int


def head_of(
    lines: Sequence[VisualLine],
    first: int,
    floor: int,
    columns: Sequence[Column],
    labels: tuple[float, float],
) -> Head:
    """Heads, caption and unit above lines[first]; floor: the first line that may be looked at; labels:
    their left and right sides.
    """
    zone = _Zone(columns, *labels)
    units: list[str] = []
    periods: list[str] = []
    rows: list[list[Piece]] = []
    top = first
    while top > max(floor, first - MOST_HEAD_LINES):
        line = lines[top - 1]
        below = lines[top]
        if (
            below.y0 - line.y1 <= HEAD_GAP * line.height
            and all(is_unit(piece.text) for piece in line.pieces)
            and not zone.split(line)[0]
        ):
            # A unit line over the labels, between the rows and the heads above it.
            top -= 1
            units += [piece.text for piece in line.pieces]
            continue
        if below.y0 - line.y1 > HEAD_GAP * line.height or not _may_be_heads(line) or not zone.is_head(line):
            break
        over, others = zone.split(line)
        if (
            rows
            and len(rows[0]) > 1
            and all(piece.text.isdecimal() and is_period(piece.text) for piece in [*rows[0], *over])
            and len(over) > 1
        ):
            break  # the axis of a chart, or the heads of a table without rows
        top -= 1
        numbering = head_row(line) and not all(is_period(value.text) for value in row_values(line))
        units += [text for text in others if is_unit(text)]
        if len(over) == 1 and is_unit(over[0].text) and not is_bare_unit(over[0].text):
            units.insert(0, over[0].text)
        elif over and not numbering:
            rows.insert(0, over)
        periods += [text for text in others if PERIOD_LABEL.fullmatch(text[:LONGEST_PERIOD])]
    caption, more, top = caption_of(lines, top, floor)
    units = [*more, *units[::-1]]
    heads = [
        f"{periods[0]}{SEPARATOR}{head}" if periods and is_period(head) else head for head in zone.heads(rows)
    ]
    return Head(heads, caption, units[0] if units else "", top)


@dataclass(slots=True)
class _Head(Across, Down):
    """One head as printed, in one line or several. core: the (first, last) column that it stands over
    itself.
    """

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    core: tuple[int, int]


def _on_one_line(first: _Head, second: _Head) -> bool:
    return first.level(second) > 0.2 * min(first.height, second.height)


def _heights(piece: Piece) -> tuple[float, float]:
    """Top and bottom of a piece, those of a scanned one as high as a font's box."""
    y0 = piece.words[0].box.y0
    y1 = max(word.box.y1 for word in piece.words)
    if piece.words[0].confidence is not None:
        more = INK * (y1 - y0)
    else:
        more = 0.0
    return y0 - more, y1 + more


def _may_be_heads(line: VisualLine) -> bool:
    return head_row(line) or all(is_period(value.text) for value in row_values(line))


class _Zone:
    """The columns, as heads see them: what stands over which."""

    def __init__(self, columns: Sequence[Column], left: float, right: float) -> None:
        """left, right: sides of the labels."""
        self._columns = columns
        self._left, self._right = left, right
        self._lowest: list[_Head | None] = [None] * len(columns)  # the last head of a column alone
        self._x0, self._x1 = columns[0].left, columns[-1].x1
        self._pitch = (self._x1 - self._x0) / len(columns)

    def is_head(self, line: VisualLine) -> bool:
        """Whether a line stands over the columns rather than across the page."""
        heads, others = self.split(line)
        if not heads or len(heads) > len(self._columns) + MOST_MORE_HEADS:
            return False
        for piece in heads:
            if len(piece.text.split()) > MOST_HEAD_WORDS and not is_unit(piece.text):
                return False
        if CAPTION.match(line.pieces[0].text) and (len(heads) == 1 or others):
            return False
        if len(line.pieces) == 1 and 1 < len(self._columns) > len(heads):
            # A line over the middle of the whole table is its caption, one over the middle of the columns
            # spans them.
            piece = line.pieces[0]
            centre = piece.centre
            off_columns = abs(centre - (self._x0 + self._x1) / 2)
            off_table = abs(centre - (self._left + self._x1) / 2)
            return piece.x0 >= self._x0 - self._pitch / 2 and (
                off_columns <= off_table or off_table > self._pitch / 4
            )
        return True

    def split(self, line: VisualLine) -> tuple[list[Piece], list[str]]:
        """The pieces over the value columns, and the texts over the labels."""
        heads, others = [], []
        for piece in line.pieces:
            reach = piece.centre + 0.25 * piece.width
            over = piece.x1 > self._x0 and (reach > self._x0 or piece.x0 > self._right)
            if over:
                heads += [piece] if is_unit(piece.text) else parted(piece, self._columns, line.letter)
            else:
                others.append(piece.text)
        return heads, others

    def heads(self, rows: Sequence[Sequence[Piece]]) -> list[str]:
        """The head of each column, from the pieces of each line above it."""
        heads = self._merged(rows)
        for head in heads:
            for number in range(head.core[0], head.core[1] + 1):
                if head.core[0] == head.core[1]:
                    self._lowest[number] = head
                else:
                    self._lowest[number] = None
        stacks: list[list[tuple[tuple[int, int], str]]] = [[] for _ in self._columns]
        for head, span in self._spans(heads):
            for stack in stacks[span[0] : span[1] + 1]:
                if stack and stack[-1][0] == span:
                    stack[-1] = (span, f"{stack[-1][1]} {head.text}")
                else:
                    stack.append((span, head.text))
        return [SEPARATOR.join(text for _, text in stack) for stack in stacks]

    def _merged(self, rows: Sequence[Sequence[Piece]]) -> list[_Head]:
        """Heads from top to bottom, the lines of one joined: they stand close, one over one."""
        heads: list[_Head] = []
        for row in rows:
            parts = [
                _Head(piece.text, piece.x0, piece.x1, *_heights(piece), self._under(piece)) for piece in row
            ]
            for part in parts:
                over = [head for head in heads if head.overlap(part) > 0]
                last = max(over, key=lambda head: head.y1, default=None)
                beside = [other for other in parts if last and other.overlap(last) > 0]
                if last and len(beside) == 1 and self._goes_on(last, part, heads, parts=len(parts)):
                    last.text = f"{last.text} {part.text}"
                    last.x0, last.x1, last.y1 = min(last.x0, part.x0), max(last.x1, part.x1), part.y1
                    last.core = (min(last.core[0], part.core[0]), max(last.core[1], part.core[1]))
                else:
                    heads.append(part)
        return sorted(heads, key=lambda head: head.y0)

    def _goes_on(self, head: _Head, part: _Head, heads: Sequence[_Head], *, parts: int) -> bool:
        """Whether a line of heads goes on with the one above it rather than stand under it as one of
        several; parts: how many it has.
        """
        if part.y0 - head.y1 > SPAN_GAP * part.height or (is_period(part.text) and not is_period(head.text)):
            return False
        if not is_period(head.text):
            return True
        beside = sum(1 for other in heads if _on_one_line(other, head))
        return parts <= beside

    def _spans(self, heads: Sequence[_Head]) -> list[tuple[_Head, tuple[int, int]]]:
        """Each head with its columns; where two on one line reach for the same column, the nearer has it."""
        spans: list[list[int]] = []
        for head in heads:
            beside = [other for other in heads if other is not head and _on_one_line(other, head)]
            start, end = self._repeated(head, beside) or self._span(head, heads, beside)
            for above, (first, last) in zip(heads, spans, strict=False):
                # What stands under a spanning head reaches no further than that.
                if (
                    above.y1 <= head.y0 + SPAN_GAP * head.height
                    and first <= head.core[0]
                    and head.core[1] <= last
                    and first < last
                ):
                    start, end = self._within(head, (max(start, first), min(end, last)))
            spans.append([start, end])
        order = sorted(range(len(heads)), key=lambda number: heads[number].x0)
        for left, right in (
            (a, b)
            for place, a in enumerate(order)
            for b in order[place + 1 :]
            if _on_one_line(heads[a], heads[b])
        ):
            while (
                spans[left][1] >= spans[right][0]
                and spans[left][0] < spans[left][1]
                and spans[right][0] < spans[right][1]
            ):
                contested = self._columns[spans[right][0]]
                if 2 * contested.centre < heads[left].centre + heads[right].centre:
                    spans[right][0] += 1
                else:
                    spans[left][1] = spans[right][0] - 1
        return [(head, (span[0], span[1])) for head, span in zip(heads, spans, strict=True)]

    def _within(self, head: _Head, span: tuple[int, int]) -> tuple[int, int]:
        """A span made smaller until the head stands over its middle again."""
        (start, end), centre = span, head.x0 + head.x1
        while (start, end) != head.core:
            off = self._columns[start].left + self._columns[end].x1 - centre
            if (
                abs(off) <= 2 * BALANCE * self._pitch
                or (off < 0 and start >= head.core[0])
                or (off > 0 and end <= head.core[1])
            ):
                break
            if off < 0:
                start, end = (start + 1, end)
            else:
                start, end = (start, end - 1)
        return start, end

    def _repeated(self, head: _Head, beside: Sequence[_Head]) -> tuple[int, int] | None:
        """The columns of a head over periods that repeat, as many times as there are heads on its line;
        None where they do not.
        """
        line = sorted([head, *beside], key=lambda other: other.x0)
        periods = [lowest.text for lowest in self._lowest if lowest and is_period(lowest.text)]
        size, rest = divmod(len(periods), len(line))
        if len(periods) < len(self._columns) or rest or size < 2 or is_period(head.text):
            return None
        if periods != periods[:size] * len(line) or len(set(periods)) < size:
            return None
        place = line.index(head)
        return place * size, (place + 1) * size - 1

    def _span(self, head: _Head, heads: Sequence[_Head], beside: Sequence[_Head]) -> tuple[int, int]:
        """The (first, last) column that a head is for: those it stands over, and where others stand under
        it, those around.
        """
        below = [
            other for other in heads if other.y0 >= head.y1 - SPAN_GAP * head.height and other is not head
        ]
        under = [other for other in below if other.core[0] <= head.core[1] and head.core[0] <= other.core[1]]
        if beside and head.core[0] == head.core[1] and any(self._is_aligned(head, other) for other in under):
            return head.core
        taken = {column for other in beside for column in range(other.core[0], other.core[1] + 1)}
        return self._grown(head, taken)

    def _is_aligned(self, head: _Head, under: _Head) -> bool:
        """Whether two heads are lines of one, set to the right of their column or as wide as it allows."""
        return (
            abs(head.x1 - under.x1) < ALIGNED * self._pitch
            and not is_period(under.text)
            and not is_period(head.text)
        )

    def _under(self, piece: Piece) -> tuple[int, int]:
        """The columns that a piece stands over itself."""
        over = [n for n, column in enumerate(self._columns) if column.overlap(piece) > 0]
        if len(over) > 1:
            # A head wider than its column hangs over the next one a little.
            most = max(self._share(n, piece) for n in over)
            over = [n for n in over if self._share(n, piece) > 0.5 * most]
        if not over:
            over = [min(range(len(self._columns)), key=lambda n: abs(self._columns[n].centre - piece.centre))]
        return over[0], over[-1]

    def _share(self, number: int, piece: Piece) -> float:
        column = self._columns[number]
        return column.overlap(piece) / max(1e-9, min(column.width, piece.width))

    def _grown(self, head: _Head, taken: set[int]) -> tuple[int, int]:
        """The widest run of columns around a head, none of them another's, over whose middle it stands."""
        core = lowest, highest = head.core
        while lowest > 0 and lowest - 1 not in taken:
            lowest -= 1
        while highest + 1 < len(self._columns) and highest + 1 not in taken:
            highest += 1
        centre = head.centre
        fits = []
        for start in range(lowest, core[0] + 1):
            for end in range(core[1], highest + 1):
                if self._is_over_middle(centre, start, end):
                    fits.append((start, end))
        return max(fits, key=lambda fit: fit[1] - fit[0], default=core)

    def _is_over_middle(self, centre: float, start: int, end: int) -> bool:
        """Whether a head stands over the middle of these columns: of their own heads, or where they have
        none, of their values.
        """
        first = self._lowest[start]
        last = self._lowest[end]
        if first and last and start < end:
            return abs((first.x0 + last.x1) / 2 - centre) <= BALANCE_OF_HEADS * self._pitch
        columns = self._columns
        return any(
            abs((left + columns[end].x1) / 2 - centre) <= BALANCE * self._pitch
            for left in (columns[start].left, columns[start].x0)
        )
