"""Workbooks from their addition to their answers: a citation names the sheet and the cell."""

import json
from pathlib import Path

import pytest
import xlsxwriter
from openpyxl import Workbook

from tests.commands import run

YEARS = (2023, 2024)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a workbook of two sheets with rows of the same names, and a store that has it."""
    folder = tmp_path_factory.mktemp("workbooks")
    book = Workbook()
    book.remove(book.active)
    for title, first in (("North", 1_204), ("South", 2_310)):
        sheet = book.create_sheet(title)
        sheet.append(["USD million", *YEARS])
        for at, label in enumerate(("Capital expenditure", "Tax revenue", "Interest expense")):
            sheet.append([label, first + 100 * at, first + 100 * at + 37])
            for cell in (sheet.cell(sheet.max_row, 2), sheet.cell(sheet.max_row, 3)):
                cell.number_format = "#,##0"
    book.save(folder / "Accounts.xlsx")
    done = run(folder / "home", "add", folder / "Accounts.xlsx")
    assert done.returncode == 0, done.stderr
    assert "2 pages" in done.stdout
    return folder


def test_a_figure_is_cited_by_its_sheet_and_its_cell(folder: Path) -> None:
    done = run(folder / "home", "ask", "What was tax revenue in 2024 in South?", "--json")
    answer = json.loads(done.stdout)
    assert "2,447" in answer["answer"]
    first = answer["citations"][0]
    assert (first["page"], first["page_label"], first["verified"]) == (2, "South!C3", True)
    assert "(South!C3)" in run(folder / "home", "ask", "What was tax revenue in 2024 in South?").stdout


def test_an_answer_from_cells_is_verified(folder: Path) -> None:
    file = folder / "audit.html"
    run(folder / "home", "ask", "What was tax revenue in 2024 in South?", "--audit", file)
    done = run(folder / "home", "verify", file)
    assert done.returncode == 0, done.stdout
    assert {line[:9] for line in done.stdout.splitlines()} == {"confirmed"}


def test_a_formula_that_has_its_value_is_not_said_to_be_unread(folder: Path) -> None:
    with xlsxwriter.Workbook(folder / "Sums.xlsx") as book:
        sheet = book.add_worksheet("Sums")
        sheet.write_row(0, 0, ("Item", *YEARS))
        sheet.write_row(1, 0, ("Fees", 10, 20))
        sheet.write_formula(2, 1, "=SUM(B2:B2)", None, 10)
    done = run(folder / "home", "add", folder / "Sums.xlsx")
    assert done.returncode == 0, done.stderr
    assert "1 pages" in done.stdout
    assert "Not read" not in done.stdout + done.stderr
