"""Finds years, parts of years, dates and ranges of years in text, by a grammar of their parts and orders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ingestion.language.currencies import CODE, CURRENCY
from ingestion.language.months import DATED_MONTH, month_number
from ingestion.language.scales import GAP, MARK_SCALE, SCALE_WORD, SPACE
from ingestion.language.vocabulary import Match, either, groups_of, numbered, table

__all__ = [
    "A_DAY",
    "FISCAL",
    "PART_ALONE",
    "PART_CODE",
    "PERIOD",
    "RELATIVE_YEARS",
    "WHOLE_YEAR",
    "YEAR",
    "YEARLESS",
    "YEAR_PART",
    "Period",
    "find_periods",
    "head_period",
    "nearest_other",
    "periods_agree",
    "stands_for",
    "without_periods",
]

YEAR = "(?:19|20)[0-9]{2}"
# What stands before a year and says whose year it is, for every search for years that ignores case.
FISCAL = "(?:FY|CY)"
# Months of a period.
WHOLE_YEAR = 12
A_DAY = 0
NOT_TOLD = -1


def _words(kind: str) -> dict[str, str]:
    """The words of a kind in the table of parts of a year -> what they mean."""
    rows = (cells for cells in table("year_parts.tsv") if cells[1] == kind)
    return {word: meaning for meaning, _, words in rows for word in words.split()}


_LENGTHS, _ORDINALS, _COUNTS, _UNITS = map(_words, ("length", "ordinal", "count", "unit"))
_BASES, _LETTERS = map(_words, ("basis", "letters"))
_ROMAN = "I II III IV V VI VII VIII IX X XI XII".split()

# Between the parts of a period: a blank, a line's end, or the next of two heads over a column.
_GAP = r"(?:,? > |,?[ \u00a0]{0,2}\r?\n|,?[ \u00a0]{1,2})"
_ORDINAL = rf"(?:{either(_ORDINALS)}|[1-4]\.)"
_LENGTH = rf"(?:{either(_LENGTHS)})".replace(r"\-", "[ -]")
_SPAN = rf"(?:{either(_COUNTS)}|[1-9]|[1-5][0-9])[ \u00a0-](?:{either(_UNITS)})(?:[ -]periods?)?"
# Short forms of a part, for patterns that ignore case.
PART_CODE = r"(?:[QH][1-4]|[1-4][QH]|HY[12]?)"
_CODE = rf"(?:{PART_CODE}|[ST][1-4]|[1-4][ST]|(?:[2-9]|1[0-2])M)"
_PART = rf"(?:{_ORDINAL}[ \u00a0-](?:{_LENGTH}|{_SPAN})|{_SPAN}|{_LENGTH} [1-4])"
# A part of a year without its year, for patterns that ignore case.
YEAR_PART = rf"(?:{_CODE}|{_PART}|ytd)"
_OF = (
    rf"(?:{_GAP}of(?:{_GAP}the)?)?(?:{_GAP}(?:(?:fiscal|financial|calendar)(?:{_GAP}year)?|year))?"
    rf"(?:[:,/-]|{_GAP})?(?:{FISCAL}[ \u00a0]?)?['’]?"
)
# How long the time is that ends on a date.
_PART_TIME = rf"(?:(?:{_ORDINAL}[ -])?{_LENGTH}(?:ly)?(?: period)?s?|{_SPAN})"
_TIME = rf"(?:{_PART_TIME}|(?:(?:fiscal|financial|full)[ -])?years?)"
_UNTIL = rf"{_GAP}(?:end(?:ed|ing)|to|through):?(?:{_GAP}(?:on|the))?"
_TO_DATE = "(?:ytd|year[ -]to[ -]date)"
_ENDED = rf"(?:{_TIME}{_UNTIL}|{_PART_TIME}|{_TO_DATE}){_GAP}"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_NTH = rf"{_DAY}(?:st|nd|rd|th|\.)?"
# What stands above or beside the years that it goes with, "Three months ended September 30,", for patterns
# that ignore case.
_DATE = rf"(?:{_NTH} )?{DATED_MONTH}(?: {_NTH})?"
YEARLESS = rf"(?:(?:for|as of|as at|at|on) )?(?:the )?(?:(?:{_TIME}|periods?){_UNTIL}(?: {_DATE})?|{_DATE}),?"
# Two digits that are a year, not an amount; behind a word no people follow, as in "on 31 December 24 people".
_TWO = r"<two>(?![0-9%]|[.,][0-9])"
_LAST = rf"{_TWO}(?!{SPACE}{{1,2}}(?!(?:and|or|to|is|was|were)\b)(?-i:[a-z]))"
# How a day or a month of a year is written.
_DATES = (
    rf"{_NTH}(?: of)?[ \u00a0-]<name>(?:{_GAP}<year>|[ \u00a0-]['’]?{_LAST}|['’]{_TWO}|-<year>)",
    rf"<name>[ \u00a0]{_NTH}(?:{_GAP}<year>|,? ?['’]{_TWO})",
    rf"{_DAY}\.<number>\.(?:<year>|{_TWO}(?!\.))",
    rf"{_DAY}(?:\. ?| )(?-i:<roman>)(?:\. ?| )<year>",
    rf"{_DAY}(?:/<number>/|-<number>-)<year>",
    rf"<number>/(?:1[3-9]|2[0-9]|3[01])/(?:<year>|{_TWO})",
    rf"(?:1[3-9]|2[0-9]|3[01])/<number>/{_TWO}",
    r"<year>(?:-<number>-|/<number>/|\.<number>\.)[0-3][0-9](?![0-9.])",
    rf"<name>(?:{_GAP}<year>|[ -]?['’]{_TWO}|-(?:<year>|{_TWO}))",
    "<number>/<year>",
)
# Letters that touch a year alone say what it has, "24A". Elsewhere they belong to a name, "Series 2024A".
_LETTER = rf"(?-i:{either(_LETTERS)})"
_ALONE = r"(?:\A|(?<= > )|(?<=\n)|(?<=\s\()|(?<=[0-9](?-i:[A-Z]) ))"
_HEAD_ENDS = rf"(?=\Z|\)| > |\r?\n| ?[(€$£]| (?:{YEAR}|[0-9]{{2}}){_LETTER}\b| (?-i:{CODE})\b)"
# What follows four digits that are no year: "2022 Percent" and "2020 % Change" are heads of columns. In
# "2024 NOK million" the scale is the column's.
_NO_YEAR = (
    rf"%|{SPACE}{{0,3}}+(?:basis|bps?\b|(?:{SCALE_WORD})\b(?!\.?{SPACE}(?-i:{CURRENCY}))"
    rf"|(?-i:{CODE})\b(?!\.?{SPACE}?(?:{MARK_SCALE}\b|['’]?000)))"
)
_RANGE = r"(?:[-–/]<until>)?(?![0-9%]|[.,][0-9])"
# The ways to write a period. <years> is a year or a range of years whose
# end may have two digits, <year> a single year, <two> its last two digits, <until> those of a range's last
# year; <name> and <number> are the month in which the period ends, <part> says how long it is. The first
# pattern that fits counts.
_MONTHS = (
    rf"(?:{_DAY} )?(?P<begins>{DATED_MONTH})(?: {_DAY})?(?: ?[-–—/] ?| (?:to|through|until|bis|à) )"
    rf"(?:{_DAY} )?<name>(?: {_DAY},?)?(?:{_GAP}<year>|[ -]?['’]{_TWO}|[ -]{_LAST})"
)
_WAYS = (
    _MONTHS,
    rf"(?:{_DAY}\.)?(?P<begins>0?[1-9]|1[0-2])(?:\. ?[-–] ?{_DAY}\.<number>\.|[-–]<number>/)<year>",
    r"(?P<part>FY) ?(?!1[0-2]/1[1-3])<number>/(?:<year>|<two>)(?![0-9/])",
    rf"(?P<begins>[QT]1) ?[-–] ?(?P<part>[QT][2-4]){_OF}(?:<years>|{_TWO})",
    rf"(?P<part>{_ENDED})?(?:{'|'.join(_DATES)})|(?P<part>{_ENDED})<name> {_LAST}(?!,| >)",
    rf"(?P<part>3M) <year>(?=\Z| > )|(?!3M )(?P<part>{_CODE}|{_TO_DATE}){_OF}(?:<years>|{_TWO})",
    rf"(?P<part>{_PART}){_OF}(?:<years>|{_LAST})",
    rf"<year>(?:{_GAP}|[:-] ?)?(?P<part>{YEAR_PART})",
    rf"(?:{FISCAL} ?['’]?)?{_TWO}[ -]?(?P<part>[QH][1-4]|[1-4][QH])",
    rf"(?:FY|(?:fiscal|financial|academic) year|fiscal)[ \u00a0'’-]{{0,2}}(?:<years>|<two>{_RANGE})",
    rf"CY ?['’]?<two>{_RANGE}",
    rf"{_ALONE}(?:(?:<year>|(?=[0-4])<two>)(?P<letter>{_LETTER})|<year>(?-i:[a-z])){_HEAD_ENDS}",
    rf"(?:\A|(?<= > ))<year>(?= (?-i:{CODE})(?:\Z| > ))",
    rf"(?:CY ?)?<years>(?![.,][0-9]|[A-Za-z])(?!{_NO_YEAR})",
)
_MEANT = (
    ("<years>", rf"(?P<first>{YEAR})(?:[-‐‑–/](?:\r?\n)?(?P<last>{YEAR}|[0-9]{{2}})(?![0-9]))?"),
    ("<year>", rf"(?P<first>{YEAR})"),
    ("<two>", "(?P<two>[0-9]{2})"),
    ("<until>", "(?P<last>[0-9]{2})"),
    ("<name>", rf"(?P<name>{DATED_MONTH})"),
    ("<number>", "(?P<number>0?[1-9]|1[0-2])"),
    ("<roman>", f"(?P<roman>{either(_ROMAN)})"),
)
_GROUP = re.compile(r"\(\?P<(\w+)>")


_ANY = "|".join(_WAYS)
for _name, _pattern in _MEANT:
    _ANY = _ANY.replace(_name, _pattern)
# The same as a fragment without groups, for patterns of which a period is a part.
PERIOD = rf"(?i:{_GROUP.sub('(?:', _ANY)})(?:{_LETTER})?(?![0-9A-Za-z])"
# How words in front of digits begin. Looking for these, and for digits ahead, takes a fraction of the time.
_WORDS = " ".join([DATED_MONTH, *_ORDINALS, *_LENGTHS, *_COUNTS, FISCAL, "fiscal full year ytd"]).lower()
_BEGINS = re.findall(r"(?<!\w)[a-z]\w", _WORDS)
_PERIOD = re.compile(
    rf"(?<![A-Za-z0-9])(?<![0-9][.,])(?=(?:{YEAR}|[0-9]{{1,2}}(?:[./–-]|[ \u00a0]?[^\W\d_]|[ -]?[1-4][QHqh]))"
    rf"|(?i:[QHST][0-9Y]|{either(_BEGINS)})(?s:.){{0,59}}?[0-9]{{2}})"
    + numbered(rf"(?i:{_ANY})(?P<letter>{_LETTER})?(?![0-9A-Za-z])")
)
_MEASURE = re.compile(
    rf"(?i)(?P<ordinal>{_ORDINAL})?[ -]?(?:(?P<length>{_LENGTH})(?: (?P<which>[1-4])\b)?"
    rf"|\b(?P<count>{either(_COUNTS)}|[0-9]{{1,2}})[ \u00a0-]?(?P<unit>{either(_UNITS)}|m\b))"
    r"|(?<![A-Za-z])(?P<before>[1-4])?(?P<code>[qhst])y?(?P<behind>[1-4])?\b|(?P<ytd>ytd|to.date)",
)
_CODES = {"q": 3, "t": 3, "h": 6, "s": 6}
_WEEKS_OF_YEAR = 52
_PLANNED = rf"(?P<basis>{either(_BASES)})(?: estimates?)?"
_BASIS_BEFORE = re.compile(
    rf"(?i)\b{_PLANNED}(?:(?: > | ?\(| for (?:the )?)(?:(?:fiscal|financial) )?(?:year )?| )\Z"
)
_BASIS_BEHIND = re.compile(
    rf"(?i)(?: > |,? ?[(\[]?)?(?:(?:original|revised|adopted|final|latest|initial|approved) )?\b{_PLANNED}\b",
)
# A part before another that has the year of both: "from Q2 to Q3 2025", "the first and second half of 2024".
_PART_BEFORE = re.compile(
    rf"(?i)(?<![A-Za-z0-9])(?:(?P<code>{PART_CODE})|(?P<ordinal>{either(_ORDINALS)}))(?:[ -](?:{_LENGTH}))?"
    r"(?= (?:and|to|or|until)(?: the)? \Z)",
)
# Years that follow a period of which only the year changes: "three months ended June 30, 2024 and 2023".
_AND_YEAR = re.compile(r",?\s(?:and\s|&\s)?|,?\s?(?:/|> )\s?")
_REACH = 40
_BEHIND_CURRENCY = re.compile(rf"{CURRENCY}{GAP}\Z")
_IS_FISCAL = re.compile("(?i)FY|fiscal|financial")
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
# A part of a year without its year, as it stands above years or in a question.
PART_ALONE = re.compile(
    rf"(?i)(?<![A-Za-z0-9])(?:{PART_CODE}|{_PART}|ytd|{_LENGTH}(?={_UNTIL})"
    r"|(?<!\beach )(?<!\bevery )(?<!\bper )(?<!\ba )(?:quarters?|half-years?))"
    r"(?![A-Za-z0-9])",
)
_MOST_YEARS = 60


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time as written.

    text: the source's text[start:end].
    start_year, end_year: equal for a single year; "FY2018" has 2018 for both.
    kind: whose year it is, fiscal | calendar.
    months: its length: 12 for a year or years, 3, 6 or 9 for a part of one, 0 for a day or a month on which
        something stands, -1 for a part whose length is not told, as in "YTD 2024".
    part: which of the year's parts of this length it is, from 1; 0 where that is not told.
    month: its last month, 1 to 12, 0 where it is not told.
    basis: "actual", "budget", "forecast" or "guidance" where it is said beside the period, else "".
    """

    text: str
    start: int
    end: int
    start_year: int
    end_year: int
    kind: str
    months: int = WHOLE_YEAR
    part: int = 0
    month: int = 0
    basis: str = ""

    @property
    def said(self) -> str:
        """Its text within a sentence: without the marks between the heads of a column."""
        return " ".join(self.text.replace(" > ", " ").split())

    @property
    def quarter(self) -> int:
        """1 to 4, 0 where it is no quarter or does not say which."""
        return self.part if self.months == 3 else 0

    @property
    def is_part(self) -> bool:
        """Whether it is less than a year, and more than a day."""
        return self.months not in (A_DAY, WHOLE_YEAR)

    @property
    def last_month(self) -> int:
        """Its last month, as far as it is known: that of a calendar year's part is; else 0."""
        if self.month or self.kind != "calendar" or not self.part:
            return self.month
        return self.months * self.part


