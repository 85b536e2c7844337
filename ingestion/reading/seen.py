"""Finds the characters of a page's text layer that a person does not see on the page, and says why.

What is drawn tells cheaply which texts may be hidden. Whether one is, the page's picture tells: nobody sees a
text without which the picture is the same. The text layer over a scan is not drawn, but the scan shows it.
"""

from __future__ import annotations

import ctypes
import math
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from numpy.typing import NDArray

from ingestion.invisible_characters import one_line
from ingestion.reading.page_objects import (
    EVERYWHERE,
    MOST_OBJECTS,
    PageObjects,
    Sides,
    corners_of,
    letter_sides,
    owners_of,
)
from ingestion.records import Rect

__all__ = ["STRUCK", "ShownPage", "kept_of", "told", "unseen_of"]

# Why words are not read, as the page's report says it.
OUTSIDE = "outside the part of the page that is shown"
TINY = "too small to be read"
NOT_DRAWN = "not drawn, nor shown by an image"
TRANSPARENT = "in a transparent colour"
OFF = "on a layer that is off"
CLIPPED = "cut off by an outline"
COVERED = "under a box"
UNDER_IMAGE = "under an image"
SAME_COLOUR = "in the colour of the ground"
STRUCK = "struck through"
# Of these an image or a drawing may show what they do not draw.
UNDRAWN = (NOT_DRAWN, TRANSPARENT)

# Points below which nobody reads a text, on a page as long as A4; and the thickness up to which a box is a
# line.
SMALLEST, A4, THICKEST = 1.5, 842.0, 3.0
# Steps of a colour, 0-255, by which a text must differ from its ground to be suspected of nothing, and by
# which its picture must differ to be seen.
ALIKE, FAINTEST = 32, 12
# The share of the page from which images are scans, and the darkest colour that a box on a scan may have.
SCANNED, DARK = 0.3, 60
# Boxes of one page that are compared with its texts, largest first, and colours of its texts, darkest first.
MOST_BOXES, MOST_COLOURS = 1_000, 30
# The part of a text's height at its foot and head in which no line strikes it.
MIDDLE = 0.25
# Where a line goes through a letter, as a share of its line's height above its foot: lower is underlined.
LOWEST_STRIKE, HIGHEST_STRIKE = 0.1, 0.55
# The part of a letter's height by which its picture is looked at inside its box, where no neighbour reaches
# in, and outside of it on a scan.
EDGES, NEAR = -0.15, 1.0
# Lines, and annotations, that may strike words of one page.
MOST_STRIKES = 500
# The share of a line that letters must take: a table's rule goes on where they end.
STRUCK_SHARE = 0.7
# Pixels per point of the pictures that are compared, and the most pixels of one.
SCALE, MOST_PIXELS = 2.0, 6_000_000
# Characters of the words of one reason that are told.
LONGEST_TOLD = 300

