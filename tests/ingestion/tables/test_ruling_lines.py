"""Ruled tables: rules as PDFium has them, cells of several lines, sections, numbered items, heads carried
on; what is ruled and no table.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading.layout import lines_of
from ingestion.reading.page_objects import PageObjects
from ingestion.reading.pdf import PdfFile
from ingestion.records import Page, Rect, Table
from ingestion.tables.detection import continue_tables, find_tables
from ingestion.tables.ruling_lines import Rules, drawn_rules
from ingestion.tables.word_kinds import is_value
from tests.case_rows import case_rows

WIDTH, HEIGHT, SIZE, LINE = 595, 842, 9, 12
XS = (70, 110, 300, 390, 480)
HEADS = ["S. No.", "Substance", "From (per cent)", "To (per cent)"]
Cells = Sequence[str]


def place(left: float, top: float, right: float, bottom: float) -> Rect:
    return Rect(left / WIDTH, 1 - top / HEIGHT, right / WIDTH, 1 - bottom / HEIGHT)


class Sheet:
    """Draws ruled tables, each row as high as its tallest cell; values stand level with the middle of
    their labels.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), invariant=1)
        self.canvas.setFont("Helvetica", SIZE)

    def table(
        self, top: float, rows: Sequence[Cells], *, xs: Sequence[float] = XS, how: str = "lines"
    ) -> float:
        """Draw the table; a row with fewer cells than columns has its last one over all that remain. Gives
        its bottom.
        """
        y = HEIGHT - top
        for row in rows:
            tallest = max(cell.count("\n") + 1 for cell in row)
            bottom = y - LINE * tallest - 6
            sides = [*xs[: len(row)], xs[-1]]
            for cell, left, right in zip(row, sides, sides[1:], strict=False):
                self.frame(left, bottom, right, y, how)
                parts = cell.split("\n")
                spare = LINE * (tallest - len(parts))
                start = y - LINE + 1 - spare / 2
                for number, part in enumerate(parts):
                    self.canvas.drawString(left + 4, start - LINE * number, part)
            y = bottom
        return HEIGHT - y

    def frame(self, left: float, bottom: float, right: float, top: float, how: str) -> None:
        width, height = right - left, top - bottom
        if how == "boxes":
            self.canvas.rect(left, bottom, width, height)
        elif how == "thin":
            self.bar(left, bottom, width, 0.5)
            self.bar(left, bottom, 0.5, height)
            self.bar(right, bottom, 0.5, height)
            self.bar(left, top, width, 0.5)
        else:
            self.canvas.line(left, bottom, right, bottom)
            self.canvas.line(left, top, right, top)
            self.canvas.line(left, bottom, left, top)
            self.canvas.line(right, bottom, right, top)

    def bar(self, left: float, bottom: float, width: float, height: float) -> None:
        self.canvas.rect(left, bottom, width, height, stroke=0, fill=1)

    def across(self, left: float, right: float, y: float) -> None:
        self.canvas.line(left, HEIGHT - y, right, HEIGHT - y)

    def down(self, x: float, top: float, bottom: float) -> None:
        self.canvas.line(x, HEIGHT - top, x, HEIGHT - bottom)

    def turn(self) -> None:
        """Begin the next page."""
        self.canvas.showPage()
        self.canvas.setFont("Helvetica", SIZE)

    def text(self, x: float, y: float, text: str) -> None:
        self.canvas.drawString(x, HEIGHT - y, text)

    def pages(self) -> list[Page]:
        self.canvas.save()
        read, document = PdfFile(self.path), pdfium.PdfDocument(self.path)
        pages = []
        for number in range(1, len(document) + 1):
            text, _, words = read.words(number)
            page = document[number - 1]
            rules = partial(drawn_rules, place, PageObjects(page))
            tables = tuple(find_tables(text, words, rules))
            pages.append(Page(number, text, lines=lines_of(text, words), tables=tables))
        return pages

    def tables(self) -> tuple[Table, ...]:
        """Those of the only page."""
        (page,) = self.pages()
        return page.tables

    def only(self) -> Table:
        """The one table of the only page."""
        (table,) = self.tables()
        return table


@pytest.fixture
def sheet(tmp_path: Path) -> Sheet:
    return Sheet(tmp_path / "ruled.pdf")


def read_rows(table: Table) -> list[tuple[str, ...]]:
    """The section, the label and the cells of each row."""
    found = []
    for row in table.rows:
        texts = [cell.text if cell else "None" for cell in row.cells]
        found.append((row.section, row.label, *texts))
    return found