@lru_cache(maxsize=1_024)
def _found_in(text: str) -> tuple[Period, ...]:
    found = list[Period]()
    for match in _PERIOD.finditer(text):
        period = _period(text, match)
        if period is not None:
            found += [*_part_before(text, period), period]
    for at, (first, second) in enumerate(pairwise(found), 1):
        between = text[first.end : second.start]
        if second.text.isdecimal() and first.months != WHOLE_YEAR and _AND_YEAR.fullmatch(between):
            found[at] = replace(second, months=first.months, part=first.part, month=first.month)
    return tuple(found)


def find_periods(text: str) -> list[Period]:
    """Years, parts of years, dates and ranges of years in order, and of the heads over one column.

    "2024-25" and "2025/26" are fiscal, "2018-2020" is calendar.
    """
    return list(_found_in(text))


def _period(text: str, match: Match) -> Period | None:
    parts = groups_of(match)
    start, end = match.span()
    if "name" in parts:
        month = month_number(parts["name"])
    elif "roman" in parts:
        month = _ROMAN.index(parts["roman"]) + 1
    else:
        month = int(parts.get("number", 0))
    months, part = _length_of(parts, month)
    is_digits = match[0][0].isdigit() and months == WHOLE_YEAR
    if is_digits and _BEHIND_CURRENCY.search(text[max(0, start - 8) : start]):
        return None
    first = int(parts.get("first") or parts["two"])
    if first < 100:  # two digits are this century up to 69, as POSIX reads them
        first = (first + 30) % 100 + 1970
    ends, last = first, parts.get("last", "")
    if last:
        ends = int(last) if len(last) == 4 else first // 100 * 100 + int(last)
        if ends == first - 99:
            ends += 100  # "1999-00"
    if not first <= ends <= first + _MOST_YEARS:  # "2016-02" is a number of something, in 2016
        ends = first
        end -= len(last) + 1 + match[0].count("\n")
    is_split = last and ((len(last) == 2 and ends == first + 1) or "/" in match[0])  # "2024-25"
    kind = "fiscal" if is_split or _IS_FISCAL.search(match[0]) else "calendar"
    basis = _basis_of(text, match, parts)
    return Period(text[start:end], start, end, first, ends, kind, months, part, month, basis)


