"""Values of some lines to columns, by where they stand; knows rows and intervals, not what values mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.scales import WHOLE_SCALE
from ingestion.records import Across, Word
from ingestion.tables.lines import Piece, VisualLine, text_piece
from ingestion.tables.word_kinds import is_period

__all__ = ["HEAD_LABEL", "Column", "columns_of", "head_row", "label_of", "parted", "row_values"]

# More columns are none of a table that anyone prints; what lies beyond is left out.
MOST_COLUMNS = 30
# How far two values of one column may stand apart without overlapping, in letters: a dash beside a
# right-aligned figure.
APART = 1.2
# Values count as aligned where a side or the middle agrees to within this many letters; the closing bracket
# and a sign of per cent set apart hang out by up to two.
ALIGNED = 1.3
ALIGNED_SHARE = 0.6


# What stands to the left of years that are heads: "Years ended December 31,", "(in millions)".
HEAD_LABEL = re.compile(
    rf"^\(|\b(?:years?|fiscal|months|quarters?|periods?|weeks) end(?:ed|ing)\b|\b(?:as (?:of|at)|at"
    rf"|in) [\w.{DRAWN_SIGNS}']+,?$"
    rf"|\b(?:{WHOLE_SCALE}s?)\b",
    re.IGNORECASE,
)
# Heads so close that they look like one text each stand over their column to within so many letters.
PARTED = 1.3
# or so much more than words that the gaps between them are wider than those inside by this.
WIDER = 1.3
WIDE = 0.9


@dataclass(slots=True)
class Column(Across):
    """x0, x1: sides of its values without currency set apart; left: with it. values: line index -> piece."""

    x0: float
    x1: float
    left: float
    values: dict[int, Piece] = field(default_factory=dict)

    def aligned(self, letter: float) -> bool:
        """Whether most values share a right side, a middle or a left side."""
        values = [value for value in self.values.values() if value.figure]
        sides = ([v.x1 for v in values], [(v.core + v.x1) / 2 for v in values], [v.core for v in values])
        return any(
            _agreeing(sorted(side), 2 * ALIGNED * letter) >= ALIGNED_SHARE * len(values)
            for side in sides
            if values
        )


def label_of(line: VisualLine) -> int:
    """How many pieces at the left make up the row's label: a leading number counts only where a text
    follows.
    """
    pieces = line.pieces
    if not pieces:
        return 0
    if not pieces[0].figure:
        return 1
    if is_period(pieces[0].text) and any(piece.figure and not is_period(piece.text) for piece in pieces[1:]):
        return 1
    if len(pieces) > 1 and not pieces[1].figure and _has_letter(pieces[1].text):
        return 2
    return 0


def row_values(line: VisualLine) -> list[Piece]:
    """The values of a line, empty where it is no row of a table: a row ends in a value or has more values
    than texts.
    """
    rest = line.pieces[label_of(line) :]
    values = [piece for piece in rest if piece.figure]
    if not values or (not rest[-1].figure and 2 * len(values) <= len(rest)):
        return []
    return values


def head_row(line: VisualLine) -> bool:
    """Whether all values of a row are years or its columns' numbers."""
    if len(line.pieces) > 2 and all(is_period(piece.text) for piece in line.pieces):
        return True
    texts = [value.text for value in row_values(line)]
    if not texts:
        return False
    if all(is_period(text) for text in texts):
        return len(texts) > 1 or not label_of(line) or bool(HEAD_LABEL.search(line.pieces[0].text))
    if len(texts) > 2 and all(text.strip("().").isdecimal() and len(text) < 5 for text in texts):
        numbers = [int(text.strip("().")) for text in texts]
        return numbers[0] in (1, 2) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return False


