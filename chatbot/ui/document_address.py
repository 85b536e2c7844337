"""Opens the address of a document's page, ?document=NAME&page=N, and follows it as pages are turned.

What an address names may be any text.
"""

from __future__ import annotations

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError
from chatbot.ui import document_session, overlay
from chatbot.ui.overlay import OpenPage

__all__ = ["follow_address", "open_document", "page_number", "write_open"]

# No page number has more digits.
MOST_DIGITS = 6


def follow_address(context: AppContext) -> None:
    """Opens what the address asks for, and removes it from the address once it was closed.

    To be called before anything is drawn.
    """
    given = st.query_params.get("document", ""), st.query_params.get("page", "")
    if given[0] and given != document_session.address_written():
        document_session.close_dialog()
        open_document(context, given[0], page_number(given[1]))
        document_session.write_address(*given)
    if overlay.lying_open() is None and any(document_session.address_written()):
        document_session.write_address("", "")


def open_document(context: AppContext, name: str, page: int = 1) -> None:
    """Opens a page in the next run; for a number beyond the last page, the last.

    If there is no such document, the next run says so.
    """
    document_session.close_dialog()
    try:
        version, named = next(iter(context.chatbot.library.scope([name]).items()))
    except NotFoundError:
        document_session.notify(
            "There is no such document here.", "It was removed or has another name. Check the list."
        )
        return
    stored = context.chatbot.library.catalog.version(version)
    overlay.open_page(OpenPage(named, version, max(1, min(page, stored.pages if stored else 1))))


def write_open(opened: OpenPage) -> None:
    """Makes the address lead to the page that is shown."""
    document_session.write_address(opened.document, str(opened.page))


def page_number(text: str) -> int:
    """Returns the page that an address names, by default the first."""
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    return 1
