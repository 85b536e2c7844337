"""Groups the values of some lines to columns by where they stand, and tells labels from values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.periods import YEARLESS
from ingestion.language.scales import WHOLE_SCALE
from ingestion.records import HorizontalExtent, Word
from ingestion.tables.lines import Piece, VisualLine, text_piece
from ingestion.tables.word_kinds import is_period

__all__ = [
    "HEAD_LABEL",
    "Column",
    "columns_of",
    "columns_over",
    "counts_up",
    "head_row",
    "label_of",
    "parted",
    "row_values",
]

# No printed table has more columns than this. What lies beyond is left out.
MOST_COLUMNS = 30
# How far two values of one column may stand apart without overlapping, in letters: a dash beside a
# right-aligned figure.
APART = 1.2
# Values count as aligned if a side or the middle agrees to within this many letters. The closing bracket and
# a per cent sign set apart hang out by up to two.
ALIGNED = 1.3
ALIGNED_SHARE = 0.6


# What stands to the left of years that are heads: "Years ended December 31,", "(in millions)".
HEAD_LABEL = re.compile(
    rf"(?i)^\(|\b{YEARLESS}|\b(?:as (?:of|at)|at|in) [\w.{DRAWN_SIGNS}']+,?$"
    rf"|\b(?:{WHOLE_SCALE}s?)\b",
)
# Words of one head, however wide their gaps.
ONE_PERIOD = re.compile(YEARLESS, re.IGNORECASE)
# Heads so close that they look like one text each stand over their column to within this many letters.
PARTED = 1.3
# Or twice as many, if the gaps between them are wider than the widest one inside by the first of these, and
# wider than this many letters.
WIDER = 1.3
WIDE = 0.9


@dataclass(slots=True)
class Column(HorizontalExtent):
    """One column of a table.

    x0, x1: sides of its values without currency set apart.
    left: the left side with it.
    values: line index -> piece.
    """

    x0: float
    x1: float
    left: float
    values: dict[int, Piece] = field(default_factory=dict)

    @property
    def has_figure(self) -> bool:
        """Whether it holds a value, and not texts alone."""
        return any(value.figure for value in self.values.values())

    def aligned(self, letter: float) -> bool:
        """Whether most values share a right side or a middle."""
        values = [value for value in self.values.values() if value.figure]
        rights = sorted(value.x1 for value in values)
        middles = sorted((value.core + value.x1) / 2 for value in values)
        most = max(_agreeing(places, 2 * ALIGNED * letter) for places in (rights, middles))
        return most > 0 and most >= ALIGNED_SHARE * len(values)


def label_of(line: VisualLine) -> int:
    """Counts the pieces at the left that make up the row's label.

    A leading number counts only if a text follows.
    """
    pieces = line.pieces
    if not pieces:
        return 0
    first, *others = pieces
    if not first.figure:
        return 1
    if is_period(first.text) and any(piece.figure and not is_period(piece.text) for piece in others):
        return 1
    return 2 if others and not others[0].figure and any(map(str.isalpha, others[0].text)) else 0


def row_values(line: VisualLine) -> list[Piece]:
    """Returns the values of a line, none if it is no row of a table.

    A row ends in a value or has more values than texts.
    """
    rest = line.pieces[label_of(line) :]
    values = [piece for piece in rest if piece.figure]
    return values if values and (rest[-1].figure or 2 * len(values) > len(rest)) else []


def head_row(line: VisualLine) -> bool:
    """Whether all values of a row are years or its columns' numbers."""
    if len(line.pieces) > 2 and all(is_period(piece.text) for piece in line.pieces):
        return True
    texts = [value.text for value in row_values(line)]
    if texts and all(map(is_period, texts)):
        return len(texts) > 1 or not label_of(line) or bool(HEAD_LABEL.search(line.pieces[0].text))
    return counts_up(texts)


def counts_up(texts: Sequence[str]) -> bool:
    """Whether texts number the columns from 1 or 2 on: 1, 2, 3 or (2), (3), (4)."""
    digits = [text.strip("().") for text in texts]
    numbers = list(map(str, range(1, len(digits) + 2)))
    return len(digits) > 2 and digits in (numbers[:-1], numbers[1:])


