"""Finds the table cell that states a measure in a year, among the pages that were found."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.evidence.passages import verbatim
from chatbot.evidence.scales_of_cells import for_row, is_counted, mark_of_table, passage_scale
from chatbot.records import Hit
from ingestion.language.figure_words import TOTALS
from ingestion.language.measures import Measure
from ingestion.language.numbers import Figure, cell_figure, stated_mark, table_styles
from ingestion.language.opposites import PLANNED
from ingestion.language.periods import (
    PART_ALONE,
    Period,
    find_periods,
    head_period,
    stands_for,
    without_periods,
)
from ingestion.language.terms import terms
from ingestion.pages.kinds import PRIMARY_STATEMENTS
from ingestion.records import Row, Table

__all__ = [
    "NO_NARROWER",
    "OTHER",
    "PER_SHARE",
    "CellQuery",
    "FoundCell",
    "as_amounts",
    "asks_part",
    "by_year",
    "cell_of",
    "column_of",
    "columns_by_year",
    "figure_in",
    "find_cell",
    "is_planned",
    "latest_year",
    "limit_column",
    "newest_year",
    "of_year",
    "one_column",
    "printed_row",
    "stated_unit",
    "states_percent",
]

# What a row's label must share with a phrase: "Total current assets" is stated by "Total current assets,
# net", not by a row of ten words.
LEAST_FIT = 0.45
# An earlier page goes before a later one. The first phrase of a measure names it best, but the question's own
# word for it is better still.
RANK_COST = 0.05
PHRASE_COST = 0.03
ASKED_BONUS = 0.2
BEGINS_BONUS = 0.1
# What rows of rules and the columns of their limits are called.
LIMIT = re.compile(r"\b(?:limit|ceiling|floor|cap|threshold)s?\b", re.IGNORECASE)
# Terms that make a label no narrower. "Net" is none: net assets are not the assets.
NO_NARROWER = TOTALS | frozenset(terms("note"))
# What follows this word says whose the figure is, and does not make the row another measure's. The words
# after it do.
OWNER = terms("attributable")[0]
NARROWER = frozenset(
    terms(
        "continuing discontinued noncontrolling minority comprehensive per non long short portion "
        "maturing deferred accumulated restricted pension lease"
    )
)
NARROWER_COST = 0.4
# "Other revenues" are never the revenue. "Other" is no search term, so it is looked for in the text.
OTHER = re.compile(r"\W*(?:total\s)?other\b", re.IGNORECASE)
# A row called "Diluted" or "Basic" gives earnings a share only under such a section; elsewhere it counts
# shares.
BARE = frozenset(terms("basic diluted"))
PER_SHARE = re.compile(r"\bper\b.{0,30}\bshare\b", re.IGNORECASE)
# Under the head of a change, or of two periods, stands no amount of one year.
CHANGE = re.compile(
    r"%|\bchange|\bvariance|\bincrease|\bdecrease|\bgrowth|\bvs\b|\bversus\b|\bdifference", re.IGNORECASE
)
# What was stated before it was corrected, what is corrected, and what is of all parts together.
BEFORE = re.compile(r"\b(?:as )?(?:previously|originally) (?:reported|stated|presented)", re.IGNORECASE)
RESTATED = re.compile(r"\b(?:restated|as adjusted|as revised|recast|as corrected)\b", re.IGNORECASE)
WHOLE_GROUP = re.compile(r"\b(?:consolidated|group|total)\b", re.IGNORECASE)
# The fewest rows that are named by years if a table has its years in rows.
FEWEST_YEARS = 2
# A fiscal year ends in the calendar year it begins in or in the next.
LONGEST_YEAR = 1
# Rates and shares, whose changes are in points. "5% notes" is a name, "Targets, 2024 to 2028 Per cent of GDP"
# a unit.
PERCENT = re.compile(
    r"(?<!\d)(?:(?<!\d )|(?<=\b19\d\d )|(?<=\b20\d\d ))(?:%|\bper ?cent\b|\bpercent(?:age)?\b)", re.IGNORECASE
)
IN_BRACKETS = re.compile(r"\([^()]{1,80}\)")
EXCEPTION = re.compile(r",? (?:and )?except\b.*", re.IGNORECASE | re.DOTALL)
# What is paid or spent. Where it is printed in brackets, a question means its amount.
OUTFLOW = re.compile(
    r"\b(?:payments?|paid|expenditures?|purchases?|repurchases?|repayments?|redemptions?|acquisitions?"
    r"|dividends|expenses?|costs?|spending|capex"
    r"|used (?:in|for)|outflows?|investments? in)\b",
    re.IGNORECASE,
)
# A balance is no outflow, even if its label names costs: "profit before finance costs".
BALANCE = re.compile(
    r"\b(?:profit|loss(?:es)?|income|earnings|result|balance|surplus|deficit|margin|net cash(?! used))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class CellQuery:
    """A measure in a year, as a question asks for it.

    measure: the measure.
    year: the year, None for the newest.
    words: terms of the question.
    other: the question asks for what is called "other".
    """

    measure: Measure
    year: int | None
    words: frozenset[str] = frozenset()
    other: bool = False


@dataclass(frozen=True, slots=True)
class FoundCell:
    """A stated figure.

    key: citation key of its page.
    label: of its row, as printed.
    head: of its column, as printed.
    text: the figure, as printed.
    row: the whole row, as printed.
    value: with sign, as printed, without scale.
    scale: of its row or table, 1 where none is stated.
    unit: the unit of the heading above the row, else the table's unit line, else its caption's, without its
        exceptions; "" without one.
    percent: it is a percentage, by its own sign or by that unit.
    figure: the figure as it was read.
    start: of the figure in its page's text.

    Citation keys that a document prints are made inert in all texts.
    """

    key: str
    label: str
    head: str
    text: str
    row: str
    value: float
    scale: float
    unit: str
    percent: bool
    figure: Figure
    start: int = -1

    @property
    def certain(self) -> bool:
        """Whether the page tells the value of the figure; nothing is worked out from another."""
        return self.figure.other is None


def as_amounts(*cells: FoundCell) -> tuple[FoundCell, ...]:
    """The same figures without the brackets or signs of outflows, where all are outflows.

    One that goes from (6,763) to (6,174) fell.
    """
    if not all(_is_outflow(cell) for cell in cells):
        return cells
    return tuple(_without_sign(cell) for cell in cells)


def _is_outflow(cell: FoundCell) -> bool:
    """Whether a figure is negative because it is paid or spent."""
    return cell.value < 0 and bool(OUTFLOW.search(cell.label)) and not BALANCE.search(cell.label)


def _without_sign(cell: FoundCell) -> FoundCell:
    return replace(cell, value=-cell.value, text=re.sub(r"[()\s−–-]", "", cell.text))


def find_cell(wanted: CellQuery, sources: Mapping[str, Hit]) -> FoundCell | None:
    """The best cell that states the measure.

    None where no row with that year does, or where two columns of that year may be meant. A measure of a
    primary statement is taken from a page that is that statement where one was found, and never from another
    statement.
    """
    best: FoundCell | None = None
    best_score = 0.0
    for rank, (key, hit) in enumerate(_pages(wanted.measure, sources).items()):
        for table in map(by_year, hit.tables):
            columns = columns_by_year(table)
            column = columns.get(wanted.year or max(columns, default=0))
            if column is None:
                continue
            for row in table.rows:
                fit = _fit(wanted, row)
                score = fit - RANK_COST * rank
                if fit < LEAST_FIT or (best and score <= best_score):
                    continue
                cell = cell_of(key, hit, table, row, column)
                if cell:
                    best, best_score = cell, score
    return best


def newest_year(sources: Sequence[Hit]) -> int | None:
    """The newest year that heads a column of these pages' tables, up to the document's own last one."""
    own = [period.end_year for hit in sources for period in find_periods(hit.facts.period or "")]
    last = max(own, default=None)
    years = [
        period.end_year
        for hit in sources
        for table in map(by_year, hit.tables)
        for head in table.heads
        for period in find_periods(head)
        if not period.is_part
    ]
    return max((year for year in years if last is None or year <= last), default=None)


def _pages(measure: Measure, sources: Mapping[str, Hit]) -> Mapping[str, Hit]:
    """The pages that may state a measure."""
    statements = set(measure.kinds)
    if not statements:
        return sources
    found = {key: hit for key, hit in sources.items() if not statements.isdisjoint(hit.kinds)}
    if found:
        return found
    primary = set(PRIMARY_STATEMENTS)
    return {key: hit for key, hit in sources.items() if primary.isdisjoint(hit.kinds)}


def _fit(query: CellQuery, row: Row) -> float:
    """How well a row's label names the measure; at most 0 where it does not."""
    measure = query.measure
    label = [term for term in dict.fromkeys(terms(row.label)) if not term.isdecimal()]
    own = set(label)
    if own and own <= BARE and not PER_SHARE.search(row.section):
        return 0.0
    if bool(OTHER.match(row.label)) != query.other:
        return 0.0
    asked = BARE & query.words
    if asked and BARE & own and asked.isdisjoint(own):  # "diluted" is not "basic"
        return 0.0
    is_narrower = not NARROWER & own <= set(terms(measure.name))
    if OWNER in label:
        label = label[: label.index(OWNER)]
    if not label:
        return 0.0
    fits = (
        _phrase_fit(phrase, label, query.words, rank)
        for rank, phrase in enumerate(measure.printed)
        if _names(set(phrase), set(label))
    )
    return max(fits, default=0.0) - NARROWER_COST * is_narrower


