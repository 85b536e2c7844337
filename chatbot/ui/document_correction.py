"""Draws the form in the guide to a document that sets its period and status right."""

from __future__ import annotations

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError, ProjectError
from chatbot.store.catalog import Version
from chatbot.ui import document_session
from chatbot.ui.safe_text import notice_html, plain_html
from ingestion.pages.document_facts import STATUSES, as_period
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = ["draw_correction", "said_of"]

NO_STATUS = "none"
GONE = "This document is gone. It was removed or replaced in another tab."


def draw_correction(context: AppContext, name: str) -> None:
    """Draws the form, folded, and whether what was typed is saved."""
    if document_session.corrected() == name:
        st.html('<p class="quiet" role="status">✓ Saved</p>')
    stored = context.chatbot.library.catalog.find(name)
    if stored is not None:
        with st.expander("Correct the period or status", key="guide-facts"):
            _draw_form(context, name, stored)


def _draw_form(context: AppContext, name: str, stored: Version) -> None:
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
        document_session.note_corrected(name)
    except NotFoundError:
        document_session.notify(GONE)
    except ProjectError as error:
        document_session.notify(error.message, error.hint)
