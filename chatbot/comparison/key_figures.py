"""Puts the key figures of documents into one sheet: rows of measures, columns of documents and periods.

Each row is shown in one unit. Nothing is found here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.comparison.fiscal_years import fiscal_text
from chatbot.comparison.key_figure_names import key_measures
from chatbot.comparison.key_figure_ratios import with_ratios
from chatbot.comparison.key_figure_records import (
    OF_GDP,
    WHOLE_YEAR,
    DocumentFigures,
    FigurePeriod,
    KeyFigure,
)
from chatbot.comparison.quantities import MOST_DECIMALS, amount_text, common_scale, number_text
from ingestion.language.scales import SCALE_NAMES

__all__ = ["FigureColumn", "KeyFigureSheet", "SheetRow", "key_figure_sheet", "sheet_parts"]

# Significant digits that the smallest figure of a row keeps in the row's unit.
KEPT_DIGITS = 3
PERCENT_DECIMALS = 1


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column of the sheet. year_end: the month in which its document's fiscal year ends, 0 if unknown."""

    document: str
    version: int
    period: FigurePeriod
    year_end: int = 0

    @property
    def shown(self) -> str:
        """The period as a column is headed: "FY 2018 (to May)"."""
        if self.period.months != WHOLE_YEAR:
            return self.period.text
        return fiscal_text(self.period.text, self.year_end)


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of the sheet.

    shown: its name. scale: all its cells are shown in it. unit: of all its cells, a currency's sign or "%",
    "" for none; figures of one measure in two currencies are two rows. decimals: digits shown after the
    point at most. is_worked_out: no page states it.
    """

    measure: str
    shown: str
    scale: float = 1.0
    unit: str = ""
    decimals: int = 0
    is_worked_out: bool = False

    @property
    def unit_text(self) -> str:
        """The unit of the whole row, such as "$ million" or "million crowns"; "" for per cent."""
        return "" if self.unit == "%" else amount_text("", self.unit, SCALE_NAMES.get(self.scale, ""))

    def value_of(self, figure: KeyFigure) -> float:
        """A figure in the row's unit."""
        return figure.magnitude / self.scale

    def text_of(self, figure: KeyFigure) -> str:
        """A figure in the row's unit, as it is shown."""
        decimals = min(self.decimals, _exact_decimals(figure, self.scale))
        shown = number_text(self.value_of(figure), decimals)
        return f"{shown}%" if self.unit == "%" else shown


@dataclass(frozen=True, slots=True)
class KeyFigureSheet:
    """The sheet.

    cells: by the name of the measure and the column; one that is missing is not in its document.
    main: of each document the column of its own period, else the newest of those with most figures.
    lacking: names of rows that apply to the documents and that none of them states.
    remarks: by document, what a reader should know of it.
    """

    rows: tuple[SheetRow, ...] = ()
    columns: tuple[FigureColumn, ...] = ()
    cells: Mapping[tuple[str, FigureColumn], KeyFigure] = field(default_factory=dict)
    main: tuple[FigureColumn, ...] = ()
    lacking: tuple[str, ...] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)

    def cell(self, row: SheetRow, column: FigureColumn) -> KeyFigure | None:
        """The figure of a row in a column, None where the document does not state it in the row's unit."""
        found = self.cells.get((row.measure, column))
        return found if found and (found.unit or "") == row.unit else None

    def is_elsewhere(self, row: SheetRow, column: FigureColumn) -> bool:
        """Whether the document states it in another unit, so that another row has it."""
        return (row.measure, column) in self.cells and self.cell(row, column) is None


def key_figure_sheet(documents: Sequence[DocumentFigures]) -> KeyFigureSheet:
    """The sheet of what was found, documents in their order, each with its newest period first."""
    cells: dict[tuple[str, FigureColumn], KeyFigure] = {}
    columns: list[FigureColumn] = []
    main: list[FigureColumn] = []
    for found in documents:
        periods = {figure.period for figure in found.figures}
        newest_first = sorted(periods, key=lambda period: period.order, reverse=True)
        of_period = {
            period: FigureColumn(found.document, found.version, period, found.year_end)
            for period in newest_first
        }
        own = list(of_period.values())
        columns += own
        main += _main_column(own, found)
        for figure in with_ratios(found.figures):
            cells[figure.measure, of_period[figure.period]] = figure
    names = _names_in_order(frozenset[str]().union(*(found.families for found in documents)))
    there = {measure for measure, _ in cells}
    rows = [row for measure, shown in names.items() for row in _rows(measure, shown, cells)]
    lacking = [shown for measure, shown in names.items() if _is_lacking(measure, there)]
    remarks = {found.document: found.remark for found in documents if found.remark}
    return KeyFigureSheet(tuple(rows), tuple(columns), cells, tuple(main), tuple(lacking), remarks)


