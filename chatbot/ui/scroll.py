"""The two scripts of our own: to the page's end when a question is asked, and to the marked passage when a page is opened."""

from __future__ import annotations

import streamlit as st

__all__ = ["SCRIPTS", "scroll_to_end", "scroll_to_mark"]

# Both are constant, so that the server's policy can allow them by their hashes and no others.
TO_END = """{
const page = document.querySelector('[data-testid="stAppScrollToBottomContainer"]');
if (page) page.scrollTo(0, page.scrollHeight);
}"""
# Waits at most four seconds for the image; a mark that is in sight already is left where it is.
TO_MARK = """{
const look = (tries) => {
  const place = document.querySelector('[role="dialog"] [data-mark]');
  const image = document.querySelector('[role="dialog"] [data-testid="stImage"] img');
  if (!place || !image || !image.complete || !image.naturalHeight) { if (tries) setTimeout(look, 50, tries - 1); return; }
  const box = image.getBoundingClientRect();
  const top = box.top + Number(place.dataset.mark) * box.height;
  let scroller = image.parentElement;
  while (scroller && !(scroller.scrollHeight > scroller.clientHeight && /auto|scroll/.test(getComputedStyle(scroller).overflowY)))
    scroller = scroller.parentElement;
  if (scroller && top > innerHeight * 0.8) scroller.scrollBy(0, top - innerHeight * 0.45);
};
look(80);
}"""
SCRIPTS = (TO_END, TO_MARK)


def scroll_to_end(number: int) -> None:
    """Scroll once for each `number`, from where Streamlit follows the answer as it grows."""
    st.html(f'<span data-scroll="{number}"></span><script>{TO_END}</script>', unsafe_allow_javascript=True)


def scroll_to_mark(top: float) -> None:
    """Bring the mark into sight. top: where on the image it begins, a share of its height."""
    st.html(f'<span data-mark="{top:.4f}" data-scroll></span><script>{TO_MARK}</script>', unsafe_allow_javascript=True)
