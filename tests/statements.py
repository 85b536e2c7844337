"""Small PDFs of accounts and budgets that tests make for themselves; knows tests/pdfs.py alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.pdfs import Placed, draw, grid

__all__ = ["HOSTILE", "draw_accounts", "statement"]

# A label that would be markup and a formula.
HOSTILE = "<b>Debt</b> =1+1"
INCOME = (
    ("Net sales", "$ 1,200", "$ 1,100"),
    ("Cost of sales", "(700)", "(660)"),
    ("Gross profit", "500", "440"),
    ("Selling expenses", "(350)", "(330)"),
    ("Operating income", "150", "110"),
    ("Interest expense", "(20)", "(22)"),
    ("Income before income taxes", "130", "88"),
    ("Provision for income taxes", "(40)", "(28)"),
    ("Net income", "$ 90", "$ 60"),
    ("Basic earnings per share", "$ 0.92", "$ 0.61"),
    ("Diluted earnings per share", "$ 0.90", "$ 0.60"),
)
BALANCE = (
    ("Cash and cash equivalents", "$ 210", "$ 180"),
    ("Receivables", "140", "120"),
    ("Inventories", "90", "95"),
    ("Total current assets", "440", "395"),
    ("Property and equipment, net", "560", "555"),
    ("Total assets", "$ 1,000", "$ 950"),
    ("Accounts payable", "$ 120", "$ 110"),
    ("Current portion of long-term debt", "15", "25"),
    ("Total current liabilities", "135", "135"),
    ("Long-term debt", "300", "320"),
    (f"Notes payable {HOSTILE}", "5", "6"),
    ("Total liabilities", "440", "461"),
    ("Common stock", "60", "60"),
    ("Retained earnings", "500", "429"),
    ("Total stockholders' equity", "560", "489"),
    ("Total liabilities and equity", "$ 1,000", "$ 950"),
)
CASH = (
    ("Cash flows from operating activities:",),
    ("Net income", "$ 90", "$ 60"),
    ("Depreciation and amortization", "70", "68"),
    ("Inventories", "5", "(4)"),
    ("Net cash provided by operating activities", "165", "124"),
    ("Cash flows from investing activities:",),
    ("Purchases of property and equipment", "(75)", "(81)"),
    ("Net cash used in investing activities", "(75)", "(81)"),
    ("Cash flows from financing activities:",),
    ("Repayments of debt", "(30)", "(24)"),
    ("Dividends paid", "(30)", "(20)"),
    ("Net cash used in financing activities", "(60)", "(44)"),
    ("Net increase in cash and cash equivalents", "30", "(1)"),
    ("Cash and cash equivalents, end of year", "$ 210", "$ 180"),
)


def statement(
    title: str, rows: Sequence[Sequence[str]], *, unit: str = "(in millions)", heads: Sequence[str] = ()
) -> list[Placed]:
    """A page of a statement with two columns of figures. heads: of them."""
    first = [(60.0, 60.0, "ALDER CORPORATION"), (60.0, 76.0, title), (60.0, 92.0, unit)]
    return [*first, *grid(118, [("", *(heads or ("2023", "2022"))), *rows], rights=(420, 520))]


def draw_accounts(path: Path, *, unit: str = "(in millions)", first: Sequence[list[Placed]] = ()) -> Path:
    """A PDF of three consolidated statements of 2023 and 2022. first: pages before them."""
    return draw(
        path,
        *first,
        statement("CONSOLIDATED STATEMENTS OF INCOME", INCOME, unit=unit),
        statement("CONSOLIDATED BALANCE SHEETS", BALANCE, unit=unit),
        statement("CONSOLIDATED STATEMENTS OF CASH FLOWS", CASH, unit=unit),
    )
