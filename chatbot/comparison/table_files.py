"""Writes a table as CSV for spreadsheets, whose cells are never taken for formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from ingestion.invisible_characters import one_line

__all__ = ["csv_of", "plain_number", "safe_cell"]

# What a spreadsheet would take for the start of a formula, full-width forms included. An apostrophe before it
# makes it text.
FORMULA_BEGINS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# Where a spreadsheet in another language splits cells, and a formula would begin.
CELL_BEGINS = re.compile("([;\t|]\\s*)(?=[=+@\uff1d\uff0b\uff20]|[-\uff0d](?![\\d\\s.,]))")


def csv_of(head: Sequence[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Returns a table in UTF-8 with the byte-order mark by which spreadsheets recognise it.

    Numbers are plain. Everything else is text that is never taken for a formula; None is empty.
    """
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow(head)
    for row in rows:
        cells = (plain_number(cell) if isinstance(cell, float | int) else safe_cell(cell) for cell in row)
        lines.writerow(cells)
    return written.getvalue().encode("utf-8-sig", "replace")


def safe_cell(value: object) -> str:
    """Returns a value as text on one line that no spreadsheet takes for a formula."""
    text = CELL_BEGINS.sub(r"\1'", "" if value is None else one_line(str(value)))
    return f"'{text}" if text.startswith(FORMULA_BEGINS) else text


def plain_number(value: float) -> float | int:
    """Writes whole numbers without a point, and others without the noise of binary fractions."""
    rounded = round(value, 6)
    return int(rounded) if float(rounded).is_integer() else rounded
