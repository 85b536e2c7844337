"""Puts a page's text into the order in which it is read, by where and how its words are set.

PDFium gives text in the order in which it was drawn, in lines across the page. Only what that breaks is put
right: lines set sideways, columns and facing pages that were drawn row by row, a page's foot that was drawn
before what stands above it, lines drawn twice, and marks of notes that were drawn after the rest.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, pairwise, starmap, takewhile
from typing import Any

import pypdfium2.raw as raw

from ingestion.reading.layout import sheet_pages
from ingestion.reading.letters import AS_RAISED, is_raised
from ingestion.reading.page_objects import Box, around_spans, loose_box, loose_boxes
from ingestion.reading.text_columns import in_columns
from ingestion.records import Rect, Word, turn_back

__all__ = ["in_reading_order"]

Lines = list[list[Word]]

LINE = re.compile(r"\S[^\r\n]*")
# A word, up to where a hyphen at a line's end was taken out: its rest stands on another line.
TOKEN = re.compile(r"[^\s\ufffe]+\ufffe?|\ufffe")
HYPHEN = "\ufffe"
HYPHENATED = re.compile(r"[^\W\d_]-$")
# How many lines are looked at for their direction.
DIRECTIONS = 12
# How many lines may begin no lower than the one before on a usual page, and points within which equal lines
# may be one that was drawn twice.
MOST_STEPS, ROUGHLY = 2, 4.0
# Lines of prose have no more than this share of digits.
MOST_DIGITS = 0.06
DIGIT = re.compile(r"\d")
# So many lines with a gap as wide as this share of a character's height, away from the ends, may be columns.
FEWEST_ROWS = 6
WIDE_GAP = 0.7
BESIDE_GAP = 15
BLANK = re.compile(" ")
# A page this much wider than high may be two facing pages.
WIDE_PAGE = 1.15
# What was drawn twice is off by less than this share of a letter's width and of its height.
SAME_PLACE = 0.5
# How many equal words at one height are compared with the next; a hostile page has thousands.
MOST_ALIKE = 40
# The mark of a note, and how many that were drawn alone are put where they belong.
MARK = re.compile(r"[1-9]\d?|[*†‡§]{1,2}")
MOST_MARKS = 40
# Words of one line have at least this share of the lower one's height in common.
SAME_LINE = 0.4
# Lines of a foot that was drawn first; a page number alone is left where it is.
FEWEST_LOW, MOST_LOW = 3, 40
BREAK = "\r\n"
QUARTER = math.pi / 2
MADE_UP = -1


@dataclass(slots=True)
class _Page:
    """An open page.

    opened: PDFium's page, its objects and their places.
    plain: its text. indexes: PDFium's index of each character. rotation: quarters by which it is shown
    turned. is_level: whether no line seems set sideways.
    """

    opened: Any
    text_page: Any
    plain: str
    indexes: Sequence[int]
    rotation: int
    is_level: bool = False

    def turn(self, at: int) -> int:
        """By how many quarters, clockwise, the character at an offset is turned on the page as shown."""
        if self.is_level:
            return 0
        angle: float = raw.FPDFText_GetCharAngle(self.text_page, self.indexes[at])
        return (round(angle / QUARTER) + self.rotation) % 4

    def sides(self, at: int) -> Box:
        """Those of the character at an offset."""
        return loose_box(self.text_page, self.indexes[at])

    def words(self) -> Iterator[Word]:
        """Its words, each with its box as if the page were turned so that the word stands level."""
        spans = [match.span() for match in TOKEN.finditer(self.plain)]
        sides = around_spans(self.text_page, self.indexes, spans)
        for (start, end), place in zip(spans, starmap(self.opened.place, sides), strict=True):
            yield Word(self.plain[start:end], turn_back(place, 90 * self.turn(start)), None, start, end)

    def is_ruled(self, turn: int, area: Rect) -> bool:
        """Whether a line is drawn across most of an area, in whose words' direction the page is turned."""
        rules = self.opened.rules.turned_back(90 * turn).across
        return any(area.holds(rule) and rule.overlap(area) > area.width / 2 for rule in rules)


