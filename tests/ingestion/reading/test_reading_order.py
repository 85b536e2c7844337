"""The order of a page's text: columns, facing pages, sideways lines, lines drawn twice; and their neighbours,
which are read as they were drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import pypdfium2
import pytest
from reportlab.pdfgen.canvas import Canvas

from chatbot.evidence.highlights import locate_quote
from ingestion.document import read_document
from ingestion.reading.pdf import PdfFile
from ingestion.records import Row, Table
from ingestion.tables.detection import find_tables
from tests.pdfs import Placed, draw, grid

LEFT = (
    "The strategic allocation to equities is 52|per cent, to bonds 31 per cent and to|"
    "property 12 per cent. The remainder is held|in cash. The board reviews this policy once|"
    "a year and reports to the audit committee on|compliance with it. The officers keep the|"
    "records of every approval for seven years,|and the treasurer signs each of them in"
).split("|")
RIGHT = (
    "writing. The discount rate used by the|actuary is 4.35 per cent a year, and the|"
    "contributions of the employer are set at|17.8 per cent of the pay from April on. A|"
    "report on the risks of the fund goes to the|trustees, who may lower the share of equities|"
    "where the fund cannot bear the risk that the|markets fall by more than a third of it."
).split("|")
CELLS = [
    ("Payments up to the limit of the unit", "The head of the unit signs and keeps"),
    ("are made without a further approval.", "the invoice in the file of the year."),
    ("Contracts for works of more than a year", "The council decides on them after the"),
    ("need three offers that are in writing.", "committee has heard the treasurer."),
    ("Loans from banks and from other public", "The minister of finance approves each"),
    ("bodies are taken in the home currency.", "of them and informs the parliament."),
    ("Guarantees are given to companies that", "The treasurer keeps a list of them with"),
    ("the county owns to more than a half.", "the fee and the day on which they end."),
]
TEXT_TABLE = [
    ((60, 100 + 14 * at, left), (320, 100 + 14 * at, right)) for at, (left, right) in enumerate(CELLS)
]
KEYS = "Name of the fund|Trustees|Date of the last review|Auditor|Bank|Actuary|Manager|Seat".split("|")
YEARS = ("", "2023", "2024", "2025")
ROWS = [
    YEARS,
    ("School roofs", "640", "655", "710"),
    ("Tram line", "12,400", "18,900", "22,150"),
    ("Depot", "9", "-", "-"),
]


def side_by_side(
    *columns: Sequence[str], lefts: Sequence[float] = (60, 320), lower: float = 0
) -> list[Placed]:
    """Columns drawn row by row. lower: how much lower the lines of each next column are."""
    placed: list[Placed] = []
    for row, lines in enumerate(zip(*columns, strict=True)):
        for number, (left, line) in enumerate(zip(lefts, lines, strict=True)):
            placed.append((left, 100 + 14 * row + lower * number, line))
    return placed


def text_of(path: Path, page: int = 1) -> str:
    return PdfFile(path).words(page)[0]


def as_drawn(path: Path) -> str:
    with pypdfium2.PdfDocument(path) as document:
        text = str(document[0].get_textpage().get_text_range())
    return "\n".join(map(str.rstrip, text.splitlines()))


def tables_of(path: Path, page: int = 1) -> list[Table]:
    file = PdfFile(path)
    text, _, words = file.words(page)
    return find_tables(text, words, partial(file.rules, page))


def texts(row: Row) -> tuple[str, ...]:
    return (row.label, *(cell.text if cell else "-" for cell in row.cells))


def cells(table: Table) -> list[tuple[str, ...]]:
    return list(map(texts, table.rows))


@pytest.mark.parametrize("lower", [0, 2, 6])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(tmp_path: Path, lower: float) -> None:
    path = draw(
        tmp_path / "a.pdf", [(60, 60, "Investment strategy"), *side_by_side(LEFT, RIGHT, lower=lower)]
    )
    assert text_of(path) == "\n".join(["Investment strategy", *LEFT, *RIGHT])


def shortened(line: str) -> str:
    return f"{line[:24].strip().lower()}ing of it"


def test_three_columns_with_a_heading_across_are_read_one_after_the_other(tmp_path: Path) -> None:
    lefts = (40, 215, 390)
    left, right = (list(map(shortened, lines)) for lines in (LEFT, RIGHT))
    short = (left, right, left[::-1])
    placed = side_by_side(*short, lefts=lefts)
    heading = (40, 230, "The second part of the report is about what the fund pays and to whom it may pay")
    again = [(x, y + 150, text) for x, y, text in placed]
    path = draw(tmp_path / "a.pdf", [*placed, heading, *again])
    columns = "\n".join(chain.from_iterable(short))
    assert text_of(path) == f"{columns}\n{heading[2]}\n{columns}"


def test_a_word_broken_at_the_end_of_a_column_line_is_one_word(tmp_path: Path) -> None:
    left = [
        "The trustees decide on the strategic alloca-",
        "tion of the fund and report once a year to",
        *LEFT[2:],
    ]
    path = draw(tmp_path / "a.pdf", side_by_side(left, RIGHT))
    read = read_document(path)
    assert "strategic allocation of the fund" in " ".join(read.pages[0].text.split())


def test_a_quotation_is_located_in_its_column(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", side_by_side(LEFT, RIGHT))
    boxes = locate_quote(PdfFile(path).glyphs(1), "The remainder is held in cash.")
    assert len(boxes) == 2
    assert all(box.x1 < 0.5 for box in boxes)
    assert boxes[0].y0 < boxes[1].y0


def columns_drawn_one_by_one() -> list[Placed]:
    """On lines of different heights, so that `draw` keeps them apart."""
    placed: list[Placed] = [(60, 100 + 14 * at, line) for at, line in enumerate(LEFT)]
    placed += [(320, 300 + 14 * at, line) for at, line in enumerate(RIGHT)]
    return placed


@pytest.mark.parametrize(
    "placed",
    [
        pytest.param([piece for row in TEXT_TABLE for piece in row], id="table of texts"),
        pytest.param(
            side_by_side([f"{key}:" for key in KEYS], [line[:30] for line in RIGHT]), id="keys and values"
        ),
        pytest.param(
            side_by_side([f"{number}." for number in range(1, 9)], RIGHT, lefts=(60, 90)), id="numbered list"
        ),
        pytest.param(
            side_by_side(LEFT, [f"{number},204" for number in range(8)], lefts=(60, 420)), id="figures"
        ),
        pytest.param(side_by_side(LEFT[:4], RIGHT[:4]), id="few lines"),
        pytest.param(side_by_side(KEYS, KEYS[::-1]), id="names"),
        pytest.param(
            grid(100, [("The revenue of the county from taxes", "1,204", "1,310", "1,422")] * 8), id="table"
        ),
        pytest.param(columns_drawn_one_by_one(), id="columns one by one"),
    ],
)
def test_what_belongs_together_row_by_row_stays_as_drawn(tmp_path: Path, placed: list[Placed]) -> None:
    path = draw(tmp_path / "a.pdf", placed)
    assert text_of(path) == as_drawn(path).strip()


def test_ruled_columns_of_text_stay_rows(tmp_path: Path) -> None:
    canvas = blank(tmp_path / "a.pdf")
    put(canvas, side_by_side(LEFT, RIGHT))
    for y in (130, 158, 186):
        canvas.line(55, 842 - y, 560, 842 - y)
    canvas.save()
    assert text_of(tmp_path / "a.pdf") == as_drawn(tmp_path / "a.pdf").strip()


def blank(path: Path) -> Canvas:
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    canvas.setFont("Helvetica", 10)
    return canvas


def put(canvas: Canvas, placed: Sequence[Placed], off: float = 0) -> None:
    for x, y, text in placed:
        write = canvas.drawRightString if text.startswith(">") else canvas.drawString
        write(x + off, 842 - y, text.lstrip(">"))


def put_turned(canvas: Canvas, x: float, y: float, angle: int, text: str) -> None:
    canvas.saveState()
    canvas.translate(x, y)
    canvas.rotate(angle)
    canvas.drawString(0, 0, text)
    canvas.restoreState()


def turned(path: Path, draw_upright: Callable[[Canvas], None], angle: int) -> Path:
    """A portrait page on which something is drawn turned by an angle, counter-clockwise."""
    canvas = blank(path)
    canvas.drawString(60, 20, "Capital programme")
    canvas.translate(*{90: (595, 0), -90: (0, 842), 180: (595, 842)}[angle])
    canvas.rotate(angle)
    draw_upright(canvas)
    canvas.save()
    return path


def draw_table(canvas: Canvas) -> None:
    canvas.drawString(60, 500, "Table 4: Capital programme by project")
    for y, (label, *values) in enumerate(ROWS):
        canvas.drawString(60, 470 - 15 * y, label)
        for x, value in enumerate(values):
            canvas.drawRightString(350 + 80 * x, 470 - 15 * y, value)


@pytest.mark.parametrize("angle", [90, -90])
def test_a_table_set_sideways_is_read_and_found(tmp_path: Path, angle: int) -> None:
    path = turned(tmp_path / "a.pdf", draw_table, angle)
    assert "School roofs 640 655 710\nTram line 12,400 18,900 22,150\nDepot 9 - -" in text_of(path)
    (table,) = tables_of(path)
    assert table.heads == YEARS[1:]
    assert cells(table) == [tuple(row) for row in ROWS[1:]]
    assert table.box.height > table.box.width
    boxes = locate_quote(PdfFile(path).glyphs(1), "Tram line 12,400")
    assert 0 < len(boxes) <= 5
    assert all(map(table.box.holds, boxes))


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("angle", [90, -90])
def test_columns_set_sideways_are_read_one_after_the_other_unless_they_are_a_ruled_table(
    tmp_path: Path, angle: int, ruled: bool
) -> None:
    def draw_columns(canvas: Canvas) -> None:
        for x, y, text in side_by_side(LEFT, RIGHT):
            canvas.drawString(x, 595 - y, text)
        for y in (130, 158) if ruled else ():
            canvas.line(55, 595 - y, 560, 595 - y)

    text = text_of(turned(tmp_path / "a.pdf", draw_columns, angle))
    assert text.endswith("\n".join([*LEFT, *RIGHT])) is not ruled
    assert not ruled or f"{LEFT[0]} {RIGHT[0]}\n{LEFT[1]} {RIGHT[1]}" in text


def test_one_note_in_the_margin_set_sideways_changes_nothing(tmp_path: Path) -> None:
    canvas = blank(tmp_path / "a.pdf")
    put(canvas, grid(100, ROWS))
    put_turned(canvas, 30, 300, 90, "Draft 12 of 3 March 2025, for the committee")
    canvas.save()
    assert text_of(tmp_path / "a.pdf") == as_drawn(tmp_path / "a.pdf").strip()
    (table,) = tables_of(tmp_path / "a.pdf")
    assert cells(table) == [tuple(row) for row in ROWS[1:]]


HEADS = ("Residents", "Non-residents", "Businesses")
FEES = [("Parking permit", "120", "240", "60"), ("Hall hire", "85", "170", "40"), ("Stall", "32", "48", "16")]


def upright(path: Path, heads: Sequence[Sequence[str]], angle: int, *, pitch: int = 80) -> Path:
    """A level table of fees under heads set upright, of one or more lines each."""
    canvas = blank(path)
    canvas.drawString(60, 800, "Table 2: Fees")
    for number, lines in enumerate(heads):
        for line, text in enumerate(lines):
            x = 345 + pitch * number + angle // 90 * 12 * line
            put_turned(canvas, x, 660 if angle == 90 else 740, angle, text)
    for y, (label, *values) in enumerate(FEES):
        canvas.drawString(60, 640 - 15 * y, label)
        for x, value in enumerate(values):
            canvas.drawRightString(350 + pitch * x, 640 - 15 * y, value)
    canvas.save()
    return path


@pytest.mark.parametrize("angle", [90, -90])
@pytest.mark.parametrize("pitch", [24, 80])
def test_upright_heads_belong_to_their_columns(tmp_path: Path, angle: int, pitch: int) -> None:
    (table,) = tables_of(upright(tmp_path / "a.pdf", [[head] for head in HEADS], angle, pitch=pitch))
    assert table.heads == HEADS
    assert cells(table) == FEES


@pytest.mark.parametrize("angle", [90, -90])
@pytest.mark.parametrize(
    "heads",
    [
        [["Residents of", "the county"], ["All others"], ["Companies in", "the area"]],
        [["Grades", "1 to 5"], ["Grades", "6 to 10"], ["Grade 11", "and above"]],
        [["Up to", "30 days"], ["31 to", "60 days"], ["More", "than 60"]],
    ],
)
def test_upright_heads_of_two_lines_are_one_head_each(
    tmp_path: Path, heads: list[list[str]], angle: int
) -> None:
    (table,) = tables_of(upright(tmp_path / "a.pdf", heads, angle))
    assert table.heads == tuple(" ".join(lines) for lines in heads)
    assert cells(table) == FEES


def test_upright_names_of_groups_beside_the_rows_are_no_heads(tmp_path: Path) -> None:
    canvas = blank(tmp_path / "a.pdf")
    put(canvas, grid(100, ROWS))
    for x, text in ((38, "Income"), (50, "Council")):
        put_turned(canvas, x, 690, 90, text)
    canvas.save()
    (table,) = tables_of(tmp_path / "a.pdf")
    assert table.heads == YEARS[1:]
    assert cells(table) == [tuple(row) for row in ROWS[1:]]


def spread(*numbers: tuple[str, str]) -> list[list[Placed]]:
    """Sheets of two facing pages, each with a table, drawn row by row."""
    pages: list[list[Placed]] = []
    for left, right in numbers:
        rows = grid(100, ROWS, rights=(250, 330, 410))
        beside = [(x + 595, y, text.replace("Tram line", "Ferry")) for x, y, text in rows]
        feet: list[Placed] = [(60, 800, left), (1130, 800, f">{right}")]
        pages.append([piece for pair in zip(rows, beside, strict=True) for piece in pair] + feet)
    return pages


@pytest.mark.parametrize("words", ["{}", "{} Port Authority", "{} Annual Report 2024"])
def test_facing_pages_on_one_sheet_are_read_one_after_the_other(tmp_path: Path, words: str) -> None:
    beside = words if words == "{}" else "The year 2024 {}"
    numbers = [(words.format(left), beside.format(left + 1)) for left in (14, 16)]
    path = draw(tmp_path / "a.pdf", *spread(*numbers), size=(1190, 842))
    assert text_of(path).index("14") < text_of(path).index("Ferry")
    left, right = tables_of(path)
    assert (cells(left)[1][0], cells(right)[1][0]) == ("Tram line", "Ferry")
    assert left.heads == right.heads == YEARS[1:]
    read = read_document(path)
    assert [(page.label, page.label_source) for page in read.pages] == [
        ("14–15", "printed"),
        ("16–17", "printed"),
    ]


@pytest.mark.parametrize("numbers", [("2023", "2024"), ("14", "16"), ("14", "–")])
def test_a_wide_page_is_no_sheet_of_two_pages_without_their_numbers(
    tmp_path: Path, numbers: tuple[str, str]
) -> None:
    path = draw(tmp_path / "a.pdf", *spread(numbers, numbers), size=(1190, 842))
    assert text_of(path) == as_drawn(path).strip()
    assert all(page.label is None or "–" not in page.label for page in read_document(path).pages)


def test_lines_drawn_twice_are_read_once(tmp_path: Path) -> None:
    placed = grid(100, [("Total revenue", f"{number},120", f"{number},310") for number in range(1, 13)])
    canvas = blank(tmp_path / "a.pdf")
    for off in (0, 0.4):
        put(canvas, placed, off)
    canvas.save()
    once = draw(tmp_path / "b.pdf", placed)
    assert text_of(tmp_path / "a.pdf") == text_of(once)


def test_equal_lines_in_two_places_are_read_twice(tmp_path: Path) -> None:
    path = draw(tmp_path / "a.pdf", [(60, 100, "Total revenue 48,120"), (60, 112, "Total revenue 48,120")])
    assert text_of(path) == "Total revenue 48,120\nTotal revenue 48,120"


def test_rows_set_upside_down_are_read_from_their_left(tmp_path: Path) -> None:
    path = turned(tmp_path / "a.pdf", draw_table, 180)
    assert "School roofs 640 655 710\nTram line 12,400 18,900 22,150\nDepot 9 - -" in text_of(path)


def test_marks_of_notes_that_were_drawn_last_stand_at_their_words(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(595, 842))
    rows = [("Staff", "4,215", "4,090"), ("Pensions", "702", "655")]
    for at, row in enumerate(rows):
        for x, text in zip((60, 300, 400), row, strict=True):
            canvas.drawString(x, 740 - 14 * at, text)
    canvas.drawString(60, 690, "2 Without doctors who are hired.")
    canvas.drawString(60, 676, "3 Restated after the change of the table.")
    canvas.setFont("Helvetica", 6)
    for width, x, y, mark in (("655", 400, 730, "3"), ("4,215", 300, 744, "2")):
        canvas.drawString(x + canvas.stringWidth(width, "Helvetica", 12) + 0.5, y, mark)
    canvas.save()
    assert text_of(tmp_path / "a.pdf").splitlines()[:2] == ["Staff 4,215² 4,090", "Pensions 702 655³"]


@pytest.mark.parametrize("early", [[], [(60, 40, "Rules of the County")], [(500, 820, "page 1")]])
def test_the_foot_of_a_page_that_was_drawn_first_is_read_last(tmp_path: Path, early: list[Placed]) -> None:
    foot: list[Placed] = [
        (60, 700, "The reserve of the county is kept between"),
        (60, 714, "four and seven months of its spending."),
        (60, 740, "1 The reserve is what no law binds."),
    ]
    body: list[Placed] = [(60, 100 + 14 * at, line) for at, line in enumerate((*LEFT, *RIGHT))]
    for first, moves in (([*early, *foot], True), ([(500, 820, "page 1")], False)):
        path = tmp_path / "foot.pdf"
        canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
        for x, y, line in (*first, *body):
            canvas.drawString(x, 842 - y, line)
        canvas.save()
        lines = [line for _, _, line in sorted([*first, *body], key=lambda placed: placed[1])]
        assert text_of(path) == ("\n".join(lines) if moves else as_drawn(path))
