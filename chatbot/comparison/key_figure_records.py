"""Defines a key figure, the time it is of, and what was found in one document."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["A_DAY", "OF_GDP", "WHOLE_YEAR", "DocumentFigures", "FigurePeriod", "KeyFigure"]

# What is added to the name of a measure whose figures are shares of the economy.
OF_GDP = ", % of GDP"
# Months of a period.
WHOLE_YEAR = 12
A_DAY = 0


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
    def order(self) -> tuple[int, int, int, int, str]:
        """Sorts periods, the newest last."""
        return (self.end_year, self.month or WHOLE_YEAR, self.months, self.start_year, self.text)


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
    year_end: the month, 1 to 12, in which its fiscal year ends, 0 where it does not say.
    """

    document: str
    version: int
    figures: tuple[KeyFigure, ...] = ()
    families: frozenset[str] = frozenset()
    remark: str = ""
    own: str = ""
    year_end: int = 0
