"""Turns ruled grids into tables: finds which rows are heads or sections, and which columns are labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from ingestion.language.list_items import ITEM_LABEL
from ingestion.records import Cell, Rect, Row, Word
from ingestion.tables.captions import is_unit
from ingestion.tables.grids import Grid, Inside
from ingestion.tables.word_kinds import is_period, is_value, printed, span_of, words_kind

__all__ = ["Ruled", "ruled_tables"]

# A cell with more words is a framed paragraph and no cell of a table. A head has fewer.
MOST_CELL_WORDS = 60
MOST_HEAD_WORDS = 14
MOST_HEAD_ROWS = 4
# A head that ends in a full stop is an abbreviation, such as "S. No.", and has at most this many words.
MOST_SHORT = 4
# The greatest share of figures in a head, not counting small whole ones ("Tier 1").
MOST_FIGURES = 0.25
# The fewest rows with values in a ruled table, the same if it has heads, and the fewest cells with a figure
# or a sign for none.
FEWEST_ROWS, FEWEST_ROWS_OF_HEADS = 2, 1
FEWEST_FIGURES = 2
# The least share of filled cells: frames of charts and forms are empty.
FILLED = 0.5
# The greatest share of cells that span a line other cells have: those of forms do.
SHARED = 0.3
# Figures stacked in one cell, without numbered items beside them, are rows without a line between them.
MOST_STACKED = 3
SERIAL = re.compile(r"\(?(?:\d{1,3}|[ivxlcIVXLC]{1,6}|[a-zA-Z])(?:\.\d{1,2}){0,2}[.)]{0,2}")
SERIALS = 0.6
SEPARATOR = " > "
# Labels that say nothing without the head over them: "8 lac", "2024-25".
BARE_WORDS = 2

Lines = list[list[Word]]


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table as its lines show it.

    title: what stands above the heads inside the table.
    corner: the head over the labels.
    heads: one for each value column.
    rows: its rows, in order.
    box: around all of it.
    """

    title: str
    corner: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    box: Rect


def ruled_tables(grid: Grid) -> Iterator[Ruled]:
    """Yields the tables of one ruled area. Paragraphs set inside its frame part them."""
    numbers = [number for number, row in enumerate(grid.cells) if _filled(row)]
    for prose, group in groupby(numbers, lambda number: _is_prose(grid.cells[number])):
        if not prose:
            yield from _Sheet(grid, list(group)).tables()


def _is_prose(row: Sequence[Inside]) -> bool:
    if any(_count_words(inside) > MOST_CELL_WORDS for inside in row):
        return True
    filled = _filled(row)
    return len(filled) == 1 and _count_words(filled[0]) > 2 * MOST_HEAD_WORDS


def _count_words(inside: Inside) -> int:
    return sum(map(len, inside.lines))


def _filled(row: Sequence[Inside]) -> list[Inside]:
    """Returns the cells of a row that have something in them, each once."""
    filled: list[Inside] = []
    for inside in row:
        if inside.lines and not _is_among(inside, filled):
            filled.append(inside)
    return filled


def _is_among(inside: Inside, cells: Sequence[Inside]) -> bool:
    """Whether a cell is one of these very cells; equal ones do not count."""
    return any(inside is other for other in cells)


def _words(lines: Lines) -> list[Word]:
    return list(chain.from_iterable(lines))


def _text(lines: Sequence[Sequence[Word]]) -> str:
    return " ".join(map(printed, chain.from_iterable(lines)))


def _has_value(inside: Inside) -> bool:
    return is_value(_text(inside.lines))


def _joined(parts: Iterable[str]) -> str:
    """Joins what is not empty of the heads or sections over each other, outermost first."""
    return SEPARATOR.join(filter(None, parts))


