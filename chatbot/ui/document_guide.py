"""Draws the guide to a document: what it is, its outline and key figures, and questions to ask about it.

It is made in a thread, without a model, and kept for the session. Its period and status can be set right.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.comparison.key_figure_records import OF_GDP, KeyFigure
from chatbot.comparison.key_figures import FigureColumn, KeyFigureSheet, SheetRow
from chatbot.errors import NotFoundError, ProjectError
from chatbot.records import DocumentRow, PageRef
from chatbot.search.document_description import Description, described
from chatbot.search.sections import Section
from chatbot.store.catalog import Version
from chatbot.ui import document_session, overlay, session
from chatbot.ui.example_questions import ANY_QUESTIONS, about_parts, lowered
from chatbot.ui.figure_table import pages_of
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_parts import abreast, draw_notice, draw_quiet, draw_quiet_button
from chatbot.ui.routes import cover_address
from chatbot.ui.safe_text import page_text, plain_html, plain_markdown, quiet_html, short, short_day
from ingestion.pages.document_facts import STATUSES, as_period
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = ["draw_guide", "is_pending", "questions_of", "said_of"]

log = logging.getLogger(__name__)

# So long a press waits for the guide before the page is drawn without it.
WAIT_SECONDS = 0.6
# The guides that a session keeps.
MOST_KEPT = 12
GUIDES = "document_guides"
MOST_FIGURES = 6
FEWEST_QUESTIONS, MOST_QUESTIONS = 3, 5
MOST_FIGURE_QUESTIONS = 2
LONGEST_TITLE = 110
LONGEST_PART = 90
SUMMARY = "Summarise this document"
NO_STATUS = "none"
GONE = "This document is gone. It was removed or replaced in another tab."


class _GuideRun:
    """A guide that is made in a thread. Until it is over its parts are empty."""

    def __init__(self, context: AppContext, row: DocumentRow) -> None:
        self.version = 0
        self.description = Description()
        self.sheet = KeyFigureSheet()
        self.questions: tuple[str, ...] = ()
        self._thread = threading.Thread(target=self._make, args=(context, row), name="guide", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> None:
        """Waits for its end, at most so long."""
        self._thread.join(seconds)

    def _make(self, context: AppContext, row: DocumentRow) -> None:
        try:
            chatbot = context.chatbot
            version = chatbot.library.catalog.find(row.name)
            if version is None:
                return
            self.version = version.id
            bookmarks: list[tuple[str, int, int]] = []
            with suppress(ProjectError):  # such as a file that needs a password
                bookmarks = chatbot.bookmarks(version.id)
            title = chatbot.title(row.name)
            self.description = described(chatbot.library, version.id, title, bookmarks)
            self.sheet = chatbot.key_figures([row.name])
            self.questions = questions_of(self.sheet, self.description.parts)
        except ProjectError as error:  # such as a document that is removed meanwhile
            log.warning("making the guide to a document: %s", error)
        except Exception:
            log.exception("the guide to a document failed")


def questions_of(sheet: KeyFigureSheet, parts: Iterable[Section]) -> tuple[str, ...]:
    """Returns three to five questions to suggest.

    sheet, parts: of one document.
    """
    figures = [
        f"What is {lowered(row.shown)} in {column.period.text}?"
        for row, column, _ in _main_figures(sheet)
        if not row.measure.endswith(OF_GDP) and not row.is_worked_out
    ]
    found = [SUMMARY, *figures[:MOST_FIGURE_QUESTIONS], *about_parts(parts, "the document")]
    if len(found) < FEWEST_QUESTIONS:
        found += ANY_QUESTIONS
    return tuple(dict.fromkeys(found))[:MOST_QUESTIONS]


def _main_figures(sheet: KeyFigureSheet) -> list[tuple[SheetRow, FigureColumn, KeyFigure]]:
    """The figures of the document's own period, in the order of the sheet."""
    found = []
    for column in sheet.main[:1]:
        for row in sheet.rows:
            figure = sheet.cell(row, column)
            if figure is not None:
                found.append((row, column, figure))
    return found[:MOST_FIGURES]


def _run_of(context: AppContext, row: DocumentRow) -> _GuideRun:
    """The guide to a document as it is stored now, begun if there is none."""
    kept: dict[tuple[str, ...], _GuideRun] = st.session_state.setdefault(GUIDES, {})
    key = (row.name, row.digest, row.lacks, str(row.period), str(row.chunks))
    if key not in kept:
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = _GuideRun(context, row)
        kept[key].wait(WAIT_SECONDS)
    return kept[key]


def is_pending(context: AppContext, rows: Sequence[DocumentRow]) -> bool:
    """Tells whether the guide that is shown is still being made."""
    row = next((row for row in rows if row.name == document_session.state().chosen), None)
    return row is not None and row.removed_at is None and not _run_of(context, row).is_over


