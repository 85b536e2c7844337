"""Finds the table cell of a figure, and the words, periods and scale that its heads give it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from chatbot.evidence.figure_names import periods_in
from chatbot.evidence.scales_of_cells import mark_beside, mark_of_table
from chatbot.evidence.weak_cache import WeakCache
from ingestion.language.numbers import NumberStyle, ScaleMark, cell_figure, stated_mark, table_styles
from ingestion.language.periods import Period
from ingestion.records import Row, Span, Table

__all__ = ["CellPlace", "TableView", "TablesOfPage", "cells_at", "read_tables"]

LONGEST_SHOWN = 60
# Cells that start before a figure and may enclose it: those of a large table whose cells have several lines.
CELLS_BACK = 400
# So many cells of a workbook are named each for itself.
MOST_NAMED = 4
_PER_PIECE = re.compile(
    r"\bper (?:\w+ ){0,2}(?:share|unit|head|capita)\b", re.IGNORECASE
)  # "in millions, except per share amounts"
_WITH_AMOUNT = re.compile(r"\([^()]*[0-9][^()]*\)")  # "dividends ($5.66 per share)" are no amounts per share
_PIECES = re.compile(
    r"\bshares\b", re.IGNORECASE
)  # "shares used to compute net income per share" are counted in millions


@dataclass(frozen=True, slots=True)
class CellPlace:
    """The position of a cell: of its table, row and column."""

    table: int
    row: int
    column: int


@dataclass(
    frozen=True, slots=True, eq=False
)  # compared by identity, so that what is found out about one can be kept
class TableView:
    """A table with its periods.

    other_periods: those of the caption.
    styles: of the figures of each column.
    once: keeps what was worked out about the table.
    """

    table: Table
    row_periods: tuple[tuple[Period, ...], ...]
    column_periods: tuple[tuple[Period, ...], ...]
    other_periods: tuple[Period, ...]
    styles: tuple[NumberStyle, ...]
    once: WeakCache = field(default_factory=WeakCache)

    def is_negative(self, row: int, column: int) -> bool:
        """Whether a cell's figure is below zero."""
        cells = self.table.rows[row].cells
        cell = cells[column] if column < len(cells) else None
        figure = cell_figure(cell.text, self.styles[column]) if cell else None
        return figure is not None and figure.value < 0

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
    """

    views: tuple[TableView, ...]
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    places: tuple[CellPlace, ...]

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


def cells_at(tables: Sequence[Table], spans: Sequence[Span], label: str | None) -> str | None:
    """The sheet and the cells of a workbook that stretches of a page's text meet, such as "Revenue!B7".

    They are the first and the last where there are many, and the label where these are no cells of a sheet.
    label: of the page, such as "Revenue!A1:H40".
    """
    cells = (cell for table in tables for row in table.rows for cell in row.cells if cell and cell.name)
    names = list[str]()
    for cell in cells:
        if any(start < cell.end and cell.start < end for start, end in spans):
            names.append(cell.name)
    if not names:
        return label
    listed = ", ".join(names) if len(names) <= MOST_NAMED else f"{names[0]}:{names[-1]}"
    return f"{(label or '').rpartition('!')[0]}!{listed}"


def _is_no_percentage(row: Row, column: int) -> bool:
    """Whether other cells of a row print their "%" and this one does not."""
    cell = row.cells[column] if column < len(row.cells) else None
    return (
        cell is not None
        and "%" not in cell.text
        and any(other is not None and "%" in other.text for other in row.cells)
    )


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
    views = tuple(_view(table, table_styles(table, page_text)) for table in tables)
    return TablesOfPage(views, starts, spans, places)


def _view(table: Table, styles: Sequence[NumberStyle]) -> TableView:
    row_periods = tuple(periods_in(row.label) or periods_in(row.section) for row in table.rows)
    column_periods = tuple(map(periods_in, table.heads))
    return TableView(table, row_periods, column_periods, periods_in(table.caption), tuple(styles))


def _short(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN - 1]}…"
