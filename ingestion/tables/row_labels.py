"""The lines of a table to rows: labels over several lines, headings over groups of rows; knows indents and
gaps, not what labels mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.records import Across, Cell, Down, Row, Word
from ingestion.tables.captions import NOTE, is_unit
from ingestion.tables.columns import Column, label_of
from ingestion.tables.lines import Piece, VisualLine
from ingestion.tables.word_kinds import is_period, printed, span_of, words_kind

__all__ = ["rows_of"]

# Lines of one label stand closer than this many line heights; a label and figures set lower than it, closer
# than the second.
CLOSE = 0.75
NEAR = 1.6
TIGHT = 0.3
LOOSE = 0.25
# The next line of a text in a column may be indented by so many letters.
HANGING = 3
# Lines below the last row that may still be its label.
LONGEST_TAIL = 3
# An indent is at least so many letters; a heading set so many letters in, or over the value columns, is
# centred.
INDENT = 0.8
CENTRED = 12
# Words that no label ends in: it goes on in the next line.
GOES_ON = re.compile(
    (
        r"(?:\b(?:of|and|the|for|to|on|in|from|by|with|or|at|before|after|a|an|net|under|per|than|less|as"
        r"|its|de|la|et|du|des|y|del|und|der)|[,;&(/–—-])$"
    ),
    re.IGNORECASE,
)
TOTAL = re.compile(r"(?:sub-?)?totals?\b", re.IGNORECASE)
LEADER = re.compile(r"[.…·_]{3,}$")
SEPARATOR = " > "


@dataclass(slots=True)
class _Item(Across, Down):
    """A line of a table, or several joined: its label with where it stands, its values by column."""

    label: str
    words: list[Word]
    x0: float
    x1: float
    y0: float
    y1: float
    cells: dict[int, Piece]
    tail: tuple[int, Piece] | None = None  # the end of a text in a column, begun on the line above


def rows_of(lines: Sequence[VisualLine], first: int, last: int, columns: Sequence[Column]) -> list[Row]:
    """The rows that lines[first] to lines[last] make, with values in `columns`; lines below may carry the
    end of the last label.
    """
    items = [_item(lines[index], index, columns) for index in range(first, last + 1)]
    tail = [_item(line, -1, columns) for line in lines[last + 1 : last + 1 + LONGEST_TAIL]]
    return _LineJoiner(items, tail, lines[first].letter, columns[0].left).rows(len(columns))


def _item(line: VisualLine, index: int, columns: Sequence[Column]) -> _Item:
    cells = {number: column.values[index] for number, column in enumerate(columns) if index in column.values}
    taken = {id(piece) for piece in cells.values()}
    count = max(1, label_of(line))
    edge = columns[0].left
    pieces = [
        piece
        for at, piece in enumerate(line.pieces)
        if id(piece) not in taken and (at < count or piece.x1 < edge)
    ]
    if not cells:
        tail = _tail(pieces, columns, line.letter)
    else:
        tail = None
    if tail is None:
        words = [word for piece in pieces for word in piece.words]
    else:
        words = []
    _pull_values(words, columns, cells, line.letter)
    label = LEADER.sub("", " ".join(printed(word) for word in words))
    if words:
        x0 = words[0].box.x0
        x1 = words[-1].box.x1
    else:
        x0, x1 = (0.0, 0.0)
    return _Item(label, words, x0, x1, line.y0, line.y1, cells, tail)


def _tail(pieces: Sequence[Piece], columns: Sequence[Column], letter: float) -> tuple[int, Piece] | None:
    """(column, piece) where a line holds nothing but a text that stands in a column of texts."""
    for number, column in enumerate(columns):
        if (
            len(pieces) == 1
            and -letter < pieces[0].x0 - column.x0 < HANGING * letter
            and not any(value.figure for value in column.values.values())
        ):
            return number, pieces[0]
    return None


def _pull_values(
    words: list[Word], columns: Sequence[Column], cells: dict[int, Piece], letter: float
) -> None:
    """Take values that stand close to the label, but in a column, from its end."""
    while len(words) > 1 and words_kind(words[-1].text) in "vd" and not is_period(words[-1].text):
        word = words[-1]
        box = word.box
        numbers = [
            n
            for n, column in enumerate(columns)
            if n not in cells and column.overlap(box) > 0 and box.x1 < column.x1 + letter
        ]
        if not numbers:
            return
        words.pop()
        cells[numbers[0]] = Piece([word], word.box.x0, word.box.x1, True, word.text, word.box.x0)
        if words_kind(words[-1].text) == "c" and len(words) > 1:
            sign = words.pop()
            cells[numbers[0]] = Piece(
                [sign, word], sign.box.x0, word.box.x1, True, f"{sign.text} {word.text}", word.box.x0
            )


class _LineJoiner:
    """Joins a table's lines to rows, from top to bottom."""

    def __init__(self, items: Sequence[_Item], tail: Sequence[_Item], letter: float, edge: float) -> None:
        """edge: left side of the first value column."""
        self._items, self._tail = items, tail
        self._letter, self._edge = letter, edge
        labels = [item for item in items if item.label]
        self._left = min((item.x0 for item in labels), default=0.0)
        self._right = max((item.x1 for item in labels if item.x1 < edge), default=0.0)
        gaps = sorted((after.y0 - before.y1) / before.height for before, after in pairwise(items))
        # Where the rows of a table stand apart, lines that do not are of one label.
        if gaps and gaps[len(gaps) // 2] > LOOSE:
            self._tight = min(TIGHT, gaps[len(gaps) // 2] - LOOSE)
        else:
            self._tight = -1.0
        self._sections: list[tuple[float, str, bool]] = []

    def rows(self, columns: int) -> list[Row]:
        joined: list[tuple[_Item, str]] = []
        pending: list[_Item] = []
        for item in self._items:
            if item.tail:
                if joined and item.tail[0] in joined[-1][0].cells:
                    _lengthen(joined[-1][0], *item.tail)
            elif not item.cells:
                if is_period(item.label) or any(character.isalpha() for character in item.label):
                    self._await(pending, item)
            else:
                if joined:
                    self._continue(joined[-1][0], pending, item)
                self._begin(pending, item)
                for heading in pending:
                    self._open(heading, item)
                pending = []
                joined.append((item, self._section(item)))
        if joined:
            self._end(joined[-1][0])
        return [_row(item, section, columns) for item, section in joined]

    def _await(self, pending: list[_Item], item: _Item) -> None:
        """Add a line without values to those that wait for a row, to the line before it where it goes on
        with that.
        """
        last = pending[-1] if pending else None
        if last and not last.label.endswith(":") and not self._is_centred(item):
            gap = (item.y0 - last.y1) / item.height
            if gap <= self._tight or (
                gap < CLOSE and (_begins_low(item.label) or GOES_ON.search(last.label))
            ):
                _join(last, item)
                return
        pending.append(item)

    def _continue(self, row: _Item, pending: list[_Item], following: _Item | None) -> None:
        """Lines right below a row that its label goes on in join it."""
        while pending and self._goes_on(row, pending[0], pending[1] if len(pending) > 1 else following):
            _join(row, pending.pop(0))

    def _goes_on(self, row: _Item, line: _Item, following: _Item | None) -> bool:
        height = line.height
        above = line.y0 - row.y1
        if following:
            below = following.y0 - line.y1
        else:
            below = 9.0
        if (
            not row.label
            or line.label.endswith(":")
            or above > CLOSE * height
            or above > below + 0.3 * height
            or self._is_centred(line)
        ):
            return False
        if _begins_low(line.label) or GOES_ON.search(row.label) or above <= self._tight * height:
            return True
        full = row.x1 + (len(line.label.split()[0]) + 1) * self._letter > self._right
        return full and above < below - 0.3 * height

    def _begin(self, pending: list[_Item], row: _Item) -> None:
        """Lines right above a row that its label begins in join it."""
        while pending:
            line = pending[-1]
            height = line.height
            if (
                line.label.endswith(":")
                or row.y0 - line.y1 > (NEAR if not row.label or _begins_low(row.label) else CLOSE) * height
                or self._is_centred(line)
            ):
                return
            if is_period(row.label):
                return
            if (
                row.label
                and not _begins_low(row.label)
                and not GOES_ON.search(line.label)
                and row.y0 - line.y1 > self._tight * height
            ):
                return
            pending.pop()
            row.label = f"{line.label} {row.label}".rstrip()
            row.words[:0] = line.words
            row.x0, row.y0 = line.x0, line.y0

    def _end(self, row: _Item) -> None:
        for line in self._tail:
            if (
                line.cells
                or not line.label
                or NOTE.match(line.label)
                or line.x1 > self._edge
                or not self._goes_on(row, line, None)
            ):
                return
            if (
                not _begins_low(line.label)
                and not GOES_ON.search(row.label)
                and line.y0 - row.y1 > 0.35 * line.height
            ):
                return
            _join(row, line)

    def _is_centred(self, line: _Item) -> bool:
        return line.x0 - self._left > CENTRED * self._letter or line.x1 > self._edge

    def _open(self, heading: _Item, row: _Item) -> None:
        """Put a heading over the rows that follow; it ends those that are no further out, but a group ends
        no unit that stands where it does.
        """
        if self._is_centred(heading):
            indent = -1.0
        else:
            indent = heading.x0
        step = INDENT * self._letter
        text = heading.label.rstrip(": ")
        group = not is_unit(text)
        self._sections = [
            entry
            for entry in self._sections
            if entry[0] < indent - step
            or (entry[0] == -1.0 and indent >= 0)
            or (group and entry[2] and is_unit(entry[1]) and entry[0] < indent + step)
        ]
        flat = indent < 0 or (bool(row.label) and row.x0 <= heading.x0 + step)
        if (
            flat
            and indent >= 0
            and not heading.label.endswith(":")
            and any(not entry[2] for entry in self._sections)
        ):
            return  # a row that has no figures, among others of an indented group
        self._sections.append((indent, text, flat))

    def _section(self, row: _Item) -> str:
        """The headings over a row; a heading over indented rows ends at one that is not, one over rows at
        its own indent at a total, but for a unit.
        """
        if row.label:
            step = INDENT * self._letter
            self._sections = [entry for entry in self._sections if entry[2] or entry[0] < row.x0 - step]
        section = SEPARATOR.join(text for _, text, _ in self._sections)
        if TOTAL.match(row.label):
            near = INDENT * self._letter
            self._sections = [
                entry
                for entry in self._sections
                if not entry[2] or abs(entry[0] - row.x0) >= near or is_unit(entry[1])
            ]
        return section


def _begins_low(label: str) -> bool:
    """Whether a label begins in the middle of a phrase: "and taxes", "(pre-tax)"."""
    return label.lstrip("([")[:1].islower()


def _join(row: _Item, line: _Item) -> None:
    row.label = f"{row.label} {line.label}"
    row.words.extend(line.words)
    row.x1, row.y1 = line.x1, line.y1


def _lengthen(row: _Item, number: int, piece: Piece) -> None:
    """Add the next line of a text to a cell."""
    begun = row.cells[number]
    row.cells[number] = Piece(
        [*begun.words, *piece.words],
        begun.x0,
        max(begun.x1, piece.x1),
        False,
        f"{begun.text} {piece.text}",
        begun.core,
    )


def _row(item: _Item, section: str, columns: int) -> Row:
    pieces = [item.cells.get(number) for number in range(columns)]
    cells = tuple(Cell(piece.text, *span_of(piece.words)) if piece else None for piece in pieces)
    words = [*item.words, *(word for piece in item.cells.values() for word in piece.words)]
    return Row(item.label, cells, section, *span_of(words))
