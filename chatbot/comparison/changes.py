"""Works out the change between two figures, and which figures can form one series.

Figures with different units are not compared, and the reason is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from chatbot.calculator import Operand
from chatbot.comparison.quantities import (
    MINUS,
    MOST_DECIMALS,
    POINTS,
    is_bare,
    is_rate,
    joined_unit,
    kind_of,
    money_of,
    number_text,
    worked_out,
)
from chatbot.comparison.records import Comparison, Entry, EntryPlace, Quantity
from chatbot.records import FINE
from ingestion.language.scales import SCALE_NAMES

__all__ = ["Change", "change_between", "changes", "series"]


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


def changes(
    comparison: Comparison, entries: Mapping[EntryPlace, Entry], editions: Sequence[Sequence[str]] = ()
) -> dict[EntryPlace, Change]:
    """Returns the change of each entry from the one before it in its series that has a figure.

    A series is one document over the years, or the editions of one document. Documents of different issuers
    have no change from one to another, see `ranks`.

    editions: documents of one issuer and kind, the oldest first.
    """
    found: dict[EntryPlace, Change] = {}
    if len(comparison.years) < 2:
        year = next(iter(comparison.years), "")
        lines = [list(product(names, [year])) for names in editions]
    else:
        lines = [list(product([name], comparison.years)) for name in comparison.names]
    for line in lines:
        came = [entries.get(EntryPlace(*place)) for place in line]
        there = [entry for entry in came if entry is not None and entry.quantity is not None]
        for before, after in pairwise(there):
            found[after.place] = change_between(before, after)
    return found


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
    if is_rate(first):
        return _points(since, first, last)
    was = first.value * first.scale / last.scale
    now = last.value
    decimals = min(MOST_DECIMALS, max(first.decimals, last.decimals))
    unit = joined_unit(money_of(first, last), SCALE_NAMES.get(last.scale, ""))
    difference, formula = _difference(was, now, decimals)
    formula += f" = {number_text(difference, decimals)}{f' {unit}' if unit else ''}"
    relative = ""
    if was > 0:
        share, written = worked_out("100 * a / b", (difference, decimals), (was, decimals))
        relative = f"{_signed(share, 1)}%"
        formula += f"; {written} = {number_text(share, 1)}%"
    else:
        formula += "; no percentage, because the first figure is not above zero"
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
    difference, formula = _difference(was, now, decimals)
    formula += f" = {number_text(difference, decimals)} {POINTS}"
    return Change(since, f"{_signed(difference, decimals)} {POINTS}", "", formula)


def _difference(was: float, now: float, decimals: int) -> Operand:
    """What two numbers differ by, and how that is written: "12 − 10"."""
    return worked_out(f"a {MINUS} b", (now, decimals), (was, decimals))


def _unlike(first: Quantity, last: Quantity, *, same_document: bool) -> str:
    """Says why two figures cannot be compared, "" if they can."""
    doubtful = next((quantity for quantity in (first, last) if quantity.status not in FINE), None)
    if doubtful is not None:
        return f"Not worked out: {doubtful.text} is not confirmed by its page."
    if len({kind_of(quantity) for quantity in (first, last)}) > 1:
        return f"Not worked out: one is {kind_of(first)}, the other {kind_of(last)}."
    if is_rate(first):
        return ""
    if first.unit != last.unit:
        if None not in (first.unit, last.unit):
            return f"Not worked out: one is in {first.unit}, the other in {last.unit}."
        if not same_document:
            return f"Not worked out: one is in {first.unit or last.unit}, the other states no currency."
    bare = [quantity for quantity in (first, last) if is_bare(quantity)]
    if first.scale != last.scale and bare:
        scaled = next(quantity for quantity in (first, last) if quantity is not bare[0])
        return (
            f"Not worked out: one is in {SCALE_NAMES.get(scaled.scale, 'another scale')}s, the other states "
            f"no scale."
        )
    return ""


def _signed(value: float, decimals: int) -> str:
    number = number_text(value, decimals)
    if number.startswith(MINUS) or not number.strip("0.,"):
        return number
    return f"+{number}"


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
    kinds = {kind_of(quantity) for _, quantity in found}
    if len(kinds) > 1:
        return [], f"No chart or ranking: some figures are {' and some '.join(sorted(kinds))}."
    units = {quantity.unit for _, quantity in found}
    if len(units - {None}) > 1 or (
        None in units and len(units) > 1 and len({entry.place.document for entry, _ in found}) > 1
    ):
        return (
            [],
            (
                f"No chart or ranking: the figures are in "
                f"{' and '.join(sorted(unit or 'no stated currency' for unit in units))}."
            ),
        )
    scale = max(quantity.scale for _, quantity in found)
    if any(quantity.scale != scale and is_bare(quantity) for _, quantity in found):
        return [], "No chart or ranking: some figures have no stated scale."
    unit = next(iter(units - {None}), None)
    said = "per cent" if unit == "%" else joined_unit(unit or "", SCALE_NAMES.get(scale, ""))
    return [(entry.place, quantity.value * quantity.scale / scale) for entry, quantity in found], said
