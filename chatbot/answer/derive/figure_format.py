"""Writes figures as their document prints them, and results in their operands' unit and scale.

Both are read back with the value they have.
"""

from __future__ import annotations

import re

from ingestion.language.currencies import currency_of, short_sign
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.scales import SCALE_NAMES

__all__ = ["UnreadableFigureError", "as_difference", "bare", "percent", "printed", "with_number", "with_unit"]

# The first digit of a figure and its last. Around them stand sign, brackets, currency, scale and unit.
_FIRST = re.compile(r"\.?[0-9¼½¾⅓⅔⅛⅜⅝⅞]")
_LAST = re.compile(r"[0-9¼½¾⅓⅔⅛⅜⅝⅞](?=[^0-9¼½¾⅓⅔⅛⅜⅝⅞]*\Z)")
# How a negative amount is marked before its digits or its currency.
_SIGNS = re.compile(r"[-−–‒‑()]|\b(?:minus|negative)\b\s?", re.IGNORECASE)
_BRACKETS = re.compile(r"[()]")
# A currency's letters that touch the amount.
_GLUED = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,4}\.?)\Z")


class UnreadableFigureError(ValueError):
    """An amount that would not be read back as what it is."""


def printed(figure: Figure) -> str:
    """A figure as printed, with a space after a currency's letters.

    A negative one stands in brackets: "(-$50.3) million". Raises UnreadableFigureError.
    """
    _, number, _ = _parts(figure)
    return _readable(figure, figure.value, _plain(figure, number))


def bare(figure: Figure) -> str:
    """A figure's digits alone; a negative one with its sign, in brackets: "(-3)"."""
    _, printed_number, _ = _parts(figure)
    number = _plain(figure, printed_number)
    return f"(-{number})" if figure.value < 0 else number


def with_number(figure: Figure, value: float, decimals: int) -> str:
    """Another number with the figure's unit and scale: "-$2 billion". Raises UnreadableFigureError."""
    number = f"{abs(value):,.{decimals}f}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    sign = -1 if value < 0 else 1
    rounded = float(number.replace(",", "")) * sign
    return _readable(figure, rounded, number, result=True)


def as_difference(figure: Figure, value: float, decimals: int) -> str:
    """A difference in the figure's unit; of percentages, in points. Raises UnreadableFigureError."""
    if figure.percent == "percent":
        points = _unsigned_zero(value, decimals)
        return f"{points:.{decimals}f} percentage points"
    return with_number(figure, value, decimals)


def with_unit(*figures: Figure) -> Figure:
    """The first figure that has a unit, which may go without saying for the others of a sentence."""
    return next((figure for figure in figures if figure.unit), figures[0])


def percent(value: float) -> str:
    """A percentage with one decimal, as statements have it; below one per cent with two."""
    decimals = 1 if abs(value) >= 1 else 2
    return f"{_unsigned_zero(value, decimals):.{decimals}f}%"


def _unsigned_zero(value: float, decimals: int) -> float:
    """Rounded, and 0 rather than -0."""
    return round(value, decimals) + 0.0


def _parts(figure: Figure) -> tuple[str, str, str]:
    """(currency before, number, scale and unit after), all without a sign.

    The last has also what the figure takes from the next one. Raises UnreadableFigureError.
    """
    # The backtick is how a rupee sign comes out of some fonts.
    signed = figure.text.replace("`", short_sign(currency_of("`")))
    text = " ".join(signed.split())
    first = _FIRST.search(text)
    last = _LAST.search(text)
    if first is None or last is None:
        raise UnreadableFigureError(figure.text)
    before = _SIGNS.sub("", text[: first.start()]).lstrip()
    number = text[first.start() : last.end()]
    after = _BRACKETS.sub("", text[last.end() :])
    if not after and (figure.percent or figure.scale > 1):
        after = f" {_taken_unit(figure)}"
    return before, number, after


def _taken_unit(figure: Figure) -> str | None:
    """The unit or scale that a figure takes from the next one: "4 to 5 billion"."""
    if figure.unit == "%":
        return "per cent"
    if figure.percent:
        return figure.unit
    return SCALE_NAMES.get(figure.scale, "")


def _plain(figure: Figure, number: str) -> str:
    """The number as printed where it is read alone as what it is.

    Else, as with a comma for a point, it is written anew.
    """
    if figure.percent and "/" in number:
        return number
    read = find_figures(number)
    if len(read) == 1 and read[0].value == abs(figure.value) and read[0].text == number:
        return number
    return f"{abs(figure.value):,.{figure.decimals}f}"


def _readable(figure: Figure, value: float, number: str, *, result: bool = False) -> str:
    """The number with the figure's currency, scale and unit.

    A space stands after a currency's letters where it can still be read so. Raises UnreadableFigureError.

    result: a negative number is written without brackets.
    """
    before, _, after = _parts(figure)
    for currency in (_GLUED.sub(r"\1 ", before), before):
        amount = f"{currency}{number}"
        if value >= 0:
            text = f"{amount}{after}"
        else:
            text = f"-{amount}{after}" if result else f"(-{amount}){after}"
        read = find_figures(text)
        if len(read) == 1 and _is_read_as(read[0], value, figure, unsaid=not before):
            return text
    raise UnreadableFigureError(text)


def _is_read_as(read: Figure, value: float, figure: Figure, *, unsaid: bool) -> bool:
    """Whether a figure is read with this value and another one's scale and unit.

    unsaid: no currency is written, as in "$4 billion to 5 billion".
    """
    if read.value != value or read.scale != figure.scale or read.percent != figure.percent:
        return False
    unit = read.unit or (figure.unit if unsaid else None)
    return unit == figure.unit
