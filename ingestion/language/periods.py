"""Finds years, fiscal years, quarters and ranges of years in text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.language.currencies import CODE, CURRENCY
from ingestion.language.months import MONTH
from ingestion.language.scales import SCALE_WORD
from ingestion.language.units import GAP, SPACE

__all__ = [
    "FISCAL",
    "PERIOD",
    "QUARTER_MARK",
    "RELATIVE_YEARS",
    "YEAR",
    "Period",
    "find_periods",
    "full_year",
    "periods_agree",
    "without_periods",
]

YEAR = "(?:19|20)[0-9]{2}"
# What follows four digits that are no year. "2022 Percent" and "2020 % Change" are heads of columns.
_NO_YEAR = rf"%|{SPACE}{{0,3}}+(?:basis|bps?\b|(?i:{SCALE_WORD})\b|{CODE}\b)"
# Two digits that are a year, not an amount.
_TWO = r"<two>(?![0-9%]|[.,][0-9])"
# What stands before a year and says whose year it is, and the parts of a year; for every search for years
# that ignores case.
FISCAL = "(?:FY|CY)"
QUARTER_MARK = "Q[1-4]"
_ORDINAL = r"(?:first|second|third|fourth|1st|2nd|3rd|4th)"

# The ways to write a period: its kind, and the pattern. <years> is a year or a range of years whose end may
# have two digits, <year> a single year, <two> its last two digits, <until> those of a range's last year. The
# first pattern that fits counts.
_WAYS = (
    (
        "quarter",
        (
            rf"(?i:{QUARTER_MARK}|[1-4]Q|{_ORDINAL}[ -]quarter)(?:(?: of)?(?: fiscal)?(?: year)?|:|,|-"
            rf"| ?FY)? ?(?:<years>|{_TWO})"
        ),
    ),
    ("quarter", rf"<year>[ :-]?{QUARTER_MARK}"),
    (
        "fiscal",
        (
            r"(?i:FY|fiscal year|financial year|fiscal)[ '’-]{0,2}(?:<years>|<two>(?:[-–/]<until>)?(?![0-9%]"
            r"|[.,][0-9]))"
        ),
    ),
    ("calendar", rf"{MONTH}[-'’]<two>"),
    ("calendar", r"CY ?'?<two>(?:[-–/]<until>)?(?![0-9%]|[.,][0-9])"),
    ("calendar", rf"(?:CY ?)?<years>(?![.,][0-9])(?!{_NO_YEAR})"),
)
_MEANT = (
    ("<years>", rf"(?P<first>{YEAR})(?:[-‐‑–/](?:\r?\n)?(?P<last>{YEAR}|[0-9]{{2}})(?![0-9]))?"),
    ("<year>", rf"(?P<first>{YEAR})"),
    ("<two>", "(?P<two>[0-9]{2})"),
    ("<until>", "(?P<until>[0-9]{2})"),
)
_GROUP = re.compile(r"\(\?P<(\w+)>")


def _written(way: str) -> str:
    for name, pattern in _MEANT:
        way = way.replace(name, pattern)
    return way


_PERIOD = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9][.,])(?:"
    + "|".join(
        f"(?P<way_{at}>{_GROUP.sub(rf'(?P<{chr(92)}g<1>_{at}>', _written(way))})"
        for at, (_, way) in enumerate(_WAYS)
    )
    + ")(?![0-9A-Za-z])"
)
# The same as a fragment without groups, for patterns of which a period is a part.
PERIOD = rf"(?:{'|'.join(_GROUP.sub('(?:', _written(way)) for _, way in _WAYS)})(?![0-9A-Za-z])"
_ANY_YEAR = r"(?:fiscal |financial )?year"
_LAST_YEAR = (
    rf"\b(?:the )?(?:previous|prior|preceding|last) {_ANY_YEAR}\b|\bthe year before\b"
    rf"|\ba year (?:ago|earlier)\b"
)
_NEXT_YEAR = rf"\bnext {_ANY_YEAR}\b|\bthe (?:following year|year after)\b|\bcoming year\b"
_THIS_YEAR = rf"\b(?:this|current|the present) {_ANY_YEAR}\b"
# Years named in relation to another year: the pattern, and how many years later.
RELATIVE_YEARS = (
    (re.compile(_LAST_YEAR, re.IGNORECASE), -1),
    (re.compile(_NEXT_YEAR, re.IGNORECASE), 1),
    (re.compile(_THIS_YEAR, re.IGNORECASE), 0),
)
_QUARTER = re.compile(r"(?<![0-9])[1-4](?![0-9])|first|second|third|fourth", re.IGNORECASE)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
_MOST_YEARS = 60


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time as written.

    text: the source's text[start:end].
    start_year, end_year: equal for a single year; "FY2018" has 2018 for both.
    kind: fiscal | calendar | quarter.
    """

    text: str
    start: int
    end: int
    start_year: int
    end_year: int
    kind: str

    @property
    def quarter(self) -> int:
        """1 to 4, 0 where it is no quarter."""
        if self.kind == "quarter":
            found = _QUARTER.search(self.text)
        else:
            found = None
        if found:
            return int(_ORDINALS.get(found[0].casefold(), found[0]))
        return 0


