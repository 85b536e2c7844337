"""Finds the table cell of a figure, and the words, periods and scale that its heads give it."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from chatbot.evidence.figure_names import label_words, periods_in
from chatbot.evidence.weak_cache import WeakCache
from chatbot.evidence.word_runs import comparable_words
from ingestion.language.language_detection import is_foreign
from ingestion.language.numbers import (
    NumberStyle,
    ScaleMark,
    cell_figure,
    mark_beside,
    mark_of_table,
    stated_mark,
    table_styles,
)
from ingestion.language.periods import Period
from ingestion.records import Row, Table

__all__ = ["CellPlace", "Named", "TableView", "TablesOfPage", "Words", "read_tables"]

LONGEST_SHOWN = 60
# Cells that start before a figure and may enclose it: those of a large table whose cells have several lines.
CELLS_BACK = 400
_BRACKETED = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]")
_PER_PIECE = re.compile(
    r"\bper (?:\w+ ){0,2}(?:share|unit|head|capita)\b", re.IGNORECASE
)  # "in millions, except per share amounts"
_WITH_AMOUNT = re.compile(r"\([^()]*[0-9][^()]*\)")  # "dividends ($5.66 per share)" are no amounts per share
_PIECES = re.compile(
    r"\bshares\b", re.IGNORECASE
)  # "shares used to compute net income per share" are counted in millions
_DIGIT = re.compile("[0-9]")
Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class CellPlace:
    """The position of a cell: of its table, row and column."""

    table: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Named:
    """A row or column as an answer may name it.

    words: those that must all be there to name it in full.
    beside: words of section or brackets, which need not be there.
    """

    words: Words
    beside: Words


@dataclass(
    frozen=True, slots=True, eq=False
)  # compared by identity, so that what is found out about one can be kept
class TableView:
    """A table's rows and columns by the words that tell them apart.

    heads: all words of each column's heads.
    weights: of words; the rarer a word, the higher.
    around: words of caption and unit.
    other_periods: those of the caption.
    all_digits: each row's cells as `digits` gives them.
    foreign: whether the page is in another language, so that an English answer cannot name its rows.
    once: keeps what was worked out about the table.
    """

    table: Table
    rows: tuple[Named, ...]
    columns: tuple[Named, ...]
    heads: tuple[Words, ...]
    weights: dict[str, float]
    around: Words
    row_periods: tuple[tuple[Period, ...], ...]
    column_periods: tuple[tuple[Period, ...], ...]
    other_periods: tuple[Period, ...]
    all_digits: tuple[tuple[str, ...], ...]
    foreign: bool
    once: WeakCache = field(default_factory=WeakCache)

    def text(self, row: int, column: int) -> str:
        """The cell as printed, "none" if there is none."""
        cells = self.table.rows[row].cells
        cell = cells[column] if column < len(cells) else None
        return cell.text if cell else "none"

    def digits(self, row: int, column: int) -> str:
        """The cell's digits with their sign, "" if there are none."""
        found = self.all_digits[row]
        if column < len(found):
            return found[column]
        return ""

    def filled(self, row: int) -> list[int]:
        """The columns in which the row has figures."""
        return [column for column in range(len(self.columns)) if self.digits(row, column)]

    def periods(self, row: int, column: int) -> tuple[Period, ...]:
        """Those of the column's head and the row's label, or else the only one of the caption."""
        own = self.column_periods[column] + self.row_periods[row]
        if own or len(self.other_periods) != 1:
            return own
        return self.other_periods

    def row_shown(self, row: int) -> str:
        """The row's name in a sentence, "" without a label."""
        label = _short(self.table.rows[row].label)
        return f"row “{label}”" if label else ""

    def column_shown(self, column: int) -> str:
        """The column's name in a sentence, "" without a head."""
        head = _short(self.table.heads[column])
        return f"column “{head}”" if head else ""


