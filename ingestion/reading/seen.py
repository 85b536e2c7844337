"""Finds the characters of a page's text layer that a person does not see on the page, and says why.

What is drawn tells cheaply which texts may be hidden. Whether one is, the page's picture tells: nobody sees a
text without which the picture is the same. The text layer over a scan is not drawn, but the scan shows it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pypdfium2.raw as raw
from numpy.typing import NDArray

from ingestion.invisible_characters import one_line
from ingestion.reading.page_objects import PageObjects, Sides, address_of, corners_of
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
# Boxes of one page that are compared with its texts, largest first; drawings of more are no covers.
MOST_BOXES = 300
# The part of a text's height at its foot and head in which no line strikes it.
MIDDLE = 0.25
# Where a line goes through a letter, as a share of its line's height above its foot: lower is underlined.
LOWEST_STRIKE, HIGHEST_STRIKE = 0.1, 0.55
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


def unseen_of(shown: ShownPage, plain: str, indexes: Callable[[], Sequence[int]]) -> dict[int, str]:
    """Offset in the page's text -> why nobody sees its character, or STRUCK; mostly empty.

    plain: as PDFium gives it. indexes: gives of each of its characters PDFium's number.
    """
    texts = _Texts(shown)
    lines = texts.crossing_lines()
    if not (texts.reasons or len(lines) or len(shown.struck)):
        return {}
    letters = _Letters(shown, plain, indexes())
    hidden = _Judge(shown, texts, letters).unseen()
    for word in letters.words(range(len(letters.at))):
        reasons = [hidden[number] for number in word if number in hidden]
        if reasons and any(plain[letters.at[number]].isdigit() for number in word):
            # What is left of a figure is another figure.
            hidden.update(dict.fromkeys(word, reasons[0]))
    unseen = {letters.at[number]: reason for number, reason in hidden.items()}
    for at in letters.struck(lines[:MOST_STRIKES], np.array(shown.struck[:MOST_STRIKES]).reshape(-1, 4)):
        unseen.setdefault(at, STRUCK)
    return unseen


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
        self.covered: set[int] = set()
        if len(self.numbers):
            self._find_suspects()

    def _suspect(self, which: NDArray[Any], reason: str) -> None:
        for number in self.numbers[which].tolist():
            self.reasons.setdefault(number, reason)

    def _find_suspects(self) -> None:
        objects, numbers, suspect = self.objects, self.numbers, self._suspect
        modes, colours = objects.modes(numbers), objects.colours(numbers)
        filled = np.isin(modes, (0, 4))
        left, bottom, right, top = self.page
        sides = self.sides
        smallest = SMALLEST * min(1.0, max(right - left, top - bottom) / A4)
        low = (sides[:, 2:] - sides[:, :2]).min(1) < smallest
        suspect(np.flatnonzero(low)[[self._size(number) < smallest for number in numbers[low]]], TINY)
        suspect(np.isin(modes, (3, 7)), NOT_DRAWN)
        suspect(filled & (colours[:, 3] == 0), TRANSPARENT)
        light = filled & (colours[:, :3].min(1) > 255 - ALIKE)
        self._compare_boxes(np.where(filled[:, None], colours, -ALIKE * 9), light)
        for at in np.flatnonzero(objects.clips(numbers)):
            clip = objects.clip(numbers[at])
            if (clip[:2] > sides[at, :2] + 1).any() or (clip[2:] < sides[at, 2:] - 1).any():
                suspect(np.array([at]), CLIPPED)
        if self.shown.layered:
            within = np.array([not objects.is_on_page(number) for number in numbers])
            suspect((objects.marks(numbers) > 0) | within, OFF)
        beyond = (sides[:, :2] < (left - 1, bottom - 1)) | (sides[:, 2:] > (right + 1, top + 1))
        suspect(beyond.any(1), OUTSIDE)

    def _size(self, number: int) -> float:
        """The size of a text's letters in points."""
        size = ctypes.c_float()
        raw.FPDFTextObj_GetFontSize(self.objects.pointer(number), size)
        _, _, across, up, _, _ = self.objects.matrix(number)
        return float(size.value * np.hypot(across, up))

    def _compare_boxes(self, colours: NDArray[Any], light: NDArray[Any]) -> None:
        """Suspect texts under later boxes, and those on a ground of their own colour.

        light: those that are as light as a page without a box.
        """
        objects, numbers = self.objects, self.numbers
        boxes = objects.of_kind(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
        sides = objects.sides(boxes)
        extent = sides[:, 2:] - sides[:, :2]
        wide = np.flatnonzero(extent.min(1) > THICKEST)
        wide = wide[np.argsort(-extent[wide].prod(1), kind="stable")[:MOST_BOXES]]
        fills = objects.colours(boxes[wide])
        for box, fill, place in zip(boxes[wide].tolist(), fills, sides[wide], strict=True):
            over = self._meeting(place)
            if not over.any():
                continue
            earlier = over & (numbers < box)
            if objects.kinds[box] != raw.FPDF_PAGEOBJ_PATH:
                self._suspect(earlier, UNDER_IMAGE)
            elif fill[3] > 128 and objects.is_filled(box):
                alike = (abs(colours[:, :3] - fill[:3]) < ALIKE).all(1)
                below = over & (numbers > box) & _holding(place, self.middles)
                self._suspect(below & alike, SAME_COLOUR)
                light &= ~(below & ~alike)
                self._suspect(earlier, COVERED)
                self.covered.update(numbers[earlier].tolist())
        for place in self.shown.covers:
            over = self._meeting(place)
            self._suspect(over, COVERED)
            self.covered.update(numbers[over].tolist())
        self._suspect(light, SAME_COLOUR)

    def _meeting(self, place: Sequence[float] | Sides) -> NDArray[np.bool_]:
        """Which texts have a part in a box, their middle in height."""
        left, bottom, right, top = place
        over = (self.middles[:, 1] > bottom) & (self.middles[:, 1] < top)
        found: NDArray[np.bool_] = over & (self.sides[:, 2] > left + 1) & (self.sides[:, 0] < right - 1)
        return found

    def crossing_lines(self) -> Sides:
        """The thin lines that go through the middle of a text."""
        paths = self.objects.of_kind(raw.FPDF_PAGEOBJ_PATH)
        sides = self.objects.sides(paths)
        extent = sides[:, 2:] - sides[:, :2]
        upright = np.diff(self.sides[:, 2:] - self.sides[:, :2], axis=1)[:, 0] > 0
        found = []
        for axis, texts in ((1, self.sides), (0, self.sides[upright])):
            lines = sides[(extent[:, axis] <= THICKEST) & (extent[:, 1 - axis] > THICKEST)]
            inset = (texts[:, axis + 2] - texts[:, axis]) * MIDDLE
            at = (lines[:, axis] + lines[:, axis + 2]) / 2
            begun = np.searchsorted(np.sort(texts[:, axis] + inset), at)
            ended = np.searchsorted(np.sort(texts[:, axis + 2] - inset), at)
            lines = lines[begun > ended]
            found += [line for line in lines if _crosses(line, texts, inset, axis)]
        return np.array(found).reshape(-1, 4)


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
        self._shown = shown
        numbers = {handle: number for number, handle in enumerate(shown.objects.handles)}
        box = raw.FS_RECTF()
        self.at, self.indexes, self.owners, sides = list[int](), list[int](), list[int](), []
        for at, index in enumerate(indexes):
            if plain[at].isspace() or not raw.FPDFText_GetLooseCharBox(shown.text, index, box):
                continue
            item = address_of(raw.FPDFText_GetTextObject(shown.text, index))
            self.at.append(at)
            self.indexes.append(index)
            self.owners.append(numbers.get(item, -1))
            sides.append((box.left, box.bottom, box.right, box.top))
        self.sides = np.array(sides).reshape(-1, 4)
        self.middles = (self.sides[:, :2] + self.sides[:, 2:]) / 2

    def struck(self, lines: Sides, areas: Sides) -> Iterator[int]:
        """The offsets of the letters that a line goes through, or that an annotation strikes."""
        for area in areas:
            yield from (self.at[number] for number in np.flatnonzero(_holding(area, self.middles)))
        for line in lines:
            reached = ((self.sides[:, :2] <= line[2:]) & (self.sides[:, 2:] >= line[:2])).all(1)
            through = [number for number in np.flatnonzero(reached) if self._goes_through(line, number)]
            along = int(line[3] - line[1] > line[2] - line[0])
            taken = (self.sides[through, along + 2] - self.sides[through, along]).sum()
            if taken >= STRUCK_SHARE * (line[along + 2] - line[along]):
                yield from (self.at[number] for number in through)

    def _goes_through(self, line: Sides, number: int) -> bool:
        """Whether a line near a letter goes through it, and not below or above it."""
        matrix = raw.FS_MATRIX()
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDFText_GetMatrix(self._shown.text, self.indexes[number], matrix)
        raw.FPDFText_GetCharOrigin(self._shown.text, self.indexes[number], x, y)
        width, height = self.sides[number, 2:] - self.sides[number, :2]
        middle = (line[:2] + line[2:]) / 2
        if line[2] - line[0] > line[3] - line[1]:
            above = (middle[1] - y.value) / height * np.sign(matrix.d)
        else:
            above = (middle[0] - x.value) / width * np.sign(matrix.c)
        return bool(LOWEST_STRIKE < above < HIGHEST_STRIKE)

    def words(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Some letters, by ascending number, as words: those between which nothing stands."""
        for _, run in groupby(enumerate(numbers), lambda pair: self.at[pair[1]] - pair[0]):
            yield [number for _, number in run]


class _Judge:
    """Which letters of a page nobody sees, by its picture."""

    def __init__(self, shown: ShownPage, texts: _Texts, letters: _Letters) -> None:
        self._shown, self._texts, self._letters = shown, texts, letters
        left, bottom, right, top = texts.page
        area = max(1.0, (right - left) * (top - bottom))
        self._scale = min(SCALE, (MOST_PIXELS / area) ** 0.5)
        images = shown.objects.sides(shown.objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE))
        share = (images[:, 2:] - images[:, :2]).prod(1).sum() / area
        self._scans = images if share >= SCANNED else images[:0]
        self._others = texts.sides[~np.isin(texts.numbers, [*texts.reasons])]

    def unseen(self) -> dict[int, str]:
        """Number of a letter -> why it is not seen."""
        letters = self._letters
        reasons = {
            number: self._texts.reasons[owner]
            for number, owner in enumerate(letters.owners)
            if owner in self._texts.reasons
        }
        inside = _holding(np.array(self._texts.page), letters.middles)
        found = {
            number: TINY if inside[number] else OUTSIDE
            for number, reason in reasons.items()
            if reason == TINY or not inside[number]
        }
        looked = [number for number, reason in reasons.items() if number not in found and reason != OUTSIDE]
        if not looked:
            return found
        picture = self._picture()
        scanned = [number for number in looked if self._is_on_scan(number, reasons[number])]
        for word in letters.words(scanned):
            if reason := self._hidden_on_scan(picture, word):
                found.update(dict.fromkeys(word, reason))
        if drawn := sorted({*looked} - {*scanned}):
            changes = abs(picture - self._without({letters.owners[number] for number in drawn}))
            for number in drawn:
                reason = reasons[number]
                if self._part(changes, number).max(initial=0) >= FAINTEST:
                    continue
                if reason not in UNDRAWN or not self._is_shown(picture, number):
                    found[number] = reason
        return found

    def _picture(self) -> Picture:
        drawn = self._shown.page.render(scale=self._scale, draw_annots=True).to_numpy()
        return drawn[:, :, :3].astype(np.int16)

    def _is_on_scan(self, number: int, reason: str) -> bool:
        if reason in (*UNDRAWN, UNDER_IMAGE):
            middle = self._letters.middles[number : number + 1]
            return any(_holding(image, middle)[0] for image in self._scans)
        return False

    def _hidden_on_scan(self, picture: Picture, word: Sequence[int]) -> str:
        """Why a scan does not show a word of its text layer, "" where it does: where it has one colour, a
        box was drawn over it, or nothing stands near."""
        part = np.concatenate([self._part(picture, number).reshape(-1, 3) for number in word])
        if not len(part) or np.ptp(part, axis=0).max() >= FAINTEST:
            return ""
        if part.max() <= DARK or self._letters.owners[word[0]] in self._texts.covered:
            return COVERED
        around = [self._part(picture, number, wider=1.0) for number in word]
        return NOT_DRAWN if all(np.ptp(near, axis=(0, 1)).max() < FAINTEST for near in around) else ""

    def _is_shown(self, picture: Picture, number: int) -> bool:
        """Whether an image or a drawing shows a letter that is not drawn itself."""
        part = self._part(picture, number)
        if not part.size or np.ptp(part, axis=(0, 1)).max() < FAINTEST:
            return False
        x, y = self._letters.middles[number]
        over = (self._others[:, :2] <= (x, y)).all(1) & (self._others[:, 2:] >= (x, y)).all(1)
        return not over.any()

    def _part(self, picture: Picture, number: int, *, wider: float = -0.15) -> Picture:
        """The picture of a letter. wider: by which share of its height on each side, by default without its
        edges, where its neighbours reach in."""
        left, top, right, bottom = corners_of(self._shown.text, self._letters.indexes[number])
        more = (top - bottom) * wider
        box = self._shown.place(left - max(0.0, more), top + more, right + max(0.0, more), bottom - more)
        height, width = picture.shape[:2]
        across = slice(int(box.x0 * width), max(int(box.x0 * width) + 1, round(box.x1 * width)))
        down = slice(int(box.y0 * height), max(int(box.y0 * height) + 1, round(box.y1 * height)))
        return picture[down, across]

    def _without(self, owners: Iterable[int]) -> Picture:
        """The page's picture without some texts."""
        pointers = [self._shown.objects.pointer(owner) for owner in owners]
        try:
            for pointer in pointers:
                raw.FPDFPageObj_SetIsActive(pointer, False)
            return self._picture()
        finally:
            for pointer in pointers:
                raw.FPDFPageObj_SetIsActive(pointer, True)


def _holding(area: Sides, points: Sides) -> NDArray[np.bool_]:
    """Which of some points stand in an area."""
    found: NDArray[np.bool_] = ((points >= area[:2]) & (points <= area[2:])).all(1)
    return found