def _names(phrase: set[str], label: set[str]) -> bool:
    """Whether a label has a phrase's words, or differs from it by words such as "total" alone."""
    if phrase <= label:
        return True
    rest = phrase - NO_NARROWER
    return bool(rest) and rest <= label and label - phrase <= NO_NARROWER


def _phrase_fit(phrase: tuple[str, ...], label: list[str], words: frozenset[str], rank: int) -> float:
    """How well a phrase fits a label. words: of the question; rank: of the phrase among the measure's."""
    names = set(phrase)
    shared = len(names) / len(set(label) - NO_NARROWER | names)
    begins = tuple(label[: len(phrase)]) == phrase
    return shared - PHRASE_COST * rank + BEGINS_BONUS * begins + ASKED_BONUS * (names <= words)


def by_year(table: Table) -> Table:
    """A table with its years over the columns: turned where they name the rows instead.

    The rows of a turned table have no place of their own on the page.
    """
    rows = [row for row in table.rows if any(row.cells)]
    if any(map(find_periods, table.heads)) or len(rows) < FEWEST_YEARS:
        return table
    if not all(head_period(row.label) for row in rows):
        return table
    columns = zip(table.heads, zip(*(row.cells for row in rows), strict=False), strict=False)
    turned = tuple(Row(head, cells) for head, cells in columns if head)
    return replace(table, heads=tuple(row.label for row in rows), rows=turned)


