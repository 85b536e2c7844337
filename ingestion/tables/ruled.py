"""Turns ruled grids into tables: finds which rows are heads or sections, and which columns are labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from ingestion.language.list_items import ITEM_LABEL
from ingestion.records import Rect, Row, Table, Word
from ingestion.tables.captions import bracketed_units, is_unit
from ingestion.tables.grids import Grid, Inside
from ingestion.tables.lines import row_of, text_piece
from ingestion.tables.word_kinds import is_period, is_value, stacked, text_of, words_kind

__all__ = ["ruled_tables"]

# A cell with more words is a framed paragraph and no cell of a table. A head has fewer.
MOST_CELL_WORDS = 60
MOST_HEAD_WORDS = 14
MOST_HEAD_ROWS = 4
# The fewest cells with a figure or a sign for none.
FEWEST_FIGURES = 2
# The least share of filled cells: frames of charts and forms are empty.
FILLED = 0.5
# Figures stacked in one cell, without numbered items beside them, are rows without a line between them.
MOST_STACKED = 3
SERIAL = re.compile(r"\(?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[a-zA-Z])(?:\.\d{1,2}){0,2}[.)]{0,2}")
SERIALS = 0.6
# Labels that say nothing without the head over them: "8 lac", "2024-25".
BARE_WORDS = 2

Words = list[Word]


def ruled_tables(grid: Grid) -> Iterator[Table]:
    """Yields the tables of one ruled area, with the caption and the unit that stand inside it.

    Paragraphs set inside its frame part them.
    """
    for prose, group in groupby(filter(_filled, grid.cells), _is_prose):
        if not prose:
            yield from _Sheet(grid, list(group)).tables()


def _is_prose(row: Sequence[Inside]) -> bool:
    counts = [len(inside.words) for inside in _filled(row)]
    return max(counts) > MOST_CELL_WORDS or (len(counts) == 1 and counts[0] > 2 * MOST_HEAD_WORDS)


def _filled(row: Sequence[Inside]) -> list[Inside]:
    """Returns the cells of a row that have something in them, each once."""
    return [*dict.fromkeys(inside for inside in row if inside.lines)]


class _Sheet:
    """Some rows of a grid that may form one table."""

    def __init__(self, grid: Grid, rows: Sequence[Sequence[Inside]]) -> None:
        self._grid = grid
        self._rows = rows
        self._title = self._take_title()
        self._heads = self._rows[: self._count_heads()]
        self._body = self._rows[len(self._heads) :]
        self._columns = self._kept_columns()
        self._serials = self._count_serials()
        self._label = self._serials + self._is_grouped(self._serials)
        self._values = self._columns[self._label + 1 :]

    def tables(self) -> Iterator[Table]:
        """Yields the table that the rows form, if they do."""
        if not self._values or not self._is_regular():
            return
        rows = self._made_rows()
        cells = filter(None, chain.from_iterable(row.cells for row in rows))
        if sum(_has_figure(cell.text) for cell in cells) < FEWEST_FIGURES:
            return
        places = range(self._label + 1, len(self._columns))
        heads = tuple(map(self._head, places))
        corner = self._head(self._label)
        shared = set(bracketed_units(heads[0])).intersection(*map(bracketed_units, heads))
        units = [*filter(is_unit, (self._title, corner)), *bracketed_units(corner), *sorted(shared)]
        yield Table(self._title, next(iter(units), ""), heads, tuple(rows), self._box())

    def _box(self) -> Rect:
        """Returns the box around the heads and the filled cells of the body."""
        xs, ys = self._grid.xs, self._grid.ys
        body = [inside for row in self._body for inside in _filled(row)]
        top = min(inside.rows[0] for inside in (*chain.from_iterable(self._heads), *body))
        bottom = max(inside.rows[1] for inside in body) + 1
        left = min(inside.columns[0] for inside in body)
        right = max(inside.columns[1] for inside in body) + 1
        return Rect(xs[left], ys[top], xs[right], ys[bottom])

    def _take_title(self) -> str:
        """Takes the title from the first rows: nothing else stands there, and heads stand below."""
        title = ""
        while len(self._rows) > 2 and len(top := _filled(self._rows[0])) == 1 < len(_filled(self._rows[1])):
            title = f"{title} {top[0].text}".strip()
            self._rows = self._rows[1:]
        return title

    def _count_heads(self) -> int:
        """Counts the rows at the top that are heads.

        They hold no values, and stand under each other only if one spans others.
        """
        count = 0
        above = list[Inside]()
        for row in self._rows[:MOST_HEAD_ROWS]:
            cells = _filled(row)
            # A unit in the corner, over the labels, may begin with a small letter: "tys. zł 2024 2023".
            first = cells[0].text
            goes_on = first[:1].islower() and not (is_unit(first) or is_period(cells[-1].text))
            if goes_on or any(is_value(inside.text) and not is_period(inside.text) for inside in cells):
                break
            spans = any(inside.columns[0] < inside.columns[1] or inside in cells for inside in above)
            if not (spans if count else len(cells) > 1):
                break
            above = cells
            count += 1
        return count

    def _kept_columns(self) -> list[int]:
        """Returns the columns in which rows have something.

        Of several columns between which no row has a line, only the first is kept.
        """
        kept = list[int]()
        for column in range(len(self._grid.xs) - 1):
            before = {row[last] for last in kept[-1:] for row in self._body}
            own = [row[column] for row in self._body if row[column].lines and row[column] not in before]
            if len(own) > 1 or any(inside.columns == (column, column) for inside in own):
                kept.append(column)
        return kept

    def _count_serials(self) -> int:
        """Counts the columns at the left that number the rows, which the next column names: one or none."""
        if len(self._columns) < 3:
            return 0
        texts, names = (self._texts(column) for column in self._columns[:2])
        serials = sum(SERIAL.fullmatch(text) is not None for text in texts)
        return int(not all(map(is_value, names)) and serials >= SERIALS * len(texts))

    def _texts(self, column: int) -> list[str]:
        return [row[column].text for row in self._body if row[column].lines]

    def _is_grouped(self, place: int) -> bool:
        """Whether the first column of texts names groups of rows that the next column names."""
        if len(self._columns) < place + 3:
            return False
        first, second = self._columns[place : place + 2]
        names = [row[second].text for row in self._body if row[first].rows[0] < row[first].rows[1]]
        return len(names) > 1 and not any(map(is_value, names))

    def _is_regular(self) -> bool:
        """Whether most cells have something in them, as those of a table have."""
        rows, columns = self._body, self._columns[self._label :]
        filled = [bool(row[column].lines) for row in rows if not self._is_section(row) for column in columns]
        return sum(filled) >= FILLED * len(filled)

    def _head(self, place: int) -> str:
        """Returns the heads over a column, the outermost first.

        What stands over a column without values belongs to the next.
        """
        column = self._columns[place]
        before = self._columns[place - 1] if place else -1
        found = list[Inside]()
        for row in self._heads:
            for inside in row[before + 1 : column + 1]:
                own = inside is row[column] or before < 0 or inside is not row[before]
                if own and inside.lines and inside not in found:
                    found.append(inside)
        return stacked(inside.text for inside in found)

    def _made_rows(self) -> list[Row]:
        """Returns the rows with values, under their sections.

        Returns none if rows stand in cells without a line between them.
        """
        made = list[Row]()
        section = ""
        for row in self._body:
            if self._is_section(row):
                text = " ".join(inside.text for inside in _filled(row))
                # A label at the top that goes on stands on the page before.
                if made or not text[0].islower():
                    section = text.rstrip(": ")
            elif any(row[column].lines for column in self._values):
                rows = self._rows_of(row, section)
                if not rows:
                    return []
                made += rows
        return self._under_head(made)

    def _rows_of(self, row: Sequence[Inside], section: str) -> list[Row]:
        """Returns the rows that one row of cells makes.

        There are several if items are numbered in it, and none if it cannot be told where each begins.
        """
        *first, label = (row[column] for column in self._columns[: self._label + 1])
        serial = [word for inside in first[: self._serials] for word in inside.words]
        groups = [inside.text for inside in first[self._serials :]]
        made = []
        for words, values, above in _split(label, [row[column] for column in self._values]):
            words = serial + words
            cells = [text_piece(value) if value else None for value in values]
            made.append(row_of(text_of(words), words, cells, stacked([section, *groups, above])))
        return made

    def _under_head(self, rows: list[Row]) -> list[Row]:
        """Puts rows whose labels say little alone under the head of the labels."""
        bare = sum(len(row.label.split()) <= BARE_WORDS and any(map(str.isdigit, row.label)) for row in rows)
        over = 2 * bare > len(rows) and not self._serials
        head = self._head(self._label) if over else ""
        return [replace(row, section=stacked((head, row.section))) for row in rows]

    def _is_section(self, row: Sequence[Inside]) -> bool:
        """Whether a row names those below: it holds only one text, and perhaps a number before it."""
        serials = [row[column] for column in self._columns[: self._serials]]
        texts = [inside for inside in _filled(row) if inside not in serials]
        if len(texts) != 1:
            return not texts
        text = texts[0]
        return text.columns[0] <= self._columns[self._label] and not is_value(text.text)


def _has_figure(text: str) -> bool:
    return is_value(text) or any(words_kind(word) == "v" and not is_period(word) for word in text.split())


def _split(label: Inside, cells: Sequence[Inside]) -> list[tuple[Words, list[Words], str]]:
    """Returns (label, values, section) of the rows in one row of cells.

    There is one, or as many as the items that the label numbers; none if it cannot be told where they begin.
    """
    whole = [(label.words, [inside.words for inside in cells], "")]
    filled = [inside.lines for inside in cells if inside.lines]
    count, *others = {*map(len, filled)}
    if others or count == 1 or not all(map(is_value, map(text_of, chain.from_iterable(filled)))):
        return whole
    begun = [number for number, line in enumerate(label.lines) if ITEM_LABEL.fullmatch(line[0].text)]
    if len(begun) != count:
        begun = list(range(count))
        if len(label.lines) != count or count > MOST_STACKED:
            return [] if count >= MOST_STACKED else whole
    ends = [*begun[1:], len(label.lines)]
    above = text_of(chain.from_iterable(label.lines[: begun[0]])).rstrip(": ")
    rows = []
    for number, (start, end) in enumerate(zip(begun, ends, strict=True)):
        values = [inside.lines[number] if inside.lines else [] for inside in cells]
        rows.append(([*chain.from_iterable(label.lines[start:end])], values, above))
    return rows