def in_reading_order(
    opened: Any, text_page: Any, plain: str, indexes: Sequence[int]
) -> tuple[str, Sequence[int]]:
    """The text of a page as it is read, and PDFium's index of each of its characters, -1 for one made up.

    Returns the very same objects where nothing is odd. opened: has PDFium's page, its objects and their
    places.
    """
    rotation = max(0, raw.FPDFPage_GetRotation(opened.page))
    given = _Page(opened, text_page, plain, indexes, rotation)
    if not _looks_odd(given):
        return plain, indexes
    lines = _lines(given, list(_without_doubles(given.words())))
    if given.is_level:
        lines = _foot_last(lines)
    ordered: Lines = []
    for side in _sides(given, lines):
        for turn, group in groupby(side, lambda line: given.turn(line[0].start)):
            ordered += in_columns(list(group), partial(given.is_ruled, turn))
    text, places = _laid_out(given, ordered)
    if text == plain.strip():
        return plain, indexes
    return text, places


def _looks_odd(given: _Page) -> bool:
    """Whether a page may need another order: lines set sideways, a sheet that may be two pages, lines that do
    not stand below the one before, or prose with gaps in its lines."""
    spans = [match.span() for match in LINE.finditer(given.plain)]
    tried = spans[:: 1 + len(spans) // DIRECTIONS]
    given.is_level = not given.rotation and not any(given.turn(start) for start, _ in tried)
    page = given.opened.page
    if not given.is_level or raw.FPDF_GetPageWidthF(page) > WIDE_PAGE * raw.FPDF_GetPageHeightF(page):
        return True
    tops = loose_boxes(given.text_page, [given.indexes[start] for start, _ in spans])[:, 1].tolist()
    steps = sum(after >= before for before, after in pairwise(tops))
    early = sum(top < tops[-1] for top in tops)
    marks = any(
        after >= before and MARK.fullmatch(given.plain, *span)
        for before, after, span in zip(tops, tops[1:], spans[1:], strict=False)
    )
    places = {(given.plain[start:end], top // ROUGHLY) for (start, end), top in zip(spans, tops, strict=True)}
    if marks or steps > MOST_STEPS or early >= FEWEST_LOW or len(places) < len(spans):
        return True
    return sum(_is_parted(given, start, end) for start, end in spans) >= FEWEST_ROWS


def _is_parted(given: _Page, start: int, end: int) -> bool:
    """Whether a line is prose with a wide gap, away from its ends. What was drawn in one go has none."""
    if len(DIGIT.findall(given.plain, start, end)) > MOST_DIGITS * (end - start):
        return False
    if raw.FPDFText_CountRects(given.text_page, given.indexes[start], end - start) < 2:
        return False
    for match in BLANK.finditer(given.plain, start + BESIDE_GAP, end - BESIDE_GAP):
        left, top, _, bottom = given.sides(match.end())
        if left - given.sides(match.start() - 1)[2] > WIDE_GAP * (top - bottom):
            return True
    return False


def _foot_last(lines: Lines) -> Lines:
    """The lines, with those last that come first though they stand below all others."""
    tops = [line[0].box.y0 for line in lines]
    for count in range(FEWEST_LOW, min(MOST_LOW, len(lines) // 2) + 1):
        highest, lowest = min(tops[count:]), max(tops[count:])
        head = [line for line in lines[:count] if line[0].box.y0 < highest]
        foot = [line for line in lines[:count] if line[0].box.y0 > lowest]
        if len(foot) >= FEWEST_LOW and len(head) + len(foot) == count:
            return [*head, *lines[count:], *_lowest_last(foot)]
    return lines


def _lowest_last(foot: Lines) -> Lines:
    """A foot without its columns mixed: only what it begins with, below its last line, is put behind that."""
    last = foot[-1][0].box.y0
    below = list(takewhile(lambda line: line[0].box.y0 > last, foot))
    return foot[len(below) :] + below


def _without_doubles(words: Iterable[Word]) -> Iterator[Word]:
    """The words without those that were drawn before in the same place."""
    seen: dict[tuple[str, int], list[Rect]] = defaultdict(list)
    for word in words:
        height = 100 * word.box.y0
        near = [seen[word.text, math.floor(height)], seen[word.text, math.ceil(height)]]
        earlier = [box for boxes in near if boxes for box in boxes[-MOST_ALIKE:]]
        across, down = SAME_PLACE * word.box.width / len(word.text), SAME_PLACE * word.box.height
        if not any(
            abs(word.box.x0 - box.x0) < across and abs(word.box.y0 - box.y0) < down for box in earlier
        ):
            for boxes in near:
                boxes.append(word.box)
            yield word


def _lines(given: _Page, words: Sequence[Word]) -> Lines:
    """The words by line: as PDFium has them where they stand level, else by where they stand."""
    lines: Lines = []
    turn = 0
    for word in words:
        before, turn = turn, given.turn(word.start)
        if not lines or turn != before or _begins_line(given, lines[-1][-1], word, turn):
            lines.append([])
        lines[-1].append(word)
    for line in lines:
        if given.turn(line[0].start):
            line.sort(key=lambda word: word.box.x0)
    return _marks_beside(lines)


def _marks_beside(lines: Lines) -> Lines:
    """The lines, with marks of notes that were drawn alone behind the words at which they are raised."""
    words = [word for line in lines for word in line]
    alone = [line for line in lines if len(line) == 1 and MARK.fullmatch(line[0].text)]
    for line in alone[:MOST_MARKS]:
        near = [word for word in words if is_raised(line[0].box, word.box)]
        if near:
            marked = min(near, key=lambda word: abs(word.box.x1 - line[0].box.x0))
            owner = next(other for other in lines if marked in other)
            owner.insert(owner.index(marked) + 1, line[0])
            lines = [other for other in lines if other is not line]
    return lines


def _begins_line(given: _Page, last: Word, word: Word, turn: int) -> bool:
    on_line = last.box.level(word.box) > SAME_LINE * min(last.box.height, word.box.height)
    if turn or last.text.endswith(HYPHEN):
        return not on_line
    return "\n" in given.plain[last.end : word.start]


def _sides(given: _Page, lines: Lines) -> list[Lines]:
    """The lines, those of two facing pages apart, the left ones first."""
    pages = sheet_pages(list(chain.from_iterable(lines))) if given.is_level else []
    if len(pages) < 2:
        return [lines]
    sides: list[Lines] = [[] for _ in pages]
    for side, page in zip(sides, pages, strict=True):
        starts = {word.start for word in page}
        for line in lines:
            if part := [word for word in line if word.start in starts]:
                side.append(part)
    return sides


def _laid_out(given: _Page, lines: Lines) -> tuple[str, list[int]]:
    """The text of lines of words, and PDFium's index of each of its characters."""
    plain = given.plain
    text = ""
    indexes = list[int]()
    last: Word | None = None
    for line in lines:
        for word in line:
            begins, written = word is line[0], word.text
            gap = plain[last.end : word.start] if last else ""
            if last and (last.end > word.start or gap.strip() or (gap and ("\n" in gap) is not begins)):
                if begins and HYPHENATED.search(text[-2:]) and word.text[0].islower():
                    text = text[:-1] + HYPHEN
                gap = BREAK if begins else " "
                if not begins and is_raised(word.box, last.box):
                    gap, written = "", word.text.translate(AS_RAISED)
                indexes += [MADE_UP] * len(gap)
            elif last:
                indexes += given.indexes[last.end : word.start]
            text += gap + written
            indexes += given.indexes[word.start : word.end]
            last = word
    return text, indexes
