"""Finds the lines of a page that may be one table, and its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median_high

from ingestion.tables.captions import CAPTION, NOTE, is_unit
from ingestion.tables.columns import (
    HEAD_LABEL,
    Column,
    columns_of,
    columns_over,
    head_row,
    label_of,
    row_values,
)
from ingestion.tables.lines import Lines, Piece, VisualLine
from ingestion.tables.word_kinds import is_period

__all__ = ["Block", "blocks_of", "first_line", "label_sides", "without_page_number"]

# A line of at least this many words that runs over the value columns is prose.
PROSE_WORDS = 6
# Prose runs over at least this share of the values' width. A long heading may reach into it.
PROSE_REACH = 0.35
# A sentence that introduces the next table stands this many line heights below the last one.
PARAGRAPH_GAP = 1.3
# Rows further apart than this many line heights are of two tables.
WIDEST_GAP = 6.0
# A running head or foot with the page's number stands this many line heights away from the table.
FOOT_GAP = 1.5
# How many lines with headings may stand between the heads and the first row with values.
MOST_HEADINGS = 4
# A text in the place of a value has at most this many words.
MOST_TEXT_WORDS = 3


@dataclass(slots=True)
class Block:
    """Lines that may be one table.

    first, last: its lines.
    rows: line -> its pieces that are no label.
    columns: from left to right.
    letter: mean width of a letter.
    """

    first: int
    last: int
    rows: dict[int, list[Piece]]
    columns: list[Column]
    letter: float


def without_page_number(lines: list[VisualLine]) -> list[VisualLine]:
    """Returns the lines of a page without a page number set apart.

    This is a first or last line that is, or ends or begins with, nothing but that number.
    """
    if len(lines) > 1 and _is_page_number(lines[-1], lines[-1].y0 - lines[-2].y1):
        lines = lines[:-1]
    if len(lines) > 1 and _is_page_number(lines[0], lines[1].y0 - lines[0].y1):
        lines = lines[1:]
    return lines


def _is_page_number(line: VisualLine, gap: float) -> bool:
    values = row_values(line)
    if len(values) != 1 or not values[0].text.strip("- ").isdecimal():
        return False
    return len(line.pieces) == 1 or gap > FOOT_GAP * line.height


def blocks_of(lines: Lines) -> Iterator[Block]:
    """Yields what may be tables, from top to bottom."""
    for first, last in _stretches(lines):
        while first <= last:
            block = _block(lines, first, last)
            others = (index for index in range(first, last + 1) if index not in block.rows)
            # Heads of several columns between rows cut one table from the next.
            heads = (index for index in others if _over_columns(lines[index], block.columns) > 1)
            cut = next(heads, None)
            if cut is None:
                yield block
                break
            if before := [index for index in block.rows if index < cut]:
                yield _block(lines, first, max(before))
            first = min((index for index in block.rows if index > cut), default=last + 1)


def _stretches(lines: Lines) -> Iterator[tuple[int, int]]:
    """Yields the (first, last) lines with values between which there is nothing but labels and headings."""
    first = last = -1
    for index, line in enumerate(lines):
        begun = first >= 0
        values = row_values(line)
        if values and (not head_row(line) or (begun and _is_row_of_years(line, lines[index - 1]))):
            if begun and line.y0 - lines[last].y1 > WIDEST_GAP * line.height:
                yield first, last
                begun = False
            if not begun:
                first = index
            last = index
        elif begun and (values or _parts(line, lines[last], lines[index - 1])):
            yield first, last
            first = -1
    if first >= 0:
        yield first, last


def _is_row_of_years(line: VisualLine, above: VisualLine) -> bool:
    """Whether years right below a table's rows are values, not heads of the next table.

    An example is "Year of maturity 2031 2029".
    """
    if not label_of(line) or HEAD_LABEL.search(line.pieces[0].text):
        return False
    return bool(row_values(above)) and line.y0 - above.y1 < PARAGRAPH_GAP * line.height


def _parts(line: VisualLine, row: VisualLine, above: VisualLine) -> bool:
    """Whether a line below a row cannot be of the same table: a caption, a note, a sentence.

    above: the line before it.
    """
    if CAPTION.match(line.text):
        return True
    apart = line.y0 - above.y1 > PARAGRAPH_GAP * line.height
    if apart and len(line.text.split()) > PROSE_WORDS and (NOTE.match(line.text) or line.text.endswith(":")):
        return True
    values = row_values(row)
    left = min(value.core for value in values)
    right = max(value.x1 for value in values)
    reach = left + PROSE_REACH * (right - left)
    long = [piece for piece in line.pieces if len(piece.words) >= PROSE_WORDS]
    return any(piece.x0 < left and reach < piece.x1 for piece in long)


def _over_columns(line: VisualLine, columns: Sequence[Column], *, start: int = 1) -> int:
    """Counts the pieces of a line, from the first or a later one, that stand over columns of their own."""
    pieces = line.pieces[start:]
    over = {at for at, column in enumerate(columns) for piece in pieces if column.overlap(piece) > 0}
    return min(len(over), len(pieces))


def _block(lines: Lines, first: int, last: int) -> Block:
    valued = (index for index in range(first, last + 1) if row_values(lines[index]))
    rows = {index: lines[index].pieces[label_of(lines[index]) :] for index in valued}
    letter = sum(lines[index].letter for index in rows) / len(rows)
    columns = columns_of(rows, letter)
    if _take_texts(lines, rows, columns, letter):
        columns = columns_of(rows, letter)
    if len(rows) > 1 and _is_late_head(lines[first], rows[first], columns):
        del rows[first]
        columns = columns_of(rows, letter)
        first = min(rows)
    labels = _labels(lines, rows)
    left = median_high([label.x0 for label in labels] or [0.0])
    kept = [
        column
        for column in columns
        if _is_column(column, labels) and (column.x1 > left or 4 * len(column.values) > len(rows))
    ]
    for index in range(first, last + 1):
        if index not in rows:
            _put_text(lines[index], index, kept)
    return Block(first, last, rows, kept, letter)


def _labels(lines: Lines, rows: dict[int, list[Piece]]) -> list[Piece]:
    """Returns the labels of the rows that are not among their values."""
    return [
        label
        for index, pieces in rows.items()
        for label in lines[index].pieces[: label_of(lines[index])]
        if label not in pieces
    ]


def _is_late_head(line: VisualLine, pieces: Sequence[Piece], columns: Sequence[Column]) -> bool:
    """Whether a first row is one of heads, some of them years.

    What would be its label then stands over a column.
    """
    if not all(is_period(piece.text) for piece in pieces if piece.figure):
        return False
    return any(len(column.values) > 1 for column in columns_over(line.pieces[0], columns))


def _take_texts(lines: Lines, rows: dict[int, list[Piece]], columns: Sequence[Column], letter: float) -> bool:
    """Gives rows without a label all their pieces; tells whether there are any.

    In such rows a text in a later column comes first.
    """
    sides = []
    for column in columns:
        if len(column.values) > 1 and not column.has_figure:
            sides.append(median_high(piece.x0 for piece in column.values.values()))
    taken = False
    for index in rows:
        first = lines[index].pieces[0]
        if not first.figure and any(abs(first.x0 - side) < letter for side in sides):
            rows[index] = lines[index].pieces
            taken = True
    return taken


def _put_text(line: VisualLine, index: int, columns: Sequence[Column]) -> None:
    """Puts a short text that stands where values do, beside a label, into its column: "Flat", "Unlimited"."""
    if len(line.pieces) != 2:
        return
    label, piece = line.pieces
    over = columns_over(piece, columns)
    if len(piece.words) > MOST_TEXT_WORDS or len(over) != 1:
        return
    column = over[0]
    if column.x0 > label.x1 and piece.x1 <= column.x1 + 2 * line.letter:
        column.values[index] = piece


def _is_column(column: Column, labels: Sequence[Piece]) -> bool:
    """Whether a column holds values or texts that stand clear of the labels.

    Marks and numbers among the labels do not.
    """
    inside = sum(column.overlap(label) > 0 for label in labels)
    count = len(column.values)
    return inside <= count if column.has_figure else count > 1 and not inside


def first_line(lines: Lines, block: Block, floor: int) -> int:
    """Returns the first line below the heads.

    Headings of groups, and lines of a label, may stand above the first values.
    """
    columns = block.columns
    lowest = max(floor, block.first - 1 - MOST_HEADINGS)
    for index in range(block.first - 1, lowest - 1, -1):
        line = lines[index]
        if _heads(line, columns) or is_unit(line.text):
            return index + 1
        if len(line.pieces) > 1:
            break
        # The last line of one head alone: "(note 16)", "restated".
        over = _over_columns(line, columns, start=0)
        if over and index > floor and _heads(lines[index - 1], columns):
            return index + 1
        if columns_over(line.pieces[0], columns):
            break
    return block.first


def _heads(line: VisualLine, columns: Sequence[Column]) -> bool:
    """Whether a line is one of heads: years, or texts over several columns."""
    return head_row(line) or _over_columns(line, columns, start=0) > 1


def label_sides(lines: Lines, block: Block) -> tuple[float, float]:
    """Returns where the labels begin and end."""
    labels = _labels(lines, block.rows)
    edge = block.columns[0].left
    lefts = [label.x0 for label in labels]
    rights = [label.x1 for label in labels if label.x1 < edge]
    return min(lefts, default=edge), max(rights, default=edge)
