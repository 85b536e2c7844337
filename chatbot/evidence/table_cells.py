"""Knows a page's tables by their cells: which one a figure stands in, and the words, periods and scale
that its heads give it; knows no answer.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from chatbot.evidence.figure_names import label_words, periods_in
from chatbot.evidence.weak_cache import WeakCache
from chatbot.evidence.word_runs import comparable_words
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.numbers import ScaleMark, mark_beside, mark_of_table, stated_mark
from ingestion.language.periods import Period
from ingestion.records import Row, Table

__all__ = ["CellPlace", "Named", "TableView", "TablesOfPage", "Words", "read_tables"]

LONGEST_SHOWN = 60
# cells that start before one and may still be open: those of a large table whose cells have several lines
CELLS_BACK = 400
_BRACKETED = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]")
_PER_PIECE = re.compile(
    r"\bper (?:\w+ ){0,2}(?:share|unit|head|capita)\b", re.IGNORECASE
)  # "in millions, except per share amounts"
_WITH_AMOUNT = re.compile(r"\([^()]*[0-9][^()]*\)")  # "dividends ($5.66 per share)" are no amounts per share
_PIECES = re.compile(
    r"\bshares\b", re.IGNORECASE
)  # "shares used to compute net income per share" are counted in millions
_DIGIT = re.compile("[0-9]")
Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a cell is: positions of its table, row and column."""

    table: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Named:
    """A row or column as an answer may name it. words: must all be said to name it in full. beside:
    section or brackets, which need not be.
    """

    words: Words
    beside: Words


@dataclass(
    frozen=True, slots=True, eq=False
)  # compared by identity, so that what is found out about one can be kept
class TableView:
    """A table's rows and columns by the words that tell them apart. heads: all words of each column's.
    weights: the rarer a word, the more.

    around: words of caption and unit. other_periods: those of the caption. all_digits: each row's cells as
    `digits` gives them. once: keeps what is found out about the table.
    """

    table: Table
    rows: tuple[Named, ...]
    columns: tuple[Named, ...]
    heads: tuple[Words, ...]
    weights: dict[str, float]
    around: Words
    row_periods: tuple[tuple[Period, ...], ...]
    column_periods: tuple[tuple[Period, ...], ...]
    other_periods: tuple[Period, ...]
    all_digits: tuple[tuple[str, ...], ...]
    once: WeakCache = field(default_factory=WeakCache)

    def text(self, row: int, column: int) -> str:
        """The cell as printed, "none" where there is none."""
        cells = self.table.rows[row].cells
        if column < len(cells):
            cell = cells[column]
        else:
            cell = None
        return cell.text if cell else "none"

    def digits(self, row: int, column: int) -> str:
        """The cell's digits with their sign, "" where there are none."""
        found = self.all_digits[row]
        if column < len(found):
            return found[column]
        return ""

    def filled(self, row: int) -> list[int]:
        """The columns in which the row has figures."""
        return [column for column in range(len(self.columns)) if self.digits(row, column)]

    def periods(self, row: int, column: int) -> tuple[Period, ...]:
        """Those of the column's head and the row's label; else the only one of the caption."""
        return self.column_periods[column] + self.row_periods[row] or (
            self.other_periods if len(self.other_periods) == 1 else ()
        )

    def row_shown(self, row: int) -> str:
        """The row's name in a sentence, "" without a label."""
        label = _short(self.table.rows[row].label)
        return f"row “{label}”" if label else ""

    def column_shown(self, column: int) -> str:
        """The column's name in a sentence, "" without a head."""
        head = _short(self.table.heads[column])
        return f"column “{head}”" if head else ""


