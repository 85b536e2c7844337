"""Writes a sheet of key figures as CSV and as a workbook for spreadsheets, and its cells as lines of text."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from chatbot.comparison.key_figure_records import KeyFigure
from chatbot.comparison.key_figures import FigureColumn, KeyFigureSheet, SheetRow, sheet_parts
from chatbot.comparison.table_files import csv_of
from chatbot.records import printed_label
from ingestion.invisible_characters import one_line

__all__ = ["figure_lines", "figure_text", "gap_text", "original_text", "sheet_csv", "sheet_xlsx"]

# A document's tables do not state it; that its sentences do not is not known.
NOT_FOUND = "not in the tables of this document"
ELSEWHERE = "in another unit, in its own row"
NOT_WORKED_OUT = "not worked out: it needs two figures in the same money"
COLUMNS = (
    "measure",
    "document",
    "period",
    "fiscal year",
    "figure",
    "unit",
    "value",
    "printed",
    "printed in",
    "page",
    "printed page",
    "row",
    "column",
    "formula",
    "remark",
)
HEADS = {"value": "value in full", "figure": "figure in the unit of its row", "printed": "as printed"}
HEAD = [HEADS.get(column, column) for column in COLUMNS]
MEASURE_WIDTH, COLUMN_WIDTH = 30, 18
# Names of the pages of a workbook; there are more grids where documents share no row.
GRID, CELLS = "Key figures", "Cells"
MOST_GRIDS = 50


def figure_lines(sheet: KeyFigureSheet) -> Iterator[dict[str, Any]]:
    """Returns each cell by the names of its columns, row by row, gaps too.

    What has no content is "", but "value", "page" and the figure of a gap are None. "figure" is in the unit
    of its row, "value" has its scale.
    """
    for row in sheet.rows:
        for column in sheet.columns:
            if not sheet.is_elsewhere(row, column):
                yield _line(row, column, sheet)


def _line(row: SheetRow, column: FigureColumn, sheet: KeyFigureSheet) -> dict[str, Any]:
    figure = sheet.cell(row, column)
    line: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    line |= {"measure": row.shown, "document": column.document, "period": column.period.text}
    line |= {"fiscal year": column.shown}
    line |= {"figure": None, "value": None, "page": None}
    if figure is None:
        line["remark"] = gap_text(row)
        return line
    line |= {
        "figure": round(row.value_of(figure), row.decimals),
        "unit": row.unit_text or row.unit,
        "value": round(figure.magnitude, 6),
        "printed": figure.text,
        "printed in": figure.unit_line,
        "formula": figure.formula,
    }
    cells = [cell for cell in figure.cells if cell.page]
    if cells:
        line["page"] = cells[0].page
        line["printed page"] = cells[0].page_label or ""
        line["row"] = "; ".join(cell.label for cell in cells)
        line["column"] = cells[0].head
    return line


def gap_text(row: SheetRow, *, elsewhere: bool = False) -> str:
    """Returns why a cell has no figure. elsewhere: whether another row of the measure has it."""
    if elsewhere:
        return ELSEWHERE
    return NOT_WORKED_OUT if row.is_worked_out else NOT_FOUND


def figure_text(row: SheetRow, column: FigureColumn, figure: KeyFigure | None) -> str:
    """Returns one cell in a line for a terminal: "Revenue, A.pdf, 2017: 11,692,713 $ thousand - page 42"."""
    where = f"{row.shown}, {column.document}, {column.period.text}"
    if figure is None:
        return f"{where}: {gap_text(row)}"
    said = " ".join(filter(None, [row.text_of(figure), row.unit_text]))
    if figure.formula:
        said = f"{said} ({figure.formula})"
    pages = dict.fromkeys(_page_text(cell) for cell in figure.cells if cell.page)
    labels = "; ".join(f"“{cell.label}”" for cell in figure.cells if cell.page)
    return f"{where}: {said} - {', '.join(pages)}, {labels}" if pages else f"{where}: {said}"


def _page_text(cell: KeyFigure) -> str:
    if cell.page_label and cell.page_label != str(cell.page):
        return f"page {cell.page} ({printed_label(cell.page_label)})"
    return f"page {cell.page}"


def original_text(figure: KeyFigure) -> str:
    """Returns a figure as its page has it: "$ 11,692,713 (in thousands), row “Revenues”, column “2017”"."""
    if figure.operands:
        return figure.formula + ": " + "; ".join(original_text(operand) for operand in figure.operands)
    unit = f" ({figure.unit_line.strip('() ')})" if figure.unit_line.strip("() ") else ""
    row = f", row “{figure.label}”" if figure.label else ""
    head = f", column “{figure.head}”" if figure.head else ""
    return f"{figure.text}{unit}{row}{head}"


def sheet_csv(sheet: KeyFigureSheet) -> bytes:
    """Returns one line for each cell, see `csv_of`."""
    return csv_of(HEAD, map(dict.values, figure_lines(sheet)))


def sheet_xlsx(sheet: KeyFigureSheet) -> bytes:
    """Returns a workbook: a grid for each kind of document, as they are shown, and a page with one line for
    each cell.

    Texts are written as texts, so nothing in it is a formula or a link.
    """
    from xlsxwriter import Workbook

    written = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with Workbook(written, options) as book:
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        parts = sheet_parts(sheet)[:MOST_GRIDS] or [sheet]
        for number, part in enumerate(parts, 1):
            page = book.add_worksheet(GRID if len(parts) == 1 else f"{GRID} {number}")
            _write_grid(book, page, bold, part)
        page = book.add_worksheet(CELLS)
        page.freeze_panes(1, 0)
        page.set_column(0, len(COLUMNS) - 1, COLUMN_WIDTH)
        page.write_row(0, 0, HEAD, bold)
        for number, line in enumerate(figure_lines(sheet), 1):
            page.write_row(number, 0, map(_written, line.values()))
    return written.getvalue()


def _write_grid(book: Any, page: Any, bold: Any, sheet: KeyFigureSheet) -> None:
    page.freeze_panes(2, 2)
    page.set_column(0, 0, MEASURE_WIDTH)
    page.set_column(1, len(sheet.columns) + 1, COLUMN_WIDTH)
    page.write_row(0, 2, [_written(column.document) for column in sheet.columns], bold)
    page.write_row(1, 2, [_written(column.shown) for column in sheet.columns], bold)
    for number, row in enumerate(sheet.rows, 2):
        page.write(number, 0, _written(row.shown), bold)
        page.write(number, 1, _written(row.unit_text))
        places = "#,##0" + ("." + "0" * row.decimals if row.decimals else "")
        shape = book.add_format({"num_format": places + ('"%"' if row.unit == "%" else "")})
        for at, column in enumerate(sheet.columns, 2):
            figure = sheet.cell(row, column)
            if figure is None:
                page.write(number, at, gap_text(row, elsewhere=sheet.is_elsewhere(row, column)))
            else:
                page.write(number, at, round(row.value_of(figure), row.decimals), shape)


def _written(value: object) -> object:
    """A text as a workbook can hold it; anything else as it is."""
    if isinstance(value, str):
        return one_line(value).encode("utf-8", "replace").decode("utf-8")
    return value
