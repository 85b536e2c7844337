"""Finds where images stand on a page that PDFium has open, and joins tiles and strips of one picture."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pypdfium2.raw as raw

from ingestion.records import Rect, around

__all__ = ["finest", "picture_places"]

# How deep forms within forms are searched; only machines, such as an attacker's, nest them deeper.
DEEPEST = 4
# Objects of one page that are searched: a page of drawings has some thousands, a bomb has millions.
MOST_OBJECTS = 20_000
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
# PDF's (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
AS_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def picture_places(page: Any, place: Place) -> list[Rect]:
    """The places of images on `page`, largest first, without those too small for words.

    place: turns (left, top, right, bottom) in points into a rectangle of the page as shown.
    """
    boxes = (place(*sides) for sides, _ in _images(page))
    parts = [box for box in boxes if _area(box) >= LEAST_PART]
    largest = sorted(parts, key=_area, reverse=True)[:MOST_IMAGES]
    return [box for box in _joined(largest) if _area(box) >= LEAST_PICTURE]


def finest(page: Any) -> float:
    """Pixels per point of the finest image on `page`, 0.0 where there is none."""
    found = 0.0
    for (left, top, right, bottom), pixels in _images(page):
        points = max(1.0, right - left, top - bottom)
        found = max(found, pixels / points)
    return found


def _area(box: Rect) -> float:
    return box.width * box.height


def _joined(boxes: Sequence[Rect]) -> list[Rect]:
    """The boxes, largest first, with touching ones replaced by a box around them until none touch."""
    joined: list[Rect] = []
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


def _images(page: Any) -> Iterator[tuple[tuple[float, float, float, float], int]]:
    """(left, top, right, bottom) in points, and pixels along the longer side, of each image that is not tiny.

    Calls PDFium directly: its Python objects take three times as long.
    """
    objects = partial(raw.FPDFPage_GetObject, page)
    waiting = [(raw.FPDFPage_CountObjects(page), objects, AS_IS, 1)]
    searched = 0
    while waiting:
        count, get, matrix, depth = waiting.pop()
        for index in range(min(count, MOST_OBJECTS - searched)):
            searched += 1
            item = get(index)
            kind = raw.FPDFPageObj_GetType(item)
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < DEEPEST:
                objects = partial(raw.FPDFFormObj_GetObject, item)
                inner = _within(_matrix_of(item), matrix)
                waiting.append((raw.FPDFFormObj_CountObjects(item), objects, inner, depth + 1))
            elif kind == raw.FPDF_PAGEOBJ_IMAGE:
                pixels = _pixels_of(item)
                if pixels >= LEAST_PIXELS:
                    yield _sides_of(item, matrix), pixels


def _matrix_of(item: Any) -> Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _within(inner: Matrix, outer: Matrix) -> Matrix:
    """The matrix that does `inner` and then `outer`."""
    a, b, c, d, e, f = inner
    oa, ob, oc, od, oe, of = outer
    across = (a * oa + b * oc, a * ob + b * od)
    down = (c * oa + d * oc, c * ob + d * od)
    moved = (e * oa + f * oc + oe, e * ob + f * od + of)
    return (*across, *down, *moved)


def _pixels_of(item: Any) -> int:
    width = ctypes.c_uint()
    height = ctypes.c_uint()
    raw.FPDFImageObj_GetImagePixelSize(item, width, height)
    return max(width.value, height.value)


def _sides_of(item: Any, matrix: Matrix) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of an object in points of the page."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(item, left, bottom, right, top)
    a, b, c, d, e, f = matrix
    xs = (left.value, right.value)
    ys = (bottom.value, top.value)
    corners = [(x, y) for x in xs for y in ys]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), max(up), max(across), min(up)
