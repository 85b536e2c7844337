"""Works out the change between two figures, and which figures can form one series.

Figures with different units are not compared, and the reason is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatbot.comparison.records import Comparison, Entry, EntryPlace, Quantity
from chatbot.records import FINE
from ingestion.language.currencies import MONEY
from ingestion.language.numbers import find_figures
from ingestion.language.scales import SCALE_NAMES

__all__ = ["Change", "change_between", "changes", "series", "unit_text"]

# The least bare amount that is taken for one without a scale, beside amounts in thousands or millions.
LEAST_WHOLE = 1e6
# The most decimals of a change between figures in different scales.
MOST_DECIMALS = 3
MINUS = "\u2212"
POINTS = "percentage points"


@dataclass(frozen=True, slots=True)
class Change:
    """A change from one entry to another.

    since: the place of the first entry.
    absolute, relative: as shown, with sign; relative is "" if it would say nothing.
    formula: how both were worked out.
    why_not: why there is no change; the other texts are then "".
    """

    since: EntryPlace
    absolute: str = ""
    relative: str = ""
    formula: str = ""
    why_not: str = ""


def unit_text(quantity: Quantity) -> str:
    """Returns the unit with its scale, such as "USD million".

    Returns "" if the figure's own text has it, or if it is not known.
    """
    own = next(iter(find_figures(quantity.text)), None)
    if quantity.unit == "%":
        if own and own.percent:
            return ""
        return "per cent"
    if quantity.unit in MONEY and not (own and own.unit):
        money = quantity.unit
    else:
        money = ""
    if not (own and own.scale > 1):
        scale = SCALE_NAMES.get(quantity.scale, "")
    else:
        scale = ""
    return _joined(money, scale)


def _joined(money: str, scale: str) -> str:
    """Joins currency and scale: "USD million", but "million crowns"."""
    return " ".join(filter(None, [money, scale] if money.isupper() else [scale, money]))


def changes(comparison: Comparison, entries: Mapping[EntryPlace, Entry]) -> dict[EntryPlace, Change]:
    """Returns the change of each entry from the last year before it that has a figure.

    With at most one year, changes are counted from the first document that has a figure.
    """
    found: dict[EntryPlace, Change] = {}
    if len(comparison.years) < 2:
        lines = [list(comparison.places)]
    else:
        lines = [_places_of(name, comparison.years) for name in comparison.names]
    for line in lines:
        base: Entry | None = None
        for place in line:
            entry = entries.get(place)
            if entry is None or entry.quantity is None:
                continue
            if base is not None:
                found[place] = change_between(base, entry)
            if base is None or len(comparison.years) > 1:
                base = entry
    return found


def _places_of(name: str, years: Sequence[str]) -> list[EntryPlace]:
    return [EntryPlace(name, year) for year in years]


def change_between(before: Entry, after: Entry) -> Change:
    """Returns the change from one figure to another, or why there is none.

    There is none if the units do not allow it or a figure is not confirmed. Both entries must have a
    quantity.
    """
    since = before.place
    first = before.quantity
    last = after.quantity
    assert first is not None and last is not None
    unlike = _unlike(first, last, same_document=before.place.document == after.place.document)
    if unlike:
        return Change(since, why_not=unlike)
    if _is_rate(first):
        return _points(since, first, last)
    was = first.value * first.scale / last.scale
    now = last.value
    decimals = min(MOST_DECIMALS, max(first.decimals, last.decimals))
    unit = _joined(_money(first, last), SCALE_NAMES.get(last.scale, ""))
    difference = now - was
    formula = (
        f"{_number(now, decimals)} {MINUS} {_operand(was, decimals)} = "
        f"{_number(difference, decimals)}{f' {unit}' if unit else ''}"
    )
    relative = ""
    if was > 0:
        share = 100 * difference / was
        relative = f"{_signed(share, 1)}%"
        formula += (
            f"; 100 × {_operand(difference, decimals)} / {_number(was, decimals)} = {_number(share, 1)}%"
        )
    else:
        formula += "; of a figure that is not above zero no percentage is formed"
    if first.scale != last.scale:  # the coarser one is rounded by more than the finer one shows
        coarse = max((first, last), key=lambda quantity: quantity.scale * 10.0**-quantity.decimals)
        formula += f"; {coarse.text} is rounded"
    return Change(since, f"{_signed(difference, decimals)}{f' {unit}' if unit else ''}", relative, formula)


def _points(since: EntryPlace, first: Quantity, last: Quantity) -> Change:
    """Returns the change of a rate or share, which is given in points only."""
    was, now = (
        quantity.value * (0.01 if quantity.unit == "basis points" else 1.0) for quantity in (first, last)
    )
    decimals = min(
        MOST_DECIMALS,
        max(quantity.decimals + 2 * (quantity.unit == "basis points") for quantity in (first, last)),
    )
    difference = _number(now - was, decimals)
    formula = f"{_number(now, decimals)} {MINUS} {_operand(was, decimals)} = {difference} {POINTS}"
    return Change(since, f"{_signed(now - was, decimals)} {POINTS}", "", formula)


def _unlike(first: Quantity, last: Quantity, *, same_document: bool) -> str:
    """Says why two figures cannot be compared, "" if they can."""
    doubtful = next((quantity for quantity in (first, last) if quantity.status not in FINE), None)
    if doubtful is not None:
        return f"Not worked out: {doubtful.text} is not confirmed by the page."
    kinds = {_kind(quantity) for quantity in (first, last)}
    if len(kinds) > 1:
        return f"Not worked out: one is {_kind(first)}, the other {_kind(last)}."
    if _is_rate(first):
        return ""
    if first.unit != last.unit:
        if None not in (first.unit, last.unit):
            return f"Not worked out: one is in {first.unit}, the other in {last.unit}."
        if not same_document:
            return f"Not worked out: one is in {first.unit or last.unit}, of the other no currency is stated."
    bare = [
        quantity for quantity in (first, last) if quantity.scale == 1.0 and abs(quantity.value) < LEAST_WHOLE
    ]
    if first.scale != last.scale and bare:
        scaled = next(quantity for quantity in (first, last) if quantity is not bare[0])
        return (
            f"Not worked out: one is in {SCALE_NAMES.get(scaled.scale, 'another scale')}s, of the other no "
            f"scale is stated."
        )
    return ""


def _is_rate(quantity: Quantity) -> bool:
    return quantity.unit in {"%", POINTS, "basis points"}


def _kind(quantity: Quantity) -> str:
    if quantity.unit in {POINTS, "basis points"}:
        return "a number of points"
    if quantity.unit == "%":
        return "a percentage"
    if quantity.unit == "x":
        return "a multiple"
    return "an amount"


def _money(*quantities: Quantity) -> str:
    return next((quantity.unit for quantity in quantities if quantity.unit in MONEY and quantity.unit), "")


def _number(value: float, decimals: int) -> str:
    shown = f"{abs(value):,.{decimals}f}"
    if value < 0 and shown.strip("0.,"):
        return f"{MINUS}{shown}"
    return shown


def _signed(value: float, decimals: int) -> str:
    number = _number(value, decimals)
    if number.startswith(MINUS) or not number.strip("0.,"):
        return number
    return f"+{number}"


def _operand(value: float, decimals: int) -> str:
    """Puts a negative number in brackets, so that no two signs meet in the formula."""
    number = _number(value, decimals)
    if number.startswith(MINUS):
        return f"({number})"
    return number


def series(entries: Sequence[Entry]) -> tuple[list[tuple[EntryPlace, float]], str]:
    """Returns (places with their values, unit) of figures that can stand in one chart.

    The values are in the largest scale among them. If the figures do not fit together, the result is ([],
    reason); with fewer than two figures it is ([], "").
    """
    found = [
        (entry, entry.quantity)
        for entry in entries
        if entry.quantity is not None and entry.quantity.status in FINE
    ]
    if len(found) < 2:
        return [], ""
    kinds = {_kind(quantity) for _, quantity in found}
    if len(kinds) > 1:
        return [], f"No chart: some figures are {' and some '.join(sorted(kinds))}."
    units = {quantity.unit for _, quantity in found}
    if len(units - {None}) > 1 or (
        None in units and len(units) > 1 and len({entry.place.document for entry, _ in found}) > 1
    ):
        return (
            [],
            (
                f"No chart: the figures are in "
                f"{' and '.join(sorted(unit or 'no stated currency' for unit in units))}."
            ),
        )
    scale = max(quantity.scale for _, quantity in found)
    if any(
        quantity.scale != scale and quantity.scale == 1.0 and abs(quantity.value) < LEAST_WHOLE
        for _, quantity in found
    ):
        return [], "No chart: of some figures no scale is stated."
    unit = next(iter(units - {None}), None)
    if unit == "%":
        said = "per cent"
    else:
        said = _joined(unit or "", SCALE_NAMES.get(scale, ""))
    return [(entry.place, quantity.value * quantity.scale / scale) for entry, quantity in found], said
