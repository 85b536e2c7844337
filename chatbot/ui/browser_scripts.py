"""The scripts of our own in static/ and where they are drawn: they scroll to what is to be seen, and open
and copy what answers point at.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

__all__ = ["SCRIPTS", "add_scripts", "keep_place", "scroll_to_answer", "scroll_to_end", "scroll_to_mark"]

NAMES = ("interaction", "keep_place", "scroll_to_answer", "scroll_to_end", "scroll_to_mark")
_TEXTS = {
    name: Path(__file__).with_name("static").joinpath(f"{name}.js").read_text("utf-8") for name in NAMES
}
# All are constant, so that the server's policy can allow them by their hashes and no others: what differs
# stands in attributes.
SCRIPTS = tuple(_TEXTS.values())


def add_scripts() -> None:
    """Let what answers show be pointed at, pressed and copied; to be drawn on every page."""
    _run("interaction", "data-scroll")


def scroll_to_end(what: str) -> None:
    """Scroll once for each `what`, of letters, digits and "-", from where Streamlit follows the answer as
    it grows.
    """
    _run("scroll_to_end", f'data-scroll="{what}"')


def keep_place(first: int) -> None:
    """Stay where one is as `first` becomes a lower number: that of the first exchange that is shown, each
    marked by data-exchange.
    """
    _run("keep_place", f'data-scroll="from-{first}"')


def scroll_to_answer(number: int) -> None:
    """Bring the last question and its answer, which is whole now, into sight. number: of the question,
    unique in this process.
    """
    _run("scroll_to_answer", f'data-scroll="answered-{number}"')


def scroll_to_mark(top: float) -> None:
    """Bring the mark into sight. top: where on the image it begins, a share of its height."""
    _run("scroll_to_mark", f'data-mark="{top:.4f}" data-scroll')


def _run(name: str, attributes: str) -> None:
    """attributes: of the element beside the script; a browser runs it again only where they are others
    than before.
    """
    st.html(f"<span {attributes}></span><script>{_TEXTS[name]}</script>", unsafe_allow_javascript=True)