def sheet_parts(sheet: KeyFigureSheet) -> list[KeyFigureSheet]:
    """Returns the sheet in parts of documents that share rows, the largest part first.

    Accounts and budgets share none, and one table of both would be gaps for the most part.
    """
    measures: dict[str, set[str]] = {column.document: set() for column in sheet.columns}
    for measure, column in sheet.cells:
        measures[column.document].add(measure)
    groups: list[tuple[set[str], set[str]]] = []  # documents with their measures
    for document, own in measures.items():
        joined = ({document}, set(own))
        for group in [group for group in groups if not group[1].isdisjoint(own)]:
            groups.remove(group)
            joined = (joined[0] | group[0], joined[1] | group[1])
        groups.append(joined)
    groups.sort(key=lambda group: -len(group[0]))
    return [_part(sheet, *group) for group in groups]


def _part(sheet: KeyFigureSheet, documents: set[str], measures: set[str]) -> KeyFigureSheet:
    return replace(
        sheet,
        rows=tuple(row for row in sheet.rows if row.measure in measures),
        columns=tuple(column for column in sheet.columns if column.document in documents),
        main=tuple(column for column in sheet.main if column.document in documents),
    )


def _main_column(columns: Sequence[FigureColumn], found: DocumentFigures) -> list[FigureColumn]:
    """The column that stands for a document where each has one; none where it has no columns."""
    counts = Counter(figure.period for figure in found.figures)
    most = max(counts.values(), default=0)
    fullest = [column for column in columns if counts[column.period] == most]
    own = [column for column in fullest if column.period.text == found.own]
    return (own or fullest)[:1]


def _names_in_order(families: frozenset[str]) -> dict[str, str]:
    """Measure -> shown name of all rows that may come, those of shares of the economy behind their own."""
    names = {}
    for measure in key_measures():
        if measure.family in families:
            names[measure.name] = measure.shown
            names[measure.name + OF_GDP] = measure.shown + OF_GDP
    return names


def _is_lacking(measure: str, there: set[str]) -> bool:
    """Whether a measure is stated nowhere, neither as an amount nor as a share."""
    return not measure.endswith(OF_GDP) and there.isdisjoint({measure, measure + OF_GDP})


def _rows(
    measure: str, shown: str, cells: Mapping[tuple[str, FigureColumn], KeyFigure]
) -> Iterator[SheetRow]:
    """The rows of a measure: one for each unit of its figures, the most frequent first."""
    figures = [figure for (name, _), figure in cells.items() if name == measure]
    for unit, _ in Counter(figure.unit or "" for figure in figures).most_common():
        own = [figure for figure in figures if (figure.unit or "") == unit]
        is_worked_out = all(figure.formula for figure in own)
        if unit == "%":
            decimals = max(PERCENT_DECIMALS, *(min(figure.decimals, 2) for figure in own))
            yield SheetRow(measure, shown, 1.0, unit, decimals, is_worked_out)
            continue
        scale = common_scale((figure.value, figure.scale) for figure in own)
        yield SheetRow(measure, shown, scale, unit, _row_decimals(own, scale), is_worked_out)


def _row_decimals(figures: Sequence[KeyFigure], scale: float) -> int:
    """As many digits after the point as keep the smallest figure's first digits, and no more than printed."""
    exact = 0
    needed = 0
    for figure in figures:
        exact = max(exact, _exact_decimals(figure, scale))
        value = abs(figure.magnitude / scale)
        if value:
            needed = max(needed, KEPT_DIGITS - len(str(int(value))) + (value < 1))
    if scale == 1:
        return min(MOST_DECIMALS, exact)
    return min(MOST_DECIMALS, exact, max(needed, min(exact, 1)))


def _exact_decimals(figure: KeyFigure, scale: float) -> int:
    """The digits behind the point that a figure has in a scale no smaller than its own."""
    shift = 0
    while figure.scale * 10**shift < scale:
        shift += 1
    return figure.decimals + shift
