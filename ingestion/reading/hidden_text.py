"""Finds the characters of a page's text layer that a person does not see on the page, and says why.

What is drawn tells cheaply which texts may be hidden. Whether one is, the page's picture tells: nobody sees a
text without which the picture is the same. The text layer over a scan is not drawn, but the scan shows it.
"""

from __future__ import annotations

import math
import time
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw
from numpy.typing import NDArray

from ingestion.invisible_characters import one_line
from ingestion.reading.page_objects import (
    EVERYWHERE,
    NOWHERE,
    PageObjects,
    Sides,
    corners_of,
    letters_of,
    quick,
)
from ingestion.records import Place

__all__ = ["UNCHECKED", "ShownPage", "kept_of", "told", "unseen_of"]

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
UNSEEN = "not to be seen in the page's picture"
STRUCK = "struck through"
# What the report says of a page that takes longer to draw than so many seconds of a core, or twice as many in
# all; a map takes half of one a picture.
UNCHECKED = "the check whether all words are seen, for the page takes too long to draw"
MOST_SECONDS = 3.0
# Points below which nobody reads a text, on a page as long as A4; and the thickness up to which a box is a
# line.
SMALLEST, A4, THICKEST = 1.5, 842.0, 3.0
# Steps of a colour, 0-255, by which a text must differ from its ground to be suspected of nothing, and by
# which its picture must differ to be seen.
ALIKE, FAINTEST = 32, 12
# The share of the page from which images are scans, the darkest colour of a box on a scan, and how many
# pixels of it under a word are more than a stroke.
SCANNED, DARK, LEAST_BLOT = 0.3, 60, 100
# Boxes of one page that are compared with its texts, largest first, pairs of texts and lines, and how many
# lines on one text may hide it.
MOST_BOXES, MOST_PAIRS, MOST_LINES = 1_000, 4_000_000, 3
# The points across from which strokes may hide a text, and for how many of their box another.
THICK, WIDE = 9.0, 50
# The part of a letter's height by which its picture is looked at inside its box, where no neighbour reaches
# in, and outside of it on a scan, over which letters may be a little off.
EDGES, NEAR = -0.15, 1.0
# Points of a letter's picture that are looked at at least: the ink of a dot may be a pixel off.
LEAST_HIGH = 2.0
# The part of a text's height at its foot and head in which no line strikes it, and where a line goes through
# a letter, as a share of the height of its line of text: lower is underlined.
INSET, LOWEST_STRIKE, HIGHEST_STRIKE = 0.25, 0.25, 0.65
# The share of a line that letters must take: a table's rule goes on where they end.
STRUCK_SHARE = 0.7
# How often a page is drawn to tell texts that stand on each other.
MOST_PARTS = 8
# Lines, and annotations, that may strike words of one page.
MOST_STRIKES = 500
# Pixels per point of the pictures that are compared, and the most pixels of a page.
SCALE, MOST_PIXELS = 2.0, 6_000_000
# The most characters of hidden words that are quoted for one reason.
LONGEST_TOLD = 300

WHITE = (255, 255, 255, 255)

Picture = NDArray[np.int16]
Area = Sequence[float] | Sides


class ShownPage(NamedTuple):
    """A page that PDFium has open, as it is judged.

    text: its text page. objects: all that it draws. layered: whether the file has layers that are off.
    covers: where annotations may hide text. struck: where annotations strike it, both (left, bottom, right,
    top) in points.
    """

    page: Any
    text: Any
    objects: PageObjects
    place: Place
    layered: bool = False
    covers: Sequence[Area] = ()
    struck: Sequence[Area] = ()


