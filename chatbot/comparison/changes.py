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
    amount_text,
    is_bare,
    is_rate,
    kind_of,
    money_of,
    number_text,
    worked_out,
)
from chatbot.comparison.records import Comparison, Entry, EntryPlace, Quantity
from chatbot.records import FINE
from ingestion.language.currencies import short_sign
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
    unit = money_of(first, last), SCALE_NAMES.get(last.scale, "")
    difference, formula = _difference(was, now, decimals)
    formula += f" = {amount_text(number_text(difference, decimals), *unit)}"
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
    return Change(since, amount_text(_signed(difference, decimals), *unit), relative, formula)


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
    for one in (first, last):
        if one.status not in FINE:
            return f"Not worked out: {one.text} is not confirmed by its page."
    if kind_of(first) != kind_of(last):
        return f"Not worked out: one is {kind_of(first)}, the other {kind_of(last)}."
    if is_rate(first):
        return ""
    if first.unit != last.unit:
        signs = [short_sign(one.unit) for one in (first, last) if one.unit]
        if len(signs) > 1:
            return f"Not worked out: one is in {signs[0]}, the other in {signs[1]}."
        if not same_document:
            return f"Not worked out: one is in {signs[0]}, the other states no currency."
    if first.scale != last.scale and (is_bare(first) or is_bare(last)):
        scale = SCALE_NAMES.get((last if is_bare(first) else first).scale, "another scale")
        return f"Not worked out: one is in {scale}s, the other states no scale."
    return ""


def _signed(value: float, decimals: int) -> str:
    number = number_text(value, decimals)
    return number if number.startswith(MINUS) or not number.strip("0.,") else f"+{number}"


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
        signs = sorted(short_sign(unit) if unit else "no stated currency" for unit in units)
        return [], f"No chart or ranking: the figures are in {' and '.join(signs)}."
    scale = max(quantity.scale for _, quantity in found)
    if any(quantity.scale != scale and is_bare(quantity) for _, quantity in found):
        return [], "No chart or ranking: some figures have no stated scale."
    unit = next(iter(units - {None}), None)
    said = "per cent" if unit == "%" else amount_text("", unit or "", SCALE_NAMES.get(scale, ""))
    return [(entry.place, quantity.value * quantity.scale / scale) for entry, quantity in found], said