DUTIES = [
    HEADS,
    ["I.", "Chemicals"],
    ["1.", "Other compounds containing a\nimidazole ring, whether or not\nhydrogenated", "10", "7.5"],
    ["2.", "Scrap of antimony, beryllium\nand cobalt", "10/5/2.5", "Nil"],
    ["II.", "Medicines"],
    ["1.", "Addition of six medicines and\nbase salts for their\nmanufacture", "As\napplicable", "5"],
]


@pytest.mark.parametrize("how", ["lines", "boxes", "thin"])
def test_labels_of_several_lines_belong_to_their_row_and_sections_to_those_below(
    sheet: Sheet, how: str
) -> None:
    sheet.text(70, 90, "Annex I: Customs duty")
    sheet.table(100, DUTIES, how=how)
    table = sheet.only()
    assert table.caption == "Annex I: Customs duty"
    assert table.unit == "(per cent)"
    assert table.heads == ("From (per cent)", "To (per cent)")
    assert read_rows(table) == case_rows("""
        I. Chemicals | 1. Other compounds containing a imidazole ring, whether or not hydrogenated | 10 | 7.5
        I. Chemicals | 2. Scrap of antimony, beryllium and cobalt | 10/5/2.5 | Nil
        II. Medicines | 1. Addition of six medicines and base salts for their manufacture | As applicable | 5
    """)


BESIDE = (
    [["Tax", "2024"], ["Beer", "4.10"], ["Wine", "6.20"], ["Spirits", "19.00"]],
    [["Fee", "2025"], ["Passport", "85"], ["Licence", "40"], ["Permit", "125"]],
)
LEFT, RIGHT = (70, 130, 190), (310, 380, 440)


def test_prose_beside_a_table_is_no_caption_of_it(sheet: Sheet) -> None:
    prose = (
        "I wish to state that all of the",
        "incentives that the state provides",
        "are available to both local and",
        "foreign investors.",
    )
    for number, line in enumerate(prose * 2):
        sheet.text(60, 80 + 13 * number, line)
    sheet.text(310, 90, "The proposed fees:")
    sheet.table(100, BESIDE[0], xs=RIGHT)
    table = sheet.only()
    assert table.caption == "The proposed fees:"
    assert table.heads == ("2024",)


def test_tables_side_by_side_are_two_under_one_caption(sheet: Sheet) -> None:
    sheet.text(70, 90, "Table 2. Duties and fees (euros)")
    sheet.table(100, BESIDE[0], xs=LEFT)
    sheet.table(100, BESIDE[1], xs=RIGHT)
    first, second = sheet.tables()
    assert first.heads == ("2024",)
    assert second.heads == ("2025",)
    assert first.caption == second.caption == "Table 2. Duties and fees (euros)"
    assert read_rows(first) == [("", "Beer", "4.10"), ("", "Wine", "6.20"), ("", "Spirits", "19.00")]
    assert read_rows(second) == [("", "Passport", "85"), ("", "Licence", "40"), ("", "Permit", "125")]


def test_figures_framed_apart_from_their_labels_stay_in_one_table(sheet: Sheet) -> None:
    labelled = [["Tax", "2023"], ["Beer", "4.10"], ["Wine", "6.20"], ["Spirits", "19.00"]]
    apart = [["2024", "2025"], ["4.30", "4.40"], ["6.50", "6.70"], ["19.50", "19.90"]]
    sheet.table(100, labelled, xs=LEFT)
    sheet.table(100, apart, xs=(200, 260, 320))
    table = sheet.only()
    assert table.heads == ("2023", "2024", "2025")
    _, wine, _ = read_rows(table)
    assert wine == ("", "Wine", "6.20", "6.50", "6.70")


def test_numbered_items_in_one_cell_are_rows_of_their_own(sheet: Sheet) -> None:
    label = "(i) Engine capacity not\nexceeding 1250 CC\n(ii) Semi-knocked down"
    sheet.table(100, [HEADS, ["1.", label, "50\n25", "40\n20"]])
    first, second = read_rows(sheet.only())
    assert first == ("", "1. (i) Engine capacity not exceeding 1250 CC", "50", "40")
    assert second == ("", "1. (ii) Semi-knocked down", "25", "20")


