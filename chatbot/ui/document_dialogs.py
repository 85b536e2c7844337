"""Draws the questions before removing and erasing a document, and chooses the dialog of the page."""

from __future__ import annotations

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.store.library import UNDO_DAYS
from chatbot.ui import document_session
from chatbot.ui.document_details import draw_details
from chatbot.ui.safe_text import paragraphs_html, plain_markdown, quiet_html, short

__all__ = ["show_dialog"]

LONGEST_TITLE = 90


def show_dialog(context: AppContext) -> None:
    """Opens the dialog that was asked for, if any."""
    kind, name = document_session.dialog()
    shown = plain_markdown(short(context.chatbot.title(name), LONGEST_TITLE)) if kind else ""
    away = document_session.close_dialog
    if kind == "report":
        st.dialog(shown, width="large", on_dismiss=away)(_details)(context, name)
    elif kind == "remove":
        st.dialog(f"Remove {shown}?", on_dismiss=away)(_remove)(context, name)
    elif kind == "erase":
        st.dialog(f"Erase {shown} for good?", on_dismiss=away)(_erase)(context, name)


def _details(context: AppContext, name: str) -> None:
    _file(name)
    draw_details(context, name)


def _file(name: str) -> None:
    """Names the file, below the title."""
    st.html(quiet_html(short(name, 120)))


def _remove(context: AppContext, name: str) -> None:
    _file(name)
    st.html(
        paragraphs_html(
            f"It is no longer searched. You can undo this now, and restore the document for {UNDO_DAYS} days."
        )
    )
    _choice("Remove", context, name)


def _erase(context: AppContext, name: str) -> None:
    _file(name)
    text = (
        "The file and everything read from it are erased. This cannot be undone. What past answers quoted "
        "stays in those conversations."
    )
    text += " A file in the documents folder stays there."
    st.html(paragraphs_html(text))
    _choice("Erase for good", context, name)


def _choice(label: str, context: AppContext, name: str) -> None:
    with st.container(horizontal=True):
        if st.button(label, key="dialog-yes", type="primary"):
            document_session.close_dialog()
            if label == "Remove":
                document_session.note_removed(name)
                document_session.attempt(context.chatbot.remove, name)
            else:
                document_session.attempt(context.erase, name)
            st.rerun()
        if st.button("Cancel", key="dialog-no"):
            document_session.close_dialog()
            st.rerun()
