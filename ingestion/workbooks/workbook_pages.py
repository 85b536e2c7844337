"""Draws the sheets of workbooks and of delimited text as pages, and tells the text and the tables of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path, PurePath
from zipfile import is_zipfile

from openpyxl.utils import get_column_letter
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ingestion.errors import DocumentError
from ingestion.reading.formats import FORMULA, MadePage
from ingestion.reading.layout import lines_of
from ingestion.reading.office import convert
from ingestion.reading.plain_text import font_for
from ingestion.records import Page, Rect, Row, Table, Word
from ingestion.tables.word_kinds import is_value
from ingestion.workbooks.blocks import blocks_of
from ingestion.workbooks.sheets import (
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_ROWS,
    NOT_CALCULATED,
    Place,
    Sheet,
    read_delimited,
    read_workbook,
)

__all__ = ["make"]

DELIMITED, OFFICE_OPEN = (".csv", ".tsv"), (".xlsx", ".xlsm")
# In points: letters, lines, what is free around a cell and around a page; a column, and all of a page.
SIZE, LEADING, PAD, MARGIN = 8, 10, 3, 36
NARROWEST, WIDEST, WIDEST_PAGE = 24, 220, 1_000
SMALLEST_PAGE, RULE_GREY = 300, 0.8
ROWS_A_PAGE = 45
# How many formulas of a page are listed.
MOST_FORMULAS = 30
LIMITS = f"{MOST_ROWS:,} rows, {MOST_COLUMNS} columns and, of the whole workbook, {MOST_CELLS:,} cells"


def make(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """Draw the sheets of a workbook or of delimited text; see `formats`."""
    kind = PurePath(name).suffix.casefold()
    by_office = partial(convert, original, target.parent, "xlsx", name=name, password=password)
    if kind in DELIMITED:
        sheets = read_delimited(original, PurePath(name).stem)
    elif kind in OFFICE_OPEN and is_zipfile(original):
        sheets = read_workbook(original, by_office)
    else:
        copy = by_office()
        sheets = read_workbook(copy, lambda: copy)
    if not sheets:
        raise DocumentError("The file has no cells with anything in them.", hint="Add another one.")
    font = font_for("".join(cell.text for sheet in sheets for cell in sheet.cells.values()))
    canvas, pages = Canvas(str(target), bottomup=0, invariant=1), list[MadePage]()
    for sheet in sheets:
        drawing = _Drawing(canvas, sheet, font)
        pages += [drawing.page(len(pages) + at, *part) for at, part in enumerate(drawing.parts(), 1)]
    canvas.save()
    return pages


class _Drawing:
    """A sheet that is drawn on pages."""

    def __init__(self, canvas: Canvas, sheet: Sheet, font: str) -> None:
        self._canvas, self._sheet, self._font = canvas, sheet, font
        self._blocks = blocks_of(sheet)
        self._filled = Counter(row for row, _ in sheet.cells)

    def parts(self) -> Iterator[tuple[list[int], dict[int, float]]]:
        """The rows of each page, and its columns with their widths in points. The first column is on all."""
        cells, widths = self._sheet.cells, dict[int, float]()
        for (row, column), cell in cells.items():
            width = stringWidth(cell.text, self._font, SIZE) + 2 * PAD if self._filled[row] > 1 else 0
            widths[column] = max(widths.get(column, NARROWEST), min(WIDEST, width))
        groups = list[dict[int, float]]()
        for column in sorted(widths):
            if not groups or sum(groups[-1].values()) + widths[column] > WIDEST_PAGE:
                groups.append({min(widths): widths[min(widths)]})
            groups[-1][column] = widths[column]
        for group in groups:
            rows = sorted({row for row, column in cells if column in group})
            for at in range(0, len(rows), ROWS_A_PAGE):
                yield rows[at : at + ROWS_A_PAGE], group

    def page(self, number: int, rows: Sequence[int], widths: Mapping[int, float]) -> MadePage:
        """The page with these rows and columns, drawn."""
        canvas, sheet = self._canvas, self._sheet
        label = f"{sheet.name}!{_address(rows[0], min(widths))}:{_address(rows[-1], max(widths))}"
        text = f"{label}, hidden sheet" if sheet.hidden else label
        canvas.setFont(self._font, SIZE)
        canvas.setStrokeGray(RULE_GREY)
        canvas.drawString(MARGIN, MARGIN, text)
        xs = dict(zip(widths, accumulate(widths.values(), initial=float(MARGIN)), strict=False))
        right, y = MARGIN + sum(widths.values()), float(MARGIN + LEADING)
        # What goes on from the page before has its heads again.
        begun = [block.heads for block in self._blocks if block.rows[0] < rows[0] <= block.rows[-1]]
        starts, ys = dict[Place, int](), dict[int, float]()
        for row in sorted({*rows}.union(*begun)):
            own = [column for column in widths if (row, column) in sheet.cells]
            text, deep, ys[row] = f"{text.rstrip()}\n", 1, y
            for column in own:
                written = sheet.cells[row, column].text
                width = right - xs[column] if len(own) == 1 else widths[column]
                deep = max(deep, self._write(written, xs[column], width, y))
                starts[row, column] = len(text)
                text += f"{written} "
            y += deep * LEADING + 2 * PAD
            canvas.line(MARGIN, y, right, y)
        size = max(right + MARGIN, SMALLEST_PAGE), max(y + MARGIN, SMALLEST_PAGE)
        canvas.setPageSize(size)
        canvas.showPage()
        across = {column: Rect(x / size[0], 0, (x + widths[column]) / size[0], 0) for column, x in xs.items()}
        ends = zip(ys.items(), [*ys.values(), y][1:], strict=True)
        down = {row: Rect(0, top / size[1], 0, end / size[1]) for (row, top), end in ends}
        read = self._read(Page(number, text.rstrip(), label=label), starts, across, down)
        return MadePage(number, label, read=read, remarks=tuple(self._remarks(starts)))

    def _write(self, text: str, left: float, width: float, top: float) -> int:
        """Draw a cell. Returns its number of lines."""
        lines = simpleSplit(text, self._font, SIZE, width - 2 * PAD)
        for at, line in enumerate(lines, 1):
            if is_value(text):
                self._canvas.drawRightString(left + width - PAD, top + at * LEADING, line)
            else:
                self._canvas.drawString(left + PAD, top + at * LEADING, line)
        return len(lines)

    def _read(
        self, page: Page, starts: Mapping[Place, int], across: Mapping[int, Rect], down: Mapping[int, Rect]
    ) -> Page:
        """The page with its lines and tables. starts: of its cells in its text."""
        words, names = dict[Place, list[Word]](), dict[int, str]()
        for (row, column), start in starts.items():
            box = replace(across[column], y0=down[row].y0, y1=down[row].y1)
            names[start] = _address(row, column)
            words[row, column] = [
                Word(found[0], box, None, start + found.start(), start + found.end())
                for found in re.finditer(r"\S+", self._sheet.cells[row, column].text)
            ]
        tables = chain.from_iterable(block.tables(words, across, down) for block in self._blocks)
        lines = lines_of(page.text, [*chain.from_iterable(words.values())])
        return replace(page, lines=lines, tables=tuple(_named(table, names) for table in tables))

    def _remarks(self, places: Collection[Place]) -> Iterator[str]:
        told = [(_address(*place), cell) for place in places if (cell := self._sheet.cells[place]).formula]
        for name, cell in told[:MOST_FORMULAS]:
            if cell.text == NOT_CALCULATED:
                yield f"the value of {name} {cell.formula}, which was never calculated"
            else:
                yield f"{FORMULA} of {name} {cell.formula}, shown as {cell.text}"
        if len(told) > MOST_FORMULAS:
            yield f"{FORMULA}s of {len(told) - MOST_FORMULAS:,} more cells"
        if self._sheet.cut and max(self._sheet.cells) in places:
            yield f"what lies behind {LIMITS} of the sheet “{self._sheet.name}”"


def _address(row: int, column: int) -> str:
    return f"{get_column_letter(column)}{row}"


def _named(table: Table, names: Mapping[int, str]) -> Table:
    """The table with the addresses of its cells. names: by where the cells start in the page's text."""
    rows = list[Row]()
    for row in table.rows:
        cells = [cell and replace(cell, name=names.get(cell.start, "")) for cell in row.cells]
        rows.append(replace(row, cells=tuple(cells)))
    return replace(table, rows=tuple(rows))
