"""Finds what a figure of an answer comes to from cells of a cited table whose rows its sentence names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations

from chatbot.answer.checks.claims import Claim
from chatbot.answer.checks.figure_matches import direction_told, level_told, move_told
from chatbot.answer.formulas import amount_of, evaluates_to
from chatbot.evidence.figure_names import agreement, label_words
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.table_cells import CellPlace, TableView
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES
from ingestion.language.periods import Period

__all__ = ["derived_from_cells", "reversed_level"]

LEAD, TRAIL = 6, 4  # words before and after a figure in which its move is told
# Digits that a result must show: many cells come to a single digit.
FEWEST_DIGITS = 2
# Rows of a table that a sentence names, and columns of a row, that are looked at.
MOST_ROWS, MOST_COLUMNS = 6, 8
# "+$71 million (31%)".
_SIGNED = re.compile(rf"[+−–-]\s?[^\W\d_]{{0,3}}[{DRAWN_SIGNS}]?\d")
_TOTAL = label_words("total subtotal sub grand all net overall whole")
_MOVED = MOVES[0] | MOVES[1] | frozenset("more less fewer than change difference gap by".split())
_SHARED = frozenset("of share half proportion accounted".split())

_Cells = dict[int, Figure]  # column -> figure


def derived_from_cells(claim: Claim, pages: Iterable[PageEvidence], said: str) -> str:
    """The arithmetic, "(17,606 - 15,785) / 15,785", "" where none of these cells come to the figure.

    The cells are two years of a row whose label the sentence has, where a move is told beside the figure; or
    a cell and a total in the same column, for a percentage. said: the sentence.
    """
    digits = sum(map(str.isdigit, claim.figure.text))
    if digits < FEWEST_DIGITS or len(claim.mention.nearby) < 2:
        return ""
    beside = {*claim.before[-LEAD:], *claim.after[:TRAIL]}
    if _SIGNED.search(said):
        beside.add("change")
    for page in pages:
        for number, view in enumerate(page.tables.views):
            written = next(_of_table(claim, page, number, view, beside, said), "")
            if written:
                return written
    return ""


def reversed_level(claim: Claim, page: PageEvidence, place: CellPlace) -> str:
    """Why the row of a cell does not go the way that the answer says, "rose to 5": all its earlier periods
    are on the other side. "" where one of them is not.
    """
    direction = level_told(claim.before)
    if not direction:
        return ""
    view = page.tables.views[place.table]
    by_row = _cells(page, place.table, {place.row})
    cells = by_row.get(place.row, {})
    own = view.periods(place.row, place.column)
    if place.column not in cells or len(own) != 1:
        return ""
    earlier = _earlier_columns(view, place, cells)
    if not earlier:
        return ""
    mine = amount_of(cells[place.column])
    amounts = [amount_of(cells[column]) for column in earlier]
    if min(mine, *amounts) < 0:
        return ""
    if not all((mine - amount) * direction < 0 for amount in amounts):
        return ""
    verb = "rises" if direction > 0 else "falls"
    column = earlier[0]
    text = view.text(place.row, column)
    return f"the answer says it {verb} to this figure, but {view.column_shown(column)} has {text}"


def _earlier_columns(view: TableView, place: CellPlace, cells: _Cells) -> list[int]:
    """The columns of a cell's row that have an earlier period of the same kind, and the same unit. The cell
    has one period.
    """
    own = view.periods(place.row, place.column)
    found = []
    for column in sorted(cells.keys() - {place.column}):
        other = view.periods(place.row, column)
        if len(other) != 1 or agreement(other, own):
            continue
        if other[0].kind != own[0].kind or _time(other[0]) >= _time(own[0]):
            continue
        if units_agree(cells[column], cells[place.column]):
            found.append(column)
    return found


def _of_table(
    claim: Claim, page: PageEvidence, number: int, view: TableView, beside: set[str], said: str
) -> Iterator[str]:
    """The arithmetic of one table's cells that comes to the figure. beside: words beside the figure. said:
    its sentence.
    """
    named = _named_rows(claim, view)[:MOST_ROWS]
    if not named:
        return
    totals = _totals(view)
    cells = _cells(page, number, {*named, *totals})
    is_share = claim.figure.percent == "percent" and not beside.isdisjoint(_SHARED)
    for row in named:
        own = cells.get(row, {})
        if not beside.isdisjoint(_MOVED):
            yield from _changes(claim, view, row, own, said)
        if is_share:
            whole_rows = _whole_rows(claim, view, row, named, totals)
            wholes = [cells.get(whole, {}) for whole in whole_rows]
            yield from _shares(claim, view, row, own, wholes)


def _named_rows(claim: Claim, view: TableView) -> list[int]:
    """The rows that the sentence names, or answer and question where it names none; those named nearest to
    the figure first.
    """
    nearby = claim.mention.nearby
    for words in nearby[-2:]:
        named = [at for at, row in enumerate(view.rows) if _is_named(row.words, words)]
        if named:
            break

    def shared(at: int) -> int:
        return len(view.rows[at].words & nearby[0])

    return sorted(named, key=shared, reverse=True)


def _is_named(row: frozenset[str], words: frozenset[str]) -> bool:
    """Whether words have all of a row's name but what any total is called."""
    name = row - _TOTAL
    return bool(name) and name <= words


