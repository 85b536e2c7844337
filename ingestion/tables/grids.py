"""Makes grids of cells from the rules and words of a page: which words stand inside which lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from operator import attrgetter

from ingestion.records import Word
from ingestion.tables.ruling_lines import Rules
from ingestion.tables.word_kinds import text_of

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
# A rule down the page is no side of cells if it goes through more words than this, each further from its ends
# than this share of its width.
MOST_CROSSED = 3
WITHIN = 0.2
# Words stand on one line if their middles are closer than this share of their height.
SAME_LINE = 0.5


@dataclass(eq=False, slots=True)
class Inside:
    """What stands inside one cell. Two cells are never equal, whatever stands there.

    rows, columns: the (first, last) of the grid that it takes.
    lines: its words, line by line.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    lines: list[list[Word]] = field(default_factory=list)

    @property
    def words(self) -> list[Word]:
        """All its words."""
        return [*chain.from_iterable(self.lines)]

    @property
    def text(self) -> str:
        """All of it as printed."""
        return text_of(self.words)


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
    across = _joined([(rule.middle, rule.x0, rule.x1) for rule in rules.across], NEAR_Y, NEAR_X)
    down = _joined([(rule.centre, rule.y0, rule.y1) for rule in rules.down], NEAR_X, NEAR_Y)
    if len(across) > MOST_JOINED or len(down) > MOST_JOINED:
        return
    down = _beside_words(down, words)
    for level, upright in _connected(across, down):
        xs = _sides(upright, NEAR_X)
        ys = _sides(level, NEAR_Y)
        if 2 < len(xs) < MOST_SIDES and 2 < len(ys) < MOST_SIDES:
            cells = _cells(_walls(level, ys, xs, NEAR_Y), _walls(upright, xs, ys, NEAR_X))
            _fill(cells, xs, ys, words)
            yield Grid(cells, xs, ys)


# A rule: where it stands, and where it starts and ends. A level rule stands at a y, an upright one at an x.
_Rule = tuple[float, float, float]
# Side -> stretch between two sides that cross it -> whether it is drawn there.
_Walls = list[list[bool]]


def _joined(rules: Sequence[_Rule], near: float, gap: float) -> list[_Rule]:
    """Joins rules drawn in pieces, or twice, all where the first of them stands."""
    placed = list[_Rule]()
    for at, start, end in sorted(rules):
        near_last = placed and at - placed[-1][0] <= near / 2
        placed.append((placed[-1][0] if near_last else at, start, end))
    joined = list[_Rule]()
    for at, start, end in sorted(placed):
        if joined and at == joined[-1][0] and start <= joined[-1][2] + gap:
            _, start, last = joined.pop()
            end = max(end, last)
        joined.append((at, start, end))
    return joined


def _beside_words(down: Sequence[_Rule], words: Sequence[Word]) -> list[_Rule]:
    """Leaves out the rules down the page that go through words."""
    placed = sorted((word.box for word in words), key=attrgetter("x0"))
    lefts = [box.x0 for box in placed]
    widest = max((box.width for box in placed), default=0.0)
    kept = []
    for x, top, bottom in down:
        near = placed[bisect_left(lefts, x - widest) : bisect_right(lefts, x)]
        met = (box for box in near if top < box.middle < bottom)
        crossed = (min(x - box.x0, box.x1 - x) > WITHIN * box.width for box in met)
        if sum(crossed) <= MOST_CROSSED:
            kept.append((x, top, bottom))
    return kept


def _connected(across: Sequence[_Rule], down: Sequence[_Rule]) -> list[tuple[list[_Rule], set[_Rule]]]:
    """Returns groups of rules that meet, directly or through others, from top to bottom."""
    groups = list[tuple[list[_Rule], set[_Rule]]]()
    for y, left, right in across:
        level = [(y, left, right)]
        upright = {
            (x, top, bottom)
            for x, top, bottom in down
            if left - NEAR_X <= x <= right + NEAR_X and top - NEAR_Y <= y <= bottom + NEAR_Y
        }
        for group in [group for group in groups if group[1] & upright]:
            groups.remove(group)
            level += group[0]
            upright |= group[1]
        if upright:
            groups.append((level, upright))
    return sorted(groups, key=lambda group: min(group[0]))


def _sides(rules: Iterable[_Rule], near: float) -> list[float]:
    """Returns where rules stand."""
    sides = list[float]()
    for at, _, _ in sorted(rules):
        if not sides or at - sides[-1] > near:
            sides.append(at)
    return sides


def _walls(rules: Iterable[_Rule], sides: Sequence[float], crossing: Sequence[float], near: float) -> _Walls:
    walls = []
    for side in sides:
        own = [rule for rule in rules if 0 <= rule[0] - side <= near]
        walls.append([_is_drawn(own, *stretch) for stretch in pairwise(crossing)])
    return walls


def _is_drawn(rules: Sequence[_Rule], first: float, last: float) -> bool:
    covered = sum(max(0.0, min(end, last) - max(start, first)) for _, start, end in rules)
    return covered >= DRAWN * (last - first)


def _cells(level: _Walls, upright: _Walls) -> list[list[Inside]]:
    """Returns the cells, each the same in all places between which no rule is drawn."""
    cells = list[list[Inside]]()
    for row in range(len(level) - 1):
        line = list[Inside]()
        for column in range(len(upright) - 1):
            goes_on = column and not upright[column][row]
            line.append(line[-1] if goes_on else Inside((row, row), (column, column)))
            if row and not level[row][column]:
                joined, above = line[-1], cells[-1][column]
                line = [above if inside is joined else inside for inside in line]
        cells.append(line)
        for column, inside in enumerate(line):
            first, last = inside.columns
            inside.columns = min(first, column), max(last, column)
            inside.rows = inside.rows[0], row
    return cells


def _fill(
    cells: Sequence[Sequence[Inside]], xs: Sequence[float], ys: Sequence[float], words: Sequence[Word]
) -> None:
    """Puts the words into the cells in which they stand."""
    for word in sorted(words, key=lambda word: word.box.middle):
        x, y = word.box.centre, word.box.middle
        if xs[0] < x < xs[-1] and ys[0] < y < ys[-1]:
            lines = cells[bisect_right(ys, y) - 1][bisect_right(xs, x) - 1].lines
            before = lines[-1][-1].box if lines else None
            if not before or y - before.middle > SAME_LINE * min(word.box.height, before.height):
                lines.append([])
            lines[-1].append(word)
    for inside in chain.from_iterable(cells):
        for line in inside.lines:
            line.sort(key=lambda word: word.box.x0)
