"""Puts a page's text into the order in which it is read, by where and how its words are set.

PDFium gives text in the order in which it was drawn, in lines across the page. Only what that breaks is put
right: lines set sideways, columns and facing pages that were drawn row by row, a page's foot that was drawn
before what stands above it, and lines drawn twice.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, takewhile
from typing import Any

import pypdfium2.raw as raw

from ingestion.reading.layout import sheet_pages
from ingestion.reading.text_columns import in_columns
from ingestion.records import Rect, Word, turn_back
from ingestion.tables.ruling_lines import drawn_rules

__all__ = ["in_reading_order"]

Place = Callable[[float, float, float, float], Rect]
Lines = list[list[Word]]
# (left, top, right, bottom) in points.
Sides = tuple[float, float, float, float]

LINE = re.compile(r"\S[^\r\n]*")
# A word, up to where a hyphen at a line's end was taken out: its rest stands on another line.
TOKEN = re.compile(r"[^\s\ufffe]+\ufffe?|\ufffe")
HYPHEN = "\ufffe"
HYPHENATED = re.compile(r"[^\W\d_]-$")
# How many lines are looked at for their direction, and how many for gaps. These have at least so many
# characters, and no more than this share of digits.
DIRECTIONS = 12
LINES_LOOKED_AT = 6
LONG_LINE = 45
MOST_DIGITS = 0.06
DIGIT = re.compile(r"\d")
# Where a gap as wide as this share of a character's height, with so many characters on both sides, is at one
# place in two of them, and in so many lines in all, the page may have columns.
WIDE_GAP = 0.7
BESIDE_GAP = 15
FEWEST_ROWS = 6
# The same where half of the lines looked at have the next one this share of the page's width beside them, and
# one below them after it.
ASIDE = 0.2
# A page this much wider than high may be two facing pages.
WIDE_PAGE = 1.15
OUTER_NUMBER = re.compile(r"^\d{1,4}(?!\S)|(?<!\S)\d{1,4}$", re.MULTILINE)
# What was drawn twice is off by less than this share of a letter's width and of its height. Shorter lines are
# figures of a table.
SAME_PLACE = 0.5
SHORTEST_DOUBLE = 4
# How many equal words at one height are compared with the next; a hostile page has thousands.
MOST_ALIKE = 40
# Words of one line have at least this share of the lower one's height in common.
SAME_LINE = 0.4
# Lines of a foot that was drawn first, and lines among which they are looked for; a page number alone is left
# where it is.
FEWEST_LOW, MOST_LOW, FIRST = 3, 40, 5
BREAK = "\r\n"
QUARTER = math.pi / 2
MADE_UP = -1


@dataclass(slots=True)
class _Page:
    """An open page.

    opened: PDFium's page and its objects.
    plain: its text. indexes: PDFium's index of each character. place: maps points to fractions of the page
    as shown. rotation: quarters by which it is shown turned. is_level: whether no line seems set sideways.
    """

    opened: Any
    text_page: Any
    plain: str
    indexes: Sequence[int]
    place: Place
    rotation: int
    is_level: bool = False
    _box: Any = field(default_factory=raw.FS_RECTF)

    def turn(self, at: int) -> int:
        """By how many quarters, clockwise, the character at an offset is turned on the page as shown."""
        if self.is_level:
            return 0
        angle: float = raw.FPDFText_GetCharAngle(self.text_page, self.indexes[at])
        return (round(angle / QUARTER) + self.rotation) % 4

    def sides(self, at: int) -> Sides:
        """Those of the character at an offset."""
        box = self._box
        raw.FPDFText_GetLooseCharBox(self.text_page, self.indexes[at], box)
        return box.left, box.top, box.right, box.bottom

    def words(self) -> Iterator[Word]:
        """Its words, each with its box as if the page were turned so that the word stands level."""
        for match in TOKEN.finditer(self.plain):
            start, end = match.span()
            left, top, right, bottom = self.sides(start)
            if end - start > 1:
                x0, y1, x1, y0 = self.sides(end - 1)
                left, top, right, bottom = min(left, x0), max(top, y1), max(right, x1), min(bottom, y0)
            box = turn_back(self.place(left, top, right, bottom), 90 * self.turn(start))
            yield Word(match.group(), box, None, start, end)

    def has_break(self, before: Word, after: Word) -> bool:
        return "\n" in self.plain[before.end : after.start]

    def is_ruled(self, turn: int, area: Rect) -> bool:
        """Whether a line is drawn across most of an area, in whose words' direction the page is turned."""
        rules = drawn_rules(self.opened.page, self.place, self.opened.objects).turned_back(90 * turn).across
        return any(area.holds(rule) and rule.overlap(area) > area.width / 2 for rule in rules)


