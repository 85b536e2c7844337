"""Ruled grids to tables: which rows are heads, sections and figures, which columns are labels; knows
cells, not where lines are drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ingestion.language.list_items import ITEM_LABEL
from ingestion.records import Cell, Rect, Row, Word
from ingestion.tables.captions import is_unit
from ingestion.tables.grids import Grid, Inside
from ingestion.tables.word_kinds import is_period, is_value, printed, span_of, words_kind

__all__ = ["Ruled", "ruled_tables"]

# A cell with more words is a paragraph that was given a frame, and no cell of a table; a head has fewer.
MOST_CELL_WORDS = 60
MOST_HEAD_WORDS = 14
MOST_HEAD_ROWS = 4
# A head that ends in a full stop is an abbreviation: "S. No.", and has at most so many words.
MOST_SHORT = 4
# Share of figures in a head at most, small whole ones ("Tier 1") not counted.
MOST_FIGURES = 0.25
# Rows with values that a ruled table has at least, one that has heads, and cells with a figure or a sign that
# there is none.
FEWEST_ROWS, FEWEST_ROWS_OF_HEADS = 2, 1
FEWEST_FIGURES = 2
# Share of its cells that have something in them: frames of charts and forms are empty.
FILLED = 0.5
# Share of its cells at most that go on over a line of others: those of forms do.
SHARED = 0.3
# Figures that stand under each other in one cell, without numbered items beside them, are rows that nothing
# was drawn between.
MOST_STACKED = 3
SERIAL = re.compile(r"\(?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[a-zA-Z])(?:\.\d{1,2}){0,2}[.)]{0,2}")
SERIALS = 0.6
SEPARATOR = " > "
# Labels that say nothing without the head over them: "8 lac", "2024-25".
BARE_WORDS = 2


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table as its lines tell. heads: one for each value column; title: what stands above the heads inside
    it; corner: the head over the labels; box: around it."""

    title: str
    corner: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    box: Rect


def ruled_tables(grid: Grid) -> Iterator[Ruled]:
    """The tables in one ruled area: paragraphs set inside its frame part them."""
    numbers = [number for number, row in enumerate(grid.cells) if any(inside.lines for inside in row)]
    for prose, group in groupby(numbers, lambda number: _is_prose(grid.cells[number])):
        if not prose:
            yield from _Sheet(grid, list(group)).tables()


def _is_prose(row: Sequence[Inside]) -> bool:
    return any(sum(map(len, inside.lines)) > MOST_CELL_WORDS for inside in row) or (
        len(_filled(row)) == 1 and sum(map(len, _filled(row)[0].lines)) > 2 * MOST_HEAD_WORDS
    )


def _filled(row: Sequence[Inside]) -> list[Inside]:
    """The cells of a row that have something in them, each once."""
    return [
        inside
        for place, inside in enumerate(row)
        if inside.lines and not any(inside is other for other in row[:place])
    ]


def _text(lines: Sequence[Sequence[Word]]) -> str:
    return " ".join(printed(word) for line in lines for word in line)


