"""The dialogs of the Documents page: how each page was read, and the questions before removing and erasing."""

from __future__ import annotations

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.store.library import UNDO_DAYS
from chatbot.ui.lists import page_of
from chatbot.ui.page_report import facts_html, pages_html, strip_html
from chatbot.ui.shared import House
from chatbot.ui.text import notice_html, paragraphs_html, plain_markdown, short

__all__ = ["ask_for", "show_dialog"]

STATE = "document_dialog"
PAGES_SHOWN = 50


def ask_for(kind: str, name: str) -> None:
    """Open a dialog in the next run. kind: report | remove | erase."""
    st.session_state[STATE] = (kind, name)


def show_dialog(house: House) -> None:
    """Open the dialog that was asked for, if any."""
    kind, name = st.session_state.get(STATE, ("", ""))
    shown = plain_markdown(short(name, 60))
    if kind == "report":
        st.dialog(shown, width="large", on_dismiss=_close)(_report)(house, name)
    elif kind == "remove":
        st.dialog(f"Remove {shown}?", on_dismiss=_close)(_remove)(house, name)
    elif kind == "erase":
        st.dialog(f"Erase {shown} for good?", on_dismiss=_close)(_erase)(house, name)


def _close() -> None:
    st.session_state.pop(STATE, None)


def _report(house: House, name: str) -> None:
    try:
        pages = house.chatbot.report(name)
    except ProjectError as error:
        st.html(notice_html(error.message, error.hint))
        return
    st.html(strip_html(pages) + facts_html(pages))
    shown = page_of(pages, PAGES_SHOWN, key="report-page")
    with st.container(key="report"):
        st.html(pages_html(shown))


def _remove(house: House, name: str) -> None:
    st.html(paragraphs_html(f"It is no longer searched, at once. You can restore it for {UNDO_DAYS} days."))
    _choice("Remove", house, name)


def _erase(house: House, name: str) -> None:
    text = "Its file, pages, passages and vectors are erased and cannot be brought back. What past answers quoted stays in those conversations."
    st.html(paragraphs_html(text))
    _choice("Erase for good", house, name)


def _choice(label: str, house: House, name: str) -> None:
    with st.container(horizontal=True):
        if st.button(label, key="dialog-yes", type="primary"):
            _do(label, house, name)
            _close()
            st.rerun()
        if st.button("Keep it", key="dialog-no"):
            _close()
            st.rerun()


def _do(label: str, house: House, name: str) -> None:
    if label != "Remove":
        house.erase(name)
        return
    try:
        house.chatbot.remove(name)
    except ProjectError as error:
        st.session_state["documents_problem"] = str(error)