def _part_before(text: str, period: Period) -> Iterator[Period]:
    """The earlier part of the same year that stands before a part, and leaves the year to it."""
    before = _PART_BEFORE.search(text[max(0, period.start - _REACH) : period.start])
    if before is None or not period.part:
        return
    months, part = _length_of({"part": before["code"] or f"{before['ordinal']} quarter"}, 0)
    if part < period.part and (before["ordinal"] or months == period.months):
        start, end = (at + max(0, period.start - _REACH) for at in before.span())
        yield replace(period, text=text[start:end], start=start, end=end, part=part)


def _length_of(parts: dict[str, str], month: int) -> tuple[int, int]:
    """Months and number of a part of a year, from what is written of it. month: its last, 0 if not told."""
    if "begins" in parts:
        begins, until = parts["begins"], parts.get("part")
        if until:  # "T1–T2": how long a T is depends on the country
            quarters = int(until[1:])
            return (NOT_TOLD, quarters) if begins[0] in "Tt" else (3 * quarters, int(quarters < 4))
        first = int(begins) if begins.isdecimal() else month_number(begins)
        return (month - first) % WHOLE_YEAR + 1, 0
    if "part" not in parts:
        return (A_DAY if month else WHOLE_YEAR), 0
    found = _MEASURE.search(parts["part"].casefold())
    if found is None:  # "year ended"
        return WHOLE_YEAR, 0
    if found["ytd"]:
        return month or NOT_TOLD, 1
    if found["code"]:
        return _CODES[found["code"]], int(found["before"] or found["behind"] or 1)
    if found["length"]:
        months = int(_LENGTHS[found["length"].replace(" ", "-")])
    else:
        months = int(_COUNTS.get(found["count"], found["count"]))
        if _UNITS.get(found["unit"]) == "week":
            months = 3 * round(months * 4 / _WEEKS_OF_YEAR) or 1
    written = (found["ordinal"] or found["which"] or "").rstrip(".")
    if written:
        which = _ORDINALS.get(written, written)
        return months, WHOLE_YEAR // months if which == "last" else int(which)
    return months, int(not month and months not in (3, WHOLE_YEAR))


