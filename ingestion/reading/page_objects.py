"""Lists all that is drawn on a page that PDFium has open, in the order of drawing; knows no text."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from numpy.typing import NDArray

__all__ = [
    "EVERYWHERE",
    "NOWHERE",
    "Box",
    "PageObjects",
    "Sides",
    "address",
    "around_both",
    "corners_of",
    "letters_of",
    "loose_box",
    "matrix_of",
]

Sides = NDArray[np.float64]
Numbers = Sequence[int] | NDArray[np.intp]
Box = tuple[float, float, float, float]
# PDF's (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
AS_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# How deep forms within forms are searched; only machines, such as an attacker's, nest them deeper.
DEEPEST = 12
# Objects of one page that are listed: a page of drawings has some thousands, a bomb has millions.
MOST_OBJECTS = 20_000
# Characters of a mark's text that are looked at; those of ligatures, and how many.
MOST_SAID, LIGATURES, LIGATURE_LENGTHS = 200, frozenset("fijlstTh"), (2, 3)
# Points of a clip that is a box, some of which may be given twice.
MOST_CLIP_POINTS = 8
EVERYWHERE: Box = (-1e9, -1e9, 1e9, 1e9)
NOWHERE: Box = (1e9, 1e9, -1e9, -1e9)


def loose_box(text_page: Any, index: int) -> Box:
    """(left, top, right, bottom) in points of a character in its line; zeros for one that has no place."""
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text_page, index, box)
    return box.left, box.top, box.right, box.bottom


def around_both(text_page: Any, first: int, last: int) -> Box:
    """(left, top, right, bottom) in points around two characters of one line, or the one that has a place."""
    ends = [*filter(any, (loose_box(text_page, first), loose_box(text_page, last)))] or [(0.0,) * 4]
    lefts, tops, rights, bottoms = zip(*ends, strict=True)
    return min(lefts), max(tops), max(rights), min(bottoms)


def letters_of(text_page: Any, indexes: Sequence[int]) -> tuple[list[Any], Sides]:
    """The text objects that set some characters, and (left, bottom, right, top) of each character in its
    line, in points."""
    owners = [raw.FPDFText_GetTextObject(text_page, index) for index in indexes]
    boxes = np.array([loose_box(text_page, index) for index in indexes])
    return owners, boxes.reshape(-1, 4)[:, (0, 3, 2, 1)]


def address(item: Any) -> int:
    """Where an object of PDFium is, 0 for none."""
    return ctypes.addressof(item.contents) if item else 0


def corners_of(text_page: Any, index: int) -> Box:
    """(left, top, right, bottom) of a character's tight box, in points."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text_page, index, left, right, bottom, top)
    return left.value, top.value, right.value, bottom.value


