"""Finds the key figures of one document in the tables of its pages.

A figure is taken only from a row that is called what the measure is called, on a page of the kind that states
it: a wrong figure in a sheet is worse than none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatbot.answer.compare.balance_sheet_debt import balance_sheet_debt
from chatbot.answer.compare.key_figure_cells import PER_SHARE_MEASURE, RowPlace, key_figure_of
from chatbot.answer.compare.key_figure_periods import column_periods, day_in
from chatbot.answer.compare.statement_pages import (
    BALANCE,
    STATEMENTS,
    families_of,
    has_kind,
    statement_pages,
)
from chatbot.answer.tables.cell_lookup import PER_SHARE, FoundCell, by_year, cell_of
from chatbot.comparison.key_figure_names import KeyMeasure, key_measures, plain_label
from chatbot.comparison.key_figure_records import (
    A_DAY,
    OF_GDP,
    WHOLE_YEAR,
    DocumentFigures,
    FigurePeriod,
    KeyFigure,
)
from chatbot.evidence.page_figures import in_doubt
from chatbot.records import Hit
from ingestion.language.periods import find_periods
from ingestion.records import Row, Table

__all__ = ["document_figures"]

CAPITAL = "capital expenditure"
# Measures that are percentages of nothing else; the others are amounts, or shares of the economy.
RATES = frozenset({"economic growth", "inflation", "unemployment"})
# Characters above a row in which its section may say so.
LINES_ABOVE = 200
COUNTED = re.compile(r"\b(?:shares? (?:used|outstanding)|weighted|number of)", re.IGNORECASE)
BESIDE_THE_CASH = re.compile(r"\b(?:supplement\w*|non-?cash|accrued|not paid)\b", re.IGNORECASE)
# "Borrowings" alone are long-term in such a section only.
LONG_TERM = "long-term debt"
OF_NO_TERM = re.compile(r"(?:[a-z]+ ){0,3}(?:borrowings|debt)")
NON_CURRENT = re.compile(r"\bnon-?current\b|\blong-term\b", re.IGNORECASE)
TERM = re.compile(r"\b(?:long term|non ?current)\b")
# What would be in a case, or how far from another: no rate that is stated or assumed.
OF_A_CASE = re.compile(
    r"\b(?:deviations?|baseline|peak|shocks?|scenarios?|impact|contributions?|differences?|revisions?|gap)\b",
    re.IGNORECASE,
)
OF_THE_ECONOMY = re.compile(r"(?:of|to|/)\s*(?:the )?(?:nominal )?(?:GDP|GSDP|GSP|GNP)\b", re.IGNORECASE)
SUBJECTS = re.compile(r"\b(?:expenditures?|expenses|spending|outlays?|revenues?|receipts)\b", re.IGNORECASE)
# What extraction puts behind a label: the heading of the rows that follow.
CAPITAL_LETTER = re.compile(r"[A-Z(]")


def document_figures(document: str, version: int, pages: Sequence[Hit], remark: str = "") -> DocumentFigures:
    """The key figures that a document's tables state.

    pages: all, in order, each with its text, tables and kinds. remark: as in DocumentFigures.
    """
    statements = statement_pages(pages)
    families = families_of(pages, statements)
    figures: list[KeyFigure] = []
    for measure in key_measures():
        if measure.family not in families or not measure.labels:
            continue
        if "position" in families:
            own = [hit for kind in STATEMENTS if kind in measure.kinds for hit in statements[kind]]
            figures += _of_statements(measure, own)
        else:
            figures += _of_budget(measure, pages)
    figures += balance_sheet_debt(statements[BALANCE])
    doubted = [cell.page for figure in figures for cell in figure.cells if math.isnan(cell.value)]
    if doubted:
        remark = remark or in_doubt(min(doubted), "they are omitted")
    found = tuple(_in_one_time([figure for figure in figures if not math.isnan(figure.value)]))
    return DocumentFigures(document, version, found, families, remark, year_end=_year_end(found))


def _year_end(figures: Sequence[KeyFigure]) -> int:
    """The month in which the columns of years end, 0 where their heads name none."""
    heads = [figure.head for figure in figures if figure.period.months == WHOLE_YEAR]
    counts = Counter(period.month for head in heads for period in find_periods(head) if period.month)
    return counts.most_common(1)[0][0] if counts else 0


# --- which row
# ------------------------------------------------------------------------------------------------------------


def _of_statements(measure: KeyMeasure, statements: Sequence[Hit]) -> list[KeyFigure]:
    """A measure in the times of the row of a statement that states it best.

    Further pages add only other times: the quarters of the year before.
    """
    found: dict[FigurePeriod, KeyFigure] = {}
    for hit in statements:
        figures = _best_row(measure, list(_rows(measure, hit)), share=False)
        for figure in figures:
            found.setdefault(figure.period, figure)
    return list(found.values())


def _of_budget(measure: KeyMeasure, pages: Sequence[Hit]) -> list[KeyFigure]:
    """A measure as amounts, and as shares of the economy, each from the row that states it best."""
    places = [place for hit in pages for place in _rows(measure, hit)]
    amounts = _best_row(measure, places, share=False)
    if measure.name in RATES:
        return amounts
    return amounts + _best_row(measure, places, share=True)


def _best_row(measure: KeyMeasure, places: Sequence[RowPlace], *, share: bool) -> list[KeyFigure]:
    """The figures of the first row, by its name and place, that has any."""
    ranked = sorted(places, key=lambda place: place.rank)
    return next(filter(None, (_of_row(measure, place, share=share) for place in ranked)), [])


def _rows(measure: KeyMeasure, hit: Hit) -> Iterator[RowPlace]:
    """The rows of a page that are called what the measure is called."""
    for table in map(by_year, hit.tables):
        for row in table.rows:
            rank = _rank(measure, row, table, hit)
            if rank is not None and _is_of_kind(measure, row, hit):
                yield RowPlace(rank, hit, table, row)


def _rank(measure: KeyMeasure, row: Row, table: Table, hit: Hit) -> int | None:
    rank = measure.rank(plain_label(row.label))
    if measure.name == PER_SHARE_MEASURE and rank is None and row.label.startswith("Net "):
        rank = measure.rank(plain_label(row.section.split(" > ")[-1]))
    if rank is None and plain_label(row.label) == "total":
        rank = measure.rank(f"total {_subject(table, row)}")
    if rank is not None or not any(row.cells):
        return rank
    return measure.rank(plain_label(_own_label(row, hit)))


def _subject(table: Table, row: Row) -> str:
    """What a row called "Total" adds up: its section is called so, or the table's caption has but one word
    for it; "" where neither tells.
    """
    section = row.section.split(" > ")[-1]
    if section:
        return plain_label(section) if SUBJECTS.fullmatch(section.strip(" :")) else ""
    found = {word.casefold() for word in SUBJECTS.findall(table.caption)}
    return found.pop() if len(found) == 1 else ""


def _own_label(row: Row, hit: Hit) -> str:
    """What stands before a row's first figure, where the rest of its label is the heading of what follows."""
    first = next(cell for cell in row.cells if cell is not None)
    label = " ".join(hit.page_text[max(0, row.start) : max(0, first.start)].split())
    rest = row.label.removeprefix(label).strip()
    if label and rest and rest != row.label and CAPITAL_LETTER.match(rest):
        return label
    return ""