def _whole_rows(
    claim: Claim, view: TableView, row: int, named: Sequence[int], totals: Sequence[int]
) -> Collection[int]:
    """The rows that a share may be of: those called what follows the figure, "of total revenue"; all totals
    for "of the total", and for what no row is called.
    """
    whole = claim.mention.behind - _TOTAL
    if whole:
        others = {*totals, *named} - {row}
        called = [other for other in others if view.rows[other].words - _TOTAL <= whole]
        if called:
            return called
    return set(totals) - {row}


def _totals(view: TableView) -> list[int]:
    totals = [at for at, row in enumerate(view.rows) if row.words & _TOTAL]
    return totals[:MOST_ROWS]


def _cells(page: PageEvidence, number: int, rows: set[int]) -> dict[int, _Cells]:
    """The figures of some rows of a table by column, each as its heads have it read."""
    found: dict[int, _Cells] = {}
    for placed in page.figures.all:
        place = placed.place
        if place is None or place.table != number:
            continue
        if place.row in rows and place.column < MOST_COLUMNS:
            cells = found.setdefault(place.row, {})
            cells.setdefault(place.column, placed.readings[-1])
    return found


def _changes(claim: Claim, view: TableView, row: int, cells: _Cells, said: str) -> Iterator[str]:
    """From one period of a row to another, the stated period among them, in the direction that is told."""
    direction = move_told(claim.before, claim.after) or direction_told(said)
    for columns in combinations(cells, 2):
        ordered = _in_time(view, row, columns)
        if ordered is None:
            continue
        old, new = (cells[column] for column in ordered)
        if _is_of_another_period(claim, view, row, ordered[1], cells):
            continue
        change = amount_of(new) - amount_of(old)
        if not units_agree(new, old) or direction * change < 0:
            continue
        if claim.figure.percent == "percent" and new.percent is None and amount_of(old):
            if _comes_to_unsigned(change / abs(amount_of(old)), claim.figure):
                yield f"({new.text} - {old.text}) / {old.text}"
        elif any(
            units_agree(reading, new) and _comes_to_unsigned(change, reading) for reading in claim.readings
        ):
            yield f"{new.text} - {old.text}"


def _in_time(view: TableView, row: int, columns: tuple[int, int]) -> tuple[int, int] | None:
    """Two columns of a row, the earlier first; None where they do not have one period each, of one kind and
    at different times.
    """
    first, second = columns
    periods = view.periods(row, first)
    others = view.periods(row, second)
    if len(periods) != 1 or len(others) != 1:
        return None
    if periods[0].kind != others[0].kind:
        return None
    if agreement(periods, others):
        return None
    times = (_time(periods[0]), _time(others[0]))
    if times[0] == times[1]:
        return None
    if times[0] > times[1]:
        return second, first
    return first, second


def _is_of_another_period(claim: Claim, view: TableView, row: int, column: int, cells: _Cells) -> bool:
    """Whether a period is stated that another column of the row has, and this column does not: "Q1 fiscal
    2024" is not what "April 30, 2023" goes by.
    """
    stated = claim.mention.periods
    if agreement(stated, view.periods(row, column)):
        return False
    return any(agreement(stated, view.periods(row, other)) for other in cells)


def _time(period: Period) -> tuple[int, int]:
    """When a period ends, as far as it says so: its year, and its quarter or 0."""
    return period.end_year, period.quarter


def _shares(
    claim: Claim, view: TableView, row: int, cells: _Cells, wholes: Iterable[_Cells]
) -> Iterator[str]:
    """Of a cell in another row's cell of the same column, the stated period's where the row has that."""
    for whole in wholes:
        for column in cells.keys() & whole.keys():
            part = cells[column]
            divisor = amount_of(whole[column])
            if part.percent or not divisor or not units_agree(part, whole[column]):
                continue
            if _is_of_another_period(claim, view, row, column, cells):
                continue
            if _comes_to_unsigned(amount_of(part) / divisor, claim.figure):
                yield f"{part.text} / {whole[column].text}"


def _comes_to_unsigned(amount: float, figure: Figure) -> bool:
    """Whether an amount is a figure, sign aside."""
    return evaluates_to(abs(amount), figure) or evaluates_to(amount, figure)
