"""Knows arithmetic written out in an answer, "28.37 - 25.57 = 2.80"; does not know where the operands come
from, its caller does.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.language.numbers import Figure
from ingestion.language.periods import YEAR

__all__ = ["Formula", "amount_of", "comes_to", "find_formulas", "is_constant"]

_CONSTANTS = frozenset(
    {1.0, 2.0, 3.0, 4.0, 12.0, 52.0, 100.0, 360.0, 365.0, 1000.0}
)  # averages, quarters, days, percent: no page states them
_LONGEST_GAP = 120  # characters between two operands, their names included
_MOST_OPERANDS = 24
_EQUALS = re.compile(r"=|≈|\bequals\b")
_TO_RESULT = re.compile(r"\s{0,3}(?:(?:about|around|approximately|roughly|~|≈)\s{0,3})?[*_(]{0,3}\s{0,3}")
_ANNOTATION = re.compile(rf"\((?=[^()]{{0,60}}[A-Za-z])[^()]{{0,60}}\)|\({YEAR}\)")
_SIGN_WORDS = (("divided by", "/"), ("minus", "-"), ("plus", "+"), ("times", "*"))
_SIGNS = {"−": "-", "–": "-", "×": "*", "x": "*", "÷": "/"}
_NAMES = re.compile(r"(?<![^\W\d_])(?!x\b)[^\W\d_][\w'’-]*|[*_]{2}")
_OPERATOR = re.compile(r"(?P<close>[\s)]*+)(?P<sign>[-−–+*/×÷x])(?P<open>[\s(]*+)")
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CLOSING = re.compile(r"\)")
_BEHIND_RESULT = re.compile(
    r"[\s*_]{0,4}(?:(?:in all|in total|altogether|combined|together)\s)?\(\s?", re.IGNORECASE
)
_Token = float | str  # a float is the position of an operand among the figures of the text


@dataclass(frozen=True, slots=True)
class Formula:
    """Arithmetic that comes out right. text: as written, whitespace collapsed. operands, result: positions
    among the figures given.

    sums: it only adds, subtracts and takes means, so that the result has its operands' scale and unit.
    between: figures of further steps to the result that come to it too, "(5 + 3) / 4 = 8 / 4 = 2". value:
    what it comes to as a plain number, before it was rounded.
    """

    text: str
    operands: tuple[int, ...]
    result: int
    sums: bool
    between: tuple[int, ...] = ()
    value: float = math.nan


def find_formulas(text: str, figures: Sequence[Figure]) -> Iterator[Formula]:
    """The formulas of a text that hold within the digits their results show, in order; figures: those of
    the text, in order.
    """
    ends = [figure.end for figure in figures]
    for equals in _EQUALS.finditer(text):
        last = bisect_right(ends, equals.start()) - 1
        if (
            last < 0
            or last + 1 >= len(figures)
            or not _TO_RESULT.fullmatch(text, equals.end(), figures[last + 1].start)
        ):
            continue
        first, tokens = _left_side(text, figures, last, equals.start())
        if first < last and _holds(tokens, figures, range(first, last + 1), figures[last + 1]):
            start = figures[first].start - _opening(text, figures[first].start, tokens)
            written = " ".join(text[start : figures[last + 1].end].split())
            value = _evaluate(tokens, {index: amount_of(figures[index]) for index in range(first, last + 1)})
            yield Formula(
                written, tuple(range(first, last + 1)), last + 1, _sums(tokens, figures), value=value
            )
            yield from _stepped(text, figures, first, last + 1)
    yield from _bracketed(text, figures, ends)


def _stepped(text: str, figures: Sequence[Figure], step: int, result: int) -> Iterator[Formula]:
    """The arithmetic of which that before the result is a further step, from its first figure on: "(5 + 3)
    / 4 = 8 / 4 = 2".
    """
    before = step - 1
    if before >= 0:
        equals = list(_EQUALS.finditer(text, figures[before].end, figures[step].start))
    else:
        equals = []
    if len(equals) != 1 or not _TO_RESULT.fullmatch(text, equals[0].end(), figures[step].start):
        return
    first, tokens = _left_side(text, figures, before, equals[0].start())
    if first < before and _holds(tokens, figures, range(first, before + 1), figures[result]):
        written = " ".join(
            text[
                figures[first].start - _opening(text, figures[first].start, tokens) : figures[result].end
            ].split()
        )
        operands = tuple(range(first, before + 1))
        between = tuple(range(step, result))
        yield Formula(written, operands, result, _sums(tokens, figures), between)


def _bracketed(text: str, figures: Sequence[Figure], ends: Sequence[int]) -> Iterator[Formula]:
    """Arithmetic in brackets behind its result: "178.0 (198.6 / 1.116)"."""
    for closing in _CLOSING.finditer(text):
        last = bisect_right(ends, closing.start()) - 1
        if last < 2:
            continue
        first, tokens = _left_side(text, figures, last, closing.start())
        result = first - 1
        opens = (
            result >= 0
            and first < last
            and _BEHIND_RESULT.fullmatch(text, figures[result].end, figures[first].start)
        )
        if opens and _holds(tokens, figures, range(first, last + 1), figures[result]):
            written = " ".join(text[figures[first].start : figures[last].end].split())
            yield Formula(
                f"{written} = {figures[result].text}",
                tuple(range(first, last + 1)),
                result,
                _sums(tokens, figures),
            )


def _sums(tokens: Sequence[_Token], figures: Sequence[Figure]) -> bool:
    """Whether arithmetic only adds and subtracts, or is a mean: divides by a constant alone."""
    by = [token for sign, token in pairwise(tokens) if sign == "/"]
    return "*" not in tokens and all(isinstance(one, float) and is_constant(figures[int(one)]) for one in by)


def is_constant(figure: Figure) -> bool:
    """Whether a formula may hold this figure though no page states it: a day or period count, a hundred,
    the two of an average.
    """
    return figure.bare and figure.unit is None and figure.value in _CONSTANTS


def _left_side(text: str, figures: Sequence[Figure], last: int, equals: int) -> tuple[int, list[_Token]]:
    """Position of the first operand, and the tokens up to the equals sign."""
    if equals - figures[last].end <= _LONGEST_GAP:
        trailing = _closing(text[figures[last].end : equals])
    else:
        trailing = None
    if trailing is None:
        return last, []
    first = last
    tokens = [float(last), *trailing]
    while first > 0 and last - first < _MOST_OPERANDS:
        between = _between(text, figures[first - 1], figures[first])
        if between is None:
            break
        first -= 1
        tokens = [float(first), *between, *tokens]
    return first, ["("] * max(0, tokens.count(")") - tokens.count("(")) + tokens


def _closing(gap: str) -> list[_Token] | None:
    gap = _NAMES.sub("", _ANNOTATION.sub("", gap)).strip()
    if set(gap) <= {")"}:
        return [")"] * len(gap)
    return None


def _between(text: str, left: Figure, right: Figure) -> list[_Token] | None:
    """Closing brackets, sign and opening brackets between two operands; None where anything else stands
    there.
    """
    gap = text[left.end : right.start]
    if len(gap) > _LONGEST_GAP:
        return None
    if not gap.strip() and right.value < 0:
        return ["+"]  # "5 -3": the sign went with the figure
    gap = _ANNOTATION.sub("", gap)
    for name, sign in _SIGN_WORDS:
        gap = gap.replace(name, sign)
    match = _OPERATOR.fullmatch(_NAMES.sub("", gap).replace(",", ""))
    if match is None:
        return None
    return [
        *(")" * match["close"].count(")")),
        _SIGNS.get(match["sign"], match["sign"]),
        *("(" * match["open"].count("(")),
    ]


def _opening(text: str, start: int, tokens: list[_Token]) -> int:
    """How many characters of opening brackets stand right before the first operand."""
    wanted = next((count for count, token in enumerate(tokens) if token != "("), 0)
    if text[max(0, start - wanted) : start] == "(" * wanted:
        return wanted
    return 0


def _holds(tokens: list[_Token], figures: Sequence[Figure], operands: range, result: Figure) -> bool:
    """Whether the arithmetic comes to the result: in full amounts, or in the numbers as shown where all
    have one scale.
    """
    full = _evaluate(tokens, {index: amount_of(figures[index]) for index in operands})
    if comes_to(full, result):
        return True
    scales = {figures[index].scale for index in operands}
    if len(scales) > 1 or (result.scale not in (*scales, 1.0) and scales != {1.0}):
        return False
    shown = _evaluate(tokens, {index: figures[index].value for index in operands})
    return _close(shown, result, result.value) or (
        result.percent == "percent" and _close(100 * shown, result, result.value)
    )


def comes_to(computed: float, result: Figure) -> bool:
    """Whether a plain number is a figure within the digits that it shows."""
    return _close(computed, result, amount_of(result))


def amount_of(figure: Figure) -> float:
    """The figure as a plain number: percentages and points as fractions of one."""
    factor = (0.01 if figure.percent else 1.0) * (0.01 if figure.unit == "basis points" else 1.0)
    return figure.value * figure.scale * factor


def _close(computed: float, result: Figure, shown: float) -> bool:
    """Equal within half a unit of the last digit shown."""
    if result.value:
        unit = abs(shown / result.value)
    else:
        unit = 1.0
    return math.isfinite(computed) and abs(computed - shown) <= unit * 10.0**-result.decimals * 0.5 * (
        1 + 1e-6
    )


def _evaluate(tokens: list[_Token], amounts: dict[int, float]) -> float:
    """What the arithmetic comes to; not-a-number for what is none."""
    written = [f"x{token:.0f}" if isinstance(token, float) else token for token in tokens]
    try:
        return _value(ast.parse(" ".join(written), mode="eval").body, amounts)
    except (SyntaxError, ZeroDivisionError):
        return math.nan


def _value(node: ast.expr, amounts: dict[int, float]) -> float:
    """Of operands and the four operations on them; not-a-number for anything else, a sign before an
    operand among it.
    """
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left, amounts), _value(node.right, amounts))
    if isinstance(node, ast.Name):
        return amounts[int(node.id[1:])]
    return math.nan
