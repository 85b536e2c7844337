"""Finds the cell of a table that states a measure in a year, among the pages that were found; computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer.passages import verbatim
from chatbot.measures import Measure
from chatbot.numbers import find_figures, passage_scale
from chatbot.records import Hit
from chatbot.terms import terms
from ingestion.records import Row, Table

__all__ = ["Cell", "find_cell", "newest_year"]

# What a row's label must share with a phrase: "Total current assets" is stated by "Total current assets, net", not by a row of ten words.
LEAST_FIT = 0.45
# A row on a page of the kind where its measure stands goes before one of the notes; a page found first before a later one.
KIND_BONUS = 0.5
RANK_COST = 0.05
# The first phrase of a measure says it best.
PHRASE_COST = 0.03
TOTALS = frozenset(terms("total net consolidated note"))
# Whose a figure is follows this word, and does not make the row another measure's; words that do make it narrower.
OWNER = terms("attributable")[0]
NARROWER = frozenset(terms("continuing discontinued noncontrolling minority comprehensive other per non operational"))
NARROWER_COST = 0.4


@dataclass(frozen=True, slots=True)
class Cell:
    """A stated figure. key: citation key of its page; label, head, text: as printed; row: the whole row, as printed; value: with sign, as
    printed, without scale; scale: of its table, 1 where none is stated; unit: the table's unit line, "" without one."""

    key: str
    label: str
    head: str
    text: str
    row: str
    value: float
    scale: float
    unit: str


def find_cell(measure: Measure, year: int | None, sources: Mapping[str, Hit]) -> Cell | None:
    """The best cell that states the measure in `year`, of the newest column where it is None; None where no row with that column does."""
    best: tuple[float, Cell] | None = None
    for rank, (key, hit) in enumerate(sources.items()):
        bonus = KIND_BONUS * (not set(measure.kinds).isdisjoint(hit.kinds)) - RANK_COST * rank
        for table in hit.tables:
            column = _column(table, year)
            for row in table.rows if column is not None else ():
                fit = _fit(measure, row)
                if fit >= LEAST_FIT and column is not None and (best is None or fit + bonus > best[0]):
                    cell = _cell(key, hit, table, row, column)
                    best = (fit + bonus, cell) if cell else best
    return best[1] if best else None


def _fit(measure: Measure, row: Row) -> float:
    label = [term for term in dict.fromkeys(terms(row.label)) if not term.isdecimal()]
    narrower = NARROWER_COST * (not NARROWER.isdisjoint(label) and NARROWER.isdisjoint(measure.name.split()))
    label = label[: label.index(OWNER)] if OWNER in label else label
    if not label:
        return 0.0
    fits = [
        len(set(phrase)) / len(set(label) - TOTALS | set(phrase)) - PHRASE_COST * at + (0.1 if tuple(label[: len(phrase)]) == phrase else 0.0)
        for at, phrase in enumerate(measure.printed)
        if set(phrase) <= set(label) or (set(phrase) - TOTALS and set(phrase) - TOTALS <= set(label) and set(label) - set(phrase) <= TOTALS)
    ]
    return max(fits, default=0.0) - narrower


def _column(table: Table, year: int | None) -> int | None:
    """The first column whose head names the year; the newest year's where none is asked for; None where no head does."""
    years = [[int(term) for term in terms(head) if len(term) == 4 and term.isdecimal() and term[:2] in {"19", "20"}] for head in table.heads]
    if year is None:
        dated = [(max(found), -at) for at, found in enumerate(years) if found]
        return -max(dated)[1] if dated else None
    return next((at for at, found in enumerate(years) if found and found[-1] == year), None)


def _cell(key: str, hit: Hit, table: Table, row: Row, column: int) -> Cell | None:
    found = row.cells[column] if column < len(row.cells) else None
    figures = find_figures(found.text) if found else []
    if found is None or not figures:
        return None
    figure = figures[0]
    unit = table.unit or table.caption
    scale, _ = passage_scale(unit)
    if scale == 1.0:
        scale, _ = passage_scale(hit.page_text)
    return Cell(key, row.label, table.heads[column], found.text, verbatim(row, hit.page_text), figure.value, figure.scale * scale, table.unit)


def newest_year(sources: Sequence[Hit]) -> int | None:
    """The newest year that heads a column of these pages' tables."""
    years = [
        int(term) for hit in sources for table in hit.tables for head in table.heads for term in terms(head) if len(term) == 4 and term.isdecimal()
    ]
    return max((year for year in years if 1900 < year < 2100), default=None)
