"""Finds the amounts of financial prose and tables, with their units, scales and periods.

Only ASCII digits are read, as `number_styles` rewrites them. Without a style that says more, plain spaces
group thousands only beside a currency or a scale word ("RM 1 234 567", "9 905 million") or within a sentence
("of 9 300 nurses"), because "136 218 263" is more often three cells than one number.

The file is longer than 300 lines because sign, brackets, currency, scale and unit are one decision.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
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
from ingestion.language.numbers.number_styles import (
    BEHIND,
    DOUBTED,
    SURE,
    NumberStyle,
    cell_in_english,
    in_english,
    own_style,
)
from ingestion.language.numbers.spelled import find_spelled
from ingestion.language.periods import find_periods
from ingestion.language.scales import (
    BARE_LETTER_SCALE,
    BASIS,
    GAP,
    LETTER_SCALE,
    LETTER_SCALES,
    MINUS,
    PERCENT,
    POINTS,
    SCALE_WORD,
    SPACE,
    scale_of,
)
from ingestion.language.sentences import sentence_spans
from ingestion.language.vocabulary import Match, either

__all__ = ["Figure", "cell_figure", "find_figures", "magnitude", "same_value", "units_agree"]


# Integer digits. A longer run is an account number or garbage, and would not be exact as a float.
_LONGEST = 18


_VULGAR = "[¼½¾⅓⅔⅛⅜⅝⅞]"
_LETTERS = "".join(LETTERS)
_TOUCHING = "|".join(f"(?<={re.escape(sign)})" for sign in LETTER_SIGNS)
# Letters may touch the digits in RM2.3, USD422 and R50.3. "FY2018" is masked, "ABC12" refused.
_NUMBER = re.compile(
    r"(?:(?<![A-Za-zÀ-ɏ0-9])(?<![A-Za-z0-9]\.)(?<![A-Za-z][0-9],)(?<![A-Za-z][0-9]{2},)"
    r"(?<![A-Za-z][0-9]{3},)|"
    rf"{_TOUCHING}|(?<=[A-Z]{{3}})|(?<=\W[{_LETTERS}])|(?<=\A[{_LETTERS}]))"
    r"(?:(?P<mixed>(?:[0-9]{1,2}[- ])?[1357](?:/[248](?![0-9/])(?=\s{0,2}(?i:per|%|to\b|and\b|point))"
    r"|⁄[248](?![0-9])))"
    rf"|(?P<spaced>[0-9]{{1,3}}(?: [0-9]{{3}}){{1,4}}+(?! ?[0-9]))(?:\.[0-9]{{1,12}}+)?"
    r"|(?P<whole>[0-9]{1,3}(?:,[0-9]{3}){1,5}+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}(?=,)){1,6}+,[0-9]{3}(?![0-9])"
    rf"|[0-9]++)(?:(?P<decimals>\.[0-9]++)|(?P<vulgar>{_VULGAR}))?"
    rf"|(?<![A-Za-z])(?P<point>\.[0-9]++)|(?P<fraction>{_VULGAR}))"
)
# Digits with one mark that may set thousands or decimals apart.
_EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_TURNED = str.maketrans(",.", ".,")
_FIRST_GROUP = re.compile(r"(?P<whole>[0-9]++)(?P<decimals>\.[0-9]++)?")
_BEFORE = re.compile(
    rf"(?P<outer>\( ?)?(?P<minus>\([{MINUS}]\)|[{MINUS}]|{SURE} {{0,2}})?(?P<space> ?)(?P<currency>{CURRENCY}"
    rf"|(?<!\w)(?:{either(LETTERS)})(?=\Z))?{GAP}"
    rf"(?P<minus2>[{MINUS}])?(?P<inner>\( ?)?\Z"
)
_BEFORE_LONGEST = 20  # characters: the longest currency mark with sign, brackets and a line break
# A capital on the next line begins something else: "12" and below it "Percent of revenue".
_NEXT_LINE = rf"{SPACE}{{0,3}}\r?\n{SPACE}{{0,3}}[A-Z]"
_AFTER = re.compile(
    rf"(?i)(?-i:(?!{_NEXT_LINE}))(?:{GAP}|-)(?:(?P<points>{POINTS})|(?P<basis>{BASIS})|(?P<percent>{PERCENT})"
    rf"|(?P<scale>{SCALE_WORD})(?:\s{{1,2}}(?P<scale2>{SCALE_WORD}))?(?![A-Za-z]))",
)
_KINDS = {
    "points": ("percentage points", "points"),
    "basis": ("basis points", "points"),
    "percent": ("%", "percent"),
}
_LETTER_SCALE = re.compile(rf" ?(?P<letter>(?i:{LETTER_SCALE}))(?![A-Za-z0-9²³])")
# Without a currency "194K" and "10 m" are something else.
_BARE_LETTER_SCALE = re.compile(rf"(?P<letter>{BARE_LETTER_SCALE})(?![A-Za-z0-9²³])")
_MONEY_AFTER = re.compile(
    rf"(?!{_NEXT_LINE}){GAP}(?:(?P<code>{CODE})(?![A-Za-z])|(?i:{CURRENCY_WORD})(?![A-Za-z-])"
    rf"|(?P<slash>/-(?![0-9])))"
)
# "was minus 40 million". In "revenue minus 40 million" and "plus or minus 25 basis points" the word is an
# operator or no sign.
_MINUS_IN_WORDS = re.compile(
    rf"(?:\A|[(:;,|=\n]|[{MINUS}+*/×÷](?=\s)|\b(?:was|were|is|are|be|been|at|of|to|from|by|and|an?|about"
    rf"|around|nearly|roughly|only|stood|hit|than|between|below|under|above"
    r"|[a-z]{2,15}ed))\s{0,2}(?<!\w)(?P<word>[Mm]inus|[Nn]egative)\s{1,2}\Z"
)
_MINUS_IN_WORDS_LONGEST = 32  # characters: the longest word before "negative", and that word itself
# What follows brackets in a sentence.
_IN_PROSE = re.compile(r"\s{0,3}[a-z]|[^\S\n]{0,2}[,.;]")
# "The result was (0.5)" states a balance; "a fee of ($250)" has an aside.
_STATES_RESULT = re.compile(r"\b(?:was|were|is|are) \Z")
# What makes a letter a currency although no scale follows: "R560 a month", "R1 250", "R12.50", other certain
# amounts in the text.
_FOR_EACH = re.compile(
    r"(?:\s(?:an?|per|each|every)\s|/)(?:day|week|month|quarter|year|annum|hour|person|child|learner"
    r"|pupil|patient|household|famil|unit|lit(?:re|er)|kilo|kg|km"
    r"|ton|bottle|pack|ticket|trip|head|share|capita)|\s(?:monthly|weekly|daily|yearly|annually)\b"
)
_NAME_AHEAD = re.compile(
    r"\s{0,2}(?:[A-Z][a-z]|(?i:notes?|coins?|road|route|motorway|highway|class|series)\b)|[-/][0-9A-Za-z]"
)
_NAME_BEHIND = re.compile(
    r"\b(?i:models?|routes?|roads?|sections?|motorways?|highways?|types?|class|series|codes?|version"
    r"|refrigerants?|rooms?|grade)\s{1,2}[" + _LETTERS + r"]\Z"
)
_SURE_AMOUNT = rf"[0-9]{{1,3}}(?:[ ,][0-9]{{3}}(?![0-9])|(?:[.,][0-9]{{1,3}})?[ \u00a0]?(?:{SCALE_WORD})\b)"
_SURE_MONEY = {letter: re.compile(rf"(?<![A-Za-z0-9]){letter}{_SURE_AMOUNT}") for letter in LETTERS}
# Words before a count in a sentence, "of 9 300 nurses": rows of cells seldom stand between such words.
_COUNTING = re.compile(
    r"\b(?:of|to|from|by|about|over|than|some|nearly|almost|around|with|for|and|the|has|have|had|are"
    r"|were|was|is|employ(?:s|ed)?|hired?|additional|another)\s\Z"
)
# What follows a figure in a sentence, and in no row of cells.
_GOES_ON = re.compile(r" [a-z]|[.,;:)]")
_COUNTED = re.compile(r"\s[a-z]{3,}")
_TIMES = re.compile(r"[x×](?![A-Za-z0-9])|(?: times\b)")
_GLUED = re.compile(
    # "194J", "7f3a", "24x7": names of things
    r"[A-Za-z](?![A-Za-z])|[A-Za-z]++[0-9]|(?!MW|GW|KW|TW|CC|KG|KM|MT|GB|TB)[A-Z]{2,3}(?![A-Za-z])"
)


# Characters: a period further away than a long clause says nothing about a figure.
_NEAR_PERIOD = 120
_AT_ONCE = re.compile(
    r"[\s(]{0,3}(?:(?:in|for|of|during|by|at|on|over|as|the|year|end|fiscal|[A-Z]{1,3})[\s(-]{1,3}){0,4}"
)
_CONNECTOR = re.compile(rf"(?i){GAP}(?P<word>to|and|or|[-–—\u2011])(?: (?:a|about|around|from|over))?{GAP}")


@dataclass(frozen=True, slots=True)
class Figure:
    """One amount as written.

    text: source[start:end].
    value: with sign, without scale.
    unit: currency code ("USD", also for a plain "$"), "%", "percentage points", "basis points", "x" or None.
    scale: 1, 1e3, 1e5, 1e6, … 1e12.
    period: as written nearby, or None.
    percent: "percent", "points" (percentage and basis points) or None.
    decimals: digits shown after the point.
    other: the value that it may have as well, where its place does not tell which; None where it is certain.
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
    other: float | None = None

    @property
    def bare(self) -> bool:
        """A number without scale or percent kind, such as a table cell; it may have a currency."""
        return self.scale == 1.0 and self.percent is None and self.unit != "x"


