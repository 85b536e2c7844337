"""Knows what a figure of an answer comes to from cells of a cited page's table whose rows its sentence names:
a change, a difference, a share, and whether a level was risen or fallen to; knows no keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from chatbot.answer.checks.claims import Claim
from chatbot.answer.checks.figure_matches import direction_told, level_told, move_told
from chatbot.answer.checks.formulas import amount_of, comes_to
from chatbot.evidence.figure_names import agreement, label_words
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.table_cells import CellPlace, TableView
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES
from ingestion.language.periods import Period

__all__ = ["from_cells", "turned_level"]

LEAD, TRAIL = 6, 4  # words before and after a figure in which its move is told
# Digits that a result must show: one digit is what many cells come to.
FEWEST_DIGITS = 2
# Rows of a table that a sentence names, and columns of a row that are looked at.
MOST_ROWS, MOST_COLUMNS = 6, 8
# "+$71 million (31%)".
_SIGNED = re.compile(rf"[+−–-]\s?[^\W\d_]{{0,3}}[{DRAWN_SIGNS}]?\d")
_TOTAL = label_words("total subtotal sub grand all net overall whole")
_MOVED = MOVES[0] | MOVES[1] | frozenset("more less fewer than change difference gap by".split())
_SHARED = frozenset("of share half proportion accounted".split())

_Cells = dict[int, Figure]


def from_cells(claim: Claim, pages: Iterable[PageEvidence], said: str) -> str:
    """The arithmetic, "(17,606 - 15,785) / 15,785", "" where none of these cells come to it: two years of a
    row whose label the sentence has, where a move is told beside the figure, or a percentage of a total in
    the same column. said: the sentence."""
    if sum(map(str.isdigit, claim.figure.text)) < FEWEST_DIGITS or len(claim.mention.nearby) < 2:
        return ""
    beside = {*claim.before[-LEAD:], *claim.after[:TRAIL], *(["change"] if _SIGNED.search(said) else ())}
    found = (
        written
        for page in pages
        for number, view in enumerate(page.tables.views)
        for written in _of_table(claim, page, number, view, beside, said)
    )
    return next(found, "")


def turned_level(claim: Claim, page: PageEvidence, place: CellPlace) -> str:
    """Why the row of a cell does not go the way that the answer says, "rose to 5": each earlier period of
    it stands on the other side; "" where one does not.
    """
    told = level_told(claim.before)
    if not told:
        return ""
    view = page.tables.views[place.table]
    cells = _cells(page, place.table, {place.row}).get(place.row, {})
    own = view.periods(place.row, place.column)
    if place.column not in cells or len(own) != 1:
        return ""
    mine = amount_of(cells[place.column])
    before = []
    for column in sorted(cells.keys() - {place.column}):
        other = view.periods(place.row, column)
        earlier = (
            len(other) == 1
            and other[0].kind == own[0].kind
            and _time(other[0]) < _time(own[0])
            and not agreement(other, own)
        )
        if earlier and units_agree(cells[column], cells[place.column]):
            before.append((column, amount_of(cells[column])))
    if (
        not before
        or min(mine, *(amount for _, amount in before)) < 0
        or not all((mine - amount) * told < 0 for _, amount in before)
    ):
        return ""
    column = before[0][0]
    return (
        f"the answer says that it {'rises' if told > 0 else 'falls'} to it; {view.column_shown(column)} has "
        f"{view.text(place.row, column)}"
    )


def _of_table(
    claim: Claim, page: PageEvidence, number: int, view: TableView, beside: set[str], said: str
) -> Iterator[str]:
    for words in claim.mention.nearby[-2:]:  # of the sentence; of answer and question, where it names no row
        if named := [
            at
            for at, row in enumerate(view.rows)
            if row.words and row.words - _TOTAL and row.words - _TOTAL <= words
        ]:
            break
    named.sort(key=lambda at: -len(view.rows[at].words & claim.mention.nearby[0]))
    cells = _cells(page, number, {*named[:MOST_ROWS], *_totals(view)} if named else set())
    for at in named[:MOST_ROWS]:
        if not beside.isdisjoint(_MOVED):
            yield from _changes(claim, view, at, cells.get(at, {}), said)
        if claim.figure.percent == "percent" and not beside.isdisjoint(_SHARED):
            whole = (
                claim.mention.behind - _TOTAL
            )  # "of total revenue"; "of the total", or of what no row is called, of a total
            called = [
                other
                for other in {*_totals(view), *named[:MOST_ROWS]} - {at}
                if whole and view.rows[other].words - _TOTAL <= whole
            ]
            wholes = [cells.get(other, {}) for other in called or set(_totals(view)) - {at}]
            yield from _shares(claim, view, at, cells.get(at, {}), wholes)


def _totals(view: TableView) -> list[int]:
    return [at for at, row in enumerate(view.rows) if row.words and row.words & _TOTAL][:MOST_ROWS]


def _cells(page: PageEvidence, number: int, rows: set[int]) -> dict[int, _Cells]:
    """The figures of some rows of a table by column, each as its heads have it read."""
    found: dict[int, _Cells] = {}
    for placed in page.figures.all:
        place = placed.place
        if place is not None and place.table == number and place.row in rows and place.column < MOST_COLUMNS:
            found.setdefault(place.row, {}).setdefault(place.column, placed.readings[-1])
    return found


def _changes(claim: Claim, view: TableView, row: int, cells: _Cells, said: str) -> Iterator[str]:
    """From one period of a row to another, the one that is stated among them, in the direction that is
    told.
    """
    told = move_told(claim.before, claim.after) or direction_told(said)
    mine = claim.figure
    for one, other in combinations(cells, 2):
        periods = [view.periods(row, column) for column in (one, other)]
        if (
            not all(len(some) == 1 for some in periods)
            or periods[0][0].kind != periods[1][0].kind
            or agreement(periods[0], periods[1])
        ):
            continue
        times = _time(periods[0][0]), _time(periods[1][0])
        if times[0] == times[1]:
            continue
        if times[0] > times[1]:
            new, old = (one, other)
        else:
            new, old = (other, one)
        if _is_of_another_period(claim, view, row, new, cells):
            continue
        change = amount_of(cells[new]) - amount_of(cells[old])
        if not units_agree(cells[new], cells[old]) or told * change < 0:
            continue
        if mine.percent == "percent" and cells[new].percent is None and amount_of(cells[old]):
            if _is(change / abs(amount_of(cells[old])), claim):
                yield f"({cells[new].text} - {cells[old].text}) / {cells[old].text}"
        elif any(
            units_agree(reading, cells[new]) and _is(change, replace(claim, figure=reading))
            for reading in claim.readings
        ):
            yield f"{cells[new].text} - {cells[old].text}"


def _is_of_another_period(claim: Claim, view: TableView, row: int, column: int, cells: _Cells) -> bool:
    """Whether a period is stated that another column of the row has, and this one has not: "Q1 fiscal
    2024" is not what "April 30, 2023" goes by.
    """
    stated = claim.mention.periods
    return any(agreement(stated, view.periods(row, other)) for other in cells) and not agreement(
        stated, view.periods(row, column)
    )


def _time(period: Period) -> tuple[int, int]:
    """When a period ends, as far as it says so: its year, and its quarter or 0."""
    return period.end_year, period.quarter


def _shares(
    claim: Claim, view: TableView, row: int, cells: _Cells, wholes: Iterable[_Cells]
) -> Iterator[str]:
    """Of a cell in another row's of the same column, which is the stated period's where it has one."""
    for whole in wholes:
        for column in cells.keys() & whole.keys():
            if (
                _is_of_another_period(claim, view, row, column, cells)
                or not units_agree(cells[column], whole[column])
                or cells[column].percent
                or not amount_of(whole[column])
            ):
                continue
            if _is(amount_of(cells[column]) / amount_of(whole[column]), claim):
                yield f"{cells[column].text} / {whole[column].text}"


def _is(amount: float, claim: Claim) -> bool:
    return comes_to(abs(amount), claim.figure) or comes_to(amount, claim.figure)
