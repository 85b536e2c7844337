"""Works out written arithmetic: + − × ÷, powers, percentages, minimum, maximum, mean, sum and count.

Nothing is run as code: an expression is parsed, and its numbers, signs and named functions are worked out.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from types import MappingProxyType

from chatbot.errors import ProjectError

__all__ = ["Calculation", "CalculationError", "Operand", "calculate", "half_digit", "written_out"]

LONGEST_EXPRESSION = 600
# Greater exponents, and results beyond floats, are of no calculation with money.
GREATEST_EXPONENT = 100.0
_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "^": "**"})
_APART = "[,'’ \u00a0\u2007\u2008\u2009\u202f]"
_NUMBER = re.compile(rf"(?:\d{{1,3}}(?:{_APART}\d{{3}})+(?!\d)|\d+)(?:\.\d+)?(?P<percent>\s?%)?", re.ASCII)
_TIMES = re.compile(r"(?<=[\d)% ])x(?=[\s(\d])")
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_OTHERS = re.compile(r"[\s()+\-*/,]*")
_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "sum": math.fsum,
    "mean": fmean,
    "average": fmean,
    "avg": fmean,
    "count": len,
    "abs": lambda values: abs(values[0]),
}


_NAMES = re.compile(rf"\b(?:{'|'.join(_FUNCTIONS)})(?=\s?\()", re.IGNORECASE)
_LETTER = re.compile(r"\b[A-Za-z]\b")
_NO_VALUES: Mapping[str, float] = MappingProxyType({})

# What a letter of a formula stands for: its value, and how that is written.
Operand = tuple[float, str]


class CalculationError(ProjectError):
    """An expression that cannot be worked out."""


@dataclass(frozen=True, slots=True)
class Calculation:
    """An expression with what it comes to.

    steps: (what a part of it comes to, whether that part is a sum), of the parts that are no single numbers,
        the whole first. A sum only adds, subtracts and takes extremes, means and absolute values, or divides
        by a whole number, so that it has the scale and unit of its amounts.
    amounts: its numbers that are added, subtracted or arguments of a function.
    factors: those that multiply, divide or are exponents, and the 1 beside a ratio, "a / b - 1"; also
        percentages, each with its 100.
    percents: the numbers with a percent sign, without it.
    """

    expression: str
    value: float
    steps: tuple[tuple[float, bool], ...]
    amounts: tuple[float, ...]
    factors: tuple[float, ...]
    percents: tuple[float, ...] = ()


def half_digit(decimals: int) -> float:
    """Half a unit of the last digit of a number with so many decimals, and what floats may add to it."""
    return 0.5 * 10.0**-decimals * (1 + 1e-6)


def written_out(formula: str, operands: Mapping[str, Operand]) -> Operand:
    """What a formula of single letters, "100 * (a - b) / b", comes to, and how it is written with operands.

    Raises CalculationError.
    """
    value = calculate(formula, {letter: value for letter, (value, _) in operands.items()}).value
    return value, _LETTER.sub(lambda letter: operands[letter[0]][1], formula.replace("*", "×"))


def calculate(expression: str, values: Mapping[str, float] = _NO_VALUES) -> Calculation:
    """Work out an expression such as "(1,209 − 1,180) / 1,180 × 100" or "mean(4.1, 3.9)".

    values: of single letters in it.

    Commas and blanks before three digits set thousands apart, as in "1,209" and "1 209"; a comma with a blank
    behind it parts two numbers. "5%" is 0.05. Raises CalculationError.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise CalculationError(
            f"The expression has over {LONGEST_EXPRESSION} characters.", hint="Shorten it."
        )

    percents: list[float] = []

    def plain(match: re.Match[str]) -> str:
        text = re.sub(r"[^\d.]", "", match[0]).lstrip("0") or "0"
        if not match["percent"]:
            return text
        percents.append(float(text))
        return f"({text}/100)"

    steps: list[tuple[float, bool]] = []
    scaling: set[ast.expr] = set()

    written = expression.translate(_SIGNS)
    written = written if "x" in values else _TIMES.sub("*", written)
    try:
        named = _LETTER.sub(lambda letter: "" if letter[0] in values else letter[0], written)
        if not _OTHERS.fullmatch(_NAMES.sub("", _NUMBER.sub("", named))):
            raise ValueError(written)
        written = _NUMBER.sub(plain, written)
        tree = ast.parse(written.strip(), mode="eval").body
        value = _worked_out(tree, steps, scaling, values)
    except ZeroDivisionError as error:
        raise CalculationError(f"{expression} divides by zero.", hint="Check its numbers.") from error
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise CalculationError(
            f"{expression} cannot be worked out.",
            hint="Use numbers, + - * / ** ( ) %, min, max, mean, sum, count and abs.",
        ) from error
    if not math.isfinite(value):
        raise CalculationError(f"{expression} is too large.", hint="Check its numbers.")
    amounts, factors = list[float](), list[float]()
    _sort(tree, scaling, amounts, factors, is_amount=True)
    shown = " ".join(expression.split())
    whole_first = tuple(reversed(steps)) or ((value, True),)
    return Calculation(shown, value, whole_first, tuple(amounts), tuple(factors), tuple(percents))


