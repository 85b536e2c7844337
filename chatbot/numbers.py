"""Knows how figures, periods and scale lines are written in financial prose and tables; knows no page, question or answer, and does not say what a figure is about.

Only ASCII digits are read. Plain spaces group thousands only beside a currency or a scale word ("RM 1 234 567", "9 905 million"),
because "136 218 263" is more often three cells than one number; no-break and thin spaces always group. `other_readings` yields the
readings that are merely possible. "1.234.567" is taken for a section number. The file is longer than 300 lines because one grammar
(currency, sign, scale, unit) serves figures, scale lines and periods, and splitting it would export its fragments.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = [
    "Figure", "Period", "ScaleMark", "figure_at", "find_figures", "find_periods", "governing_mark", "magnitude", "other_readings", "passage_scale",
    "same_value", "scale_marks", "units_agree",
]  # fmt: skip

# ---------------------------------------------------------------- the grammar's words. Every repetition is bounded or possessive: linear time.
_SYMBOLS = {
    "US$": "USD", "U.S.$": "USD", "AU$": "AUD", "A$": "AUD", "CA$": "CAD", "C$": "CAD", "S$": "SGD", "HK$": "HKD", "NZ$": "NZD", "NT$": "TWD",
    "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₨": "INR", "`": "INR", "₩": "KRW", "₱": "PHP", "₦": "NGN", "₫": "VND",
    "฿": "THB", "₪": "ILS", "₺": "TRY", "₴": "UAH", "₽": "RUB", "RM": "MYR", "Rs.": "INR", "Rs": "INR", "rs.": "INR", "KSh": "KES", "Kč": "CZK",
}  # fmt: skip   # the backtick is how fonts with a rupee glyph in its place come out of a PDF
_CODES = (
    "USD EUR GBP JPY CNY RMB INR MYR AUD CAD NZD SGD HKD TWD CHF SEK NOK DKK ISK CZK PLN HUF RON BGN BRL MXN ZAR KRW IDR PHP THB VND TRY RUB UAH "
    "SAR AED QAR EGP NGN KES GHS PKR BDT LKR NPR ILS CLP COP PEN ARS SDR XDR"
).split()
_CURRENCY_WORDS = {
    "dollar": "USD", "rupee": "INR", "ringgit": "MYR", "euro": "EUR", "pound": "GBP", "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "baht": "THB",
    "crown": "crowns", "koruna": "CZK", "kroner": "crowns", "kronor": "crowns", "franc": "CHF", "rand": "ZAR", "rupiah": "IDR", "naira": "NGN",
    "ruble": "RUB", "rouble": "RUB", "peso": "pesos", "shilling": "shillings", "lira": "TRY",
}  # fmt: skip
_SCALES = {
    "thousand": 1e3, "million": 1e6, "mn": 1e6, "mln": 1e6, "mil": 1e6, "billion": 1e9, "bn": 1e9, "bln": 1e9, "trillion": 1e12, "tn": 1e12,
    "trn": 1e12, "lakh": 1e5, "lac": 1e5, "crore": 1e7, "cr": 1e7,
}  # fmt: skip
_LETTER_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
_VULGAR = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125, "⅜": 0.375, "⅝": 0.625, "⅞": 0.875}
_NUMBER_WORDS = dict(zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)) | {
    "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
}  # fmt: skip
_DOLLARS = frozenset({"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD"})
_CROWNS = frozenset({"CZK", "SEK", "NOK", "DKK", "ISK", "crowns"})
_MONEY = frozenset(_SYMBOLS.values()) | frozenset(_CODES) | frozenset(_CURRENCY_WORDS.values())
_LONGEST = 18  # integer digits; a longer run is an account number or garbage, and would not be exact as a float


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_SPACE = "[ \\t\u00a0\u2007\u2009\u202f]"
_GAP = rf"{_SPACE}{{0,3}}+(?:\r?\n{_SPACE}{{0,3}}+)?+"  # at most one line break between a number and what belongs to it
_MINUS = "-\u2010\u2011\u2012\u2013\u2212"
_CURRENCY = rf"(?:(?<![A-Za-z])(?:{_either([*(s for s in _SYMBOLS if s[0].isalpha()), *_CODES])})|{_either(s for s in _SYMBOLS if not s[0].isalpha())})"
_SCALE_WORD = r"(?:thousand|million|billion|trillion|crore|lakh|lac)s?|mn|mln|mil|bn|bln|tn|trn|crs?"
_NATION = r"(?:US|U\.S\.|Australian|Canadian|Hong Kong|Singapore|New Zealand|Indian|Malaysian|Czech|Danish|Norwegian|Swedish|Swiss)"
_CURRENCY_WORD = rf"(?:{_NATION} )?(?P<money_word>{_either(_CURRENCY_WORDS)})(?:e?s)?"
_POINTS = r"(?:percentage|percent|per ?cent|%)[\s-]{0,2}points?\b|ppts?\b|pp\b(?!\.? ?[0-9])|p\.p\."
_BASIS = r"basis[\s-]{1,2}points?\b|bps?\b"
_PERCENT = r"(?<!\n)%|per\s{0,2}cent\b|percent\b|pct\b"
_UNIT_AHEAD = rf"{_GAP}(?i:%|per\s{{0,2}}cent|percent|basis|bps?\b|pp\b|(?:{_SCALE_WORD})\b)"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)(?![a-z])"
)
_YEAR = "(?:19|20)[0-9]{2}"
_NO_YEAR = rf"%|{_SPACE}{{0,3}}+(?:basis|bps?\b|(?i:{_SCALE_WORD})\b|(?:{_either(_CODES)})\b)"  # but "2022 Percent" and "2020 % Change" are heads

_NUMBER = re.compile(
    r"(?:(?<![A-Za-zÀ-ɏ0-9])(?<![A-Za-z0-9]\.)|(?<=RM)|(?<=Rs)|(?<=[Rr]s\.)|(?<=[A-Z]{3}))"  # RM2.3, USD422: "FY2018" is masked, "ABC12" refused
    r"(?:(?P<mixed>(?:[0-9]{1,2}[- ])?[1357]/[248](?![0-9/])(?=\s{0,2}(?i:per|%|to\b|and\b|point)))"
    rf"|(?P<spaced>[0-9]{{1,3}}(?: [0-9]{{3}}){{1,4}}+(?! ?[0-9]))(?P<spaced_decimals>\.[0-9]{{1,12}}+)?"
    r"|(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,5}+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}(?=,)){1,6}+,[0-9]{3}(?![0-9])"
    "|[0-9]{1,3}(?:[\u00a0\u2007\u2009\u202f][0-9]{3}){1,5}+(?![0-9])|[0-9]{1,3}(?:['’][0-9]{3}){1,5}+(?![0-9])|[0-9]++)"
    rf"(?:(?P<decimals>\.[0-9]++)|(?P<comma>,[0-9]{{1,2}}+(?![0-9,]))(?={_UNIT_AHEAD})|(?P<vulgar>[¼½¾⅓⅔⅛⅜⅝⅞]))?"
    r"|(?P<point>\.[0-9]++)|(?P<fraction>[¼½¾⅓⅔⅛⅜⅝⅞]))"
)
_FIRST_GROUP = re.compile(r"(?P<whole>[0-9]++)(?P<decimals>\.[0-9]++)?")
_BEFORE = re.compile(
    rf"(?P<outer>\( ?)?(?P<minus>\([{_MINUS}]\)|[{_MINUS}])?(?P<space> ?)(?P<currency>{_CURRENCY})?{_GAP}(?P<minus2>[{_MINUS}])?(?P<inner>\( ?)?\Z"
)
_BEFORE_LONGEST = 20  # characters: the longest currency mark with sign, brackets and a line break
_AFTER = re.compile(
    rf"(?:{_GAP}|-)(?:(?P<points>{_POINTS})|(?P<basis>{_BASIS})|(?P<percent>{_PERCENT})"
    rf"|(?P<scale>{_SCALE_WORD})(?:\s{{1,2}}(?P<scale2>{_SCALE_WORD}))?(?![A-Za-z]))",
    re.IGNORECASE,
)
_LETTER_SCALE = re.compile(r" ?(?P<letter>[kKmMbB])(?![A-Za-z0-9²³])")
_BARE_LETTER_SCALE = re.compile(r"(?P<letter>[km])(?![A-Za-z0-9²³])")  # without a currency "194K" and "10 m" are something else
_MONEY_AFTER = re.compile(rf"{_GAP}(?:(?P<code>{_either(_CODES)})(?![A-Za-z])|(?i:{_CURRENCY_WORD})(?![A-Za-z])|(?P<slash>/-))")
_TIMES = re.compile(r"[x×](?![A-Za-z0-9])|(?: times\b)")
_GLUED = re.compile(r"[A-Za-z](?![A-Za-z])|[A-Za-z]++[0-9]|(?!MW|GW|KW|TW|CC|KG|KM|MT|GB|TB)[A-Z]{2,3}(?![A-Za-z])")  # "194J", "7f3a", "24x7": names of things, not amounts

_NOT_AMOUNTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:https?://|www\.)\S++|(?<![\w.+-])[\w.+-]++@[\w.-]++",
        r"(?<![\w.-])[\w.-]+\.(?:pdf|PDF)\b",
        r"[\[⟦] ?S[0-9]{1,4}(?:-[0-9A-Za-z]{1,12})?(?:[,;] ?S[0-9]{1,4}(?:-[0-9A-Za-z]{1,12})?){0,20}+ ?[\]⟧]|\bS[0-9]{1,4}-[0-9a-f]{4,8}\b",
        r"\[[0-9]{1,3}(?:[,–-] ?[0-9]{1,3}){0,9}+\]",
        rf"\b{_MONTH}\.?[ \u00a0]{{1,2}}[0-9]{{1,2}}(?:st|nd|rd|th)?(?:[-–][0-9]{{1,2}})?(?![0-9]|[.,][0-9])(?!{_UNIT_AHEAD})",
        rf"(?<![0-9.,$])[0-3]?[0-9](?:[-–][0-3]?[0-9])?(?:st|nd|rd|th)?[ \u00a0]{{1,2}}{_MONTH}|[0-3]?[0-9]-{_MONTH}-(?:20)?[0-9]{{2}}",
        rf"(?<![0-9./-]){_YEAR}-[01][0-9]-[0-3][0-9](?![0-9])|(?<![0-9./])[0-9]{{1,2}}([/.])[0-9]{{1,2}}\1(?:19|20)?[0-9]{{2}}(?![0-9])",
        r"(?<![0-9.,])[0-9]{1,4}(?:st|nd|rd|th)\b",
        r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){2,6}+\.?(?![0-9])",
        r"(?m)^[ \t>]{0,20}+(?:[-*•–][ \t]{1,3}+)?(?:\*\*|__)?[0-9]{1,3}+[.)](?:\*\*|__)?(?:[ \t]{1,5}+(?=\S)|[ \t]{0,5}+$)|(?<=: )[0-9]{1,3}\. (?=[A-Z])",
        r"(?<![0-9])[0-9]{1,2}-[A-Z]\b|(?<![0-9:.,])[0-9]{1,2}:[0-5][0-9](?![0-9])",
        rf"(?<=[A-Za-z])[-\u2011][0-9]{{1,4}}+(?![.,]?[0-9])(?!{_UNIT_AHEAD})",
        r"\b(?i:tables?|pages?|pp?\.|notes?|sections?|sub-?sections?|articles?|chapters?|box(?:es)?|charts?|figures?|fig\.|paragraphs?|paras?\.?"
        r"|footnotes?|annex(?:ure)?(?:es)?|appendix|schedules?|clauses?|exhibits?|items?|vol(?:ume|\.))(?: No\.)?[ \u00a0]?[(#]?"
        rf"[0-9]{{1,4}}(?:\.[0-9]{{1,3}}){{0,4}}+[A-Za-z]?(?![0-9,.]*[0-9])(?:[-–][0-9]{{1,4}}+(?![.,]?[0-9])|(?:\s(?:and|to|&)\s)[0-9]{{1,4}}+(?!{_UNIT_AHEAD})| of [0-9]{{1,4}}+)?"
        rf"(?!{_UNIT_AHEAD})",
        r"\b(?:Act|Rule|Level|Group|Phase|Stage|Tier|Part|Line|Form|Goal|Step|Basel|SDG|IFRS|IAS|AS|ASC|ASU|Topic|Regulation|No\.?|Nos\.|Grade|Class)"
        rf"[ \u00a0][0-9]{{1,4}}(?:-[0-9]{{1,3}})?(?![0-9,.]*[0-9])(?!{_UNIT_AHEAD})",
    )
)


def _years(name: str) -> str:
    """A year, or a range of years whose end may have two digits."""
    return rf"(?P<{name}>{_YEAR})(?:[-‐‑–/](?:\r?\n)?(?P<{name}_end>{_YEAR}|[0-9]{{2}})(?![0-9]))?"


_PERIOD = re.compile(
    r"(?<![A-Za-z0-9])(?<![0-9][.,])(?:"
    r"(?P<quarter>(?i:Q[1-4]|[1-4]Q|(?:first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter)(?:(?: of)?(?: fiscal)?(?: year)?|:|,|-| ?FY)? ?(?:"
    + _years("q")
    + r"|(?P<q2>[0-9]{2})(?![0-9.,%])))"
    rf"|(?P<backwards>(?P<b>{_YEAR})[ :-]?Q[1-4])"
    r"|(?P<fiscal>(?i:FY|fiscal year|financial year|fiscal)[ '’-]{0,2}(?:" + _years("f") + r"|(?P<f2>[0-9]{2})(?:[-–/](?P<f2_end>[0-9]{2}))?(?![0-9.,%])))"
    rf"|(?P<month>{_MONTH}[-'’](?P<m2>[0-9]{{2}}))"
    r"|(?P<calendar>(?:CY ?)?" + _years("y") + rf"(?![.,][0-9])(?!{_NO_YEAR})))(?![0-9A-Za-z])"
)  # fmt: skip
_NEAR_PERIOD = 120  # characters: a period further away than a long clause says nothing about a figure
_SENTENCE_END = re.compile(r"[.!?;]\s|\n\s*+\n")
_CONNECTOR = re.compile(rf"{_GAP}(?P<word>to|and|or|[-–—\u2011])(?: (?:a|about|around|from|over))?{_GAP}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Figure:
    """One amount as written: source[start:end] == text. value: with sign, without scale. scale: 1, 1e3, 1e5, 1e6, … 1e12.

    unit: currency code ("USD"; a plain "$" is "USD" too), "%", "percentage points", "basis points", "x" or None. percent: "percent",
    "points" (percentage and basis points) or None. period: as written nearby, or None. decimals: digits shown after the point.
    """

    text: str
    start: int
    end: int
    value: float
    unit: str | None = None
    scale: float = 1.0
    period: str | None = None
    percent: str | None = None
    decimals: int = 0

    @property
    def bare(self) -> bool:
        """A number without scale or percent kind, such as a table cell; it may have a currency."""
        return self.scale == 1.0 and self.percent is None and self.unit != "x"


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time as written. start_year, end_year: equal for one year; "FY2018" is 2018 both. kind: fiscal | calendar | quarter."""

    text: str
    start: int
    end: int
    start_year: int
    end_year: int
    kind: str


