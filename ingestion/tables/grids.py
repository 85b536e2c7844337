"""Makes grids of cells from the rules and words of a page: which words stand inside which lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.records import Word
from ingestion.tables.ruling_lines import Rules

__all__ = ["Grid", "Inside", "grids_of"]

# Shares of the page, about three points. Rules that stand or end no further apart are the same, or meet.
NEAR_X = 0.006
NEAR_Y = 0.004
# Nobody draws more rules by hand. A page with more, after joining, is a chart or a map.
MOST_JOINED = 400
# The most sides of a grid, of either kind.
MOST_SIDES = 200
# The least share of a cell's side that is drawn.
DRAWN = 0.6
# Words stand on one line if their middles are closer than this share of their height.
SAME_LINE = 0.5

Interval = tuple[float, float]


@dataclass(slots=True)
class Inside:
    """What stands inside one cell.

    lines: its words, line by line.
    rows, columns: the (first, last) of the grid that it takes.
    """

    lines: list[list[Word]]
    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(slots=True)
class Grid:
    """One ruled area.

    cells: row -> column -> what stands there. A cell over several rows or columns is the same in all of them.
    xs, ys: the sides of its columns and rows, from left to right and from top to bottom.
    """

    cells: list[list[Inside]]
    xs: list[float]
    ys: list[float]


def grids_of(rules: Rules, words: Sequence[Word]) -> Iterator[Grid]:
    """Yields the ruled areas of at least two rows and two columns.

    words: all words of the page.
    """
    doubled = [(rule.y0 + rule.y1, rule.x0, rule.x1) for rule in rules.across]
    across = _joined(doubled, NEAR_Y, NEAR_X)
    doubled = [(rule.x0 + rule.x1, rule.y0, rule.y1) for rule in rules.down]
    down = _joined(doubled, NEAR_X, NEAR_Y)
    if len(across) > MOST_JOINED or len(down) > MOST_JOINED:
        return
    for level, upright in _connected(across, down):
        xs = _sides(upright, level, NEAR_X)
        ys = _sides(level, upright, NEAR_Y)
        if not 2 < len(xs) < MOST_SIDES:
            continue
        if not 2 < len(ys) < MOST_SIDES:
            continue
        walls = _Walls(xs, ys, level, upright)
        cells = _filled(walls, words)
        yield Grid(cells, xs, ys)


# A rule: where it stands, and where it starts and ends. A level rule stands at a y, an upright one at an x.
_Rule = tuple[float, float, float]


def _joined(doubled: Sequence[_Rule], near: float, gap: float) -> list[_Rule]:
    """Joins rules drawn in pieces, or twice.

    doubled: twice the place where each stands, so that the middle of a thick one is meant.
    """
    joined: list[_Rule] = []
    rows: list[list[_Rule]] = []
    for doubled_at, start, end in sorted(doubled):
        at = doubled_at / 2
        if not rows or at - rows[-1][0][0] > near / 2:
            rows.append([])
        rows[-1].append((at, start, end))
    for row in rows:
        joined += _joined_row(row, gap)
    return joined


def _joined_row(row: Sequence[_Rule], gap: float) -> Iterator[_Rule]:
    """Yields the rules of a row, all drawn where its first one stands, with their pieces joined."""
    at = row[0][0]
    begun = -1.0
    ended = -1.0
    for _, start, end in sorted(row, key=lambda rule: rule[1]):
        if begun >= 0 and start <= ended + gap:
            ended = max(ended, end)
            continue
        if begun >= 0:
            yield at, begun, ended
        begun = start
        ended = end
    yield at, begun, ended


def _connected(across: Sequence[_Rule], down: Sequence[_Rule]) -> Iterator[tuple[list[_Rule], list[_Rule]]]:
    """Yields groups of rules that meet, directly or through others."""
    left = set(range(len(down)))
    seen: set[int] = set()
    for first in range(len(across)):
        if first in seen:
            continue
        seen.add(first)
        level = []
        upright = []
        queue = [first]
        while queue:
            rule = across[queue.pop()]
            level.append(rule)
            met = [number for number in left if _meet(rule, down[number])]
            left.difference_update(met)
            for number in met:
                crossing = down[number]
                upright.append(crossing)
                for other, candidate in enumerate(across):
                    if other not in seen and _meet(candidate, crossing):
                        seen.add(other)
                        queue.append(other)
        yield level, upright


def _meet(level: _Rule, upright: _Rule) -> bool:
    y, left, right = level
    x, top, bottom = upright
    if not left - NEAR_X <= x <= right + NEAR_X:
        return False
    return top - NEAR_Y <= y <= bottom + NEAR_Y


def _sides(standing: Sequence[_Rule], crossing: Sequence[_Rule], near: float) -> list[float]:
    """Returns where rules stand, and where those that cross them end beyond the last.

    A table may be open at its sides.
    """
    sides: list[float] = []
    for at in sorted(rule[0] for rule in standing):
        if not sides or at - sides[-1] > near:
            sides.append(at)
    first = min((rule[1] for rule in crossing), default=0.0)
    last = max((rule[2] for rule in crossing), default=0.0)
    if sides and first < sides[0] - near:
        sides.insert(0, first)
    if sides and last > sides[-1] + near:
        sides.append(last)
    return sides


class _Walls:
    """Where the elementary cells of a grid have rules between them."""

    def __init__(
        self, xs: list[float], ys: list[float], level: Sequence[_Rule], upright: Sequence[_Rule]
    ) -> None:
        self.xs = xs
        self.ys = ys
        self._level = _by_side(level, ys, NEAR_Y)
        self._upright = _by_side(upright, xs, NEAR_X)

    def cells(self) -> list[list[int]]:
        """Returns row -> column -> a number, shared by elementary cells between which no rule is drawn."""
        rows = len(self.ys) - 1
        columns = len(self.xs) - 1
        number = []
        for row in range(rows):
            first = row * columns
            number.append(list(range(first, first + columns)))
        for row in range(rows):
            for column in range(columns):
                x = (self.xs[column], self.xs[column + 1])
                y = (self.ys[row], self.ys[row + 1])
                if column and not _is_drawn(self._upright[column], y):
                    number[row][column] = number[row][column - 1]
                if row and not _is_drawn(self._level[row], x):
                    _renumber(number, row, column)
        return number


def _renumber(number: list[list[int]], row: int, column: int) -> None:
    """Joins a cell, and what was joined with it on its row, with the cell above it."""
    old = number[row][column]
    new = number[row - 1][column]
    for place, other in enumerate(number[row]):
        if other == old:
            number[row][place] = new


def _by_side(rules: Sequence[_Rule], sides: Sequence[float], near: float) -> list[list[Interval]]:
    """Returns the drawn stretches of each side."""
    drawn: list[list[Interval]] = [[] for _ in sides]
    for at, start, end in rules:
        place = bisect_right(sides, at + near / 10) - 1
        place = min(max(0, place), len(sides) - 1)
        drawn[place].append((start, end))
    return drawn


def _is_drawn(stretches: Sequence[Interval], side: Interval) -> bool:
    first, last = side
    covered = 0.0
    for start, end in stretches:
        covered += max(0.0, min(end, last) - max(start, first))
    return covered >= DRAWN * (last - first)


def _filled(walls: _Walls, words: Sequence[Word]) -> list[list[Inside]]:
    """Returns the cells of a grid with the words in them."""
    numbers = walls.cells()
    found: dict[int, Inside] = {}
    for row, line in enumerate(numbers):
        for column, number in enumerate(line):
            new = Inside([], (row, row), (column, column))
            inside = found.setdefault(number, new)
            inside.rows = inside.rows[0], row
            left, right = inside.columns
            inside.columns = min(left, column), max(right, column)
    within: dict[int, list[Word]] = {}
    for word in words:
        x = word.box.centre
        y = word.box.middle
        if not walls.xs[0] < x < walls.xs[-1]:
            continue
        if walls.ys[0] < y < walls.ys[-1]:
            row = bisect_right(walls.ys, y) - 1
            column = bisect_right(walls.xs, x) - 1
            within.setdefault(numbers[row][column], []).append(word)
    for number, inner in within.items():
        found[number].lines = _lines(inner)
    return [list(map(found.__getitem__, line)) for line in numbers]


def _lines(words: Sequence[Word]) -> list[list[Word]]:
    """Returns the words of a cell line by line."""
    placed = sorted(words, key=lambda word: word.box.middle)
    lines = [[placed[0]]]
    for before, word in pairwise(placed):
        height = min(before.box.height, word.box.height)
        if word.box.middle - before.box.middle > SAME_LINE * height:
            lines.append([])
        lines[-1].append(word)
    return [sorted(line, key=lambda word: word.box.x0) for line in lines]
