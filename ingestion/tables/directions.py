"""Tells the words of a page that are set sideways, in lines that run up or down it, from those set level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ingestion.reading.layout import word_lines
from ingestion.records import Word, around
from ingestion.tables.word_kinds import count_values

__all__ = ["by_direction"]

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


def by_direction(text: str, words: Sequence[Word]) -> Iterator[tuple[int, Sequence[Word]]]:
    """Yields (degrees clockwise by which they are turned, words) of the level words, and of those set
    sideways where these may hold a table.

    words: with offsets into `text`, in its order.
    """
    if not any(map(_is_tall, words[::STEP])):
        yield 0, words
        return
    lines = [(_direction(line), line) for line in word_lines(text, words)]
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