class PageObjects:
    """The objects of a page and of the forms on it, at most MOST_OBJECTS, in the order of drawing.

    pointers: as PDFium's functions take them. kinds: FPDF_PAGEOBJ_… of each. whole: whether none were left
    out.
    """

    def __init__(self, page: Any) -> None:
        objects = _drawn(raw.FPDFPage_GetObject, page, raw.FPDFPage_CountObjects(page))
        drawn = list(islice(objects, MOST_OBJECTS + 1))
        self.whole = len(drawn) <= MOST_OBJECTS
        self.pointers = [item for item, _, _ in drawn[:MOST_OBJECTS]]
        self._frames = [frame for _, frame, _ in drawn[:MOST_OBJECTS]]
        self._clips = [clip for _, _, clip in drawn[:MOST_OBJECTS]]
        self.kinds = np.array([raw.FPDFPageObj_GetType(item) for item in self.pointers], np.int64)

    def of_kind(self, *kinds: int) -> NDArray[np.intp]:
        """The numbers of the objects of these kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))

    def is_on_page(self, number: int) -> bool:
        """Whether an object stands on the page itself, in no form."""
        return self._frames[number] is AS_IS

    def size(self, number: int) -> float:
        """The lesser of the height and width of a text's letters in points."""
        item, size = self.pointers[number], ctypes.c_float()
        raw.FPDFTextObj_GetFontSize(item, size)
        a, b, c, d, _, _ = _within(matrix_of(item), self._frames[number])
        return size.value * min(math.hypot(a, b), math.hypot(c, d))

    def clip(self, number: int) -> Box:
        """(left, bottom, right, top) of where an object is drawn in full, in points of the page: NOWHERE if
        it is transparent or cut by what is no box."""
        return _clip(self.pointers[number], self._frames[number], self._clips[number])

    def draw_mode(self, number: int) -> tuple[bool, bool]:
        """Whether a path is filled, and whether it is stroked."""
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(self.pointers[number], fill, stroke)
        return bool(fill.value), bool(stroke.value)

    def in_type3(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of some texts are of a Type 3 font, whose letters are drawings."""
        fonts = [raw.FPDFTextObj_GetFont(self.pointers[number]) for number in numbers]
        places, drawings, length = [*map(address, fonts)], set[int](), ctypes.c_size_t()
        for place, font in dict(zip(places, fonts, strict=True)).items():
            raw.FPDFFont_GetFontData(font, None, 0, length)
            if raw.FPDFFont_GetIsEmbedded(font) and not length.value:
                drawings.add(place)
        return np.isin(places, [*drawings])

    def stroked(self, number: int) -> float:
        """How much of the page, as points across, the strokes of a path may cover."""
        item, width = self.pointers[number], ctypes.c_float()
        raw.FPDFPageObj_GetStrokeWidth(item, width)
        a, b, c, d, _, _ = _within(matrix_of(item), self._frames[number])
        thick = width.value * max(math.hypot(a, b), math.hypot(c, d))
        return thick * raw.FPDFPath_CountSegments(item) if self.draw_mode(number)[1] else 0.0

    def may_be_on_layer(self, number: int) -> bool:
        """Whether an object is marked as on a layer, or in a form, which may be on one."""
        item, name, length = self.pointers[number], (ctypes.c_ushort * 3)(), ctypes.c_ulong()
        marks = (raw.FPDFPageObj_GetMark(item, index) for index in range(raw.FPDFPageObj_CountMarks(item)))
        names = (raw.FPDFPageObjMark_GetName(mark, name, 6, length) and bytes(name) for mark in marks)
        return not self.is_on_page(number) or b"O\0C\0\0\0" in names

    def drop_replaced_figures(self) -> list[str]:
        """Have PDFium read what is drawn, not what a mark says should be read.

        Returns what the marks say. What spells out a ligature stays.
        """
        length, said = ctypes.c_ulong(), (ctypes.c_ushort * MOST_SAID)()
        dropped = []
        for number in self.of_kind(raw.FPDF_PAGEOBJ_TEXT).tolist():
            item = self.pointers[number]
            for index in reversed(range(raw.FPDFPageObj_CountMarks(item))):
                mark = raw.FPDFPageObj_GetMark(item, index)
                if raw.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", said, 2 * MOST_SAID, length):
                    text = bytes(said)[: length.value].decode("utf-16-le", "replace").strip("\0\t\n\r ")
                    if len(text) not in LIGATURE_LENGTHS or not LIGATURES.issuperset(text):
                        raw.FPDFPageObj_RemoveMark(item, mark)
                        dropped.append(text)
        return list(dict.fromkeys(dropped))

    @cached_property
    def _boxes(self) -> Sides:
        boxes = _four(raw.FPDFPageObj_GetBounds, self.pointers, ctypes.c_float)
        return np.nan_to_num(list(map(_moved, boxes, self._frames))).reshape(-1, 4)

    def sides(self, numbers: Numbers) -> Sides:
        """(left, bottom, right, top) of each of some objects, in points of the page."""
        return self._boxes[numbers]

    def colours(self, numbers: Numbers, read: Any = raw.FPDFPageObj_GetFillColor) -> Sides:
        """(red, green, blue, opacity), 0-255, of what some objects are filled with."""
        pointers = [self.pointers[number] for number in numbers]
        return np.array(_four(read, pointers, ctypes.c_uint)).reshape(-1, 4)

    def modes(self, numbers: Numbers) -> NDArray[np.int64]:
        """How the letters of some texts are drawn, 3 for not at all."""
        return np.array([raw.FPDFTextObj_GetTextRenderMode(self.pointers[number]) for number in numbers])


def _drawn(
    get: Any, owner: Any, count: int, frame: Matrix = AS_IS, clip: Box = EVERYWHERE, depth: int = 1
) -> Iterator[tuple[Any, Matrix, Box]]:
    """Yields the objects of a page or a form, each with the matrix of the form it is in, AS_IS for none, and
    where that is drawn in full."""
    for index in range(count):
        item = get(owner, index)
        if depth < DEEPEST and raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM:
            inside, within = raw.FPDFFormObj_CountObjects(item), _within(matrix_of(item), frame)
            left = _clip(item, frame, clip)
            yield from _drawn(raw.FPDFFormObj_GetObject, item, inside, within, left, depth + 1)
        else:
            yield item, frame, clip


def _clip(item: Any, frame: Matrix, sides: Box) -> Box:
    """What is left of a box where an object is drawn in full."""
    if raw.FPDFPageObj_HasTransparency(item):
        return NOWHERE
    clip = raw.FPDFPageObj_GetClipPath(item)
    for path in range(raw.FPDFClipPath_CountPaths(clip)):
        corners = _corners(clip, path, frame)
        if len({*corners}) != 4 or any(x != u and y != v for (x, y), (u, v) in pairwise(corners)):
            return NOWHERE
        (left, right), (bottom, top) = ((min(along), max(along)) for along in zip(*corners, strict=True))
        sides = max(sides[0], left), max(sides[1], bottom), min(sides[2], right), min(sides[3], top)
    return sides


def _four(read: Any, pointers: Sequence[Any], kind: Any) -> list[Any]:
    """Four values of each of some objects, as a function of PDFium gives them."""
    values = (kind * 4)()
    parts = [kind.from_buffer(values, 4 * at) for at in range(4)]
    return [values[:] if read(pointer, *parts) else (0, 0, 0, 0) for pointer in pointers]


def matrix_of(item: Any) -> Matrix:
    """The matrix of an object; zeros where it has none."""
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


def _corners(clip: Any, path: int, matrix: Matrix) -> list[tuple[float, float]]:
    """The points of an outline on the page, the first also as the last; none where they are many."""
    x, y, corners = ctypes.c_float(), ctypes.c_float(), []
    count = raw.FPDFClipPath_CountPathSegments(clip, path)
    a, b, c, d, e, f = matrix
    for index in range(count if count <= MOST_CLIP_POINTS else 0):
        raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, index), x, y)
        across, up = a * x.value + c * y.value + e, b * x.value + d * y.value + f
        corners.append((round(across, 1), round(up, 1)))
    return corners + corners[:1]


def _moved(sides: Box, matrix: Matrix) -> Box:
    """The sides of a box in a form as sides on the page."""
    if matrix is AS_IS:
        return sides
    left, bottom, right, top = sides
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (left, right) for y in (bottom, top)]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), min(up), max(across), max(up)
