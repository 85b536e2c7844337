"""Tells whether a number of years is the distance of years that are named, "two years" of 2015 and 2013."""

from __future__ import annotations

import re

from chatbot.answer.checks.claims import Claim

__all__ = ["counts_years"]

MOST_YEARS = 12


def counts_years(claim: Claim) -> bool:
    """Whether a figure counts years, and two of those that answer and question name lie so far apart, or
    are the first and last of so many.
    """
    figure = claim.figure
    if not figure.bare or not 1 < figure.value <= MOST_YEARS:
        return False
    if not figure.value.is_integer():
        return False
    pattern = rf"\b{re.escape(figure.text)}[- ]years?\b"
    if not re.search(pattern, claim.paragraph, re.IGNORECASE):
        return False
    years = claim.mention.years
    count = int(figure.value)
    return any(year + count in years or year + count - 1 in years for year in years)