def draw_guide(row: DocumentRow, context: AppContext) -> None:
    """Draws the guide to a document that is in the store."""
    run = _run_of(context, row)
    with st.container(key="guide", gap="small"):
        cover = _cover_html(row.name, run.version) if run.version else ""
        facts = "".join(
            f"<div><dt>{term}</dt><dd>{plain_html(text)}</dd></div>"
            for term, text in facts_of(row, run.description)
        )
        st.html(f'<div class="guide-top">{cover}<dl class="facts">{facts}</dl></div>')
        draw_correction(context, row.name)
        if not run.is_over:
            st.html('<p class="quiet" role="status">Reading the outline and the key figures …</p>')
            return
        _draw_questions(run.questions, row.name)
        _draw_figures(run)
        _draw_outline(run, row.name)


def facts_of(row: DocumentRow, description: Description) -> list[tuple[str, str]]:
    """Returns what is known of a document as (term, text), without what is not known."""
    scanned = f", {row.ocr_pages:,} of them scanned" if row.ocr_pages else ""
    facts = [
        ("Issuer", description.issuer),
        ("Kind", description.kind),
        ("Period", row.period or ""),
        ("Status", row.status or ""),
        ("Pages", f"{row.pages:,}{scanned}"),
        ("Added", short_day(row.added_at)),
        ("File", short(row.name, 120)),
    ]
    return [(term, text) for term, text in facts if text]


def _cover_html(name: str, version: int) -> str:
    offered = overlay.offer("guide-cover", OpenPage(name, version, 1))
    return (
        f'<button type="button" class="cover" {offered}>'
        f'<img src="{cover_address(version)}" alt="Open the first page" width="120" height="156"></button>'
    )


def _draw_questions(questions: Sequence[str], name: str) -> None:
    st.html('<h3 class="guide-part">Ask about this document</h3>')
    with abreast(gap="small", key="guide-questions"):
        for index, question in enumerate(questions):
            if st.button(plain_markdown(question), key=f"guide-ask-{index}"):
                session.go_to(None)
                session.scope_next(partial(list, [name]))
                session.ask_again(question)
                st.switch_page("chat_page.py")


def _draw_figures(run: _GuideRun) -> None:
    """Draws the key figures, each with a button to its page."""
    figures = _main_figures(run.sheet)
    if not figures:
        return
    lines = []
    for number, (row, column, figure) in enumerate(figures):
        buttons = []
        for at, (cell, opened) in enumerate(pages_of(figure, column)):
            offered = overlay.offer(f"guide-figure-{number}-{at}", opened)
            where = page_text(PageRef("", cell.page, cell.page_label))
            told = plain_html(f"{row.shown}: {where}")
            buttons.append(
                f'<button type="button" class="key" {offered} aria-label="{told}">'
                f"p.\u00a0{cell.page}</button>"
            )
        lines.append(
            f'<tr><th scope="row">{plain_html(row.shown)}</th>'
            f'<td class="figures">{_amount_html(row, figure)}</td>'
            f"<td>{' '.join(buttons)}</td></tr>"
        )
    period = plain_html(figures[0][1].period.text)
    st.html(
        f'<h3 class="guide-part">Key figures, {period}</h3>'
        f'<table class="guide-figures"><tbody>{"".join(lines)}</tbody></table>'
    )


def _amount_html(row: SheetRow, figure: KeyFigure) -> str:
    """A figure with its unit: "$ 11,692,713 thousand", "4.8%", "2,140 million crowns"."""
    before, after = "", row.unit_text
    if row.unit and not row.unit.islower():
        before, after = row.unit, row.unit_text.removeprefix(row.unit).strip()
    parts = [plain_html(before), plain_html(row.text_of(figure))]
    return " ".join(filter(None, parts)) + (f' <span class="of">{plain_html(after)}</span>' if after else "")


def _draw_outline(run: _GuideRun, name: str) -> None:
    """Draws the parts of the document, each of which opens its page."""
    parts = run.description.parts
    st.html('<h3 class="guide-part">Outline</h3>')
    if not parts:
        draw_quiet("No headings were found in this document.")
        return
    lines = []
    for number, part in enumerate(parts):
        offered = overlay.offer(f"guide-outline-{number}", OpenPage(name, run.version, part.page))
        deep = " deep" if "." in part.number else ""
        lines.append(
            f'<li class="line{deep}"><button type="button" {offered}>'
            f"<bdi>{plain_html(short(part.title, LONGEST_PART))}</bdi> "
            f'<span class="of">p.\u00a0{part.page}</span></button></li>'
        )
    more = run.description.more
    rest = quiet_html(f"{more:,} shorter parts are not listed.") if more else ""
    st.html(f'<ul class="outline">{"".join(lines)}</ul>{rest}')


# --- period and status
# ------------------------------------------------------------------------------------------------------------


def draw_correction(context: AppContext, name: str) -> None:
    """Draws the form, folded, and whether what was typed is saved."""
    if document_session.state().corrected:
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
        at = choices.index(stored.facts.status) if stored.facts.status in choices else 0
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
        draw_quiet_button("Use what the document says", "facts-own", _correct, context, name, NO_FACTS)
    if saved and period.strip() and not as_period(period):
        draw_notice("That is not a period.", "Write 2025 or 2025-26, or leave it empty.")
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
        document_session.state().corrected = True
    except NotFoundError:
        document_session.notify(GONE)
    except ProjectError as error:
        document_session.notify(error.message, error.hint)
