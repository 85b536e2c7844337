"""Finds where images stand on a page that PDFium has open, and joins tiles and strips of one picture."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pypdfium2.raw as raw

from ingestion.reading.page_objects import PageObjects, Sides
from ingestion.records import Rect, around

__all__ = ["finest", "picture_places"]

# The largest images of a page that are kept; if there are more, they are letters or dots, not pictures.
MOST_IMAGES = 200
# Share of the page that the smallest part of a picture takes, and the smallest picture with text worth
# reading.
LEAST_PART, LEAST_PICTURE = 0.002, 0.03
# Pixels along the longer side below which an image shows no words.
LEAST_PIXELS = 100
# Images no further apart than this share of the page are strips or tiles of one picture.
SEAM = 0.002

Place = Callable[[float, float, float, float], Rect]


def picture_places(objects: PageObjects, place: Place) -> list[Rect]:
    """The places of a page's images, largest first, without those too small for words.

    place: turns (left, top, right, bottom) in points into a rectangle of the page as shown.
    """
    boxes = (place(left, top, right, bottom) for (left, bottom, right, top), _ in _images(objects))
    parts = [box for box in boxes if _area(box) >= LEAST_PART]
    largest = sorted(parts, key=_area, reverse=True)[:MOST_IMAGES]
    return [box for box in _joined(largest) if _area(box) >= LEAST_PICTURE]


def finest(objects: PageObjects) -> float:
    """Pixels per point of a page's finest image, 0.0 where there is none."""
    found = 0.0
    for (left, bottom, right, top), pixels in _images(objects):
        points = max(1.0, right - left, top - bottom)
        found = max(found, pixels / points)
    return found


def _area(box: Rect) -> float:
    return box.width * box.height


def _joined(boxes: Sequence[Rect]) -> list[Rect]:
    """The boxes, largest first, with touching ones replaced by a box around them until none touch."""
    joined = list[Rect]()
    for box in boxes:
        apart = []
        for other in joined:
            if min(box.overlap(other), box.level(other)) >= -SEAM:
                box = around((box, other))
            else:
                apart.append(other)
        joined = [*apart, box]
    if len(joined) == len(boxes):
        return sorted(joined, key=_area, reverse=True)
    return _joined(joined)


def _images(objects: PageObjects) -> Iterator[tuple[Sides, int]]:
    """(left, bottom, right, top) in points, and pixels along the longer side, of each image that is not
    tiny."""
    numbers = objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE)
    for number, sides in zip(numbers, objects.sides(numbers), strict=True):
        pixels = _pixels_of(objects.pointer(number))
        if pixels >= LEAST_PIXELS:
            yield sides, pixels


def _pixels_of(item: Any) -> int:
    width = ctypes.c_uint()
    height = ctypes.c_uint()
    raw.FPDFImageObj_GetImagePixelSize(item, width, height)
    return max(width.value, height.value)
