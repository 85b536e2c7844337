"""Pages as images, with the places of the quotations on them, from a PDF's own bytes; knows no store and
no answer.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ingestion.pages.highlights import locate_quote
from ingestion.reading.reader import Reader
from ingestion.records import Word

__all__ = ["Drawn", "Marks", "Read", "draw", "looks_alike", "places"]

# Dots per inch, from the first on, until a page's image is small enough to travel in a file.
DPI = (110, 72, 36)
MOST_BYTES = 3 * 2**20
# Another version of PDFium smooths letters a little otherwise. Of blocks of 8 x 8 pixels, the mean difference
# in brightness that is no sign of another text: one exchanged digit at 110 dpi differs by 60 and more.
BLOCK, MOST_DIFFERENCE = 8, 32
Marks = tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class Read:
    """How a page was read. number: physical, 1-based; words: those by OCR."""

    number: int
    method: str
    words: tuple[Word, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page's image as PNG."""

    png: bytes
    dpi: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.png).hexdigest()


def draw(reader: Reader, number: int, *, dpi: int = 0) -> Drawn:
    """A page without marks, at `dpi`; 0 for the finest that is small enough. Raises DocumentError."""
    drawn = Drawn(b"", 0)
    for tried in [dpi] if dpi else DPI:
        drawn = Drawn(reader.png(number, dpi=tried), tried)
        if len(drawn.png) <= MOST_BYTES:
            break
    return drawn


def places(reader: Reader, page: Read, quotes: Sequence[tuple[str, int]]) -> list[Marks]:
    """For each quotation with its offset in the page's text, -1 where unknown, the rectangles over it, ()
    where it is not found. Raises DocumentError.
    """
    if not any(quote for quote, _ in quotes):
        return [() for _ in quotes]
    if page.method == "ocr":
        glyphs = [(word.text, word.box) for word in page.words]
    else:
        glyphs = reader.glyphs(page.number)
    # What was read from a picture on a page of text is not among the characters of the file.
    glyphs += [(word.text, word.box) for word in page.words] if page.method == "text+ocr" else []
    found = [
        locate_quote(glyphs, quote, page.text[: max(0, start)]) if quote else () for quote, start in quotes
    ]
    return [
        tuple((round(box.x0, 5), round(box.y0, 5), round(box.x1, 5), round(box.y1, 5)) for box in boxes)
        for boxes in found
    ]


def looks_alike(given: bytes, drawn: bytes) -> bool:
    """Whether an image from anywhere shows the page that was drawn here. It is not decoded unless it is a
    PNG of the same size.
    """
    if given == drawn:
        return True
    from PIL import Image, ImageChops

    ours = Image.open(io.BytesIO(drawn), formats=["PNG"]).convert("RGB")
    try:
        opened = Image.open(io.BytesIO(given), formats=["PNG"])
        if opened.size != ours.size or opened.mode not in {"RGB", "L"} or getattr(opened, "n_frames", 1) != 1:
            return False
        theirs = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    blocks = np.asarray(ImageChops.difference(ours, theirs).reduce(BLOCK))
    return int(blocks.max(initial=0)) <= MOST_DIFFERENCE
