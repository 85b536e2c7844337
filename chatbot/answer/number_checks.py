"""Knows whether a figure of an answer stands on the pages cited for it; judges the figure, not yet the row, column or period it belongs to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace

from chatbot.answer.formulas import find_formulas, is_constant
from chatbot.answer.pages import OnPage, PageView, Placed, digits_of, view_of, words_around
from chatbot.answer.words import Words, comparable_words
from chatbot.numbers import Figure, ScaleMark, find_figures, same_value, scale_marks
from chatbot.records import NumberCheck, Prompt

__all__ = ["Scope", "check_numbers", "figures_stating"]

ALIGNED_WORDS = 6  # that many of the answer's own words around another figure: the answer misquotes, it does not speak of something else
LEADING_WORDS = 2  # of these, that many before the figure where its value stands elsewhere on the page
ROW_WORDS = 2  # label and cells before the figure on its line: where the answer has all of them, it reads out that row
VERBATIM_ROW_WORDS = 3  # that many before the figure, equal on the page: a row was copied, so its sign must be the page's
UNSCALED_ROW_WORDS = 2  # that many beside the figure: its scale may stay unsaid, as it does in the row
ROUNDING_REACH = 25  # characters before a figure in which "about" speaks of it
SENSE_REACH = 200  # characters around a figure in which "purchases" or "deficit" speaks of it
CENTS = 2  # decimals; "in millions, except per share amounts": cells with cents are the exception

_ROUNDED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|ca\.|over|more than|less than|under|close to|rounded(?: to)?|~|≈)"
    r"\W{0,3}\Z",
    re.IGNORECASE,
)
_OUTFLOW = re.compile(  # words that carry the minus of a cell in brackets: "purchases of equipment (1,577)" is a purchase of 1,577
    r"decreas|declin|\bfell\b|\bfall|drop|reduc|lower|loss|deficit|outflow|\bused\b|\bpa(?:id|ys?|ying)\b|pay(?:ment|out)|purchas|spen[dt]|expenditure"
    r"|\bcapex\b|expens|\bcosts?\b|charge|shrank|shr[iu]nk|contract|negative|\bcut\b|write|impair|dividend|\bless\b|deduct|short|allowance|depreciation"
    r"|amorti[sz]|acqui|treasury stock|provision",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The sentence a figure stands in, as offsets, and the prompt's keys that are cited for it."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked(Placed):
    """A figure of the answer. rounded: it says so. outflow: its sentence carries the minus in words."""

    rounded: bool
    outflow: bool


_Label = tuple[float, str | None]  # scale; "%" for percent and percentage points, "bps", or None


def figures_stating(figure: Figure, view: PageView) -> list[Figure]:
    """The page's figures that state this one, sign aside."""
    asked = _Asked(figure, (figure,), (), (), False, True)
    return [placed.figure for placed in view.by_digits.get(digits_of(figure), ()) if _value_matches(asked, placed) or _opposite(asked, placed)]


def check_numbers(text: str, scope_of: Callable[[int], Scope], prompt: Prompt) -> tuple[NumberCheck, ...]:
    """One check per figure of an answer, in order. text: the answer with its citation keys blanked out at equal length.

    supported: the value stands on a page cited for it, in sign, scale, unit and percent kind; rounded only where the answer says so.
    derived: the answer shows how it comes from supported figures, and the arithmetic holds. contradicted: the cited page has the
    answer's words around another figure of the same kind. present_elsewhere: another source or the question has it, or the cited
    page has its digits under another scale, unit or kind, or more exactly than an answer says that does not call it rounded.
    """
    marks = [mark for source in (text, prompt.question) for mark in scale_marks(source) if mark.scale > 1][:1]
    words, questioned = comparable_words(text), find_figures(prompt.question)
    asked, checks, views = [], [], []
    for figure in find_figures(text):
        scope = scope_of(figure.start)
        asked.append(_asked(text, words, figure, scope, marks))
        checks.append(_check(asked[-1], scope, prompt, questioned))
        views.append([view_of(prompt.sources[key]) for key in scope.keys or prompt.sources])
    return tuple(_with_formulas(text, asked, checks, views))


# ---------------------------------------------------------------- one figure against the pages


def _check(asked: _Asked, scope: Scope, prompt: Prompt, questioned: list[Figure]) -> NumberCheck:
    verdicts = {key: _verdict(asked, view_of(prompt.sources[key])) for key in scope.keys}
    for status in ("supported", "contradicted", "present_elsewhere"):
        if key := next((key for key, verdict in verdicts.items() if verdict == status), None):
            return _result(asked.figure, status, key)
    elsewhere = any(_verdict(asked, view_of(hit)) == "supported" for key, hit in prompt.sources.items() if key not in scope.keys)
    asked_for = any(_agree(asked.figure, other) for other in questioned)
    return _result(asked.figure, "present_elsewhere" if elsewhere or asked_for else "unsupported", None)