def unseen_of(
    shown: ShownPage, plain: str, indexes: Sequence[int]
) -> tuple[dict[int, str], dict[int, range], bool]:
    """Offset in the page's text -> why nobody sees its character, or STRUCK; offset of hidden words -> those
    of words drawn in their place; and whether all was checked. Both are mostly empty.

    On a page that takes too long to draw, a text is hidden if something of its own says so.

    plain: as PDFium gives it. indexes: of each of its characters PDFium's number.
    """
    texts = _DrawnTexts(shown)
    lines = texts.crossing_lines()
    if not (texts.reasons or texts.unlisted or lines or shown.struck):
        return {}, {}, True
    judge = _Judge(shown, texts, plain, indexes)
    hidden = judge.unseen()
    for word in judge.words(range(len(judge.at))):
        reasons = [hidden[number] for number in word if number in hidden]
        if reasons and any(plain[judge.at[number]].isdigit() for number in word):
            # What is left of a figure is another figure; what is left of a word at an edge can be read.
            hidden.update(dict.fromkeys(word, reasons[0]))
        elif reasons and reasons[0] in (CLIPPED, OUTSIDE) and 2 * len(reasons) < len(word):
            for number in word:
                hidden.pop(number, None)
    placed = dict(judge.placed(plain, sorted(hidden))) if hidden else {}
    for number in judge.struck(lines[:MOST_STRIKES]):
        hidden.setdefault(number, STRUCK)
    return {judge.at[number]: reason for number, reason in hidden.items()}, placed, judge.checked


def kept_of(plain: str, unseen: Mapping[int, str], placed: Mapping[int, range]) -> list[int]:
    """The offsets of what is left without some characters, with what was drawn in their place there: lines
    that become empty, and one of two blanks where a word stood, go too."""
    kept = list[int]()
    start = 0
    gone = unseen.keys() | set(chain.from_iterable(placed.values()))
    for line in plain.splitlines(keepends=True):
        offsets = range(start, start + len(line))
        start += len(line)
        left = [at for at in offsets if at not in gone]
        if len(left) == len(line):
            kept += left
        elif any(at in placed for at in offsets) or any(not plain[at].isspace() for at in left):
            gap = False
            for at in offsets:
                kept += placed.get(at, ())
                if at in gone:
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


