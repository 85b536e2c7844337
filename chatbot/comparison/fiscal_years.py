"""Reads in which month a document's fiscal year ends, and names the year with it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.language.months import MONTH, MONTHS, month_number
from ingestion.language.periods import YEAR, find_periods

__all__ = ["COVER_PAGES", "fiscal_month", "fiscal_text"]

# The pages at the beginning on which a document says which year it is of.
COVER_PAGES = 3
_DAY = r"(?:\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?)?"
# "For the fiscal year ended May 31, 2018", "52 weeks ended 3 February 2018".
ENDED = re.compile(
    rf"\b(?:year|5[23] weeks)\s(?:ended|ending):?\s(?:on\s)?(?:the\s)?{_DAY}(?P<month>{MONTH})", re.IGNORECASE
)
# "Fiscal year from 1 April 2025 to 31 March 2026".
FROM_TO = re.compile(
    rf"\byear\s(?:from\s)?{_DAY}{MONTH}\.?\s(?:\d{{1,2}},?\s)?(?:{YEAR}\s)?(?:to|until|-|–)\s{_DAY}"
    rf"(?P<month>{MONTH})",
    re.IGNORECASE,
)
# A plan for several years is of no fiscal year.
LONGEST_YEAR = 1


def fiscal_month(pages: Iterable[str]) -> int:
    """Returns the month, 1 to 12, in which the fiscal year of these pages ends; 0 if none says so."""
    for page in pages:
        text = " ".join(page.split())
        found = ENDED.search(text) or FROM_TO.search(text)
        if found is not None:
            return month_number(found["month"])
    return 0


def fiscal_text(period: str, month: int) -> str:
    """Returns a year as a reader needs it: "FY 2018 (to May)".

    It is the period itself if the month is 0, or if the period is not one year.
    """
    found = find_periods(period)
    if not month or len(found) != 1 or found[0].is_part:
        return period
    if found[0].end_year - found[0].start_year > LONGEST_YEAR:
        return period
    return f"FY {period.removeprefix('FY').strip()} (to {MONTHS[month - 1].capitalize()})"