@dataclass(frozen=True, slots=True)
class TablesOfPage:
    """A page's tables, and their cells by where they are.

    views: the tables.
    starts: of the cells, ascending.
    spans, places: of each cell.
    names: numbers in heads, labels and captions, each with the word before it: ("level", "3").
    """

    views: tuple[TableView, ...]
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    places: tuple[CellPlace, ...]
    names: frozenset[tuple[str, str]]

    def place_of(self, start: int, end: int) -> CellPlace | None:
        """The cell with the figure at these offsets.

        It is the narrowest, because cells of several lines enclose others.
        """
        spans = self.spans
        last = bisect_right(self.starts, end)
        candidates = range(max(0, last - CELLS_BACK), last)
        around = [index for index in candidates if spans[index][0] < end and start < spans[index][1]]
        # "- (1.2)" may be two cells, of which the last has the digits.
        whole = [index for index in around if spans[index][1] >= end]
        found = whole or around
        if found:
            return self.places[min(found, key=lambda index: spans[index][1] - spans[index][0])]
        return None

    def are_several(self, start: int, end: int) -> bool:
        """Whether these offsets enclose cells of one row side by side.

        "145 150" is two amounts then, and not 145,150.
        """
        first = bisect_left(self.starts, start)
        last = bisect_right(self.starts, end)
        inside = {self.places[index] for index in range(first, last) if self.spans[index][1] <= end}
        return len({(place.row, place.column) for place in inside}) > 1

    def marks_of(self, place: CellPlace) -> tuple[ScaleMark | None, ScaleMark | None]:
        """The scale or the percent kind that head, row, section, unit or caption give the cell.

        If they give both, only the nearer one counts.
        """
        view = self.views[place.table]
        row = view.table.rows[place.row]

        def read(text: str) -> ScaleMark | None:
            return view.once(stated_mark, text)

        mark = mark_beside(view.table.heads[place.column], row, read)
        # "Percent change" above all columns may be meant for some of them only.
        if mark is not None and mark.scale == 1 and _is_no_percentage(row, place.column):
            mark = None
        mark = mark or mark_of_table(view.table, row, read)
        if mark and mark.scale > 1:
            return (mark, None)
        return (None, mark)

    def per_piece(self, place: CellPlace) -> bool:
        """Whether the row has amounts per share or the like, to which "in millions" does not apply."""
        row = self.views[place.table].table.rows[place.row]
        named = f"{row.section} {_WITH_AMOUNT.sub(' ', row.label)}"
        return _PER_PIECE.search(named) is not None and not _PIECES.search(named)

    def shown(self, place: CellPlace) -> str:
        """Row and column as a person would name them."""
        view = self.views[place.table]
        names = [view.row_shown(place.row), view.column_shown(place.column)]
        return ", ".join(filter(None, names)) or "a table without heads"

    def period_of(self, place: CellPlace) -> str | None:
        """The one period that column or row give the cell, as printed; None if they give none or several."""
        found = self.views[place.table].periods(place.row, place.column)
        if len(found) == 1:
            return found[0].text
        return None


def _is_no_percentage(row: Row, column: int) -> bool:
    """Whether other cells of a row print their "%" and this one does not."""
    cell = row.cells[column] if column < len(row.cells) else None
    if cell is None or "%" in cell.text:
        return False
    return any(other is not None and "%" in other.text for other in row.cells)


def read_tables(tables: Sequence[Table], page_text: str) -> TablesOfPage:
    """The tables of a page, prepared for finding cells."""
    cells: list[tuple[int, int, CellPlace]] = []
    for number, table in enumerate(tables):
        for row, line in enumerate(table.rows):
            for column, cell in enumerate(line.cells[: len(table.heads)]):
                if cell is not None and cell.start >= 0:
                    cells.append((cell.start, cell.end, CellPlace(number, row, column)))
    cells.sort(key=lambda cell: cell[:2])
    spans = tuple((start, end) for start, end, _ in cells)
    starts = tuple(start for start, _ in spans)
    places = tuple(place for *_, place in cells)
    foreign = bool(tables) and is_foreign(page_text)
    views = tuple(_view(table, table_styles(table, page_text), foreign=foreign) for table in tables)
    return TablesOfPage(views, starts, spans, places, _names(tables))


def _names(tables: Sequence[Table]) -> frozenset[tuple[str, str]]:
    """The numbers in heads, captions and labels, each with the word before it."""
    texts: list[str] = []
    for table in tables:
        texts += [" ".join(table.heads), table.caption]
        texts += [row.label for row in table.rows]
    found = set()
    for text in texts:
        for word, following in pairwise(comparable_words(text).texts):
            if following.isdigit():
                found.add((word, following))
    return frozenset(found)


def _view(table: Table, styles: Sequence[NumberStyle], *, foreign: bool) -> TableView:
    rows = [_named(row.label, row.section) for row in table.rows]
    heads = [_named_head(head) for head in table.heads]
    full = tuple(head.words | head.beside for head in heads)
    shared: Words = frozenset.intersection(*full) if len(full) > 1 else frozenset()
    columns = tuple(Named(head.words - shared, head.beside - shared) for head in heads)
    named = (*rows, *columns)
    counts = Counter(word for name in named for word in name.words | name.beside)
    weights = {word: math.log(1 + len(named) / count) for word, count in counts.items()}
    row_periods = tuple(periods_in(row.label) or periods_in(row.section) for row in table.rows)
    return TableView(
        table,
        tuple(rows),
        columns,
        full,
        weights,
        label_words(f"{table.caption} {table.unit}"),
        row_periods,
        tuple(map(periods_in, table.heads)),
        periods_in(table.caption),
        tuple(_row_digits(row, styles) for row in table.rows),
        foreign,
    )


def _row_digits(row: Row, styles: Sequence[NumberStyle]) -> tuple[str, ...]:
    cells = zip(row.cells, styles, strict=False)
    return tuple(_digits(cell.text, style) if cell else "" for cell, style in cells)


def _digits(text: str, style: NumberStyle) -> str:
    figure = cell_figure(text, style)
    sign = "-" if figure and figure.value < 0 else ""
    return sign + "".join(_DIGIT.findall(text))


def _named(text: str, section: str) -> Named:
    words = label_words(_BRACKETED.sub(" ", text)) or label_words(text)
    return Named(words, label_words(f"{text} {section}") - words)


def _named_head(head: str) -> Named:
    """The name of a column: the innermost of its heads that has words.

    That is "General grant" of "Domestic > General grant".
    """
    parts = head.split(" > ")
    inner = 0
    for at in range(len(parts) - 1, -1, -1):
        if label_words(parts[at]):
            inner = at
            break
    return _named(parts[inner], " ".join(parts[:inner]))


def _short(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN - 1]}…"