class _DrawnTexts:
    """The texts that a page draws, and which of them may be hidden.

    reasons: number of an object -> why. whole: those of which each letter may be. clips, covers: what cuts
    it, and what was drawn over it. unlisted: why text of no listed object may be.
    """

    def __init__(self, shown: ShownPage) -> None:
        self.shown, self.objects = shown, shown.objects
        self.numbers = self.objects.of_kind(raw.FPDF_PAGEOBJ_TEXT)
        self.sides = self.objects.sides(self.numbers)
        inset = (self.sides[:, 3] - self.sides[:, 1]) * INSET
        self.inner = self.sides + inset[:, None] * (1, 1, -1, -1)
        # Up the page, so that those at one height are near each other.
        self._rising = np.argsort(self.inner[:, 1])
        _, self._feet, _, self._heads = self.inner[self._rising].T.copy()
        self._lefts, _, self._rights, _ = self.sides[self._rising].T.copy()
        self._tallest = (self._heads - self._feet).max(initial=0) + 1
        box = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(shown.page, box)
        self.page = (box.left, box.bottom, box.right, box.top)
        self.smallest = SMALLEST * min(1.0, max(box.right - box.left, box.top - box.bottom) / A4)
        self.reasons: dict[int, str] = {}
        self.whole: set[int] = set()
        self.covers: dict[int, list[Area]] = {}
        listed = self.objects.whole and raw.FPDF_PAGEOBJ_FORM not in self.objects.kinds
        self.unlisted = None if listed else UNSEEN
        if len(self.numbers):
            self._find_suspects()

    def reason(self, number: int) -> str | None:
        """Why a text may be hidden, None where nothing says so."""
        return self.reasons.get(number, self.unlisted if number >= len(self.objects.addresses) else None)

    def _suspect(self, which: Any, reason: str) -> list[int]:
        suspects: list[int] = self.numbers[which].tolist() if len(which) else []
        for number in suspects:
            self.reasons.setdefault(number, reason)
        if reason in (SAME_COLOUR, OFF, UNSEEN):
            self.whole.update(suspects)
        return suspects

    def _find_suspects(self) -> None:
        objects, numbers, sides = self.objects, self.numbers, self.sides
        modes, colours = objects.modes(numbers), objects.colours(numbers)
        invisible = (modes == 3) | (modes == 7)
        stroked = np.flatnonzero((modes % 4 == 1) | (modes % 4 == 2))
        extent = sides[:, 2:] - sides[:, :2]
        low = np.flatnonzero((extent.min(1) > 0) & (extent.min(1) < 3 * self.smallest))
        self._suspect(low[objects.sizes(numbers[low]) < self.smallest], TINY)
        self._suspect(invisible, NOT_DRAWN)
        self._suspect((modes % 4 == 0) & (colours[:, 3] == 0), TRANSPARENT)
        colours[stroked] = objects.colours(numbers[stroked], quick.FPDFPageObj_GetStrokeColor)
        self._compare_boxes(np.where(invisible[:, None], -9 * ALIKE, colours))
        clips = objects.clips(numbers)
        odd = (clips == NOWHERE).all(1) | objects.in_type3(numbers) | (colours[:, 3] < 255)
        self._suspect(odd, UNSEEN)
        if self.unlisted or (modes > 3).any():
            self._suspect(modes >= 0, UNSEEN)
        cut = (clips[:, :2] > sides[:, :2] + 1) | (clips[:, 2:] < sides[:, 2:] - 1)
        self.clips = dict(zip(self._suspect(cut.any(1), CLIPPED), clips[cut.any(1)].tolist(), strict=True))
        if self.shown.layered:
            self._suspect([objects.may_be_on_layer(number) for number in numbers], OFF)
        left, bottom, right, top = self.page
        beyond = (sides[:, :2] < (left - 1, bottom - 1)) | (sides[:, 2:] > (right + 1, top + 1))
        self._suspect(beyond.any(1), OUTSIDE)

    def _compare_boxes(self, colours: NDArray[Any]) -> None:
        """Suspect texts under later boxes, and those on a ground of their own colour."""
        objects, numbers = self.objects, self.numbers
        light = colours[:, :3].min(1) > 255 - ALIKE  # as a page without a box
        drawn = objects.of_kind(raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
        boxes = np.append(drawn, numbers[light])
        sides = objects.sides(boxes)
        extent = sides[:, 2:] - sides[:, :2]
        area = np.where(extent.min(1) > THICKEST, extent.prod(1), 0)
        largest = np.sort(np.argsort(-area)[: min(MOST_BOXES, int((area > 0).sum()))])
        lines = sides[area == 0]
        boxes, sides = boxes[largest], sides[largest]
        for box, fill, place in zip(boxes.tolist(), objects.colours(boxes), sides, strict=True):
            met = self._meeting(place)
            if not met.size:
                continue
            over, under = met[numbers[met] > box], met[numbers[met] < box]
            kind = objects.kinds[box]
            if kind != raw.FPDF_PAGEOBJ_PATH:
                is_text = kind == raw.FPDF_PAGEOBJ_TEXT
                self._cover(under, place, COVERED if is_text else UNDER_IMAGE)
                self._suspect([] if is_text else over, SAME_COLOUR)
                continue
            thick = objects.stroked(box) > THICK + (place[2:] - place[:2]).min() / WIDE
            filled = objects.draw_mode(box)[0] and fill[3] > 0
            if thick or filled:
                self._cover(under, place, COVERED)
                like = (abs(colours[over, :3] - fill[:3]) < ALIKE).all(1)
                self._suspect(over[like | thick], SAME_COLOUR)
                if filled and fill[3] > 128 and light[over].any():
                    inner = self.inner[over]
                    held = _holding(place, inner[:, :2]) & _holding(place, inner[:, 2:])
                    light[over] &= ~held | like
        for place in self.shown.covers:
            self._cover(self._meeting(place), place, COVERED)
        self._suspect(light, SAME_COLOUR)
        if (area > 0).sum() > MOST_BOXES or len(lines) * len(numbers) > MOST_PAIRS:
            self._suspect(light | True, UNSEEN)
        elif self._most_level(lines) > MOST_LINES:
            crossed = Counter(chain.from_iterable(self._meeting(line).tolist() for line in lines))
            self._suspect([text for text, many in crossed.items() if many > MOST_LINES], UNSEEN)

    def _cover(self, texts: NDArray[Any], place: Area, reason: str) -> None:
        for number in self._suspect(texts, reason):
            self.covers.setdefault(number, []).append(place)

    def _most_level(self, lines: Sides) -> int:
        """How many lines stand at the height of one text at most, if not somewhat fewer."""
        above = np.sort(lines[:, 3]).searchsorted(self._feet)
        below = np.sort(lines[:, 1]).searchsorted(self._heads, "right")
        return int((below - above).max(initial=0))

    def _meeting(self, place: Area) -> NDArray[np.intp]:
        """Which texts have a part, not only their foot or head, in a box or on a line."""
        left, bottom, right, top = place
        level = slice(*self._feet.searchsorted((bottom - self._tallest, top)))
        beside = (self._rights[level] > left + 1) & (self._lefts[level] < right - 1)
        return np.asarray(self._rising[level][beside & (self._heads[level] > bottom)])

    def crossing_lines(self) -> list[int]:
        """The thin level lines that go through the middle of a text."""
        paths = self.objects.of_kind(raw.FPDF_PAGEOBJ_PATH)
        sides = self.objects.sides(paths)
        thin = (sides[:, 3] - sides[:, 1] <= THICKEST) & (sides[:, 2] - sides[:, 0] > THICKEST)
        # How many texts stand at the height of each.
        begun = np.sort(self._feet).searchsorted(sides[:, 3])
        thin &= begun > np.sort(self._heads).searchsorted(sides[:, 1], "right")
        near = np.flatnonzero(thin)[:MOST_BOXES]
        return [int(paths[number]) for number in near if self._meeting(sides[number]).size]


class _Judge:
    """The printed characters of a page, and which of them nobody sees.

    at: their offsets in the page's text. checked: whether what might hide them was looked at.
    """

    def __init__(self, shown: ShownPage, texts: _DrawnTexts, plain: str, indexes: Sequence[int]) -> None:
        self._shown, self._texts, self.checked = shown, texts, True
        worked, begun = time.thread_time(), time.monotonic()
        self._late = lambda: (
            time.thread_time() - worked > MOST_SECONDS or time.monotonic() - begun > 2 * MOST_SECONDS
        )
        self._breaks = [at for at, character in enumerate(plain) if character == "\n"]
        self.at = [at for at, character in enumerate(plain) if not character.isspace()]
        self._indexes = [indexes[at] for at in self.at]
        owners, self._sides = letters_of(shown.text, self._indexes)
        self._items = [*shown.objects.addresses, *owners]
        numbers = dict(zip(self._items[::-1], range(len(self._items))[::-1], strict=True))
        self._owners = [numbers[owner] for owner in owners]
        self._middles = (self._sides[:, :2] + self._sides[:, 2:]) / 2
        images = shown.objects.sides(shown.objects.of_kind(raw.FPDF_PAGEOBJ_IMAGE))
        width, height = shown.page.get_size()
        scanned = (images[:, 2:] - images[:, :2]).prod(1).sum() > SCANNED * width * height
        self._reasons = {owner: reason for owner in {*self._owners} if (reason := texts.reason(owner))}
        reasons = map(self._reasons.get, self._owners if scanned else ())
        undrawn = sum(reason in (NOT_DRAWN, TRANSPARENT, UNDER_IMAGE) for reason in reasons)
        self._scans = images if 2 * undrawn > len(owners) else images[:0]
        self._others = texts.sides[~np.isin(texts.numbers, [*texts.reasons])]

    def words(self, numbers: Iterable[int]) -> Iterator[list[int]]:
        """Some letters, by ascending number, as words: those between which nothing stands."""
        for _, run in groupby(enumerate(numbers), lambda pair: self.at[pair[1]] - pair[0]):
            yield [number for _, number in run]

    def unseen(self) -> dict[int, str]:
        """Number of a letter -> why it is not seen."""
        texts, found, drawn, undrawn = self._texts, dict[int, str](), list[int](), list[int]()
        for number, owner in enumerate(self._owners if self._reasons else ()):
            if (reason := self._reasons.get(owner)) is None:
                continue
            if not self._is_in(number, [texts.page]):
                found[number] = OUTSIDE
            elif reason == TINY:
                found[number] = TINY
            elif reason in (NOT_DRAWN, TRANSPARENT) or (
                reason == UNDER_IMAGE and self._is_in(number, self._scans)
            ):
                undrawn.append(number)
            elif owner in texts.whole or reason == UNSEEN or self._is_cut(number):
                drawn.append(number)
        if drawn or undrawn:
            found.update(self._hidden(drawn, undrawn))
        return found

    def _hidden(self, drawn: Sequence[int], undrawn: Sequence[int]) -> dict[int, str]:
        """Those of some letters that the page's picture does not show, and of some that are not drawn, each
        with why."""
        try:
            view = _View(self._shown, self._sides[[*drawn, *undrawn]], self._late)
            hidden = [
                number for together in self._apart(view, drawn) for number in self._unchanged(view, together)
            ]
            found = dict(self._not_shown(view, undrawn))
        except _TooSlowError:
            self.checked = False
            reasons = self._reasons
            hidden = [
                number
                for number in drawn
                if reasons[self._owners[number]] in (SAME_COLOUR, OFF) or self._is_cut(number)
            ]
            hidden += () if self._scans.size else undrawn
            found = {}
        return found | {number: self._reasons[self._owners[number]] for number in hidden}

    def _apart(self, view: _View, numbers: Iterable[int]) -> Iterable[list[int]]:
        """Some letters in parts in which no text stands on another, as one on a layer may."""
        taken = np.zeros((MOST_PARTS, *view.whole.shape[:2]), bool)
        found = defaultdict[int, list[int]](list)
        for _, letters in groupby(sorted(numbers, key=self._owners.__getitem__), self._owners.__getitem__):
            own = [*letters]
            left, right = self._sides[own, :2].min(0), self._sides[own, 2:].max(0)
            inset = np.minimum(1.0, (right - left) * INSET)
            places = [view.part(part, (*(left + inset), *(right - inset))) for part in taken]
            free = next((at for at, place in enumerate(places) if not place.any()), -1)
            places[free][:] = True
            found[free] += own
        return found.values()

    def _unchanged(self, view: _View, numbers: Sequence[int]) -> list[int]:
        """Those of some letters without whose texts, and unread ones in their place, the page looks the
        same."""
        owners, read = {self._owners[number] for number in numbers}, set(self._owners)
        places = dict(zip(self._texts.numbers.tolist(), map(tuple, self._texts.sides.round()), strict=True))
        taken = {places.get(owner) for owner in owners}
        equal = (text for text, place in places.items() if place in taken and text not in read)
        changes = view.without(self._items[owner] for owner in owners.union(equal))
        return [number for number in numbers if not self._shows(view, changes, number)]

    def placed(self, plain: str, hidden: Sequence[int]) -> Iterator[tuple[int, range]]:
        """Yields (offset of hidden words, those of what was drawn later in their place)."""
        unseen, taken = {self.at[number] for number in hidden}, set[int]()
        owners, numbers = np.array(self._owners), np.array(hidden)
        rising = numbers[np.argsort(self._sides[numbers, 1], kind="stable")]
        feet = self._sides[rising, 1]
        tallest = (self._sides[rising, 3] - feet).max()
        for run in self._runs(set(hidden)):
            x0, y0 = self._sides[run, :2].min(0)
            x1, y1 = self._sides[run, 2:].max(0)
            near = np.sort(rising[slice(*np.searchsorted(feet, (y0 - tallest, y1)))])
            under = self._sides[near]
            level = np.minimum(under[:, 3], y1) - np.maximum(under[:, 1], y0) > (y1 - y0) / 2
            later = owners[near] < owners[run].min()
            met = np.flatnonzero(level & later & (under[:, 0] < x1) & (under[:, 2] > x0))
            if not met.size or min(x1, under[met, 2].max()) - max(x0, under[met, 0].min()) < (x1 - x0) / 2:
                continue
            at = self.at[near[met[0]]]
            while at - 1 in unseen:
                at -= 1
            if at not in taken and plain[at - 1 : at] in ("", " ", "\n"):
                taken.add(at)
                yield at, range(self.at[run[0]], self.at[run[-1]] + 1)

    def _runs(self, hidden: Container[int]) -> Iterator[list[int]]:
        """The seen letters of each line, those on both sides of a wide gap apart."""
        run = list[int]()
        breaks = [bisect(self._breaks, at) for at in self.at]
        gaps = abs(np.diff(self._sides[:, (0, 2)].ravel(), prepend=0)[::2])
        for number, gap in enumerate((gaps > self._sides[:, 3] - self._sides[:, 1]).tolist()):
            seen = number not in hidden
            if run and (gap or not seen or breaks[number] != breaks[run[-1]]):
                yield run
                run = []
            if seen:
                run.append(number)
        if run:
            yield run

    def _not_shown(self, view: _View, numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Those of some letters that are not drawn and that nothing else shows, no scan and no drawing, each
        with why."""
        left = []
        for word in self.words(numbers):
            if self._is_blotted(view, word):
                yield from ((number, COVERED) for number in word)
            else:
                left += word
        for _, run in groupby(left, lambda number: bisect(self._breaks, self.at[number])):
            line = list(run)
            if 2 * sum(self._is_shown(view, number) for number in line) < len(line):
                yield from ((number, self._reasons[self._owners[number]]) for number in line)

    def struck(self, lines: Sequence[int]) -> Iterator[int]:
        """The letters that lines go through which are seen, and those that annotations strike."""
        for area in self._shown.struck[:MOST_STRIKES]:
            yield from np.flatnonzero(_holding(area, self._middles)).tolist()
        places = zip(lines, self._shown.objects.sides(lines), strict=True)
        under = {line: through for line, place in places if (through := self._under(place))}
        if under:
            try:
                view = _View(self._shown, self._sides[[*chain.from_iterable(under.values())]], self._late)
                changes = view.without(self._items[line] for line in under)
            except _TooSlowError:
                self.checked = False
                yield from chain.from_iterable(under.values())
                return
            for through in under.values():
                if 2 * sum(self._shows(view, changes, number) for number in through) > len(through):
                    yield from through

    def _under(self, line: Sides) -> list[int]:
        """The letters that a level line goes through, where they take most of it."""
        _, bottom, _, top = self._sides.T
        share = ((line[1] + line[3]) / 2 - bottom) / np.maximum(top - bottom, 1e-6)
        across = (line[0] <= self._middles[:, 0]) & (self._middles[:, 0] <= line[2])
        through = np.flatnonzero(across & (share > LOWEST_STRIKE) & (share < HIGHEST_STRIKE))
        taken = (self._sides[through, 2] - self._sides[through, 0]).sum()
        return through.tolist() if taken >= STRUCK_SHARE * (line[2] - line[0]) else []

    def _is_cut(self, number: int) -> bool:
        """Whether a letter stands outside what cuts its text, or under what was drawn over that."""
        owner, texts = self._owners[number], self._texts
        inside = self._is_in(number, [texts.clips.get(owner, EVERYWHERE)])
        return not inside or self._is_in(number, texts.covers.get(owner, ()))

    def _is_in(self, number: int, places: Iterable[Area]) -> bool:
        x, y = self._middles[number]
        return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in places)

    def _is_blotted(self, view: _View, word: Sequence[int]) -> bool:
        """Whether a word that is not drawn stands where the page has one colour, and that is dark or of a box
        that was drawn over it."""
        part = np.concatenate([self._part(view, view.whole, number).reshape(-1, 3) for number in word])
        if len(part) < LEAST_BLOT or np.ptp(part, axis=0).max() >= FAINTEST:
            return False
        return part.max() <= DARK or self._is_in(word[0], self._texts.covers.get(self._owners[word[0]], ()))

    def _is_shown(self, view: _View, number: int) -> bool:
        """Whether a scan or a drawing shows a letter that is not drawn itself."""
        scanned = self._is_in(number, self._scans)
        part = self._part(view, view.whole, number, NEAR if scanned else EDGES)
        if not part.size or np.ptp(part, axis=(0, 1)).max() < FAINTEST:
            return False
        left, top, right, bottom = corners_of(self._shown.text, self._indexes[number])
        x0, y0, x1, y1 = self._others.T
        return scanned or not ((x0 < right) & (left < x1) & (y0 < top) & (bottom < y1)).any()

    def _shows(self, view: _View, changes: Picture, number: int) -> bool:
        return bool(self._part(view, changes, number).max(initial=0) >= FAINTEST)

    def _part(self, view: _View, picture: Picture, number: int, wider: float = EDGES) -> Picture:
        """The picture of a letter. wider: by which share of its height on each side."""
        left, top, right, bottom = corners_of(self._shown.text, self._indexes[number])
        more = max((top - bottom) * wider, (LEAST_HIGH - (top - bottom)) / 2)
        beside = max(0.0, more)
        return view.part(picture, (left - beside, bottom - more, right + beside, top + more))


class _TooSlowError(Exception):
    """A page takes too long to draw."""


class _View:
    """The part of a page's picture around some boxes, in points, with their height on each side.

    late: whether there is no more time to draw; then _TooSlowError is raised.
    """

    def __init__(self, shown: ShownPage, sides: Sides, late: Callable[[], bool]) -> None:
        self._shown, self._late = shown, late
        width, height = shown.page.get_size()
        self._scale = min(SCALE, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        self._size = (math.ceil(width * self._scale), math.ceil(height * self._scale))
        more = (sides[:, 3] - sides[:, 1]).max()
        self._region = self._pixels((*(sides[:, :2].min(0) - more), *(sides[:, 2:].max(0) + more)))
        self.whole = self._drawn()

    def without(self, items: Iterable[int]) -> Picture:
        """How the picture changes without some objects."""
        addresses = [*items]
        try:
            for address in addresses:
                quick.FPDFPageObj_SetIsActive(address, False)
            return abs(self.whole - self._drawn()) if addresses else self.whole
        finally:
            for address in addresses:
                quick.FPDFPageObj_SetIsActive(address, True)

    def part(self, picture: Picture, sides: Area) -> Picture:
        """What stands in a box in points."""
        x0, y0, x1, y1 = self._pixels(sides)
        x, y = self._region[:2]
        return picture[max(0, y0 - y) : y1 - y, max(0, x0 - x) : x1 - x]

    def _pixels(self, sides: Area) -> tuple[int, int, int, int]:
        left, bottom, right, top = sides
        box, (width, height) = self._shown.place(left, top, right, bottom), self._size
        x0, y0 = int(box.x0 * width), int(box.y0 * height)
        return x0, y0, max(x0 + 1, round(box.x1 * width)), max(y0 + 1, round(box.y1 * height))

    def _drawn(self) -> Picture:
        (x0, y0, x1, y1), (width, height) = self._region, self._size
        page, pause = self._shown.page, raw.IFSDK_PAUSE(version=1)
        pause.NeedToPauseNow = type(pause.NeedToPauseNow)(lambda _: self._late())
        bitmap = pdfium.PdfBitmap.new_native(x1 - x0, y1 - y0, raw.FPDFBitmap_BGR)
        bitmap.fill_rect(WHITE, 0, 0, x1 - x0, y1 - y0)
        given = (bitmap, page, -x0, -y0, width, height, 0, raw.FPDF_ANNOT)
        status = raw.FPDF_RenderPageBitmap_Start(*given, pause)
        raw.FPDF_RenderPage_Close(page)
        if status == raw.FPDF_RENDER_TOBECONTINUED:
            raise _TooSlowError
        if page.formenv:
            raw.FPDF_FFLDraw(page.formenv, *given)
        return np.asarray(bitmap.to_numpy(), np.int16)


def _holding(area: Area, points: Sides) -> NDArray[np.bool_]:
    """Which of some points stand in an area."""
    left, bottom, right, top = area
    return np.asarray(((points >= (left, bottom)) & (points <= (right, top))).all(1))
