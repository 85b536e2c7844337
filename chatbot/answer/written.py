"""Writes figures as their document prints them, and results in their operands' unit and scale; knows no document and works nothing out."""

from __future__ import annotations

import re

from chatbot.numbers import Figure

__all__ = ["as_difference", "bare", "percent", "printed", "with_number", "with_unit"]

_NUMBER = re.compile(r"(?:\d[\d,]*(?:\.\d+)?)?[¼½¾⅓⅔⅛⅜⅝⅞]|\d[\d,\u00a0\u202f]*(?:\.\d+)?|\.\d+")


# A currency's letters that touch the amount.
_GLUED = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,4}\.?)(?=\d)")


def printed(figure: Figure) -> str:
    """As printed, letters of a currency apart from the amount; the backtick is how a rupee sign comes out of some fonts."""
    return _GLUED.sub(r"\1 ", " ".join(figure.text.replace("`", "₹").split()))


def bare(figure: Figure) -> str:
    """Its digits alone."""
    match = _NUMBER.search(figure.text)
    return match[0].strip() if match else figure.text


def with_number(figure: Figure, value: float, decimals: int) -> str:
    """The figure's unit and scale with another number."""
    number = f"{value:,.{decimals}f}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return _NUMBER.sub(lambda _: number, printed(figure), count=1)


def as_difference(figure: Figure, value: float, decimals: int) -> str:
    """A difference of percentages is one in points."""
    text = with_number(figure, value, decimals)
    return f"{value:.{decimals}f} percentage points" if figure.percent == "percent" else text


def with_unit(*figures: Figure) -> Figure:
    """The first that says its unit, which may go without saying for the others of a sentence."""
    return next((figure for figure in figures if figure.unit), figures[0])


def percent(value: float) -> str:
    """With one decimal, as statements have it; below one per cent with two."""
    return f"{value:.1f}%" if abs(value) >= 1 else f"{value:.2f}%"
