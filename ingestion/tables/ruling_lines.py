"""Finds the ruling lines on a page that PDFium has open, whatever they were drawn with."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref
from itertools import chain, islice
from typing import NamedTuple

import pypdfium2.raw as raw

from ingestion.reading.page_objects import Box, PageObjects, matrix_of, quick
from ingestion.records import Place, Rect, turn_back

__all__ = ["Rules", "drawn_rules"]

# The most rules of one page that are kept. A table of a whole page, each side of each cell drawn by itself,
# has some two thousand.
MOST_RULES = 6_000
# A path with more points is left out. A grid drawn in one go has some hundreds, a map has thousands.
MOST_POINTS = 600
# The most points of all paths of a page together. A drawing of diagonals gives no rules and must not cost
# more than text.
MOST_POINTS_OF_PAGE = 60_000
# The greatest thickness and the least length of a rule, in points. Shorter lines join two others or are parts
# of letters.
THICKEST = 3.0
SHORTEST = 4.0
POINTS_OF_A_BOX = 5

Point = tuple[float, float]


class Rules(NamedTuple):
    """The rules of a page as thin rectangles, in fractions of the page as shown.

    across: those across the page.
    down: those down the page.
    """

    across: tuple[Rect, ...] = ()
    down: tuple[Rect, ...] = ()

    def turned_back(self, degrees: int) -> Rules:
        """Returns them on the page before it was turned clockwise by `degrees`."""
        across = tuple(turn_back(rule, degrees) for rule in self.across)
        down = tuple(turn_back(rule, degrees) for rule in self.down)
        return Rules(down, across) if degrees % 180 else Rules(across, down)


def drawn_rules(place: Place, objects: PageObjects) -> Rules:
    """Returns the straight level and upright lines, thin boxes and outlines of boxes on a page.

    There are none if the page has more objects than are listed.
    """
    across, down = list[Rect](), list[Rect]()
    for sides in islice(_lines(objects), MOST_RULES):
        box = place(*sides)
        (across if box.width > box.height else down).append(box)
    return Rules(tuple(across), tuple(down))


def _lines(objects: PageObjects) -> Iterator[Box]:
    """Yields (left, top, right, bottom) of each rule in points."""
    points_left = MOST_POINTS_OF_PAGE
    if not objects.whole:
        return
    paths = [number for number in objects.of_kind(raw.FPDF_PAGEOBJ_PATH) if objects.is_on_page(number)]
    for number, (left, bottom, right, top) in zip(paths, objects.sides(paths).tolist(), strict=True):
        thickness, length = sorted((right - left, top - bottom))
        if thickness <= THICKEST:
            if length >= SHORTEST:
                yield left, top, right, bottom
            continue
        item = objects.addresses[number]
        if objects.draw_mode(number)[1] or _is_of_thin_boxes(item):
            points_left -= quick.FPDFPath_CountSegments(item)
            if points_left < 0:
                return
            yield from _strokes(item)


def _is_of_thin_boxes(path: int) -> bool:
    """Whether a filled path has several parts, of which the first is a rule or where two meet."""
    first = [*chain.from_iterable(islice(_segments(path), POINTS_OF_A_BOX - 1))]
    if not first or quick.FPDFPath_CountSegments(path) < 2 * POINTS_OF_A_BOX:
        return False
    xs, ys = zip(*first, strict=True)
    return bool(min(max(xs) - min(xs), max(ys) - min(ys)) <= THICKEST)


def _strokes(path: int) -> Iterator[Box]:
    """Yields the level and upright strokes of a path that has several."""
    for (x0, y0), (x1, y1) in _segments(path):
        thickness, length = sorted((abs(x1 - x0), abs(y1 - y0)))
        if thickness < 1.0 and length >= SHORTEST:
            yield min(x0, x1), max(y0, y1), max(x0, x1), min(y0, y1)


def _segments(path: int) -> Iterator[tuple[Point, Point]]:
    """Yields the straight strokes of a path, their ends in points of the page."""
    x, y = ctypes.c_float(), ctypes.c_float()
    count = quick.FPDFPath_CountSegments(path)
    a, b, c, d, e, f = matrix_of(path)
    start = last = (0.0, 0.0)
    for index in range(count if count <= MOST_POINTS else 0):
        segment = quick.FPDFPath_GetPathSegment(path, index)
        quick.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        kind = quick.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield last, point
        if quick.FPDFPathSegment_GetClose(segment) and start != point:
            yield point, start
        last = point
