"""Draws our own scripts from static/, which scroll to content, and open and copy what answers point at."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["SCRIPTS", "add_scripts", "keep_place", "scroll_to_answer", "scroll_to_end", "scroll_to_mark"]

NAMES = ("interaction", "keep_place", "scroll_to_answer", "scroll_to_end", "scroll_to_mark")
_TEXTS = {
    name: Path(__file__).with_name("static").joinpath(f"{name}.js").read_text("utf-8") for name in NAMES
}
# All scripts are constant, so that the server's policy can allow them, and no others, by their hashes. What
# varies is in attributes.
SCRIPTS = tuple(_TEXTS.values())


def add_scripts() -> None:
    """Makes parts of answers respond to hovering, clicking and copying. To be drawn on every page."""
    _run("interaction", "data-scroll")


def scroll_to_end(what: str) -> None:
    """Scrolls once for each `what` (letters, digits and "-"). From there Streamlit follows the growing
    answer.
    """
    _run("scroll_to_end", f'data-scroll="{what}"')


def keep_place(first: int) -> None:
    """Keeps the scroll position when `first` becomes a lower number.

    first: number of the first exchange shown. Each exchange is marked by data-exchange.
    """
    _run("keep_place", f'data-scroll="from-{first}"')


def scroll_to_answer(number: int) -> None:
    """Scrolls to the last question and its answer, which is now complete.

    number: number of the question, unique in this process.
    """
    _run("scroll_to_answer", f'data-scroll="answered-{number}"')


def scroll_to_mark(top: float) -> None:
    """Scrolls to the mark. top: where on the image it begins, as a share of its height."""
    _run("scroll_to_mark", f'data-mark="{top:.4f}" data-scroll')


def _run(name: str, attributes: str) -> None:
    """attributes: of the element beside the script. A browser runs it again only if they have changed."""
    st.html(f"<span {attributes}></span><script>{_TEXTS[name]}</script>", unsafe_allow_javascript=True)
