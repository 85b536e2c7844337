"""OCR by real tesseract: pages that lie on their side or their head, crooked ones, pictures of text on pages of text."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from ingestion.document import read_document
from ingestion.ocr import read_image
from ingestion.render import locate_quote

LINES = [f"Line {number} of the annex shows {number * 37} million crowns of arrears" for number in range(1, 16)]
PROSE = [
    f"Paragraph {number} of this report explains how the revenue of the year was estimated by the ministry in its own words."
    for number in range(1, 30)
]


def drawn(lines: list[str], size: tuple[int, int] = (1240, 1754)) -> Image.Image:
    """A page image with these lines, at 150 dpi."""
    image = Image.new("L", size, 255)
    font = ImageFont.load_default(size=30)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((80, 80 + 50 * number), line, fill=0, font=font)
    return image


def placed(folder: Path, image: Image.Image, box: tuple[float, float, float, float], text: list[str] | None = None) -> Path:
    """A PDF of one A4 page with the image in a box (left, bottom, width, height in points) under lines of text."""
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


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_page_is_read_whichever_way_it_lies_and_marked_where_it_is_shown(turned: int) -> None:
    upright = drawn(LINES)
    shown = upright.rotate(-turned, expand=True)
    reading = read_image(shown)
    assert "Line 7 of the annex shows 259 million" in reading.text
    assert reading.turned == (360 - turned) % 360
    (mark, *_) = locate_quote([(word.text, word.box) for word in reading.words], LINES[0])
    middle = ((mark.x0 + mark.x1) / 2, (mark.y0 + mark.y1) / 2)
    near = {0: middle[1] < 0.15, 90: middle[0] > 0.85, 180: middle[1] > 0.85, 270: middle[0] < 0.15}
    assert near[turned], mark


@pytest.mark.parametrize("angle", [-4.0, 3.0])
def test_a_crooked_page_is_straightened(angle: float) -> None:
    reading = read_image(drawn(LINES).rotate(angle, fillcolor=255))
    found = sum(f"Line {number} of the annex shows {number * 37} " in reading.text for number in range(1, 16))
    assert found >= len(LINES) - 1, reading.text


def test_a_table_that_is_a_picture_is_read_after_the_text_of_its_page(tmp_path: Path) -> None:
    picture = drawn(["Debt service by year", "Interest 2024 1,577", "Principal 2024 2,310", "Guarantees 2024 412"], (900, 320))
    page = read_document(placed(tmp_path, picture, (60, 120, 470, 167), PROSE)).pages[0]
    assert page.method == "text+ocr"
    assert page.text.startswith(PROSE[0])
    assert "Principal 2024 2,310" in page.text[len("\n".join(PROSE)) :]
    assert all(page.text[word.start : word.end] == word.text for word in page.words)
    assert {word.confidence is not None for word in page.words} == {True}
    (mark,) = locate_quote([(word.text, word.box) for word in page.words], "Principal 2024 2,310")
    assert 0.65 < mark.y0 < mark.y1 < 0.86


def test_a_picture_without_text_costs_no_reading(tmp_path: Path) -> None:
    picture = Image.radial_gradient("L").resize((900, 320))
    page = read_document(placed(tmp_path, picture, (60, 120, 470, 167), PROSE)).pages[0]
    assert (page.method, page.words) == ("text", ())


def test_a_scan_with_a_good_text_layer_is_not_read_again(tmp_path: Path) -> None:
    picture = drawn(PROSE[:20])
    page = read_document(placed(tmp_path, picture, (0, 0, 595, 842), PROSE)).pages[0]
    assert page.method in {"text", "text+ocr"}
    assert page.text.count("Paragraph 7 ") == 1
