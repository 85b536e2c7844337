"""What lists on the pages have in common: the box that searches one, and its pages where it is long; knows
nothing of what they list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

__all__ = ["page_of", "search_box"]

Row = TypeVar("Row")


def search_box(label: str, *, key: str) -> str:
    """A box to search a list with, which waits until typing pauses. Returns the words that are wanted, ""
    for none.
    """
    # A pause in words of its own would load pandas at the first list of a server, for a second.
    typed: str | None = st.text_input(
        label,
        key=key,
        type="search",
        placeholder=label,
        label_visibility="collapsed",
        icon=":material/search:",
        live=True,
    )
    return (typed or "").strip()


def page_of(rows: Sequence[Row], most: int, *, key: str) -> Sequence[Row]:
    """At most so many of the rows, and where there are more the numbers to choose others by."""
    first = 0
    if len(rows) > most:
        first = most * (st.pagination(-(-len(rows) // most), key=key) - 1)
    return rows[first : first + most]