def printed_row(row: Row, start: int, hit: Hit) -> Row:
    """The row that a page prints a cell in, which is another one where its table was turned.

    start: of the cell in the page's text.
    """
    if row.start >= 0:
        return row
    rows = (other for table in hit.tables for other in table.rows)
    return next((other for other in rows if other.start <= start < other.end), row)


def asks_part(text: str) -> bool:
    """Whether a text is about a part of a year or about single months."""
    return PART_ALONE.search(text) is not None or any(period.is_part for period in find_periods(text))


def of_year(year: int) -> Period:
    """A whole year."""
    return Period(str(year), 0, 0, year, year, "calendar")


def column_of(table: Table, asked: Period, words: Collection[str] = ()) -> int | None:
    """The one column whose head names a period, of a fiscal year by the year it ends in.

    A part of a year never stands for the year or for another part; a day may stand for a year in a table
    without years, and a year for a day. Of several columns `one_column` tells which.
    """
    periods: dict[int, Period] = {}
    for column, head in enumerate(table.heads):
        period = None if CHANGE.search(head) else head_period(head, table.caption)
        if period and period.end_year - period.start_year <= LONGEST_YEAR:
            periods[column] = period
    same = {column: period for column, period in periods.items() if period.months == asked.months}
    columns = [
        column
        for column, period in (same or periods).items()
        if period.end_year == asked.end_year and stands_for(asked, period)
    ]
    return one_column(columns, table.heads, words)


def latest_year(head: str) -> int:
    """The last year that a column's head names; 0 for none."""
    return max((period.end_year for period in find_periods(head)), default=0)


def is_planned(head: str) -> bool:
    """Whether a column has what was meant to be rather than what was, "Budget 2024" or "24E"."""
    if any(period.basis not in ("", "actual") for period in find_periods(head)):
        return True
    return not PLANNED.isdisjoint(re.findall(r"[a-z]+", head.casefold()))


# Of several columns of one period, those that count more than others.
COUNTS_MORE: Sequence[Callable[[str], object]] = (
    lambda head: not BEFORE.search(head),
    RESTATED.search,
    lambda head: not is_planned(head),
    WHOLE_GROUP.search,
    lambda head: not terms(without_periods(head)),
)


