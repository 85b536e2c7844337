"""Where images stand on a page that PDFium has open, tiles and strips of one picture joined; looks at no
pixel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pypdfium2.raw as raw

from ingestion.records import Rect, around

__all__ = ["finest", "picture_places"]

# Forms within forms that are looked into; deeper ones are made, not written.
DEEPEST = 4
# Objects of one page that are looked at: a page of drawings has some thousands, a bomb has millions.
MOST_OBJECTS = 20_000
# Images of one page that are kept, the largest ones: beyond that they are letters or dots, not pictures.
MOST_IMAGES = 200
# Share of the page of the smallest image that may be part of a picture, and of the smallest picture that
# holds text worth reading.
LEAST_PART, LEAST_PICTURE = 0.002, 0.03
# Pixels along the longer side below which an image shows no words.
LEAST_PIXELS = 100
# Pictures that stand no further apart than this share of the page are strips or tiles of one.
SEAM = 0.002

Place = Callable[[float, float, float, float], Rect]
# PDF's (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
AS_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def picture_places(page: Any, place: Place) -> list[Rect]:
    """The places of images on `page`, largest first, those left out that are too small for words.

    place: (left, top, right, bottom) in points to a rectangle of the page as shown.
    """
    boxes = (place(*sides) for sides, _ in _images(page))
    images = sorted((box for box in boxes if _area(box) >= LEAST_PART), key=_area, reverse=True)
    return [box for box in _joined(images[:MOST_IMAGES]) if _area(box) >= LEAST_PICTURE]


def finest(page: Any) -> float:
    """Pixels per point of the finest image on `page`, 0.0 where there is none."""
    return max(
        (
            pixels / max(1.0, right - left, top - bottom)
            for (left, top, right, bottom), pixels in _images(page)
        ),
        default=0.0,
    )


def _area(box: Rect) -> float:
    return box.width * box.height


def _joined(boxes: Sequence[Rect]) -> list[Rect]:
    """Boxes that touch as one around both, until none do; largest first."""
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
    """(left, top, right, bottom) in points and pixels along the longer side of each image of some size.

    PDFium's own calls: its Python objects take three times as long.
    """
    waiting = [(raw.FPDFPage_CountObjects(page), _getter(raw.FPDFPage_GetObject, page), AS_IS, 1)]
    looked = 0
    while waiting:
        count, get, matrix, depth = waiting.pop()
        for index in range(min(count, MOST_OBJECTS - looked)):
            looked += 1
            item = get(index)
            kind = raw.FPDFPageObj_GetType(item)
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < DEEPEST:
                getter = _getter(raw.FPDFFormObj_GetObject, item)
                waiting.append(
                    (raw.FPDFFormObj_CountObjects(item), getter, _within(_matrix_of(item), matrix), depth + 1)
                )
            elif kind == raw.FPDF_PAGEOBJ_IMAGE and (pixels := _pixels_of(item)) >= LEAST_PIXELS:
                yield _sides_of(item, matrix), pixels


def _getter(function: Callable[[Any, int], Any], of: Any) -> Callable[[int], Any]:
    return lambda index: function(of, index)


def _matrix_of(item: Any) -> Matrix:
    found = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(item, found)
    return found.a, found.b, found.c, found.d, found.e, found.f


def _within(inner: Matrix, outer: Matrix) -> Matrix:
    """The matrix that does `inner` and then `outer`."""
    a, b, c, d, e, f = inner
    oa, ob, oc, od, oe, of = outer
    return (
        a * oa + b * oc,
        a * ob + b * od,
        c * oa + d * oc,
        c * ob + d * od,
        e * oa + f * oc + oe,
        e * ob + f * od + of,
    )


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
    corners = [(x, y) for x in (left.value, right.value) for y in (bottom.value, top.value)]
    across = [a * x + c * y + e for x, y in corners]
    down = [b * x + d * y + f for x, y in corners]
    return min(across), max(down), max(across), min(down)