def test_rows_that_are_named_by_numbers_keep_all_their_values(sheet: Sheet) -> None:
    rows = [["Ward", "Kerbs", "Lamps"], ["1", "14,200", "9,050"], ["2", "11,800", "7,300"]]
    sheet.table(100, rows)
    table = sheet.only()
    assert table.heads == ("Kerbs", "Lamps")
    assert [row[1:] for row in read_rows(table)] == [tuple(row) for row in rows[1:]]


def test_rates_by_range_are_rows_named_by_the_range(sheet: Sheet) -> None:
    rates = [("0-4 lakh", "Nil"), ("4-8 lakh", "5 per cent"), ("Above 8 lakh", "10 per cent")]
    sheet.table(100, rates, xs=(70, 300, 480))
    assert read_rows(sheet.only()) == [("", *rate) for rate in rates]


def test_a_cell_over_two_rows_is_of_both_and_a_head_over_two_columns_too(sheet: Sheet) -> None:
    for x in (70, 250, 450):
        sheet.down(x, 100, 200)
    sheet.down(350, 120, 200)
    for y in (100, 140, 160, 200):
        sheet.across(70, 450, y)
    sheet.across(250, 450, 120)
    sheet.across(70, 350, 180)
    rows = [
        ("", "Threshold"),
        ("Payment", "Present", "Proposed"),
        ("Dividend", "5,000/-", "10,000/-"),
        ("Lottery", "10,000/-"),
        ("Races", "10,000/-"),
    ]
    for number, row in enumerate(rows):
        for x, text in zip((70, 250, 350), row, strict=False):
            sheet.text(x + 4, 114 + 20 * number, text)
    sheet.text(354, 184, "Nil")
    table = sheet.only()
    assert table.heads == ("Threshold > Present", "Threshold > Proposed")
    found = [row[1:] for row in read_rows(table)]
    assert found == case_rows("""
        Dividend | 5,000/-  | 10,000/-
        Lottery  | 10,000/- | Nil
        Races    | 10,000/- | Nil
    """)


def test_bare_labels_stand_under_the_head_of_their_column(sheet: Sheet) -> None:
    rows = [["Income", "Tax", "Rebate"], ["8 lac", "20,000", "10,000"], ["9 lac", "30,000", "10,000"]]
    sheet.table(100, rows, xs=(70, 200, 300, 400))
    sections = [row.section for row in sheet.only().rows]
    assert sections == ["Income", "Income"]


def test_a_table_goes_on_over_the_page_end_without_and_with_its_heads(tmp_path: Path) -> None:
    more = [["2.", "Footwear", "35", "20"], ["II.", "Medicines"], ["1.", "Vaccines", "5", "Nil"]]
    for rows in (more, [HEADS, *more]):
        sheet = Sheet(tmp_path / f"on{len(rows)}.pdf")
        sheet.text(70, 690, "Annex II: Duties")
        sheet.table(700, DUTIES[:3])
        sheet.turn()
        sheet.table(60, rows)
        _, second = continue_tables(sheet.pages())
        (table,) = second.tables
        assert table.continued
        assert table.caption == "Annex II: Duties"
        assert table.heads == ("From (per cent)", "To (per cent)")
        assert [row.section for row in table.rows] == ["I. Chemicals", "II. Medicines"]


def test_rows_numbered_from_one_again_are_of_another_table(sheet: Sheet) -> None:
    sheet.table(700, DUTIES[:3])
    sheet.turn()
    sheet.table(60, [HEADS, ["1.", "Footwear", "35", "20"]])
    pages = sheet.pages()
    assert continue_tables(pages) == pages


def test_frames_around_paragraphs_and_forms_are_no_tables(sheet: Sheet) -> None:
    prose = "\n".join(["The rate of 5 per cent applies to all of the"] * 9)
    xs = (70, 280, 490)
    bottom = sheet.table(60, [[prose, prose], [prose, prose]], xs=xs)
    sheet.table(bottom + 20, [["Name", ""], ["Date", ""], ["Amount of 10", ""]], xs=xs)
    assert not sheet.tables()


def test_rules_that_miss_a_column_do_not_cost_it(sheet: Sheet) -> None:
    # Shaded label and first figure together, as statements are printed: the words alone tell the columns.
    rows = case_rows("""
        Products  | 56,435 | 54,928 | 50,053
        Services  | 10,609 | 10,470 | 9,759
        Net sales | 67,044 | 65,398 | 59,812
    """)
    for number, row in enumerate(rows):
        for x, text in zip((70, 240, 340, 440), row, strict=True):
            sheet.text(x, 114 + 18 * number, text)
    for y in (100, 118, 136, 154):
        sheet.across(60, 500, y)
    for x in (60, 320, 420, 500):
        sheet.down(x, 100, 154)
    first, *_ = read_rows(sheet.only())
    assert first[2:] == ("56,435", "54,928", "50,053")


