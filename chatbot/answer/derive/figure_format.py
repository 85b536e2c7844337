"""Writes figures as their document prints them, and results in their operands' unit and scale, so that both
are read back with the value they have; knows no document and works nothing out."""

from __future__ import annotations

import re

from ingestion.language.currencies import currency_of, sign_of
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.scales import SCALE_NAMES

__all__ = ["UnreadableFigureError", "as_difference", "bare", "percent", "printed", "with_number", "with_unit"]

# From the first digit of a figure to its last: what stands around them is sign, brackets, currency, scale and
# unit.
_FIRST = re.compile(r"\.?[0-9¼½¾⅓⅔⅛⅜⅝⅞]")
_LAST = re.compile(r"[0-9¼½¾⅓⅔⅛⅜⅝⅞](?=[^0-9¼½¾⅓⅔⅛⅜⅝⅞]*\Z)")
# How a negative amount is marked before its digits or its currency.
_SIGNS = re.compile(r"[-−–‒‑()]|\b(?:minus|negative)\b\s?", re.IGNORECASE)
_BRACKETS = re.compile(r"[()]")
# A currency's letters that touch the amount.
_GLUED = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,4}\.?)\Z")


class UnreadableFigureError(ValueError):
    """An amount that no reader of figures would take for what it is."""


def printed(figure: Figure) -> str:
    """As printed, letters of a currency apart from the amount, a negative one in brackets: "(-$50.3)
    million".

    The backtick is how a rupee sign comes out of some fonts. Raises UnreadableError.
    """
    _, number, _ = _parts(figure)
    return _readable(figure, figure.value, _plain(figure, number))


def bare(figure: Figure) -> str:
    """Its digits alone, with the sign of a negative one in brackets: "(-3)"."""
    _, number, _ = _parts(figure)
    number = _plain(figure, number)
    if figure.value < 0:
        return f"(-{number})"
    return number


def with_number(figure: Figure, value: float, decimals: int) -> str:
    """The figure's unit and scale with another number: "-$2 billion". Raises UnreadableError."""
    number = f"{abs(value):,.{decimals}f}"
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return _readable(figure, float(number.replace(",", "")) * (-1 if value < 0 else 1), number, result=True)


def as_difference(figure: Figure, value: float, decimals: int) -> str:
    """A difference of percentages is one in points. Raises UnreadableError."""
    if figure.percent == "percent":
        return f"{_unsigned_zero(value, decimals):.{decimals}f} percentage points"
    return with_number(figure, value, decimals)


def with_unit(*figures: Figure) -> Figure:
    """The first that says its unit, which may go without saying for the others of a sentence."""
    return next((figure for figure in figures if figure.unit), figures[0])


def percent(value: float) -> str:
    """With one decimal, as statements have it; below one per cent with two."""
    if abs(value) >= 1:
        return f"{_unsigned_zero(value, 1):.1f}%"
    return f"{_unsigned_zero(value, 2):.2f}%"


def _unsigned_zero(value: float, decimals: int) -> float:
    """Rounded, and 0 rather than -0."""
    return round(value, decimals) + 0.0


def _parts(figure: Figure) -> tuple[str, str, str]:
    """(currency before, number, scale and unit after), all without a sign; after: also what the figure
    takes from the next one.
    """
    text = " ".join(figure.text.replace("`", sign_of(currency_of("`"))).split())
    first = _FIRST.search(text)
    last = _LAST.search(text)
    if first is None or last is None:
        raise UnreadableFigureError(figure.text)
    after = _BRACKETS.sub("", text[last.end() :])
    if not after and (
        figure.percent or figure.scale > 1
    ):  # it takes them from the next one: "4 to 5 billion"
        after = f" {'per cent' if figure.unit == '%' else figure.unit if figure.percent else SCALE_NAMES.get(figure.scale, '')}"
    return _SIGNS.sub("", text[: first.start()]).lstrip(), text[first.start() : last.end()], after


def _plain(figure: Figure, number: str) -> str:
    """The number as printed where it is read alone as what it is; else, as with a comma for a point,
    written anew.
    """
    read = find_figures(number)
    same = len(read) == 1 and read[0].value == abs(figure.value) and read[0].text == number
    if same or (figure.percent and "/" in number):
        return number
    return f"{abs(figure.value):,.{figure.decimals}f}"


def _readable(figure: Figure, value: float, number: str, *, result: bool = False) -> str:
    """The number with the figure's currency, scale and unit, letters of a currency apart from it where
    that is read too.
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
    """Whether value, scale and unit are read. unsaid: no currency is written, as in "$4 billion to 5
    billion".
    """
    unit = read.unit or (figure.unit if unsaid else None)
    return (read.value, read.scale, read.percent, unit) == (value, figure.scale, figure.percent, figure.unit)
