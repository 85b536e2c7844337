"""Which lines of a page may be one table, and its columns; knows lines and columns, and what prose, notes
and heads look like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.tables.captions import CAPTION, NOTE, is_unit
from ingestion.tables.columns import HEAD_LABEL, Column, columns_of, head_row, label_of, row_values
from ingestion.tables.lines import Piece, VisualLine
from ingestion.tables.word_kinds import is_period

__all__ = ["Block", "blocks_of", "first_line", "label_sides", "without_page_number"]

# A line of at least so many words that runs over the value columns is prose.
PROSE_WORDS = 6
# Prose runs over at least this share of the width that the values take; a long heading may reach into it.
PROSE_REACH = 0.35
# A sentence that introduces the next table stands so many line heights below the last one.
PARAGRAPH_GAP = 1.3
# Rows further apart than so many line heights are of two tables.
WIDEST_GAP = 6.0
# A running head or foot with the page's number stands so many line heights away from the table.
FOOT_GAP = 1.5
# Lines with headings that may stand between the heads and the first row with values.
MOST_HEADINGS = 4
# A text in the place of a value has at most so many words.
MOST_TEXT_WORDS = 3


@dataclass(slots=True)
class Block:
    """Lines that may be one table. rows: line -> its pieces that are no label; letter: mean width."""

    first: int
    last: int
    rows: dict[int, list[Piece]]
    columns: list[Column]
    letter: float


def without_page_number(lines: list[VisualLine]) -> list[VisualLine]:
    """The lines of a page without a first or last one that is, or ends or begins with, nothing but a
    page's number set apart.
    """
    if len(lines) > 1 and _is_page_number(lines[-1], lines[-1].y0 - lines[-2].y1):
        lines = lines[:-1]
    if len(lines) > 1 and _is_page_number(lines[0], lines[1].y0 - lines[0].y1):
        lines = lines[1:]
    return lines


def _is_page_number(line: VisualLine, gap: float) -> bool:
    values = row_values(line)
    numbers = (
        len(values) == 1 and values[0].text.strip("- ").isdecimal() and len(values[0].text.strip("- ")) <= 4
    )
    return numbers and (len(line.pieces) == 1 or gap > FOOT_GAP * line.height)


def blocks_of(lines: Sequence[VisualLine]) -> Iterator[Block]:
    """What may be tables, from top to bottom."""
    for first, last in _stretches(lines):
        yield from _blocks(lines, first, last)


def _stretches(lines: Sequence[VisualLine]) -> Iterator[tuple[int, int]]:
    """(first, last) lines with values between which there is nothing but labels and headings."""
    first = last = -1
    for index, line in enumerate(lines):
        values = row_values(line)
        if values and (not head_row(line) or (first >= 0 and _is_row_of_years(line, lines[index - 1]))):
            if first >= 0 and line.y0 - lines[last].y1 > WIDEST_GAP * line.height:
                yield first, last
                first = -1
            first = index if first < 0 else first
            last = index
        elif first >= 0 and (values or _parts(line, lines[last], lines[index - 1])):
            yield first, last
            first = -1
    if first >= 0:
        yield first, last


def _is_row_of_years(line: VisualLine, above: VisualLine) -> bool:
    """Whether years right below a table's rows are values, not heads of the next table: "Year of maturity
    2031 2029".
    """
    labelled = (
        label_of(line)
        and any(character.isalpha() for character in line.pieces[0].text)
        and not HEAD_LABEL.search(line.pieces[0].text)
    )
    return (
        bool(labelled)
        and line.y0 - above.y1 < PARAGRAPH_GAP * line.height
        and bool(row_values(above))
        and not head_row(above)
    )


def _parts(line: VisualLine, row: VisualLine, above: VisualLine) -> bool:
    """Whether a line below a row cannot be of the same table: a caption, a note, a sentence; above: the
    line before it.
    """
    text = line.text
    words = sum(len(piece.words) for piece in line.pieces)
    if CAPTION.match(text) or (NOTE.match(text) and (text[0] != "(" or words > 2 * PROSE_WORDS)):
        return True
    apart = line.y0 - above.y1 > PARAGRAPH_GAP * line.height
    if apart and words > PROSE_WORDS and (text.endswith(":") or NOTE.match(text)):
        return True
    values = row_values(row)
    left = min(value.core for value in values)
    right = max(value.x1 for value in values)
    reach = left + PROSE_REACH * (right - left)
    return any(
        piece.x0 < left and reach < piece.x1 and len(piece.words) >= PROSE_WORDS for piece in line.pieces
    )


def _blocks(lines: Sequence[VisualLine], first: int, last: int) -> Iterator[Block]:
    """The tables in a stretch of lines: it is cut where heads of several columns stand between rows."""
    while first <= last:
        block = _block(lines, first, last)
        cut = next(
            (
                index
                for index in range(first, last + 1)
                if index not in block.rows and _over_columns(lines[index], block.columns) > 1
            ),
            None,
        )
        if cut is None:
            yield block
            return
        before = max((index for index in block.rows if index < cut), default=None)
        after = min((index for index in block.rows if index > cut), default=None)
        if before is not None:
            yield _block(lines, first, before)
        if after is None:
            return
        first = after


def _over_columns(line: VisualLine, columns: Sequence[Column], *, start: int = 1) -> int:
    """How many pieces of a line, from the first or a later one, stand over columns of their own."""
    over = {
        n
        for n, column in enumerate(columns)
        if any(column.overlap(piece) > 0 for piece in line.pieces[start:])
    }
    return min(len(over), len(line.pieces[start:]))


def _block(lines: Sequence[VisualLine], first: int, last: int) -> Block:
    rows = {
        index: lines[index].pieces[label_of(lines[index]) :]
        for index in range(first, last + 1)
        if row_values(lines[index])
    }
    letter = sum(lines[index].letter for index in rows) / max(1, len(rows))
    columns = columns_of(list(rows.items()), letter)
    if _take_texts(lines, rows, columns, letter):
        columns = columns_of(list(rows.items()), letter)
    start = min(rows, default=first)
    if len(rows) > 1 and _is_late_head(lines[start], rows[start], columns):
        del rows[start]
        columns = columns_of(list(rows.items()), letter)
        first = min(rows)
    labels = [
        piece
        for index in rows
        for piece in lines[index].pieces[: label_of(lines[index])]
        if piece not in rows[index]
    ]
    if labels:
        left = sorted(label.x0 for label in labels)[len(labels) // 2]
    else:
        left = 0.0
    kept = [
        column
        for column in columns
        if _is_column(column, labels) and (column.x1 > left or len(column.values) > len(rows) / 4)
    ]
    for index in range(first, last + 1):
        if index not in rows:
            _put_text(lines[index], index, kept)
    return Block(first, last, rows, kept, letter)


def _is_late_head(line: VisualLine, pieces: Sequence[Piece], columns: Sequence[Column]) -> bool:
    """Whether a first row is one of heads, some of them years: what would be its label stands over a
    column.
    """
    label = line.pieces[0]
    return all(is_period(piece.text) for piece in pieces if piece.figure) and any(
        column.overlap(label) > 0 and len(column.values) > 1 for column in columns
    )


def _take_texts(
    lines: Sequence[VisualLine], rows: dict[int, list[Piece]], columns: Sequence[Column], letter: float
) -> bool:
    """Whether rows were found whose label is missing, so that a text in a later column came first; they
    are given all their pieces.
    """
    lefts = [
        sorted(piece.x0 for piece in column.values.values())
        for column in columns
        if not any(piece.figure for piece in column.values.values())
    ]
    sides = [side[len(side) // 2] for side in lefts if len(side) > 1]
    taken = False
    for index in rows:
        first = lines[index].pieces[0]
        if sides and not first.figure and any(abs(first.x0 - side) < letter for side in sides):
            rows[index] = lines[index].pieces
            taken = True
    return taken


def _put_text(line: VisualLine, index: int, columns: Sequence[Column]) -> None:
    """Put a short text that stands where values do, beside a label, into its column: "Flat", "Unlimited"."""
    if len(line.pieces) != 2 or len(line.pieces[1].words) > MOST_TEXT_WORDS:
        return
    label, piece = line.pieces
    over = [column for column in columns if column.overlap(piece) > 0]
    if len(over) == 1 and over[0].x0 > label.x1 and piece.x1 <= over[0].x1 + 2 * line.letter:
        over[0].values[index] = piece


def _is_column(column: Column, labels: Sequence[Piece]) -> bool:
    """Whether it holds values or texts that stand clear of the labels; marks and numbers among the labels
    do not.
    """
    inside = sum(1 for label in labels if column.overlap(label) > 0)
    if any(value.figure for value in column.values.values()):
        return inside <= len(column.values)
    return len(column.values) > 1 and not inside


def first_line(lines: Sequence[VisualLine], block: Block, floor: int) -> int:
    """The first line below the heads: headings of groups, and lines of a label, may stand above the first
    values.
    """
    for index in range(block.first - 1, max(floor, block.first - 1 - MOST_HEADINGS) - 1, -1):
        line = lines[index]
        if _heads(line, block.columns) or is_unit(line.text):
            return index + 1
        if (
            len(line.pieces) == 1
            and _over_columns(line, block.columns, start=0)
            and index > floor
            and _heads(lines[index - 1], block.columns)
        ):
            return index + 1  # the last line of one head alone: "(note 16)", "restated"
        if (
            len(line.pieces) > 1
            or CAPTION.match(line.text)
            or any(column.overlap(line.pieces[0]) > 0 for column in block.columns)
        ):
            break
    return block.first


def _heads(line: VisualLine, columns: Sequence[Column]) -> bool:
    """Whether a line is one of heads: years, or texts over several columns."""
    return head_row(line) or _over_columns(line, columns, start=0) > 1


def label_sides(lines: Sequence[VisualLine], block: Block) -> tuple[float, float]:
    """Where the labels begin and end."""
    labels = [piece for index in block.rows for piece in lines[index].pieces[: label_of(lines[index])]]
    edge = block.columns[0].left
    return min((label.x0 for label in labels), default=edge), max(
        (label.x1 for label in labels if label.x1 < edge), default=edge
    )