def limit_column(table: Table, row: Row) -> int | None:
    """The one column of limits of a row that is called a limit: "Limit" of a "Deficit ceiling".

    The other columns have what is limited. None where there is no such column or it is empty.
    """
    if not LIMIT.search(row.label):
        return None
    columns = [column for column, head in enumerate(table.heads) if LIMIT.search(head)]
    if len(columns) != 1 or columns[0] >= len(row.cells) or row.cells[columns[0]] is None:
        return None
    return columns[0]


def columns_by_year(table: Table, words: Collection[str] = ()) -> dict[int, int]:
    """Year -> the one column that has its amounts, as column_of has it. Years in doubt are left out."""
    years = dict.fromkeys(map(latest_year, table.heads))
    found = ((year, column_of(table, of_year(year), words)) for year in years)
    return {year: column for year, column in found if column is not None}


def one_column(columns: Sequence[int], heads: Sequence[str], words: Collection[str] = ()) -> int | None:
    """The column of several of one period that counts; None where that leaves doubt.

    It is the one that has a word of `words`, else the corrected, the actual, the consolidated one, or the one
    that is headed by nothing else.
    """
    named = [one for one in columns if not {*words}.isdisjoint(terms(without_periods(heads[one])))]
    if len(named) == 1:
        return named[0]
    for counts in COUNTS_MORE:
        columns = [column for column in columns if counts(heads[column])] or columns
    return columns[0] if len(columns) == 1 else None


def figure_in(table: Table, row: Row, column: int, page_text: str) -> Figure | None:
    """The figure of a row in a column, None where there is none."""
    cell = row.cells[column] if 0 <= column < len(row.cells) else None
    if cell is None:
        return None
    return cell_figure(cell.text, table_styles(table, page_text)[column])


def cell_of(key: str, hit: Hit, table: Table, row: Row, column: int) -> FoundCell | None:
    """The figure of a row in a column, None where there is none. key: of its page."""
    figure = figure_in(table, row, column, hit.page_text)
    if figure is None:
        return None
    is_percentage = figure.percent is not None or PERCENT.search(row.label) is not None
    stated = "" if is_percentage else stated_unit(table, row, column)
    mark = for_row(stated_mark(stated), row)
    if not mark and stated and stated == table.unit:
        mark = mark_of_table(table, row)
    scale = mark.scale if mark else 1.0
    percent = is_percentage or (figure.unit is None and states_percent(stated))
    if mark is None and not percent and not is_counted(table.heads[column], row):
        scale, _ = passage_scale(hit.page_text)
    if PER_SHARE.search(f"{row.section} {row.label}"):
        scale, stated = 1.0, ""
    cell = row.cells[column]
    printed, start = (cell.text, cell.start) if cell else ("", -1)
    label, head, text = map(escape_keys, (row.label, table.heads[column], printed))
    whole = escape_keys(verbatim(printed_row(row, start, hit), hit.page_text))
    unit = escape_keys(stated.strip("() "))
    value = figure.value
    return FoundCell(key, label, head, text, whole, value, figure.scale * scale, unit, percent, figure, start)


def stated_unit(table: Table, row: Row, column: int | None = None) -> str:
    """The text that states the unit of a row, without its exceptions.

    It is what the column's head or the row's label says, else the nearest heading above the row that says
    percentages, points or a scale, else the table's unit line, else its caption's brackets, else its caption.
    Where none of them says any, it is the table's unit line, "" without one.

    column: of the cell; None for the whole row.
    """
    own = [row.label]
    if column is not None:
        own = [*reversed(table.heads[column].split(" > ")), row.label]
    for text in own:
        mark = stated_mark(text)
        if mark:
            return text[mark.start : mark.end]
    if is_counted(" > ".join(own), row):
        return ""
    headings = reversed(row.section.split(" > "))
    in_brackets = reversed(IN_BRACKETS.findall(table.caption))
    for text in (*headings, table.unit, *in_brackets):
        unit = EXCEPTION.sub("", text)
        if stated_mark(unit) or PERCENT.search(unit):
            return unit
    caption = EXCEPTION.sub("", table.caption)
    if bool(PERCENT.search(caption)) != (passage_scale(caption)[0] != 1.0):
        return caption
    return EXCEPTION.sub("", table.unit)


def states_percent(unit: str) -> bool:
    """Whether a text of a unit makes bare figures percentages: it names them, and no scale."""
    return PERCENT.search(unit) is not None and passage_scale(unit)[0] == 1.0
