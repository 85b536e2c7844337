"""OCR by real tesseract: pages that lie on their side or their head, crooked ones, pictures of text on
pages of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from chatbot.evidence.highlights import locate_quote
from ingestion.document import read_document
from ingestion.ocr.image_preprocessing import prepare, skew_of
from ingestion.ocr.ocr_merge import OcrLine, add_pass, mean_confidence, without_noise
from ingestion.ocr.recognition import read_image
from ingestion.reading.pdf import PdfFile
from ingestion.records import Rect, Word
from tests.case_rows import case_rows

LINES = [
    f"Line {number} of the annex shows {number * 37} million crowns of arrears" for number in range(1, 16)
]
PROSE = [
    (
        f"Paragraph {number} of this report explains how the revenue of the year was estimated by the "
        f"ministry in its own words."
    )
    for number in range(1, 30)
]


def drawn(lines: list[str], size: tuple[int, int] = (1240, 1754)) -> Image.Image:
    """A page image with these lines, at 150 dpi."""
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(size=30)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((80, 80 + 50 * number), line, fill=0, font=font)
    return image


Box = tuple[float, float, float, float]
# Left, bottom, width and height in points.
WHOLE_PAGE, LOWER_PART = (0, 0, 595, 842), (60, 120, 470, 167)


def placed(folder: Path, image: Image.Image, box: Box, text: list[str] | None = None) -> Path:
    """A PDF of one A4 page with the image in a box (left, bottom, width, height in points) under lines of
    text.
    """
    path = folder / "page.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    writer = canvas.beginText(50, 790)
    writer.setFont("Helvetica", 9)
    for line in text or []:
        writer.textLine(line)
    canvas.drawText(writer)
    canvas.drawImage(ImageReader(image), *box)
    canvas.save()
    return path


def marks_of(words: Sequence[Word], quote: str) -> tuple[Rect, ...]:
    """Where the lines of a quotation are marked."""
    return tuple(locate_quote([(word.text, word.box) for word in words], quote))


def picture_in(path: Path) -> list[float]:
    """The sides of the one picture of a page."""
    (place,) = PdfFile(path).pictures(1)
    return [place.x0, place.y0, place.x1, place.y1]


@pytest.mark.long
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_page_is_read_whichever_way_it_lies_and_marked_where_it_is_shown(turned: int) -> None:
    upright = drawn(LINES)
    shown = upright.rotate(-turned, expand=True)
    reading = read_image(shown)
    assert "Line 7 of the annex shows 259 million" in reading.text
    mark, *_ = marks_of(reading.words, LINES[0])
    across, down = (mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2
    near = {0: down < 0.15, 90: across > 0.85, 180: down > 0.85, 270: across < 0.15}
    assert near[turned], mark


@pytest.mark.parametrize("angle", [-4.0, 3.0])
def test_a_crooked_page_is_straightened(angle: float) -> None:
    crooked = drawn(LINES).rotate(angle, fillcolor=255)
    reading = read_image(crooked)
    beginnings = [line.removesuffix("million crowns of arrears") for line in LINES]
    read = [beginning for beginning in beginnings if beginning in reading.text]
    assert len(read) >= len(LINES) - 1, reading.text


def test_a_table_that_is_a_picture_is_read_after_the_text_of_its_page(tmp_path: Path) -> None:
    lines = ["Debt service by year", "Interest 2024 1,577", "Principal 2024 2,310", "Guarantees 2024 412"]
    path = placed(tmp_path, drawn(lines, (900, 320)), LOWER_PART, PROSE)
    (page,) = read_document(path).pages
    assert page.method == "text+ocr"
    assert page.text.startswith(PROSE[0])
    of_picture = page.text[len("\n".join(PROSE)) :]
    assert "Principal 2024 2,310" in of_picture
    assert page.words
    for word in page.words:
        assert page.text[word.start : word.end] == word.text
        assert word.confidence is not None
    (mark,) = marks_of(page.words, "Principal 2024 2,310")
    assert 0.65 < mark.y0 < mark.y1 < 0.86


def test_a_picture_without_text_costs_no_reading(tmp_path: Path) -> None:
    picture = Image.radial_gradient("L").resize((900, 320))
    (page,) = read_document(placed(tmp_path, picture, LOWER_PART, PROSE)).pages
    assert page.method == "text"
    assert page.words == ()


def test_a_scan_with_a_good_text_layer_is_not_read_again(tmp_path: Path) -> None:
    picture = drawn(PROSE[:20])
    (page,) = read_document(placed(tmp_path, picture, WHOLE_PAGE, PROSE)).pages
    assert page.method in {"text", "text+ocr"}
    assert page.text.count("Paragraph 7 ") == 1


def sandwiched(folder: Path, *, stamp: str = "") -> Path:
    """A PDF of one scanned page with an invisible text layer over all of it, or with nothing but a stamp
    as text.
    """
    text = drawn(PROSE[:20])
    path = folder / "sandwich.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    canvas.drawImage(ImageReader(text), 0, 0, 595, 842)
    writer = canvas.beginText()
    writer.setTextRenderMode(3)
    writer.setFont("Helvetica", 14)
    for number, line in enumerate([stamp] if stamp else PROSE[:20]):
        below = (108 + 50 * number) * 0.48
        writer.setTextOrigin(38.4, 842 - below)
        writer.textOut(line)
    canvas.drawText(writer)
    canvas.save()
    return path


def test_pictures_under_their_own_text_are_left_alone(tmp_path: Path) -> None:
    assert PdfFile(sandwiched(tmp_path)).pictures(1) == ()


def test_a_scan_with_only_a_stamp_as_text_is_a_picture_of_text(tmp_path: Path) -> None:
    stamp = "Received by the registry of the ministry on 3 March 2024, volume 17"
    sides = picture_in(sandwiched(tmp_path, stamp=stamp))
    assert sides == pytest.approx([0, 0, 1, 1], abs=0.001)


def test_a_picture_in_a_form_in_a_form_stands_where_it_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "forms.pdf"
    canvas = Canvas(str(path), pagesize=(600, 800), invariant=1)
    canvas.beginForm("inner", 0, 0, 600, 800)
    canvas.drawImage(ImageReader(drawn(LINES, (1240, 880))), 0, 0, 300, 200)
    canvas.endForm()
    canvas.beginForm("outer", 0, 0, 600, 800)
    canvas.translate(0, 400)
    canvas.doForm("inner")
    canvas.endForm()
    canvas.translate(150, 0)
    canvas.doForm("outer")
    canvas.save()
    assert picture_in(path) == pytest.approx([0.25, 0.25, 0.75, 0.5], abs=0.002)


def test_strips_of_a_picture_are_one(tmp_path: Path) -> None:
    path = tmp_path / "strips.pdf"
    image = drawn(LINES, (1240, 900))
    canvas = Canvas(str(path), pagesize=(600, 800), invariant=1)
    for number in range(9):
        top = number * 100
        strip = image.crop((0, top, 1240, top + 100))
        canvas.drawImage(ImageReader(strip), 60, 600 - number * 35, 480, 35)
    canvas.save()
    assert picture_in(path) == pytest.approx([0.1, 165 / 800, 0.9, 480 / 800], abs=0.002)


def test_a_photograph_is_no_picture_of_text(tmp_path: Path) -> None:
    noise = Image.effect_noise((900, 600), 90).resize((1800, 1200))
    path = placed(tmp_path, noise, (60, 120, 470, 313))
    assert PdfFile(path).pictures(1) == ()


@pytest.mark.parametrize("ground", [40, 128, 150])
def test_light_text_on_a_coloured_head_is_read(ground: int) -> None:
    image = drawn(["", "", *LINES])
    pen = ImageDraw.Draw(image)
    pen.rectangle((60, 60, 1180, 150), fill=ground)
    pen.text((90, 88), "Amounts in crore of rupees", fill=255, font=ImageFont.load_default(size=34))
    image = image.resize((2480, 3508))
    text = read_image(image).text
    assert "Amounts in crore of rupees" in text
    assert LINES[14] in text


def test_small_text_on_a_small_page_is_read_at_the_resolution_of_its_image(tmp_path: Path) -> None:
    path = tmp_path / "small.pdf"
    canvas = Canvas(str(path), pagesize=(120, 85), invariant=1)
    canvas.drawImage(ImageReader(drawn(LINES, (1240, 880))), 0, 0, 120, 85)
    canvas.save()
    small = PdfFile(path)
    assert small.image(1).width == pytest.approx(1240, abs=2)
    usual = PdfFile(placed(tmp_path, drawn(LINES), WHOLE_PAGE))
    assert usual.image(1).width == pytest.approx(300 * usual.image(1, 72).width / 72, abs=5)


def words_of(
    *texts: str, row: float = 0.1, sure: float = 90.0, first: float = 0.1, height: float = 0.02
) -> OcrLine:
    """A line of words a tenth of the page apart."""
    words = []
    for place, text in enumerate(texts):
        left = first + 0.1 * place
        words.append(Word(text, Rect(left, row, left + 0.08, row + height), sure))
    return OcrLine(tuple(words))


def text_of(lines: list[OcrLine]) -> list[str]:
    found = []
    for line in lines:
        found.append(" ".join(word.text for word in line.words))
    return found


def test_a_further_pass_adds_what_was_left_out_and_betters_what_was_doubtful() -> None:
    label, doubtful = words_of("Revenue", "1,2B4").words
    revenue = OcrLine((label, replace(doubtful, confidence=41.0)))
    first = [revenue, words_of("Spending", "5,678", row=0.2)]
    further = [
        words_of("1,234", first=0.2, sure=93.0),
        words_of("ignored", "5,673", row=0.2, sure=80.0),
        words_of("Balance", row=0.3),
    ]
    merged = text_of(add_pass(first, further))
    assert merged == ["Revenue 1,234", "Spending 5,678", "Balance"]


def test_a_further_pass_over_a_drawing_adds_only_what_is_sure() -> None:
    further = [
        words_of("wsy", "lfa", "tyx", "Ayt", "ijl", "fle", row=0.5, sure=12.0),
        words_of("Uffe", row=0.6, sure=70.0),
        words_of("Canada", row=0.7, sure=95.0),
    ]
    merged = text_of(add_pass([words_of("Timeline")], further))
    assert merged == ["Timeline", "Canada"]


def test_lines_of_a_further_pass_stand_below_those_above_them() -> None:
    first = [words_of("Title", row=0.1, first=0.5), words_of("Foot", row=0.9, first=0.5)]
    further = [words_of("left", "axis", row=0.4, first=0.1), words_of("lower", "axis", row=0.6, first=0.1)]
    merged = text_of(add_pass(first, further))
    assert merged == ["Title", "left axis", "lower axis", "Foot"]


def test_an_upright_rule_draws_no_line_to_itself() -> None:
    first = [words_of("l", row=0.1, first=0.2, height=0.6)]
    further = [words_of("September", row=0.15), words_of("Canada", row=0.55)]
    merged = text_of(add_pass(first, further))
    assert merged == ["September", "Canada", "l"]


def test_a_word_read_in_two_is_replaced_whole() -> None:
    glued = Word("1,333.8]1,310.8", Rect(0.1, 0.1, 0.3, 0.12), 30.0)
    end = Word("end", Rect(0.4, 0.1, 0.45, 0.12), 95.0)
    left = Word("1,333.8", Rect(0.1, 0.1, 0.19, 0.12), 92.0)
    right = Word("1,310.8", Rect(0.21, 0.1, 0.3, 0.12), 94.0)
    merged = add_pass([OcrLine((glued, end))], [OcrLine((left, right))])
    assert text_of(merged) == ["1,333.8 1,310.8 end"]


SPECKS = case_rows("""
-       | 95 | -
|1,234| | 90 | 1,234
of      | 60 | of
budget  | 20 | budget
0       | 91 | 0
""")
SPECKS += [("|", "95", ""), ("—", "30", ""), ("tf", "31", "")]


@pytest.mark.parametrize(("text", "confidence", "kept"), SPECKS)
def test_specks_and_rules_are_no_words(text: str, confidence: str, kept: str) -> None:
    word = Word(text, Rect(0.1, 0.1, 0.2, 0.2), float(confidence))
    line = OcrLine((word,), first=True)
    remaining = text_of(without_noise([line]))
    assert remaining == ([kept] if kept else [])


def test_confidence_of_a_page_weighs_letters() -> None:
    box = Rect(0.1, 0.1, 0.2, 0.2)
    mean = mean_confidence([Word("expenditure", box, 90.0), Word("x", box, 30.0)])
    assert mean == pytest.approx((11 * 90 + 30) / 12)


@pytest.mark.parametrize("slant", [0.0, 0.25, 1.2])
def test_the_rows_of_a_scanned_table_are_lines_of_the_text_and_rows_of_a_table(slant: float) -> None:
    image = Image.new("L", (2480, 3508), 255)
    font = ImageFont.load_default(size=40)
    rows = [
        ("Revenue", "812,450", "774,120"),
        ("Gross profit", "214,140", "203,118"),
        ("Taxation", "30,174", "28,296"),
        ("Other income", "41,200", "38,905"),
        ("Finance cost", "12,960", "11,874"),
    ]
    for number, row in enumerate([("", "2024", "2023"), *rows]):
        for x, text in zip((250, 1300, 2000), row, strict=True):
            ImageDraw.Draw(image).text((x, 600 + 75 * number), text, fill=0, font=font)
    page = read_image(image.rotate(slant, fillcolor=255))
    assert all(" ".join(row) in page.text.splitlines() for row in rows)
    assert [page.text[word.start : word.end] for word in page.words] == [word.text for word in page.words]
    (table,) = page.tables
    assert table.heads == ("2024", "2023")
    for found, expected in zip(table.rows, rows, strict=True):
        assert (found.label, *(cell.text for cell in found.cells if cell)) == expected
        assert page.text[found.start : found.end] == " ".join(expected)
    assert all(table.box.holds(word.box) for word in page.words)


def test_the_look_for_slant_gives_degrees_to_turn_back() -> None:
    page = drawn(LINES)
    turned = page.rotate(-3.0, fillcolor=255)
    blank = Image.new("L", (400, 600), 255)
    assert skew_of(prepare(page)) == 0.0
    assert skew_of(prepare(turned)) == pytest.approx(3.0, abs=0.2)
    assert skew_of(blank) == 0.0
