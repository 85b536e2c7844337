"""Draws pages as images and finds the quotations on them, from a PDF's own bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from chatbot.evidence.highlights import ReadPage, locate_quotes
from ingestion.reading.reader import Reader
from ingestion.records import Rect

__all__ = ["Marks", "draw", "looks_alike", "places"]

# Dots per inch, tried in this order until a page's image is small enough to be embedded.
DPI = (110, 72, 36)
MOST_BYTES = 3 * 2**20
# Another version of PDFium may smooth letters slightly differently. This is the mean difference in
# brightness, over blocks of 8 x 8 pixels, that does not yet mean another text: one changed digit at 110 dpi
# differs by 60 and more.
BLOCK, MOST_DIFFERENCE = 8, 32
Marks = tuple[tuple[float, float, float, float], ...]


def draw(reader: Reader, number: int, *, dpi: int = 0) -> tuple[bytes, int]:
    """Returns a page without marks, as a PNG, and its resolution. Raises DocumentError.

    dpi: resolution; 0 for the finest that gives a small enough image.
    """
    png, tried = b"", 0
    for tried in [dpi] if dpi else DPI:
        png = reader.png(number, dpi=tried)
        if len(png) <= MOST_BYTES:
            break
    return png, tried


def places(reader: Reader, number: int, page: ReadPage, quotes: Sequence[tuple[str, int]]) -> list[Marks]:
    """Returns the marks over each quotation, see `locate_quotes`."""
    return [tuple(map(_rectangle, boxes)) for boxes in locate_quotes(reader, number, page, quotes)]


def _rectangle(box: Rect) -> tuple[float, float, float, float]:
    """Returns (x0, y0, x1, y1), rounded as the file stores them."""
    return (round(box.x0, 5), round(box.y0, 5), round(box.x1, 5), round(box.y1, 5))


def looks_alike(given: bytes, drawn: bytes) -> bool:
    """Tells whether an image from anywhere shows the page that was drawn here.

    The image is decoded only if it is a PNG of the same size.
    """
    if given == drawn:
        return True
    from PIL import Image, ImageChops

    ours = Image.open(io.BytesIO(drawn), formats=["PNG"]).convert("RGB")
    try:
        opened = Image.open(io.BytesIO(given), formats=["PNG"])
        if opened.size != ours.size or opened.mode not in {"RGB", "L"}:
            return False
        if getattr(opened, "n_frames", 1) != 1:
            return False
        theirs = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False
    blocks = np.asarray(ImageChops.difference(ours, theirs).reduce(BLOCK))
    return int(blocks.max(initial=0)) <= MOST_DIFFERENCE
