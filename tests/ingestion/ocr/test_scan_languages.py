"""Scans in other languages, read by real tesseract: where their data lie, what is said where they do not, and
that letters and figures come out as printed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingestion.document import Circumstances, read_document
from ingestion.errors import DocumentError
from ingestion.language.numbers import find_figures, page_style
from ingestion.ocr.recognition import read_image
from ingestion.ocr.scan_languages import (
    SCRIPTS,
    ScanLanguages,
    installed_languages,
    language_data,
    languages_text,
)
from tests.pdfs import make_scan

PAGES = {
    "deu": "Überplanmäßige Ausgaben für Straßen\nbetrugen 1.234,56 Euro und 12,7 Euro je Einwohner.",
    "fra": "Dépenses engagées après l'été, déjà évaluées\nà 1.234,56 euros et 12,7 euros par élève.",
    "spa": "Año de previsión: ¿cuándo creció la inversión\nen 1.234,56 euros y 12,7 euros por niño?",
}
TYPEFACE = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def needs(code: str) -> None:
    if code not in installed_languages():
        pytest.skip(f"tesseract-ocr-{code} is not installed")


@pytest.mark.parametrize("code", PAGES)
def test_letters_and_figures_of_a_language_are_read_as_printed(tmp_path: Path, code: str) -> None:
    needs(code)
    path = make_scan(tmp_path / "scan.pdf", [PAGES[code]])
    reading = read_document(path, Circumstances(languages=ScanLanguages(code)))
    (page,) = reading.pages
    assert reading.languages == code
    assert page.text.split() == PAGES[code].split()
    style = page_style(page.text)
    assert style.decimal == ","
    assert [figure.value for figure in find_figures(page.text, style)] == [1234.56, 12.7]


def test_languages_from_two_folders_are_read_together(tmp_path: Path) -> None:
    folder = tmp_path / "more data"
    folder.mkdir()
    (folder / "own.traineddata").symlink_to(installed_languages()["deu"])
    languages = ScanLanguages("eng+own", str(folder))
    first, second = language_data(languages)
    assert first.parent != folder
    assert second.parent == folder
    image = Image.new("L", (1240, 300), 255)
    ImageDraw.Draw(image).text((80, 80), "Straße of the city", fill=0, font=ImageFont.load_default(30))
    assert read_image(image, languages).text.strip() == "Straße of the city"
    assert "own" in languages_text(languages)


def test_the_named_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "eng.traineddata").symlink_to(installed_languages()["deu"])
    assert installed_languages(str(tmp_path))["eng"] == tmp_path / "eng.traineddata"


@pytest.mark.parametrize("code", ["xyz", "eng+xyz", "chi_xyz"])
def test_what_to_install_is_said(code: str) -> None:
    with pytest.raises(DocumentError, match="not installed. Installed: .*eng") as caught:
        language_data(ScanLanguages(code))
    missing = code.removeprefix("eng+")
    assert f"tesseract-ocr-{missing.replace('_', '-')}" in caught.value.hint
    assert f"{missing}.traineddata" in caught.value.hint


@pytest.mark.parametrize("codes", ["", "+", "eng+", "../eng", "eng deu", SCRIPTS])
def test_what_names_no_language_is_refused(codes: str) -> None:
    with pytest.raises(DocumentError, match="names no languages") as caught:
        language_data(ScanLanguages(codes))
    assert "eng+deu" in caught.value.hint


def test_letters_of_another_script_suggest_its_language() -> None:
    needs(SCRIPTS)
    if not TYPEFACE.exists():
        pytest.skip(f"{TYPEFACE} is not here, and no other typeface has Cyrillic letters")
    image = Image.new("L", (1240, 900), 255)
    said = [
        "Расходы бюджета города в прошлом году составили",
        "двенадцать миллионов рублей и выросли на пять",
        "процентов, доходы от налогов заметно снизились",
    ] * 4
    for number, line in enumerate(said):
        ImageDraw.Draw(image).text((60, 60 + 60 * number), line, 0, ImageFont.truetype(str(TYPEFACE), 32))
    assert read_image(image).remarks == ("Cyrillic letters, for it was read in eng; read it again in rus",)
