"""Compares the periods that name a figure, in an answer and in the heads of a table alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ingestion.language.currencies import CURRENCY_NAME
from ingestion.language.months import MONTH
from ingestion.language.numbers import Figure
from ingestion.language.periods import FISCAL, YEAR, Period, find_periods, periods_agree

__all__ = [
    "SAME_PERIOD",
    "agreement",
    "period_beside",
    "periods_in",
]

SAME_PERIOD = 2  # of periods_agree
TIE_REACH = 70  # characters between a figure and the period that a sentence ties to it
# " million in 2023", " (2023)", " percent of GDP at 30 June 2023": a noun and what it is of, then a word that
# ties the period to it.
_TIED_AFTER = re.compile(
    r"(?:\s[a-z]{3,15}(?:s|ed))?(?:\sof\s[A-Za-z]{1,15})?"
    rf"(?:\s?\(|,?\s(?:in|for|at|on|during|as\s(?:of|at))\s(?:(?:the|year|years|fiscal|financial|end|ended"
    rf"|ending|of|[0-9]{{1,2}}|{MONTH}),?\s(?:[0-9]{{1,2}},\s)?){{0,5}})"
)
_TIED_BEFORE = re.compile(
    r":\s|\s[-–—]\s(?=\W)|\s(?:was|were|is|are|will\sbe|stood\sat|came\sto|amounted\sto|reached"
    r"|totall?ed)\s|\)\s?:?\s(?:(?:was|were)\s)?"
)
_NO_TIE = re.compile(  # "in 2015 prices", "in 2022 and 2023"
    (
        rf"\s(?:constant\s)?(?:prices|{CURRENCY_NAME}|terms|levels)\b|\s?(?:[-–,/&]|to\b|and\b|or\b"
        rf"|through\b)\s?(?:fiscal\s|{FISCAL}\s?)?"
    )
    + YEAR
)


def agreement(some: Iterable[Period], others: Collection[Period]) -> int:
    """How well the best two of these periods agree, as periods_agree has it; 0 if one side has none."""
    return max((periods_agree(one, other) for one in some for other in others), default=0)


def periods_in(text: str) -> tuple[Period, ...]:
    """The periods that a text names, each once."""
    found = {
        (period.start_year, period.end_year, period.kind, period.text): period
        for period in find_periods(text)
    }
    return tuple(found.values())


def period_beside(text: str, figure: Figure) -> tuple[Period, ...]:
    """The period that a text ties to one of its figures by the words between them; empty for none.

    For example, "45.1 million at 30 June 2024". Empty too if the text ties two that differ, a span ("in 2022
    and 2023") or a year of prices.
    """
    behind = text[max(0, figure.start - TIE_REACH) : figure.start]
    ahead = text[figure.end : figure.end + TIE_REACH]
    tied: list[Period] = []
    for period in find_periods(ahead)[:1]:
        if _TIED_AFTER.fullmatch(ahead, 0, period.start) and not _NO_TIE.match(ahead, period.end):
            tied.append(period)
    for period in find_periods(behind)[-1:]:
        if _TIED_BEFORE.fullmatch(behind, period.end):
            tied.append(period)
    if len(tied) == 2 and not periods_agree(tied[0], tied[1]):
        return ()
    return tuple(tied[:1])
