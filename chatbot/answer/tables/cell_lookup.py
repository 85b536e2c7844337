"""Finds the cell of a table that states a measure in a year, among the pages that were found; computes
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.evidence.passages import verbatim
from chatbot.records import Hit
from ingestion.language.measures import Measure
from ingestion.language.numbers import find_figures, for_row, mark_of_table, passage_scale, stated_mark
from ingestion.language.opposites import PLANNED
from ingestion.language.periods import find_periods
from ingestion.language.terms import terms
from ingestion.pages.kinds import PRIMARY_STATEMENTS
from ingestion.records import Row, Table

__all__ = [
    "ASKS_OTHER",
    "OTHER",
    "CellQuery",
    "FoundCell",
    "as_amounts",
    "cell_of",
    "columns_by_year",
    "find_cell",
    "is_planned",
    "newest_year",
    "stated_unit",
    "states_percent",
]

# What a row's label must share with a phrase: "Total current assets" is stated by "Total current assets,
# net", not by a row of ten words.
LEAST_FIT = 0.45
# A page found first goes before a later one; the first phrase of a measure says it best, but the question's
# own word for it better still.
RANK_COST = 0.05
PHRASE_COST = 0.03
ASKED_BONUS = 0.2
BEGINS_BONUS = 0.1
# Words that make a label no narrower.
TOTALS = frozenset(terms("total consolidated note"))
# Whose a figure is follows this word, and does not make the row another measure's; the others make it another
# measure.
OWNER = terms("attributable")[0]
NARROWER = frozenset(
    terms(
        "continuing discontinued noncontrolling minority comprehensive per non long short portion "
        "maturing deferred accumulated restricted pension lease"
    )
)
NARROWER_COST = 0.4
# "Other revenues" are never the revenue. No term of a search, so it is looked for in the words themselves.
OTHER = re.compile(r"\W*(?:total\s)?other\b", re.IGNORECASE)
ASKS_OTHER = re.compile(r"\bother (?!compan|countr|document|year|than\b)", re.IGNORECASE)
# A row of "Diluted" or "Basic" is of earnings a share only under such a section; under another it counts
# shares.
BARE = frozenset(terms("basic diluted"))
PER_SHARE = re.compile(r"\bper\b.{0,20}\bshare\b", re.IGNORECASE)
# A head of a change, or of two periods, states no amount of one year; one of fewer months is not the year's.
CHANGE = re.compile(
    r"%|\bchange|\bvariance|\bincrease|\bdecrease|\bgrowth|\bvs\b|\bversus\b|\bdifference", re.IGNORECASE
)
# Calendar years that a fiscal year reaches over beyond its first.
LONGEST_YEAR = 1
PART_OF_YEAR = re.compile(
    r"\b(?:three|six|nine|3|6|9) months\b|\bquarters?\b|\bQ[1-4]\b|\b(?:13|26|39) weeks\b", re.IGNORECASE
)
# Rates and shares: how much one changed is in points; "5% notes" is a name, "Targets, 2024 to 2028 Per cent
# of GDP" is a unit.
PERCENT = re.compile(
    r"(?<!\d)(?:(?<!\d )|(?<=\b19\d\d )|(?<=\b20\d\d ))(?:%|\bper ?cent\b|\bpercent(?:age)?\b)", re.IGNORECASE
)
IN_BRACKETS = re.compile(r"\([^()]{1,80}\)")
EXCEPTION = re.compile(r",? (?:and )?except\b.*", re.IGNORECASE | re.DOTALL)


# What is paid or spent: printed in brackets, its amount is what a question means.
OUTFLOW = re.compile(
    r"\b(?:payments?|paid|expenditures?|purchases?|repurchases?|repayments?|redemptions?|acquisitions?"
    r"|dividends|expenses?|costs?|spending|capex"
    r"|used (?:in|for)|outflows?|investments? in)\b",
    re.IGNORECASE,
)
# A balance is none, though it is of costs: "profit before finance costs".
BALANCE = re.compile(
    r"\b(?:profit|loss(?:es)?|income|earnings|result|balance|surplus|deficit|margin|net cash)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CellQuery:
    """A measure in a year (None for the newest), and the terms of the question that asks for it. other: it
    asks for what is called so.
    """

    measure: Measure
    year: int | None
    words: frozenset[str] = frozenset()
    other: bool = False


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A stated figure. key: citation key of its page; label, head, text: as printed; row: the whole row, as
    printed; value: with sign, as printed, without scale; scale: of its row or table, 1 where none is stated;
    unit: the unit of the heading above the row, else the table's unit line, else its caption's, without its
    exceptions, "" without one; percent: it is a percentage, by its own sign or by that unit. Citation keys
    that a document prints are made inert in all texts."""

    key: str
    label: str
    head: str
    text: str
    row: str
    value: float
    scale: float
    unit: str
    percent: bool = False