def find_periods(text: str) -> list[Period]:
    """Years, fiscal years, quarters and ranges of years in order.

    "2024-25" and "2025/26" are fiscal, "2018-2020" is calendar.
    """
    found = (_period(text, match) for match in _PERIOD.finditer(text))
    return [period for period in found if period is not None]


def _period(text: str, match: re.Match[str]) -> Period | None:
    mark = (match.lastgroup or "").removeprefix("way")  # the way's own group closes last
    groups = match.groupdict().items()
    parts = {name.removesuffix(mark): part for name, part in groups if part and name.endswith(mark)}
    kind = _WAYS[int(mark[1:])][0]
    if kind == "calendar":
        before = text[max(0, match.start() - 8) : match.start()]
        if re.search(rf"{CURRENCY}{GAP}\Z", before):
            return None
    begin = "first" if "first" in parts else "two"
    first = full_year(parts[begin])
    last = parts.get("last") or parts.get("until")
    if last is None:
        ends = first
    elif len(last) == 4:
        ends = int(last)
    else:
        ends = first // 100 * 100 + int(last)
    if ends == first - 99:
        ends += 100  # "1999-00"
    end = match.end()
    if not first <= ends <= first + _MOST_YEARS:  # "2016-02" is a number of something, in 2016
        ends = first
        end = match.end(begin + mark)
    is_split = last is not None and len(last) == 2 and ends == first + 1  # "2024-25"
    if kind == "calendar" and (is_split or "/" in match[0]):
        kind = "fiscal"
    return Period(text[match.start() : end], match.start(), end, first, ends, kind)


def periods_agree(stated: Period, other: Period) -> int:
    """How well a stated period fits another.

    2: the same. 1: it may be meant, as "2006" for 2005-06, or a year for one of its quarters. 0: it does not.
    """
    quarters = [period.quarter for period in (stated, other)]
    if all(quarters) and quarters[0] != quarters[1]:
        return 0
    if (stated.start_year, stated.end_year) == (other.start_year, other.end_year):
        if bool(quarters[0]) == bool(quarters[1]):
            return 2
        return 1
    spans = [period.end_year - period.start_year for period in (stated, other)]
    if min(spans) > 0 and "fiscal" in (stated.kind, other.kind):
        return 0  # "2004-05" and "2005-06" share a year and are two
    return int(stated.start_year <= other.end_year and other.start_year <= stated.end_year)


def full_year(digits: str) -> int:
    """Two digits are this century up to 69, as POSIX reads them."""
    year = int(digits)
    if year > 99:
        return year
    return year + (2000 if year < 70 else 1900)


def without_periods(text: str) -> str:
    """A text with a blank for each of its periods."""
    for period in reversed(find_periods(text)):
        text = f"{text[: period.start]} {text[period.end :]}"
    return text
