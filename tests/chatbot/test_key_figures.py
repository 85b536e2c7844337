"""The arithmetic of a sheet of key figures: its columns, ratios and units, and the sheet as CSV and as a
workbook.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from chatbot.comparison.key_figure_files import (
    figure_lines,
    figure_text,
    original_text,
    sheet_csv,
    sheet_xlsx,
)
from chatbot.comparison.key_figure_records import DocumentFigures, FigurePeriod, KeyFigure
from chatbot.comparison.key_figures import KeyFigureSheet, SheetRow, key_figure_sheet, sheet_parts

FAMILIES = frozenset({"accounts", "position"})
HOSTILE = "=HYPERLINK(1) <b>x</b>"
YEAR = {year: FigurePeriod(str(year), year, year) for year in range(2019, 2025)}


def figure(
    measure: str, value: float, year: int = 2023, *, scale: float = 1e6, unit: str | None = "$"
) -> KeyFigure:
    text = f"({-value:,})" if value < 0 else f"{value:,}"
    decimals = len(str(value).partition(".")[2]) if value % 1 else 0
    label = f"Row {measure}"
    return KeyFigure(measure, YEAR[year], text, value, unit, scale, decimals, label, str(year), page=7)


def document(name: str, *figures: KeyFigure, own: str = "", remark: str = "") -> DocumentFigures:
    return DocumentFigures(name, 1, figures, FAMILIES, remark, own)


def texts(sheet: KeyFigureSheet) -> dict[str, list[str]]:
    """What the sheet shows, by row; "-" for a gap."""
    found = {}
    for row in sheet.rows:
        cells = [sheet.cell(row, column) for column in sheet.columns]
        found[row.shown] = [row.text_of(cell) if cell else "-" for cell in cells]
    return found


def unit_of(sheet: KeyFigureSheet, shown: str) -> str:
    return next(row.unit_text for row in sheet.rows if row.shown == shown)


def test_columns_are_documents_by_period_the_newest_first() -> None:
    first = document("B.pdf", figure("revenue", 10, 2022), figure("revenue", 12, 2023))
    sheet = key_figure_sheet([first, document("A.pdf", figure("revenue", 5, 2021))])
    assert [(column.document, column.period.text) for column in sheet.columns] == [
        ("B.pdf", "2023"),
        ("B.pdf", "2022"),
        ("A.pdf", "2021"),
    ]
    assert texts(sheet) == {"Revenue": ["12", "10", "5"]}


def test_parts_of_a_year_stand_behind_it_in_order_of_time() -> None:
    quarters = [FigurePeriod(f"Q{number} 2022", 2022, 2022, 3) for number in (2, 1, 4)]
    periods = [*quarters, FigurePeriod("6 months 2022", 2022, 2022, 6), YEAR[2022]]
    figures = [KeyFigure("revenue", period, "1", 1.0, "$", page=1) for period in periods]
    sheet = key_figure_sheet([document("A.pdf", *figures)])
    shown = [column.period.text for column in sheet.columns]
    assert shown == ["2022", "6 months 2022", "Q4 2022", "Q2 2022", "Q1 2022"]


def test_a_document_stands_for_itself_with_its_own_period_else_its_fullest() -> None:
    plan = [figure("revenue", 10 + year, year) for year in (2022, 2023, 2024)]
    of_itself = document("A.pdf", *plan, own="2022")
    fullest = document("B.pdf", *plan, figure("net income", 1, 2023))
    sheet = key_figure_sheet([of_itself, fullest, document("C.pdf")])
    assert [(column.document, column.period.text) for column in sheet.main] == [
        ("A.pdf", "2022"),
        ("B.pdf", "2023"),
    ]


def test_what_none_states_is_named_and_gaps_stay_gaps() -> None:
    sheet = key_figure_sheet(
        [document("A.pdf", figure("revenue", 10, 2023), figure("total assets", 7, 2022))]
    )
    assert texts(sheet)["Revenue"] == ["10", "-"]
    assert "Net income" in sheet.lacking
    assert "Revenue" not in sheet.lacking
    assert not any("GDP" in name for name in sheet.lacking)


def test_margins_and_free_cash_flow_show_how_they_were_worked_out() -> None:
    printed = (
        figure("revenue", 400),
        figure("operating income", -30),
        figure("operating cash flow", 90),
        figure("capital expenditure", -35),
    )
    sheet = key_figure_sheet([document("A.pdf", *printed)])
    made = {figure.measure: figure for figure in sheet.cells.values()}
    assert made["operating margin"].formula == "100 × (−30) / 400 = −7.5%"
    assert made["operating margin"].operands == (printed[1], printed[0])
    assert made["free cash flow"].formula == "90 − 35 = 55"
    assert "net margin" not in made


@pytest.mark.parametrize(
    "whole", [figure("revenue", 0), figure("revenue", -5), figure("revenue", 5, unit="€")]
)
def test_no_margin_of_nothing_or_of_other_money(whole: KeyFigure) -> None:
    sheet = key_figure_sheet([document("A.pdf", figure("net income", 5), whole)])
    assert not any(measure == "net margin" for measure, _ in sheet.cells)


def test_a_row_has_one_unit_the_original_stays() -> None:
    in_thousands = figure("revenue", 11_692_713, scale=1e3)
    sheet = key_figure_sheet([document("A.pdf", in_thousands), document("B.pdf", figure("revenue", 39_403))])
    assert texts(sheet)["Revenue"] == ["11,692.7", "39,403"]
    assert unit_of(sheet, "Revenue") == "$ million"
    assert original_text(in_thousands) == "11,692,713, row “Row revenue”, column “2023”"


def test_a_small_figure_keeps_its_digits() -> None:
    sheet = key_figure_sheet(
        [document("A.pdf", figure("revenue", 30, scale=1e3)), document("B.pdf", figure("revenue", 9))]
    )
    assert unit_of(sheet, "Revenue") == "$ thousand"
    assert texts(sheet)["Revenue"] == ["30", "9,000"]


def test_each_row_has_one_currency_and_says_it() -> None:
    sheet = key_figure_sheet(
        [
            document("A.pdf", figure("revenue", 10, unit="₹", scale=1e7)),
            document("B.pdf", figure("revenue", 4, unit="$", scale=1e6)),
            document("C.pdf", figure("revenue", 5, unit="$", scale=1e9)),
        ]
    )
    dollars, rupees = sheet.rows
    assert (dollars.unit_text, rupees.unit_text) == ("$ million", "₹ crore")
    of_dollars = [sheet.cell(dollars, column) for column in sheet.columns]
    assert [cell and dollars.text_of(cell) for cell in of_dollars] == [None, "4", "5,000"]
    of_rupees = [sheet.cell(rupees, column) for column in sheet.columns]
    assert [cell and rupees.text_of(cell) for cell in of_rupees] == ["10", None, None]
    assert sheet.is_elsewhere(dollars, sheet.columns[0])
    assert not sheet.is_elsewhere(rupees, sheet.columns[0])
    assert [(line["document"], line["unit"]) for line in figure_lines(sheet)] == [
        ("B.pdf", "$ million"),
        ("C.pdf", "$ million"),
        ("A.pdf", "₹ crore"),
    ]


def test_amounts_in_brackets_are_negative_and_per_share_has_no_scale() -> None:
    sheet = key_figure_sheet(
        [document("A.pdf", figure("net income", -341), figure("diluted earnings per share", -0.29, scale=1))]
    )
    assert texts(sheet) == {"Net income": ["−341"], "Earnings per share, diluted": ["−0.29"]}


def test_documents_that_share_no_row_are_in_parts_without_gaps() -> None:
    accounts = [document(name, figure("revenue", 5), figure("equity", 1)) for name in ("A.pdf", "B.pdf")]
    budget = replace(document("C.pdf", figure("public debt", 9)), families=frozenset({"budget"}))
    sheet = key_figure_sheet([budget, *accounts])
    first, second = sheet_parts(sheet)
    assert [column.document for column in first.columns] == ["A.pdf", "B.pdf"]
    assert [row.measure for row in first.rows] == ["revenue", "equity"]
    assert [column.document for column in second.main] == ["C.pdf"]
    assert [row.measure for row in second.rows] == ["public debt"]
    for part in (first, second):
        assert all(part.cell(row, column) for row in part.rows for column in part.columns)
    assert sheet_parts(KeyFigureSheet()) == []


def test_a_column_is_headed_by_its_fiscal_year() -> None:
    may = replace(document("A.pdf", figure("revenue", 5, 2023)), year_end=5)
    (column,) = key_figure_sheet([may]).columns
    assert column.shown == "FY 2023 (to May)"
    (line, *_) = figure_lines(key_figure_sheet([may]))
    assert line["period"] == "2023"
    assert line["fiscal year"] == "FY 2023 (to May)"


@pytest.fixture
def sheet() -> KeyFigureSheet:
    hostile = KeyFigure("revenue", YEAR[2023], "1,200", 1_200, "$", 1e6, label=HOSTILE, page=3)
    other = figure("net income", -90, 2022)
    return key_figure_sheet([document("=A.pdf", hostile, figure("net income", 90), other)])


def test_csv_has_a_line_for_each_cell_and_no_formula(sheet: KeyFigureSheet) -> None:
    text = sheet_csv(sheet).decode("utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == len(sheet.rows) * len(sheet.columns)
    revenue, gap = lines[:2]
    assert revenue["document"] == "'=A.pdf"
    assert revenue["row"] == f"'{HOSTILE}"
    assert revenue["value in full"] == "1200000000"
    assert (revenue["page"], revenue["as printed"], revenue["unit"]) == ("3", "1,200", "$ million")
    assert gap["remark"] == "not in the tables of this document"
    loss = next(line for line in lines if line["value in full"].startswith("-"))
    assert loss["figure in the unit of its row"] == "-90"
    for line in lines:
        for head, cell in line.items():
            number = head in ("figure in the unit of its row", "value in full", "page")
            assert number or not cell.startswith(("=", "+", "-", "@"))


def test_a_workbook_has_numbers_and_texts_and_no_formula(sheet: KeyFigureSheet) -> None:
    with zipfile.ZipFile(io.BytesIO(sheet_xlsx(sheet))) as book:
        parts = {name: book.read(name).decode("utf-8") for name in book.namelist()}
    pages = [text for name, text in parts.items() if re.fullmatch(r"xl/worksheets/sheet\d\.xml", name)]
    assert len(pages) == 2
    for page in pages:
        assert "<f>" not in page
        assert "hyperlink" not in page
    assert "<v>1200</v>" in pages[0]
    strings = ElementTree.fromstring(parts["xl/sharedStrings.xml"])
    written = {"".join(item.itertext()) for item in strings}
    assert {HOSTILE, "=A.pdf", "not in the tables of this document", "Net margin"} <= written


def test_lines_of_text_name_page_row_and_gap(sheet: KeyFigureSheet) -> None:
    row = SheetRow("revenue", "Revenue", 1e6, "$")
    here, before = sheet.columns
    assert figure_text(row, here, sheet.cell(row, here)) == (
        f"Revenue, =A.pdf, 2023: 1,200 $ million - page 3, “{HOSTILE}”"
    )
    assert figure_text(row, before, None) == "Revenue, =A.pdf, 2022: not in the tables of this document"
    lines = [line for line in figure_lines(sheet) if line["measure"] == "Net margin"]
    assert lines[0]["formula"] == "100 × 90 / 1,200 = 7.5%"
    assert lines[0]["row"] == f"Row net income; {HOSTILE}"
