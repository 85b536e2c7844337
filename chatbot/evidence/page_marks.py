"""Marks places on the picture of a page."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ingestion.records import BESIDE, Rect

__all__ = ["mark"]

# A mark extends this many pixels beyond the letters.
MARGIN = 3
YELLOW = (255, 226, 92)
EDGE = (214, 158, 0)


def mark(png: bytes, places: Sequence[Rect]) -> bytes:
    """Returns the image with translucent yellow over `places`, as with a highlighter: black stays black.

    What the page does not show is not marked.
    """
    places = [place for place in places if place != BESIDE]
    if not places:
        return png
    from PIL import Image, ImageChops, ImageDraw

    page = Image.open(io.BytesIO(png)).convert("RGB")
    layer = Image.new("RGB", page.size, "white")
    pen = ImageDraw.Draw(layer)
    for place in places:
        left = place.x0 * page.width
        top = place.y0 * page.height
        right = place.x1 * page.width
        bottom = place.y1 * page.height
        box = (left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN)
        pen.rectangle(box, fill=YELLOW, outline=EDGE)
    output = io.BytesIO()
    ImageChops.multiply(page, layer).save(output, "PNG", compress_level=4)
    return output.getvalue()