def as_amounts(*cells: FoundCell) -> tuple[FoundCell, ...]:
    """The same figures without the brackets or signs of outflows, where all are: one of (6,174) after
    (6,763) fell.
    """
    if any(cell.value >= 0 or not OUTFLOW.search(cell.label) or BALANCE.search(cell.label) for cell in cells):
        return cells
    return tuple(replace(cell, value=-cell.value, text=re.sub(r"[()\s−–-]", "", cell.text)) for cell in cells)


def find_cell(wanted: CellQuery, sources: Mapping[str, Hit]) -> FoundCell | None:
    """The best cell that states the measure; None where no row with that year does, or where two columns of
    that year may be meant.

    A measure of a primary statement is taken from a page that is that statement where one was found, and
    never from another statement.
    """
    best: tuple[float, FoundCell] | None = None
    for rank, (key, hit) in enumerate(_pages(wanted.measure, sources).items()):
        for table in hit.tables:
            column = _column(table, wanted.year)
            for row in table.rows if column is not None else ():
                fit = _fit(wanted, row)
                if (
                    fit >= LEAST_FIT
                    and column is not None
                    and (best is None or fit - RANK_COST * rank > best[0])
                ):
                    cell = cell_of(key, hit, table, row, column)
                    if cell:
                        best = (fit - RANK_COST * rank, cell)
                    else:
                        best = best
    if best:
        return best[1]
    return None


def newest_year(sources: Sequence[Hit]) -> int | None:
    """The newest year that heads a column of these pages' tables, but none after the document's own last
    one.
    """
    years = [year for hit in sources for table in hit.tables for head in table.heads for year in _years(head)]
    own = [year for hit in sources for year in _years(hit.facts.period or "")]
    last = max(own, default=None)
    return max((year for year in years if last is None or year <= last), default=None)


def _pages(measure: Measure, sources: Mapping[str, Hit]) -> Mapping[str, Hit]:
    """The pages that may state a measure."""
    statements = set(measure.kinds).intersection(PRIMARY_STATEMENTS)
    if not statements:
        return sources
    found = {key: hit for key, hit in sources.items() if not statements.isdisjoint(hit.kinds)}
    return found or {
        key: hit for key, hit in sources.items() if set(hit.kinds).isdisjoint(PRIMARY_STATEMENTS)
    }


def _fit(wanted: CellQuery, row: Row) -> float:
    measure = wanted.measure
    label = [term for term in dict.fromkeys(terms(row.label)) if not term.isdecimal()]
    if (set(label) <= BARE and label and not PER_SHARE.search(row.section)) or bool(
        OTHER.match(row.label)
    ) != wanted.other:
        return 0.0
    if (
        BARE & wanted.words and BARE & set(label) and BARE.isdisjoint(wanted.words & set(label))
    ):  # "diluted" is not "basic"
        return 0.0
    narrower = NARROWER_COST * (not (NARROWER & set(label)) <= set(terms(measure.name)))
    if OWNER in label:
        label = label[: label.index(OWNER)]
    else:
        label = label
    if not label:
        return 0.0
    fits = [
        len(set(phrase)) / len(set(label) - TOTALS | set(phrase))
        - PHRASE_COST * at
        + BEGINS_BONUS * (tuple(label[: len(phrase)]) == phrase)
        + ASKED_BONUS * (set(phrase) <= wanted.words)
        for at, phrase in enumerate(measure.printed)
        if set(phrase) <= set(label)
        or (
            set(phrase) - TOTALS and set(phrase) - TOTALS <= set(label) and set(label) - set(phrase) <= TOTALS
        )
    ]
    return max(fits, default=0.0) - narrower


def _years(text: str) -> list[int]:
    return [
        int(term) for term in terms(text) if len(term) == 4 and term.isdecimal() and term[:2] in {"19", "20"}
    ]


def _year_of(head: str) -> int | None:
    """The one year that a head names, of a fiscal year the one it ends in; None where it names none, or
    several.
    """
    spans = {(period.start_year, period.end_year) for period in find_periods(head)} or {
        (year, year) for year in _years(head)
    }
    if len(spans) == 1:
        first, last = next(iter(spans))
    else:
        first, last = (0, LONGEST_YEAR + 1)
    if last - first <= LONGEST_YEAR:
        return last
    return None