def columns_of(rows: Mapping[int, Sequence[Piece]], letter: float) -> list[Column]:
    """Returns columns from left to right. Two values of one row never share a column.

    rows: line index -> pieces that are no label.
    """
    columns = list[Column]()
    pieces = [(index, piece) for index, row in rows.items() for piece in row]
    # Narrow values stand in one column only. A wide one may hang over its neighbours', and is placed when
    # these are known.
    pieces.sort(key=lambda item: item[1].x1 - item[1].core)
    for index, piece in pieces:
        near = [column for column in columns if _overlap(column, piece) > 0 and index not in column.values]
        target = max(near, key=lambda column: _overlap(column, piece), default=None)
        if target:
            _put(target, index, piece)
        elif len(columns) < MOST_COLUMNS:
            columns.append(Column(piece.core, piece.x1, piece.x0, {index: piece}))
    columns.sort(key=lambda column: column.centre)
    return _joined(columns, letter)


def _overlap(column: Column, piece: Piece) -> float:
    """Returns how much of a value, without a currency sign set apart, lies over a column."""
    return min(column.x1, piece.x1) - max(column.x0, piece.core)


def _put(column: Column, index: int, piece: Piece) -> None:
    column.values[index] = piece
    column.x0 = min(column.x0, piece.core)
    column.x1 = max(column.x1, piece.x1)
    column.left = min(column.left, piece.x0)


def _joined(columns: list[Column], letter: float) -> list[Column]:
    """Joins columns that stand side by side and almost touch, unless a row holds them apart."""
    kept = list[Column]()
    for column in columns:
        last = kept[-1] if kept else None
        near = last and column.x0 - last.x1 < APART * letter
        if last and near and last.values.keys().isdisjoint(column.values):
            for index, piece in column.values.items():
                _put(last, index, piece)
        else:
            kept.append(column)
    return kept


def columns_over(piece: Piece, columns: Sequence[Column]) -> list[Column]:
    """Returns the columns that a piece stands over or in."""
    return [column for column in columns if column.overlap(piece) > 0]


def parted(piece: Piece, columns: Sequence[Column], letter: float) -> list[Piece]:
    """Returns the heads of neighbouring columns that stand so close that they look like one piece.

    Returns the piece itself if it is one head.
    """
    over = columns_over(piece, columns)
    if len(over) < 2 or len(piece.words) < len(over) or ONE_PERIOD.fullmatch(piece.text):
        return [piece]
    parts = list(map(text_piece, _groups(piece, over)))
    if len(parts) < len(over):
        return [piece]
    widest = max((gap for part in parts for gap in _gaps(part.words)), default=letter)
    between = min(after.x0 - part.x1 for part, after in pairwise(parts))
    near = PARTED * letter
    if between > max(WIDER * widest, WIDE * letter):
        near *= 2
    pairs = list(zip(parts, over, strict=True))
    ends = all(abs(part.x1 - column.x1) < near for part, column in pairs)
    middles = all(abs(part.centre - column.centre) < near for part, column in pairs)
    return parts if ends or middles else [piece]


def _gaps(words: Sequence[Word]) -> list[float]:
    return [after.box.x0 - word.box.x1 for word, after in pairwise(words)]


def _groups(piece: Piece, over: Sequence[Column]) -> list[list[Word]]:
    """Returns the words of a piece by column.

    They are cut at gaps wider than all others, or else each word goes to the nearest column.
    """
    gaps = sorted(((gap, number) for number, gap in enumerate(_gaps(piece.words), 1)), reverse=True)
    wide, narrow = gaps[: len(over) - 1], gaps[len(over) - 1 :]
    if not narrow or wide[-1][0] > WIDER * narrow[0][0]:
        cuts = sorted(number for _, number in wide)
        return [piece.words[start:end] for start, end in pairwise([0, *cuts, len(piece.words)])]
    groups: list[list[Word]] = [[] for _ in over]
    for word in piece.words:
        x = word.box.centre
        distances = [max(column.x0 - x, x - column.x1, 0.0) for column in over]
        groups[distances.index(min(distances))].append(word)
    return list(filter(None, groups))


def _agreeing(sides: Sequence[float], within: float) -> int:
    """Returns how many of these sorted numbers at most lie within a distance of each other."""
    return max((bisect_right(sides, side + within) - at for at, side in enumerate(sides)), default=0)
