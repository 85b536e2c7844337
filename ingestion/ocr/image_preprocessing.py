"""Prepares page images for OCR: evens their ground, finds slant and direction, finds pictures of text."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image as images
from PIL import ImageFilter
from PIL.Image import Image

from ingestion.records import Rect, turn_back

__all__ = [
    "LOOK_DPI",
    "Laid",
    "blank_out",
    "crop",
    "has_middling_ground",
    "lay",
    "lies_sideways",
    "looks_like_text",
    "prepare",
    "skew_of",
    "text_area",
    "turn",
]

Grey = NDArray[np.uint8]
Dark = NDArray[np.bool_]
Places = NDArray[np.intp]

# Pixels of the outline: the lowest line of letters, the first height that is too high for one, the gap that
# ends a stretch, the shortest word.
LOWEST_LINE = 4
HIGHEST_LINE = 26
WORD_GAP = 10
SHORTEST_WORD = 12
# A ground darker than this carries light text; printed shades of grey and colour under dark text are lighter.
DARKEST_GROUND = 110
# A ground from there up to this, mostly the coloured head of a table, may carry dark or light text. It counts
# where it takes this share of a page.
LIGHTEST_MIDDLING, LEAST_MIDDLING = 190, 0.004
# How much of its edges is left out, in steps of the ground, and the faintest light text; what stands out less
# is its grain.
EDGE, FAINTEST_LIGHT = 3, 150
# The ground is the median of windows of 144 by 54 pixels: an inch half wide, as low as one shaded row of a
# table at 300 dpi.
GROUND_STEP = (16, 6)
GROUND_WINDOW = 9
# Pixels. This removes the dots of a printed screen and the ragged edges of a bilevel scan; 1.3 removes more
# on poor scans, but thin light strokes too.
SMOOTHING = 1.0
# A second look is smoothed more, 1.3 in all: of 30 pages, 11 gain and 5 lose a word or two by it.
FURTHER_SMOOTHING = 0.8
# Resolution at which a picture on a page is checked for text: small print is 4 pixels high, and a check takes
# a hundredth of a second.
LOOK_DPI = 90
# In text and charts at least this share of neighbouring pixels differ by no more than grain (.53 and more;
# photographs .43).
GRAIN, LEAST_EVEN = 8, 0.5
# Pixels of text lines in a picture of text: some eight words; and as a share of the picture, of which the
# plainest chart with figures has .015.
LEAST_TEXT, LEAST_TEXT_SHARE = 1500, 0.012
# The share of them that has no text layer, from which the layer does not say what the picture says. Where it
# does, its boxes are a little off, and some pixels are left.
LEAST_UNWRITTEN = 0.3
# Pixels along the longer side of the reduced image in which slant and direction are sought: a line of small
# print is still 4 high.
OUTLINE = 1000
# Dark runs longer than this share of the outline are rules and frames, which do not show where the letters
# stand.
LONGEST_LETTER = 1 / 14
# What is darker than half way from the darkest hundredth to white is ink, on faint pages too, but nothing
# lighter than this.
LIGHTEST_INK = 215
# Degrees. What is turned further was meant to be.
MOST_SKEW = 10.0
# Degrees; less than half of it moves a line's end by less than its height.
LEAST_SKEW = 0.3
# The lines must stand out this many times clearer after turning back than before.
SKEW_GAIN = 1.15
# How many times clearer columns are than rows on a sideways page. Of 30 levelled pages the upright ones had
# up to .9, the sideways ones 1.1 and more; tables come closest.
SIDEWAYS = 1.3


def prepare(image: Image, *, smoothing: float = SMOOTHING, middling: bool = False) -> Image:
    """The image as black text on white, in grey, with shades and gradients evened out and light text on dark
    inverted.

    smoothing: radius in pixels, 0 for none.
    middling: keep only light text on middling greys, and the edges of such grounds.
    """
    grey = image.convert("L")
    ground = _ground(grey)
    if middling:
        ground = _inside_middling(ground)
    full_size = ground.resize(grey.size, images.Resampling.BILINEAR)
    if smoothing:
        grey = grey.filter(ImageFilter.GaussianBlur(smoothing))
    index = np.asarray(full_size).astype(np.uint16)
    index <<= 8
    index |= np.asarray(grey)
    return images.fromarray(np.take(_evened(middling=middling), index))


def has_middling_ground(image: Image) -> bool:
    """Whether an image has enough ground of middling grey for a line of light text."""
    inside = _inside_middling(_ground(image.convert("L")))
    return bool(np.mean(np.asarray(inside) > 0) >= LEAST_MIDDLING)


def _inside_middling(ground: Image) -> Image:
    """The ground where it is a middling grey, 0 elsewhere and at the edges, where two grounds mix."""
    values = np.asarray(ground)
    is_middling = (values >= DARKEST_GROUND) & (values < LIGHTEST_MIDDLING)
    inside = images.fromarray(is_middling).convert("L").filter(ImageFilter.MinFilter(EDGE))
    kept = np.where(np.asarray(inside) > 0, values, 0)
    return images.fromarray(kept.astype(np.uint8))


def _ground(grey: Image) -> Image:
    """The grey that everything stands on, at a size reduced by GROUND_STEP."""
    median = grey.reduce(GROUND_STEP).filter(ImageFilter.MedianFilter(GROUND_WINDOW))
    return median.filter(ImageFilter.GaussianBlur(1))


@cache
def _evened(*, middling: bool) -> Grey:
    """The evened value of a pixel, at the index 256 * ground + pixel."""
    ground, pixel = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
    on_light = pixel * 255 / np.maximum(ground, 1)
    on_dark = (255 - pixel) * 255 / np.maximum(255 - ground, 1)
    is_light = ground >= DARKEST_GROUND
    value = np.where(is_light, on_light, on_dark)
    if middling:
        value = np.where(is_light & (on_dark < FAINTEST_LIGHT), on_dark, 255)
    table: Grey = np.clip(value, 0, 255).astype(np.uint8).ravel()
    return table


def skew_of(image: Image) -> float:
    """Degrees by which turning a prepared image counter-clockwise makes its lines level; 0.0 where unsure."""
    angle, gain, _ = _sharpest(*np.nonzero(_outline(image)))
    return round(angle, 1) if abs(angle) >= LEAST_SKEW and gain > SKEW_GAIN else 0.0


def lies_sideways(image: Image) -> bool:
    """Whether the lines of a prepared image clearly run up or down the page rather than across it."""
    rows, columns = np.nonzero(_outline(image))
    return _sharpest(columns, rows)[2] > SIDEWAYS * _sharpest(rows, columns)[2]


def _sharpest(rows: Places, columns: Places) -> tuple[float, float, float]:
    """The angle at which dark points fall into the clearest lines, how many times clearer that is than at 0,
    and how clear; (0, 1, 0) without points.
    """
    if not len(rows):
        return 0.0, 1.0, 0.0
    best = 0.0
    level = sharpest = _sharpness(rows, columns, 0.0)
    for step, reach in ((0.5, MOST_SKEW), (0.1, 0.4)):
        for angle in best + np.arange(-reach, reach + step / 2, step):
            sharpness = _sharpness(rows, columns, float(angle))
            if sharpness > sharpest:
                best, sharpest = float(angle), sharpness
    return best, sharpest / max(level, 1e-9), sharpest


def _sharpness(rows: Places, columns: Places, degrees: float) -> float:
    """How clearly dark points fall into lines after turning: the mean square of the change between rows."""
    shifted = rows - columns * np.tan(np.radians(degrees))
    turned_rows = (shifted - shifted.min()).astype(np.int64)
    changes = np.diff(np.bincount(turned_rows))
    return float(np.square(changes).sum()) / len(rows)


def blank_out(image: Image, boxes: Sequence[Rect]) -> Image:
    """A prepared image with these boxes white, smoothed once more.

    Its ground becomes white too, because its grain would pass for ink.
    """
    values = np.array(image)
    lightest = (_lightest_ink(values[::4, ::4]) + 255) / 2
    values[values > lightest] = 255
    blank = images.fromarray(values)
    width, height = image.size
    for box in boxes:
        right, bottom = round(box.x1 * width + 1), round(box.y1 * height + 1)
        blank.paste(255, (int(box.x0 * width), int(box.y0 * height), right, bottom))
    return blank.filter(ImageFilter.GaussianBlur(FURTHER_SMOOTHING))


def looks_like_text(page: Image, place: Rect, written: Sequence[Rect]) -> bool:
    """Whether the picture at `place` of a page image has text worth reading besides what is written.

    page: at LOOK_DPI.
    place, written: as fractions of the page.
    """
    part = crop(page, place).convert("L")
    values = np.asarray(part).astype(np.int16)
    steps = np.abs(np.diff(values, axis=1))
    if min(part.size) < 2 or np.mean(steps <= GRAIN) < LEAST_EVEN:
        return False  # a photograph
    evened = prepare(part, smoothing=0)
    area = text_area(evened)
    if area < max(LEAST_TEXT, LEAST_TEXT_SHARE * evened.width * evened.height):
        return False
    inside = [_within(place, box) for box in written if box.meets(place)]
    return not inside or text_area(blank_out(evened, inside)) >= LEAST_UNWRITTEN * area


def crop(page: Image, box: Rect) -> Image:
    """The part of a page in a box, at least one pixel of it."""
    left = min(int(box.x0 * page.width), page.width - 1)
    top = min(int(box.y0 * page.height), page.height - 1)
    right = max(left + 1, round(box.x1 * page.width))
    bottom = max(top + 1, round(box.y1 * page.height))
    return page.crop((left, top, right, bottom))


def _within(place: Rect, box: Rect) -> Rect:
    """A box of the page as fractions of the picture at `place`."""
    x0, x1 = ((x - place.x0) / place.width for x in (box.x0, box.x1))
    y0, y1 = ((y - place.y0) / place.height for y in (box.y0, box.y1))
    return Rect(x0, y0, x1, y1)


def text_area(image: Image) -> int:
    """Pixels of a prepared image's outline that lie in lines of letters.

    Such a line is a stretch of dark and narrow light pixels that is as low as text.
    """
    dark = _outline(image)
    closed = ~dark & ~_runs(~dark, WORD_GAP) | dark
    low = _runs(closed.T, LOWEST_LINE) & ~_runs(closed.T, HIGHEST_LINE)
    return int(_runs(low.T, SHORTEST_WORD).sum())


def _outline(image: Image) -> Dark:
    """Where the reduced image is dark, rules and frames left out."""
    factor = max(1, round(max(image.size) / OUTLINE))
    small = image.reduce(factor)
    grey = np.asarray(small)
    dark: Dark = grey < _lightest_ink(grey)
    longest = round(max(small.size) * LONGEST_LETTER)
    return dark & ~_runs(dark, longest) & ~_runs(dark.T, longest).T


def _lightest_ink(grey: Grey) -> float:
    darkest = float(np.percentile(grey, 1))
    return min(LIGHTEST_INK, (darkest + 255) / 2)


def _runs(dark: Dark, least: int) -> Dark:
    """Where dark pixels stand in horizontal runs of at least `least`."""
    height, width = dark.shape
    if width < least:
        return np.zeros_like(dark)
    total = np.zeros((height, width + 1), np.int32)
    np.cumsum(dark, axis=1, out=total[:, 1:])
    begins = (total[:, least:] - total[:, :-least]) == least
    change = np.zeros((height, width + 1), np.int32)
    change[:, : begins.shape[1]] += begins
    change[:, least:] -= begins
    inside: Dark = np.cumsum(change, axis=1)[:, :width] > 0
    return inside


def turn(image: Image, degrees: int) -> Image:
    """The image turned clockwise by 0, 90, 180 or 270 degrees."""
    return image.rotate(-degrees, expand=True)


class Laid(NamedTuple):
    """An image laid for reading.

    level: the image after both turns.
    turned: degrees of the first turn, clockwise: 0, 90, 180 or 270.
    skew: degrees of the second turn, counter-clockwise.
    upright: the size after the first turn, in pixels.
    """

    level: Image
    turned: int
    skew: float
    upright: tuple[int, int]

    def back(self, box: Rect) -> Rect:
        """The box, on the image before, around a box on `level`."""
        if not self.skew:
            return turn_back(box, self.turned)
        turned = cmath.rect(1, math.radians(self.skew))
        (width, height), (wide, high) = self.level.size, self.upright
        corners = [
            complex((x - 0.5) * width, (y - 0.5) * height) * turned
            for x in (box.x0, box.x1)
            for y in (box.y0, box.y1)
        ]
        across = [min(1.0, max(0.0, 0.5 + corner.real / wide)) for corner in corners]
        down = [min(1.0, max(0.0, 0.5 + corner.imag / high)) for corner in corners]
        return turn_back(Rect(min(across), min(down), max(across), max(down)), self.turned)


def lay(evened: Image, degrees: int, skew: float | None = None) -> Laid:
    """A prepared image turned clockwise by `degrees` (0, 90, 180, 270) and levelled.

    skew: by which it is levelled, where that is known.
    """
    level = upright = turn(evened, degrees)
    if skew is None:
        skew = skew_of(upright)
    if skew:
        level = upright.rotate(skew, images.Resampling.BICUBIC, expand=True, fillcolor=255)
    return Laid(level, degrees, skew, upright.size)