def _basis_of(text: str, match: Match, parts: dict[str, str]) -> str:
    """Whether what a period has is actual or planned, as far as letters or words beside it say so."""
    if "letter" in parts:
        return _LETTERS[parts["letter"]]
    before = _BASIS_BEFORE.search(text, max(0, match.start() - _REACH), match.start())
    beside = before or _BASIS_BEHIND.match(text, match.end())
    return _BASES[beside["basis"].casefold()] if beside else ""


def stands_for(asked: Period, other: Period) -> bool:
    """Whether a figure for one period can answer a question about the other, by their lengths and bases.

    A part of a year never stands for the year or for another part, nor what was planned for what was reached.
    """
    if asked.basis and other.basis and asked.basis != other.basis:
        return False
    if A_DAY in (asked.months, other.months):
        months = {period.last_month for period in (asked, other) if period.months != WHOLE_YEAR} - {0}
        return len(months) < 2
    if asked.is_part != other.is_part or (asked.is_part and asked.months != other.months):
        return False
    known = [(period.part, period.last_month) for period in (asked, other)]
    return not any(all(pair) and pair[0] != pair[1] for pair in zip(*known, strict=True))


def periods_agree(stated: Period, other: Period) -> int:
    """How well a stated period fits another.

    2: the same. 1: it may be meant, as "2006" for 2005-06, or a year for one of its quarters. 0: it does not.
    """
    is_same = stands_for(stated, other)
    if not is_same and (stated.is_part == other.is_part or A_DAY in (stated.months, other.months)):
        return 0
    if (stated.start_year, stated.end_year) == (other.start_year, other.end_year):
        return 2 if is_same else 1
    spans = [period.end_year - period.start_year for period in (stated, other)]
    if min(spans) > 0 and "fiscal" in (stated.kind, other.kind):
        return 0  # "2004-05" and "2005-06" share a year and are two
    return int(_shares_year(stated, other))


def head_period(head: str, above: str = "") -> Period | None:
    """The one time that the head of a column names, None where it names none or several.

    How long it is may stand apart from its year, in the head or above the table.
    """
    periods = find_periods(head)
    if len({(period.start_year, period.end_year) for period in periods}) != 1:
        return None
    period = max(periods, key=lambda one: (one.is_part, one.months, one.month))
    for text in () if period.is_part else (head, above):
        if found := PART_ALONE.search(text):
            months, part = _length_of({"part": found[0]}, period.month)
            return replace(period, months=months, part=part)
    return period


def nearest_other(asked: Sequence[Period], found: Sequence[Period]) -> tuple[Period, Period] | None:
    """A period that is asked for, and the first found in its years, where none of these may stand for it."""
    for wanted in asked:
        near = [period for period in found if _shares_year(wanted, period)]
        if near and not any(stands_for(wanted, period) for period in near):
            return wanted, near[0]
    return None


def _shares_year(one: Period, other: Period) -> bool:
    return one.start_year <= other.end_year and other.start_year <= one.end_year


def without_periods(text: str) -> str:
    """A text with a blank for each of its periods."""
    for period in reversed(find_periods(text)):
        text = f"{text[: period.start]} {text[period.end :]}"
    return text
