"""What lists on the pages have in common: the box that searches one, and its pages where it is long; knows nothing of what they list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

__all__ = ["page_of", "search_box"]

# The search waits until typing pauses.
PAUSE = "300ms"
Row = TypeVar("Row")


def search_box(label: str, *, key: str) -> str:
    """A box to search a list with. Returns the words that are wanted, "" for none."""
    typed: str | None = st.text_input(
        label, key=key, type="search", placeholder=label, label_visibility="collapsed", icon=":material/search:", live=PAUSE
    )
    return (typed or "").strip()


def page_of(rows: Sequence[Row], most: int, *, key: str) -> Sequence[Row]:
    """At most so many of the rows, and where there are more the numbers to choose others by."""
    first = 0
    if len(rows) > most:
        first = most * (st.pagination(-(-len(rows) // most), key=key) - 1)
    return rows[first : first + most]