@dataclass(frozen=True, slots=True)
class ScaleMark:
    """A line such as "(in millions)" or "(Per cent)". unit: as in Figure. exceptions: it says "except …". until: where it stops governing, or None."""

    start: int
    end: int
    scale: float
    unit: str | None
    exceptions: bool = False
    until: int | None = None


def find_figures(text: str) -> list[Figure]:
    """All amounts and counts in order, without overlap. Years, dates, references, list numbers and citation keys are not amounts. Never raises."""
    masked = _masked(text)
    found: list[Figure] = []
    position = floor = 0
    while match := _NUMBER.search(masked, position):
        figure, position = _read(text, masked, match, floor)
        if figure is not None:
            found.append(figure)
            floor = figure.end
    return _with_periods(_sharing_units(found, text), text)


def find_periods(text: str) -> list[Period]:
    """Years, fiscal years, quarters and ranges of years in order. "2024-25" and "2025/26" are fiscal, "2018-2020" is calendar."""
    return [period for match in _PERIOD.finditer(text) if (period := _period(text, match)) is not None]


def magnitude(figure: Figure) -> float:
    """value · scale; basis points as percentage points, so that 25 basis points are 0.25."""
    return figure.value * figure.scale * (0.01 if figure.unit == "basis points" else 1.0)