def _is_of_kind(measure: KeyMeasure, row: Row, hit: Hit) -> bool:
    """Whether the section of a row lets it be the measure."""
    if measure.name == PER_SHARE_MEASURE:
        return _is_per_share(row, hit)
    if measure.name == CAPITAL and BESIDE_THE_CASH.search(row.section):
        return False
    if measure.name == LONG_TERM and OF_NO_TERM.fullmatch(plain_label(row.label)):
        return TERM.search(plain_label(row.label)) is not None or bool(NON_CURRENT.search(row.section))
    if measure.name in RATES and OF_A_CASE.search(row.label):
        return False
    return PER_SHARE.search(f"{row.section} {row.label}") is None


def _is_per_share(row: Row, hit: Hit) -> bool:
    """Whether the label of a row, its section or else the lines above it say that it is for each share."""
    named = f"{row.section} {row.label}"
    if COUNTED.search(named):
        return False
    if PER_SHARE.search(named):
        return True
    above = hit.page_text[max(0, row.start - LINES_ABOVE) : max(0, row.start)]
    said = [found.end() for found in PER_SHARE.finditer(above)]
    counted = [found.end() for found in COUNTED.finditer(above)]
    return max(said, default=0) > max(counted, default=0)


# --- which cells
# ------------------------------------------------------------------------------------------------------------


def _of_row(measure: KeyMeasure, place: RowPlace, *, share: bool) -> list[KeyFigure]:
    """The figures of a row by time. share: as shares of the economy."""
    table, row, hit = place.table, place.row, place.hit
    rates = share or measure.name in RATES
    day = BALANCE in measure.kinds and has_kind(hit, (BALANCE,))
    figures: dict[FigurePeriod, KeyFigure] = {}
    twice: set[FigurePeriod] = set()
    for column, period in column_periods(table, hit.page_text, day=day, shares=rates).items():
        cell = cell_of("", hit, table, row, column)
        if cell is None or not _fits(measure, cell, place, share=share):
            continue
        if period in figures:
            twice.add(period)
        name = measure.name + OF_GDP if share else measure.name
        figures[period] = key_figure_of(name, period, cell, place)
    return [figure for period, figure in figures.items() if period not in twice]


def _fits(measure: KeyMeasure, cell: FoundCell, place: RowPlace, *, share: bool) -> bool:
    """Whether a cell's unit can be the measure's."""
    if measure.name in RATES:
        return cell.percent
    if not share:
        return not cell.percent
    table = place.table
    said = " ".join((cell.label, cell.head, cell.unit, place.row.section, table.unit, table.caption))
    return cell.percent and OF_THE_ECONOMY.search(said) is not None


def _in_one_time(figures: Sequence[KeyFigure]) -> list[KeyFigure]:
    """The figures of days under the year, or the part of one, that ends with the day."""
    flows = [figure.period for figure in figures if figure.period.months != A_DAY]
    return [
        replace(figure, period=day_in(figure.period, flows)) if figure.period.months == A_DAY else figure
        for figure in figures
    ]
