"""Finds what each figure of a list within a sentence belongs to, "31 in Japan, 29 in Korea"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from chatbot.evidence.figure_names import label_words
from ingestion.language.currencies import DRAWN_SIGNS

__all__ = ["item_of"]

FEWEST_ITEMS = 3  # two figures with their items may be anything, "5 in cash and 6 in all"
LONGEST_ITEM = 80
# What separates an item from the next, with the sign of the next figure.
_PARTED = rf"(?:\s?[,;]\s?(?:and\s|or\s)?|\s(?:and|or)\s)[(]?[{DRAWN_SIGNS}]?\s?"
_BEHIND = re.compile(
    rf"\s(?:in|for|from|to|of|at|by)\s(?P<item>[^,;.()]{{1,{LONGEST_ITEM}}}?)(?:{_PARTED}|[.;)]|\Z)"
)
_BEFORE = re.compile(
    rf"{_PARTED}(?P<item>[^,;.()]{{1,{LONGEST_ITEM}}}?)(?:\s(?:at|of|with|by|was|were)\s|\s?:\s?"
    rf"|\s\()[{DRAWN_SIGNS}]?\s?\Z"
)

_Items = tuple[frozenset[str], ...]
_Spans = tuple[tuple[int, int], ...]  # (start, end) of figures
_Run = dict[int, frozenset[str]]  # place of a figure -> the words of what it belongs to


def item_of(sentence: str, figures: Sequence[tuple[int, int]], mine: int) -> tuple[frozenset[str], _Items]:
    """The words of what a figure of a sentence belongs to, and those of the others of its list; (empty, ())
    where it is in no list.

    figures: (start, end) of the sentence's, in order. mine: the place of the figure among them.
    """
    for items in _lists(sentence, tuple(figures)):
        if mine in items:
            others = tuple(words for at, words in items.items() if at != mine)
            return items[mine], others
    return frozenset(), ()


@lru_cache(maxsize=256)
def _lists(sentence: str, figures: _Spans) -> list[_Run]:
    """The lists of a sentence."""
    lists = [*_with_items_behind(sentence, figures), *_with_items_before(sentence, figures)]
    return [items for items in lists if len(items) >= FEWEST_ITEMS]


def _with_items_behind(sentence: str, figures: _Spans) -> list[_Run]:
    """Runs of figures that their items follow, "31 in Japan, 29 in Korea"."""
    next_starts = [start for start, _ in figures[1:]]
    next_starts.append(len(sentence))
    items = []
    joined = []
    for (_, end), next_start in zip(figures, next_starts, strict=True):
        found = _BEHIND.match(sentence, end, next_start)
        items.append(_item(found))
        # All but the last figure of a list are followed by the next item at once.
        joined.append(found is not None and found.end() == next_start)
    return _runs(items, joined)


def _with_items_before(sentence: str, figures: _Spans) -> list[_Run]:
    """Runs of figures that stand behind their items, "and Japan at 31, Korea at 29"."""
    items = [frozenset[str]()]
    for (_, end), (next_start, _) in pairwise(figures):
        found = _BEFORE.fullmatch(sentence, end, next_start)
        items.append(_item(found))
    joined = [True] * len(figures)
    return _runs(items, joined)


def _item(found: re.Match[str] | None) -> frozenset[str]:
    if found:
        return label_words(found["item"])
    return frozenset()


def _runs(items: Sequence[frozenset[str]], joined: Sequence[bool]) -> list[_Run]:
    """Items that follow one another without a gap."""
    runs: list[_Run] = [{}]
    for at, words in enumerate(items):
        if words:
            runs[-1][at] = words
        if not words or not joined[at]:
            runs.append({})
    return runs