def units_agree(left: Figure, right: Figure) -> bool:
    """Whether neither states a currency that the other contradicts. A plain "$" agrees with every dollar, "crowns" with every crown."""
    one, other = left.unit, right.unit
    if one == other or one not in _MONEY or other not in _MONEY:
        return True
    if one in _DOLLARS and other in _DOLLARS:
        return not (_names_its_dollar(left) and _names_its_dollar(right))
    return "crowns" in (one, other) and one in _CROWNS and other in _CROWNS


def same_value(a: Figure, b: Figure, *, rounding: bool = False) -> bool:
    """Whether two figures state one value: sign, scale, currency and percent kind included ("1,577 million" is "1.577 billion").

    rounding: a may be b rounded to the digits that a shows (4.5 billion of 4,512 million); trailing zeros of a whole number count
    as not shown beyond its first two digits (280,000 of 279,512).
    """
    if a.percent != b.percent or not units_agree(a, b):
        return False
    one, other = magnitude(a), magnitude(b)
    if math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15):
        return True
    return rounding and abs(one - other) <= _shown_step(a) / 2 * (1 + 1e-9)


def scale_marks(text: str) -> list[ScaleMark]:
    """Lines and heads that give bare cells their scale or unit, in order: "(in millions)", "₹ crore", "$m", "RM'000", "(Per cent)"."""
    marks: list[ScaleMark] = []
    for match in _MARK.finditer(text):
        if marks and match.start() < marks[-1].end:
            continue
        line_end = text.find("\n", match.end(), match.end() + 300)
        line = text[match.end() : line_end if line_end >= 0 else match.end() + 300]
        local = line_end if line_end >= 0 and find_figures(line) else None
        marks.append(ScaleMark(match.start(), match.end(), _mark_scale(match), _mark_unit(match), "except" in line[:80].lower(), local))
    return marks


