"""Draws the controls that lists have in common: the search box, and the pages of a long list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

__all__ = ["page_of", "search_box"]

Row = TypeVar("Row")


def search_box(label: str, *, key: str) -> str:
    """Draws a box to search a list, which waits until typing pauses. Returns the words, "" for none."""
    # Streamlit's own setting for the pause would load pandas at a server's first list, which takes a second.
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
    """Returns at most that many of the rows; if there are more, draws numbers to choose others."""
    first = 0
    if len(rows) > most:
        first = most * (st.pagination(-(-len(rows) // most), key=key) - 1)
    return rows[first : first + most]
