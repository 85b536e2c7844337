"""Reads which time each column of a table is of, from its heads, or from the lines above a table without."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.answer.tables.cell_lookup import one_column
from chatbot.comparison.key_figure_records import A_DAY, WHOLE_YEAR, FigurePeriod
from ingestion.language.months import MONTHS
from ingestion.language.periods import PART_ALONE, Period, find_periods, head_period
from ingestion.records import Table

__all__ = ["column_periods", "day_in"]

# No amount of the year stands under such a head.
NO_AMOUNT = re.compile(
    r"%|\bper ?cent|\bpercent|\bchange|\bvariance|\bincrease|\bdecrease|\bvs\b|\bversus\b|\bdifference"
    r"|\bshare of\b|\bas reported under\b|\badjustments?\b|\bnotes?$|\bc\.?a\.?g\.?r",
    re.IGNORECASE,
)
# Characters above the first row in which the dates of its columns are looked for.
ABOVE = 320
# Characters that may stand between two of them.
FURTHEST = 30
LONGEST_YEAR = 1
# Of two columns of one time, one with less than this share of the other's cells is a slip of the reading.
FEW_CELLS = 0.2


def column_periods(
    table: Table, page_text: str, *, day: bool, shares: bool = False
) -> dict[int, FigurePeriod]:
    """Column -> the time its amounts are of, for the columns of which that is certain.

    Of several columns of one time `one_column` tells which is taken.

    day: the table states what there was on a day. shares: columns of percentages count too.
    """
    heads = list(table.heads)
    if not any(map(find_periods, heads)):
        heads = _heads_above(table, page_text) or heads
    found: dict[FigurePeriod, list[int]] = {}
    for column, head in enumerate(heads):
        if NO_AMOUNT.search(head) and not shares:
            continue
        period = _period_of(head, table.caption, day=day)
        if period is not None:
            found.setdefault(period, []).append(column)
    chosen = {}
    for period, columns in found.items():
        one = one_column(_filled(columns, table), heads)
        if one is not None:
            chosen[one] = period
    if not found and not shares:
        return _of_caption(table)
    return chosen


def _filled(columns: list[int], table: Table) -> list[int]:
    """Those of some columns that have cells, as against one that has hardly any."""
    counts = dict.fromkeys(columns, 0)
    for row in table.rows:
        for column in columns:
            counts[column] += column < len(row.cells) and row.cells[column] is not None
    most = max(counts.values())
    return [column for column in columns if counts[column] >= FEW_CELLS * most]


def _of_caption(table: Table) -> dict[int, FigurePeriod]:
    """The one year of a caption, for every column; a row may fill only one of them."""
    found = find_periods(table.caption)
    spans = {(period.start_year, period.end_year) for period in found}
    if len(spans) != 1 or found[0].end_year - found[0].start_year > LONGEST_YEAR:
        return {}
    period = FigurePeriod(_year_text(found[0]), found[0].start_year, found[0].end_year)
    return {column: period for column, head in enumerate(table.heads) if not NO_AMOUNT.search(head)}


def _heads_above(table: Table, page_text: str) -> list[str]:
    """The dates above a table without heads, where as many as it has columns stand together; [] elsewhere."""
    count = len(table.heads)
    if not table.rows or table.rows[0].start < 0:
        return []
    above = " ".join(page_text[max(0, table.rows[0].start - ABOVE) : table.rows[0].start].split())
    periods = find_periods(above)[-count:]
    ends = [max(0, periods[0].start - FURTHEST), *(period.end for period in periods)] if periods else []
    between = [above[end : period.start] for end, period in zip(ends, periods, strict=False)]
    pieces = [f"{gap}{period.text}" for gap, period in zip(between, periods, strict=True)]
    if len(set(pieces)) < count or any(len(gap) > FURTHEST for gap in between[1:]):
        return []
    parts = [found[0] for found in PART_ALONE.finditer(above, 0, periods[0].start)]
    return [" ".join((*parts[-1:], piece)) for piece in pieces]


def _period_of(head: str, caption: str, *, day: bool) -> FigurePeriod | None:
    """The one time that a head names."""
    period = head_period(head, "" if day else caption)
    if period is None or period.end_year - period.start_year > LONGEST_YEAR:
        return None
    if day:
        return _day(period, period.month)
    if not period.is_part:
        return FigurePeriod(_year_text(period), period.start_year, period.end_year)
    month = period.month
    to = f" to {MONTHS[month - 1].capitalize()}" if month else ""
    text = f"{period.months} months{to} {period.end_year}"
    if period.quarter and not month:
        text = f"Q{period.quarter} {period.end_year}"
    elif period.part > 1 and not month:
        text = f"H{period.part} {period.end_year}"
    elif period.months < 0:
        text = f"YTD {period.end_year}"
    return FigurePeriod(text, period.end_year, period.end_year, period.months, month)


def _day(period: Period, month: int) -> FigurePeriod:
    named = f"{MONTHS[month - 1].capitalize()} " if month else ""
    text = f"{named}{_year_text(period)}"
    return FigurePeriod(text, period.start_year, period.end_year, A_DAY, month)


def day_in(day: FigurePeriod, others: Sequence[FigurePeriod]) -> FigurePeriod:
    """The longest of some times that ends with a day, the day itself where none does."""
    ending = [other for other in others if _ends_with(other, day)]
    return max(ending, key=lambda other: other.months, default=day)


def _ends_with(period: FigurePeriod, day: FigurePeriod) -> bool:
    if period.end_year != day.end_year or period.months == A_DAY:
        return False
    return period.months == WHOLE_YEAR or period.month == day.month > 0


def _year_text(period: Period) -> str:
    if period.start_year == period.end_year:
        return str(period.end_year)
    return f"{period.start_year}-{period.end_year % 100:02d}"
