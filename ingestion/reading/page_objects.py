"""Lists all that is drawn on a page that PDFium has open, in the order of drawing; knows no text."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from ctypes import byref
from functools import cached_property
from itertools import groupby, islice, pairwise, repeat
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
    "around_spans",
    "corners_of",
    "letters_of",
    "loose_box",
    "loose_boxes",
    "matrix_of",
    "quick",
]

Sides = NDArray[np.float64]
Numbers = Sequence[int] | NDArray[np.intp]
Box = tuple[float, float, float, float]
# PDF's (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
AS_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# How deep forms within forms are searched; only machines, such as an attacker's, nest them deeper.
DEEPEST = 12
# Objects of one page that are listed, which takes half a second: a page of drawings has some thousands, a
# bomb has millions.
MOST_OBJECTS = 200_000
# Characters of a mark's text that are looked at; those of ligatures, and how many.
MOST_SAID, LIGATURES, LIGATURE_LENGTHS = 200, frozenset("fijlstTh"), (2, 3)
# Points of a clip that is a box, some of which may be given twice.
MOST_CLIP_POINTS = 8
EVERYWHERE: Box = (-1e9, -1e9, 1e9, 1e9)
NOWHERE: Box = (1e9, 1e9, -1e9, -1e9)


class _Quick:
    """PDFium's functions with addresses in place of pointers, called in half the time."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(raw, name)
        kinds = [ctypes.c_void_p if hasattr(kind, "contents") else kind for kind in function.argtypes]
        result = ctypes.c_size_t if hasattr(function.restype, "contents") else function.restype
        made = ctypes.PYFUNCTYPE(result, *kinds)(ctypes.cast(function, ctypes.c_void_p).value or 0)
        setattr(self, name, made)
        return made


quick = _Quick()


def _written(function: Any, kind: Any, width: int, *given: Any, parts: int = 1) -> NDArray[Any]:
    """What a function of PDFium writes for each of some arguments, zeros where it finds nothing.

    width: how many values. parts: to how many places it writes them.
    """
    found = np.zeros((len(given[-1]), width), kind)
    first, row = found.ctypes.data, width * found.itemsize
    starts = range(first, first + parts * found.itemsize, found.itemsize)
    for _ in map(function, *given, *(range(start, start + found.nbytes, row) for start in starts)):
        pass
    return found


def _of(text_page: Any) -> Any:
    return repeat(ctypes.addressof(text_page.raw.contents))


def loose_box(text_page: Any, index: int) -> Box:
    """(left, top, right, bottom) in points of a character in its line; zeros for one that has no place."""
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text_page, index, box)
    return box.left, box.top, box.right, box.bottom


def loose_boxes(text_page: Any, indexes: Sequence[int]) -> Sides:
    """The same of some characters."""
    boxes = _written(quick.FPDFText_GetLooseCharBox, np.float32, 4, _of(text_page), indexes)
    return boxes.astype(np.float64)


def around_spans(text_page: Any, indexes: Sequence[int], spans: Iterable[tuple[int, int]]) -> list[Box]:
    """(left, top, right, bottom) in points around the first and last character of some stretches of a line,
    or the one that has a place."""
    ends = [indexes[at] for start, end in spans for at in (start, end - 1)]
    boxes = loose_boxes(text_page, ends).reshape(-1, 2, 4)
    placed = boxes.any(2, keepdims=True)
    boxes = np.where(placed, boxes, boxes[:, ::-1])
    lows, highs = boxes.min(1), boxes.max(1)
    found: list[Box] = np.stack((lows[:, 0], highs[:, 1], highs[:, 2], lows[:, 3]), 1).tolist()
    return found


def letters_of(text_page: Any, indexes: Sequence[int]) -> tuple[list[int], Sides]:
    """The addresses of the text objects that set some characters, and (left, bottom, right, top) of each
    character in its line, in points."""
    owners = list(map(quick.FPDFText_GetTextObject, _of(text_page), indexes))
    return owners, loose_boxes(text_page, indexes)[:, (0, 3, 2, 1)]