def passage_scale(text: str) -> tuple[float, str | None]:
    """Scale and unit of the passage's bare cells: its first mark with a scale that governs more than a line, else its first mark, else (1.0, None)."""
    marks = sorted(scale_marks(text), key=lambda mark: (mark.scale == 1.0, mark.until is not None))
    return (marks[0].scale, marks[0].unit) if marks else (1.0, None)


def governing_mark(marks: list[ScaleMark], position: int) -> ScaleMark | None:
    """The nearest mark before a position that still governs there; marks in order, as scale_marks gives them."""
    for mark in reversed(marks[: bisect_left(marks, position, key=lambda mark: mark.end)]):
        if mark.until is None or position < mark.until:
            return mark
    return None


def figure_at(figures: list[Figure], position: int) -> Figure | None:
    """The figure that covers a position, or None; figures in order."""
    index = bisect_left(figures, position + 1, key=lambda figure: figure.start) - 1
    return figures[index] if index >= 0 and position < figures[index].end else None


def other_readings(text: str) -> list[Figure]:
    """What find_figures does not claim but a page can mean: "9 905" as 9905, a year-like cell "2042", "twelve", "one lakh". May overlap."""
    found = [_plain(text, start, end) for start, end in _spaced_windows(text)]
    found += [_plain(text, match.start(), match.end()) for match in _YEAR_CELL.finditer(text)]
    for match in _WORD_NUMBER.finditer(text):
        scale = _scale(match["scale"]) if match["scale"] else 1.0
        kind = "percent" if match["percent"] else None
        unit = "%" if kind else None
        found.append(Figure(match[0], match.start(), match.end(), float(_NUMBER_WORDS[match["word"].lower()]), unit, scale, None, kind))
    return found