class _Sheet:
    """Some rows of a grid that may be one table."""

    def __init__(self, grid: Grid, numbers: Sequence[int]) -> None:
        self._grid = grid
        self._rows = [(number, grid.cells[number]) for number in numbers]
        self._title = self._opening()
        self._heads = self._rows[: self._count_heads()]
        self._body = self._rows[len(self._heads) :]
        if self._body and _is_numbering(self._body[0][1]):
            self._body = self._body[1:]
        self._columns = self._kept()
        self._serials, self._label = self._labels()
        self._values = self._columns[self._label + 1 :]

    def tables(self) -> Iterator[Ruled]:
        """The table that the rows make, if they do."""
        if not self._values or not self._is_regular():
            return
        rows = self._made()
        cells = [cell for row in rows for cell in row.cells if cell]
        figures = sum(_has_figure(cell.text) for cell in cells)
        if (
            sum(any(row.cells) for row in rows) >= (FEWEST_ROWS_OF_HEADS if self._heads else FEWEST_ROWS)
            and figures >= FEWEST_FIGURES
        ):
            xs = self._grid.xs
            ys = self._grid.ys
            top = ys[(self._heads or self._body)[0][0]]
            bottom = ys[self._body[-1][0] + 1]
            columns = [
                column for _, row in self._body for inside in _filled(row) for column in inside.columns
            ]
            heads = tuple(self._head(number) for number in range(self._label + 1, len(self._columns)))
            yield Ruled(
                self._title,
                self._head(self._label),
                heads,
                tuple(rows),
                Rect(xs[min(columns)], top, xs[max(columns) + 1], bottom),
            )

    def _opening(self) -> str:
        """The title in the first row, taken from the rows: nothing else stands there, and heads do below."""
        title = ""
        while (
            len(self._rows) > 2 and len(_filled(self._rows[0][1])) == 1 and len(_filled(self._rows[1][1])) > 1
        ):
            title = f"{title} {_text(_filled(self._rows[0][1])[0].lines)}".strip()
            self._rows = self._rows[1:]
        return title

    def _count_heads(self) -> int:
        """How many rows at the top are heads: they hold no values, and stand under each other only where
        one spans others.
        """
        count = 0
        for number, row in self._rows[:MOST_HEAD_ROWS]:
            cells = _filled(row)
            if not all(_may_be_head(inside) for inside in cells) or _text(cells[0].lines)[:1].islower():
                break
            if count:
                above = _filled(self._rows[count - 1][1])
            else:
                above = cells
            spanning = any(
                inside.columns[0] < inside.columns[1] or inside.rows[0] < number <= inside.rows[1]
                for inside in above
            )
            if count and not spanning and not all(is_unit(_text(inside.lines)) for inside in cells):
                break
            if not count and len(cells) < 2:
                break
            count += 1
        return count

    def _kept(self) -> list[int]:
        """The columns in which rows have something, one of those between which no row has a line."""
        kept: list[int] = []
        rows = [row for _, row in self._body if len(_filled(row)) > 1]
        for column in range(len(self._grid.xs) - 1):
            own = [
                row[column]
                for row in rows
                if row[column].lines and not (kept and row[column] is row[kept[-1]])
            ]
            if len(own) > 1 or any(inside.columns == (column, column) for inside in own):
                kept.append(column)
        return kept

    def _labels(self) -> tuple[int, int]:
        """How many columns at the left number the rows, and the place of the label's column among those
        kept.
        """
        texts = [
            _text(row[column].lines)
            for column in self._columns[:-2][:1]
            for _, row in self._body
            if row[column].lines
        ]
        serials = int(
            len(self._columns) > 2
            and sum(bool(SERIAL.fullmatch(text)) for text in texts) >= SERIALS * len(texts)
        )
        return serials, serials + self._is_grouped(serials)

    def _is_grouped(self, place: int) -> bool:
        """Whether the first column of texts names groups of rows that the next one names."""
        if len(self._columns) < place + 3:
            return False
        first = self._columns[place]
        second = self._columns[place + 1]
        shared = [
            row
            for _, row in self._body
            if row[first].lines and row[first].rows[0] < row[first].rows[1] and row[first] is not row[second]
        ]
        named = [row for row in shared if row[second].lines and not is_value(_text(row[second].lines))]
        return (
            len(shared) > 1
            and len(named) == len(shared)
            and len({id(row[second]) for row in shared}) == len(shared)
        )

    def _is_regular(self) -> bool:
        """Whether most cells have something in them, most of these are one row high and one column wide,
        and no labels are stacked figures.
        """
        rows = [row for _, row in self._body if not self._is_section(row)]
        columns = self._columns[self._label :]
        cells = [(row, place) for row in rows for place in range(len(columns)) if row[columns[place]].lines]
        if len(cells) < FILLED * len(rows) * len(columns):
            return False
        wide = sum(place > 0 and row[columns[place]] is row[columns[place - 1]] for row, place in cells)
        high = len(cells) - len({(id(row[columns[place]]), place) for row, place in cells})
        stacks = sum(
            len(lines) >= MOST_STACKED and all(is_value(_text([line])) for line in lines)
            for lines in (row[columns[0]].lines for row in rows)
        )
        return wide + high <= SHARED * len(cells) and not stacks

    def _head(self, place: int) -> str:
        """The heads over a column, the outermost first; what stands over a column without values belongs
        to the next.
        """
        column = self._columns[place]
        if place:
            before = self._columns[place - 1]
        else:
            before = -1
        found: list[Inside] = []
        for _, row in self._heads:
            for inside in row[before + 1 : column + 1]:
                own = inside is row[column] or before < 0 or inside is not row[before]
                if own and inside.lines and not any(inside is other for other in found):
                    found.append(inside)
        return SEPARATOR.join(_text(inside.lines) for inside in found)

    def _made(self) -> list[Row]:
        """The rows with values, under their sections; empty where rows stand in cells without a line
        between them.
        """
        made: list[Row] = []
        sections: list[tuple[bool, str]] = []
        for _, row in self._body:
            if self._is_section(row):
                spans = _filled(row)[-1].columns[0] < _filled(row)[-1].columns[1]
                text = _text([line for inside in _filled(row) for line in inside.lines])
                # What a label at the top goes on with stands on the page before.
                if any(map(str.isalpha, text)) and (made or not text[0].islower()):
                    sections = [section for section in sections if section[0] and not spans] + [
                        (spans, text.rstrip(": "))
                    ]
            elif any(row[column].lines for column in self._values):
                rows = self._rows_of(row, [text for _, text in sections])
                if not rows:
                    return []
                made += rows
        return self._under_head(made)

    def _rows_of(self, row: Sequence[Inside], sections: Sequence[str]) -> list[Row]:
        """The rows that one row of cells makes, several where items are numbered in it; none where it
        cannot be told.
        """
        *groups, label = (row[column] for column in self._columns[self._serials : self._label + 1])
        serial = [
            word for column in self._columns[: self._serials] for line in row[column].lines for word in line
        ]
        outer = [*sections, *(_text(inside.lines) for inside in groups if inside is not label)]
        made = []
        for lines, values, above in _split(label, [row[column] for column in self._values]):
            words = [*(() if above else serial), *(word for line in lines for word in line)]
            made.append(_row(words, values, SEPARATOR.join(filter(None, [*outer, above]))))
        return made

    def _under_head(self, rows: list[Row]) -> list[Row]:
        """Rows with labels that say little alone put under the head of their labels."""
        bare = sum(_is_bare(row.label) for row in rows)
        if 2 * bare > len(rows) and not self._serials:
            head = self._head(self._label)
        else:
            head = ""
        return [replace(row, section=SEPARATOR.join(filter(None, (head, row.section)))) for row in rows]

    def _is_section(self, row: Sequence[Inside]) -> bool:
        """Whether a row names those below: nothing in it but one text, and a number before it."""
        serials = [row[column] for column in self._columns[: self._serials]]
        texts = [inside for inside in _filled(row) if not any(inside is serial for serial in serials)]
        if len(texts) > 1:
            return False
        if not texts:
            return True
        first = texts[0].columns[0]
        return first <= self._columns[self._label] and not is_value(_text(texts[0].lines))