def _result(figure: Figure, status: str, key: str | None) -> NumberCheck:
    shown = key.split("-")[0] if key else None
    return NumberCheck(figure.text, figure.value, figure.unit, figure.scale, figure.period, status, shown)


def _verdict(asked: _Asked, view: PageView) -> str:
    """What one page says of the figure: supported, contradicted, present_elsewhere (see check_numbers) or absent."""
    same_digits = view.by_digits.get(digits_of(asked.figure), [])
    equal = [placed for placed in same_digits if _matches(asked, placed)]
    against = _against(asked, view, equal)
    if equal and not against:
        return "supported"
    if any(_rounds(asked, placed) for placed in against or view.figures):
        return "supported" if asked.rounded else "present_elsewhere"
    if any(placed.figure.percent == asked.figure.percent for placed in against):
        return "contradicted"
    return "present_elsewhere" if equal or any(placed.figure.value == asked.figure.value for placed in same_digits) else "absent"


def _against(asked: _Asked, view: PageView, equal: list[OnPage]) -> list[OnPage]:
    """Other figures of the page that stand where the answer has its own: in the same words, or in the same row after the same cells.

    Where the value stands on the page too, its own place must not fit the answer as well, nor be another column of that row.
    """
    words = {*asked.before[-1:], *asked.after[:1]}
    best = max((_alignment(asked, placed) for placed in equal), default=-1)
    rows = {placed.line for placed in equal}
    found = []
    for placed in (placed for word in words for placed in view.by_neighbour.get(word, ())):
        aligned = _alignment(asked, placed)
        if aligned <= best or any(_covers(one.figure, placed.figure) for one in equal):
            continue
        same_row = _copies_row(asked, placed) and placed.line not in rows
        if same_row or (aligned >= ALIGNED_WORDS and (not equal or _ends_alike(asked, placed, view))):
            found.append(placed)
    return found


def _copies_row(asked: _Asked, placed: OnPage) -> bool:
    """Whether the answer has all that stands before the figure on its line, a label among it."""
    row = placed.before[-placed.on_line :]
    return ROW_WORDS <= placed.on_line <= _common(asked.before, placed.before) and not all(word[0].isdigit() for word in row)


def _ends_alike(asked: _Asked, placed: OnPage, view: PageView) -> bool:
    """Whether answer and page lead up to the figure and go on, or end the sentence, alike: what heads joined to a table row do not."""
    if _common(asked.before, placed.before) < LEADING_WORDS:
        return False
    if asked.after:
        return asked.after[:1] == placed.after[:1]
    return view.text[placed.figure.end : placed.figure.end + 1] in tuple(".;!?")


def _rounds(asked: _Asked, placed: OnPage) -> bool:
    """Whether the answer's figure is the page's, rounded."""
    return any(same_value(mine, reading, rounding=True) for mine in asked.readings for reading in _readings_for(mine, placed))


def _matches(asked: _Asked, placed: OnPage) -> bool:
    """Whether this figure of the page is what the answer's figure says."""
    if _value_matches(asked, placed):
        return not _drops_scale(asked, placed)
    return asked.outflow and _common(asked.before, placed.before) < VERBATIM_ROW_WORDS and _opposite(asked, placed)


def _value_matches(asked: _Asked, placed: OnPage) -> bool:
    return any(_agree(mine, reading) for mine in asked.readings for reading in _readings_for(mine, placed))


def _opposite(asked: _Asked, placed: OnPage) -> bool:
    """Whether the page has the figure with a minus that the answer puts in words."""
    return placed.figure.value < 0 < asked.figure.value and any(
        _agree(mine, replace(reading, value=-reading.value)) for mine in asked.readings for reading in _readings_for(mine, placed)
    )


def _readings_for(mine: Figure, placed: OnPage) -> list[Figure]:
    """The page figure's readings that the answer's figure may be compared with: money is no count, and a bare cell may be a percentage."""
    money = mine.unit not in (None, "x") and mine.percent is None
    readings = [] if money and placed.counts and placed.figure.unit is None else list(placed.readings)
    if mine.percent == "percent" and placed.percent:
        readings.append(replace(placed.figure, percent="percent", unit="%"))
    return readings


def _agree(mine: Figure, other: Figure) -> bool:
    """same_value, and a bare number with decimals may leave the page's "per cent" unsaid."""
    if mine.bare and mine.unit is None and mine.decimals and other.percent == "percent":
        other = replace(other, percent=None, unit=None)
    return same_value(mine, other)


