"""Finds the blocks of a sheet that may be tables, each with its titles, and makes grids of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from ingestion.language.periods import head_period
from ingestion.records import Rect, Table, Word
from ingestion.tables.captions import NOTE, is_unit
from ingestion.tables.grids import Grid, Inside
from ingestion.tables.ruled import ruled_tables
from ingestion.tables.word_kinds import is_period, is_value
from ingestion.workbooks.sheets import Place, Sheet

__all__ = ["CellBlock", "blocks_of"]

MOST_HEAD_ROWS, MOST_TITLES = 4, 4
# Of each cell of a page its words.
Words = Mapping[Place, list[Word]]


@dataclass(slots=True)
class CellBlock:
    """A part of a sheet that may be a table. rows, columns: of the sheet. heads: the rows that come first and
    have no amounts. titles: the texts above it.
    """

    sheet: Sheet
    rows: list[int]
    columns: list[int]
    heads: list[int]
    titles: list[str]

    def tables(self, words: Words, across: Mapping[int, Rect], down: Mapping[int, Rect]) -> Iterator[Table]:
        """The tables of its part on a page. across, down: where that page's columns and rows stand."""
        rows = [row for row in self.rows if row in down]
        columns = [column for column in self.columns if column in across]
        if columns[2:] and self._has_codes(*columns[:2]):
            del columns[0]
        if set(rows) <= set(self.heads) or len(columns) < 2:
            return
        xs = [*(across[column].x0 for column in columns), across[columns[-1]].x1]
        ys = [*(down[row].y0 for row in rows), down[rows[-1]].y1]
        units = list(filter(is_unit, self.titles))
        titles = " ".join(title for title in self.titles if title not in units)
        caption = f"{self.sheet.name}: {titles}".removesuffix(": ")
        for table in ruled_tables(Grid(self._cells(rows, columns, words), xs, ys)):
            yield replace(table, caption=caption, unit=next(iter(units), table.unit))

    def _cells(self, rows: Sequence[int], columns: Sequence[int], words: Words) -> list[list[Inside]]:
        """What stands in each cell. A head stands over the empty cells right of it too, a group of labels
        beside those below it."""
        made, cells = dict[Place, Inside](), list[list[Inside]]()
        for y, row in enumerate(rows):
            cells.append([])
            for x, column in enumerate(columns):
                place = row, column
                first = self.sheet.merged.get(place, place)
                if first == place and place not in words:
                    if x > 1 and row in self.heads[:-1]:
                        first = row, columns[x - 1]
                    elif x == 0 < y and row not in self.heads and self._names(row, columns[1]):
                        first = rows[y - 1], column
                found = words.get(first)
                inside = made.setdefault(first, Inside((y, y), (x, x), [found] if found else []))
                inside.rows = inside.rows[0], y
                inside.columns = inside.columns[0], max(x, inside.columns[1])
                made[place] = inside
                cells[-1].append(inside)
        return cells

    def _has_codes(self, first: int, second: int) -> bool:
        """Whether the first column has the codes of rows that the second names."""
        rows = [row for row in self.rows if row not in self.heads and (row, first) in self.sheet.cells]
        codes = [self.sheet.cells[row, first].text for row in rows]
        are_codes = all(is_value(code) and not is_period(code) for code in codes)
        return bool(codes) and are_codes and all(self._names(row, second) for row in rows)

    def _names(self, row: int, column: int) -> bool:
        cell = self.sheet.cells.get((row, column))
        return cell is not None and not is_value(cell.text)


def blocks_of(sheet: Sheet) -> list[CellBlock]:
    """The blocks of a sheet, from its top to its bottom."""
    found = list[CellBlock]()
    titles = list[str]()
    for band in _runs({row for row, _ in sheet.cells}):
        for columns in _columns(sheet, band):
            filled = [(row, line) for row in band if (line := _texts(sheet, row, columns))]
            above = list(takewhile(lambda one: len(one[1]) == 1, filled))
            below = filled[len(above) :]
            heads = [row for row, _ in takewhile(_is_head, below)][:MOST_HEAD_ROWS]
            if below and not heads and found and {*columns[1:]} <= {*found[-1].columns}:
                found[-1].rows += [row for row, _ in filled]
                found[-1].columns = sorted({*columns, *found[-1].columns})
                continue
            titles += [line[0] for _, line in above if not NOTE.match(line[0])]
            if below:
                found.append(
                    CellBlock(sheet, [row for row, _ in below], columns, heads, titles[-MOST_TITLES:])
                )
                titles = []
    return found


def _texts(sheet: Sheet, row: int, columns: Sequence[int]) -> list[str]:
    return [sheet.cells[row, column].text for column in columns if (row, column) in sheet.cells]


def _is_head(row: tuple[int, Sequence[str]]) -> bool:
    """Whether a row has several texts, and no amounts but for the first."""
    amounts = (is_value(text) and not is_period(text) for text in row[1][1:])
    return len(row[1]) > 1 and not any(amounts)


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers, ascending, in runs without a gap."""
    runs = list[list[int]]()
    for number in sorted(numbers):
        if not runs or number > runs[-1][-1] + 1:
            runs.append([])
        runs[-1].append(number)
    return runs


def _columns(sheet: Sheet, band: Sequence[int]) -> list[list[int]]:
    """The columns of each block of some rows. Figures behind an empty column belong to what stands left."""
    rows = set(band)
    apart = list[list[int]]()
    for run in _runs({column for row, column in sheet.cells if row in rows}):
        first = chain.from_iterable(_texts(sheet, row, run[:1]) for row in band)
        if apart and all(is_value(text) or head_period(text) for text in first):
            apart[-1] += run
        else:
            apart.append(run)
    return apart
