"""Adds up the rows of a balance sheet that name debt, where none of them is a sum of others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_letters

from chatbot.answer.compare.key_figure_cells import RowPlace, key_figure_of
from chatbot.answer.compare.key_figure_periods import column_periods
from chatbot.answer.tables.cell_lookup import cell_of
from chatbot.calculator import written_out
from chatbot.comparison.key_figure_names import plain_label
from chatbot.comparison.key_figure_records import FigurePeriod, KeyFigure
from chatbot.records import Hit
from ingestion.records import Row, Table

__all__ = ["balance_sheet_debt"]

DEBT = "debt on the balance sheet"
# Rows of what is owed for money borrowed, and those that only sound like it.
OWED = re.compile(
    r"\b(?:debt|borrowings?|notes? payable|loans? payable|commercial paper|mortgages?|senior notes?"
    r"|credit facilit(?:y|ies)|lines? of credit|term loans?|debentures?|bonds? payable|convertible notes?)\b"
)
NOT_OWED = re.compile(
    r"\b(?:receivables?|accounts|trade|securities|issuance|costs?|discount|leases?|preferred|equity"
    r"|investments?|deferred|interest payable|allowance)\b"
)
NO_SUM = re.compile(r"^(?:total|sub ?total)\b")
LIABILITIES = re.compile(r"liabilit", re.IGNORECASE)


def balance_sheet_debt(balance_sheets: Sequence[Hit]) -> list[KeyFigure]:
    """The rows of a balance sheet that name debt, added up."""
    for hit in balance_sheets:
        for table in hit.tables:
            rows = _rows_of_debt(table)
            if rows:
                return _sums(hit, table, rows)
    return []


def _rows_of_debt(table: Table) -> list[Row]:
    """The rows of debt among the liabilities; none where a subtotal among them would count twice."""
    rows = []
    is_below = False
    for row in table.rows:
        label = plain_label(row.label)
        is_below = is_below or label == "total assets" or LIABILITIES.search(row.section) is not None
        if not is_below or not OWED.search(label) or NOT_OWED.search(label):
            continue
        if NO_SUM.match(label):
            return []
        rows.append(row)
    return rows


def _sums(hit: Hit, table: Table, rows: Sequence[Row]) -> list[KeyFigure]:
    figures: list[KeyFigure] = []
    periods = column_periods(table, hit.page_text, day=True)
    for column, period in periods.items():
        if list(periods.values()).count(period) > 1:
            continue
        parts = []
        for row in rows:
            cell = cell_of("", hit, table, row, column)
            if cell is not None and not cell.percent:
                parts.append(key_figure_of(DEBT, period, cell, RowPlace(0, hit, table, row)))
        if 0 < len(parts) <= len(ascii_letters):
            figures.append(_sum_of(parts, period))
    return figures


def _sum_of(parts: Sequence[KeyFigure], period: FigurePeriod) -> KeyFigure:
    first = parts[0]
    summands = {
        letter: (part.value, f"{part.value:,.{part.decimals}f}")
        for letter, part in zip(ascii_letters, parts, strict=False)
    }
    value, written = written_out(" + ".join(summands), summands)
    decimals = max(part.decimals for part in parts)
    text = f"{value:,.{decimals}f}"
    formula = f"{written} = {text}" if len(parts) > 1 else f"{first.text}, the only debt row"
    return KeyFigure(
        DEBT,
        period,
        text,
        value,
        first.unit,
        first.scale,
        decimals,
        unit_line=first.unit_line,
        formula=formula,
        operands=tuple(parts),
    )