def find_figures(text: str, style: NumberStyle | None = None) -> list[Figure]:
    """All amounts and counts in order, without overlap. Never raises.

    Years, dates, references, list numbers and citation keys are not amounts. In words, only amounts with a
    unit, durations and fractions are found: "four per cent", "nine years", "three fifths".

    style: of the page that the text is of; the text's own without one.
    """
    style = style or own_style(text)
    return list(_figures_of(text, in_english(text, style), replace(style, cells=())))


def cell_figure(text: str, style: NumberStyle) -> Figure | None:
    """The first figure of a cell, None where it has none. style: of its column."""
    return next(iter(_figures_of(text, cell_in_english(text, style), style)), None)


@lru_cache(maxsize=256)  # the checks of one answer look into the same sentences again and again
def _figures_of(text: str, english: str, style: NumberStyle) -> tuple[Figure, ...]:
    """english: the text as `number_styles` rewrites it."""
    amounts = masked(english)
    letters = frozenset(letter for letter, sure in _SURE_MONEY.items() if sure.search(amounts))
    found = list[Figure]()
    position = floor = 0
    while match := _NUMBER.search(amounts, position):
        digits = _digits(amounts, match, spaces=style.spaces)
        position = digits.end()
        if figure := _read((text, amounts), digits, floor, letters):
            found.append(_doubted(figure, match, (text, amounts), style))
            position = floor = figure.end
    if spelled := list(_spelled(text, amounts)):
        found = sorted([*found, *spelled], key=lambda figure: figure.start)
    return tuple(_with_periods(_sharing_units(found, text), text))


