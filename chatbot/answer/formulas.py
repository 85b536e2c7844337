"""Finds arithmetic that is written out in an answer and holds, "28.37 - 25.57 = 2.80"."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chatbot.answer.calculator import CalculationError, calculate
from ingestion.language.numbers import Figure
from ingestion.language.periods import YEAR

__all__ = ["Formula", "amount_of", "evaluates_to", "find_formulas", "is_constant"]

# Of averages, quarters, days, percent: no page states them.
_CONSTANTS = frozenset({1.0, 2.0, 3.0, 4.0, 12.0, 52.0, 100.0, 360.0, 365.0, 1000.0})
_LONGEST_GAP = 120  # characters between two operands, their names included
_MOST_OPERANDS = 24
_DECIMALS = 9  # of an operand; basis points with four of their own have eight
_EQUALS = re.compile(r"=|≈|\bequals\b")
_TO_RESULT = re.compile(r"\s{0,3}(?:(?:about|around|approximately|roughly|~|≈)\s{0,3})?[*_(]{0,3}\s{0,3}")
_ANNOTATION = re.compile(rf"\((?=[^()]{{0,60}}[A-Za-z])[^()]{{0,60}}\)|\({YEAR}\)")
_SIGN_WORDS = (("divided by", "/"), ("minus", "-"), ("plus", "+"), ("times", "*"))
_SIGNS = {"−": "-", "–": "-", "×": "*", "x": "*", "÷": "/"}
_NAMES = re.compile(r"(?<![^\W\d_])(?!x\b)[^\W\d_][\w'’-]*|[*_]{2}")
_OPERATOR = re.compile(r"(?P<close>[\s)]*+)(?P<sign>[-−–+*/×÷x])(?P<open>[\s(]*+)")
_CLOSING = re.compile(r"\)")
_BEHIND_RESULT = re.compile(
    r"[\s*_]{0,4}(?:(?:in all|in total|altogether|combined|together)\s)?\(\s?", re.IGNORECASE
)
_Token = float | str  # a float is the position of an operand among the figures of the text


@dataclass(frozen=True, slots=True)
class Formula:
    """Arithmetic that comes out right.

    text: as written, whitespace collapsed.
    operands, result: positions among the figures given.
    sums: it only adds, subtracts and takes means, so that the result has its operands' scale and unit.
    between: figures of further steps to the result that come to it too, "(5 + 3) / 4 = 8 / 4 = 2".
    value: what it comes to as a plain number, before it was rounded.
    """

    text: str
    operands: tuple[int, ...]
    result: int
    sums: bool
    between: tuple[int, ...] = ()
    value: float = math.nan


def find_formulas(text: str, figures: Sequence[Figure]) -> Iterator[Formula]:
    """The formulas of a text that hold within the digits their results show, in order. figures: those of
    the text, in order. Where the operands come from is for the caller to check.
    """
    ends = [figure.end for figure in figures]
    for equals in _EQUALS.finditer(text):
        last = bisect_right(ends, equals.start()) - 1
        result = last + 1
        if last < 0 or result >= len(figures):
            continue
        if not _TO_RESULT.fullmatch(text, equals.end(), figures[result].start):
            continue
        first, tokens = _left_side(text, figures, last, equals.start())
        operands = range(first, result)
        if first < last and not _holds(tokens, figures, operands, figures[result]):
            first, tokens = _left_side(text, figures, last, equals.start(), loss="-")
            operands = range(first, result)
        if first < last and _holds(tokens, figures, operands, figures[result]):
            written = _written(text, figures, first, result, tokens)
            value = _evaluate(tokens, _amounts(figures, operands))
            sums = _sums(tokens, figures)
            yield Formula(written, tuple(operands), result, sums, value=value)
            yield from _stepped(text, figures, first, result)
    yield from _bracketed(text, figures, ends)


def _written(text: str, figures: Sequence[Figure], first: int, last: int, tokens: list[_Token]) -> str:
    """The text from one figure, with the brackets that open before it, to another; whitespace collapsed."""
    start = figures[first].start
    start -= _opening(text, start, tokens)
    written = text[start : figures[last].end]
    return " ".join(written.split())


def _amounts(figures: Sequence[Figure], operands: range) -> dict[int, float]:
    """Position of each operand -> its amount."""
    return {index: amount_of(figures[index]) for index in operands}


def _stepped(text: str, figures: Sequence[Figure], step: int, result: int) -> Iterator[Formula]:
    """The arithmetic of which a later step stands before the result, "(5 + 3) / 4 = 8 / 4 = 2". step: the
    first figure of that step.
    """
    before = step - 1
    if before < 0:
        return
    begun = figures[step].start
    signs = list(_EQUALS.finditer(text, figures[before].end, begun))
    if len(signs) != 1:
        return
    equals = signs[0]
    if not _TO_RESULT.fullmatch(text, equals.end(), begun):
        return
    first, tokens = _left_side(text, figures, before, equals.start())
    operands = range(first, step)
    if first < before and _holds(tokens, figures, operands, figures[result]):
        written = _written(text, figures, first, result, tokens)
        between = tuple(range(step, result))
        sums = _sums(tokens, figures)
        yield Formula(written, tuple(operands), result, sums, between)


def _bracketed(text: str, figures: Sequence[Figure], ends: Sequence[int]) -> Iterator[Formula]:
    """Arithmetic in brackets behind its result: "178.0 (198.6 / 1.116)"."""
    for closing in _CLOSING.finditer(text):
        last = bisect_right(ends, closing.start()) - 1
        if last < 2:
            continue
        first, tokens = _left_side(text, figures, last, closing.start())
        result = first - 1
        if result < 0 or first >= last:
            continue
        start = figures[first].start
        if not _BEHIND_RESULT.fullmatch(text, figures[result].end, start):
            continue
        operands = range(first, last + 1)
        if _holds(tokens, figures, operands, figures[result]):
            written = " ".join(text[start : figures[last].end].split())
            shown = f"{written} = {figures[result].text}"
            sums = _sums(tokens, figures)
            yield Formula(shown, tuple(operands), result, sums)


def _sums(tokens: Sequence[_Token], figures: Sequence[Figure]) -> bool:
    """Whether arithmetic only adds and subtracts, or is a mean: divides by a constant alone."""
    if "*" in tokens:
        return False
    divisors = [token for sign, token in pairwise(tokens) if sign == "/"]
    for divisor in divisors:
        if not isinstance(divisor, float):
            return False
        if not is_constant(figures[int(divisor)]):
            return False
    return True


def is_constant(figure: Figure) -> bool:
    """Whether a formula may hold this figure though no page states it: a day or period count, a hundred,
    the two of an average.
    """
    return figure.bare and figure.unit is None and figure.value in _CONSTANTS


def _left_side(
    text: str, figures: Sequence[Figure], last: int, equals: int, *, loss: str = "+"
) -> tuple[int, list[_Token]]:
    """Position of the first operand, and the tokens up to the equals sign.

    loss: the sign of "5 - (3)", which may add the negative 3 or take away a printed "(3)".
    """
    if equals - figures[last].end > _LONGEST_GAP:
        return last, []
    trailing = _closing(text[figures[last].end : equals])
    if trailing is None:
        return last, []
    first = last
    tokens = [float(last), *trailing]
    while first > 0 and last - first < _MOST_OPERANDS:
        between = _between(text, figures[first - 1], figures[first], loss)
        if between is None:
            break
        first -= 1
        tokens = [float(first), *between, *tokens]
    unopened = max(0, tokens.count(")") - tokens.count("("))
    return first, ["("] * unopened + tokens


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


def _holds(tokens: list[_Token], figures: Sequence[Figure], operands: range, result: Figure) -> bool:
    """Whether the arithmetic comes to the result: in full amounts, or in the numbers as shown where all
    have one scale.
    """
    full = _evaluate(tokens, _amounts(figures, operands))
    if evaluates_to(full, result):
        return True
    scales = {figures[index].scale for index in operands}
    if len(scales) > 1:
        return False
    if result.scale not in (*scales, 1.0) and scales != {1.0}:
        return False
    values = {index: figures[index].value for index in operands}
    shown = _evaluate(tokens, values)
    if _close(shown, result, result.value):
        return True
    return result.percent == "percent" and _close(100 * shown, result, result.value)


def evaluates_to(computed: float, result: Figure) -> bool:
    """Whether a plain number is a figure within the digits that it shows."""
    return _close(computed, result, amount_of(result))


def amount_of(figure: Figure) -> float:
    """The figure as a plain number: percentages and points as fractions of one."""
    percent = 0.01 if figure.percent else 1.0
    factor = percent * (0.01 if figure.unit == "basis points" else 1.0)
    return figure.value * figure.scale * factor


def _close(computed: float, result: Figure, shown: float) -> bool:
    """Whether a number is equal within half a unit of the last digit shown."""
    if not math.isfinite(computed):
        return False
    unit = abs(shown / result.value) if result.value else 1.0
    return abs(computed - shown) <= unit * 10.0**-result.decimals * 0.5 * (1 + 1e-6)


def _evaluate(tokens: list[_Token], amounts: dict[int, float]) -> float:
    """What the arithmetic comes to; not-a-number where the tokens are none."""
    written = [_plain(amounts[int(token)]) if isinstance(token, float) else token for token in tokens]
    try:
        return calculate("".join(written)).value
    except CalculationError:
        return math.nan


def _plain(amount: float) -> str:
    """A number as the calculator takes it."""
    digits = f"{amount:.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return f"({digits})"
