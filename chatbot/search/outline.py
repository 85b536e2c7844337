"""Chooses the pages that stand for a whole document, where a question asks for all of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ingestion.pages.kinds import CONTENTS, RISK_FACTORS_OR_BOILERPLATE

__all__ = ["outline"]

# Pages with fewer characters are covers and dividers.
LEAST_TEXT = 300
_ASIDE = frozenset((CONTENTS, RISK_FACTORS_OR_BOILERPLATE))


def outline(
    texts: Sequence[str],
    heads: Mapping[int, str],
    kinds: Mapping[int, Sequence[str]],
    count: int,
    beside: Collection[int] = (),
) -> list[int]:
    """Physical pages, at most `count`, in order: the first with text, those that begin a section, and others
    between them, all at even distances.

    texts: of all pages; heads, kinds: what a page stands under, and what it is, by its number. beside: pages
    that are there already.
    """
    full = [
        page
        for page, text in enumerate(texts, 1)
        if len(text) >= LEAST_TEXT and page not in beside and _ASIDE.isdisjoint(kinds.get(page, ()))
    ]
    first = full[:1]
    chosen = first + _evenly([page for page in full[1:] if _begins_section(page, heads)], count - 1)
    chosen = chosen[:count]
    chosen += _evenly([page for page in full if page not in chosen], count - len(chosen))
    return sorted(chosen)


def _begins_section(page: int, heads: Mapping[int, str]) -> bool:
    """Whether a page stands under another heading than the one before it."""
    head = heads.get(page)
    return bool(head) and head != heads.get(page - 1)


def _evenly(pages: Sequence[int], count: int) -> list[int]:
    """`count` of the pages at even distances; all where there are no more."""
    if not 0 < count < len(pages):
        return list(pages[: max(0, count)])
    # The middle of each of `count` equal parts.
    return [pages[(2 * at + 1) * len(pages) // (2 * count)] for at in range(count)]
