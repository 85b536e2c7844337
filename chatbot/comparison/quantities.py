"""Says what kind of quantity a figure is, and writes numbers and units as a table shows them."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from chatbot.calculator import Operand, written_out
from chatbot.comparison.records import Quantity
from ingestion.language.currencies import MONEY
from ingestion.language.numbers import find_figures
from ingestion.language.scales import SCALE_NAMES

__all__ = [
    "MINUS",
    "MOST_DECIMALS",
    "POINTS",
    "common_scale",
    "is_bare",
    "is_rate",
    "joined_unit",
    "kind_of",
    "money_of",
    "number_text",
    "operand_text",
    "unit_text",
    "worked_out",
]

# The least bare amount that is taken for one without a scale, beside amounts in thousands or millions.
LEAST_WHOLE = 1e6
# The most decimals of figures that are brought from one scale to another.
MOST_DECIMALS = 3
MINUS = "\u2212"
POINTS = "percentage points"


def unit_text(quantity: Quantity) -> str:
    """Returns the unit with its scale, such as "USD million".

    Returns "" if the figure's own text has it, or if it is not known.
    """
    own = next(iter(find_figures(quantity.text)), None)
    if quantity.unit == "%":
        if own and own.percent:
            return ""
        return "per cent"
    money = quantity.unit if quantity.unit in MONEY and not (own and own.unit) else ""
    scale = SCALE_NAMES.get(quantity.scale, "") if not (own and own.scale > 1) else ""
    return joined_unit(money, scale)


def joined_unit(money: str, scale: str) -> str:
    """Joins currency and scale: "USD million" or "$ million", but "million crowns"."""
    return " ".join(filter(None, [scale, money] if money.islower() else [money, scale]))


def is_rate(quantity: Quantity) -> bool:
    return quantity.unit in {"%", POINTS, "basis points"}


def kind_of(quantity: Quantity) -> str:
    if quantity.unit in {POINTS, "basis points"}:
        return "a number of points"
    if quantity.unit == "%":
        return "a percentage"
    if quantity.unit == "x":
        return "a multiple"
    return "an amount"


def money_of(*quantities: Quantity) -> str:
    return next((quantity.unit for quantity in quantities if quantity.unit in MONEY and quantity.unit), "")


def number_text(value: float, decimals: int) -> str:
    """Writes a number with separators of thousands, and a minus sign before one below zero."""
    shown = f"{abs(value):,.{decimals}f}"
    if value < 0 and shown.strip("0.,"):
        return f"{MINUS}{shown}"
    return shown


def operand_text(value: float, decimals: int) -> str:
    """Puts a negative number in brackets, so that no two signs meet in a formula."""
    number = number_text(value, decimals)
    return f"({number})" if number.startswith(MINUS) else number


def worked_out(formula: str, *numbers: tuple[float, int]) -> Operand:
    """What a formula of the letters a, b, … comes to, and how it is written. numbers: (value, decimals) of
    each. Raises CalculationError.
    """
    operands = [(value, operand_text(value, decimals)) for value, decimals in numbers]
    return written_out(formula, dict(zip(ascii_lowercase, operands, strict=False)))


def common_scale(amounts: Iterable[tuple[float, float]]) -> float:
    """Returns the largest scale in which the smallest amount is one or more. amounts: (value, its scale)."""
    found = list(amounts)
    scales = sorted({scale for _, scale in found}, reverse=True)
    smallest = min((abs(value * scale) for value, scale in found if value), default=0.0)
    return next((scale for scale in scales if smallest >= scale), scales[-1])


def is_bare(quantity: Quantity) -> bool:
    """Whether an amount may lack a scale that its page states elsewhere."""
    return quantity.scale == 1.0 and abs(quantity.value) < LEAST_WHOLE
