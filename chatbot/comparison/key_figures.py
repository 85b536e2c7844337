"""Puts the key figures of documents into one sheet: rows of measures, columns of documents and periods.

Works out ratios from two cells of a column, and shows each row in one unit. Finds nothing itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingestion.language.key_figure_names import key_measures
from ingestion.language.measures import measure_named
from ingestion.language.scales import SCALE_NAMES

__all__ = [
    "OF_GDP",
    "DocumentFigures",
    "FigureColumn",
    "FigurePeriod",
    "KeyFigure",
    "KeyFigureSheet",
    "SheetRow",
    "key_figure_sheet",
    "with_ratios",
]

# What is added to the name of a measure whose figures are shares of the economy.
OF_GDP = ", % of GDP"
# Figures are never shown with more digits behind the point than this.
MOST_DECIMALS = 3
# Significant digits that the smallest figure of a row keeps in the row's unit.
KEPT_DIGITS = 3
PERCENT_DECIMALS = 1
WHOLE_YEAR = 12
A_DAY = 0
# Worked out here: numerator and denominator, or what is taken from what.
RATIOS = ("gross margin", "operating margin", "net margin")
FREE_CASH_FLOW = "free cash flow"
MINUS = "\u2212"


@dataclass(frozen=True, slots=True)
class FigurePeriod:
    """The time that a figure is of.

    text: as a column is headed: "2017", "2024-25", "3 months to July 2023".
    start_year, end_year: equal but for a year that goes over two, such as 2024-25.
    months: 12 for a year, 3, 6 or 9 for a part of one, 0 for a day.
    month: its last month, 1 to 12, 0 where it is not told or does not matter.
    """

    text: str
    start_year: int
    end_year: int
    months: int = WHOLE_YEAR
    month: int = 0

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Sorts periods, the newest last."""
        return (self.end_year, self.month or WHOLE_YEAR, self.months, self.start_year)


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One cell of the sheet.

    measure: the name of its row.
    text: as printed, or as worked out.
    value: with sign, without scale. unit: a currency's sign, "%" or None. decimals: digits after the point.
    label, head: of its row and column, as printed. unit_line: the words that give its scale, "" without.
    quote: its row, as the page has it. start: the row's offset in the page's text.
    page: physical, 1-based, 0 for a figure that was worked out.
    formula, operands: how it was worked out, and from which cells; "" and () for one that is printed.
    """

    measure: str
    period: FigurePeriod
    text: str
    value: float
    unit: str | None = None
    scale: float = 1.0
    decimals: int = 0
    label: str = ""
    head: str = ""
    unit_line: str = ""
    page: int = 0
    page_label: str | None = None
    quote: str = ""
    start: int = -1
    formula: str = ""
    operands: tuple[KeyFigure, ...] = ()

    @property
    def magnitude(self) -> float:
        """The value with its scale."""
        return self.value * self.scale

    @property
    def cells(self) -> tuple[KeyFigure, ...]:
        """The printed cells that it rests on: itself, or its operands."""
        return self.operands or (self,)


@dataclass(frozen=True, slots=True)
class DocumentFigures:
    """What was found in one document.

    families: which rows apply to it, see KeyMeasure; none where it has no tables of accounts or budgets.
    remark: what a reader should know, such as that its tables are not read yet; "" for nothing.
    own: the period that the document says it is of, "" where it says none.
    """

    document: str
    version: int
    figures: tuple[KeyFigure, ...] = ()
    families: frozenset[str] = frozenset()
    remark: str = ""
    own: str = ""


@dataclass(frozen=True, slots=True)
class FigureColumn:
    """A column of the sheet."""

    document: str
    version: int
    period: FigurePeriod


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of the sheet.

    shown: its name. scale: all its cells are shown in it. unit: the currency's sign of all its cells, ""
    where they differ or have none. decimals: digits shown after the point at most. is_worked_out: no page
    states it.
    """

    measure: str
    shown: str
    scale: float = 1.0
    unit: str = ""
    decimals: int = 0
    is_worked_out: bool = False

    @property
    def unit_text(self) -> str:
        """The unit of the whole row, such as "$ million" or "million crowns"."""
        parts = [self.unit, SCALE_NAMES.get(self.scale, "")]
        if self.unit.islower():
            parts.reverse()
        return " ".join(filter(None, parts))

    def value_of(self, figure: KeyFigure) -> float:
        """A figure in the row's unit."""
        return figure.magnitude / self.scale

    def _exact(self, figure: KeyFigure) -> int:
        """The digits behind the point that a figure has in the row's unit."""
        return _exact_decimals(figure, self.scale)

    def text_of(self, figure: KeyFigure) -> str:
        """A figure in the row's unit, as it is shown; with its currency where those of the row differ."""
        shown = f"{abs(self.value_of(figure)):,.{min(self.decimals, self._exact(figure))}f}"
        if self.value_of(figure) < 0 and shown.strip("0.,"):
            shown = f"{MINUS}{shown}"
        if figure.unit == "%":
            return f"{shown}%"
        if not self.unit and figure.unit:
            return f"{figure.unit} {shown}"
        return shown


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
        """The figure of a row in a column, None where the document does not state it."""
        return self.cells.get((row.measure, column))