def _worked_out(
    node: ast.expr, steps: list[tuple[float, bool]], scaling: set[ast.expr], values: Mapping[str, float]
) -> float:
    """What a part comes to. values: of letters.

    steps: gets each part that is no single number, as Calculation has them, the whole last. scaling: gets the
    parts that change the unit, or have a part that does. Raises ValueError for anything but numbers, the
    operations and the functions.
    """
    parts: list[ast.expr]
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=letter) if letter in values:
            return values[letter]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            parts = [operand]
            value = _worked_out(operand, steps, scaling, values)
            value = -value if isinstance(node.op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            parts = [left, right]
            first, second = (_worked_out(part, steps, scaling, values) for part in parts)
            value = _operated(op, first, second)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as parts, keywords=[]) if (
            name.lower() in _FUNCTIONS
        ):
            found = [_worked_out(part, steps, scaling, values) for part in parts]
            value = float(_FUNCTIONS[name.lower()](found))
        case _:
            raise ValueError(ast.dump(node))
    if _scales(node) or not scaling.isdisjoint(parts):
        scaling.add(node)
    if not isinstance(node, ast.UnaryOp):
        steps.append((value, node not in scaling))
    return value


def _operated(op: ast.operator, first: float, second: float) -> float:
    if isinstance(op, ast.Pow):
        if abs(second) > GREATEST_EXPONENT or (first < 0 and second != int(second)):
            raise ValueError(second)
        return float(first**second)
    if type(op) not in _OPERATIONS:
        raise ValueError(op)
    return _OPERATIONS[type(op)](first, second)


def _sort(
    node: ast.expr, scaling: set[ast.expr], amounts: list[float], factors: list[float], *, is_amount: bool
) -> None:
    """Put each number of an expression among its amounts or its factors. scaling: see `_worked_out`."""

    def put(part: ast.expr, *, is_amount: bool) -> None:
        _sort(part, scaling, amounts, factors, is_amount=is_amount)

    match node:
        case ast.Constant(value=int() | float() as number):
            (amounts if is_amount else factors).append(float(number))
        case ast.UnaryOp(operand=operand):
            put(operand, is_amount=is_amount)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            for side, other in ((left, right), (right, left)):
                is_one = isinstance(side, ast.Constant) and side.value == 1
                put(side, is_amount=not (is_one and other in scaling))
        case ast.BinOp(left=left, right=right):
            for side in (left, right):
                put(side, is_amount=False)
        case ast.Call(args=arguments):
            for argument in arguments:
                put(argument, is_amount=True)


def _scales(node: ast.AST) -> bool:
    """Whether a part of an expression changes the unit: it multiplies, divides by no whole count, or is a
    power or a count."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Constant(value=int())):
            return False
        case ast.BinOp(op=ast.Mult() | ast.Div() | ast.Pow()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name.lower() == "count"
    return False