class _Sheet:
    """Some rows of a grid that may form one table."""

    def __init__(self, grid: Grid, numbers: Sequence[int]) -> None:
        self._grid = grid
        self._rows = [(number, grid.cells[number]) for number in numbers]
        self._title = self._take_title()
        self._heads = self._rows[: self._count_heads()]
        self._body = self._rows[len(self._heads) :]
        if self._body and _is_numbering(self._body[0][1]):
            self._body = self._body[1:]
        self._columns = self._kept_columns()
        self._serials = self._count_serials()
        self._label = self._serials + self._is_grouped(self._serials)
        self._values = self._columns[self._label + 1 :]

    def tables(self) -> Iterator[Ruled]:
        """Yields the table that the rows form, if they do."""
        if not self._values or not self._is_regular():
            return
        rows = self._made_rows()
        fewest = FEWEST_ROWS_OF_HEADS if self._heads else FEWEST_ROWS
        if sum(any(row.cells) for row in rows) < fewest:
            return
        figures = sum(map(_count_figures, rows))
        if figures < FEWEST_FIGURES:
            return
        places = range(self._label + 1, len(self._columns))
        heads = tuple(map(self._head, places))
        corner = self._head(self._label)
        yield Ruled(self._title, corner, heads, tuple(rows), self._box())

    def _box(self) -> Rect:
        """Returns the box around the heads and the filled cells of the body."""
        first = (self._heads or self._body)[0][0]
        last = self._body[-1][0]
        columns: list[int] = []
        for _, row in self._body:
            for inside in _filled(row):
                columns += inside.columns
        xs = self._grid.xs
        ys = self._grid.ys
        return Rect(xs[min(columns)], ys[first], xs[max(columns) + 1], ys[last + 1])

    def _take_title(self) -> str:
        """Takes the title from the first rows: nothing else stands there, and heads stand below."""
        title = ""
        while len(self._rows) > 2:
            top = _filled(self._rows[0][1])
            below = _filled(self._rows[1][1])
            if len(top) != 1 or len(below) < 2:
                break
            title = f"{title} {_text(top[0].lines)}".strip()
            self._rows = self._rows[1:]
        return title

    def _count_heads(self) -> int:
        """Counts the rows at the top that are heads.

        They hold no values, and stand under each other only if one spans others.
        """
        count = 0
        above: list[Inside] = []
        for number, row in self._rows[:MOST_HEAD_ROWS]:
            cells = _filled(row)
            if not all(map(_may_be_head, cells)):
                break
            if _text(cells[0].lines)[:1].islower():
                break
            if count:
                spanning = any(_spans(inside, number) for inside in above)
                if not spanning and not all(is_unit(_text(inside.lines)) for inside in cells):
                    break
            elif len(cells) < 2:
                break
            above = cells
            count += 1
        return count

    def _kept_columns(self) -> list[int]:
        """Returns the columns in which rows have something.

        Of several columns between which no row has a line, only the first is kept.
        """
        kept: list[int] = []
        filled = [row for _, row in self._body if len(_filled(row)) > 1]
        for column in range(len(self._grid.xs) - 1):
            before = kept[-1] if kept else None
            own = [row[column] for row in filled if _is_own_cell(row, column, before)]
            if len(own) > 1 or any(inside.columns == (column, column) for inside in own):
                kept.append(column)
        return kept

    def _count_serials(self) -> int:
        """Counts the columns at the left that number the rows: one or none."""
        if len(self._columns) < 3:
            return 0
        first = self._columns[0]
        texts = [_text(row[first].lines) for _, row in self._body if row[first].lines]
        serials = sum(bool(SERIAL.fullmatch(text)) for text in texts)
        return int(serials >= SERIALS * len(texts))

    def _is_grouped(self, place: int) -> bool:
        """Whether the first column of texts names groups of rows that the next column names."""
        if len(self._columns) < place + 3:
            return False
        first = self._columns[place]
        second = self._columns[place + 1]
        shared = [row for _, row in self._body if _is_group_row(row[first], row[second])]
        names = [row[second] for row in shared]
        if len(names) < 2 or len(set(map(id, names))) < len(names):
            return False
        return all(inside.lines and not _has_value(inside) for inside in names)

    def _is_regular(self) -> bool:
        """Whether the cells are those of a table.

        Most have something in them, most of these are one row high and one column wide, and no labels are
        stacked figures.
        """
        rows = [row for _, row in self._body if not self._is_section(row)]
        columns = self._columns[self._label :]
        cells = wide = 0
        seen: set[tuple[int, int]] = set()
        for row in rows:
            for place, column in enumerate(columns):
                inside = row[column]
                if not inside.lines:
                    continue
                cells += 1
                seen.add((id(inside), place))
                wide += place > 0 and inside is row[columns[place - 1]]
        if cells < FILLED * len(rows) * len(columns):
            return False
        high = cells - len(seen)
        if wide + high > SHARED * cells:
            return False
        return not any(_is_stack(row[columns[0]]) for row in rows)

    def _head(self, place: int) -> str:
        """Returns the heads over a column, the outermost first.

        What stands over a column without values belongs to the next.
        """
        column = self._columns[place]
        before = self._columns[place - 1] if place else -1
        found: list[Inside] = []
        for _, row in self._heads:
            for inside in row[before + 1 : column + 1]:
                own = inside is row[column] or before < 0 or inside is not row[before]
                if own and inside.lines and not _is_among(inside, found):
                    found.append(inside)
        return SEPARATOR.join(_text(inside.lines) for inside in found)

    def _made_rows(self) -> list[Row]:
        """Returns the rows with values, under their sections.

        Returns none if rows stand in cells without a line between them.
        """
        made: list[Row] = []
        sections: list[_Section] = []
        for _, row in self._body:
            if self._is_section(row):
                sections = _with_section(sections, row, begun=bool(made))
            elif any(row[column].lines for column in self._values):
                rows = self._rows_of(row, [text for _, text in sections])
                if not rows:
                    return []
                made += rows
        return self._under_head(made)

    def _rows_of(self, row: Sequence[Inside], sections: Sequence[str]) -> list[Row]:
        """Returns the rows that one row of cells makes.

        There are several if items are numbered in it, and none if it cannot be told where each begins.
        """
        named = self._columns[self._serials : self._label + 1]
        *groups, label = (row[column] for column in named)
        serial: list[Word] = []
        for column in self._columns[: self._serials]:
            serial += _words(row[column].lines)
        outer = [*sections]
        outer += [_text(inside.lines) for inside in groups if inside is not label]
        made = []
        for lines, values, above in _split(label, [row[column] for column in self._values]):
            words = _words(lines)
            if not above:
                words = serial + words
            made.append(_row(words, values, _joined([*outer, above])))
        return made

    def _under_head(self, rows: list[Row]) -> list[Row]:
        """Puts rows whose labels say little alone under the head of the labels."""
        bare = sum(_is_bare(row.label) for row in rows)
        if 2 * bare > len(rows) and not self._serials:
            head = self._head(self._label)
        else:
            head = ""
        return [replace(row, section=_joined((head, row.section))) for row in rows]

    def _is_section(self, row: Sequence[Inside]) -> bool:
        """Whether a row names those below: it holds only one text, and perhaps a number before it."""
        serials = [row[column] for column in self._columns[: self._serials]]
        texts = [inside for inside in _filled(row) if not _is_among(inside, serials)]
        if len(texts) > 1:
            return False
        if not texts:
            return True
        first = texts[0].columns[0]
        return first <= self._columns[self._label] and not _has_value(texts[0])