# ---------------------------------------------------------------- reading one figure


def _masked(text: str) -> str:
    """The text with everything that only looks like an amount blanked out, at equal length."""
    for pattern in _NOT_AMOUNTS:
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    pieces: list[str] = []
    position = 0
    for period in find_periods(text):
        pieces += [text[position : period.start], "\0" * (period.end - period.start)]
        position = period.end
    return "".join([*pieces, text[position:]])


class _Tail(NamedTuple):
    """What follows the digits. inside: where it ends within brackets that close there, else the same as end."""

    unit: str | None
    scale: float
    percent: str | None
    inside: int
    end: int
    closed: bool


def _read(source: str, text: str, match: re.Match[str], floor: int) -> tuple[Figure | None, int]:
    """The figure whose digits are matched in the masked text, and where to look on. floor: where the figure before ends."""
    before = _before(text, match.start(), floor)
    digits = match
    if match["spaced"] and not (before["currency"] or _scaled_or_money(text, match.end())):
        digits = _FIRST_GROUP.match(text, match.start()) or match
    value, decimals = _value(digits)
    tail = _tail(text, digits.end(), before)
    negative = None if math.isnan(value) or _is_name(text, before, tail) else _negative(text, before, tail)
    if negative is None:
        return None, digits.end()
    currency = before["currency"] if before["currency"] != "`" or text[tail.inside : tail.inside + 1] != "`" else None  # `91.5` is code
    unit = tail.unit or (_SYMBOLS.get(currency, currency) if currency else None)
    start = _start(before, tail.closed) if negative else before.start("currency") if currency else digits.start()
    end = tail.end if negative else tail.inside
    return Figure(source[start:end], start, end, -value if negative else value, unit, tail.scale, None, tail.percent, decimals), end


def _before(text: str, position: int, floor: int) -> re.Match[str]:
    """Sign, brackets and currency before the digits."""
    start = max(floor, position - _BEFORE_LONGEST)
    if not text[start:position].strip():
        start = position  # the short way for rows of cells
    before = _BEFORE.search(text, start, position)
    assert before is not None  # every part of the pattern is optional
    return before


def _tail(text: str, position: int, before: re.Match[str]) -> _Tail:
    """Unit and scale, inside or behind closing brackets: "(2.0%)", "(2.0)%", "(91.5) million"."""
    following = text[position : position + 4].lstrip()[:1]
    if following.isdigit() or following in ",;":
        return _Tail(None, 1.0, None, position, position, False)  # the short way for rows of cells
    has_currency = bool(before["currency"])
    unit, scale, percent, end = _unit_after(text, position, has_currency)
    if not (before["outer"] or before["inner"]) or not text[end : end + 2].lstrip(" ").startswith(")"):
        return _Tail(unit, scale, percent, end, end, False)
    inside, end = end, text.index(")", end) + 1
    if unit is None and scale == 1.0:
        unit, scale, percent, end = _unit_after(text, end, has_currency)
    return _Tail(unit, scale, percent, inside, end, True)


def _is_name(text: str, before: re.Match[str], tail: _Tail) -> bool:
    """Letters that are no unit touch the digits: "ABC12", "194J", "7f3a"."""
    if before["currency"]:
        return False
    behind = text[before.end() - 1 : before.end()]
    return behind.isalpha() or (tail.unit is None and tail.scale == 1.0 and _GLUED.match(text, tail.inside) is not None)


