"""Makes the dialogs of a document: its details, and the questions before it is removed or erased.

The details are its pages as a strip and a table, and its space. A page can be opened from there, and the
document read again.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.store.catalog import Version
from chatbot.store.disk_usage import document_space
from chatbot.store.library import UNDO_DAYS
from chatbot.ui import document_session, overlay
from chatbot.ui.document_adding import language_choice
from chatbot.ui.document_health import parts_text
from chatbot.ui.document_session import open_document
from chatbot.ui.list_controls import page_of
from chatbot.ui.overlay import Dialog
from chatbot.ui.page_parts import abreast, draw_button, draw_notice, draw_quiet, draw_two_ways
from chatbot.ui.page_report import facts_html, pages_html, strip_html
from chatbot.ui.safe_text import paragraphs_html, plain_markdown, short

__all__ = ["details_of", "erasure_of", "removal_of"]

PAGES_SHOWN = 50
LONGEST_TITLE = 90
GONE = "This document is gone. It was removed or replaced in another tab."
ERASING = (
    "The file and everything read from it are erased. This cannot be undone. What past answers quoted stays "
    "in those conversations. A file in the documents folder stays there."
)


def details_of(title: str) -> Dialog:
    """Returns the dialog with a document's details; its subject is the document's name."""
    return Dialog(_shown(title), _draw_details, "large")


def removal_of(title: str) -> Dialog:
    """Returns the dialog that asks before a document is removed."""
    return Dialog(f"Remove {_shown(title)}?", _ask_to_remove)


def erasure_of(title: str) -> Dialog:
    """Returns the dialog that asks before a document is erased."""
    return Dialog(f"Erase {_shown(title)} for good?", _ask_to_erase)


def _shown(title: str) -> str:
    return plain_markdown(short(title, LONGEST_TITLE))


def _ask_to_remove(name: str, context: AppContext) -> None:
    _draw_file(name)
    said = f"You can undo this now, and restore the document for {UNDO_DAYS} days."
    st.html(paragraphs_html(f"It will no longer be searched. {said}"))
    draw_two_ways("Remove", "Cancel", partial(_remove, name, context))


def _remove(name: str, context: AppContext) -> None:
    document_session.state().removed = name
    document_session.attempt(context.chatbot.remove, name)


def _ask_to_erase(name: str, context: AppContext) -> None:
    _draw_file(name)
    st.html(paragraphs_html(ERASING))
    draw_two_ways("Erase for good", "Cancel", partial(document_session.attempt, context.erase, name))


def _draw_file(name: str) -> None:
    """Names the file, below the title."""
    draw_quiet(short(name, 120))


def _draw_details(name: str, context: AppContext) -> None:
    _draw_file(name)
    try:
        pages = context.chatbot.report(name)
        stored = context.chatbot.library.catalog.find(name)
    except ProjectError:
        stored, pages = None, []
    if stored is None:
        draw_notice(GONE, "Close this and check the list.")
        return
    _draw_ways(context, name, stored)
    if overlay.dialog() is None:  # one of the ways led elsewhere
        st.rerun()
    st.html(
        strip_html(pages)
        + facts_html(pages, f"about {parts_text(document_space(context.chatbot.library, stored.id))}")
    )
    shown = page_of(pages, PAGES_SHOWN, key="report-page")
    with st.container(key="report"):
        st.html(pages_html(shown))


def _draw_ways(context: AppContext, name: str, stored: Version) -> None:
    """Draws the buttons to a page and to a new reading."""
    with abreast(vertical_alignment="bottom", gap="small", key="report-ways"):
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
        draw_button("Open", "report-open-first", _open, context, name, help="Opens that page, or the first")
        st.selectbox(
            "Language of scans",
            language_choice(context, stored.languages),
            key="report-languages",
            width=150,
            help="The language of scanned pages. A new one takes effect when the document is read again.",
        )
        draw_button(
            "Read again",
            "report-again",
            _read_again,
            context,
            name,
            help="Reads the stored file again, for example after an update. The earlier text is searched "
            "until then.",
        )


def _open(context: AppContext, name: str) -> None:
    open_document(context, name, int(st.session_state.get("report-open") or 1))


def _read_again(context: AppContext, name: str) -> None:
    overlay.close_dialog()
    languages = str(st.session_state.get("report-languages") or "")
    document_session.attempt(partial(context.additions.read_again, languages=languages), name)