def in_reading_order(
    opened: Any, text_page: Any, plain: str, indexes: Sequence[int], place: Place
) -> tuple[str, Sequence[int]]:
    """The text of a page as it is read, and PDFium's index of each of its characters, -1 for one made up.

    Returns the very same objects where nothing is odd. opened: has PDFium's page and its objects.
    """
    rotation = max(0, raw.FPDFPage_GetRotation(opened.page))
    given = _Page(opened, text_page, plain, indexes, place, rotation)
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
    """Whether a page may need another order, by the first characters of its lines and the gaps in a few."""
    spans = [match.span() for match in LINE.finditer(given.plain)]
    tried = spans[:: 1 + len(spans) // DIRECTIONS]
    given.is_level = not given.rotation and not any(given.turn(start) for start, _ in tried)
    if not given.is_level:
        return True
    texts = [given.plain[start:end] for start, end in spans]
    if len(set(texts)) < len(texts) and _has_double(given, spans):
        return True
    return _begins_low(given, spans) or _may_have_columns(given, spans) or _may_be_facing(given, texts)


def _begins_low(given: _Page, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether several of a page's first lines stand below those in the middle and at the end of its text."""
    if len(spans) < 2 * FEWEST_LOW:
        return False
    later = min(given.sides(spans[at][0])[1] for at in (len(spans) // 2, -1))
    return sum(given.sides(start)[1] < later for start, _ in spans[:FIRST]) >= FEWEST_LOW


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


def _may_be_facing(given: _Page, texts: Sequence[str]) -> bool:
    """Whether a page is wide, and two numbers in succession stand at the ends of lines."""
    if raw.FPDF_GetPageWidthF(given.opened.page) < WIDE_PAGE * raw.FPDF_GetPageHeightF(given.opened.page):
        return False
    numbers = {int(number) for text in texts for number in OUTER_NUMBER.findall(text)}
    return any(number + 1 in numbers for number in numbers)


def _may_have_columns(given: _Page, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a few lines have a gap at one place, or lead aside and back."""
    long = [span for span in spans if span[1] - span[0] >= LONG_LINE]
    tried = long[:: 1 + len(long) // LINES_LOOKED_AT]
    gaps = _wide_gaps(given, tried[::2])
    if gaps:
        gaps += _wide_gaps(given, tried[1::2])
    for gap in gaps:
        if _count_over(gap, gaps) > 1 and _count_over(gap, _wide_gaps(given, long)) >= FEWEST_ROWS:
            return True
    far = ASIDE * raw.FPDF_GetPageWidthF(given.opened.page)
    places = range(0, len(spans) - 2, 1 + len(spans) // LINES_LOOKED_AT)
    return 2 * sum(_leads_aside(given, spans[at : at + 3], far) for at in places) >= LINES_LOOKED_AT


def _leads_aside(given: _Page, spans: Sequence[tuple[int, int]], far: float) -> bool:
    """Whether of three lines, by their first characters, the second stands beside the first."""
    first, second, third = (given.sides(start) for start, _ in spans)
    if abs(first[1] - second[1]) > first[1] - first[3] or abs(first[0] - third[0]) > far / 2:
        return False
    return abs(second[0] - first[0]) > far


def _count_over(gap: tuple[float, float], gaps: Sequence[tuple[float, float]]) -> int:
    return sum(gap[0] < x1 and x0 < gap[1] for x0, x1 in gaps)


def _wide_gaps(given: _Page, spans: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """The sides of the first wide gap of each line of prose, away from its ends."""
    find = given.plain.find
    get, text_page, indexes = raw.FPDFText_GetLooseCharBox, given.text_page, given.indexes
    box = raw.FS_RECTF()
    gaps: list[tuple[float, float]] = []
    for start, end in spans:
        # What was drawn in one go is one line.
        if raw.FPDFText_CountRects(text_page, indexes[start], end - start) < 2:
            continue
        if len(DIGIT.findall(given.plain, start, end)) > MOST_DIGITS * (end - start):
            continue
        at = find(" ", start + BESIDE_GAP, end - BESIDE_GAP)
        while at >= 0:
            get(text_page, indexes[at - 1], box)
            left = box.right
            get(text_page, indexes[at + 1], box)
            if box.left - left > WIDE_GAP * (box.top - box.bottom):
                gaps.append((left, box.left))
                break
            at = find(" ", at + 1, end - BESIDE_GAP)
    return gaps


def _has_double(given: _Page, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a line stands where an earlier one of the same text does."""
    seen: dict[str, Sides] = {}
    for start, end in spans:
        text = given.plain[start:end]
        if end - start < SHORTEST_DOUBLE:
            continue
        sides = given.sides(start)
        earlier = seen.setdefault(text, sides)
        off = max(abs(earlier[0] - sides[0]), abs(earlier[1] - sides[1]))
        if earlier is not sides and off < SAME_PLACE * (sides[1] - sides[3]):
            return True
    return False


def _without_doubles(words: Iterable[Word]) -> Iterator[Word]:
    """The words without those that were drawn before in the same place."""
    seen: dict[tuple[str, int], list[Rect]] = defaultdict(list)
    for word in words:
        height = 100 * word.box.y0
        near = [seen[word.text, math.floor(height)], seen[word.text, math.ceil(height)]]
        if not any(
            _is_same_place(word, earlier) for earlier in chain(near[0][-MOST_ALIKE:], near[1][-MOST_ALIKE:])
        ):
            near[0].append(word.box)
            near[1].append(word.box)
            yield word


def _is_same_place(word: Word, earlier: Rect) -> bool:
    box = word.box
    across = abs(box.x0 - earlier.x0) * len(word.text)
    return across < SAME_PLACE * box.width and abs(box.y0 - earlier.y0) < SAME_PLACE * box.height


def _lines(given: _Page, words: Sequence[Word]) -> Lines:
    """The words by line: as PDFium has them where they stand level, else by where they stand."""
    lines: Lines = []
    last = None
    turn = 0
    for word in words:
        before, turn = turn, given.turn(word.start)
        if last is None or turn != before or _begins_line(given, last, word, turn):
            lines.append([])
        lines[-1].append(word)
        last = word
    return lines


def _begins_line(given: _Page, last: Word, word: Word, turn: int) -> bool:
    on_line = last.box.level(word.box) > SAME_LINE * min(last.box.height, word.box.height)
    if turn or last.text.endswith(HYPHEN):
        return not on_line
    return given.has_break(last, word)


def _sides(given: _Page, lines: Lines) -> list[Lines]:
    """The lines, those of two facing pages apart, the left ones first."""
    pages = sheet_pages(list(chain.from_iterable(lines))) if given.is_level else []
    if len(pages) < 2:
        return [lines]
    left = {word.start for word in pages[0]}
    sides: list[Lines] = [[], []]
    for line in lines:
        for side, is_left in zip(sides, (True, False), strict=True):
            if part := [word for word in line if (word.start in left) is is_left]:
                side.append(part)
    return sides


def _laid_out(given: _Page, lines: Lines) -> tuple[str, list[int]]:
    """The text of lines of words, and PDFium's index of each of its characters."""
    plain = given.plain
    text = ""
    indexes: list[int] = []
    last: Word | None = None
    for line in lines:
        for word in line:
            begins = word is line[0]
            gap = plain[last.end : word.start] if last else ""
            if last and (last.end > word.start or gap.strip() or (gap and ("\n" in gap) is not begins)):
                if begins and HYPHENATED.search(text[-2:]) and word.text[0].islower():
                    text = text[:-1] + HYPHEN
                gap = BREAK if begins else " "
                indexes += [MADE_UP] * len(gap)
            elif last:
                indexes += given.indexes[last.end : word.start]
            text += gap + word.text
            indexes += given.indexes[word.start : word.end]
            last = word
    return text, indexes