def _doubted(figure: Figure, match: Match, texts: tuple[str, str], style: NumberStyle) -> Figure:
    """The figure with the other value that it may have. match: all digits that may be its own. texts: as
    `_read` has them.
    """
    source, text = texts
    if DOUBTED in text[max(0, figure.start - 3) : figure.end + 3]:
        return replace(figure, other=-figure.value)
    if match["spaced"] and match.end() > figure.end and not style.tables:
        other = match["spaced"].replace(" ", "")
    elif not style.decimal and _EITHER.fullmatch(match[0]) and source.startswith(match[0], match.start()):
        other = match[0].translate(_TURNED).replace(",", "")
    else:
        return figure
    return replace(figure, other=math.copysign(float(other), figure.value))


def magnitude(figure: Figure) -> float:
    """value · scale; basis points as percentage points, so that 25 basis points are 0.25."""
    points = 0.01 if figure.unit == "basis points" else 1.0
    return figure.value * figure.scale * points


def units_agree(left: Figure, right: Figure) -> bool:
    """Whether the currencies of two figures do not contradict each other.

    A plain "$" agrees with every dollar, "crowns" with every crown.
    """
    first, second = left.unit or "", right.unit or ""
    if first == second or first not in MONEY or second not in MONEY:
        return True
    family = family_of(first)
    if not family or family != family_of(second):
        return False
    if family == "dollars":
        return not all(map(_names_its_dollar, (left, right)))
    return family in (first, second)


