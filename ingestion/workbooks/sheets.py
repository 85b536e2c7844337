"""Reads the sheets of workbooks and of delimited text cell by cell, as they are shown; evaluates no formula,
runs no macro and follows no link.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from openpyxl import load_workbook

from ingestion.errors import DocumentError
from ingestion.reading.plain_text import decoded
from ingestion.workbooks.number_formats import shown

__all__ = [
    "MOST_CELLS",
    "MOST_COLUMNS",
    "MOST_ROWS",
    "NOT_CALCULATED",
    "Place",
    "Sheet",
    "ShownCell",
    "read_delimited",
    "read_workbook",
]

# What is read of a sheet, and of all sheets of a workbook.
MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 5_000, 200, 150_000
LONGEST_CELL = 2_000
# Bytes of all parts of a workbook, and of its largest part where it is held in memory as a whole.
LARGEST, LARGEST_WHOLE = 400 * 2**20, 12 * 2**20
NOT_CALCULATED = "not calculated"
SEPARATORS = ";\t|,"
# Lines of delimited text from which its separator is found.
TELLING_LINES = 100
FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
# A merged range of more cells is a background.
MOST_MERGED = 1_000
# The row and the column of a cell, 1-based.
Place = tuple[int, int]


class ShownCell(NamedTuple):
    """A cell as shown. indent: in levels. formula: such as "= SUM(B2:B6)", "" for none."""

    text: str
    indent: float = 0.0
    formula: str = ""


class Sheet(NamedTuple):
    """A sheet. cells: those that are not empty. merged: cell -> the first cell of its range, which has its
    text. cut: whether only its beginning was read.
    """

    name: str
    cells: dict[Place, ShownCell]
    merged: dict[Place, Place]
    hidden: bool = False
    cut: bool = False


def read_workbook(path: Path, calculate: Callable[[], Path]) -> list[Sheet]:
    """The sheets of an .xlsx or .xlsm that have cells, hidden ones among them.

    calculate: gives a copy with the values of all formulas; only called if some were never calculated. They
        stay so where it raises DocumentError. Raises DocumentError where the file is damaged or too large.
    """
    try:
        sheets = _sheets(path, path, NOT_CALCULATED)
        if any(cell.text == NOT_CALCULATED for sheet in sheets for cell in sheet.cells.values()):
            with suppress(DocumentError):
                return _sheets(path, calculate(), "")
        return sheets
    except (DocumentError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises anything on a broken file
        raise DocumentError(
            "The workbook is damaged and cannot be opened.", hint="Open it and save it again as .xlsx."
        ) from error


def _sheets(path: Path, calculated: Path, missing: str) -> list[Sheet]:
    """calculated: a workbook with the same sheets and the values. missing: stands for a value it lacks."""
    book = _opened(path, data_only=False)
    with ZipFile(path) as parts:
        written = (parts.read(name) for name in parts.namelist() if name.startswith("xl/worksheets/"))
        values = _opened(calculated, data_only=True) if any(map(FORMULA.search, written)) else book
    left, sheets = MOST_CELLS, list[Sheet]()
    for sheet in book.worksheets:
        read = _sheet(sheet, values[sheet.title], missing, left)
        left -= len(read.cells)
        sheets.append(read)
    return [sheet for sheet in sheets if sheet.cells]


def _opened(path: Path, *, data_only: bool) -> Any:
    data = BytesIO(path.read_bytes())  # of a path openpyxl wants a certain ending
    with ZipFile(data) as parts:
        sizes = [part.file_size for part in parts.infolist()]
    if sum(sizes) > LARGEST:
        raise DocumentError(
            f"The workbook unpacks to more than {LARGEST >> 20:,} MiB.", hint="Add a smaller part of it."
        )
    large = max(sizes) > LARGEST_WHOLE
    return load_workbook(data, read_only=large, data_only=data_only, keep_links=False)


def _sheet(sheet: Any, values: Any, missing: str, left: int) -> Sheet:
    last, columns = sheet.max_row or MOST_ROWS + 1, sheet.max_column or MOST_COLUMNS
    bounds = {"max_row": min(last, MOST_ROWS + 1), "max_col": min(columns, MOST_COLUMNS)}
    both = zip(sheet.iter_rows(**bounds), values.iter_rows(**bounds), strict=False)
    found, merged, at = dict[Place, ShownCell](), dict[Place, Place](), 0
    for at, (row, others) in enumerate(both, 1):
        if at > MOST_ROWS:
            break
        for cell, other in zip(row, others, strict=False):
            if cell.value is not None and len(found) < left:
                shown_cell = _shown(cell, other, missing)
                if shown_cell.text:
                    found[cell.row, cell.column] = shown_cell
    for span in getattr(getattr(sheet, "merged_cells", None), "ranges", ()):
        if span.size["rows"] * span.size["columns"] <= MOST_MERGED:
            merged |= dict.fromkeys(span.cells, (span.min_row, span.min_col))
    cut = at > MOST_ROWS or columns > MOST_COLUMNS or len(found) == left
    return Sheet(sheet.title, found, merged, sheet.sheet_state != "visible", cut)


def _shown(cell: Any, other: Any, missing: str) -> ShownCell:
    formula, value = "", other.value
    if cell.data_type == "f":
        formula = f"= {str(getattr(cell.value, 'text', cell.value)).lstrip('=')}"
        value = missing if value is None else value
    text = shown(value, other.number_format)[:LONGEST_CELL]
    return ShownCell(text, cell.alignment.indent, formula[:LONGEST_CELL])


def read_delimited(path: Path, name: str) -> list[Sheet]:
    """The one sheet of a file of text whose cells are separated by commas, semicolons, tabs or bars.

    name: of the sheet. Raises DocumentError where the file cannot be read so.
    """
    lines = decoded(path.read_bytes()).replace("\0", "").splitlines(keepends=True)
    try:
        separator = max(SEPARATORS, key=lambda one: _evenness(lines[:TELLING_LINES], one))
        rows = list(islice(csv.reader(lines, delimiter=separator), MOST_ROWS + 1))
    except csv.Error as error:
        raise DocumentError(f"The text cannot be read as cells: {error}.", hint="Export it again.") from error
    cells = {
        (at, column): ShownCell(written)
        for at, row in enumerate(rows[:MOST_ROWS], 1)
        for column, value in enumerate(row[:MOST_COLUMNS], 1)
        if (written := shown(value, "")[:LONGEST_CELL])
    }
    return [Sheet(name, cells, {}, cut=len(rows) > MOST_ROWS)] if cells else []


def _evenness(lines: Sequence[str], separator: str) -> float:
    """The share of the rows that have the usual number of cells, if a separator parts them."""
    counts = Counter(map(len, csv.reader(lines, delimiter=separator)))
    parted = [number for count, number in counts.items() if count > 1]
    return max(parted, default=0) / max(1, counts.total())
