"""Knows how amounts are written in financial prose and tables; knows no page, question or answer, and not
what an amount is about.

Of digits only ASCII ones are read. Plain spaces group thousands only beside a currency or a scale word ("RM 1
234 567", "9 905 million") or within a sentence ("of 9 300 nurses"), because "136 218 263" is more often three
cells than one number; no-break and thin spaces always group. "1.234.567" is taken for a section number. The
file is longer than 300 lines because sign, brackets, currency, scale and unit are one decision.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from ingestion.language.currencies import (
    CODE,
    CURRENCY,
    CURRENCY_WORD,
    LETTER_SIGNS,
    LETTERS,
    MONEY,
    currency_of,
    family_of,
)
from ingestion.language.numbers.not_amounts import masked
from ingestion.language.numbers.spelled import find_spelled
from ingestion.language.periods import Period, find_periods
from ingestion.language.scales import BARE_LETTER_SCALE, LETTER_SCALE, LETTER_SCALES, SCALE_WORD, scale_of
from ingestion.language.sentences import sentence_spans
from ingestion.language.units import BASIS, GAP, MINUS, PERCENT, POINTS, SPACE, UNIT_AHEAD
from ingestion.language.vocabulary import either

__all__ = ["Figure", "find_figures", "magnitude", "same_value", "units_agree"]


_VULGAR = {
    "¼": 0.25,
    "½": 0.5,
    "¾": 0.75,
    "⅓": 1 / 3,
    "⅔": 2 / 3,
    "⅛": 0.125,
    "⅜": 0.375,
    "⅝": 0.625,
    "⅞": 0.875,
}

_LONGEST = (
    18  # integer digits; a longer run is an account number or garbage, and would not be exact as a float
)


_LETTERS = "".join(LETTERS)
_TOUCHING = "|".join(f"(?<={re.escape(sign)})" for sign in LETTER_SIGNS)
# Letters may touch the digits of RM2.3, USD422, R50.3: "FY2018" is masked, "ABC12" refused.
_NUMBER = re.compile(
    r"(?:(?<![A-Za-zÀ-ɏ0-9])(?<![A-Za-z0-9]\.)(?<![A-Za-z][0-9],)(?<![A-Za-z][0-9]{2},)"
    r"(?<![A-Za-z][0-9]{3},)|"
    rf"{_TOUCHING}|(?<=[A-Z]{{3}})|(?<=\W[{_LETTERS}])|(?<=\A[{_LETTERS}]))"
    r"(?:(?P<mixed>(?:[0-9]{1,2}[- ])?[1357](?:/[248](?![0-9/])(?=\s{0,2}(?i:per|%|to\b|and\b|point))"
    r"|⁄[248](?![0-9])))"
    rf"|(?P<spaced>[0-9]{{1,3}}(?: [0-9]{{3}}){{1,4}}+(?! ?[0-9]))(?P<spaced_decimals>\.[0-9]{{1,12}}+)?"
    r"|(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,5}+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}(?=,)){1,6}+,[0-9]{3}(?![0-9])"
    "|[0-9]{1,3}(?:[\u00a0\u2007\u2009\u202f][0-9]{3}){1,5}+(?![0-9])|[0-9]{1,3}(?:['’][0-9]{3}){1,5}+(?![0-9])|[0-9]++)"
    rf"(?:(?P<decimals>\.[0-9]++)|(?P<comma>,[0-9]{{1,2}}+(?![0-9,]))(?={UNIT_AHEAD})"
    rf"|(?P<vulgar>[¼½¾⅓⅔⅛⅜⅝⅞]))?"
    r"|(?<![A-Za-z])(?P<point>\.[0-9]++)|(?P<fraction>[¼½¾⅓⅔⅛⅜⅝⅞]))"
)
_FIRST_GROUP = re.compile(r"(?P<whole>[0-9]++)(?P<decimals>\.[0-9]++)?")
_BEFORE = re.compile(
    rf"(?P<outer>\( ?)?(?P<minus>\([{MINUS}]\)|[{MINUS}])?(?P<space> ?)(?P<currency>{CURRENCY}"
    rf"|(?<!\w)(?:{either(LETTERS)})(?=\Z))?{GAP}"
    rf"(?P<minus2>[{MINUS}])?(?P<inner>\( ?)?\Z"
)
_BEFORE_LONGEST = 20  # characters: the longest currency mark with sign, brackets and a line break
# "12" and below it "Percent of revenue": a capital begins something else
_NEXT_LINE = rf"{SPACE}{{0,3}}\r?\n{SPACE}{{0,3}}[A-Z]"
_AFTER = re.compile(
    rf"(?-i:(?!{_NEXT_LINE}))(?:{GAP}|-)(?:(?P<points>{POINTS})|(?P<basis>{BASIS})|(?P<percent>{PERCENT})"
    rf"|(?P<scale>{SCALE_WORD})(?:\s{{1,2}}(?P<scale2>{SCALE_WORD}))?(?![A-Za-z]))",
    re.IGNORECASE,
)
_LETTER_SCALE = re.compile(rf" ?(?P<letter>(?i:{LETTER_SCALE}))(?![A-Za-z0-9²³])")
_BARE_LETTER_SCALE = re.compile(
    rf"(?P<letter>{BARE_LETTER_SCALE})(?![A-Za-z0-9²³])"
)  # without a currency "194K" and "10 m" are something else
_MONEY_AFTER = re.compile(
    rf"(?!{_NEXT_LINE}){GAP}(?:(?P<code>{CODE})(?![A-Za-z])|(?i:{CURRENCY_WORD})(?![A-Za-z-])"
    rf"|(?P<slash>/-(?![0-9])))"
)
# "was minus 40 million"; in "revenue minus 40 million" and "plus or minus 25 basis points" the word is an
# operator, or no sign.
_SAID_MINUS = re.compile(
    rf"(?:\A|[(:;,|=\n]|[{MINUS}+*/×÷](?=\s)|\b(?:was|were|is|are|be|been|at|of|to|from|by|and|an?|about"
    rf"|around|nearly|roughly|only|stood|hit|than|between|below|under|above"
    r"|[a-z]{2,15}ed))\s{0,2}(?<!\w)(?P<word>[Mm]inus|[Nn]egative)\s{1,2}\Z"
)
_SAID_LONGEST = 32  # characters: the longest word before "negative", and it
# "The result was (0.5)": a balance, no aside, as "a fee of ($250)" is.
_SAYS_WHAT_IS = re.compile(r"\b(?:was|were|is|are) \Z")
# What makes a letter a currency without a scale: "R560 a month", "R1 250", "R12.50", other sure amounts in
# the text, or the words before it.
_FOR_EACH = re.compile(
    r"(?:\s(?:an?|per|each|every)\s|/)(?:day|week|month|quarter|year|annum|hour|person|child|learner"
    r"|pupil|patient|household|famil|unit|lit(?:re|er)|kilo|kg|km"
    r"|ton|bottle|pack|ticket|trip|head|share|capita)|\s(?:monthly|weekly|daily|yearly|annually)\b"
)
_PAID = re.compile(
    (
        r"\b(?:be|is|was|are|were|to|from|by|of|at|than|only|over|under|least|between|costs?|pays?|paid"
        r"|receives?|earns?)\s["
    )
    + _LETTERS
    + r"]\Z"
)
_NAME_AHEAD = re.compile(
    r"\s{0,2}(?:[A-Z][a-z]|(?i:notes?|coins?|road|route|motorway|highway|class|series)\b)|[-/][0-9A-Za-z]"
)
_NAME_BEHIND = re.compile(
    (
        r"\b(?i:models?|routes?|roads?|sections?|motorways?|highways?|types?|class|series|codes?|version"
        r"|refrigerants?|rooms?|grade)\s{1,2}["
    )
    + _LETTERS
    + r"]\Z"
)
_SURE_MONEY = {
    letter: re.compile(
        rf"(?<![A-Za-z0-9]){letter}[0-9]{{1,3}}(?:[ ,][0-9]{{3}}(?![0-9])"
        rf"|(?:[.,][0-9]{{1,3}})?[ \u00a0]?(?:{SCALE_WORD})\b)"
    )
    for letter in LETTERS
}
_FEWEST_DIGITS = 3  # of "to R560": "to R21" may be a road
# "of 9 300 nurses" in a sentence: rows of cells seldom stand between such words.
_COUNTING = re.compile(
    r"\b(?:of|to|from|by|about|over|than|some|nearly|almost|around|with|for|and|the|has|have|had|are"
    r"|were|was|is|employ(?:s|ed)?|hired?|additional|another)\s\Z"
)
_COUNTED = re.compile(r"\s[a-z]{3,}")
_TIMES = re.compile(r"[x×](?![A-Za-z0-9])|(?: times\b)")
_GLUED = re.compile(
    # "194J", "7f3a", "24x7": names of things
    r"[A-Za-z](?![A-Za-z])|[A-Za-z]++[0-9]|(?!MW|GW|KW|TW|CC|KG|KM|MT|GB|TB)[A-Z]{2,3}(?![A-Za-z])"
)


_NEAR_PERIOD = 120  # characters: a period further away than a long clause says nothing about a figure
_AT_ONCE = re.compile(
    r"[\s(]{0,3}(?:(?:in|for|of|during|by|at|on|over|as|the|year|end|fiscal|[A-Z]{1,3})[\s(-]{1,3}){0,4}"
)
_CONNECTOR = re.compile(
    rf"{GAP}(?P<word>to|and|or|[-–—\u2011])(?: (?:a|about|around|from|over))?{GAP}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One amount as written: source[start:end] == text. value: with sign, without scale. scale: 1, 1e3, 1e5,
    1e6, … 1e12.

    unit: currency code ("USD"; a plain "$" is "USD" too), "%", "percentage points", "basis points", "x" or
    None. percent: "percent", "points" (percentage and basis points) or None. period: as written nearby, or
    None. decimals: digits shown after the point.
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


def find_figures(text: str) -> list[Figure]:
    """All amounts and counts in order, without overlap. Years, dates, references, list numbers and citation
    keys are not amounts. Never raises.

    Of what is written out in words, amounts with a unit, durations and fractions: "four per cent", "nine
    years", "three fifths".
    """
    return list(_figures_of(text))


@lru_cache(maxsize=256)  # the checks of one answer look into the same sentences again and again
def _figures_of(text: str) -> tuple[Figure, ...]:
    amounts = masked(text)
    letters = frozenset(
        letter for letter, sure in _SURE_MONEY.items() if letter in amounts and sure.search(amounts)
    )
    found: list[Figure] = []
    position = floor = 0
    while match := _NUMBER.search(amounts, position):
        figure, position = _read((text, amounts), match, floor, letters)
        if figure is not None:
            found.append(figure)
            floor = figure.end
    if spelled := list(_spelled(text, amounts)):
        found = sorted([*found, *spelled], key=lambda figure: figure.start)
    return tuple(_with_periods(_sharing_units(found, text), text))


def magnitude(figure: Figure) -> float:
    """value · scale; basis points as percentage points, so that 25 basis points are 0.25."""
    return figure.value * figure.scale * (0.01 if figure.unit == "basis points" else 1.0)


def units_agree(left: Figure, right: Figure) -> bool:
    """Whether neither states a currency that the other contradicts. A plain "$" agrees with every dollar,
    "crowns" with every crown.
    """
    one = left.unit or ""
    other = right.unit or ""
    if one == other or one not in MONEY or other not in MONEY:
        return True
    family = family_of(one)
    if not family or family != family_of(other):
        return False
    if family == "dollars":
        return not (_names_its_dollar(left) and _names_its_dollar(right))
    return family in (one, other)


def same_value(a: Figure, b: Figure, *, rounding: bool = False) -> bool:
    """Whether two figures state one value: sign, scale, currency and percent kind included ("1,577 million"
    is "1.577 billion").

    rounding: a may be b rounded to the digits that a shows (4.5 billion of 4,512 million); trailing zeros of
    a whole number count as not shown beyond its first two digits (280,000 of 279,512).
    """
    if a.percent != b.percent or not units_agree(a, b):
        return False
    one = magnitude(a)
    other = magnitude(b)
    if math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-15):
        return True
    return rounding and abs(one - other) <= _shown_step(a) / 2 * (1 + 1e-9)


def _shown_step(figure: Figure) -> float:
    """The worth of one unit in the last digit that a figure shows."""
    scale = figure.scale * (0.01 if figure.unit == "basis points" else 1.0)
    if figure.decimals:
        return float(scale * 10.0**-figure.decimals)
    digits = f"{abs(figure.value):.0f}"
    return float(scale * 10.0 ** max(0, min(len(digits) - len(digits.rstrip("0")), len(digits) - 2)))


def _names_its_dollar(figure: Figure) -> bool:
    return re.search(r"[A-Z]\.?\$|[A-Z]{3}|[A-Z][a-z.S]* ?[A-Z]?[a-z]* dollar", figure.text) is not None


def _spelled(text: str, amounts: str) -> Iterator[Figure]:
    """The amounts in words. amounts: the text with what is none blanked out."""
    for one in find_spelled(amounts):
        if one.measured:
            unit, scale, percent, end = _unit_after(amounts, one.end, False)
        else:
            unit = None
            scale = 1.0
            percent = None
            end = one.end
        if unit or scale != 1.0:
            end = end
        else:
            end = one.end
        yield Figure(
            text[one.start : end], one.start, end, one.value, unit, scale, None, percent, one.decimals
        )


# ---------------------------------------------------------------- reading one figure


class _Tail(NamedTuple):
    """What follows the digits. inside: where it ends within brackets that close there, else the same as
    end.
    """

    unit: str | None
    scale: float
    percent: str | None
    inside: int
    end: int
    closed: bool


def _read(
    texts: tuple[str, str], match: re.Match[str], floor: int, letters: frozenset[str]
) -> tuple[Figure | None, int]:
    """The figure whose digits are matched in the masked text, and where to look on. texts: source and masked;
    floor: where the figure before ends.

    letters: those that are a currency elsewhere in the text.
    """
    source, text = texts
    before = _before(text, match.start(), floor)
    digits = match
    if match["spaced"] and not (
        before["currency"] or _scaled_or_money(text, match.end()) or _counts(text, match)
    ):
        digits = _FIRST_GROUP.match(text, match.start()) or match
    value, decimals = _value(digits)
    tail = _tail(text, digits.end(), before)
    letter = before["currency"] in LETTERS and tail.scale == 1.0 and "," not in digits[0]
    name = _is_name(text, before, tail) or (letter and not _is_money(text, digits, letters))
    if math.isnan(value) or name:
        negative = None
    else:
        negative = _negative(text, before, tail)
    if negative is None:
        return None, digits.end()
    currency = (
        before["currency"]
        if before["currency"] != "`" or text[tail.inside : tail.inside + 1] != "`"
        else None
    )  # `91.5` is code
    unit = tail.unit or (currency_of(currency) if currency else None)
    if negative:
        start = _start(before, tail.closed)
    else:
        if currency:
            start = before.start("currency")
        else:
            start = digits.start()
    end = tail.end if negative else tail.inside
    if not negative and (said := _SAID_MINUS.search(text, max(floor, start - _SAID_LONGEST), start)):
        start = said.start("word")
        negative = True
    return Figure(
        source[start:end],
        start,
        end,
        -value if negative else value,
        unit,
        tail.scale,
        None,
        tail.percent,
        decimals,
    ), end


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
    inside = end
    end = text.index(")", end) + 1
    if unit is None and scale == 1.0:
        unit, scale, percent, end = _unit_after(text, end, has_currency)
    return _Tail(unit, scale, percent, inside, end, True)


def _is_name(text: str, before: re.Match[str], tail: _Tail) -> bool:
    """Letters that are no unit touch the digits: "ABC12", "194J", "7f3a"."""
    if before["currency"]:
        return False
    behind = text[before.end() - 1 : before.end()]
    return behind.isalpha() or (
        tail.unit is None and tail.scale == 1.0 and _GLUED.match(text, tail.inside) is not None
    )


def _is_money(text: str, digits: re.Match[str], letters: frozenset[str]) -> bool:
    """Whether a letter that touches an unscaled amount is its currency, not part of a name such as "R50"."""
    first = digits.start()
    end = digits.end()
    if _NAME_BEHIND.search(text, max(0, first - 20), first):
        return False
    if _FOR_EACH.match(text, end) or " " in digits[0] or len(digits["decimals"] or "") == 2:
        return True
    if _GLUED.match(text, end) or _NAME_AHEAD.match(text, end) or len(digits[0]) < 2:
        return False
    enough = len(digits[0]) >= _FEWEST_DIGITS
    return text[first - 1] in letters or (
        enough and _PAID.search(text, max(0, first - 20), first) is not None
    )


def _counts(text: str, match: re.Match[str]) -> bool:
    """Whether groups of digits stand in a sentence: "the salaries of 9 300 health workers"."""
    return (
        _COUNTED.match(text, match.end()) is not None
        and _COUNTING.search(text, max(0, match.start() - 20), match.start()) is not None
    )


def _start(before: re.Match[str], closed: bool) -> int:
    """Where a negative figure begins: at its bracket, sign or currency."""
    names = [
        name
        for name in ("outer", "minus", "currency", "minus2", "inner")
        if before[name] and (closed or name not in ("outer", "inner"))
    ]
    return before.start(names[0])


def _value(match: re.Match[str]) -> tuple[float, int]:
    """Value and digits after the point; not-a-number for what is too long or starts with a needless zero."""
    written = match[0]
    form = match.lastgroup
    if form == "mixed":
        whole, _, fraction = written.replace("-", " ").rpartition(" ")
        above, below = re.split("[/⁄]", fraction)
        return float(whole or 0) + int(above) / int(below), 2
    if form in ("fraction", "vulgar"):
        return float(re.sub("[^0-9]", "", written) or 0) + _VULGAR[written[-1]], 2
    if form == "comma":
        whole, _, decimals = written.rpartition(",")
    else:
        whole, _, decimals = written.partition(".")
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
        return (
            _money(money),
            scale_of(after["scale"]) * scale_of(after["scale2"]),
            None,
            money.end() if money else after.end(),
        )
    if letter := (_LETTER_SCALE if has_currency else _BARE_LETTER_SCALE).match(text, position):
        money = _MONEY_AFTER.match(text, letter.end())
        return (
            _money(money),
            LETTER_SCALES[letter["letter"].lower()],
            None,
            money.end() if money else letter.end(),
        )
    if times := _TIMES.match(text, position):
        return "x", 1.0, None, times.end()
    money = _MONEY_AFTER.match(text, position)
    return _money(money), 1.0, None, money.end() if money else position


def _money(match: re.Match[str] | None) -> str | None:
    if match is None:
        return None
    if match["slash"]:
        return "INR"  # "50,000/-" is how rupees are closed in Indian papers
    return currency_of(match["code"] or match["money_word"])


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
    """A sign that touches its number is a minus unless it also touches what stands before it: "2-6" is a
    range.
    """
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in "%)]\0")


def _spaced_minus(text: str, position: int, end: int) -> bool:
    """ "52.2 - 91.5 0.9" in a row of cells is a minus; "10 - 20 people", "a - b = c" and a list dash
    before words are not.
    """
    left = text[max(0, position - 40) : position]
    right = text[end : end + 60].split("\n")[0]
    same_line = left.rsplit("\n", 1)[-1].rstrip()
    if not same_line and ("\n" in left or position <= 40):
        return not any(character.isalpha() or character == "=" for character in right)
    if "=" in right or "=" in same_line:
        return False
    if same_line and same_line[-1] in "(:[,|":
        return True
    if re.match(rf"[ \t]{{1,3}}(?:{CURRENCY} ?)?[({MINUS}]? ?[0-9]", right):
        return True
    return (
        not right.strip()
        and re.search(rf"[0-9)] [ ($\0{MINUS}]{{0,4}}[0-9][0-9.,]{{0,15}}\)?\Z", same_line) is not None
    )


def _bracket_negative(text: str, before: re.Match[str], tail: _Tail) -> bool | None:
    """Accounting brackets are a minus; a bracketed aside in prose, "the deficit (4.4%) fell", is not."""
    if before["outer"]:
        opening = before.start("outer")
    else:
        opening = before.start("inner")
    content = text[before.end() : tail.inside]
    closing = text.index(")", tail.inside) + 1
    if (before["currency"] and before["inner"]) or tail.end > closing:
        return True
    if any(character.isalpha() for character in content):
        return False
    left = text[max(0, opening - 3) : opening].rstrip()
    right = text[closing : closing + 4].lstrip()[:1]
    wraps = "\n" in text[closing : closing + 3]
    in_prose = right.islower() or (not wraps and right in tuple(",.;"))
    if (
        in_prose
        and content.isdigit()
        and len(content) <= 2
        and not before["currency"]
        and not (left and left[-1].isdigit())
    ):
        return None
    return (
        not (in_prose and left and left[-1].isalpha())
        or _SAYS_WHAT_IS.search(text, max(0, opening - 12), opening) is not None
    )


# ---------------------------------------------------------------- what figures take from their neighbours


def _sharing_units(figures: list[Figure], text: str) -> list[Figure]:
    """ "2 to 3 percent", "between $4 and 5 billion": the figure without a unit takes it from its partner."""
    shared = list(figures)
    for index in range(len(shared) - 2, -1, -1):
        first = shared[index]
        second = shared[index + 1]
        shareable = second.percent or second.scale > 1 or first.unit
        if shareable and second.start - first.end <= 24:
            link = _CONNECTOR.fullmatch(text, first.end, second.start)
        else:
            link = None
        if link:
            shared[index], shared[index + 1] = _shared_pair(
                first, second, link["word"].lower() in ("and", "or")
            )
    return shared


def _shared_pair(first: Figure, second: Figure, loose: bool) -> tuple[Figure, Figure]:
    """loose: joined by "and" or "or", which join unlike things as well."""
    if second.percent and first.bare and first.unit is None:
        return replace(first, unit=second.unit, percent=second.percent), second
    if (
        first.bare
        and second.scale > 1
        and first.value <= second.value
        and (first.unit == second.unit or (first.unit and not second.unit))
    ):
        if first.unit or not loose:
            first = replace(first, scale=second.scale)
        else:
            first = first
    if (
        first.unit in MONEY
        and second.unit is None
        and second.percent is None
        and (second.scale > 1 or not loose)
    ):
        second = replace(second, unit=first.unit)
    return first, second


def _with_periods(figures: list[Figure], text: str) -> list[Figure]:
    """Each figure with the period nearest to it within its sentence."""
    periods = find_periods(text)
    if not periods:
        return figures
    ends = [end - 1 for _, end in sentence_spans(text, also=";")]
    starts = [period.start for period in periods]
    near = [(figure, _nearest(text, figure, periods, starts, ends)) for figure in figures]
    return [replace(figure, period=period) if period else figure for figure, period in near]


def _nearest(
    text: str, figure: Figure, periods: list[Period], starts: list[int], ends: list[int]
) -> str | None:
    """The period that follows at once, "4.4 per cent in 2025-26" or "47.16 (RE 2024-25)"; else the one
    before; else the one after.
    """
    index = bisect_left(starts, figure.start)
    sentence = bisect_left(ends, figure.start)
    near = [
        period
        for period in periods[max(0, index - 1) : index + 1]
        if bisect_left(ends, period.start) == sentence
    ]
    before = [
        period for period in near if period.start < figure.start and figure.start - period.end <= _NEAR_PERIOD
    ]
    after = [
        period for period in near if period.start > figure.start and period.start - figure.end <= _NEAR_PERIOD
    ]
    if after and (not before or _AT_ONCE.fullmatch(text, figure.end, after[0].start)):
        return after[0].text
    if before:
        return before[0].text
    return None
