"""Measures how many key figures that documents print are found, and how many of those found are right.

    python benchmarks/key_figures.py --documents FOLDER [FOLDER ...] [--half dev|judged] [--seed 1]
                                     [--most 200] [--all] [--wrong]

What the documents print stands in key_figures.tsv, read from their pages by hand: half, document, measure,
period, page, row, value, scale. The rows were developed on one half of the documents and are judged on the
other. By seed it draws cells of a half, printed or not.

Right: the value with its sign and scale, from the page that prints it. A figure where none is printed is
wrong. Filled: of the cells that are printed, those that have a figure; in sentences too, where no table is.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from benchmarks.tables import markdown_table
from chatbot.answer.compare.key_figure_lookup import document_figures
from chatbot.comparison.key_figure_ratios import with_ratios
from chatbot.comparison.key_figure_records import KeyFigure
from chatbot.records import Hit
from ingestion.document import Circumstances, read_document

__all__ = ["PrintedCell", "draw", "found_cell", "is_right", "load_cells", "report"]

GOLD = Path(__file__).with_suffix(".tsv")
HALVES = ("dev", "judged")
IN_A_SENTENCE = "in a sentence"
# The last months of quarters that are called by their number.
QUARTERS = {"Q1": 3, "Q2": 6, "Q3": 9, "Q4": 12}


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell as a document prints it. months, end: of its period, "2023-07" or "2023". values: those that are
    right, () where none is printed.
    """

    half: str
    document: str
    measure: str
    months: int
    end: str
    page: int
    row: str
    values: tuple[float, ...]


def load_cells(path: Path = GOLD) -> list[PrintedCell]:
    """All cells of the file."""
    cells = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        half, document, measure, period, page, row, value, scale = line.split("\t")
        months, _, end = period.partition(" ")
        values = tuple(_number(part) * float(scale) for part in value.split("|") if part)
        cells.append(PrintedCell(half, document, measure, int(months), end, int(page or 0), row, values))
    return cells


def _number(written: str) -> float:
    value = float(written.strip("()").replace(",", ""))
    return -value if written.startswith("(") else value


def found_cell(cell: PrintedCell, figures: Sequence[KeyFigure]) -> KeyFigure | None:
    """The figure that stands where a cell is asked for, None where none does."""
    for figure in figures:
        period = figure.period
        if figure.measure != cell.measure or period.months != cell.months:
            continue
        month = period.month or QUARTERS.get(period.text[:2], 0)
        ends = {period.text, str(period.end_year), f"{period.end_year}-{month:02d}"}
        if cell.end in ends or (not month and cell.end.startswith(f"{period.end_year}-")):
            return figure
    return None


def is_right(cell: PrintedCell, figure: KeyFigure) -> bool:
    """Whether a figure has a value that is printed, and is from the page that prints it."""
    pages = {operand.page for operand in figure.cells}
    near = any(abs(value - figure.magnitude) <= 1e-6 * abs(value) for value in cell.values)
    return near and cell.page in pages


def draw(cells: Sequence[PrintedCell], *, seed: int, most: int) -> list[PrintedCell]:
    """Up to `most` cells, the same for a seed."""
    shuffled = list(cells)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:most]


def read_figures(path: Path) -> tuple[list[KeyFigure], float]:
    """(the key figures of a PDF, seconds it took to find them in its pages)."""
    reading = read_document(path, Circumstances(ocr_pages=frozenset()))
    pages = []
    for page in reading.pages:
        where = (path.name, 1, page.number, page.label, page.label_source, page.method, page.confidence, "")
        hit = Hit(*where, page.text, page_text=page.text, tables=page.tables, kinds=page.kinds)
        pages.append(hit)
    begun = time.perf_counter()
    figures = with_ratios(document_figures(path.name, 1, pages).figures)
    return figures, time.perf_counter() - begun


def report(half: str, cells: Sequence[PrintedCell], found: Mapping[str, Sequence[KeyFigure]]) -> list[str]:
    """The row of one half: what is right of what is filled, and filled of what is printed."""
    pairs = [(cell, found_cell(cell, found.get(cell.document, ()))) for cell in cells]
    filled = [(cell, figure) for cell, figure in pairs if figure is not None]
    right = sum(is_right(cell, figure) for cell, figure in filled)
    printed = [(cell, figure) for cell, figure in pairs if cell.values]
    in_tables = [figure for cell, figure in printed if cell.row != IN_A_SENTENCE]
    return [
        half,
        str(len(pairs)),
        share_cell(right, len(filled)),
        share_cell(sum(figure is not None for _, figure in printed), len(printed)),
        share_cell(sum(figure is not None for figure in in_tables), len(in_tables)),
    ]


def wrong_lines(cells: Sequence[PrintedCell], found: Mapping[str, Sequence[KeyFigure]]) -> list[str]:
    """What is wrong and what is lacking, a line each."""
    lines = []
    for cell in cells:
        figure = found_cell(cell, found.get(cell.document, ()))
        where = f"{cell.document}, {cell.measure}, {cell.months} months to {cell.end}"
        if figure is None and cell.values:
            lines.append(f"- lacking: {where}: page {cell.page}, {cell.row}")
        elif figure is not None and not is_right(cell, figure):
            lines.append(f"- wrong: {where}: {figure.text}, {figure.label}, printed {cell.values}")
    return lines


def main() -> int:
    """Read, look up and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=Path, nargs="+", required=True, help="folders of the PDFs")
    parser.add_argument("--half", choices=HALVES, help="only this half (default: both)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--all", action="store_true", help="every cell, none drawn")
    parser.add_argument("--wrong", action="store_true", help="list what is wrong or lacking")
    given = parser.parse_args()
    cells = load_cells()
    paths = {path.name: path for folder in given.documents for path in folder.glob("*.pdf")}
    rows, told = [], []
    for half in [given.half] if given.half else HALVES:
        of_half = [cell for cell in cells if cell.half == half]
        names = sorted({cell.document for cell in of_half})
        read = {name: read_figures(paths[name]) for name in names if name in paths}
        found = {name: figures for name, (figures, _) in read.items()}
        there = [cell for cell in of_half if cell.document in read]
        drawn = there if given.all else draw(there, seed=given.seed, most=given.most)
        seconds = sum(taken for _, taken in read.values())
        rows.append([*report(half, drawn, found), f"{seconds:.2f} s for {len(read)}"])
        told += wrong_lines(drawn, found) if given.wrong else []
    heads = ("half", "cells", "right of filled", "filled of printed", "of printed in tables", "looked up in")
    print("\n".join([markdown_table(heads, rows), *told]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