def key_figure_sheet(documents: Sequence[DocumentFigures]) -> KeyFigureSheet:
    """The sheet of what was found, documents in their order, each with its newest period first."""
    cells: dict[tuple[str, FigureColumn], KeyFigure] = {}
    columns: list[FigureColumn] = []
    main: list[FigureColumn] = []
    for found in documents:
        periods = {figure.period for figure in found.figures}
        newest_first = sorted(periods, key=lambda period: period.order, reverse=True)
        own = [FigureColumn(found.document, found.version, period) for period in newest_first]
        columns += own
        main += _main_column(own, found)
        for figure in with_ratios(found.figures):
            cells[figure.measure, FigureColumn(found.document, found.version, figure.period)] = figure
    families = frozenset[str]().union(*(found.families for found in documents))
    names = _names_in_order(families)
    there = {measure for measure, _ in cells}
    rows = [_row(measure, shown, cells) for measure, shown in names.items() if measure in there]
    lacking = [shown for measure, shown in names.items() if _is_lacking(measure, there)]
    remarks = {found.document: found.remark for found in documents if found.remark}
    return KeyFigureSheet(tuple(rows), tuple(columns), cells, tuple(main), tuple(lacking), remarks)


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


def _row(measure: str, shown: str, cells: Mapping[tuple[str, FigureColumn], KeyFigure]) -> SheetRow:
    figures = [figure for (name, _), figure in cells.items() if name == measure]
    is_worked_out = all(figure.formula for figure in figures)
    units = {figure.unit for figure in figures}
    unit = next(iter(units)) if len(units) == 1 else None
    if "%" in units:
        decimals = max(PERCENT_DECIMALS, *(min(figure.decimals, 2) for figure in figures))
        return SheetRow(measure, shown, 1.0, "", decimals, is_worked_out)
    scale = _row_scale(figures)
    return SheetRow(measure, shown, scale, unit or "", _row_decimals(figures, scale), is_worked_out)


def _row_scale(figures: Sequence[KeyFigure]) -> float:
    """The largest scale of a row in which its smallest figure is still one or more."""
    smallest = min((abs(figure.magnitude) for figure in figures if figure.value), default=0.0)
    scales = sorted({figure.scale for figure in figures}, reverse=True)
    return next((scale for scale in scales if smallest >= scale), scales[-1])


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


# --- what is worked out
# ------------------------------------------------------------------------------------------------------------


def with_ratios(figures: Iterable[KeyFigure]) -> list[KeyFigure]:
    """The figures of one document with the margins and the free cash flow that follow from two of them."""
    found = list(figures)
    by_period: dict[FigurePeriod, dict[str, KeyFigure]] = {}
    for figure in found:
        by_period.setdefault(figure.period, {})[figure.measure] = figure
    for period, printed in by_period.items():
        for name in RATIOS:
            operands = [printed.get(operand) for operand in measure_named(name).operands]
            found += _margin(name, period, *operands)
        flows = [printed.get(operand) for operand in measure_named(FREE_CASH_FLOW).operands]
        found += _free_cash_flow(period, *flows)
    return found


def _margin(
    name: str, period: FigurePeriod, part: KeyFigure | None, whole: KeyFigure | None
) -> list[KeyFigure]:
    """A part in per cent of a whole, nothing where one is missing or they are in different money."""
    if part is None or whole is None or part.unit != whole.unit or whole.value <= 0:
        return []
    value = 100 * part.magnitude / whole.magnitude
    text = f"{_signed_text(value, PERCENT_DECIMALS)}%"
    formula = f"100 × {_operand_text(part)} / {_operand_text(whole)} = {text}"
    return [
        KeyFigure(
            name,
            period,
            text,
            value,
            "%",
            decimals=PERCENT_DECIMALS,
            formula=formula,
            operands=(part, whole),
        )
    ]


def _free_cash_flow(period: FigurePeriod, cash: KeyFigure | None, spent: KeyFigure | None) -> list[KeyFigure]:
    """Operating cash flow less capital expenditure, which statements print in brackets or without."""
    if cash is None or spent is None or cash.unit != spent.unit or cash.scale != spent.scale:
        return []
    value = cash.value - abs(spent.value)
    decimals = max(cash.decimals, spent.decimals)
    text = _signed_text(value, decimals)
    paid = f"{abs(spent.value):,.{spent.decimals}f}"
    formula = f"{_operand_text(cash)} {MINUS} {paid} = {text}"
    figure = KeyFigure(
        FREE_CASH_FLOW,
        period,
        text,
        value,
        cash.unit,
        cash.scale,
        decimals,
        unit_line=cash.unit_line,
        formula=formula,
        operands=(cash, spent),
    )
    return [figure]


def _signed_text(value: float, decimals: int) -> str:
    shown = f"{abs(value):,.{decimals}f}"
    return f"{MINUS}{shown}" if value < 0 and shown.strip("0.,") else shown


def _operand_text(figure: KeyFigure) -> str:
    """A figure as it stands in a formula, a negative one in brackets, with its scale where it has one."""
    shown = _signed_text(figure.value, figure.decimals)
    if figure.value < 0:
        shown = f"({shown})"
    return shown