# A section: whether it spans columns, and its text.
_Section = tuple[bool, str]


def _with_section(sections: list[_Section], row: Sequence[Inside], *, begun: bool) -> list[_Section]:
    """Returns the sections that hold below a row that names one. begun: rows stand above it."""
    filled = _filled(row)
    first, last = filled[-1].columns
    spans = first < last
    text = " ".join(_text(inside.lines) for inside in filled)
    if not any(map(str.isalpha, text)):
        return sections
    if not begun and text[0].islower():
        return sections  # a label at the top that goes on stands on the page before
    outer = [section for section in sections if section[0] and not spans]
    return [*outer, (spans, text.rstrip(": "))]


def _count_figures(row: Row) -> int:
    return sum(_has_figure(cell.text) for cell in row.cells if cell)


def _spans(inside: Inside, number: int) -> bool:
    """Whether a cell in the row above spans columns, or goes on in row `number`."""
    if inside.columns[0] < inside.columns[1]:
        return True
    return inside.rows[0] < number <= inside.rows[1]


def _is_own_cell(row: Sequence[Inside], column: int, before: int | None) -> bool:
    """Whether a row has something in a column that does not stand in the column before too."""
    if not row[column].lines:
        return False
    return before is None or row[column] is not row[before]


def _is_group_row(first: Inside, second: Inside) -> bool:
    """Whether the first of two cells goes on over several rows and has something of its own."""
    if not first.lines or first is second:
        return False
    return first.rows[0] < first.rows[1]


