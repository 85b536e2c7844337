"""Draws a document's details: its pages as a strip and a table, period and status, space.

Its pages can be opened from here, and it can be read again.
"""

from __future__ import annotations

import streamlit as st

from chatbot.errors import NotFoundError, ProjectError
from chatbot.store.catalog import Version
from chatbot.store.disk_usage import document_space
from chatbot.ui import document_session, overlay
from chatbot.ui.app_context import AppContext
from chatbot.ui.document_address import open_document
from chatbot.ui.document_health import bytes_text
from chatbot.ui.list_controls import page_of
from chatbot.ui.page_report import facts_html, pages_html, strip_html
from chatbot.ui.safe_text import notice_html, plain_html
from ingestion.pages.document_facts import STATUSES, as_period
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = ["draw_details", "said_of"]

PAGES_SHOWN = 50
NO_STATUS = "none"
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
    _draw_facts(context, name, stored)
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
        st.button("Read again", key="report-again", on_click=_read_again, args=(context, name), help=again)


def _open(context: AppContext, name: str) -> None:
    open_document(context, name, int(st.session_state.get("report-open") or 1))


def _read_again(context: AppContext, name: str) -> None:
    document_session.close_dialog()
    document_session.attempt(context.additions.read_again, name)


def _space(context: AppContext, stored: Version) -> str:
    space = document_space(context.chatbot.library, stored.id)
    parts = (
        f"file {bytes_text(space.copies)}, text and vectors {bytes_text(space.catalogue)}, its share of the "
        f"indexes {bytes_text(space.vectors + space.words)}"
    )
    return f"about {bytes_text(space.total)}: {parts}"


def _draw_facts(context: AppContext, name: str, stored: Version) -> None:
    """Draws period and status, to be corrected if the document states them wrongly or not at all."""
    own = context.chatbot.library.catalog.own_facts(stored.id)
    corrected = context.chatbot.library.catalog.correction(stored.sha256)
    with st.form("document-facts", border=False, enter_to_submit=True):
        period_at, status_at, save_at = st.columns([2, 2, 1.2], vertical_alignment="bottom")
        period = period_at.text_input(
            "Period",
            value=stored.facts.period or "",
            max_chars=20,
            placeholder="none",
            key=f"facts-period-{stored.facts}",
        )
        choices = (NO_STATUS, *STATUSES)
        if stored.facts.status in choices:
            at = choices.index(stored.facts.status)
        else:
            at = 0
        status = status_at.selectbox(
            "Status", choices, index=at, key=f"facts-status-{stored.facts}", filter_mode=None
        )
        saved = save_at.form_submit_button("Save", key="facts-save", width="stretch")
    says = f"The document says: period {own.period or 'none'}, status {own.status or 'none'}."
    use = "Questions about a year use these to find the right documents."
    st.html(
        f'<p class="quiet">{plain_html(says)} '
        f"{'You corrected this. ' if corrected != NO_FACTS else ''}{use}</p>"
    )
    if corrected != NO_FACTS:
        st.button(
            "Use what the document says",
            key="facts-own",
            type="tertiary",
            on_click=_correct,
            args=(context, name, NO_FACTS),
        )
    if saved and period.strip() and not as_period(period):
        st.html(notice_html("That is not a period.", "Write 2025 or 2025-26, or leave it empty."))
    elif saved:
        _correct(context, name, said_of(period, status, own))
        st.rerun()


def said_of(period: str, status: str, own: DocumentFacts) -> DocumentFacts:
    """Returns what to keep of what was typed and chosen: None for what the document says, "" for none.

    period: empty, or as `as_period` takes it.
    """
    typed = as_period(period)
    chosen = "" if status == NO_STATUS else status
    return DocumentFacts(
        None if typed == (own.period or "") else typed, None if chosen == (own.status or "") else chosen
    )


def _correct(context: AppContext, name: str, said: DocumentFacts) -> None:
    try:
        context.chatbot.library.correct(name, said)
    except NotFoundError:
        document_session.notify(GONE)
        document_session.close_dialog()
    except ProjectError as error:
        document_session.notify(error.message, error.hint)
        document_session.close_dialog()
