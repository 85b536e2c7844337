"""Workbooks as pages: what is drawn, read and named, from files of openpyxl and of LibreOffice."""

import shutil
import subprocess
from pathlib import Path

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from ingestion.document import read_document
from ingestion.errors import DocumentError
from ingestion.reading.formats import make_pdf
from ingestion.reading.made import MadePdf
from ingestion.records import Page, Table

OFFICE = shutil.which("soffice") or ""
with_office = pytest.mark.skipif(not OFFICE, reason="LibreOffice is not installed")


def written(path: Path, rows: str, **merged: str) -> Path:
    """A workbook with the sheet "Revenue": cells between bars, numbers as such. merged: ranges."""
    book = Workbook()
    fill(book.active, rows)
    book.active.title = "Revenue"
    for span in merged.values():
        book.active.merge_cells(span)
    book.save(path)
    return path


def fill(sheet: Worksheet, rows: str) -> None:
    for at, line in enumerate(rows.strip("\n").split("\n"), 1):
        for column, text in enumerate(map(str.strip, line.split("|")), 1):
            if text:
                sheet.cell(at, column, float(text) if text.lstrip("-").replace(".", "").isdigit() else text)


def pages_of(path: Path) -> tuple[Page, ...]:
    return read_document(path).pages


def told(page: Page) -> list[str]:
    """The rows of a page's tables: section, label, and each value with its cell and head."""
    return [row for table in page.tables for row in rows_of(table, page)]


def rows_of(table: Table, page: Page) -> list[str]:
    rows = []
    for row in table.rows:
        cells = []
        for head, cell in zip(table.heads, row.cells, strict=True):
            if cell:
                assert page.text[cell.start : cell.end] == cell.text
                cells.append(f"{cell.name} {head} {cell.text}")
        rows.append(" | ".join([row.section, row.label, *cells]))
    return rows


def test_a_sheet_is_a_page_named_by_its_cells(tmp_path: Path) -> None:
    rows = """
Revenue of the group
USD million
        | 2023 | 2024
Grants  | 12.5 | 14
Fees    | 3    | -4
"""
    (page,) = pages_of(written(tmp_path / "a.xlsx", rows))
    assert (page.label, page.method) == ("Revenue!A1:C5", "text")
    assert page.text.splitlines()[0] == "Revenue!A1:C5"
    assert [(table.caption, table.unit) for table in page.tables] == [
        ("Revenue: Revenue of the group", "USD million")
    ]
    assert told(page) == [" | Grants | B4 2023 12.5 | C4 2024 14", " | Fees | B5 2023 3 | C5 2024 -4"]
    assert [page.text[line.start : line.end] for line in page.lines][2:] == [
        "2023 2024", "Grants 12.5 14", "Fees 3 -4"
    ]  # fmt: skip


def test_merged_heads_and_groups_of_labels_reach_what_they_stand_over(tmp_path: Path) -> None:
    rows = """
       |       | Actual |      | Plan
Region | Item  | 2023   | 2024 | 2025
North  | Wages | 1.5    | 2.5  | 3.5
       | Rent  | 4.5    | 5.5  | 6.5
South  | Wages | 7.5    | 8.5  | 9.5
       | Rent  | 1.25   | 2.25 | 3.25
"""
    path = written(tmp_path / "a.xlsx", rows, heads="C1:D1", north="A3:A4", south="A5:A6")
    (page,) = pages_of(path)
    assert told(page)[1:3] == [
        "North | Rent | C4 Actual > 2023 4.5 | D4 Actual > 2024 5.5 | E4 Plan > 2025 6.5",
        "South | Wages | C5 Actual > 2023 7.5 | D5 Actual > 2024 8.5 | E5 Plan > 2025 9.5",
    ]
    (same,) = pages_of(written(tmp_path / "b.xlsx", rows))  # nothing of it is merged
    assert told(same) == told(page)


def test_blocks_apart_are_tables_of_their_own(tmp_path: Path) -> None:
    rows = """
Income |      |   |  Staff  |
Item   | 2024 |   | Grade   | 2024
Grants | 12.5 |   | Doctors | 31.5
Fees   | 13.5 |   | Nurses  | 32.5
       |      |   |         |
Debt   |      |   |         |
Kind   | 2025 |   |         |
Loans  | 14.5 |   |         |
Bonds  | 15.5 |   |         |
"""
    (page,) = pages_of(written(tmp_path / "a.xlsx", rows))
    assert told(page) == [
        " | Grants | B3 2024 12.5",
        " | Fees | B4 2024 13.5",
        " | Doctors | E3 2024 31.5",
        " | Nurses | E4 2024 32.5",
        " | Loans | B8 2025 14.5",
        " | Bonds | B9 2025 15.5",
    ]
    assert [table.caption for table in page.tables] == ["Revenue: Income", "Revenue: Staff", "Revenue: Debt"]


def test_empty_rows_and_columns_within_a_table_part_nothing(tmp_path: Path) -> None:
    rows = """
       |  | 2023 | 2024
       |  |      |
Income |  |      |
Grants |  | 1.5  | 2.5
Fees   |  | 3.5  | 4.5
       |  |      |
Costs  |  |      |
Wages  |  | 5.5  | 6.5
"""
    (page,) = pages_of(written(tmp_path / "a.xlsx", rows))
    assert told(page) == [
        "Income | Grants | C4 2023 1.5 | D4 2024 2.5",
        "Income | Fees | C5 2023 3.5 | D5 2024 4.5",
        "Costs | Wages | C8 2023 5.5 | D8 2024 6.5",
    ]


