"""Knows how years, fiscal years, quarters and ranges of years are written; does not know what happened in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.language.numbers.grammar import CURRENCY, GAP, MONTH, NO_YEAR, YEAR

__all__ = ["Period", "find_periods", "periods_agree"]


def _years(name: str) -> str:
    """A year, or a range of years whose end may have two digits."""
    return rf"(?P<{name}>{YEAR})(?:[-‐‑–/](?:\r?\n)?(?P<{name}_end>{YEAR}|[0-9]{{2}})(?![0-9]))?"


_PERIOD = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9][.,])(?:"
    r"(?P<quarter>(?i:Q[1-4]|[1-4]Q|(?:first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter)(?:(?: of)?(?: fiscal)?(?: year)?|:|,|-| ?FY)? ?(?:"
    + _years("q")
    + r"|(?P<q2>[0-9]{2})(?![0-9%]|[.,][0-9])))"
    rf"|(?P<backwards>(?P<b>{YEAR})[ :-]?Q[1-4])"
    r"|(?P<fiscal>(?i:FY|fiscal year|financial year|fiscal)[ '’-]{0,2}(?:"
    + _years("f") + r"|(?P<f2>[0-9]{2})(?:[-–/](?P<f2_end>[0-9]{2}))?(?![0-9%]|[.,][0-9])))"
    rf"|(?P<month>{MONTH}[-'’](?P<m2>[0-9]{{2}}))"
    r"|(?P<calendar>(?:CY ?)?" + _years("y") + rf"(?![.,][0-9])(?!{NO_YEAR})))(?![0-9A-Za-z])"
)  # fmt: skip

_QUARTER = re.compile(r"(?<![0-9])[1-4](?![0-9])|first|second|third|fourth", re.IGNORECASE)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time as written. start_year, end_year: equal for one year; "FY2018" is 2018 both. kind: fiscal | calendar | quarter."""

    text: str
    start: int
    end: int
    start_year: int
    end_year: int
    kind: str


def find_periods(text: str) -> list[Period]:
    """Years, fiscal years, quarters and ranges of years in order. "2024-25" and "2025/26" are fiscal, "2018-2020" is calendar."""
    return [period for match in _PERIOD.finditer(text) if (period := _period(text, match)) is not None]


def _period(text: str, match: re.Match[str]) -> Period | None:
    groups = match.groupdict()
    if groups["calendar"] and re.search(rf"{CURRENCY}{GAP}\Z", text[max(0, match.start() - 8) : match.start()]):
        return None
    first = next(_full_year(groups[name]) for name in ("q", "q2", "b", "f", "f2", "m2", "y") if groups[name])
    written = groups["q_end"] or groups["f_end"] or groups["f2_end"] or groups["y_end"]
    last = first if written is None else int(written) if len(written) == 4 else first // 100 * 100 + int(written)
    if last == first - 99:
        last += 100  # "1999-00"
    end = match.end()
    if not first <= last <= first + 60:  # "2016-02" is a number of something, in 2016
        last, end = first, next((match.end(name) for name in ("q", "f", "f2", "y") if groups[name]), end)
    if groups["quarter"] or groups["backwards"]:
        kind = "quarter"
    else:
        short = last == first + 1 and len(groups["y_end"] or "") == 2
        kind = "fiscal" if groups["fiscal"] or short or "/" in match[0] else "calendar"
    return Period(text[match.start() : end], match.start(), end, first, last, kind)


def periods_agree(stated: Period, other: Period) -> int:
    """How well a stated period fits another: 2 the same, 1 it may be meant ("2006" for 2005-06, a year for one of its quarters), 0 not."""
    quarters = [_quarter(period) for period in (stated, other)]
    if all(quarters) and quarters[0] != quarters[1]:
        return 0
    if (stated.start_year, stated.end_year) == (other.start_year, other.end_year):
        return 2 if bool(quarters[0]) == bool(quarters[1]) else 1
    spans = [period.end_year - period.start_year for period in (stated, other)]
    if min(spans) > 0 and "fiscal" in (stated.kind, other.kind):
        return 0  # "2004-05" and "2005-06" share a year and are two
    return int(stated.start_year <= other.end_year and other.start_year <= stated.end_year)


def _quarter(period: Period) -> str:
    """The quarter's number as a digit, "" for what is no quarter."""
    found = _QUARTER.search(period.text) if period.kind == "quarter" else None
    return _ORDINALS.get(found[0].lower(), found[0]) if found else ""


def _full_year(digits: str) -> int:
    """Two digits are this century up to 69, as POSIX reads them."""
    year = int(digits)
    return year if year > 99 else year + (2000 if year < 70 else 1900)
