"""Knows whether a figure of an answer stands on the pages cited for it; judges the figure, not yet the row, column or period it belongs to."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from chatbot.numbers import Figure, ScaleMark, find_figures, governing_mark, other_readings, same_value, scale_marks
from chatbot.records import Hit, NumberCheck, Prompt

__all__ = ["PageView", "Scope", "Words", "check_numbers", "comparable_words", "says_figure", "view_of"]

ALIGNED_WORDS = 6  # that many of the answer's own words around another figure: the answer misquotes, it does not speak of something else
VERBATIM_ROW_WORDS = 3  # that many before the figure, equal on the page: a row was copied, so its sign must be the page's
UNSCALED_ROW_WORDS = 2  # … and its scale may stay unsaid, as it does in the row
ROUNDING_REACH = 25  # characters before a figure in which "about" speaks of it
MONEY_DECIMALS = 2  # "except per share amounts": such cells show cents
CONSTANTS = frozenset({1.0, 2.0, 3.0, 4.0, 12.0, 52.0, 100.0, 360.0, 365.0, 1000.0})  # what a formula may hold that no page states

_JOINERS = "-\u2010\u2011\u2013\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\x02"  # hyphens of all kinds, those of broken lines included
_WORD = re.compile(
    rf"[0-9]++(?:[.,][0-9]++)*+(?![^\W_])|[^\W_]++(?:(?:['’]|[{_JOINERS}]{{1,3}}(?:[ \t]{{0,3}}\r?\n[ \t]{{0,3}})?)(?=[^\W\d_])[^\W_]++)*+"
)
_DROPPED = re.compile(rf"[{_JOINERS}'’\s⁰¹²³⁴⁵⁶⁷⁸⁹]")
_PERCENT_SAID = re.compile(r"%|per ?cent|percent|\brates?\b|\bratio|\bmargin|\bshare", re.IGNORECASE)
_ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|more than|less than|under|close to|rounded(?: to)?|~|≈)\W{0,3}\Z",
    re.IGNORECASE,
)
_OUTFLOW = re.compile(  # words that carry the minus of a cell in brackets: "purchases of equipment (1,577)" is a purchase of 1,577
    r"decreas|declin|\bfell\b|\bfall|drop|reduc|lower|loss|deficit|outflow|\bused\b|\bpa(?:id|ys?|ying)\b|pay(?:ment|out)|repurchas|purchas|spen[dt]|expenditure"
    r"|\bcapex\b|expens|\bcosts?\b|charge|shrank|shr[iu]nk|contract|negative|\bcut\b|write|impair|dividend|\bless\b|deduct|short|allowance|depreciation"
    r"|amorti[sz]|acqui|treasury stock|provision",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Words:
    """Words as they are compared: NFKC, case-folded, hyphens and apostrophes dropped. starts, ends: offsets in the text; joined: " a b c "."""

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    joined: str
    offsets: tuple[int, ...]  # of each word in joined


@dataclass(frozen=True, slots=True)
class PageView:
    """A page read once for comparing. default: the mark its context states; by_digits: figures by their shown digits."""

    text: str
    words: Words
    figures: tuple[Figure, ...]
    by_digits: dict[str, tuple[Figure, ...]]
    scales: tuple[ScaleMark, ...]
    kinds: tuple[ScaleMark, ...]
    default: ScaleMark | None


@dataclass(frozen=True, slots=True)
class Scope:
    """The sentence a figure stands in, as offsets, and the prompt's keys that are cited for it."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One figure of the answer in its surroundings. readings: as written, and with the scale that the answer or the question states."""

    figure: Figure
    readings: tuple[Figure, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    rounded: bool
    outflow: bool


def comparable_words(text: str) -> Words:
    """The words of a text with exact offsets; numbers keep their points and commas, broken and hyphenated words are one."""
    found = [(_comparable(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]
    found = [word for word in found if word[0]]
    texts = tuple(word[0] for word in found)
    offsets, position = [], 1
    for word in texts:
        offsets.append(position)
        position += len(word) + 1
    return Words(texts, tuple(word[1] for word in found), tuple(word[2] for word in found), f" {' '.join(texts)} ", tuple(offsets))


def view_of(hit: Hit) -> PageView:
    """The hit's page, read once and kept for the next figure; its chunk where the page text is missing."""
    return _view(hit.page_text or hit.text, hit.context)


def check_numbers(text: str, scope_of: Callable[[int], Scope], prompt: Prompt) -> tuple[NumberCheck, ...]:
    """One check per figure of an answer, in order. text: the answer with its citation keys blanked out at equal length.

    Order of verdicts: supported, derived, contradicted, present_elsewhere, unsupported (see `_verdict` for what each needs).
    """
    figures = find_figures(text)
    marks = [mark for source in (text, prompt.question) for mark in scale_marks(source) if mark.scale > 1][:1]
    words = comparable_words(text)
    checks = [_check(_asked(text, words, figure, scope_of(figure.start), marks), scope_of(figure.start), prompt) for figure in figures]
    return tuple(_with_formulas(text, figures, checks))


def says_figure(figure: Figure, view: PageView) -> bool:
    """Whether the page states the figure, sign aside."""
    return any(_agree(figure, reading) or _agree(figure, _negated(reading)) for reading in _page_readings(figure, view))


# ---------------------------------------------------------------- one figure against the pages


def _check(asked: _Asked, scope: Scope, prompt: Prompt) -> NumberCheck:
    verdicts = {key: _verdict(asked, view_of(prompt.sources[key])) for key in scope.keys}
    for status in ("supported", "contradicted", "present_elsewhere"):
        if key := next((key for key, verdict in verdicts.items() if verdict == status), None):
            return _result(asked.figure, status, key)
    elsewhere = any(_verdict(asked, view_of(hit)) == "supported" for key, hit in prompt.sources.items() if key not in scope.keys)
    asked_for = any(_agree(asked.figure, other) for other in find_figures(prompt.question))
    return _result(asked.figure, "present_elsewhere" if elsewhere or asked_for else "unsupported", None)


def _result(figure: Figure, status: str, key: str | None) -> NumberCheck:
    shown = key.split("-")[0] if key else None
    return NumberCheck(figure.text, figure.value, figure.unit, figure.scale, figure.period, status, shown)


def _verdict(asked: _Asked, view: PageView) -> str:
    """supported: the value stands there, in sign, scale, unit and percent kind (rounded only where the answer says so).

    contradicted: the answer's words stand there around another figure of the same kind. present_elsewhere: the digits stand there
    under another scale, unit or kind, or more exactly than an answer says that does not call its figure rounded. absent: none of it.
    """
    equal = [figure for figure in view.by_digits.get(_digits(asked.figure), ()) if _matches(asked, figure, view)]
    aligned = [figure for figure in _aligned(asked, view) if figure not in equal]
    rounded = any(same_value(asked.figure, reading, rounding=True) for figure in view.figures for reading in _readings(figure, view))
    if equal and not (aligned and not any(_alignment(asked, figure, view) >= ALIGNED_WORDS for figure in equal)):
        return "supported"
    if rounded and asked.rounded:
        return "supported"
    if not rounded and any(figure.percent == asked.figure.percent for figure in aligned):
        return "contradicted"
    digits = any(figure.value == asked.figure.value for figure in view.by_digits.get(_digits(asked.figure), ()))
    return "present_elsewhere" if rounded or digits else "absent"


def _matches(asked: _Asked, figure: Figure, view: PageView) -> bool:
    """Whether this figure of the page is what the answer's figure says."""
    pairs = [(mine, reading) for mine in asked.readings for reading in _page_readings_of(mine, figure, view)]
    if any(_agree(mine, reading) for mine, reading in pairs):
        return not _drops_scale(asked, figure, view)
    copied = _common(asked.before, _words_before(figure, view)) >= VERBATIM_ROW_WORDS
    return asked.outflow and not copied and any(reading.value < 0 and _agree(mine, _negated(reading)) for mine, reading in pairs)


def _agree(mine: Figure, other: Figure) -> bool:
    """same_value, and a bare number with decimals may leave the page's "per cent" unsaid."""
    if mine.bare and mine.unit is None and mine.decimals and other.percent == "percent":
        other = replace(other, percent=None, unit=None)
    return same_value(mine, other)


def _page_readings(mine: Figure, view: PageView) -> Iterator[Figure]:
    for figure in view.by_digits.get(_digits(mine), ()):
        yield from _page_readings_of(mine, figure, view)


def _page_readings_of(mine: Figure, figure: Figure, view: PageView) -> Iterator[Figure]:
    """The page's readings of a figure, and for a percentage a bare cell where the page speaks of percentages."""
    money = mine.unit not in (None, "x") and mine.percent is None
    if not (money and figure.bare and figure.unit is None and _counts_things(figure, view)):
        yield from _readings(figure, view)
    if mine.percent == "percent" and figure.bare and figure.unit is None and _may_be_percent(figure, view):
        yield replace(figure, percent="percent", unit="%")


def _readings(figure: Figure, view: PageView) -> Iterator[Figure]:
    """A figure as written, and as the page's marks would have a bare cell read."""
    yield figure
    if not figure.bare:
        return
    scale, kind = _mark(view.scales, figure, view), governing_mark(list(view.kinds), figure.start)
    if scale and not (figure.unit is None and _counts_things(figure, view)):
        yield replace(figure, scale=scale.scale, unit=figure.unit or scale.unit)
    if kind and figure.unit is None:
        yield replace(figure, unit=kind.unit, percent="percent" if kind.unit == "%" else "points")


def _mark(marks: tuple[ScaleMark, ...], figure: Figure, view: PageView) -> ScaleMark | None:
    return governing_mark(list(marks), figure.start) or view.default


def _counts_things(figure: Figure, view: PageView) -> bool:
    """A bare number before a word in small letters, "24 municipalities", is no amount of money."""
    return re.match(r"[ \u00a0-]?[a-z]", view.text[figure.end : figure.end + 2]) is not None


def _may_be_percent(figure: Figure, view: PageView) -> bool:
    kind = governing_mark(list(view.kinds), figure.start)
    if kind is not None and kind.unit != "%":
        return False
    scope = _line(view.text, figure.start) if _mark(view.scales, figure, view) else view.text
    return _PERCENT_SAID.search(scope) is not None


def _drops_scale(asked: _Asked, figure: Figure, view: PageView) -> bool:
    """Whether the answer gives money without the scale that the page's mark gives to this cell, in words of its own."""
    mine = asked.figure
    mark = _mark(view.scales, figure, view)
    if mark is None or len(asked.readings) > 1 or not (mine.bare and mine.unit and figure.bare):
        return False
    if mark.exceptions and figure.decimals == MONEY_DECIMALS:
        return False
    in_cell = not any(character.isalpha() for character in view.text[figure.end : figure.end + 40].split("\n")[0])
    return in_cell and _common(asked.before, _words_before(figure, view)) < UNSCALED_ROW_WORDS


# ---------------------------------------------------------------- the words around a figure


def _asked(text: str, words: Words, figure: Figure, scope: Scope, marks: list[ScaleMark]) -> _Asked:
    first, last = bisect_left(words.starts, scope.start), bisect_left(words.starts, scope.end)
    here, beyond = bisect_left(words.starts, figure.start), bisect_left(words.starts, figure.end)
    lead = max(first, here - 2 * ALIGNED_WORDS)
    readings = [figure, *(replace(figure, scale=mark.scale, unit=figure.unit or mark.unit) for mark in marks if figure.bare)]
    said = text[max(scope.start, figure.start - ROUNDING_REACH) : figure.start], text[figure.end : figure.end + ROUNDING_REACH]
    rounded = _ROUNDED.search(said[0]) or re.match(r"\W{0,3}(?:or so|rounded)", said[1])
    outflow = figure.value > 0 and _OUTFLOW.search(text, scope.start, scope.end)
    before, after = words.texts[lead:here], words.texts[beyond : min(last, beyond + 2 * ALIGNED_WORDS)]
    return _Asked(figure, tuple(readings), before, after, bool(rounded), bool(outflow))


def _aligned(asked: _Asked, view: PageView) -> list[Figure]:
    """Figures of the page that stand in the answer's own words."""
    return [figure for figure in view.figures if _alignment(asked, figure, view) >= ALIGNED_WORDS]


def _alignment(asked: _Asked, figure: Figure, view: PageView) -> int:
    return _common(asked.before, _words_before(figure, view)) + _common(asked.after[::-1], _words_after(figure, view)[::-1])


def _words_before(figure: Figure, view: PageView) -> tuple[str, ...]:
    index = bisect_left(view.words.starts, figure.start)
    return view.words.texts[max(0, index - 2 * ALIGNED_WORDS) : index]


def _words_after(figure: Figure, view: PageView) -> tuple[str, ...]:
    index = bisect_left(view.words.starts, figure.end)
    return view.words.texts[index : index + 2 * ALIGNED_WORDS]


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """How many words both end with."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        count += 1
    return count


def _comparable(word: str) -> str:
    if word.isascii() and word.isalnum():
        return word.lower()
    return unicodedata.normalize("NFKC", _DROPPED.sub("", word)).casefold().replace(" ", "")


@lru_cache(maxsize=128)  # pages of the last few questions; each is looked at once per figure
def _view(text: str, context: str) -> PageView:
    figures = find_figures(text)
    by_digits: dict[str, tuple[Figure, ...]] = {}
    for figure in [*figures, *other_readings(text)]:
        digits = _digits(figure)
        by_digits[digits] = (*by_digits.get(digits, ()), figure)
    marks = scale_marks(text)
    default = next((replace(mark, until=None) for mark in reversed(scale_marks(context)) if mark.scale > 1), None)
    scales, kinds = tuple(mark for mark in marks if mark.scale > 1), tuple(mark for mark in marks if mark.scale == 1)
    return PageView(text, comparable_words(text), tuple(figures), by_digits, scales, kinds, default)


def _digits(figure: Figure) -> str:
    """The significant digits, equal for one value at every decimal scale."""
    return f"{abs(figure.value):.15e}".split("e")[0].replace(".", "").rstrip("0")


def _negated(figure: Figure) -> Figure:
    return replace(figure, value=-figure.value)


def _line(text: str, position: int) -> str:
    return text[text.rfind("\n", 0, position) + 1 : position + 80].split("\n")[0]


# ---------------------------------------------------------------- figures that the answer computes before the reader's eyes

_EQUALS = re.compile(r"=|≈|\bequals\b")
_TO_RESULT = re.compile(r"\s*(?:(?:about|around|approximately|roughly|~|≈)\s*)?[*_(]{0,3}\s*")
_ANNOTATION = re.compile(r"\((?=[^()]{0,60}[A-Za-z])[^()]{0,60}\)")
_OPERATORS = (("divided by", "/"), ("minus", "-"), ("plus", "+"), ("times", "*"))
_NAMES = re.compile(r"(?<![^\W\d_])(?!x\b)[^\W\d_][\w'’-]*|[*_]{2}")
_OPERATOR = re.compile(r"(?P<close>[\s)]*)(?P<operator>[-−–+*/×÷x])(?P<open>[\s(]*)")
_LONGEST_GAP = 80  # characters between two operands, names included
_MOST_OPERANDS = 24
Token = float | str


def _with_formulas(text: str, figures: list[Figure], checks: list[NumberCheck]) -> list[NumberCheck]:
    """The checks with results of shown formulas marked as derived: operands supported, and the arithmetic right."""
    checked = list(checks)
    ends = [figure.end for figure in figures]
    derived: list[tuple[Figure, str]] = []
    for equals in _EQUALS.finditer(text):
        last = bisect_right(ends, equals.start()) - 1
        if last < 0 or last + 1 >= len(figures) or not _TO_RESULT.fullmatch(text, equals.end(), figures[last + 1].start):
            continue
        first, tokens = _left_side(text, figures, last, equals.start())
        operands = range(first, last + 1)
        if first == last or not all(_is_operand(figures[index], checked[index]) for index in operands):
            continue
        if _recomputes(tokens, figures[first : last + 1], figures[last + 1]):
            formula = " ".join(text[figures[first].start - _opening(text, figures, first, tokens) : figures[last + 1].end].split())
            derived.append((figures[last + 1], formula))
            for index in (*operands, last + 1):
                if checked[index].status != "supported":
                    checked[index] = replace(checked[index], status="derived", citation=None, formula=formula)
    return [_repeats(figure, check, derived) for figure, check in zip(figures, checked, strict=True)]


def _repeats(figure: Figure, check: NumberCheck, derived: list[tuple[Figure, str]]) -> NumberCheck:
    """A figure that repeats a derived one is derived too."""
    formula = next((formula for result, formula in derived if same_value(figure, result, rounding=True)), None)
    if check.status in ("supported", "derived") or formula is None:
        return check
    return replace(check, status="derived", citation=None, formula=formula)


def _is_operand(figure: Figure, check: NumberCheck) -> bool:
    return check.status in ("supported", "derived") or (figure.bare and figure.unit is None and figure.value in CONSTANTS)


def _left_side(text: str, figures: list[Figure], last: int, equals: int) -> tuple[int, list[Token]]:
    """Index of the first operand, and the tokens up to the equals sign; operands stand in as their indices."""
    trailing = _closing(text[figures[last].end : equals]) if equals - figures[last].end <= _LONGEST_GAP else None
    if trailing is None:
        return last, []
    first, tokens = last, [float(last), *trailing]
    while first > 0 and last - first < _MOST_OPERANDS:
        between = _between(text, figures[first - 1], figures[first])
        if between is None:
            break
        first -= 1
        tokens = [float(first), *between, *tokens]
    return first, ["("] * max(0, tokens.count(")") - tokens.count("(")) + tokens


def _closing(gap: str) -> list[Token] | None:
    gap = _NAMES.sub("", _ANNOTATION.sub("", gap)).strip()
    return [")"] * len(gap) if set(gap) <= {")"} else None


def _between(text: str, left: Figure, right: Figure) -> list[Token] | None:
    """Closing brackets, operator and opening brackets between two operands; None where anything else stands there."""
    gap = text[left.end : right.start]
    if len(gap) > _LONGEST_GAP:
        return None
    if not gap.strip() and right.value < 0:
        return ["+"]  # "5 -3": the sign went with the figure
    gap = _ANNOTATION.sub("", gap)
    for name, sign in _OPERATORS:
        gap = gap.replace(name, sign)
    match = _OPERATOR.fullmatch(_NAMES.sub("", gap))
    if match is None:
        return None
    operator = {"−": "-", "–": "-", "×": "*", "x": "*", "÷": "/"}.get(match["operator"], match["operator"])
    return [*(")" * match["close"].count(")")), operator, *("(" * match["open"].count("("))]


def _opening(text: str, figures: list[Figure], first: int, tokens: list[Token]) -> int:
    """How many characters of opening brackets stand right before the first operand."""
    wanted = next((count for count, token in enumerate(tokens) if token != "("), 0)
    start = figures[first].start
    return wanted if text[max(0, start - wanted) : start] == "(" * wanted else 0


def _recomputes(tokens: list[Token], operands: list[Figure], result: Figure) -> bool:
    """Whether the tokens come to the result within the digits it shows; percentages are fractions unless all are shown numbers alike."""
    first = min(token for token in tokens if isinstance(token, float))

    def value(amounts: list[float]) -> float:
        rest = [amounts[int(token - first)] if isinstance(token, float) else token for token in tokens]
        total = _sum(rest)
        return math.nan if rest else total

    if _close(value([_amount(figure) for figure in operands]), result, _amount(result)):
        return True
    scales = {figure.scale for figure in operands}
    if len(scales) > 1 or result.scale not in (*scales, 1.0) and scales != {1.0}:
        return False
    plain = value([figure.value for figure in operands])
    return _close(plain, result, result.value) or (result.percent == "percent" and _close(100 * plain, result, result.value))


def _amount(figure: Figure) -> float:
    """The figure as a plain number: percentages and points as fractions of one."""
    factor = {"percent": 0.01, "points": 0.01}.get(figure.percent or "", 1.0) * (0.01 if figure.unit == "basis points" else 1.0)
    return figure.value * figure.scale * factor


def _close(computed: float, result: Figure, shown: float) -> bool:
    """Equal within half a unit of the last digit shown."""
    step = abs(shown / result.value) if result.value else 1.0
    return math.isfinite(computed) and abs(computed - shown) <= step * 10.0**-result.decimals * 0.5 * (1 + 1e-6)


def _sum(tokens: list[Token]) -> float:
    """Evaluate sums from the front of the list, eating what was read; not-a-number for what is no arithmetic."""
    total = _product(tokens)
    while tokens and tokens[0] in ("+", "-"):
        sign = 1.0 if tokens.pop(0) == "+" else -1.0
        total += sign * _product(tokens)
    return total


def _product(tokens: list[Token]) -> float:
    total = _operand(tokens)
    while tokens and tokens[0] in ("*", "/"):
        operator, factor = tokens.pop(0), _operand(tokens)
        total = total * factor if operator == "*" else total / factor if factor else math.nan
    return total


def _operand(tokens: list[Token]) -> float:
    token = tokens.pop(0) if tokens else ""
    if token == "(":
        total = _sum(tokens)
        return total if tokens and tokens.pop(0) == ")" else math.nan
    return token if isinstance(token, float) else math.nan
