"""Letters and digits set apart, ligatures without a meaning in their font, and what only looks like them."""

from __future__ import annotations

from pathlib import Path

import pytest
import reportlab
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, NameObject
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from chatbot.evidence.highlights import locate_quote
from ingestion.document import read_document
from ingestion.reading.pdf import PdfFile
from tests.pdfs import draw

VERA = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
FI, FL = "\ufb01", "\ufb02"
PAGE = [
    f"The {FI}rst quarter of the year was better, and the cash {FL}ow of the company rose again.",
    f"Its {FI}nancial o{FI}ce expects that in{FL}ation and pro{FI}t rise by three per cent.",
]


def without_map(path: Path, lines: list[str], given: str) -> Path:
    """A PDF whose font maps the ligatures to a code of four digits, or to nothing."""
    pdfmetrics.registerFont(TTFont("Vera", str(VERA)))
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    canvas.setFont("Vera", 10)
    for number, line in enumerate(lines):
        canvas.drawString(60, 780 - 16 * number, line)
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(path))
    for font in writer.pages[0]["/Resources"]["/Font"].values():  # type: ignore[index]
        if "/ToUnicode" not in font.get_object():
            continue
        data = font.get_object()["/ToUnicode"].get_object().get_data().decode()
        for ligature in (FI, FL):
            data = data.replace(f"<{ord(ligature):04X}>", f"<{given}>")
        stream = DecodedStreamObject()
        stream.set_data(data.encode())
        font.get_object()[NameObject("/ToUnicode")] = writer._add_object(stream)
    writer.write(path)
    return path


@pytest.mark.parametrize("given", ["0000", "F001", "FFFD", "002D", "0003"])
def test_ligatures_without_a_meaning_are_read_as_letters(tmp_path: Path, given: str) -> None:
    path = without_map(tmp_path / "a.pdf", PAGE, given)
    text = PdfFile(path).words(1)[0]
    for word in ("first quarter", "cash flow", "financial", "inflation", "profit"):
        if given != "002D" or not word.startswith(("inf", "pro")):
            assert word in text
    (box,) = locate_quote(PdfFile(path).glyphs(1), "first quarter of the year")
    assert 0.1 < box.x0 < box.x1 < 0.5
    assert "cash flow of the company" in read_document(path).pages[0].text


@pytest.mark.parametrize(
    "line",
    [
        "Results before -rst and after it, as written in the code of the office.",
        "Balance -ow and low water",
        "A three -year period, owned or -controlled by the state",
        "The margin fell by -rst 12 points",
    ],
)
def test_a_real_hyphen_stays(tmp_path: Path, line: str) -> None:
    path = without_map(tmp_path / "a.pdf", [line], "0000")
    assert PdfFile(path).words(1)[0] == line


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("T o t a l   r e v e n u e   4 8 , 1 2 0", "Total revenue 48,120"),
        ("T O T A L  R E V E N U E  4 8 , 1 2 0", "TOTAL REVENUE 48,120"),
        ("N e t   i n c o m e   ( 1 , 2 4 0 )   9 3 0", "Net income (1,240) 930"),
        ("E B I T D A   m a r g i n   1 2 . 5 %", "EBITDA margin 12.5%"),
        ("S U M M A R Y", "SUMMARY"),
        ("4 8 , 1 2 0", "48,120"),
        ("$ 4 8 , 1 2 0", "$48,120"),
    ],
)
def test_letters_and_digits_set_apart_are_words(tmp_path: Path, drawn: str, read: str) -> None:
    path = draw(tmp_path / "a.pdf", [(60, 100, drawn), (60, 130, "The rest of the page is set as usual.")])
    assert PdfFile(path).words(1)[0].split("\n")[0] == read
    (box,) = locate_quote(PdfFile(path).glyphs(1), read)
    assert box.y1 < 0.13


@pytest.mark.parametrize("line", ["Class A B C D E F of shares", "A B C D E F", "1 2 3 4 5 6", "x y z a b c"])
def test_single_letters_and_digits_stay_apart(tmp_path: Path, line: str) -> None:
    path = draw(tmp_path / "a.pdf", [(60, 100, line)])
    assert PdfFile(path).words(1)[0] == line


@pytest.mark.parametrize("pitch", [10, 12, 16, 24])
@pytest.mark.parametrize("marks", ["YN-YN-YN-", "074185296", "ABBACADAB"])
def test_a_table_of_single_marks_stays_one(tmp_path: Path, marks: str, pitch: int) -> None:
    placed = [(200 + pitch * number, 100, mark) for number, mark in enumerate(marks)]
    path = draw(tmp_path / "a.pdf", [(60, 100, "Members"), *placed])
    assert PdfFile(path).words(1)[0] == "Members " + " ".join(marks)
