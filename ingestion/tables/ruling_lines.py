"""Lines drawn on a page that PDFium has open, whatever they were drawn with; knows nothing of the tables
that they may rule.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pypdfium2.raw as raw

from ingestion.records import Rect

__all__ = ["Rules", "drawn_rules", "no_rules"]

# Objects of one page that are looked at: a page of drawings has some thousands, a bomb has millions.
MOST_OBJECTS = 20_000
# Rules of one page that are kept: a table of a whole page, each side of each cell drawn by itself, has some
# two thousand.
MOST_RULES = 6_000
# Points of one path that are looked at: a grid drawn in one go has some hundreds, a map has thousands.
MOST_POINTS = 600
# Points of all paths of a page together: a drawing of diagonals gives no rules and must not cost more than
# text.
MOST_POINTS_OF_PAGE = 60_000
# Points: a rule is no thicker, and no shorter; what is shorter joins two or is a letter.
THICKEST = 3.0
SHORTEST = 4.0

Place = Callable[[float, float, float, float], Rect]
Point = tuple[float, float]
Sides = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a page as thin rectangles, fractions of the page as shown: across it, and down it."""

    across: tuple[Rect, ...] = ()
    down: tuple[Rect, ...] = ()


def no_rules() -> Rules:
    """What a page has of which only the words are known."""
    return Rules()


def drawn_rules(page: Any, place: Place) -> Rules:
    """The straight level and upright lines, thin boxes and outlines of boxes on `page`; none where it has
    more objects than a page of text.

    place: (left, top, right, bottom) in points to a rectangle of the page as shown.
    """
    across: list[Rect] = []
    down: list[Rect] = []
    width = raw.FPDF_GetPageWidthF(page)
    height = raw.FPDF_GetPageHeightF(page)
    for sides in islice(_lines(page), MOST_RULES):
        box = place(*sides)
        level = box.width * width > box.height * height
        (across if level else down).append(box)
    return Rules(tuple(across), tuple(down))


def _lines(page: Any) -> Iterator[Sides]:
    """(left, top, right, bottom) of each rule in points."""
    bounds = [ctypes.c_float() for _ in range(4)]
    count = raw.FPDFPage_CountObjects(page)
    left_points = MOST_POINTS_OF_PAGE
    if count > MOST_OBJECTS:
        return
    for index in range(count):
        item = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH or not raw.FPDFPageObj_GetBounds(
            item, *bounds
        ):
            continue
        left, bottom, right, top = (side.value for side in bounds)
        if min(right - left, top - bottom) <= THICKEST:
            if max(right - left, top - bottom) >= SHORTEST:
                yield left, top, right, bottom
        elif _is_stroked(item):
            left_points -= raw.FPDFPath_CountSegments(item)
            if left_points < 0:
                return
            yield from _strokes(item)


def _is_stroked(path: Any) -> bool:
    fill = ctypes.c_int()
    stroke = ctypes.c_int()
    return bool(raw.FPDFPath_GetDrawMode(path, fill, stroke)) and bool(stroke.value)


def _strokes(path: Any) -> Iterator[Sides]:
    """The level and upright strokes of a path that has several."""
    for (x0, y0), (x1, y1) in _segments(path):
        if min(abs(x1 - x0), abs(y1 - y0)) < 1.0 and max(abs(x1 - x0), abs(y1 - y0)) >= SHORTEST:
            yield min(x0, x1), max(y0, y1), max(x0, x1), min(y0, y1)


def _segments(path: Any) -> Iterator[tuple[Point, Point]]:
    """The straight strokes of a path, their ends in points of the page."""
    matrix = raw.FS_MATRIX()
    x = ctypes.c_float()
    y = ctypes.c_float()
    count = raw.FPDFPath_CountSegments(path)
    if count > MOST_POINTS or not raw.FPDFPageObj_GetMatrix(path, matrix):
        return
    start = last = (0.0, 0.0)
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield last, point
        if raw.FPDFPathSegment_GetClose(segment) and start != point:
            yield point, start
        last = point