def _start(before: re.Match[str], closed: bool) -> int:
    """Where a negative figure begins: at its bracket, sign or currency."""
    names = [name for name in ("outer", "minus", "currency", "minus2", "inner") if before[name] and (closed or name not in ("outer", "inner"))]
    return before.start(names[0])


def _value(match: re.Match[str]) -> tuple[float, int]:
    """Value and digits after the point; not-a-number for what is too long or starts with a needless zero."""
    written, form = match[0], match.lastgroup
    if form == "mixed":
        whole, _, fraction = written.replace("-", " ").rpartition(" ")
        above, below = fraction.split("/")
        return float(whole or 0) + int(above) / int(below), 2
    if form in ("fraction", "vulgar"):
        return float(re.sub("[^0-9]", "", written) or 0) + _VULGAR[written[-1]], 2
    whole, _, decimals = written.rpartition(",") if form == "comma" else written.partition(".")
    if not whole.isdigit():
        whole = re.sub("[^0-9]", "", whole) or "0"
    if len(whole) > _LONGEST or len(decimals) > _LONGEST or (len(whole) > 1 and whole[0] == "0"):
        return math.nan, 0
    return float(f"{whole}.{decimals}"), len(decimals)


def _scaled_or_money(text: str, position: int) -> bool:
    after = _AFTER.match(text, position)
    return bool((after and after["scale"]) or _MONEY_AFTER.match(text, position))


def _unit_after(text: str, position: int, has_currency: bool) -> tuple[str | None, float, str | None, int]:
    """Unit, scale, percent kind and end of what follows the digits."""
    if after := _AFTER.match(text, position):
        if after["scale"] is None:
            kinds = (("points", "percentage points"), ("basis", "basis points"), ("percent", "%"))
            name, unit = next((name, unit) for name, unit in kinds if after[name])
            return unit, 1.0, "percent" if name == "percent" else "points", after.end()
        money = _MONEY_AFTER.match(text, after.end())
        return _money(money), _scale(after["scale"]) * _scale(after["scale2"]), None, money.end() if money else after.end()
    if letter := (_LETTER_SCALE if has_currency else _BARE_LETTER_SCALE).match(text, position):
        money = _MONEY_AFTER.match(text, letter.end())
        return _money(money), _LETTER_SCALES[letter["letter"].lower()], None, money.end() if money else letter.end()
    if times := _TIMES.match(text, position):
        return "x", 1.0, None, times.end()
    money = _MONEY_AFTER.match(text, position)
    return _money(money), 1.0, None, money.end() if money else position


def _money(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    if match["slash"]:
        return "INR"  # "50,000/-" is how rupees are closed in Indian papers
    return str(match["code"]) if match["code"] else _CURRENCY_WORDS[match["money_word"].lower()]


def _scale(word: str | None) -> float:
    return _SCALES[word.lower()] if word and word.lower() in _SCALES else _SCALES[word.lower().rstrip("s")] if word else 1.0


def _negative(text: str, before: re.Match[str], tail: _Tail) -> bool | None:
    """The sign; None where a bracketed number only counts items, as in "(3) faster returns"."""
    if tail.closed:
        return _bracket_negative(text, before, tail)
    if before["minus2"]:
        return before["currency"] is not None or _attached_minus(text, before.start("minus2"))
    if not before["minus"]:
        return False
    if before["minus"].startswith("("):
        return True
    if before.end("minus") == (before.start("currency") if before["currency"] else before.end()):
        return _attached_minus(text, before.start("minus"))
    return _spaced_minus(text, before.start("minus"), tail.end)


def _attached_minus(text: str, position: int) -> bool:
    """A sign that touches its number is a minus unless it also touches what stands before it: "2-6" is a range."""
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in "%)]\0")


def _spaced_minus(text: str, position: int, end: int) -> bool:
    """ "52.2 - 91.5 0.9" in a row of cells is a minus; "10 - 20 people", "a - b = c" and a list dash before words are not."""
    left = text[max(0, position - 40) : position]
    right = text[end : end + 60].split("\n")[0]
    same_line = left.rsplit("\n", 1)[-1].rstrip()
    if not same_line and ("\n" in left or position <= 40):
        return not any(character.isalpha() or character == "=" for character in right)
    if "=" in right or "=" in same_line:
        return False
    if same_line and same_line[-1] in "(:[,|":
        return True
    if re.match(rf"[ \t]{{1,3}}(?:{_CURRENCY} ?)?[({_MINUS}]? ?[0-9]", right):
        return True
    return not right.strip() and re.search(rf"[0-9)] [ ($\0{_MINUS}]{{0,4}}[0-9][0-9.,]{{0,15}}\)?\Z", same_line) is not None