def corners_of(text_page: Any, index: int) -> Box:
    """(left, top, right, bottom) of a character's tight box, in points."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text_page, index, left, right, bottom, top)
    return left.value, top.value, right.value, bottom.value


class PageObjects:
    """The objects of a page and of the forms on it, at most MOST_OBJECTS, in the order of drawing.

    addresses: where they are. kinds: FPDF_PAGEOBJ_… of each. whole: whether none were left out.
    """

    def __init__(self, page: Any) -> None:
        self.addresses: list[int] = []
        self._kinds: list[int] = []
        self._frames: list[Matrix] = []
        self._outer: list[Box] = []
        opened = ctypes.addressof(page.raw.contents)
        self._list(quick.FPDFPage_GetObject, opened, quick.FPDFPage_CountObjects(opened))
        self.whole = len(self.addresses) <= MOST_OBJECTS
        for listed in (self.addresses, self._kinds, self._frames, self._outer):
            del listed[MOST_OBJECTS:]
        self.kinds = np.array(self._kinds, np.int64)
        # Those in forms.
        self._inside = np.array([frame is not AS_IS for frame in self._frames], np.bool_)

    def _list(
        self, get: Any, owner: int, count: int, frame: Matrix = AS_IS, outer: Box = EVERYWHERE, depth: int = 1
    ) -> None:
        """Note the objects of a page or a form, each with the matrix of the form it is in, AS_IS for none,
        and where that is drawn in full."""
        items = map(get, repeat(owner), range(count))
        for kind, run in groupby(items, quick.FPDFPageObj_GetType):
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < DEEPEST:
                for item in run:
                    inside, within = quick.FPDFFormObj_CountObjects(item), _within(matrix_of(item), frame)
                    left = _clip(item, frame, outer)
                    self._list(quick.FPDFFormObj_GetObject, item, inside, within, left, depth + 1)
            else:
                self.addresses += islice(run, max(0, MOST_OBJECTS + 1 - len(self.addresses)))
                more = len(self.addresses) - len(self._kinds)
                self._kinds += [kind] * more
                self._frames += [frame] * more
                self._outer += [outer] * more
            if len(self.addresses) > MOST_OBJECTS:
                return

    def of_kind(self, *kinds: int) -> NDArray[np.intp]:
        """The numbers of the objects of these kinds."""
        return np.flatnonzero(np.logical_or.reduce([self.kinds == kind for kind in kinds]))

    def is_on_page(self, number: int) -> bool:
        """Whether an object stands on the page itself, in no form."""
        return not self._inside[number]

    def _each(self, function: Any, numbers: Numbers, kind: Any = np.int64) -> NDArray[Any]:
        """What a function of PDFium gives for each of some objects."""
        return np.fromiter(map(function, self._items(numbers)), kind, len(numbers))

    def _items(self, numbers: Numbers) -> list[int]:
        return list(map(self.addresses.__getitem__, np.asarray(numbers).tolist()))

    def sizes(self, numbers: Numbers) -> Sides:
        """The lesser of the height and width of some texts' letters in points."""
        items = self._items(numbers)
        sizes = _written(quick.FPDFTextObj_GetFontSize, np.float32, 1, items)[:, 0].astype(np.float64)
        matrices = _written(quick.FPDFPageObj_GetMatrix, np.float32, 6, items).astype(np.float64)
        for at in np.flatnonzero(self._inside[numbers]).tolist():
            matrices[at] = _within(matrices[at].tolist(), self._frames[numbers[at]])
        a, b, c, d = matrices.T[:4]
        return np.asarray(sizes * np.minimum(np.hypot(a, b), np.hypot(c, d)))

    def clips(self, numbers: Numbers) -> Sides:
        """(left, bottom, right, top) of where each of some objects is drawn in full, in points of the page:
        NOWHERE if it is transparent or cut by what is no box."""
        clips = np.tile(np.array(EVERYWHERE), (len(numbers), 1))
        paths = map(quick.FPDFPageObj_GetClipPath, self._items(numbers))
        cut = np.fromiter(map(quick.FPDFClipPath_CountPaths, paths), np.int64, len(numbers)) > 0
        cut |= self._inside[numbers] | (self._each(quick.FPDFPageObj_HasTransparency, numbers) > 0)
        for at in np.flatnonzero(cut).tolist():
            number = numbers[at]
            clips[at] = _clip(self.addresses[number], self._frames[number], self._outer[number])
        return clips

    def draw_mode(self, number: int) -> tuple[bool, bool]:
        """Whether a path is filled, and whether it is stroked."""
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        quick.FPDFPath_GetDrawMode(self.addresses[number], byref(fill), byref(stroke))
        return bool(fill.value), bool(stroke.value)

    def in_type3(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of some texts are of a Type 3 font, whose letters are drawings."""
        fonts, length = self._each(quick.FPDFTextObj_GetFont, numbers, np.uint64), ctypes.c_size_t()
        drawings = np.zeros(len(fonts), np.bool_)
        for font in {*fonts.tolist()}:
            quick.FPDFFont_GetFontData(font, None, 0, byref(length))
            if quick.FPDFFont_GetIsEmbedded(font) and not length.value:
                drawings |= fonts == font
        return drawings

    def stroked(self, number: int) -> float:
        """How much of the page, as points across, the strokes of a path may cover."""
        item, width = self.addresses[number], ctypes.c_float()
        quick.FPDFPageObj_GetStrokeWidth(item, byref(width))
        a, b, c, d, _, _ = _within(matrix_of(item), self._frames[number])
        thick = width.value * max(math.hypot(a, b), math.hypot(c, d))
        return thick * quick.FPDFPath_CountSegments(item) if self.draw_mode(number)[1] else 0.0

    def may_be_on_layer(self, number: int) -> bool:
        """Whether an object is marked as on a layer, or in a form, which may be on one."""
        name, length = (ctypes.c_ushort * 3)(), ctypes.c_ulong()
        marks = self._marks(self.addresses[number])
        names = (
            quick.FPDFPageObjMark_GetName(mark, name, 6, byref(length)) and bytes(name) for mark in marks
        )
        return not self.is_on_page(number) or b"O\0C\0\0\0" in names

    def drop_replaced_figures(self) -> list[str]:
        """Have PDFium read what is drawn, not what a mark says should be read.

        Returns what the marks say. What spells out a ligature stays.
        """
        length, said = ctypes.c_ulong(), (ctypes.c_ushort * MOST_SAID)()
        known, said_of = dict[int, str | None](), dict[str, None]()  # texts share their marks
        texts = self.of_kind(raw.FPDF_PAGEOBJ_TEXT)
        marked = texts[self._each(quick.FPDFPageObj_CountMarks, texts) > 0]
        for item in self._items(marked):
            for mark in self._marks(item):
                if mark not in known:
                    read = quick.FPDFPageObjMark_GetParamStringValue(
                        mark, b"ActualText", said, 2 * MOST_SAID, byref(length)
                    )
                    text = bytes(said)[: length.value].decode("utf-16-le", "replace").strip("\0\t\n\r ")
                    stays = len(text) in LIGATURE_LENGTHS and LIGATURES.issuperset(text)
                    known[mark] = None if stays or not read else text
                if (dropped := known[mark]) is not None:
                    quick.FPDFPageObj_RemoveMark(item, mark)
                    said_of[dropped] = None
        return [*said_of]

    def _marks(self, item: int) -> list[int]:
        """The marks of an object, the last first."""
        count = quick.FPDFPageObj_CountMarks(item)
        return [quick.FPDFPageObj_GetMark(item, index) for index in reversed(range(count))]

    @cached_property
    def _boxes(self) -> Sides:
        boxes = _written(quick.FPDFPageObj_GetBounds, np.float32, 4, self.addresses, parts=4).astype(
            np.float64
        )
        inside = np.flatnonzero(self._inside)
        frames = np.array([self._frames[at] for at in inside.tolist()], np.float64).reshape(-1, 6)
        boxes[inside] = _moved(boxes[inside], frames)
        return np.nan_to_num(boxes)

    def sides(self, numbers: Numbers) -> Sides:
        """(left, bottom, right, top) of each of some objects, in points of the page."""
        return self._boxes[numbers]

    def colours(self, numbers: Numbers, read: Any = quick.FPDFPageObj_GetFillColor) -> Sides:
        """(red, green, blue, opacity), 0-255, of what some objects are filled with."""
        return _written(read, np.uint32, 4, self._items(numbers), parts=4).astype(np.int64)

    def modes(self, numbers: Numbers) -> NDArray[np.int64]:
        """How the letters of some texts are drawn, 3 for not at all."""
        return self._each(quick.FPDFTextObj_GetTextRenderMode, numbers)


def _clip(item: int, frame: Matrix, sides: Box) -> Box:
    """What is left of a box where an object is drawn in full."""
    if quick.FPDFPageObj_HasTransparency(item):
        return NOWHERE
    clip = quick.FPDFPageObj_GetClipPath(item)
    for path in range(quick.FPDFClipPath_CountPaths(clip)):
        corners = _corners(clip, path, frame)
        if len({*corners}) != 4 or any(x != u and y != v for (x, y), (u, v) in pairwise(corners)):
            return NOWHERE
        (left, right), (bottom, top) = ((min(along), max(along)) for along in zip(*corners, strict=True))
        sides = max(sides[0], left), max(sides[1], bottom), min(sides[2], right), min(sides[3], top)
    return sides


def matrix_of(item: int) -> Matrix:
    """The matrix of an object; zeros where it has none."""
    found = raw.FS_MATRIX()
    quick.FPDFPageObj_GetMatrix(item, byref(found))
    return found.a, found.b, found.c, found.d, found.e, found.f


def _within(inner: Matrix, outer: Matrix) -> Matrix:
    """The matrix that does `inner` and then `outer`."""
    a, b, c, d, e, f = inner
    oa, ob, oc, od, oe, of = outer
    across = (a * oa + b * oc, a * ob + b * od)
    down = (c * oa + d * oc, c * ob + d * od)
    moved = (e * oa + f * oc + oe, e * ob + f * od + of)
    return (*across, *down, *moved)


def _corners(clip: int, path: int, matrix: Matrix) -> list[tuple[float, float]]:
    """The points of an outline on the page, the first also as the last; none where they are many."""
    x, y, corners = ctypes.c_float(), ctypes.c_float(), []
    count = quick.FPDFClipPath_CountPathSegments(clip, path)
    a, b, c, d, e, f = matrix
    for index in range(count if count <= MOST_CLIP_POINTS else 0):
        segment = quick.FPDFClipPath_GetPathSegment(clip, path, index)
        quick.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        across, up = a * x.value + c * y.value + e, b * x.value + d * y.value + f
        corners.append((round(across, 1), round(up, 1)))
    return corners + corners[:1]


def _moved(sides: Sides, matrices: Sides) -> Sides:
    """The sides of boxes in forms as sides on the page, each by its own matrix."""
    left, bottom, right, top = sides.T
    a, b, c, d, e, f = matrices.T
    corners = [(x, y) for x in (left, right) for y in (bottom, top)]
    across = np.array([a * x + c * y + e for x, y in corners])
    up = np.array([b * x + d * y + f for x, y in corners])
    return np.stack((across.min(0), up.min(0), across.max(0), up.max(0)), 1)
