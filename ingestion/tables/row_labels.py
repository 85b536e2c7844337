"""Joins the lines of a table to rows: labels over several lines, and headings over groups of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median_high

from ingestion.records import HorizontalExtent, Row, VerticalExtent, Word
from ingestion.tables.captions import NOTE, is_unit
from ingestion.tables.columns import Column, label_of
from ingestion.tables.lines import Lines, Piece, VisualLine, join, row_of, text_piece
from ingestion.tables.word_kinds import is_period, stacked, text_of, words_kind

__all__ = ["rows_of"]

# Lines of one label stand closer than the first of these, in line heights; a label and figures set lower than
# it, closer than the second.
CLOSE = 0.75
NEAR = 1.6
TIGHT = 0.3
LOOSE = 0.25
# The next line of a text in a column may be indented by this many letters.
HANGING = 3
# How many lines below the last row may still be its label.
LONGEST_TAIL = 3
# An indent is at least this many letters. A heading set this many letters in, or over the value columns, is
# centred.
INDENT = 0.8
CENTRED = 12
# Words that no label ends in. It goes on in the next line.
GOES_ON = re.compile(
    r"(?i)(?:\b(?:of|and|the|for|to|on|in|from|by|with|or|at|before|after|a|an|net|under|per|than|less|as"
    r"|its|de|la|et|du|des|y|del|und|der)|[,;&(/–—-])$",
)
TOTAL = re.compile(r"(?i)(?:sub-?)?totals?\b")
LEADER = re.compile(r"[.…·_]{3,}$")


@dataclass(slots=True)
class _Item(HorizontalExtent, VerticalExtent):
    """A line of a table, or several joined.

    label: its text.
    words: those of the label.
    x0, x1, y0, y1: where the label stands, and the line.
    cells: its values by column.
    tail: column and end of a text in that column, begun on the line above.
    """

    label: str
    words: list[Word]
    x0: float
    x1: float
    y0: float
    y1: float
    cells: dict[int, Piece]
    tail: tuple[int, Piece] | None = None


def rows_of(lines: Lines, first: int, last: int, columns: Sequence[Column]) -> list[Row]:
    """Returns the rows that lines[first] to lines[last] make, with values in `columns`.

    Lines below may carry the end of the last label.
    """
    items = [_item(lines[index], index, columns) for index in range(first, last + 1)]
    below = lines[last + 1 : last + 1 + LONGEST_TAIL]
    tail = [_item(line, -1, columns) for line in below]
    joiner = _LineJoiner(items, tail, lines[first].letter, columns[0].left)
    return joiner.rows(len(columns))


def _item(line: VisualLine, index: int, columns: Sequence[Column]) -> _Item:
    cells = {number: column.values[index] for number, column in enumerate(columns) if index in column.values}
    taken = set(map(id, cells.values()))
    count = max(1, label_of(line))
    edge = columns[0].left
    pieces = [
        piece
        for at, piece in enumerate(line.pieces)
        if id(piece) not in taken and (at < count or piece.x1 < edge)
    ]
    tail = None if cells else _tail(pieces, columns, line.letter)
    words = [*chain.from_iterable(piece.words for piece in pieces)]
    _pull_values(words, columns, cells)
    label = LEADER.sub("", text_of(words))
    x0 = words[0].box.x0 if words else 0.0
    x1 = words[-1].box.x1 if words else 0.0
    return _Item(label, words, x0, x1, line.y0, line.y1, cells, tail)


def _tail(pieces: Sequence[Piece], columns: Sequence[Column], letter: float) -> tuple[int, Piece] | None:
    """Returns (column, piece) if a line holds only a text that stands in a column of texts."""
    for number, column in enumerate(columns if len(pieces) == 1 else ()):
        if -letter < pieces[0].x0 - column.x0 < HANGING * letter and not column.has_figure:
            return number, pieces[0]
    return None


def _pull_values(words: list[Word], columns: Sequence[Column], cells: dict[int, Piece]) -> None:
    """Takes values that stand close to the label, but in a column without a cell, from its end."""
    while len(words) > 1 and words_kind(words[-1].text) in "vd" and not is_period(words[-1].text):
        over = (number for number, column in enumerate(columns) if column.overlap(words[-1].box) > 0)
        free = next((number for number in over if number not in cells), None)
        if free is None:
            return
        signed = len(words) > 2 and words_kind(words[-2].text) == "c"
        cells[free] = text_piece(words[-1 - signed :], figure=True)
        del words[-1 - signed :]


# A heading that holds: its indent (-1 if centred), its text, and whether its rows stand at its own indent.
_Section = tuple[float, str, bool]


class _LineJoiner:
    """Joins a table's lines to rows, from top to bottom."""

    def __init__(self, items: Sequence[_Item], tail: Sequence[_Item], letter: float, edge: float) -> None:
        """edge: left side of the first value column."""
        self._items, self._tail = items, tail
        self._letter, self._edge = letter, edge
        labels = [item for item in items if item.label]
        self._left = min((item.x0 for item in labels), default=0.0)
        self._right = max((item.x1 for item in labels if item.x1 < edge), default=0.0)
        gaps = [(after.y0 - before.y1) / before.height for before, after in pairwise(items)]
        usual = median_high(gaps or [0.0])
        # If the rows of a table stand apart, lines that do not are of one label.
        self._tight = min(TIGHT, usual - LOOSE) if usual > LOOSE else -1.0
        self._sections: list[_Section] = []

    def rows(self, columns: int) -> list[Row]:
        """Returns the rows, each under its headings. columns: how many cells each has."""
        made = list[tuple[_Item, str]]()
        pending = list[_Item]()
        for item in self._items:
            last = made[-1][0] if made else None
            if item.tail:
                if last and item.tail[0] in last.cells:
                    number, piece = item.tail
                    join(last.cells[number], piece)
            elif not item.cells:
                if is_period(item.label) or any(map(str.isalpha, item.label)):
                    self._await(pending, item)
            else:
                # A row's label goes on in lines right below it.
                while last and pending and self._goes_on(last, pending[0], [*pending, item][1]):
                    _join(last, pending.pop(0))
                self._begin(pending, item)
                for heading in pending:
                    self._open(heading, item)
                pending = []
                made.append((item, self._section(item)))
        if made:
            self._end(made[-1][0])
        numbers = range(columns)
        return [
            row_of(item.label, item.words, list(map(item.cells.get, numbers)), section)
            for item, section in made
        ]

    def _await(self, pending: list[_Item], item: _Item) -> None:
        """Adds a line without values to those that wait for a row.

        It joins the line before it if it goes on with that.
        """
        last = pending[-1] if pending and not pending[-1].label.endswith(":") else None
        gap = (item.y0 - last.y1) / item.height if last else 0.0
        near = last and gap < CLOSE and _reads_on(last.label, item.label)
        if last and not self._is_centred(item) and (near or gap <= self._tight):
            _join(last, item)
        else:
            pending.append(item)

    def _goes_on(self, row: _Item, line: _Item, following: _Item | None) -> bool:
        """Whether the label of a row goes on in a line below it. following: what stands below that line."""
        if not row.label or line.label.endswith(":"):
            return False
        height = line.height
        above = line.y0 - row.y1
        below = following.y0 - line.y1 if following else 9.0
        if above > CLOSE * height or above > below + 0.3 * height or self._is_centred(line):
            return False
        if _reads_on(row.label, line.label) or above <= self._tight * height:
            return True
        room = (len(line.label.split()[0]) + 1) * self._letter
        return row.x1 + room > self._right and above < below - 0.3 * height

    def _begin(self, pending: list[_Item], row: _Item) -> None:
        """Joins to a row the lines right above it that its label begins in."""
        while pending and self._begins_in(pending[-1], row):
            line = pending.pop()
            row.label = f"{line.label} {row.label}".rstrip()
            row.words[:0] = line.words
            row.x0, row.y0 = line.x0, line.y0

    def _begins_in(self, line: _Item, row: _Item) -> bool:
        """Whether the label of a row begins in the line right above it."""
        if line.label.endswith(":") or is_period(row.label):
            return False
        gap = (row.y0 - line.y1) / line.height
        partial = not row.label or _begins_low(row.label)
        if gap > (NEAR if partial else CLOSE) or self._is_centred(line):
            return False
        return partial or bool(GOES_ON.search(line.label)) or gap <= self._tight

    def _end(self, row: _Item) -> None:
        """Joins to the last row the lines below it that its label goes on in."""
        for line in self._tail:
            if not line.label or NOTE.match(line.label) or line.x1 > self._edge:
                return
            near = line.y0 - row.y1 <= 0.35 * line.height
            if not self._goes_on(row, line, None) or not (near or _reads_on(row.label, line.label)):
                return
            _join(row, line)

    def _is_centred(self, line: _Item) -> bool:
        return line.x0 - self._left > CENTRED * self._letter or line.x1 > self._edge

    def _open(self, heading: _Item, row: _Item) -> None:
        """Puts a heading over the rows that follow.

        It ends those that are no further out. But a group ends no unit that stands where it does.
        """
        indent = -1.0 if self._is_centred(heading) else heading.x0
        step = INDENT * self._letter
        text = heading.label.rstrip(": ")
        group = not is_unit(text)
        kept = list[_Section]()
        for section in self._sections:
            at, name, own_indent = section
            unit_here = group and own_indent and at < indent + step and is_unit(name)
            # A centred heading stands further out than all that are not.
            if unit_here or at < indent - step:
                kept.append(section)
        self._sections = kept
        flat = indent < 0 or (bool(row.label) and row.x0 <= heading.x0 + step)
        in_group = any(not own_indent for _, _, own_indent in kept)
        if flat and in_group and not heading.label.endswith(":"):
            return  # a row that has no figures, among others of an indented group
        kept.append((indent, text, flat))

    def _section(self, row: _Item) -> str:
        """Returns the headings over a row.

        A heading over indented rows ends at one that is not. A heading over rows at its own indent ends at a
        total, unless it is a unit.
        """
        step = INDENT * self._letter
        if row.label:
            self._sections = [entry for entry in self._sections if entry[2] or entry[0] < row.x0 - step]
        section = stacked(text for _, text, _ in self._sections)
        if TOTAL.match(row.label):
            self._sections = [
                (indent, text, flat)
                for indent, text, flat in self._sections
                if not flat or abs(indent - row.x0) >= step or is_unit(text)
            ]
        return section


def _reads_on(label: str, following: str) -> bool:
    """Whether one label ends, or the next line begins, in the middle of a phrase."""
    return _begins_low(following) or bool(GOES_ON.search(label))


def _begins_low(label: str) -> bool:
    """Whether a label begins in the middle of a phrase: "and taxes", "(pre-tax)"."""
    return label.lstrip("([")[:1].islower()


def _join(row: _Item, line: _Item) -> None:
    row.label = f"{row.label} {line.label}"
    row.words.extend(line.words)
    row.x1, row.y1 = line.x1, line.y1
