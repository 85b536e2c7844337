"""Makes the lines of a page, with their boxes, from its words, and tells facing pages on one sheet apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, starmap

from ingestion.records import Line, Rect, Word, around

__all__ = ["lines_of", "sheet_pages"]

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
    lines: list[Line] = []
    box = Rect(0.0, 0.0, 0.0, 0.0)
    start = 0
    end = 0
    line_end = -1
    for word in words:
        if word.start < line_end:
            box = around((box, word.box))
            end = word.end
            continue
        if line_end >= 0:
            lines.append(Line(start, end, box))
        box = word.box
        start = word.start
        end = word.end
        found = text.find("\n", word.end)
        if found >= 0:
            line_end = found
        else:
            line_end = len(text) + 1
    if line_end >= 0:
        return (*lines, Line(start, end, box))
    return ()


def sheet_pages(words: Sequence[Word]) -> list[Sequence[Word]]:
    """The words of each page on a sheet: of the left and the right one where it shows two, else all.

    It does if no word stands across the middle, and the outermost row at the head or at the foot has the page
    numbers: two in succession, which stand alike or mirrored.
    """
    if any(word.box.x0 < 0.5 < word.box.x1 for word in words):
        return [words]
    edges = (
        [min(words, key=lambda word: word.box.y0), max(words, key=lambda word: word.box.y1)] if words else []
    )
    for edge in edges:
        numbers = [word for word in words if word.text.isdecimal() and _is_level(word.box, edge.box)]
        if len(numbers) <= MOST_NUMBERS and any(starmap(_face, combinations(numbers, 2))):
            left = [word for word in words if word.box.centre < 0.5]
            return [left, [word for word in words if word.box.centre >= 0.5]]
    return [words]


def _is_level(box: Rect, edge: Rect) -> bool:
    return box.level(edge) > edge.height / 2


def _face(left: Word, right: Word) -> bool:
    """Whether two numbers are those of facing pages."""
    if int(left.text[:5]) + 1 != int(right.text[:5]) or not left.box.centre < 0.5 < right.box.centre:
        return False
    alike = abs(right.box.centre - left.box.centre - 0.5)
    mirrored = abs(right.box.centre + left.box.centre - 1)
    return int(right.text[:5]) <= LAST_PAGE and min(alike, mirrored) < SAME_SIDE
