"""Draws a document's details: its pages as a strip and a table, space.

Its pages can be opened from here, and it can be read again.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.store.catalog import Version
from chatbot.store.disk_usage import document_space
from chatbot.ui import document_session, overlay
from chatbot.ui.document_adding import language_choice
from chatbot.ui.document_address import open_document
from chatbot.ui.document_health import bytes_text
from chatbot.ui.list_controls import page_of
from chatbot.ui.page_report import facts_html, pages_html, strip_html
from chatbot.ui.safe_text import notice_html

__all__ = ["draw_details"]

PAGES_SHOWN = 50
GONE = "This document is gone. It was removed or replaced in another tab."


def draw_details(context: AppContext, name: str) -> None:
    """Draws the body of the dialog."""
    try:
        pages = context.chatbot.report(name)
        stored = context.chatbot.library.catalog.find(name)
    except ProjectError:
        stored, pages = None, []
    if stored is None:
        st.html(notice_html(GONE, "Close this and check the list."))
        return
    _draw_ways(context, name, stored)
    if overlay.lying_open() is not None or not document_session.dialog()[0]:
        st.rerun()
    st.html(strip_html(pages) + facts_html(pages, _space(context, stored)))
    shown = page_of(pages, PAGES_SHOWN, key="report-page")
    with st.container(key="report"):
        st.html(pages_html(shown))


def _draw_ways(context: AppContext, name: str, stored: Version) -> None:
    """Draws the buttons to a page and to a new reading."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="report-ways"):
        st.number_input(
            f"Open page (1 to {stored.pages:,})",
            1,
            max(1, stored.pages),
            None,
            step=1,
            key="report-open",
            width=190,
            on_change=_open,
            args=(context, name),
        )
        st.button(
            "Open",
            key="report-open-first",
            on_click=_open,
            args=(context, name),
            help="Opens that page, or the first",
        )
        again = (
            "Reads the stored file again, for example after an update. The earlier reading is searched until "
            "then."
        )
        st.selectbox(
            "Language of scans",
            language_choice(context, stored.languages),
            key="report-languages",
            width=150,
            help="The language of scanned pages. A new one takes effect when the document is read again.",
        )
        st.button("Read again", key="report-again", on_click=_read_again, args=(context, name), help=again)


def _open(context: AppContext, name: str) -> None:
    open_document(context, name, int(st.session_state.get("report-open") or 1))


def _read_again(context: AppContext, name: str) -> None:
    document_session.close_dialog()
    languages = str(st.session_state.get("report-languages") or "")
    document_session.attempt(partial(context.additions.read_again, languages=languages), name)


def _space(context: AppContext, stored: Version) -> str:
    space = document_space(context.chatbot.library, stored.id)
    parts = (
        f"file {bytes_text(space.copies)}, text and vectors {bytes_text(space.catalogue)}, its share of the "
        f"indexes {bytes_text(space.vectors + space.words)}"
    )
    return f"about {bytes_text(space.total)}: {parts}"
