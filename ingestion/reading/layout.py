"""Makes the lines of a page, with their boxes, from its words; tells apart facing pages on one sheet, and
words that are set sideways, in lines that run up or down it."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, starmap

from ingestion.records import Line, Word, around, around_words
from ingestion.tables.word_kinds import count_values

__all__ = ["by_direction", "lines_of", "sheet_pages"]

# Numbers of facing pages stand alike on their pages, or mirrored, to this share of the sheet's width.
SAME_SIDE = 0.02
# A number beyond this is a year.
LAST_PAGE = 1899
# A row with more numbers is a table's.
MOST_NUMBERS = 6
# Each so many words one is looked at for being higher than wide.
STEP = 5
# A word of at least so many letters that is higher than wide runs up or down, and a line this many times
# further down than across.
SHORTEST = 4
STEEP = 2.0
# Set sideways, so many lines with so many values may be a table. Fewer, or those of a page with more values
# in level lines, are the heads of upright columns.
FEWEST_ROWS = 2
FEWEST_VALUES = 2
# Degrees clockwise by which the words of a line are turned that runs down or up the page.
DOWN, UP = 90, 270


def lines_of(text: str, words: Sequence[Word]) -> tuple[Line, ...]:
    """The lines of `text` with a box around each, without lines that have no words.

    words: in the text's order, with offsets.
    """
    return tuple(Line(line[0].start, line[-1].end, around_words(line)) for line in _word_lines(text, words))


def _word_lines(text: str, words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yields the words of each of these lines."""
    breaks = [at for at, letter in enumerate(text) if letter == "\n"]
    for _, line in groupby(words, lambda word: bisect(breaks, word.start)):
        yield list(line)


def sheet_pages(words: Sequence[Word]) -> list[Sequence[Word]]:
    """The words of each page on a sheet: of the left and the right one where it shows two, else all.

    It does if no word stands across the middle, and the outermost row at the head or at the foot has the page
    numbers: two in succession, which stand alike or mirrored.
    """
    if any(word.box.x0 < 0.5 < word.box.x1 for word in words):
        return [words]
    ordered = sorted(words, key=lambda word: word.box.middle)
    for edge in (*ordered[:1], *ordered[-1:]):
        level = [word for word in words if word.box.level(edge.box) > edge.box.height / 2]
        numbers = [word for word in level if word.text.isdecimal()]
        if len(numbers) <= MOST_NUMBERS and any(starmap(_face, combinations(numbers, 2))):
            left = [word for word in words if word.box.centre < 0.5]
            return [left, [word for word in words if word.box.centre >= 0.5]]
    return [words]


def _face(left: Word, right: Word) -> bool:
    """Whether two numbers are those of facing pages."""
    number, following = (int(word.text[:5]) for word in (left, right))
    alike = abs(right.box.centre - left.box.centre - 0.5)
    mirrored = abs(right.box.centre + left.box.centre - 1)
    faces = left.box.centre < 0.5 < right.box.centre and min(alike, mirrored) < SAME_SIDE
    return faces and number + 1 == following <= LAST_PAGE


def by_direction(text: str, words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Yields (degrees clockwise by which they are turned, words) of the level words, and of those set
    sideways where these may hold a table.

    words: with offsets into `text`, in its order.
    """
    if not any(map(_is_tall, words[::STEP])):
        yield 0, words
        return
    lines = [(_direction(line), line) for line in _word_lines(text, words)]
    rows, values = Counter[int](), Counter[int]()
    for direction, line in lines:
        if (count := count_values(line)) >= FEWEST_VALUES:
            rows[direction or 0] += 1
            values[direction or 0] += count
    usual = max((DOWN, UP), key=lambda direction: rows[direction])
    if rows[usual] < FEWEST_ROWS or values[usual] <= values[0]:
        yield 0, words
        return
    area = around(word.box for direction, line in lines for word in line if direction == usual)
    level = list[Word]()
    sideways = list[Word]()
    for direction, line in lines:
        if direction == usual or (direction is None and area.holds(line[0].box)):
            sideways += line
        else:
            level += line
    yield 0, level
    yield usual, sideways


def _is_tall(word: Word) -> bool:
    return len(word.text) >= SHORTEST and word.box.height > word.box.width


def _direction(line: Sequence[Word]) -> int | None:
    """Degrees clockwise by which a line's words are turned, None where it is too short to tell."""
    first, last = line[0].box, line[-1].box
    if len(line) == 1:
        return None if len(line[0].text) < SHORTEST or _is_tall(line[0]) else 0
    down = last.middle - first.middle
    if abs(down) <= STEEP * abs(last.centre - first.centre):
        return 0
    return DOWN if down > 0 else UP
