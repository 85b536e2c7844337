"""Which pages stand for a whole document, where a question asks for all of it: "Summarise the report";
searches for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ingestion.pages.kinds import CONTENTS, INDEX_OF_STATEMENTS, RISK_FACTORS_OR_BOILERPLATE

__all__ = ["outline"]

# Pages with fewer characters are covers and dividers.
LEAST_TEXT = 300
_ASIDE = frozenset((CONTENTS, INDEX_OF_STATEMENTS, RISK_FACTORS_OR_BOILERPLATE))


def outline(
    texts: Sequence[str],
    heads: Mapping[int, str],
    kinds: Mapping[int, Sequence[str]],
    count: int,
    beside: Collection[int] = (),
) -> list[int]:
    """Physical pages, at most so many, in order: the first with text, those that begin a section, and between
    them others, all at even distances.

    texts: of all pages; heads, kinds: what a page stands under, and what it is, by its number. beside: pages
    that are there already."""
    there = {
        page
        for page, text in enumerate(texts, 1)
        if len(text) >= LEAST_TEXT and _ASIDE.isdisjoint(kinds.get(page, ()))
    }
    full = sorted(there.difference(beside))
    begins = [page for page in full[1:] if heads.get(page) and heads[page] != heads.get(page - 1)]
    chosen = [*full[:1], *_evenly(begins, count - 1)][:count]
    return sorted([*chosen, *_evenly([page for page in full if page not in chosen], count - len(chosen))])


def _evenly(pages: Sequence[int], count: int) -> list[int]:
    """So many of them at even distances; all where there are no more."""
    if 0 < count < len(pages):
        return [pages[(2 * at + 1) * len(pages) // (2 * count)] for at in range(count)]
    return list(pages[: max(0, count)])