def same_value(a: Figure, b: Figure, *, rounding: bool = False) -> bool:
    """Whether two figures state the same value, including sign, scale, currency and percent kind.

    "1,577 million" is "1.577 billion".

    rounding: a may be b rounded to the digits that a shows (4.5 billion for 4,512 million). Trailing zeros of
        a whole number count as not shown beyond its first two digits (280,000 for 279,512).
    """
    if a.percent != b.percent or not units_agree(a, b):
        return False
    first, second = magnitude(a), magnitude(b)
    if math.isclose(first, second, rel_tol=1e-12, abs_tol=1e-15):
        return True
    return rounding and abs(first - second) <= _shown_step(a) / 2 * (1 + 1e-9)


def _shown_step(figure: Figure) -> float:
    """What one unit of the last digit that a figure shows is worth."""
    step = 10.0**-figure.decimals
    if not figure.decimals:
        digits = f"{abs(figure.value):.0f}"
        step = 10.0 ** max(0, min(len(digits) - len(digits.rstrip("0")), len(digits) - 2))
    return magnitude(replace(figure, value=step))


def _names_its_dollar(figure: Figure) -> bool:
    return re.search(r"[A-Z]\.?\$|[A-Z]{3}|[A-Z][a-z.S]* ?[A-Z]?[a-z]* dollar", figure.text) is not None


def _spelled(text: str, amounts: str) -> Iterator[Figure]:
    """The amounts in words. amounts: the text with everything else that has digits blanked out."""
    for number in find_spelled(amounts):
        unit, scale, percent, end = None, 1.0, None, number.end
        if number.measured:
            unit, scale, percent, end = _unit_after(amounts, end, "")
        written = text[number.start : end]
        yield Figure(written, number.start, end, number.value, unit, scale, None, percent, number.decimals)


# ---------------------------------------------------------------- reading one figure


class _Tail(NamedTuple):
    """What follows the digits.

    inside: where it ends within brackets that close there, else the same as end.
    closed: what closes brackets around the number, or stands for a minus behind it; "" for neither.
    """

    unit: str | None
    scale: float
    percent: str | None
    inside: int
    end: int
    closed: str


def _read(texts: tuple[str, str], digits: Match, floor: int, letters: frozenset[str]) -> Figure | None:
    """The figure with some digits of the masked text, None where it is none.

    texts: the source and the masked text.
    floor: where the figure before ends.
    letters: letters that are a currency elsewhere in the text.
    """
    source, text = texts
    before = _before(text, digits.start(), floor)
    value, decimals = _value(digits)
    tail = _tail(text, digits.end(), before)
    has_letter = before["currency"] in LETTERS and tail.scale == 1.0 and "," not in digits[0]
    if (
        math.isnan(value)
        or _is_name(text, before, tail)
        or (has_letter and not _is_money(text, digits, letters))
    ):
        return None
    negative = _negative(text, before, tail)
    if negative is None:
        return None
    currency = before["currency"]
    if currency == "`" and text[tail.inside : tail.inside + 1] == "`":
        currency = None  # backticks on both sides mark code
    unit = tail.unit or (currency_of(currency) if currency else None)
    start = before.start("currency") if currency else digits.start()
    end = tail.inside
    if negative:
        parts = ["minus", "currency", "minus2", *(["outer", "inner"] if tail.closed else [])]
        start = min((before.start(part) for part in parts if before[part]), default=before.end())
        end = tail.end
    elif minus := _MINUS_IN_WORDS.search(text, max(floor, start - _MINUS_IN_WORDS_LONGEST), start):
        start = minus.start("word")
        negative = True
    value = -value if negative else value
    return Figure(source[start:end], start, end, value, unit, tail.scale, None, tail.percent, decimals)


def _digits(text: str, match: Match, *, spaces: bool) -> Match:
    """The digits that belong together: of groups with spaces between them maybe only the first.

    spaces: they set thousands apart; but in a row of cells they set cells apart, too.
    """
    if not match["spaced"] or _before(text, match.start(), 0)["currency"]:
        return match
    if spaces and _GOES_ON.match(text, match.end()):
        return match
    unit, scale, *_ = _unit_after(text, match.end(), "")
    # "the salaries of 9 300 health workers"
    counts = _COUNTED.match(text, match.end()) and _COUNTING.search(
        text, max(0, match.start() - 20), match.start()
    )
    if scale > 1 or unit in MONEY or counts:
        return match
    return _FIRST_GROUP.match(text, match.start()) or match