def test_lines_down_the_page_that_go_through_words_make_no_cells(sheet: Sheet) -> None:
    prose = "We have agreed to cover damages resulting from breaches of certain commitments made by us in our"
    rows = [
        ("Opening", "89", "43", "47", "8,027"),
        ("Issued", "66", "52", "53", "75"),
        ("Total", "155", "95", "100", "8,102"),
    ]
    for top in (60, 330):
        for line in range(9):
            words = prose.split()
            sheet.text(30, top + 14 * line, " ".join(words[line:] + words[:line]))
        for row, cells in enumerate(rows):
            for x, cell in zip((30, 320, 390, 460, 520), cells, strict=True):
                sheet.text(x, top + 150 + 16 * row, cell)
        for x in (320, 390, 460, 520):
            sheet.across(x - 5, x + 35, top + 171)
            sheet.across(x - 5, x + 35, top + 185)
            sheet.down(x - 5, 0, top + 186)
            sheet.down(x + 35, 0, top + 186)
            sheet.across(30, x + 35, top + 130)
    assert [read_rows(table) for table in sheet.tables()] == [[("", *row) for row in rows]] * 2


def test_rules_are_read_as_they_are_shown(sheet: Sheet) -> None:
    sheet.canvas.line(50, 700, 500, 700)
    sheet.canvas.rect(50, 600, 100, 50)
    sheet.bar(300, 600, 100, 50)
    sheet.canvas.line(50, 500, 300, 400)
    sheet.canvas.save()
    page = pdfium.PdfDocument(sheet.path)[0]
    rules = drawn_rules(place, PageObjects(page))
    assert len(rules.across) == 3
    assert len(rules.down) == 2
    leftmost = min(rule.x1 for rule in rules.down)
    assert leftmost == pytest.approx(50 / WIDTH, abs=0.002)


CELL_VALUES = (
    "30,000/-|Nil|15/10|10/5/2.5|As applicable|5 per cent|4 to 8 lakh|Exempt|n/a|(2.5)|$9.90 – $10.00 / $9.95"
).split("|")


@pytest.mark.parametrize("text", CELL_VALUES)
def test_what_a_cell_says_is_a_value(text: str) -> None:
    assert is_value(text)


NO_VALUES = "Substance|5 medicines|3 to|Rate of tax|per cent|Tier one".split("|")
NO_VALUES += [""]


@pytest.mark.parametrize("text", NO_VALUES)
def test_what_names_something_is_no_value(text: str) -> None:
    assert not is_value(text)


def test_a_page_of_drawings_costs_no_more_than_its_points_allowed(
    sheet: Sheet, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = sheet.canvas
    for _ in range(40):
        path = canvas.beginPath()
        path.moveTo(19, 13)
        for number in range(200):
            path.lineTo(20 + number, 10 + 3 * (number % 2))
        canvas.drawPath(path)
    drawn = canvas.beginPath()
    drawn.moveTo(50, 500)
    drawn.lineTo(400, 500)
    drawn.lineTo(400, 700)
    canvas.drawPath(drawn)
    canvas.save()
    with pdfium.PdfDocument(sheet.path) as document:
        page = document[0]
        objects = PageObjects(page)
        assert len(drawn_rules(place, objects).across) == 1
        monkeypatch.setattr("ingestion.tables.ruling_lines.MOST_POINTS_OF_PAGE", 1_000)
        assert drawn_rules(place, objects) == Rules()


def test_rules_drawn_as_thin_boxes_of_one_filled_path_are_rules(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(WIDTH, HEIGHT), invariant=1)
    path = canvas.beginPath()
    for y in (700, 680, 660):
        path.rect(70, y, 0.5, 0.5)
        path.rect(70, y, 400, 0.5)
    canvas.drawPath(path, fill=1, stroke=0)
    solid = canvas.beginPath()
    for x in (70, 200):
        solid.rect(x, 500, 100, 80)
    canvas.drawPath(solid, fill=1, stroke=0)
    canvas.save()
    with pdfium.PdfDocument(tmp_path / "a.pdf") as document:
        page = document[0]
        rules = drawn_rules(place, PageObjects(page))
    assert {round(HEIGHT * (1 - rule.middle)) for rule in rules.across} == {700, 680, 660}
    assert not rules.down