def _bracket_negative(text: str, before: re.Match[str], tail: _Tail) -> bool | None:
    """Accounting brackets are a minus; a bracketed aside in prose, "the deficit (4.4%) fell", is not."""
    opening = before.start("outer") if before["outer"] else before.start("inner")
    content = text[before.end() : tail.inside]
    closing = text.index(")", tail.inside) + 1
    if (before["currency"] and before["inner"]) or tail.end > closing:
        return True
    if any(character.isalpha() for character in content):
        return False
    left = text[max(0, opening - 3) : opening].rstrip()
    right = text[closing : closing + 4].lstrip()[:1]
    wraps = "\n" in text[closing : closing + 3]
    in_prose = right.islower() or (not wraps and right in tuple(",.;:"))
    if in_prose and content.isdigit() and len(content) <= 2 and not before["currency"] and not (left and left[-1].isdigit()):
        return None
    return not (in_prose and left and left[-1].isalpha())


# ---------------------------------------------------------------- what figures take from their neighbours


def _sharing_units(figures: list[Figure], text: str) -> list[Figure]:
    """ "2 to 3 percent", "between $4 and 5 billion": the figure without a unit takes it from its partner."""
    shared = list(figures)
    for index in range(len(shared) - 2, -1, -1):
        first, second = shared[index], shared[index + 1]
        shareable = second.percent or second.scale > 1 or first.unit
        link = _CONNECTOR.fullmatch(text, first.end, second.start) if shareable and second.start - first.end <= 24 else None
        if link:
            shared[index], shared[index + 1] = _shared_pair(first, second, link["word"].lower() in ("and", "or"))
    return shared


def _shared_pair(first: Figure, second: Figure, loose: bool) -> tuple[Figure, Figure]:
    """loose: joined by "and" or "or", which join unlike things as well."""
    if second.percent and first.bare and first.unit is None:
        return replace(first, unit=second.unit, percent=second.percent), second
    if first.bare and second.scale > 1 and first.value <= second.value and (first.unit == second.unit or (first.unit and not second.unit)):
        first = replace(first, scale=second.scale) if first.unit or not loose else first
    if first.unit in _MONEY and second.unit is None and second.percent is None and (second.scale > 1 or not loose):
        second = replace(second, unit=first.unit)
    return first, second


def _with_periods(figures: list[Figure], text: str) -> list[Figure]:
    """Each figure with the period nearest to it within its sentence."""
    periods = find_periods(text)
    if not periods:
        return figures
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    starts = [period.start for period in periods]
    near = [(figure, _nearest(text, figure, periods, starts, ends)) for figure in figures]
    return [replace(figure, period=period) if period else figure for figure, period in near]


def _nearest(text: str, figure: Figure, periods: list[Period], starts: list[int], ends: list[int]) -> str | None:
    """The nearer of the periods before and after; one in brackets right after, as in "47.16 (RE 2024-25)", is nearest of all."""
    index = bisect_left(starts, figure.start)
    near = [(figure.start - period.end, period) for period in periods[max(0, index - 1) : index]]
    for period in periods[index : index + 1]:
        distance = period.start - figure.end
        own = text[period.end : period.end + 1] == ")" and text[figure.end : figure.end + 2].lstrip().startswith("(") and distance < 12
        near.append((-1 if own else distance, period))
    sentence = bisect_left(ends, figure.start)
    same = [pair for pair in near if pair[0] <= _NEAR_PERIOD and bisect_left(ends, pair[1].start) == sentence]
    return min(same, key=lambda pair: pair[0])[1].text if same else None


def _period(text: str, match: re.Match[str]) -> Period | None:
    groups = match.groupdict()
    if groups["calendar"] and re.search(rf"{_CURRENCY}{_GAP}\Z", text[max(0, match.start() - 8) : match.start()]):
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


def _full_year(digits: str) -> int:
    """Two digits are this century up to 69, as POSIX reads them."""
    year = int(digits)
    return year if year > 99 else year + (2000 if year < 70 else 1900)


# ---------------------------------------------------------------- scale lines