def _before(text: str, position: int, floor: int) -> Match:
    """Sign, brackets and currency before the digits."""
    before = _BEFORE.search(text, max(floor, position - _BEFORE_LONGEST), position)
    assert before is not None  # every part of the pattern is optional
    return before


def _tail(text: str, position: int, before: Match) -> _Tail:
    """Unit and scale, inside or behind closing brackets: "(2.0%)", "(2.0)%", "(91.5) million"."""
    currency = before["currency"] or ""
    unit, scale, percent, end = _unit_after(text, position, currency)
    is_open = before["outer"] or before["inner"]
    closing = text[end : end + 2].lstrip(" ")[:1]
    if closing != BEHIND and not (is_open and closing == ")"):
        return _Tail(unit, scale, percent, end, end, "")
    inside = end
    end = text.index(closing, end) + 1
    if unit is None and scale == 1.0:
        unit, scale, percent, end = _unit_after(text, end, currency)
    return _Tail(unit, scale, percent, inside, end, closing)


def _is_name(text: str, before: Match, tail: _Tail) -> bool:
    """Whether letters that are no unit touch the digits: "ABC12", "194J", "7f3a"."""
    glued = tail.unit is None and tail.scale == 1.0 and _GLUED.match(text, tail.inside)
    return not before["currency"] and (text[before.end() - 1 : before.end()].isalpha() or bool(glued))


def _is_money(text: str, digits: Match, letters: frozenset[str]) -> bool:
    """Whether a letter that touches an unscaled amount is its currency, not part of a name such as "R50"."""
    first, end = digits.span()
    if _NAME_BEHIND.search(text, max(0, first - 20), first):
        return False
    if _FOR_EACH.match(text, end) or " " in digits[0] or len(digits["decimals"] or "") == 2:
        return True
    if _GLUED.match(text, end) or _NAME_AHEAD.match(text, end) or len(digits[0]) < 2:
        return False
    return text[first - 1] in letters


def _value(match: Match) -> tuple[float, int]:
    """Value and digits after the point; not-a-number where it is too long or starts with a needless zero."""
    written = match[0].replace(",", "")
    if match.lastgroup in ("mixed", "fraction", "vulgar"):
        spaced = unicodedata.normalize("NFKC", re.sub(rf"(?={_VULGAR})", " ", written)).replace("⁄", "/")
        return float(sum(map(Fraction, spaced.replace("-", " ").split()))), 2
    whole, _, decimals = written.replace(" ", "").partition(".")
    too_long = max(len(whole), len(decimals)) > _LONGEST
    if too_long or (len(whole) > 1 and whole[0] == "0"):
        return math.nan, 0
    return float(f"{whole}.{decimals}"), len(decimals)


def _unit_after(text: str, position: int, currency: str) -> tuple[str | None, float, str | None, int]:
    """Unit, scale, percent kind and end of what follows the digits."""
    scale = 1.0
    letter_scale = _LETTER_SCALE if currency else _BARE_LETTER_SCALE
    if after := _AFTER.match(text, position):
        if kind := _KINDS.get(after.lastgroup or ""):
            unit, percent = kind
            return unit, scale, percent, after.end()
        position = after.end()
    elif letter := letter_scale.match(text, position):
        scale = LETTER_SCALES[letter["letter"].lower()]
        position = letter.end()
    elif times := _TIMES.match(text, position):
        return "x", scale, None, times.end()
    money = _MONEY_AFTER.match(text, position)
    # Indian papers close an amount of rupees so: "50,000/-"
    written = money and (money["code"] or money["money_word"] or "rupee")
    code = currency_of(written) if written else None
    if after:
        scale = scale_of(after["scale"], code or (currency and currency_of(currency))) * scale_of(
            after["scale2"]
        )
    return code, scale, None, money.end() if money else position


