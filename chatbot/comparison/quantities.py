"""Says what kind of quantity a figure is, and writes numbers and units as a table shows them."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

from chatbot.calculator import Operand, written_out
from chatbot.comparison.records import Quantity
from ingestion.language.currencies import MONEY, short_sign
from ingestion.language.numbers import find_figures
from ingestion.language.scales import SCALE_NAMES

__all__ = [
    "MINUS",
    "MOST_DECIMALS",
    "POINTS",
    "amount_text",
    "common_scale",
    "is_bare",
    "is_rate",
    "kind_of",
    "money_of",
    "number_text",
    "operand_text",
    "printed_amount",
    "unit_apart",
    "worked_out",
]

# The least bare amount that is taken for one without a scale, beside amounts in thousands or millions.
LEAST_WHOLE = 1e6
# The most decimals of figures that are brought from one scale to another.
MOST_DECIMALS = 3
MINUS = "\u2212"
POINTS = "percentage points"


def printed_amount(quantity: Quantity) -> str:
    """Returns a figure as its document has it, with its unit, such as "$5.2 billion"."""
    return amount_text(quantity.text, *unit_apart(quantity))


def unit_apart(quantity: Quantity) -> tuple[str, str]:
    """Returns (currency, scale or "per cent"), "" for what the figure's text has or what is not known."""
    own = next(iter(find_figures(quantity.text)), None)
    if quantity.unit == "%":
        return "", "" if own and own.percent else "per cent"
    money = "" if own and own.unit else money_of(quantity)
    return money, "" if own and own.scale > 1 else SCALE_NAMES.get(quantity.scale, "")


def amount_text(number: str, money: str, scale: str) -> str:
    """Writes an amount with its currency and scale: "+$22.7 million", "CHF 5", "22.7 million crowns".

    number: "" for the unit alone, such as "$ million".
    money: a code, whose sign is written if it has one, or how the page has it.
    """
    said = short_sign(money)
    if not said or said.islower():
        return " ".join(filter(None, [number, scale, said]))
    sign = number[: number[:1] in {"+", MINUS}]
    blank = " " if said[-1].isalpha() else ""
    return f"{sign}{said}{blank}{number[len(sign) :]} {scale}".strip().replace("  ", " ")


def is_rate(quantity: Quantity) -> bool:
    return quantity.unit in {"%", POINTS, "basis points"}


def kind_of(quantity: Quantity) -> str:
    if quantity.unit in {POINTS, "basis points"}:
        return "a number of points"
    if quantity.unit == "%":
        return "a percentage"
    return "a multiple" if quantity.unit == "x" else "an amount"


def money_of(*quantities: Quantity) -> str:
    return next((quantity.unit for quantity in quantities if quantity.unit in MONEY and quantity.unit), "")


def number_text(value: float, decimals: int) -> str:
    """Writes a number with separators of thousands, and a minus sign before one below zero."""
    shown = f"{abs(value):,.{decimals}f}"
    return f"{MINUS}{shown}" if value < 0 and shown.strip("0.,") else shown


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