_MARK_MONEY = rf"(?:{_CURRENCY}|(?i:\b{_CURRENCY_WORD}))".replace("(?P<money_word>", "(?:")
_MARK_SCALE = r"(?i:lakh crores?|thousands?|millions?|billions?|trillions?|crores?|lakhs?|lacs?|mn|mln|mil|bn|bln|tn)"
_MARK = re.compile(
    # "in millions", "dollars in millions", "in thousands of U.S. dollars", "in RM million", "Rs. in crore"
    rf"(?:(?P<m1>{_MARK_MONEY})(?: and shares)?[ \u00a0])?\b[Ii][Nn][ \u00a0](?:(?P<m2>{_MARK_MONEY})[ \u00a0]?)?"
    r"(?P<s1>(?i:lakh crores?|thousands|millions|billions|trillions|crores|lakhs|lacs|000['’]?s)|(?i:million|billion|thousand|crore|lakh|bn|mn)(?=[ \u00a0]?(?:[)\r\n:,]|\Z)))"
    rf"(?![A-Za-z])(?:[ \u00a0]of[ \u00a0](?P<m3>{_MARK_MONEY})|(?![ \u00a0]of\b))"
    # "RM million", "(₹ Lakh crore)", "$m", "US$ bn", "crowns million", "$'000"
    rf"|(?<![0-9])(?<![0-9][ \u00a0])(?P<m4>{_MARK_MONEY})[ \u00a0]?(?:(?P<s2>{_MARK_SCALE})|(?P<letter>[mMbk])|(?P<zeros>['’‘]?000s?))(?![A-Za-z0-9,.])"
    # "(Thousands)", "(million crowns)", "Millions of dollars" at the start of a line
    rf"|(?:(?<=\()|(?<=\n)|\A)(?P<s3>{_MARK_SCALE})[ \u00a0](?:of[ \u00a0])?(?P<m5>{_MARK_MONEY})(?=[ \u00a0]?[)\r\n,])|\((?P<s4>{_MARK_SCALE})\)"
    r"|(?P<thousands>\((?i:in )?['’‘]?000['’]?s?\))"
    # "(Per cent)", "(in percent of GDP)", "(y/y, %)", "Variation (Percentage Points)"
    r"|\((?:[^()\n0-9%]{0,30}[, \u00a0])??(?:[Ii]n[ \u00a0])?(?:(?P<points>(?i:percentage[ \u00a0]points?|ppts?|pp))|(?P<basis>(?i:basis[ \u00a0]points?|bps))"
    r"|(?P<percent>%|(?i:per[ \u00a0]?cent|percentage)))(?:[ \u00a0,;][^()\n0-9]{0,40})?\)"
)


def _mark_scale(match: re.Match[str]) -> float:
    if match["thousands"] or match["zeros"]:
        return 1e3
    if match["letter"]:
        return _LETTER_SCALES[match["letter"].lower()]
    words = (match["s1"] or match["s2"] or match["s3"] or match["s4"] or "").lower().replace("\u00a0", " ")
    return 1e3 if words.startswith("000") else math.prod((_scale(word) for word in words.split()), start=1.0)


def _mark_unit(match: re.Match[str]) -> str | None:
    for name, unit in (("points", "percentage points"), ("basis", "basis points"), ("percent", "%")):
        if match[name]:
            return unit
    money = next((match[name] for name in ("m1", "m2", "m3", "m4", "m5") if match[name]), None)
    if money is None or money in _SYMBOLS or money in _CODES:
        return _SYMBOLS.get(money, money) if money else None
    return next(unit for word, unit in _CURRENCY_WORDS.items() if word in money.lower())


# ---------------------------------------------------------------- readings that are merely possible

_SPACED_RUN = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3}){1,40}+(?![0-9])")
_YEAR_CELL = re.compile(rf"(?<![\w.,/-]){_YEAR}(?![\w/-]|[.,][0-9])")
_WORD_NUMBER = re.compile(
    rf"\b(?P<word>{_either(_NUMBER_WORDS)})(?:[ -](?P<scale>thousand|million|billion|trillion|lakh|crore)|[ \n](?P<percent>per ?cent))?\b", re.IGNORECASE
)


def _plain(text: str, start: int, end: int) -> Figure:
    written = text[start:end]
    negative = text[max(0, start - 2) : start].rstrip(" ")[-1:] in ("-", "\u2212", "(")
    return Figure(written, start, end, float(written.replace(" ", "")) * (-1 if negative else 1))


def _spaced_windows(text: str) -> Iterator[tuple[int, int]]:
    """Every two, three or four neighbouring groups of a run such as "9 905 410 205"."""
    for run in _SPACED_RUN.finditer(text):
        groups = [(match.start(), match.end()) for match in re.compile("[0-9]++").finditer(text, run.start(), run.end())]
        for first in range(len(groups)):
            yield from ((groups[first][0], groups[last][1]) for last in range(first + 1, min(first + 4, len(groups))))


def _shown_step(figure: Figure) -> float:
    """The worth of one unit in the last digit that a figure shows."""
    scale = figure.scale * (0.01 if figure.unit == "basis points" else 1.0)
    if figure.decimals:
        return float(scale * 10.0**-figure.decimals)
    digits = f"{abs(figure.value):.0f}"
    return float(scale * 10.0 ** max(0, min(len(digits) - len(digits.rstrip("0")), len(digits) - 2)))


def _names_its_dollar(figure: Figure) -> bool:
    return re.search(r"[A-Z]\.?\$|[A-Z]{3}|[A-Z][a-z.S]* ?[A-Z]?[a-z]* dollar", figure.text) is not None