def _drops_scale(asked: _Asked, placed: OnPage) -> bool:
    """Whether the answer gives money without the scale that the page's mark gives to this cell, in words of its own."""
    mine, mark = asked.figure, placed.mark
    if mark is None or len(asked.readings) > 1 or not (placed.cell and placed.figure.bare and mine.bare and mine.unit):
        return False
    if mark.exceptions and placed.figure.decimals == CENTS:
        return False
    whole_row = 0 < placed.on_line <= _common(asked.before, placed.before)
    return not whole_row and _alignment(asked, placed) < UNSCALED_ROW_WORDS


def _covers(outer: Figure, inner: Figure) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _alignment(asked: _Asked, placed: OnPage) -> int:
    return _common(asked.before, placed.before) + _common(asked.after[::-1], placed.after[::-1])


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """How many words both end with."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        count += 1
    return count


def _with_formulas(text: str, asked: list[_Asked], checks: list[NumberCheck], views: list[list[PageView]]) -> list[NumberCheck]:
    """The checks with results of shown formulas, and figures that repeat them, marked as derived. views: the pages each may rest on."""
    checked = list(checks)
    figures = [one.figure for one in asked]
    results: list[tuple[Figure, str]] = []
    for formula in find_formulas(text, figures):
        operands = [index for index in formula.operands if not is_constant(figures[index])]
        labels = [_labels(asked[index], views[index], results) for index in operands]
        shared = set.intersection(*labels) if labels else set()
        result = figures[formula.result]
        fits = bool(shared) and (result.scale == 1.0 or (formula.sums and (result.scale, None) in shared))
        if fits or all(checked[index].status in ("supported", "derived") for index in operands):
            readings = _labelled(result, shared) if formula.sums and result.bare and result.unit is None else []
            results += [(reading, formula.text) for reading in (result, *readings)]
            for index in (*formula.operands, formula.result):
                checked[index] = _derived(checked[index], formula.text)
    for index, figure in enumerate(figures):
        if formula_text := next((text for result, text in results if same_value(figure, result, rounding=True)), None):
            checked[index] = _derived(checked[index], formula_text)
    return checked


def _labels(asked: _Asked, views: list[PageView], results: list[tuple[Figure, str]]) -> set[_Label]:
    """The scales and kinds under which the pages, or formulas before, have an operand; a bare operand leaves them to the formula."""
    mine = asked.figure
    bare = mine.bare and mine.unit is None
    same = [placed for view in views for placed in view.by_digits.get(digits_of(mine), ()) if abs(placed.figure.value) == abs(mine.value)]
    readings = [reading for placed in same for reading in placed.readings if bare or same_value(mine, reading)]
    readings += [result for result, _ in results if (bare and result.value == mine.value) or same_value(mine, result)]
    return {(reading.scale, None if reading.percent is None else "bps" if reading.unit == "basis points" else "%") for reading in readings}


def _labelled(result: Figure, labels: set[_Label]) -> list[Figure]:
    """A bare result as it may be repeated elsewhere in the answer, with the scale or kind that its operands have."""
    units = {"%": (("%", "percent"), ("percentage points", "points")), "bps": (("basis points", "points"),)}
    return [replace(result, scale=scale, unit=unit, percent=kind) for scale, name in labels for unit, kind in units.get(name or "", ((None, None),))]


def _derived(check: NumberCheck, formula: str) -> NumberCheck:
    return check if check.status in ("supported", "derived") else replace(check, status="derived", citation=None, formula=formula)


# ---------------------------------------------------------------- reading answer and page


def _asked(text: str, words: Words, figure: Figure, scope: Scope, marks: list[ScaleMark]) -> _Asked:
    """The answer's figure, among the words of its own sentence."""
    first, last = bisect_left(words.starts, scope.start), bisect_left(words.starts, scope.end)
    before, after = words_around(words, figure, first, last)
    readings = (figure, *(replace(figure, scale=mark.scale, unit=figure.unit or mark.unit) for mark in marks if figure.bare))
    rounded = _ROUNDED.search(text[max(scope.start, figure.start - ROUNDING_REACH) : figure.start])
    rounded = rounded or re.match(r"\W{0,3}(?:or so|rounded)", text[figure.end : figure.end + ROUNDING_REACH])
    outflow = figure.value > 0 and _OUTFLOW.search(text, max(scope.start, figure.start - SENSE_REACH), min(scope.end, figure.end + SENSE_REACH))
    return _Asked(figure, readings, before, after, bool(rounded), bool(outflow))