Picture = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page that PDFium has open, as it is judged.

    text: its text page. objects: all that it draws. place: turns (left, top, right, bottom) in points into
    fractions. layered: whether the file has layers that are off.
    covers: where annotations may hide text. struck: where annotations strike it, both in points.
    """

    page: Any
    text: Any
    objects: PageObjects
    place: Callable[[float, float, float, float], Rect]
    layered: bool = False
    covers: Sequence[Sequence[float]] = ()
    struck: Sequence[Sequence[float]] = ()


def unseen_of(shown: ShownPage, plain: str, indexes: Sequence[int]) -> dict[int, str]:
    """Offset in the page's text -> why nobody sees its character, or STRUCK; mostly empty.

    plain: as PDFium gives it. indexes: of each of its characters PDFium's number.
    """
    texts = _Texts(shown)
    lines = texts.crossing_lines()
    if not (texts.reasons or len(lines) or len(shown.struck)):
        return {}
    letters = _Letters(shown, plain, indexes)
    judge = _Judge(shown, texts, letters)
    hidden = judge.unseen()
    for word in letters.words(range(len(letters.at))):
        reasons = [hidden[number] for number in word if number in hidden]
        if reasons and any(plain[letters.at[number]].isdigit() for number in word):
            # What is left of a figure is another figure.
            hidden.update(dict.fromkeys(word, reasons[0]))
    for number in judge.struck(lines, shown.struck[:MOST_STRIKES]):
        hidden.setdefault(number, STRUCK)
    return {letters.at[number]: reason for number, reason in hidden.items()}


def kept_of(plain: str, unseen: Mapping[int, str]) -> list[int]:
    """The offsets of what is left without some characters: lines that become empty, and one of two blanks
    where a word stood, go too."""
    kept: list[int] = []
    start = 0
    for line in plain.splitlines(keepends=True):
        offsets = range(start, start + len(line))
        start += len(line)
        left = [at for at in offsets if at not in unseen]
        if len(left) == len(line):
            kept += left
        elif any(not plain[at].isspace() for at in left):
            gap = False
            for at in offsets:
                if at in unseen:
                    gap = True
                elif not (gap and plain[at] == " " and (not kept or plain[kept[-1]].isspace())):
                    kept.append(at)
                    gap = False
    return kept


def told(plain: str, unseen: Mapping[int, str]) -> list[str]:
    """For each reason how many words are not read, and their beginning."""
    found = list[str]()
    for reason in dict.fromkeys(unseen.values()):
        text = "".join(letter if unseen.get(at) == reason else " " for at, letter in enumerate(plain))
        words = text.split()
        many = "word" if len(words) == 1 else "words"
        said = one_line(" ".join(words), most=LONGEST_TOLD)
        found.append(f"{len(words):,} {many} {reason}: “{said}”")
    return found


class _Texts:
    """The texts that a page draws, one for each time it sets some."""

    def __init__(self, shown: ShownPage) -> None:
        self.shown, self.objects = shown, shown.objects
        self.numbers = self.objects.of_kind(raw.FPDF_PAGEOBJ_TEXT)
        self.sides = self.objects.sides(self.numbers)
        self.middles = (self.sides[:, :2] + self.sides[:, 2:]) / 2
        box = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(shown.page, box)
        self.page = (box.left, box.bottom, box.right, box.top)

        self.reasons: dict[int, str] = {}
        self.clips: dict[int, Sides] = {}
        self.covers: dict[int, list[Sequence[float] | Sides]] = {}
        if len(self.numbers):
            self._find_suspects()

    def _suspect(self, which: NDArray[Any], reason: str) -> None:
        for number in self.numbers[which].tolist():
            self.reasons.setdefault(number, reason)

    def _find_suspects(self) -> None:
        objects, numbers, suspect = self.objects, self.numbers, self._suspect
        modes, colours = objects.modes(numbers), objects.colours(numbers)
        filled = (modes == 0) | (modes == 4)
        left, bottom, right, top = self.page
        sides = self.sides
        smallest = SMALLEST * min(1.0, max(right - left, top - bottom) / A4)
        extent = (sides[:, 2:] - sides[:, :2]).min(1)
        low = np.flatnonzero((extent > 0) & (extent < smallest))
        suspect(low[objects.sizes(numbers[low]) < smallest], TINY)
        suspect((modes == 3) | (modes == 7), NOT_DRAWN)
        suspect(filled & (colours[:, 3] == 0), TRANSPARENT)
        light = filled & (colours[:, :3].min(1) > 255 - ALIKE)
        self._compare_boxes(np.where(filled[:, None], colours, -ALIKE * 9), light)
        for at in np.flatnonzero(objects.clips(numbers) > 0):
            clip = objects.clip(numbers[at])
            if (clip[:2] > sides[at, :2] + 1).any() or (clip[2:] < sides[at, 2:] - 1).any():
                suspect(np.array([at]), CLIPPED)
                self.clips[int(numbers[at])] = clip
        if self.shown.layered:
            suspect(np.array([objects.is_on_layer(number) for number in numbers]), OFF)
        beyond = (sides[:, :2] < (left - 1, bottom - 1)) | (sides[:, 2:] > (right + 1, top + 1))
        suspect(beyond.any(1), OUTSIDE)

    def _compare_boxes(self, colours: NDArray[Any], light: NDArray[Any]) -> None:
        """Suspect texts under later boxes, and those on a ground of their own colour.

        light: those that are as light as a page without a box.
        """
        objects, numbers = self.objects, self.numbers
        boxes = objects.of_kind(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
        sides = objects.sides(boxes)
        extent = sides[:, 2:] - sides[:, :2]
        wide = np.flatnonzero(extent.min(1) > THICKEST)
        if len(wide) > MOST_BOXES:
            wide = np.sort(wide[np.argsort(-extent[wide].prod(1))[:MOST_BOXES]])
        boxes, sides = boxes[wide], sides[wide]
        fills, is_path = objects.colours(boxes), objects.kinds[boxes] == raw.FPDF_PAGEOBJ_PATH
        opaque = is_path & (fills[:, 3] > 128) & objects.filled(boxes)
        some = colours[np.unique(colours[:, :3] @ (1 << 20, 1 << 10, 1), return_index=True)[1], :3]
        alike = (abs(fills[:, None, :3] - some[:MOST_COLOURS]) < ALIKE).all(2).any(1)
        wanted = self._later(boxes, sides) & (opaque | ~is_path) | opaque & (alike | light.any())
        for number in np.flatnonzero(wanted):
            box, place = boxes[number], sides[number]
            over = self._meeting(place)
            earlier = over & (numbers < box)
            self._cover(earlier, place, COVERED if opaque[number] else UNDER_IMAGE)
            if not opaque[number]:
                continue
            like = (abs(colours[:, :3] - fills[number, :3]) < ALIKE).all(1)
            below = over & (numbers > box) & _holding(place, self.middles)
            self._suspect(below & like, SAME_COLOUR)
            light &= ~(below & ~like)
        for place in self.shown.covers:
            self._cover(self._meeting(place), place, COVERED)
        self._suspect(light, SAME_COLOUR)

    def _cover(self, texts: NDArray[np.bool_], place: Sequence[float] | Sides, reason: str) -> None:
        self._suspect(texts, reason)
        for number in self.numbers[texts].tolist():
            self.covers.setdefault(number, []).append(place)

    def _later(self, boxes: NDArray[np.intp], sides: Sides) -> NDArray[np.bool_]:
        """Which boxes were drawn after a text whose middle they have at their height."""
        order = np.argsort(self.middles[:, 1])
        heights = self.middles[order, 1]
        ends = np.searchsorted(heights, sides[:, (1, 3)])
        first = np.minimum.reduceat(np.append(self.numbers[order], MOST_OBJECTS), ends.ravel())[::2]
        later: NDArray[np.bool_] = (ends[:, 0] < ends[:, 1]) & (first < boxes)
        return later

    def _meeting(self, place: Sequence[float] | Sides) -> NDArray[np.bool_]:
        """Which texts have a part in a box, their middle in height."""
        left, bottom, right, top = place
        over = (self.middles[:, 1] > bottom) & (self.middles[:, 1] < top)
        found: NDArray[np.bool_] = over & (self.sides[:, 2] > left + 1) & (self.sides[:, 0] < right - 1)
        return found

    def crossing_lines(self) -> NDArray[np.intp]:
        """The numbers of the thin lines that go through the middle of a text."""
        paths = self.objects.of_kind(raw.FPDF_PAGEOBJ_PATH)
        sides = self.objects.sides(paths)
        extent = sides[:, 2:] - sides[:, :2]
        upright = np.diff(self.sides[:, 2:] - self.sides[:, :2], axis=1)[:, 0] > 0
        found: list[int] = []
        for axis, texts in ((1, self.sides), (0, self.sides[upright])):
            thin = np.flatnonzero((extent[:, axis] <= THICKEST) & (extent[:, 1 - axis] > THICKEST))
            lines = sides[thin]
            inset = (texts[:, axis + 2] - texts[:, axis]) * MIDDLE
            at = (lines[:, axis] + lines[:, axis + 2]) / 2
            begun = np.searchsorted(np.sort(texts[:, axis] + inset), at)
            ended = np.searchsorted(np.sort(texts[:, axis + 2] - inset), at)
            near = begun > ended
            some = zip(thin[near], lines[near], strict=True)
            found += [paths[number] for number, line in some if _crosses(line, texts, inset, axis)]
        return np.array(found[:MOST_STRIKES], np.intp)


def _crosses(line: Sides, texts: Sides, inset: NDArray[Any], axis: int) -> bool:
    """Whether a thin line goes through the middle of one of some texts, and has a part in common with it."""
    at = (line[axis] + line[axis + 2]) / 2
    through = (texts[:, axis] + inset < at) & (at < texts[:, axis + 2] - inset)
    along = 1 - axis
    common = np.minimum(texts[:, along + 2], line[along + 2]) - np.maximum(texts[:, along], line[along])
    return bool((through & (common > 1)).any())


class _Letters:
    """The printed characters of a page: at, their offsets in its text; indexes, PDFium's numbers of them;
    owners, the text objects that set them; sides, of each in its line, and middles, in points."""

    def __init__(self, shown: ShownPage, plain: str, indexes: Sequence[int]) -> None:
        self._text = shown.text
        self._breaks = [at for at, character in enumerate(plain) if character == "\n"]
        self.at = [at for at, character in enumerate(plain) if not character.isspace()]
        self.indexes = [indexes[at] for at in self.at]
        numbers: dict[int | None, int] = {handle: at for at, handle in enumerate(shown.objects.handles)}
        self.owners = [numbers.get(owner, -1) for owner in owners_of(shown.text, self.indexes)]
        self.sides = letter_sides(shown.text, self.indexes)
        self.middles = (self.sides[:, :2] + self.sides[:, 2:]) / 2

    def under(self, line: Sides) -> list[int]:
        """The letters that a line goes through, where they take most of it."""
        reached = ((self.sides[:, :2] <= line[2:]) & (self.sides[:, 2:] >= line[:2])).all(1)
        through = [number for number in np.flatnonzero(reached).tolist() if self._goes_through(line, number)]
        along = int(line[3] - line[1] > line[2] - line[0])
        taken = (self.sides[through, along + 2] - self.sides[through, along]).sum()
        return through if taken >= STRUCK_SHARE * (line[along + 2] - line[along]) else []

    def _goes_through(self, line: Sides, number: int) -> bool:
        """Whether a line near a letter goes through it, and not below or above it."""
        matrix = raw.FS_MATRIX()
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetMatrix(self._text, self.indexes[number], matrix)
        raw.FPDFText_GetCharOrigin(self._text, self.indexes[number], x, y)
        width, height = self.sides[number, 2:] - self.sides[number, :2]
        middle = (line[:2] + line[2:]) / 2
        if line[2] - line[0] > line[3] - line[1]:
            above = (middle[1] - y.value) / height * np.sign(matrix.d)
        else:
            above = (middle[0] - x.value) / width * np.sign(matrix.c)
        return bool(LOWEST_STRIKE < above < HIGHEST_STRIKE)

    def lines(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Some letters as lines."""
        for _, run in groupby(numbers, lambda number: bisect(self._breaks, self.at[number])):
            yield list(run)

    def words(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Some letters, by ascending number, as words: those between which nothing stands."""
        for _, run in groupby(enumerate(numbers), lambda pair: self.at[pair[1]] - pair[0]):
            yield [number for _, number in run]


class _View:
    """The part of a page's picture in which some letters stand."""

    def __init__(self, shown: ShownPage, letters: _Letters, numbers: Sequence[int]) -> None:
        self._shown, self._letters = shown, letters
        width, height = shown.page.get_size()
        self._scale = min(SCALE, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        self._size = (math.ceil(width * self._scale), math.ceil(height * self._scale))
        sides = letters.sides[numbers]
        more = float((sides[:, 3] - sides[:, 1]).max())
        (left, bottom), (right, top) = sides[:, :2].min(0) - more, sides[:, 2:].max(0) + more
        self._region = self._pixels(left, top, right, bottom)
        self.whole = self._drawn()

    def without(self, owners: Iterable[int]) -> Picture:
        """How the picture changes without some objects."""
        pointers = [self._shown.objects.pointer(owner) for owner in owners]
        try:
            for pointer in pointers:
                raw.FPDFPageObj_SetIsActive(pointer, False)
            return abs(self.whole - self._drawn())
        finally:
            for pointer in pointers:
                raw.FPDFPageObj_SetIsActive(pointer, True)

    def part(self, picture: Picture, number: int, *, wider: float = EDGES) -> Picture:
        """The picture of a letter. wider: by which share of its height on each side."""
        left, top, right, bottom = corners_of(self._shown.text, self._letters.indexes[number])
        more = (top - bottom) * wider
        x0, y0, x1, y1 = self._pixels(
            left - max(0.0, more), top + more, right + max(0.0, more), bottom - more
        )
        x, y = self._region[:2]
        return picture[max(0, y0 - y) : y1 - y, max(0, x0 - x) : x1 - x]

    def differs(self, picture: Picture, number: int) -> bool:
        """Whether a picture of changes shows one at a letter."""
        return bool(self.part(picture, number).max(initial=0) >= FAINTEST)

    def _pixels(self, left: float, top: float, right: float, bottom: float) -> tuple[int, int, int, int]:
        box, (width, height) = self._shown.place(left, top, right, bottom), self._size
        x0, y0 = int(box.x0 * width), int(box.y0 * height)
        return x0, y0, max(x0 + 1, round(box.x1 * width)), max(y0 + 1, round(box.y1 * height))

    def _drawn(self) -> Picture:
        (x0, y0, x1, y1), (width, height) = self._region, self._size
        cut = tuple(max(0.0, (edge - 0.5) / self._scale) for edge in (x0, height - y1, width - x1, y0))
        drawn = self._shown.page.render(scale=self._scale, crop=cut, draw_annots=True).to_numpy()
        return drawn[:, :, :3].astype(np.int16)


class _Judge:
    """Which letters of a page nobody sees, by its picture."""

    def __init__(self, shown: ShownPage, texts: _Texts, letters: _Letters) -> None:
        self._shown, self._texts, self._letters = shown, texts, letters
        left, bottom, right, top = texts.page
        area = max(1.0, (right - left) * (top - bottom))
        images = shown.objects.sides(shown.objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE))
        share = (images[:, 2:] - images[:, :2]).prod(1).sum() / area
        undrawn = [texts.reasons.get(owner) in (*UNDRAWN, UNDER_IMAGE) for owner in letters.owners]
        self._scans = images if share >= SCANNED and 2 * sum(undrawn) > len(undrawn) else images[:0]
        self._others = texts.sides[~np.isin(texts.numbers, [*texts.reasons])]

    def unseen(self) -> dict[int, str]:
        """Number of a letter -> why it is not seen."""
        letters, found, drawn, undrawn = self._letters, dict[int, str](), list[int](), list[int]()
        for number, owner in enumerate(letters.owners):
            reason = self._texts.reasons.get(owner)
            if reason is None:
                continue
            if not self._is_in(number, [self._texts.page]):
                found[number] = OUTSIDE
            elif not self._is_in(number, [self._texts.clips.get(owner, EVERYWHERE)]):
                found[number] = CLIPPED
            elif reason == TINY:
                found[number] = TINY
            elif reason in UNDRAWN or (reason == UNDER_IMAGE and self._is_in(number, self._scans)):
                undrawn.append(number)
            elif reason in (SAME_COLOUR, OFF) or self._is_in(number, self._texts.covers.get(owner, ())):
                drawn.append(number)
        if drawn or undrawn:
            view = _View(self._shown, letters, drawn + undrawn)
            found.update(self._hidden(view, drawn))
            found.update(self._not_shown(view, undrawn))
        return found

    def _hidden(self, view: _View, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Those of some letters without which the picture is the same, each with why."""
        if numbers:
            owners = self._letters.owners
            changes = view.without({owners[number] for number in numbers})
            for number in numbers:
                if not view.differs(changes, number):
                    yield number, self._texts.reasons[owners[number]]

    def _not_shown(self, view: _View, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Those of some letters that are not drawn and that nothing else shows, each with why."""
        blotted = {
            number for word in self._letters.words(numbers) if self._is_blotted(view, word) for number in word
        }
        yield from ((number, COVERED) for number in blotted)
        for line in self._letters.lines([number for number in numbers if number not in blotted]):
            if 2 * sum(self._is_shown(view, number) for number in line) < len(line):
                yield from ((number, self._texts.reasons[self._letters.owners[number]]) for number in line)

    def struck(self, lines: NDArray[np.intp], areas: Sequence[Sequence[float]]) -> Iterator[int]:
        """The letters that lines go through which are seen, and those that annotations strike."""
        for area in areas:
            yield from np.flatnonzero(_holding(np.array(area), self._letters.middles)).tolist()
        sides = self._shown.objects.sides(lines)
        under = {line: self._letters.under(place) for line, place in zip(lines, sides, strict=True)}
        under = {line: through for line, through in under.items() if through}
        if under:
            view = _View(self._shown, self._letters, [*chain.from_iterable(under.values())])
            changes = view.without(under)
            for through in under.values():
                if 2 * sum(view.differs(changes, number) for number in through) > len(through):
                    yield from through

    def _is_in(self, number: int, places: Iterable[Sequence[float] | Sides]) -> bool:
        x, y = self._letters.middles[number]
        return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in places)

    def _is_blotted(self, view: _View, word: Sequence[int]) -> bool:
        """Whether a word that is not drawn stands where the page has one colour, and that is dark or of a box
        that was drawn over it."""
        part = np.concatenate([view.part(view.whole, number).reshape(-1, 3) for number in word])
        if not len(part) or np.ptp(part, axis=0).max() >= FAINTEST:
            return False
        owner = self._letters.owners[word[0]]
        return part.max() <= DARK or self._is_in(word[0], self._texts.covers.get(owner, ()))

    def _is_shown(self, view: _View, number: int) -> bool:
        """Whether a scan or a drawing shows a letter that is not drawn itself, or something near it: letters
        over a scan may be a little off."""
        scanned = self._is_in(number, self._scans)
        part = view.part(view.whole, number, wider=NEAR if scanned else EDGES)
        if not part.size or np.ptp(part, axis=(0, 1)).max() < FAINTEST:
            return False
        return scanned or not self._is_in(number, self._others)


def _holding(area: Sides, points: Sides) -> NDArray[np.bool_]:
    """Which of some points stand in an area."""
    found: NDArray[np.bool_] = ((points >= area[:2]) & (points <= area[2:])).all(1)
    return found