def columns_of(rows: Sequence[tuple[int, Sequence[Piece]]], letter: float) -> list[Column]:
    """Columns from left to right; rows: (line index, pieces that are no label). Two values of one row
    never share a column.
    """
    columns: list[Column] = []
    pieces = [(piece.x1 - piece.core, index, piece) for index, row in rows for piece in row]
    # Narrow values stand in one column only; a wide one may hang over its neighbours', and is placed when
    # these are known.
    pieces.sort(key=lambda item: item[0])
    for _, index, piece in pieces:
        near = [column for column in columns if _overlap(column, piece) > 0]
        if len(near) > 1:
            near = _merged(columns, near, index, piece)
        target = max(near, key=lambda column: _overlap(column, piece), default=None)
        if target is not None and index not in target.values:
            _put(target, index, piece)
        elif len(columns) < MOST_COLUMNS:
            columns.append(Column(piece.core, piece.x1, piece.x0, {index: piece}))
    columns.sort(key=lambda column: column.centre)
    return _joined(columns, letter)


def _overlap(column: Column, piece: Piece) -> float:
    """How much of a value, a currency sign set apart left out, lies over a column."""
    return min(column.x1, piece.x1) - max(column.x0, piece.core)


def _put(column: Column, index: int, piece: Piece) -> None:
    column.values[index] = piece
    column.x0, column.x1, column.left = (
        min(column.x0, piece.core),
        max(column.x1, piece.x1),
        min(column.left, piece.x0),
    )


def _merged(columns: list[Column], near: list[Column], index: int, piece: Piece) -> list[Column]:
    """Columns under one wide value, those joined that no row holds apart."""
    first = near[0]
    for other in near[1:]:
        if not first.values.keys() & other.values.keys():
            for line, value in other.values.items():
                _put(first, line, value)
            columns.remove(other)
    return [column for column in columns if _overlap(column, piece) > 0 and index not in column.values]


def _joined(columns: list[Column], letter: float) -> list[Column]:
    """Columns with those joined that stand side by side, almost touch, and that no row holds apart."""
    kept: list[Column] = []
    for column in columns:
        last = kept[-1] if kept else None
        if last and column.x0 - last.x1 < APART * letter and not last.values.keys() & column.values.keys():
            for line, value in column.values.items():
                _put(last, line, value)
        else:
            kept.append(column)
    return kept


def parted(piece: Piece, columns: Sequence[Column], letter: float) -> list[Piece]:
    """Heads of neighbouring columns that stand so close that they look like one."""
    over = [column for column in columns if column.overlap(piece) > 0]
    if len(over) < 2 or len(piece.words) < len(over):
        return [piece]
    parts = list(map(text_piece, _groups(piece, over)))
    if len(parts) < len(over):
        return [piece]
    inside = max(
        (after.box.x0 - word.box.x1 for part in parts for word, after in pairwise(part.words)), default=letter
    )
    between = min(after.x0 - part.x1 for part, after in pairwise(parts))
    near = (2 if between > max(WIDER * inside, WIDE * letter) else 1) * PARTED * letter
    pairs = list(zip(parts, over, strict=True))
    ends = all(abs(part.x1 - column.x1) < near for part, column in pairs)
    middles = all(abs(part.centre - column.centre) < near for part, column in pairs)
    if ends or middles:
        return parts
    return [piece]


def _groups(piece: Piece, over: Sequence[Column]) -> list[list[Word]]:
    """The words of a piece by column: cut at gaps wider than all others, or each word with the nearest
    column.
    """
    gaps = sorted(
        (
            (after.box.x0 - word.box.x1, number)
            for number, (word, after) in enumerate(pairwise(piece.words), 1)
        ),
        reverse=True,
    )
    wide = gaps[: len(over) - 1]
    narrow = gaps[len(over) - 1 :]
    if not narrow or wide[-1][0] > WIDER * narrow[0][0]:
        cuts = [0, *sorted(number for _, number in wide), len(piece.words)]
        return [piece.words[start:end] for start, end in pairwise(cuts)]
    groups: list[list[Word]] = [[] for _ in over]
    for word in piece.words:
        centre = word.box.centre
        groups[
            min(range(len(over)), key=lambda n: max(over[n].x0 - centre, centre - over[n].x1, 0.0))
        ].append(word)
    return [group for group in groups if group]


def _agreeing(sides: Sequence[float], within: float) -> int:
    """The most of these sorted numbers that lie within so much of each other."""
    most = start = 0
    for end, side in enumerate(sides):
        while side - sides[start] > within:
            start += 1
        most = max(most, end - start + 1)
    return most


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)
