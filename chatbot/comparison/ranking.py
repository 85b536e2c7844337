"""Ranks the figures of different issuers, and shows the amounts of a table in one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from chatbot.comparison.changes import series
from chatbot.comparison.quantities import (
    MOST_DECIMALS,
    amount_text,
    common_scale,
    is_bare,
    kind_of,
    money_of,
    number_text,
)
from chatbot.comparison.records import Comparison, Entry, EntryPlace, Quantity
from ingestion.language.scales import SCALE_NAMES

__all__ = ["ranks", "shown_figures"]

# Ends of ranks up to the most documents of a comparison.
ORDINALS = {2: "nd", 3: "rd"}
# Significant digits that an amount keeps in a shared scale.
KEPT_DIGITS = 4


def ranks(
    comparison: Comparison, entries: Mapping[EntryPlace, Entry], editions: Sequence[Sequence[str]] = ()
) -> dict[EntryPlace, str]:
    """Returns the rank of each figure among those of its year, such as "2nd of 5", the highest first.

    There is none between editions of one document, nor where figures do not fit together, see `series`.
    """
    series_names = {name: names[0] for names in editions for name in names}
    found: dict[EntryPlace, str] = {}
    for year in comparison.years or ("",):
        column = [entries[place] for place in comparison.places if place.year == year and place in entries]
        points, _ = series(column)
        issuers = {series_names.get(place.document, place.document) for place, _ in points}
        if len(issuers) < len(points):
            continue
        values = [value for _, value in points]
        for place, value in points:
            found[place] = _rank_text(1 + sum(other > value for other in values), values.count(value), values)
    return found


def _rank_text(rank: int, alike: int, values: Sequence[float]) -> str:
    """Returns "Highest of 3", "2nd of 3" or "Lowest of 3". alike: the figures that share the rank."""
    if alike == len(values):
        return "All equal"
    tied = " (tied)" if alike > 1 else ""
    if rank == 1:
        place = "Highest"
    elif rank + alike > len(values):
        place = "Lowest"
    else:
        place = f"{rank}{ORDINALS.get(rank, 'th')}"
    return f"{place} of {len(values)}{tied}"


def shown_figures(entries: Sequence[Entry]) -> dict[EntryPlace, str]:
    """Returns the amounts of a table in one scale, where the documents print them in several.

    It is the largest scale in which the smallest amount is one or more. Currencies stay as they are. Amounts
    without a stated scale, rates, and amounts that are all in one scale already are missing in the result.
    """
    found = [
        (entry.place, entry.quantity)
        for entry in entries
        if entry.quantity is not None
        and kind_of(entry.quantity) == "an amount"
        and not is_bare(entry.quantity)
    ]
    if len({quantity.scale for _, quantity in found}) < 2:
        return {}
    scale = common_scale((quantity.value, quantity.scale) for _, quantity in found)
    return {place: _shown(quantity, scale) for place, quantity in found}


def _shown(quantity: Quantity, scale: float) -> str:
    value = quantity.value * quantity.scale / scale
    exact = quantity.decimals + round(math.log10(scale / quantity.scale))
    decimals = max(0, min(MOST_DECIMALS, exact, KEPT_DIGITS - len(str(int(abs(value))))))
    if exact > 0 and abs(value) < 1000:
        decimals = max(decimals, 1)
    return amount_text(number_text(value, decimals), money_of(quantity), SCALE_NAMES.get(scale, ""))
