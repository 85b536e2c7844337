"""The one script of our own: it takes the page to its end when a question is asked, from where Streamlit follows the answer."""

from __future__ import annotations

import streamlit as st

__all__ = ["SCRIPT", "scroll_to_end"]

# Constant, so that the server's policy can allow it by its hash and no other.
SCRIPT = """{
const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
if (page) page.scrollTo(0, page.scrollHeight);
}"""


def scroll_to_end(number: int) -> None:
    """Scroll once for each `number`."""
    st.html(f'<span data-scroll="{number}"></span><script>{SCRIPT}</script>', unsafe_allow_javascript=True)
