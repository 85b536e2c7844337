"""Draws the Documents page: adding, progress, health of the store, and the list of documents."""

from __future__ import annotations

from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.ui import session
from chatbot.ui.document_adding import draw_adding
from chatbot.ui.document_guide import is_pending
from chatbot.ui.document_health import draw_health, draw_space, show_check
from chatbot.ui.document_jobs import draw_jobs
from chatbot.ui.document_list import draw_documents
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import follow
from chatbot.ui.safe_text import notice_html


def show(context: AppContext) -> None:
    """Draws the page."""
    st.title("Documents", anchor=False)
    draw_adding(context)
    follow(partial(_state, context), partial(_waits, context))
    if session.documents(context):
        draw_space(context)
    show_check(context.check, busy=lambda: _busy(context))


def _state(context: AppContext) -> None:
    """Draws additions and documents."""
    notice = st.container()
    draw_jobs(context)
    draw_health(context, busy=_busy(context))
    draw_documents(context)
    problem = session.notified()  # last, since what is drawn before may begin something
    if problem is not None:
        notice.html(notice_html(problem.message, problem.hint))


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