def _column(table: Table, year: int | None) -> int | None:
    """The column whose head names the year, of the newest one where none is asked for; None where no head
    does, or two alike do.
    """
    of_year = {
        at: found
        for at, head in enumerate(table.heads)
        if not CHANGE.search(head) and (found := _year_of(head))
    }
    if year is None:
        wanted = max(of_year.values(), default=None)
    else:
        wanted = year
    columns = [at for at, found in of_year.items() if found == wanted]
    whole = [at for at in columns if not PART_OF_YEAR.search(table.heads[at])] or columns
    if len(whole) == 1:
        return whole[0]
    return None


def is_planned(head: str) -> bool:
    """Whether a column has what was meant to be rather than what was, "Budget 2024"."""
    return not PLANNED.isdisjoint(re.findall(r"[a-z]+", head.casefold()))


def columns_by_year(table: Table, asked: Collection[str] = ()) -> dict[int, int]:
    """Year -> the one column whose head names it; of several that do, the one that has a word which is asked
    for, else the one that is no plan. Years that are still in doubt are left out."""
    of_year: dict[int, list[int]] = {}
    for at, head in enumerate(table.heads):
        if not CHANGE.search(head) and (year := _year_of(head)):
            of_year.setdefault(year, []).append(at)
    for year, found in of_year.items():
        columns = [at for at in found if not PART_OF_YEAR.search(table.heads[at])] or found
        if len(columns) > 1:
            wanted = [at for at in columns if not set(terms(table.heads[at])).isdisjoint(asked)]
        else:
            wanted = columns
        done = [at for at in columns if not is_planned(table.heads[at])]
        if len(wanted) == 1:
            of_year[year] = wanted
        else:
            of_year[year] = done
    return {year: columns[0] for year, columns in of_year.items() if len(columns) == 1}


def cell_of(key: str, hit: Hit, table: Table, row: Row, column: int) -> FoundCell | None:
    """The figure of a row in a column, None where there is none. key: of its page."""
    if column < len(row.cells):
        found = row.cells[column]
    else:
        found = None
    if found:
        figures = find_figures(found.text)
    else:
        figures = []
    if found is None or not figures:
        return None
    figure = figures[0]
    own = figure.percent is not None or PERCENT.search(row.label) is not None
    if own:
        stated = ""
    else:
        stated = stated_unit(table, row, column)
    mark = for_row(stated_mark(stated), row) or (
        mark_of_table(table, row) if stated and stated == table.unit else None
    )
    scale = mark.scale if mark else 1.0
    percent = own or (figure.unit is None and states_percent(stated))
    if mark is None and not percent:
        scale, _ = passage_scale(hit.page_text)
    if PER_SHARE.search(f"{row.section} {row.label}"):
        scale, stated = 1.0, ""
    texts = (row.label, table.heads[column], found.text, verbatim(row, hit.page_text), stated.strip("() "))
    label, head, text, whole, unit = map(escape_keys, texts)
    return FoundCell(key, label, head, text, whole, figure.value, figure.scale * scale, unit, percent)


def stated_unit(table: Table, row: Row, column: int | None = None) -> str:
    """The text that states the unit of a row, without its exceptions: what its column's head or its label
    says, else the nearest heading above it that does, else the table's unit line, else its caption's
    brackets, else its caption; the table's unit line, "" without one, where none says percentages, points or
    a scale. column: of the cell; None for the whole row."""
    own = [*([] if column is None else reversed(table.heads[column].split(" > "))), row.label]
    if text := next((text[mark.start : mark.end] for text in own if (mark := stated_mark(text))), ""):
        return text
    near = [*row.section.split(" > ")[::-1], table.unit, *IN_BRACKETS.findall(table.caption)[::-1]]
    for text in (EXCEPTION.sub("", text) for text in near):
        if stated_mark(text) or PERCENT.search(text):
            return text
    caption = EXCEPTION.sub("", table.caption)
    if bool(PERCENT.search(caption)) != (passage_scale(caption)[0] != 1.0):
        return caption
    return EXCEPTION.sub("", table.unit)


def states_percent(unit: str) -> bool:
    """Whether a text of a unit makes bare figures percentages: it names them, and no scale."""
    return PERCENT.search(unit) is not None and passage_scale(unit)[0] == 1.0
