"""Lists all that is drawn on a page that PDFium has open, in the order of drawing; knows no text.

Calls PDFium by plain addresses: its Python objects take three times as long, and a page may have thousands.
"""

from __future__ import annotations

import ctypes
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from numpy.typing import NDArray

__all__ = ["EVERYWHERE", "MOST_OBJECTS", "PageObjects", "Sides", "corners_of", "letters_of", "loose_boxes"]

Sides = NDArray[np.float64]
Numbers = Sequence[int] | NDArray[np.intp]
# PDF's (a, b, c, d, e, f): x' = ax + cy + e, y' = bx + dy + f.
Matrix = tuple[float, float, float, float, float, float]
AS_IS: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# How deep forms within forms are searched; only machines, such as an attacker's, nest them deeper.
DEEPEST = 4
# Objects of one page that are listed: a page of drawings has some thousands, a bomb has millions.
MOST_OBJECTS = 20_000
# Points of a clip that are looked at.
MOST_CLIP_POINTS = 40
EVERYWHERE = (-1e9, -1e9, 1e9, 1e9)


def _direct(function: Any, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_ADDRESS, _NUMBER = ctypes.c_void_p, ctypes.c_int
_object = _direct(raw.FPDFPage_GetObject, _ADDRESS, _ADDRESS, _NUMBER)
_inner_object = _direct(raw.FPDFFormObj_GetObject, _ADDRESS, _ADDRESS, ctypes.c_ulong)
_kind = _direct(raw.FPDFPageObj_GetType, _NUMBER, _ADDRESS)
_mode = _direct(raw.FPDFTextObj_GetTextRenderMode, _NUMBER, _ADDRESS)
_bounds = _direct(raw.FPDFPageObj_GetBounds, _NUMBER, *[_ADDRESS] * 5)
_fill = _direct(raw.FPDFPageObj_GetFillColor, _NUMBER, *[_ADDRESS] * 5)
_clip = _direct(raw.FPDFPageObj_GetClipPath, _ADDRESS, _ADDRESS)
_clips = _direct(raw.FPDFClipPath_CountPaths, _NUMBER, _ADDRESS)
_loose_box = _direct(raw.FPDFText_GetLooseCharBox, _NUMBER, _ADDRESS, _NUMBER, _ADDRESS)
_owner = _direct(raw.FPDFText_GetTextObject, _ADDRESS, _ADDRESS, _NUMBER)


def loose_boxes(text_page: Any) -> Callable[[int], list[float]]:
    """Gives (left, top, right, bottom) in points of a character in its line, while the text page is open;
    nothing for one that has no place."""
    box = (ctypes.c_float * 4)()
    owner, there = _address(text_page), ctypes.addressof(box)

    def read(index: int) -> list[float]:
        return box[:] if _loose_box(owner, index, there) else []

    return read


def letters_of(text_page: Any, indexes: Sequence[int]) -> tuple[list[int | None], Sides]:
    """The addresses of the text objects that set some characters, and (left, bottom, right, top) of each
    character in its line, in points."""
    owners = list(map(_owner, repeat(_address(text_page)), indexes))
    boxes = [box or [0.0] * 4 for box in map(loose_boxes(text_page), indexes)]
    return owners, np.array(boxes).reshape(-1, 4)[:, (0, 3, 2, 1)]


def corners_of(text_page: Any, index: int) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of a character's tight box, in points."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(text_page, index, left, right, bottom, top)
    return left.value, top.value, right.value, bottom.value


@dataclass(slots=True)
class PageObjects:
    """The objects of a page and of the forms on it, in the order of drawing.

    handles: their addresses. kinds: FPDF_PAGEOBJ_… of each. frames: the matrix of the form that an object is
    in, AS_IS where it is in none. whole: whether none were left out.
    """

    handles: list[int] = field(default_factory=list)
    kinds: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    frames: list[Matrix] = field(default_factory=list)
    whole: bool = True

    @classmethod
    def of(cls, page: Any) -> PageObjects:
        """The objects of an open page, at most MOST_OBJECTS."""
        made = cls()
        kinds: list[int] = []
        made._gather(_object, _address(page), raw.FPDFPage_CountObjects(page), AS_IS, kinds)
        made.kinds = np.array(kinds, np.int64)
        return made

    def _gather(
        self, get: Any, owner: int, count: int, frame: Matrix, kinds: list[int], depth: int = 1
    ) -> None:
        room = MOST_OBJECTS - len(self.handles)
        self.whole = self.whole and count <= room
        handles = list(map(get, repeat(owner), range(min(count, room))))
        found = list(map(_kind, handles))
        while raw.FPDF_PAGEOBJ_FORM in found and depth < DEEPEST:
            at = found.index(raw.FPDF_PAGEOBJ_FORM)
            self._keep(handles[:at], found[:at], frame, kinds)
            form = _pointer(handles[at])
            within = _within(_matrix_of(form), frame)
            inside = raw.FPDFFormObj_CountObjects(form)
            self._gather(_inner_object, handles[at], inside, within, kinds, depth + 1)
            del handles[: at + 1], found[: at + 1]
        self._keep(handles, found, frame, kinds)

    def _keep(self, handles: list[int], found: list[int], frame: Matrix, kinds: list[int]) -> None:
        self.handles += handles
        self.frames += repeat(frame, len(handles))
        kinds += found

    def of_kind(self, *kinds: int) -> NDArray[np.intp]:
        """The numbers of the objects of these kinds."""
        wanted = self.kinds == kinds[0]
        for kind in kinds[1:]:
            wanted |= self.kinds == kind
        return np.flatnonzero(wanted)

    def is_on_page(self, number: int) -> bool:
        """Whether an object stands on the page itself, in no form."""
        return self.frames[number] is AS_IS

    def size(self, number: int) -> float:
        """The size of a text's letters in points."""
        item, size = self.pointer(number), ctypes.c_float()
        raw.FPDFTextObj_GetFontSize(item, size)
        _, _, across, up, _, _ = _within(_matrix_of(item), self.frames[number])
        return size.value * math.hypot(across, up)

    def clip(self, number: int) -> Sides:
        """(left, bottom, right, top) of what the outlines that cut an object leave, in points of the page."""
        clip = raw.FPDFPageObj_GetClipPath(self.pointer(number))
        x, y = ctypes.c_float(), ctypes.c_float()
        sides = np.array(EVERYWHERE)
        for path in range(raw.FPDFClipPath_CountPaths(clip)):
            count = raw.FPDFClipPath_CountPathSegments(clip, path)
            corners = []
            for index in range(count if count < MOST_CLIP_POINTS else 0):
                raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, path, index), x, y)
                corners.append((x.value, y.value))
            if corners:
                sides[:2] = np.maximum(sides[:2], np.min(corners, 0))
                sides[2:] = np.minimum(sides[2:], np.max(corners, 0))
        return _moved(sides, self.frames[number])

    def is_filled(self, number: int) -> bool:
        """Whether a path is filled."""
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(self.pointer(number), fill, stroke)
        return bool(fill.value)

    def may_be_on_layer(self, number: int) -> bool:
        """Whether an object is marked as on a layer, or in a form, which may be on one."""
        item, name, length = self.pointer(number), (ctypes.c_ushort * 3)(), ctypes.c_ulong()
        marks = (raw.FPDFPageObj_GetMark(item, index) for index in range(raw.FPDFPageObj_CountMarks(item)))
        names = (raw.FPDFPageObjMark_GetName(mark, name, 6, length) and bytes(name) for mark in marks)
        return not self.is_on_page(number) or b"O\0C\0\0\0" in names

    def pointer(self, number: int) -> Any:
        """An object as PDFium's functions take it."""
        return _pointer(self.handles[number])

    def sides(self, numbers: Numbers) -> Sides:
        """(left, bottom, right, top) of each of some objects, in points of the page."""
        sides = np.nan_to_num(self._four(_bounds, numbers, np.float32).astype(np.float64))
        if self.frames.count(AS_IS) < len(self.frames):
            for row, number in enumerate(numbers):
                if not self.is_on_page(number):
                    sides[row] = _moved(sides[row], self.frames[number])
        return sides

    def colours(self, numbers: Numbers) -> NDArray[np.int64]:
        """(red, green, blue, opacity), 0-255, of what some objects are filled with."""
        return self._four(_fill, numbers, np.uint32).astype(np.int64)

    def modes(self, numbers: Numbers) -> NDArray[np.int64]:
        """How the letters of some texts are drawn, 3 for not at all."""
        return np.fromiter(map(_mode, self._some(numbers)), np.int64, len(numbers))

    def clips(self, numbers: Numbers) -> NDArray[np.int64]:
        """By how many outlines each of some objects is cut."""
        return np.fromiter(map(_clips, map(_clip, self._some(numbers))), np.int64, len(numbers))

    def _some(self, numbers: Numbers) -> Any:
        if len(numbers) == len(self.handles):
            return self.handles
        if len(numbers) < 2:
            return [self.handles[number] for number in numbers]
        return itemgetter(*numbers)(self.handles)

    def _four(self, read: Any, numbers: Numbers, kind: Any) -> NDArray[Any]:
        """Four values of each of some objects, as a function of PDFium gives them by four addresses."""
        values = np.zeros((len(numbers), 4), kind)
        first = values.ctypes.data
        end = first + values.nbytes
        places = (range(first + offset, end, 16) for offset in (0, 4, 8, 12))
        deque(map(read, self._some(numbers), *places), 0)
        return values


def _address(item: Any) -> int:
    return ctypes.cast(item.raw, ctypes.c_void_p).value or 0


def _pointer(handle: int) -> Any:
    return ctypes.cast(handle, raw.FPDF_PAGEOBJECT)


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


def _moved(sides: Sequence[float] | Sides, matrix: Matrix) -> Sides:
    """The sides of a box in a form as sides on the page."""
    left, bottom, right, top = sides
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (left, right) for y in (bottom, top)]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return np.array((min(across), min(up), max(across), max(up)))
