"""Draws the Documents page: adding, progress, health of the store, and the list of documents."""

from __future__ import annotations

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.ui import document_session, overlay
from chatbot.ui.app_opening import opening
from chatbot.ui.document_adding import draw_adding
from chatbot.ui.document_address import follow_address, write_open
from chatbot.ui.document_dialogs import show_dialog
from chatbot.ui.document_guide import is_pending
from chatbot.ui.document_health import draw_health, draw_space
from chatbot.ui.document_jobs import draw_jobs
from chatbot.ui.document_list import draw_documents
from chatbot.ui.page_view import show_open_page
from chatbot.ui.safe_text import notice_html
from chatbot.ui.store_findings import show_check

POLL_SECONDS = 0.5


def show(context: AppContext) -> None:
    """Draws the page."""
    st.title("Documents", anchor=False)
    follow_address(context)
    draw_adding(context)
    polled = _waits(context)
    st.fragment(_state, run_every=POLL_SECONDS if polled else None)(context, polled)
    draw_space(context)
    show_check(context.check, busy=lambda: _busy(context))
    if overlay.lying_open() is not None:
        show_open_page(context, shown=write_open)
    else:
        show_dialog(context)


def _state(context: AppContext, polled: bool) -> None:
    """Draws additions and documents, again twice a second while something changes."""
    notice = st.container()
    draw_jobs(context)
    draw_health(context, busy=_busy(context))
    draw_documents(context)
    if polled and not _waits(context):
        st.rerun()
    message, hint = document_session.problem()  # last, since what is drawn before may begin something
    if message:
        notice.html(notice_html(message, hint))


def _waits(context: AppContext) -> bool:
    """Tells whether the page is to be drawn again by itself."""
    return moving(context) or is_pending(context, context.chatbot.documents())


def moving(context: AppContext) -> bool:
    """Tells whether what is shown changes by itself.

    After a restart vectors are missing for a moment before there is a job that makes them.
    """
    library = context.chatbot.library
    return _busy(context) or bool(library.without_vectors() or library.incomplete())


def _busy(context: AppContext) -> bool:
    """Tells whether the queue is at work."""
    return any(job.busy for job in context.additions.jobs()) or bool(context.additions.erasing())


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