def _may_be_head(inside: Inside) -> bool:
    text = _text(inside.lines)
    words = text.split()
    ends = len(words) > MOST_SHORT and text.endswith((".", ";"))
    figures = sum(
        words_kind(word) == "v" and not is_period(word) and not (word.isdecimal() and len(word) < 3)
        for word in words
    )
    return (
        len(words) <= MOST_HEAD_WORDS
        and not ends
        and (is_period(text) or not is_value(text))
        and figures <= MOST_FIGURES * len(words)
    )


def _is_numbering(row: Sequence[Inside]) -> bool:
    """Whether a row numbers the columns: 1, 2, 3 or (1), (2), (3)."""
    texts = [_text(inside.lines).strip("().") for inside in _filled(row)]
    return (
        len(texts) > 2
        and all(text.isdecimal() for text in texts)
        and [int(text) for text in texts] == list(range(1, len(texts) + 1))
    )


def _has_figure(text: str) -> bool:
    return is_value(text) or any(words_kind(word) == "v" and not is_period(word) for word in text.split())


def _is_bare(label: str) -> bool:
    return len(label.split()) <= BARE_WORDS and any(map(str.isdigit, label))


Lines = list[list[Word]]


def _split(label: Inside, cells: Sequence[Inside]) -> list[tuple[Lines, list[Lines], str]]:
    """(label, values, section) of the rows in one row of cells: one, or as many as the items that it
    numbers; none where it cannot be told.
    """
    whole = [(label.lines, [inside.lines for inside in cells], "")]
    filled = [inside for inside in cells if inside.lines]
    counts = {len(inside.lines) for inside in filled}
    stacked = all(is_value(_text([line])) for inside in filled for line in inside.lines)
    if not filled or len(counts) > 1 or counts == {1} or not stacked:
        return whole
    count = counts.pop()
    begun = [number for number, line in enumerate(label.lines) if ITEM_LABEL.fullmatch(line[0].text)]
    if len(begun) != count:
        if len(label.lines) == count:
            begun = list(range(count))
        else:
            begun = []
        if not begun or count > MOST_STACKED:
            if count >= MOST_STACKED:
                return []
            return whole
    ends = [*begun[1:], len(label.lines)]
    above = _text(label.lines[: begun[0]]).rstrip(": ")
    return [
        (label.lines[start:end], [inside.lines[number : number + 1] for inside in cells], above)
        for number, (start, end) in enumerate(zip(begun, ends, strict=True))
    ]


def _row(label: Sequence[Word], values: Sequence[Lines], section: str) -> Row:
    cells = tuple(_cell(lines) if lines else None for lines in values)
    words = [*label, *(word for lines in values for line in lines for word in line)]
    return Row(_text([label]), cells, section, *span_of(words))


def _cell(lines: Lines) -> Cell:
    words = [word for line in lines for word in line]
    return Cell(_text(lines), *span_of(words))
