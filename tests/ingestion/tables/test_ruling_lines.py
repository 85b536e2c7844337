"""Ruled tables: rules as PDFium has them, cells of several lines, sections, numbered items, heads carried
on; what is ruled and no table.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading.layout import lines_of
from ingestion.reading.pdf import PdfFile
from ingestion.records import Page, Rect, Table, Word
from ingestion.tables.detection import continue_tables, find_tables
from ingestion.tables.ruling_lines import Rules, drawn_rules
from ingestion.tables.word_kinds import is_value

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
            height = LINE * tallest + 6
            sides = [*xs[: len(row)], xs[-1]]
            for cell, left, right in zip(row, sides, sides[1:], strict=False):
                self.frame(left, y - height, right, y, how)
                parts = cell.split("\n")
                start = y - LINE + 1 - LINE * (tallest - len(parts)) / 2
                for number, part in enumerate(parts):
                    self.canvas.drawString(left + 4, start - LINE * number, part)
            y -= height
        return HEIGHT - y

    def frame(self, left: float, bottom: float, right: float, top: float, how: str) -> None:
        if how == "boxes":
            self.canvas.rect(left, bottom, right - left, top - bottom)
        elif how == "thin":
            for x, y, width, height in (
                (left, bottom, right - left, 0.5),
                (left, bottom, 0.5, top - bottom),
                (right, bottom, 0.5, top - bottom),
            ):
                self.canvas.rect(x, y, width, height, stroke=0, fill=1)
            self.canvas.rect(left, top, right - left, 0.5, stroke=0, fill=1)
        else:
            self.canvas.lines(
                [
                    (left, bottom, right, bottom),
                    (left, top, right, top),
                    (left, bottom, left, top),
                    (right, bottom, right, top),
                ]
            )

    def text(self, x: float, y: float, text: str) -> None:
        self.canvas.drawString(x, HEIGHT - y, text)

    def pages(self) -> list[Page]:
        self.canvas.save()
        read, document = PdfFile(self.path), pdfium.PdfDocument(self.path)
        pages = []
        for number in range(1, len(document) + 1):
            text, _, words = read.words(number)
            tables = find_tables(text, words, partial(drawn_rules, document[number - 1], place))
            pages.append(Page(number, text, lines=lines_of(text, words), tables=tuple(tables)))
        return pages


def read_rows(table: Table) -> list[tuple[str, str, list[str | None]]]:
    found = []
    for row in table.rows:
        texts = [cell.text if cell else None for cell in row.cells]
        found.append((row.section, row.label, texts))
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
    tmp_path: Path, how: str
) -> None:
    sheet = Sheet(tmp_path / "duties.pdf")
    sheet.text(70, 90, "Annex I: Customs duty")
    sheet.table(100, DUTIES, how=how)
    ((table,),) = (page.tables for page in sheet.pages())
    assert table.caption == "Annex I: Customs duty" and table.unit == "(per cent)"
    assert table.heads == ("From (per cent)", "To (per cent)")
    assert read_rows(table) == [
        (
            "I. Chemicals",
            "1. Other compounds containing a imidazole ring, whether or not hydrogenated",
            ["10", "7.5"],
        ),
        ("I. Chemicals", "2. Scrap of antimony, beryllium and cobalt", ["10/5/2.5", "Nil"]),
        (
            "II. Medicines",
            "1. Addition of six medicines and base salts for their manufacture",
            ["As applicable", "5"],
        ),
    ]


BESIDE = (
    [["Tax", "2024"], ["Beer", "4.10"], ["Wine", "6.20"], ["Spirits", "19.00"]],
    [["Fee", "2025"], ["Passport", "85"], ["Licence", "40"], ["Permit", "125"]],
)


def test_prose_beside_a_table_is_no_caption_of_it(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "prose.pdf")
    for number, line in enumerate(
        (
            "I wish to state that all of the",
            "incentives that the state provides",
            "are available to both local and",
            "foreign investors.",
        )
        * 2
    ):
        sheet.text(60, 80 + 13 * number, line)
    sheet.text(310, 90, "The proposed fees:")
    sheet.table(100, BESIDE[0], xs=(310, 380, 440))
    ((table,),) = (page.tables for page in sheet.pages())
    assert (table.caption, table.heads) == ("The proposed fees:", ("2024",))


def test_tables_side_by_side_are_two_under_one_caption(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "beside.pdf")
    sheet.text(70, 90, "Table 2. Duties and fees (euros)")
    for rows, xs in zip(BESIDE, ((70, 130, 190), (310, 380, 440)), strict=True):
        sheet.table(100, rows, xs=xs)
    ((first, second),) = (page.tables for page in sheet.pages())
    assert (first.heads, second.heads) == (("2024",), ("2025",))
    assert first.caption == second.caption == "Table 2. Duties and fees (euros)"
    assert read_rows(first) == [("", "Beer", ["4.10"]), ("", "Wine", ["6.20"]), ("", "Spirits", ["19.00"])]
    assert read_rows(second) == [("", "Passport", ["85"]), ("", "Licence", ["40"]), ("", "Permit", ["125"])]


def test_figures_framed_apart_from_their_labels_stay_in_one_table(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "apart.pdf")
    sheet.table(
        100, [["Tax", "2023"], ["Beer", "4.10"], ["Wine", "6.20"], ["Spirits", "19.00"]], xs=(70, 130, 190)
    )
    sheet.table(
        100, [["2024", "2025"], ["4.30", "4.40"], ["6.50", "6.70"], ["19.50", "19.90"]], xs=(200, 260, 320)
    )
    ((table,),) = (page.tables for page in sheet.pages())
    assert table.heads == ("2023", "2024", "2025")
    assert read_rows(table)[1] == ("", "Wine", ["6.20", "6.50", "6.70"])


def test_numbered_items_in_one_cell_are_rows_of_their_own(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "items.pdf")
    sheet.table(
        100,
        [
            HEADS,
            ["1.", "(i) Engine capacity not\nexceeding 1250 CC\n(ii) Semi-knocked down", "50\n25", "40\n20"],
        ],
    )
    ((table,),) = (page.tables for page in sheet.pages())
    assert read_rows(table) == [
        ("", "1. (i) Engine capacity not exceeding 1250 CC", ["50", "40"]),
        ("", "1. (ii) Semi-knocked down", ["25", "20"]),
    ]


def test_rates_by_range_are_rows_named_by_the_range(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "slabs.pdf")
    sheet.table(
        100,
        [["0-4 lakh", "Nil"], ["4-8 lakh", "5 per cent"], ["Above 8 lakh", "10 per cent"]],
        xs=(70, 300, 480),
    )
    ((table,),) = (page.tables for page in sheet.pages())
    assert read_rows(table) == [
        ("", "0-4 lakh", ["Nil"]),
        ("", "4-8 lakh", ["5 per cent"]),
        ("", "Above 8 lakh", ["10 per cent"]),
    ]


def test_a_cell_over_two_rows_is_of_both_and_a_head_over_two_columns_too(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "spans.pdf")
    canvas = sheet.canvas
    xs, ys = (70, 250, 350, 450), (100, 120, 140, 160, 180, 200)
    canvas.lines(
        [(x, HEIGHT - 100, x, HEIGHT - 200) for x in (70, 250, 450)]
        + [(350, HEIGHT - 120, 350, HEIGHT - 200)]
    )
    canvas.lines([(250 if y == 120 else 70, HEIGHT - y, 350 if y == 180 else 450, HEIGHT - y) for y in ys])
    rows = [
        ("", "Threshold"),
        ("Payment", "Present", "Proposed"),
        ("Dividend", "5,000/-", "10,000/-"),
        ("Lottery", "10,000/-"),
        ("Races", "10,000/-"),
    ]
    for number, row in enumerate(rows):
        for x, text in zip(xs, row, strict=False):
            sheet.text(x + 4, ys[number] + 14, text)
    sheet.text(354, 184, "Nil")
    ((table,),) = (page.tables for page in sheet.pages())
    assert table.heads == ("Threshold > Present", "Threshold > Proposed")
    assert [row[1:] for row in read_rows(table)] == [
        ("Dividend", ["5,000/-", "10,000/-"]),
        ("Lottery", ["10,000/-", "Nil"]),
        ("Races", ["10,000/-", "Nil"]),
    ]


def test_bare_labels_stand_under_the_head_of_their_column(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "bare.pdf")
    sheet.table(
        100,
        [["Income", "Tax", "Rebate"], ["8 lac", "20,000", "10,000"], ["9 lac", "30,000", "10,000"]],
        xs=(70, 200, 300, 400),
    )
    ((table,),) = (page.tables for page in sheet.pages())
    assert [row.section for row in table.rows] == ["Income", "Income"]


def test_a_table_goes_on_over_the_page_end_without_and_with_its_heads(tmp_path: Path) -> None:
    for repeated in ([], [HEADS]):
        sheet = Sheet(tmp_path / f"on{len(repeated)}.pdf")
        sheet.text(70, 690, "Annex II: Duties")
        sheet.table(700, DUTIES[:3])
        sheet.canvas.showPage()
        sheet.canvas.setFont("Helvetica", SIZE)
        sheet.table(
            60,
            [*repeated, ["2.", "Footwear", "35", "20"], ["II.", "Medicines"], ["1.", "Vaccines", "5", "Nil"]],
        )
        _, second = continue_tables(sheet.pages())
        (table,) = second.tables
        assert (
            table.continued
            and table.caption == "Annex II: Duties"
            and table.heads == ("From (per cent)", "To (per cent)")
        )
        assert [row.section for row in table.rows] == ["I. Chemicals", "II. Medicines"]


def test_rows_numbered_from_one_again_are_of_another_table(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "again.pdf")
    sheet.table(700, DUTIES[:3])
    sheet.canvas.showPage()
    sheet.canvas.setFont("Helvetica", SIZE)
    sheet.table(60, [HEADS, ["1.", "Footwear", "35", "20"]])
    pages = sheet.pages()
    assert continue_tables(pages) == pages


def test_frames_around_paragraphs_and_forms_are_no_tables(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "frames.pdf")
    prose = "\n".join(["The rate of 5 per cent applies to all of the"] * 9)
    bottom = sheet.table(60, [[prose, prose], [prose, prose]], xs=(70, 280, 490))
    bottom = sheet.table(bottom + 20, [["Name", ""], ["Date", ""], ["Amount of 10", ""]], xs=(70, 280, 490))
    ((tables),) = (page.tables for page in sheet.pages())
    assert not tables


def test_rules_that_miss_a_column_do_not_cost_it(tmp_path: Path) -> None:
    # Shaded label and first figure together, as statements are printed: the words alone tell the columns.
    sheet = Sheet(tmp_path / "shade.pdf")
    rows = [
        ("Products", "56,435", "54,928", "50,053"),
        ("Services", "10,609", "10,470", "9,759"),
        ("Net sales", "67,044", "65,398", "59,812"),
    ]
    for number, row in enumerate(rows):
        for x, text in zip((70, 240, 340, 440), row, strict=True):
            sheet.text(x, 114 + 18 * number, text)
    sheet.canvas.lines([(60, HEIGHT - y, 500, HEIGHT - y) for y in (100, 118, 136, 154)])
    sheet.canvas.lines([(x, HEIGHT - 100, x, HEIGHT - 154) for x in (60, 320, 420, 500)])
    ((table,),) = (page.tables for page in sheet.pages())
    assert [cell and cell.text for cell in table.rows[0].cells] == ["56,435", "54,928", "50,053"]


def test_rules_are_read_as_they_are_shown(tmp_path: Path) -> None:
    sheet = Sheet(tmp_path / "rules.pdf")
    sheet.canvas.line(50, 700, 500, 700)
    sheet.canvas.rect(50, 600, 100, 50)
    sheet.canvas.rect(300, 600, 100, 50, stroke=0, fill=1)
    sheet.canvas.line(50, 500, 300, 400)
    sheet.canvas.save()
    rules = drawn_rules(pdfium.PdfDocument(sheet.path)[0], place)
    assert len(rules.across) == 3 and len(rules.down) == 2
    assert min(rule.x1 for rule in rules.down) == pytest.approx(50 / WIDTH, abs=0.002)


CELL_VALUES = """
30,000/-
Nil
15/10
10/5/2.5
As applicable
5 per cent
4 to 8 lakh
Exempt
n/a
(2.5)
$9.90 – $10.00 / $9.95
""".strip().split("\n")


@pytest.mark.parametrize("text", CELL_VALUES)
def test_what_a_cell_says_is_a_value(text: str) -> None:
    assert is_value(text)


NO_VALUES = """
Substance
5 medicines
3 to
Rate of tax
per cent
Tier one
""".strip().split("\n")
NO_VALUES += [""]


@pytest.mark.parametrize("text", NO_VALUES)
def test_what_names_something_is_no_value(text: str) -> None:
    assert not is_value(text)


shares = st.floats(-0.5, 1.5)
boxes = st.builds(Rect, shares, shares, shares, shares)
texts = st.sampled_from(["1.", "II.", "12", "Nil", "tax", "(i)", "2024", "5,000/-", "of", "-", "%"])


@given(
    st.lists(st.tuples(texts, boxes), max_size=40), st.lists(boxes, max_size=30), st.lists(boxes, max_size=30)
)
def test_nothing_makes_it_raise(placed: list[tuple[str, Rect]], across: list[Rect], down: list[Rect]) -> None:
    text, words = "", []
    for word, box in placed:
        words.append(Word(word, box, None, len(text), len(text) + len(word)))
        text += f"{word} "
    for table in find_tables(text, words, lambda: Rules(tuple(across), tuple(down))):
        assert all(
            len(row.cells) == len(table.heads) and 0 <= row.start <= row.end <= len(text)
            for row in table.rows
        )


def test_a_page_of_drawings_costs_no_more_than_its_points_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = Canvas(str(tmp_path / "map.pdf"), pagesize=(WIDTH, HEIGHT), invariant=1)
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
    with pdfium.PdfDocument(str(tmp_path / "map.pdf")) as document:
        page = document[0]
        assert len(drawn_rules(page, place).across) == 1
        monkeypatch.setattr("ingestion.tables.ruling_lines.MOST_POINTS_OF_PAGE", 1_000)
        assert drawn_rules(page, place) == Rules()
