"""Makes the lines of a page, with their boxes, from its words, and tells facing pages on one sheet apart."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import combinations, groupby, starmap

from ingestion.records import Line, Word, around_words

__all__ = ["lines_of", "sheet_pages", "word_lines"]

# Numbers of facing pages stand alike on their pages, or mirrored, to this share of the sheet's width.
SAME_SIDE = 0.02
# A number beyond this is a year.
LAST_PAGE = 1899
# A row with more numbers is a table's.
MOST_NUMBERS = 6


def lines_of(text: str, words: Sequence[Word]) -> tuple[Line, ...]:
    """The lines of `text` with a box around each, without lines that have no words.

    words: in the text's order, with offsets.
    """
    return tuple(Line(line[0].start, line[-1].end, around_words(line)) for line in word_lines(text, words))


def word_lines(text: str, words: Sequence[Word]) -> Iterator[list[Word]]:
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