@dataclass(frozen=True, slots=True)
class TablesOfPage:
    """A page's tables, and their cells by where they stand. starts: of the cells, ascending; spans, places:
    of each.

    names: numbers in heads, labels and captions, each with the word before it: ("level", "3").
    """

    views: tuple[TableView, ...]
    starts: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    places: tuple[CellPlace, ...]
    names: frozenset[tuple[str, str]]

    def place_of(self, start: int, end: int) -> CellPlace | None:
        """The cell that a figure at these offsets stands in; the narrowest, as cells of several lines
        enclose others.
        """
        last = bisect_right(self.starts, end)
        around = [
            index
            for index in range(max(0, last - CELLS_BACK), last)
            if self.spans[index][0] < end and start < self.spans[index][1]
        ]
        around = [
            index for index in around if self.spans[index][1] >= end
        ] or around  # "- (1.2)" may be two cells, of which the last has the digits
        if around:
            return self.places[min(around, key=lambda index: self.spans[index][1] - self.spans[index][0])]
        return None

    def are_several(self, start: int, end: int) -> bool:
        """Whether cells of one row stand side by side between these offsets: "145 150" is two amounts, and
        none of 145,150.
        """
        first = bisect_left(self.starts, start)
        last = bisect_right(self.starts, end)
        inside = {self.places[index] for index in range(first, last) if self.spans[index][1] <= end}
        return len({(place.row, place.column) for place in inside}) > 1

    def marks_of(self, place: CellPlace) -> tuple[ScaleMark | None, ScaleMark | None]:
        """The scale, and the percent kind, that head, row, section, unit or caption give the cell; of
        both, the nearer one alone.
        """
        view = self.views[place.table]
        row = view.table.rows[place.row]

        def read(text: str) -> ScaleMark | None:
            return view.once(stated_mark, text)

        mark = mark_beside(view.table.heads[place.column], row, read)
        if (
            mark is not None and mark.scale == 1 and _is_no_percentage(row, place.column)
        ):  # "Percent change" over all columns of a table is one of two
            mark = None
        mark = mark or mark_of_table(view.table, row, read)
        if mark and mark.scale > 1:
            return (mark, None)
        return (None, mark)

    def per_piece(self, place: CellPlace) -> bool:
        """Whether the row is of amounts per share or the like, to which "in millions" does not apply."""
        row = self.views[place.table].table.rows[place.row]
        named = f"{row.section} {_WITH_AMOUNT.sub(' ', row.label)}"
        return _PER_PIECE.search(named) is not None and not _PIECES.search(named)

    def shown(self, place: CellPlace) -> str:
        """Row and column as a person would name them."""
        view = self.views[place.table]
        return (
            ", ".join(filter(None, (view.row_shown(place.row), view.column_shown(place.column))))
            or "a table without heads"
        )

    def period_of(self, place: CellPlace) -> str | None:
        """The one period that column or row give the cell, as printed; None where they give none or
        several.
        """
        found = self.views[place.table].periods(place.row, place.column)
        if len(found) == 1:
            return found[0].text
        return None


def _is_no_percentage(row: Row, column: int) -> bool:
    """Whether other cells of a row print their "%" and this one does not."""
    if column < len(row.cells):
        cell = row.cells[column]
    else:
        cell = None
    return (
        cell is not None
        and "%" not in cell.text
        and any(other is not None and "%" in other.text for other in row.cells)
    )


def read_tables(tables: Sequence[Table]) -> TablesOfPage:
    """The tables made ready for finding cells."""
    cells: list[tuple[int, int, CellPlace]] = []
    for number, table in enumerate(tables):
        for row, line in enumerate(table.rows):
            found = [
                (cell, column)
                for column, cell in enumerate(line.cells[: len(table.heads)])
                if cell is not None and cell.start >= 0
            ]
            cells += [(cell.start, cell.end, CellPlace(number, row, column)) for cell, column in found]
    cells.sort(key=lambda cell: cell[:2])
    spans = tuple((start, end) for start, end, _ in cells)
    return TablesOfPage(
        tuple(map(_view, tables)),
        tuple(start for start, _ in spans),
        spans,
        tuple(place for *_, place in cells),
        _names(tables),
    )


def _names(tables: Sequence[Table]) -> frozenset[tuple[str, str]]:
    texts = [
        text
        for table in tables
        for text in (" ".join(table.heads), table.caption, *(row.label for row in table.rows))
    ]
    words = [comparable_words(text).texts for text in texts]
    return frozenset(pair for found in words for pair in pairwise(found) if pair[1].isdigit())


def _view(table: Table) -> TableView:
    rows = [_named(row.label, row.section) for row in table.rows]
    heads = [_named_head(head) for head in table.heads]
    if len(heads) > 1:
        shared = frozenset.intersection(*(head.words | head.beside for head in heads))
    else:
        shared = frozenset()
    columns = tuple(Named(head.words - shared, head.beside - shared) for head in heads)
    counts = Counter(word for named in (*rows, *columns) for word in named.words | named.beside)
    weights = {word: math.log(1 + (len(rows) + len(columns)) / count) for word, count in counts.items()}
    around = label_words(f"{table.caption} {table.unit}")
    row_periods = tuple(periods_in(row.label) or periods_in(row.section) for row in table.rows)
    column_periods = tuple(periods_in(head) for head in table.heads)
    full = tuple(head.words | head.beside for head in heads)
    digits = tuple(tuple(_digits(cell.text if cell else "") for cell in row.cells) for row in table.rows)
    return TableView(
        table,
        tuple(rows),
        columns,
        full,
        weights,
        around,
        row_periods,
        column_periods,
        periods_in(table.caption),
        digits,
    )


def _digits(text: str) -> str:
    digits = "".join(_DIGIT.findall(text))
    if digits and text.lstrip(f" {DRAWN_SIGNS}")[:1] in "(-−–":
        return f"-{digits}"
    return digits


def _named(text: str, section: str) -> Named:
    words = label_words(_BRACKETED.sub(" ", text)) or label_words(text)
    return Named(words, label_words(f"{text} {section}") - words)


def _named_head(head: str) -> Named:
    """A column is named by the innermost of its heads that has words: "General grant" of "Domestic >
    General grant".
    """
    parts = head.split(" > ")
    inner = next((at for at in range(len(parts) - 1, -1, -1) if label_words(parts[at])), 0)
    return _named(parts[inner], " ".join(parts[:inner]))


def _short(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[: LONGEST_SHOWN - 1]}…"
