"""Finds where images stand on a page that PDFium has open, and joins tiles and strips of one picture."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from ctypes import byref
from operator import attrgetter

import pypdfium2.raw as raw

from ingestion.reading.page_objects import PageObjects, Sides, quick
from ingestion.records import Place, Rect, around

__all__ = ["finest", "picture_places", "shows_chart"]

# The largest images of a page that are kept; if there are more, they are letters or dots, not pictures.
MOST_IMAGES = 200
# Share of the page that the smallest part of a picture takes, and the smallest picture with text worth
# reading.
LEAST_PART, LEAST_PICTURE = 0.002, 0.03
# Pixels along the longer side below which an image shows no words.
LEAST_PIXELS = 100
# Share of the page that charts and pictures take together at least, and the longest side of what is not the
# page's ground, a band or a frame.
LEAST_CHART, LONGEST_SIDE = 0.04, 0.95
# Images no further apart than this share of the page are strips or tiles of one picture.
SEAM = 0.002

BY_AREA = attrgetter("area")


def picture_places(objects: PageObjects, place: Place) -> list[Rect]:
    """The places of a page's images, largest first, without those too small for words."""
    boxes = (place(left, top, right, bottom) for (left, bottom, right, top), _ in _images(objects))
    parts = sorted((box for box in boxes if box.area >= LEAST_PART), key=BY_AREA, reverse=True)
    return [box for box in _joined(parts[:MOST_IMAGES]) if box.area >= LEAST_PICTURE]


def shows_chart(objects: PageObjects, place: Place, tables: Sequence[Rect], *, scanned: bool) -> bool:
    """Whether images, and drawings that are no lines, take more than a little of a page beside its tables.

    scanned: whether the page itself is an image, which then counts.
    """
    drawings = objects.sides(objects.of_kind(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING))
    drawn = [place(left, top, right, bottom) for left, bottom, right, top in drawings]
    longest = 1.0 if scanned else LONGEST_SIDE

    def in_table(box: Rect) -> bool:
        return any(table.holds(box) for table in tables)

    areas = [
        box.area
        for box in (*picture_places(objects, place), *drawn)
        if box.area >= LEAST_PART and max(box.width, box.height) <= longest and not in_table(box)
    ]
    return sum(areas) >= LEAST_CHART


def finest(objects: PageObjects) -> float:
    """Pixels per point of a page's finest image, 0.0 where there is none."""
    images = _images(objects)
    finenesses = (
        pixels / max(1.0, right - left, top - bottom) for (left, bottom, right, top), pixels in images
    )
    return max(finenesses, default=0.0)


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
        return sorted(joined, key=BY_AREA, reverse=True)
    return _joined(joined)


def _images(objects: PageObjects) -> Iterator[tuple[Sides, int]]:
    """(left, bottom, right, top) in points, and pixels along the longer side, of each image that is not
    tiny."""
    numbers = objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE)
    for number, sides in zip(numbers, objects.sides(numbers), strict=True):
        width, height = ctypes.c_uint(), ctypes.c_uint()
        quick.FPDFImageObj_GetImagePixelSize(objects.addresses[number], byref(width), byref(height))
        pixels = max(width.value, height.value)
        if pixels >= LEAST_PIXELS:
            yield sides, pixels
