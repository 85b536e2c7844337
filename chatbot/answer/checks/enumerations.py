"""Knows what each figure of a list within a sentence is of, "31 in Japan, 29 in Korea"; knows no tables
and no values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from chatbot.evidence.figure_names import label_words
from ingestion.language.currencies import DRAWN_SIGNS

__all__ = ["item_of"]

FEWEST_ITEMS = 3  # two figures with what they are of may be anything, "5 in cash and 6 in all"
LONGEST_ITEM = 80
# What parts one item from the next, with the sign of the next figure.
_PARTED = rf"(?:\s?[,;]\s?(?:and\s|or\s)?|\s(?:and|or)\s)[(]?[{DRAWN_SIGNS}]?\s?"
_BEHIND = re.compile(
    rf"\s(?:in|for|from|to|of|at|by)\s(?P<item>[^,;.()]{{1,{LONGEST_ITEM}}}?)(?:{_PARTED}|[.;)]|\Z)"
)
_BEFORE = re.compile(
    rf"{_PARTED}(?P<item>[^,;.()]{{1,{LONGEST_ITEM}}}?)(?:\s(?:at|of|with|by|was|were)\s|\s?:\s?"
    rf"|\s\()[{DRAWN_SIGNS}]?\s?\Z"
)

_Items = tuple[frozenset[str], ...]


def item_of(sentence: str, figures: Sequence[tuple[int, int]], mine: int) -> tuple[frozenset[str], _Items]:
    """The words of what a figure of a sentence is of, and those of the others of its list; (empty, ()) where
    it is in no list.

    figures: (start, end) of the sentence's, in order. mine: the place of the one among them."""
    for items in _lists(sentence, tuple(figures)):
        if mine in items:
            return items[mine], tuple(words for at, words in items.items() if at != mine)
    return frozenset(), ()


@lru_cache(maxsize=256)
def _lists(sentence: str, figures: tuple[tuple[int, int], ...]) -> list[dict[int, frozenset[str]]]:
    """The lists of a sentence, each as the place of a figure -> the words of what it is of."""
    ends = [*(start for start, _ in figures[1:]), len(sentence)]
    behind = [_BEHIND.match(sentence, end, until) for (_, end), until in zip(figures, ends, strict=True)]
    # Of a list all but its last figure are followed by the next item at once.
    joined = [found is not None and found.end() == until for found, until in zip(behind, ends, strict=True)]
    before = [_BEFORE.fullmatch(sentence, end, start) for (_, end), (start, _) in pairwise(figures)]
    by_first = _runs([_item(found) for found in behind], joined)
    by_label = _runs([frozenset(), *map(_item, before)], [True] * len(figures))
    return [items for items in [*by_first, *by_label] if len(items) >= FEWEST_ITEMS]


def _item(found: re.Match[str] | None) -> frozenset[str]:
    if found:
        return label_words(found["item"])
    return frozenset()


def _runs(items: Sequence[frozenset[str]], joined: Sequence[bool]) -> list[dict[int, frozenset[str]]]:
    """Items that follow one another without a gap."""
    runs: list[dict[int, frozenset[str]]] = [{}]
    for at, words in enumerate(items):
        if words:
            runs[-1][at] = words
        if not words or not joined[at]:
            runs.append({})
    return runs