def test_a_long_table_goes_on_with_its_heads_on_the_next_page(tmp_path: Path) -> None:
    lines = [f"Fees of district {number} | {number}.5 | {number}.25" for number in range(1, 61)]
    pages = pages_of(written(tmp_path / "a.xlsx", "\n".join(["Item | 2023 | 2024", *lines])))
    assert [page.label for page in pages] == ["Revenue!A1:C45", "Revenue!A46:C61"]
    assert told(pages[1])[0] == " | Fees of district 45 | B46 2023 45.5 | C46 2024 45.25"
    assert len(told(pages[0])) + len(told(pages[1])) == 60


def test_a_wide_table_goes_on_with_its_labels_on_the_next_page(tmp_path: Path) -> None:
    heads = " | ".join(f"A rather long head of column {number}" for number in range(1, 12))
    values = " | ".join(f"{number}.5" for number in range(1, 12))
    rows = f"Item | {heads}\nFees | {values}\nGrants | {values}"
    pages = pages_of(written(tmp_path / "a.xlsx", rows))
    assert len(pages) > 1
    assert told(pages[-1])[1].startswith(" | Grants | ")
    assert told(pages[-1])[1].endswith("L3 A rather long head of column 11 11.5")


def test_formulas_hidden_sheets_and_limits_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPOLICY_SOFFICE", str(tmp_path / "none"))
    book = Workbook()
    book.active.title = "Notes"
    book.active["B7"] = "=SUM(B1:B6)"
    hidden = book.create_sheet("Working")
    hidden.sheet_state = "hidden"
    hidden["A6000"], hidden["A1"] = 1, "first"
    book.save(tmp_path / "a.xlsx")
    make_pdf(tmp_path / "a.xlsx", tmp_path / "a.made", "a.xlsx")
    made = MadePdf(tmp_path / "a.made")
    assert made.remarks(1) == ["the value of B7 = SUM(B1:B6), which was never calculated"]
    (cut,) = made.remarks(2)
    assert cut.startswith(
        "what lies behind 5,000 rows, 200 columns and, of the whole workbook, 150,000 cells"
    )
    assert cut.endswith("of the sheet “Working”")
    hidden_page = made.given(2)
    assert hidden_page is not None
    assert hidden_page.text.splitlines() == ["Working!A1:A1, hidden sheet", "first"]


def test_a_quotation_is_found_in_the_drawing(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.xlsx", " | 2023\nFees | 3.5\nA text of many words " + "that goes on " * 20 + " | 4.5"
    )
    make_pdf(path, tmp_path / "a.made", "a.xlsx")
    drawn = "".join(text for text, _ in MadePdf(tmp_path / "a.made").glyphs(1))
    (page,) = pages_of(path)
    assert "".join(drawn.split()) == "".join(page.text.split())


def test_a_kept_copy_is_read_by_the_name_that_its_user_gave(tmp_path: Path) -> None:
    kept = written(tmp_path / "a.xlsx", " | 2023\nFees | 3.5\nGrants | 4.5").rename(tmp_path / "0f3a.pdf")
    make_pdf(kept, tmp_path / "a.made", "Accounts.XLSX")
    assert MadePdf(tmp_path / "a.made").label(1) == "Revenue!A1:B3"


def test_delimited_text_is_a_sheet_named_after_its_file(tmp_path: Path) -> None:
    (tmp_path / "Budget 2024.CSV").write_text(
        "Posten;2023;2024\nLöhne;1.204,5;1.310,25\nMiete;12;13\n", "cp1252"
    )
    (page,) = pages_of(tmp_path / "Budget 2024.CSV")
    assert page.label == "Budget 2024!A1:C3"
    assert told(page)[0] == " | Löhne | B2 2023 1.204,5 | C2 2024 1.310,25"


def test_a_file_without_cells_is_refused(tmp_path: Path) -> None:
    Workbook().save(tmp_path / "a.xlsx")
    with pytest.raises(DocumentError, match="no cells"):
        read_document(tmp_path / "a.xlsx")


@with_office
@pytest.mark.parametrize("kind", ["xls", "ods", "xlsx"])
def test_files_of_libreoffice_are_read_with_calculated_formulas(tmp_path: Path, kind: str) -> None:
    (tmp_path / "made").mkdir()
    path = written(tmp_path / "made" / "a.xlsx", " | 2023 | 2024\nFees | 3.5 | =B2*2\nGrants | 1 | =C2+B3")
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = [OFFICE, profile, "--headless", "--convert-to", kind, "--outdir", str(tmp_path), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (page,) = pages_of(tmp_path / f"a.{kind}")
    assert told(page) == [" | Fees | B2 2023 3.5 | C2 2024 7", " | Grants | B3 2023 1 | C3 2024 8"]
    (same,) = pages_of(path)  # which no program has calculated
    assert told(same) == told(page)
    assert same.remarks[1] == "the formula of C3 = C2+B3, shown as 8"
