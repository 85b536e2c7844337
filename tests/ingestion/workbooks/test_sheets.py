"""Sheets: each cell as it is shown, from workbooks and from delimited text, within limits."""

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from ingestion.errors import DocumentError
from ingestion.workbooks import sheets
from ingestion.workbooks.sheets import Sheet, read_delimited, read_workbook
from tests.case_rows import case_rows


def no_program() -> Path:
    raise DocumentError("There is no program that calculates.")


def texts(sheet: Sheet) -> list[list[str]]:
    """The cells of the rows of a sheet that have any."""
    rows = dict[int, list[str]]()
    for (row, _), cell in sheet.cells.items():
        rows.setdefault(row, []).append(cell.text)
    return list(rows.values())


def saved(book: Workbook, path: Path) -> Path:
    book.save(path)
    return path


def test_cells_are_read_as_shown_and_hidden_sheets_too(tmp_path: Path) -> None:
    book = Workbook()
    first = book.active
    first.title = "Budget"
    first.append(["Item", 2024])
    first.append(["Share", 0.125])
    first["B2"].number_format = "0.0%"
    first.merge_cells("A4:B4")
    first["A4"] = "All amounts are estimates"
    book.create_sheet("Empty")
    hidden = book.create_sheet("Working")
    hidden.sheet_state = "veryHidden"
    hidden["C3"] = "kept"
    read = read_workbook(saved(book, tmp_path / "a.xlsx"), no_program)
    assert [(sheet.name, sheet.hidden) for sheet in read] == [("Budget", False), ("Working", True)]
    assert texts(read[0]) == [["Item", "2024"], ["Share", "12.5%"], ["All amounts are estimates"]]
    assert read[0].merged[4, 2] == (4, 1)
    assert [*read[1].cells] == [(3, 3)]


def test_a_formula_keeps_the_value_it_was_saved_with_and_is_never_evaluated(tmp_path: Path) -> None:
    book = Workbook()
    book.active["A1"] = "=1+1"
    path = saved(book, tmp_path / "a.xlsx")
    (cell,) = read_workbook(path, no_program)[0].cells.values()
    assert (cell.text, cell.formula) == ("not calculated", "= 1+1")
    with_value = tmp_path / "b.xlsx"
    rewrite(path, with_value, "xl/worksheets/sheet1.xml", "<v />", "<v>7</v>")
    (cell,) = read_workbook(with_value, no_program)[0].cells.values()
    assert (cell.text, cell.formula) == ("7", "= 1+1")
    (cell,) = read_workbook(path, lambda: with_value)[0].cells.values()
    assert (cell.text, cell.formula) == ("7", "= 1+1")


def rewrite(source: Path, target: Path, part: str, old: str, new: str) -> None:
    """Copy a workbook with a text replaced in one of its parts."""
    with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name in read.namelist():
            data = read.read(name)
            if name == part:
                assert old.encode() in data
                data = data.replace(old.encode(), new.encode())
            written.writestr(name, data)


def test_of_a_long_sheet_the_beginning_is_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Workbook(write_only=True)
    long = book.create_sheet("Ledger")
    for number in range(sheets.MOST_ROWS + 20):
        long.append([number])
    path = saved(book, tmp_path / "a.xlsx")
    for largest in (sheets.LARGEST_WHOLE, 100):  # held in memory as a whole, and not
        monkeypatch.setattr(sheets, "LARGEST_WHOLE", largest)
        (sheet,) = read_workbook(path, no_program)
        assert sheet.cut
        assert len(sheet.cells) == sheets.MOST_ROWS


def test_a_large_sheet_is_read_without_holding_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = Workbook()
    book.active.append(["Item", 5])
    path = saved(book, tmp_path / "a.xlsx")
    whole = read_workbook(path, no_program)
    monkeypatch.setattr(sheets, "LARGEST_WHOLE", 100)
    assert read_workbook(path, no_program) == whole


def test_a_workbook_that_unpacks_to_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for number in range(5):
            with parts.open(f"xl/worksheets/sheet{number}.xml", "w", force_zip64=True) as part:
                for _ in range(100):
                    part.write(b" " * 2**20)
    with pytest.raises(DocumentError, match="unpacks to more than 400 MiB"):
        read_workbook(path, no_program)


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    book = Workbook()
    book.active["A1"] = "here"
    path = saved(book, tmp_path / "a.xlsx")
    laughs = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
    head = f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}]>'
    rewrite(path, tmp_path / "b.xlsx", "xl/workbook.xml", "<workbook ", f"{head}<workbook ")
    with pytest.raises(DocumentError, match="damaged"):
        read_workbook(tmp_path / "b.xlsx", no_program)


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"no workbook", b""])
def test_a_broken_workbook_gets_a_clear_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.xlsx").write_bytes(data)
    with pytest.raises(DocumentError, match="damaged") as caught:
        read_workbook(tmp_path / "a.xlsx", no_program)
    assert "save it again" in caught.value.hint


DIALECTS = case_rows("""
utf-8     | Item,2024\\nRoads,"1,204"     | Item/2024 Roads/1,204
utf-8-sig | Item;2024\\nRoads;1.204,5     | Item/2024 Roads/1.204,5
utf-16    | Item\\t2024\\nRoads\\t12      | Item/2024 Roads/12
cp1252    | Posten;2024\\nLöhne;1,5       | Posten/2024 Löhne/1,5
utf-8     | Titel\\n\\nJahr;Wert\\n2023;1,5\\n2024;2,5 | Titel Jahr/Wert 2023/1,5 2024/2,5
utf-8     | Item\\nRoads                  | Item Roads
utf-8     | a;"x\\ny"\\nb;2               | a/x y b/2
""")


@pytest.mark.parametrize(("encoding", "text", "expected"), DIALECTS)
def test_the_separator_and_the_encoding_are_found(
    tmp_path: Path, encoding: str, text: str, expected: str
) -> None:
    written = text.replace("\\n", "\n").replace("\\t", "\t")
    (tmp_path / "a.csv").write_bytes(written.encode(encoding))
    (sheet,) = read_delimited(tmp_path / "a.csv", "a")
    assert " ".join("/".join(row) for row in texts(sheet)) == expected


def test_text_with_formulas_stays_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("=1+1,@SUM(A1)\n+5,-3\n")
    (sheet,) = read_delimited(tmp_path / "a.csv", "a")
    assert texts(sheet) == [["=1+1", "@SUM(A1)"], ["+5", "-3"]]
    assert not any(cell.formula for cell in sheet.cells.values())


def test_a_file_without_cells_has_no_sheets(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(" ;\n\n")
    assert read_delimited(tmp_path / "a.csv", "a") == []