def _is_stack(label: Inside) -> bool:
    """Whether a label is figures that stand under each other."""
    return len(label.lines) >= MOST_STACKED and _is_all_values(label)


def _may_be_head(inside: Inside) -> bool:
    text = _text(inside.lines)
    words = text.split()
    if len(words) > MOST_HEAD_WORDS:
        return False
    if len(words) > MOST_SHORT and text.endswith((".", ";")):
        return False
    if is_value(text) and not is_period(text):
        return False
    figures = sum(map(_is_large_figure, words))
    return figures <= MOST_FIGURES * len(words)


def _is_large_figure(word: str) -> bool:
    """Whether a word is a figure, but no period and no whole number of one or two digits."""
    if words_kind(word) != "v" or is_period(word):
        return False
    return not word.isdecimal() or len(word) > 2


def _is_numbering(row: Sequence[Inside]) -> bool:
    """Whether a row numbers the columns: 1, 2, 3 or (1), (2), (3)."""
    texts = [_text(inside.lines).strip("().") for inside in _filled(row)]
    if len(texts) < 3 or not all(map(str.isdecimal, texts)):
        return False
    numbers = list(map(int, texts))
    return numbers == list(range(1, len(texts) + 1))


def _has_figure(text: str) -> bool:
    if is_value(text):
        return True
    return any(words_kind(word) == "v" and not is_period(word) for word in text.split())


def _is_bare(label: str) -> bool:
    return len(label.split()) <= BARE_WORDS and any(map(str.isdigit, label))


def _split(label: Inside, cells: Sequence[Inside]) -> list[tuple[Lines, list[Lines], str]]:
    """Returns (label, values, section) of the rows in one row of cells.

    There is one, or as many as the items that the label numbers; none if it cannot be told where they begin.
    """
    whole = [(label.lines, [inside.lines for inside in cells], "")]
    filled = [inside for inside in cells if inside.lines]
    counts = {len(inside.lines) for inside in filled}
    if len(counts) != 1 or not all(map(_is_all_values, filled)):
        return whole
    count = counts.pop()
    if count == 1:
        return whole
    begun = [number for number, line in enumerate(label.lines) if ITEM_LABEL.fullmatch(line[0].text)]
    if len(begun) != count:
        begun = list(range(count))
        if len(label.lines) != count or count > MOST_STACKED:
            return [] if count >= MOST_STACKED else whole
    ends = [*begun[1:], len(label.lines)]
    above = _text(label.lines[: begun[0]]).rstrip(": ")
    rows = []
    for number, (start, end) in enumerate(zip(begun, ends, strict=True)):
        values = [inside.lines[number : number + 1] for inside in cells]
        rows.append((label.lines[start:end], values, above))
    return rows


def _is_all_values(inside: Inside) -> bool:
    return all(is_value(_text([line])) for line in inside.lines)


def _row(label: Sequence[Word], values: Sequence[Lines], section: str) -> Row:
    cells = tuple(_cell(lines) if lines else None for lines in values)
    words = [*label]
    for lines in values:
        words += _words(lines)
    return Row(_text([label]), cells, section, *span_of(words))


def _cell(lines: Lines) -> Cell:
    return Cell(_text(lines), *span_of(_words(lines)))
