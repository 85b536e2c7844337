"""The address of a page of a document, ?document=NAME&page=N: opens it, and follows it as pages are
turned. What it names is anybody's text.
"""

from __future__ import annotations

import streamlit as st

from chatbot.errors import NotFoundError
from chatbot.ui import document_session, overlay
from chatbot.ui.app_context import AppContext
from chatbot.ui.overlay import OpenPage

__all__ = ["follow_address", "open_document", "page_number", "write_open"]

# A number of more digits is of no page.
MOST_DIGITS = 6


def follow_address(context: AppContext) -> None:
    """Before anything is drawn: open what the address asks for, and take it out of the address once it was
    closed.
    """
    given = st.query_params.get("document", ""), st.query_params.get("page", "")
    if given[0] and given != document_session.address_written():
        document_session.close_dialog()
        open_document(context, given[0], page_number(given[1]))
        document_session.write_address(*given)
    if overlay.lying_open() is None and any(document_session.address_written()):
        document_session.write_address("", "")


def open_document(context: AppContext, name: str, page: int = 1) -> None:
    """Lay a page open in the next run; of a number beyond the last, the last. Where there is no such
    document, the next run says so.
    """
    document_session.close_dialog()
    try:
        version, named = next(iter(context.chatbot.library.scope([name]).items()))
    except NotFoundError:
        document_session.tell(
            "There is no such document here.", "It was removed, or has another name: look in the list."
        )
        return
    stored = context.chatbot.library.catalog.version(version)
    overlay.open_page(OpenPage(named, version, max(1, min(page, stored.pages if stored else 1))))


def write_open(opened: OpenPage) -> None:
    """Let the address lead to the page that is shown."""
    document_session.write_address(opened.document, str(opened.page))


def page_number(text: str) -> int:
    """The page that an address names; the first where it names none."""
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    return 1