def _negative(text: str, before: Match, tail: _Tail) -> bool | None:
    """Whether the figure is negative; None where brackets only number items, as in "(3) faster returns"."""
    if tail.closed == BEHIND or (before["minus"] or "")[:1] == SURE:
        return True
    if tail.closed:
        return _bracket_negative(text, before, tail)
    if before["minus2"]:
        return before["currency"] is not None or _attached_minus(text, before.start("minus2"))
    if not before["minus"]:
        return False
    if before["minus"].startswith("("):
        return True
    amount = before.start("currency") if before["currency"] else before.end()
    if before.end("minus") == amount:
        return _attached_minus(text, before.start("minus"))
    return _spaced_minus(text, before.start("minus"), tail.end)


def _attached_minus(text: str, position: int) -> bool:
    """Whether a sign that touches its number is a minus: not where it touches the text before it too.

    "2-6" is a range.
    """
    behind = text[max(0, position - 1) : position]
    return not behind or not (behind.isalnum() or behind in "%)]\0")


def _spaced_minus(text: str, position: int, end: int) -> bool:
    """Whether a sign with a space behind it is a minus, as in "52.2 - 91.5 0.9" in a row of cells.

    It is none in "10 - 20 people", in "a - b = c" and as a list dash before words.
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
    cells = re.search(rf"[0-9)] [ ($\0{MINUS}]{{0,4}}[0-9][0-9.,]{{0,15}}\)?\Z", same_line)
    return cells is not None and not right.strip()


def _bracket_negative(text: str, before: Match, tail: _Tail) -> bool | None:
    """Whether brackets are an accountant's minus, and not an aside in prose, "the deficit (4.4%) fell".

    None where they only number items.
    """
    opening = before.start("outer" if before["outer"] else "inner")
    content = text[before.end() : tail.inside]
    closing = text.index(")", tail.inside) + 1
    if (before["currency"] and before["inner"]) or tail.end > closing:
        return True
    if any(map(str.isalpha, content)):
        return False
    if not _IN_PROSE.match(text, closing):
        return True
    left = text[max(0, opening - 3) : opening].rstrip()[-1:]
    is_short = content.isdigit() and len(content) <= 2
    if is_short and not before["currency"] and not left.isdigit():
        return None
    return not left.isalpha() or _STATES_RESULT.search(text, max(0, opening - 12), opening) is not None


# ---------------------------------------------------------------- what figures take from their neighbours


def _sharing_units(figures: list[Figure], text: str) -> list[Figure]:
    """The figures, those without a unit with that of their partner: "2 to 3 percent", "between $4 and 5
    billion".
    """
    shared = list(figures)
    for index in range(len(shared) - 2, -1, -1):
        first, second = shared[index : index + 2]
        if link := _CONNECTOR.fullmatch(text, first.end, second.start):
            loose = link["word"].lower() in ("and", "or")
            shared[index : index + 2] = _shared_pair(first, second, loose)
    return shared


def _shared_pair(first: Figure, second: Figure, loose: bool) -> tuple[Figure, Figure]:
    """loose: joined by "and" or "or", which join unlike things as well."""
    if second.percent and first.bare and first.unit is None:
        return replace(first, unit=second.unit, percent=second.percent), second
    rises = first.bare and second.scale > 1 and first.value <= second.value
    if rises and second.unit in (None, first.unit) and (first.unit or not loose):
        first = replace(first, scale=second.scale)
    has_no_unit = second.unit is None and second.percent is None
    if first.unit in MONEY and has_no_unit and (second.scale > 1 or not loose):
        second = replace(second, unit=first.unit)
    return first, second


def _with_periods(figures: list[Figure], text: str) -> list[Figure]:
    """Each figure with the period nearest to it within its sentence."""
    periods = find_periods(text)
    if not periods:
        return figures
    ends = [end - 1 for _, end in sentence_spans(text, also=";")]
    starts = [period.start for period in periods]

    def nearest(figure: Figure) -> str | None:
        """The period that follows at once, "4.4 per cent in 2025-26" or "47.16 (RE 2024-25)"; else the period
        before; else the period after.
        """
        index = bisect_left(starts, figure.start)
        sentence = bisect_left(ends, figure.start)
        near = [
            period
            for period in periods[max(0, index - 1) : index + 1]
            if bisect_left(ends, period.start) == sentence
            and max(figure.start - period.end, period.start - figure.end) <= _NEAR_PERIOD
        ]
        if len(near) > 1 and _AT_ONCE.fullmatch(text, figure.end, near[1].start):
            return near[1].text
        return near[0].text if near else None

    return [replace(figure, period=nearest(figure)) for figure in figures]
