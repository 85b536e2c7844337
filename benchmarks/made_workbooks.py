"""Makes workbooks of twenty layouts, and tells the cells that can be asked for; a seed makes the same ones.

Each layout is one that people use: years across, months down, merged heads, several blocks a sheet, a unit in
a corner, negative amounts in three forms, percentages, hidden sheets, sheets with rows of the same names.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.styles import Alignment
from openpyxl.utils import get_column_letter

__all__ = ["LAYOUTS", "AskedCell", "make_workbook"]

ITEMS = (
    "Capital expenditure", "Tax revenue", "Interest expense", "Grants received", "Wages and salaries",
    "Road maintenance", "Pension contributions", "Operating surplus", "Licence fees", "Health transfers",
    "School building", "Property tax", "Fuel subsidies", "Debt repayment", "Customs duties", "Water supply",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
YEARS = (2022, 2023, 2024, 2025)


@dataclass(frozen=True, slots=True)
class AskedCell:
    """A cell that can be asked for. row, column: what names it. shown: as its format shows it."""

    workbook: str
    sheet: str
    row: str
    column: str
    address: str
    shown: str

    @property
    def question(self) -> str:
        """As a person would ask for it."""
        return f"{self.row[0].lower()}{self.row[1:]} {self.column} in {self.sheet}"


@dataclass(slots=True)
class Maker:
    """A workbook while it is made."""

    name: str
    draw: random.Random
    book: Workbook = field(default_factory=Workbook)
    cells: list[AskedCell] = field(default_factory=list)

    def sheet(self, title: str) -> Any:
        """A further sheet; the first one made takes the place of the empty one."""
        if not self.cells and len(self.book.sheetnames) == 1 and self.book.active.max_row == 1:
            self.book.active.title = title
            return self.book.active
        return self.book.create_sheet(title)

    def items(self, count: int) -> list[str]:
        return self.draw.sample(ITEMS, count)

    def amount(self, sheet: Any, place: tuple[int, int], names: tuple[str, str], form: str = "plain") -> None:
        """Write an amount that is asked for by the names of its row and its column."""
        row, column = place
        value, number_format, shown = FORMS[form](self.draw)
        cell = sheet.cell(row, column, value)
        cell.number_format = number_format
        address = f"{get_column_letter(column)}{row}"
        self.cells.append(AskedCell(self.name, sheet.title, *names, address, shown))

    def block(
        self,
        sheet: Any,
        corner: tuple[int, int],
        rows: Sequence[str],
        columns: Sequence[object],
        form: str = "plain",
    ) -> None:
        """A plain table: a row of heads and a column of labels, whose corner stands at `corner`."""
        top, left = corner
        for at, head in enumerate(columns, left + 1):
            sheet.cell(top, at, head)
        for down, label in enumerate(rows, top + 1):
            sheet.cell(down, left, label)
            for at, head in enumerate(columns, left + 1):
                self.amount(sheet, (down, at), (label, str(head)), form)


def _plain(draw: random.Random) -> tuple[float, str, str]:
    value = draw.randint(1_001, 98_999)
    return value, "#,##0", f"{value:,}"


def _decimals(draw: random.Random) -> tuple[float, str, str]:
    tenths = draw.randint(1_001, 98_999)
    return tenths / 10, "#,##0.0", f"{tenths / 10:,.1f}"


def _brackets(draw: random.Random) -> tuple[float, str, str]:
    value = draw.randint(1_001, 98_999) * draw.choice((1, -1))
    return value, "#,##0_);(#,##0)", f"{value:,}" if value > 0 else f"({-value:,})"


def _minus(draw: random.Random) -> tuple[float, str, str]:
    value = draw.randint(1_001, 98_999) * draw.choice((1, -1))
    return value, "#,##0;[Red]-#,##0", f"{value:,}"


def _percent(draw: random.Random) -> tuple[float, str, str]:
    tenths = draw.randint(11, 989)
    return tenths / 1_000, "0.0%", f"{tenths / 10:.1f}%"


def _currency(draw: random.Random) -> tuple[float, str, str]:
    value = draw.randint(1_001, 98_999)
    return value, "[$€-407]#,##0", f"€{value:,}"


FORMS: dict[str, Callable[[random.Random], tuple[float, str, str]]] = {
    "plain": _plain,
    "decimals": _decimals,
    "brackets": _brackets,
    "minus": _minus,
    "percent": _percent,
    "currency": _currency,
}


def _years_across(made: Maker) -> None:
    made.block(made.sheet("Revenue"), (1, 1), made.items(8), YEARS)


def _title_and_unit(made: Maker) -> None:
    sheet = made.sheet("Spending")
    sheet["A1"], sheet["A2"] = "Spending of the central government", "USD million"
    made.block(sheet, (4, 1), made.items(8), YEARS, "decimals")


def _months_down(made: Maker) -> None:
    made.block(made.sheet("Receipts"), (1, 1), MONTHS, made.items(4))


def _merged_heads(made: Maker) -> None:
    sheet = made.sheet("Outlook")
    for text, span in (("Actual", "B1:C1"), ("Forecast", "D1:E1")):
        sheet[span[:2]] = text
        sheet.merge_cells(span)
    made.block(sheet, (2, 1), made.items(7), YEARS)


def _loose_heads(made: Maker) -> None:
    """Heads that span others without being merged."""
    sheet = made.sheet("Programmes")
    sheet["B1"], sheet["D1"] = "2023", "2024"
    rows = made.items(7)
    for at, head in enumerate(("Budget", "Outturn", "Budget", "Outturn"), 2):
        sheet.cell(2, at, head)
    for down, label in enumerate(rows, 3):
        sheet.cell(down, 1, label)
        for at, head in enumerate(("budget 2023", "outturn 2023", "budget 2024", "outturn 2024"), 2):
            made.amount(sheet, (down, at), (label, head))


def _blocks_below(made: Maker) -> None:
    sheet = made.sheet("Accounts")
    rows = made.items(10)
    sheet["A1"] = "Income"
    made.block(sheet, (2, 1), rows[:5], YEARS)
    sheet["A10"] = "Financing"
    made.block(sheet, (11, 1), rows[5:], YEARS)


def _blocks_beside(made: Maker) -> None:
    sheet = made.sheet("Summary")
    rows = made.items(10)
    made.block(sheet, (2, 1), rows[:5], YEARS)
    made.block(sheet, (2, 7), rows[5:], YEARS)


def _unit_in_corner(made: Maker) -> None:
    sheet = made.sheet("Transfers")
    sheet["A1"] = "EUR thousand"
    made.block(sheet, (1, 1), made.items(8), YEARS)


def _brackets_below_zero(made: Maker) -> None:
    made.block(made.sheet("Cash flow"), (1, 1), made.items(8), YEARS, "brackets")


def _minus_below_zero(made: Maker) -> None:
    made.block(made.sheet("Balance"), (3, 2), made.items(8), YEARS, "minus")


def _percentages(made: Maker) -> None:
    sheet = made.sheet("Shares")
    sheet["A1"] = "Shares of total spending"
    made.block(sheet, (3, 1), made.items(8), YEARS, "percent")


def _hidden_sheet(made: Maker) -> None:
    rows = made.items(8)
    made.block(made.sheet("Published"), (1, 1), rows[:4], YEARS)
    hidden = made.sheet("Working")
    hidden.sheet_state = "hidden"
    made.block(hidden, (1, 1), rows[4:], YEARS)


def _same_rows(made: Maker) -> None:
    rows = made.items(6)
    for title in ("North", "South", "East"):
        made.block(made.sheet(title), (1, 1), rows, YEARS)


def _years_down(made: Maker) -> None:
    sheet = made.sheet("Series")
    rows = made.items(5)
    for at, label in enumerate(rows, 2):
        sheet.cell(1, at, label)
    for down, year in enumerate(range(2015, 2026), 2):
        sheet.cell(down, 1, year)
        for at, label in enumerate(rows, 2):
            made.amount(sheet, (down, at), (label, str(year)))


def _quarters(made: Maker) -> None:
    made.block(made.sheet("Quarterly"), (1, 1), made.items(7), [f"Q{at} 2024" for at in range(1, 5)])


def _sections(made: Maker) -> None:
    sheet = made.sheet("Budget")
    rows = made.items(8)
    for at, year in enumerate(YEARS, 2):
        sheet.cell(1, at, year)
    down = 2
    for section, own in (("Current", rows[:4]), ("Capital", rows[4:])):
        sheet.cell(down, 1, section)
        for label in own:
            down += 1
            sheet.cell(down, 1, label).alignment = Alignment(indent=1)
            for at, year in enumerate(YEARS, 2):
                made.amount(sheet, (down, at), (label, str(year)))
        down += 1


def _gaps(made: Maker) -> None:
    """An empty column behind the labels, and an empty row between the heads and two groups of rows."""
    sheet = made.sheet("Estimates")
    rows = made.items(6)
    for at, year in enumerate(YEARS, 3):
        sheet.cell(1, at, year)
    for down, label in zip((3, 4, 5, 7, 8, 9), rows, strict=True):
        sheet.cell(down, 1, label)
        for at, year in enumerate(YEARS, 3):
            made.amount(sheet, (down, at), (label, str(year)), "currency")


def _codes(made: Maker) -> None:
    """A column of codes before the labels, and one of notes behind the years."""
    sheet = made.sheet("Ledger")
    for at, head in enumerate(("Code", "Item", *YEARS, "Note"), 1):
        sheet.cell(1, at, head)
    for down, label in enumerate(made.items(8), 2):
        sheet.cell(down, 1, 4_000 + 10 * down)
        sheet.cell(down, 2, label)
        for at, year in enumerate(YEARS, 3):
            made.amount(sheet, (down, at), (label, str(year)))
        sheet.cell(down, 7, made.draw.choice(("audited", "estimate", "see annex")))


def _formulas(made: Maker) -> None:
    """Totals that no program has calculated."""
    sheet = made.sheet("Totals")
    rows = made.items(6)
    made.block(sheet, (1, 1), rows, YEARS)
    sheet.cell(8, 1, "Total of all items")
    for at, year in enumerate(YEARS, 2):
        letter = get_column_letter(at)
        cell = sheet.cell(8, at, f"=SUM({letter}2:{letter}7)")
        cell.number_format = "#,##0"
        total = sum(sheet.cell(down, at).value for down in range(2, 8))
        address = f"{letter}8"
        made.cells.append(
            AskedCell(made.name, "Totals", "Total of all items", str(year), address, f"{total:,}")
        )


def _long_list(made: Maker) -> None:
    names = [f"{item}, district {number}" for number in range(1, 9) for item in ITEMS]
    made.block(made.sheet("Districts"), (1, 1), names, YEARS)


LAYOUTS: tuple[Callable[[Maker], None], ...] = (
    _years_across, _title_and_unit, _months_down, _merged_heads, _loose_heads, _blocks_below, _blocks_beside,
    _unit_in_corner, _brackets_below_zero, _minus_below_zero, _percentages, _hidden_sheet, _same_rows,
    _years_down, _quarters, _sections, _gaps, _codes, _formulas, _long_list,
)  # fmt: skip


def make_workbook(folder: Path, layout: Callable[[Maker], None], *, seed: int) -> list[AskedCell]:
    """Write a workbook of a layout, called after it. Returns its cells with amounts."""
    name = f"{layout.__name__.strip('_')}.xlsx"
    made = Maker(name, random.Random(f"{seed} {name}"))
    layout(made)
    made.book.save(folder / name)
    return made.cells
