"""Finds arithmetic that is written out in an answer and holds, "28.37 - 25.57 = 2.80"."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chatbot.calculator import Calculation, CalculationError, calculate, half_digit
from ingestion.language.figure_words import ABOUT
from ingestion.language.numbers import Figure
from ingestion.language.periods import YEAR

__all__ = ["Formula", "amount_of", "evaluates_to", "find_formulas", "is_constant"]

# Of averages, quarters, days, percent: no page states them.
_CONSTANTS = frozenset({1.0, 2.0, 3.0, 4.0, 12.0, 52.0, 100.0, 360.0, 365.0, 1000.0})
_LONGEST_GAP = 120  # characters between two operands, their names included
_MOST_OPERANDS = 24
_LETTERS = string.ascii_letters.replace("x", "")  # more than an equation has operands
_EQUALS = re.compile(r"=|≈|\bequals\b")
_TO_RESULT = re.compile(rf"\s{{0,3}}(?:(?:{ABOUT}|~|≈)\s{{0,3}})?[*_(]{{0,3}}\s{{0,3}}")
_ANNOTATION = re.compile(rf"\((?=[^()]{{0,60}}[A-Za-z])[^()]{{0,60}}\)|\({YEAR}\)")
_SIGN_WORDS = (("divided by", "/"), ("minus", "-"), ("plus", "+"), ("times", "*"))
_SIGNS = {"−": "-", "–": "-", "×": "*", "x": "*", "÷": "/"}
_NAMES = re.compile(r"(?<![^\W\d_])(?!x\b)[^\W\d_][\w'’-]*|[*_]{2}")
_OPERATOR = re.compile(r"(?P<close>[\s)]*+)(?P<sign>[-−–+*/×÷x])(?P<open>[\s(]*+)")
_CLOSING = re.compile(r"\)")
_BEHIND_RESULT = re.compile(
    r"[\s*_]{0,4}(?:(?:in all|in total|altogether|combined|together)\s)?\(\s?", re.IGNORECASE
)
_Token = int | str  # a number is the position of an operand among the figures of the text
_Side = tuple[int, int, list[_Token]]  # first and last operand of a side of an equation, and its tokens


@dataclass(frozen=True, slots=True)
class Formula:
    """Arithmetic that comes out right.

    text: as written, whitespace collapsed.
    operands, result: positions among the figures given.
    sums: it only adds, subtracts and takes means, so that the result has its operands' scale and unit.
    between: figures of further steps to the result that come to it too, "(5 + 3) / 4 = 8 / 4 = 2".
    """

    text: str
    operands: tuple[int, ...]
    result: int
    sums: bool
    between: tuple[int, ...] = ()


def find_formulas(text: str, figures: Sequence[Figure]) -> Iterator[Formula]:
    """The formulas of a text that hold within the digits their results show, in order. figures: those of
    the text, in order. Where the operands come from is for the caller to check.
    """
    ends = [figure.end for figure in figures]
    for equals in _EQUALS.finditer(text):
        last = bisect_right(ends, equals.start()) - 1
        result = last + 1
        if last < 0 or not _leads_to(text, equals.end(), figures[result:]):
            continue
        for loss in "+-":
            side = _left_side(text, figures, last, equals.start(), loss=loss)
            if found := _formula(text, figures, side, result):
                yield found
                yield from _stepped(text, figures, side[0], result)
                break
    for closing in _CLOSING.finditer(text):  # "178.0 (198.6 / 1.116)"
        last = bisect_right(ends, closing.start()) - 1
        if last < 2:
            continue
        side = _left_side(text, figures, last, closing.start())
        result = side[0] - 1
        if result >= 0 and _BEHIND_RESULT.fullmatch(text, figures[result].end, figures[side[0]].start):
            yield from filter(None, [_formula(text, figures, side, result)])


def _leads_to(text: str, position: int, following: Sequence[Figure]) -> bool:
    """Whether nothing stands between an equals sign and the next figure but "about". position: behind it."""
    return bool(following) and _TO_RESULT.fullmatch(text, position, following[0].start) is not None


def _formula(
    text: str, figures: Sequence[Figure], side: _Side, result: int, *, between: tuple[int, ...] = ()
) -> Formula | None:
    """The arithmetic of one side of an equation; None if it does not come to the result."""
    first, last, tokens = side
    worked = _worked_out(tokens, figures, figures[result]) if first < last else None
    if worked is None:
        return None
    start = figures[first].start - _opening(text, figures[first].start, tokens)
    written = " ".join(text[start : figures[max(last, result)].end].split())
    if result < first:
        written += f" = {figures[result].text}"
    _, sums = worked.steps[0]
    return Formula(written, tuple(range(first, last + 1)), result, sums, between)


def _stepped(text: str, figures: Sequence[Figure], step: int, result: int) -> Iterator[Formula]:
    """The arithmetic of which a later step stands before the result, "(5 + 3) / 4 = 8 / 4 = 2". step: the
    first figure of that step.
    """
    before = step - 1
    if before < 0:
        return
    signs = list(_EQUALS.finditer(text, figures[before].end, figures[step].start))
    if len(signs) == 1 and _leads_to(text, signs[0].end(), figures[step:]):
        side = _left_side(text, figures, before, signs[0].start())
        yield from filter(None, [_formula(text, figures, side, result, between=tuple(range(step, result)))])


def is_constant(figure: Figure) -> bool:
    """Whether a formula may hold this figure though no page states it: a day or period count, a hundred,
    the two of an average.
    """
    return figure.bare and figure.unit is None and figure.value in _CONSTANTS


def _left_side(text: str, figures: Sequence[Figure], last: int, equals: int, *, loss: str = "+") -> _Side:
    """The side of an equation up to its equals sign.

    loss: the sign of "5 - (3)", which may add the negative 3 or take away a printed "(3)".
    """
    trailing = _closing(text[figures[last].end : equals])
    if trailing is None or equals - figures[last].end > _LONGEST_GAP:
        return last, last, []
    first = last
    tokens: list[_Token] = [last, *trailing]
    while first > 0 and last - first < _MOST_OPERANDS:
        between = _between(text, figures[first - 1], figures[first], loss)
        if between is None:
            break
        first -= 1
        tokens = [first, *between, *tokens]
    return first, last, ["("] * max(0, tokens.count(")") - tokens.count("(")) + tokens


def _closing(gap: str) -> list[_Token] | None:
    """The closing brackets between an operand and the equals sign; None where anything else stands there."""
    gap = _ANNOTATION.sub("", gap)
    gap = _NAMES.sub("", gap).strip()
    if set(gap) <= {")"}:
        return [")"] * len(gap)
    return None


def _between(text: str, left: Figure, right: Figure, loss: str) -> list[_Token] | None:
    """Closing brackets, sign and opening brackets between two operands; None where anything else stands
    there.
    """
    gap = text[left.end : right.start]
    if len(gap) > _LONGEST_GAP:
        return None
    if not gap.strip() and right.value < 0:
        return [loss if "(" in right.text else "+"]  # "5 -3": the sign went with the figure
    gap = _ANNOTATION.sub("", gap)
    for name, sign in _SIGN_WORDS:
        gap = gap.replace(name, sign)
    gap = _NAMES.sub("", gap).replace(",", "")
    match = _OPERATOR.fullmatch(gap)
    if match is None:
        return None
    closed = match["close"].count(")")
    opened = match["open"].count("(")
    sign = _SIGNS.get(match["sign"], match["sign"])
    return [*(")" * closed), sign, *("(" * opened)]


def _opening(text: str, start: int, tokens: list[_Token]) -> int:
    """How many characters of opening brackets stand right before the first operand."""
    count = 0
    while count < len(tokens) and tokens[count] == "(":
        count += 1
    if text[max(0, start - count) : start] == "(" * count:
        return count
    return 0


def _worked_out(tokens: Sequence[_Token], figures: Sequence[Figure], result: Figure) -> Calculation | None:
    """The arithmetic if it comes to the result: in full amounts, or in the numbers as shown where all have
    one scale; else None.
    """
    full = _calculated(tokens, figures, amount_of)
    if full is None or evaluates_to(full.value, result):
        return full
    scales = {figures[token].scale for token in tokens if isinstance(token, int)}
    if len(scales) > 1 or (result.scale not in (*scales, 1.0) and scales != {1.0}):
        return None
    shown = _calculated(tokens, figures, lambda figure: figure.value)
    percent = (1.0, 100.0) if result.percent == "percent" else (1.0,)
    if shown and any(_close(factor * shown.value, result, result.value) for factor in percent):
        return shown
    return None


def _calculated(
    tokens: Sequence[_Token], figures: Sequence[Figure], value: Callable[[Figure], float]
) -> Calculation | None:
    """What the arithmetic comes to; None where the tokens are none. value: of an operand."""
    values: dict[str, float] = {}
    written = ""
    for token in tokens:
        if isinstance(token, str):
            written += token
        elif is_constant(figures[token]):
            written += f"{figures[token].value:.0f}"
        else:
            letter = _LETTERS[len(values)]
            written += letter
            values[letter] = value(figures[token])
    try:
        return calculate(written, values)
    except CalculationError:
        return None


def evaluates_to(computed: float, result: Figure) -> bool:
    """Whether a plain number is a figure within the digits that it shows."""
    return _close(computed, result, amount_of(result))


def amount_of(figure: Figure) -> float:
    """The figure as a plain number: percentages and points as fractions of one."""
    factor = (0.01 if figure.percent else 1.0) * (0.01 if figure.unit == "basis points" else 1.0)
    return figure.value * figure.scale * factor


def _close(computed: float, result: Figure, shown: float) -> bool:
    """Whether a number is equal within half a unit of the last digit shown."""
    unit = abs(shown / result.value) if result.value else 1.0
    return abs(computed - shown) <= unit * half_digit(result.decimals)
