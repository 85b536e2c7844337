"""Draws the list of documents: searching and sorting, the rows, the guide to the chosen one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.records import DocumentRow
from chatbot.settings import PROGRAM, is_installed
from chatbot.store.library import UNDO_DAYS
from chatbot.ui import document_session, overlay
from chatbot.ui.document_details import details_of, erasure_of, removal_of
from chatbot.ui.document_guide import draw_guide
from chatbot.ui.document_jobs import new_names
from chatbot.ui.document_session import open_document
from chatbot.ui.list_controls import page_of, search_box
from chatbot.ui.page_parts import abreast, draw_button, draw_quiet, draw_quiet_button
from chatbot.ui.safe_text import counted, plain_html, plain_markdown, short, short_day

__all__ = ["arranged", "draw_documents", "line_of", "remarks", "state_text", "undo_until"]

UNDO_SECONDS = UNDO_DAYS * 86_400
ROWS = 20
# Fewer documents need neither search nor sorting.
WORTH_SEARCHING = 8
ADDED = "In the order added"
NEWEST = "Newest first"
TITLE = "By title"
NAME = "By file name"
PAGES = "Most pages first"
LONGEST_TITLE = 110


def draw_documents(context: AppContext) -> None:
    """Draws the documents, page by page, and above them the way to undo a removal."""
    rows = context.chatbot.documents()
    titles = context.chatbot.titles()
    _draw_undo(rows, context, titles)
    removed = [row for row in rows if row.removed_at is not None]
    rows = [row for row in rows if row.removed_at is None]
    if not rows and not removed:
        if not any(job.busy for job in context.additions.jobs()):
            _draw_empty(context)
        return
    wanted, order = "", ADDED
    if len(rows) > WORTH_SEARCHING:
        with abreast(key="documents-find"):
            wanted = search_box("Search by title or file name", key="documents-search")
            order = st.selectbox(
                "Order of the documents",
                (ADDED, NEWEST, TITLE, NAME, PAGES),
                key="documents-order",
                label_visibility="collapsed",
                filter_mode=None,
                width=210,
            )
        rows = arranged(rows, wanted, order, titles)
        if not rows:
            draw_quiet("No document matches. Try fewer words.")
    new = new_names(context)
    rows = sorted(rows, key=lambda row: row.name not in new)
    shown = page_of(rows, ROWS, key=f"documents-page-{wanted}-{order}")
    with st.container(key="documents"):
        for row in shown:
            _draw_row(row, context, titles.get(row.name, row.name), is_new=row.name in new)
    if removed:
        with st.expander("Removed documents", key="documents-removed"):
            for row in removed:
                _draw_removed(row, context, titles.get(row.name, row.name))


def _draw_empty(context: AppContext) -> None:
    """Says how documents are added, if there are none."""
    draw_quiet(
        "There are no documents yet. Drop files above: reports, budgets or policies, as text or scans. "
        "Then ask about them on the Chat page."
    )
    folder = context.chatbot.library.copies.folder
    where = folder if is_installed() else folder.name
    when = f"The server adds them when it starts, or you run `{PROGRAM} add`"
    st.caption(f"You can also copy documents into the folder `{where}/`. {when}.")
    if not is_installed():
        st.caption("No document to hand? `make samples` makes four, in `documents/samples`.")


def arranged(
    rows: Sequence[DocumentRow], wanted: str, order: str, titles: Mapping[str, str]
) -> list[DocumentRow]:
    """Returns the documents whose titles and names contain all these words, in that order.

    titles: by name.
    """
    words = wanted.casefold().split()
    found = []
    for row in rows:
        name = f"{titles.get(row.name, '')} {row.name}".casefold()
        if all(word in name for word in words):
            found.append(row)
    keys: dict[str, Callable[[DocumentRow], Any]] = {
        NEWEST: lambda row: -row.added_at,
        TITLE: lambda row: (titles.get(row.name, row.name).casefold(), row.name),
        NAME: lambda row: (row.name.casefold(), row.name),
        PAGES: lambda row: (-row.pages, row.name.casefold()),
    }
    return sorted(found, key=keys[order]) if order in keys else found


def _draw_undo(rows: Sequence[DocumentRow], context: AppContext, titles: Mapping[str, str]) -> None:
    """Draws what was removed here just now, and the way to restore it."""
    removed = document_session.state().removed
    row = next((row for row in rows if row.name == removed and row.removed_at is not None), None)
    if row is None:
        document_session.forget_removal()
        return
    with abreast(gap="small", key="document-undo"):
        title = plain_html(short(titles.get(row.name, row.name), 70))
        st.html(f'<p role="status">{title} was removed.</p>', width="content")
        draw_button("Undo", "undo-removed", _restore, row, context, help="Restores it (key U)", shortcut="U")
        draw_quiet_button("Dismiss", "undo-away", document_session.forget_removal)


def _restore(row: DocumentRow, context: AppContext) -> None:
    """Restores what a row showed, unless another tab did so meanwhile."""
    now = next((one for one in context.chatbot.documents() if one.name == row.name), None)
    document_session.forget_removal()
    if (
        now is not None
        and (now.removed_at is None) == (row.removed_at is None)
        and (row.removed_at is not None or now.replaced_at == row.replaced_at)
    ):
        document_session.attempt(context.restore, row.name)
    elif now is None or row.removed_at is None:
        document_session.notify("This was changed in another tab.", "The list is up to date now.")


def _draw_row(row: DocumentRow, context: AppContext, title: str, *, is_new: bool) -> None:
    """Draws a document by its title, and below it the guide if it is the chosen one."""
    if row.name in context.additions.erasing():
        st.html(f'<p class="quiet">{plain_html(short(title, LONGEST_TITLE))}: being erased</p>')
        return
    is_chosen = document_session.state().chosen == row.name
    with st.container(key=f"document-{row.id}-{row.name}", gap=None):
        with abreast(wrap=False, gap="small"):
            _button(
                plain_markdown(short(title, LONGEST_TITLE)),
                row,
                "Close" if is_chosen else "Outline, key figures and questions",
                document_session.choose,
                "" if is_chosen else row.name,
                key="Guide",
                icon=":material/expand_less:" if is_chosen else ":material/expand_more:",
            )
            _button(
                "Remove",
                row,
                f"Remove {plain_markdown(short(title, 60))}",
                overlay.ask_for,
                removal_of(title),
                row.name,
            )
        new = '<strong class="new">New</strong> · ' if is_new else ""
        st.html(f'<p class="remark">{new}{plain_html(" · ".join(line_of(row)))}</p>')
        for remark in remarks(row, time.time()):
            st.html(f'<p class="remark">{plain_html(remark)}</p>')
        if is_chosen:
            _draw_ways(row, context, title)
            draw_guide(row, context)


def line_of(row: DocumentRow) -> list[str]:
    """Returns what the line below a title says: length and period, and the state if it is not ready."""
    state = state_text(row)
    facts = [counted(row.pages, "page"), row.period, row.status, state if state != "ready" else ""]
    return [fact for fact in facts if fact]


def _draw_ways(row: DocumentRow, context: AppContext, title: str) -> None:
    """Draws the buttons of the chosen document."""
    shown = plain_markdown(short(title, 60))
    with abreast(gap="medium", key="guide-ways"):
        _button("Open", row, "Read it page by page", open_document, context, row.name)
        _button(
            "Details",
            row,
            "How each page was read, and the space it takes",
            overlay.ask_for,
            details_of(title),
            row.name,
        )
        if undo_until(row, time.time()) is not None:
            _button("Undo", row, f"Bring back the old version of {shown}", _restore, row, context)


def _draw_removed(row: DocumentRow, context: AppContext, title: str) -> None:
    shown = plain_markdown(short(title, 60))
    with abreast(gap="small", key=f"removed-{row.name}"):
        st.html(
            f'<p class="quiet">{plain_html(short(title, LONGEST_TITLE))}</p>'
            f'<p class="remark">{plain_html(state_text(row))}</p>'
        )
        if row.name in context.additions.erasing():
            return
        _button("Restore", row, f"Restore {shown}", _restore, row, context)
        _button("Erase", row, f"Erase {shown} for good", overlay.ask_for, erasure_of(title), row.name)


def _button(
    label: str,
    row: DocumentRow,
    explained: str,
    do: Callable[..., None],
    *arguments: Any,
    key: str = "",
    icon: str | None = None,
) -> None:
    """Draws a button that acts on the row as it was shown, whatever another tab did since.

    key: its name where the label is not the same for all rows.
    """
    name = f"{key or label}-{row.name}"
    if draw_quiet_button(label, name, do, *arguments, help=explained, icon=icon):
        st.rerun()  # dialogs are outside of what is drawn again here


def state_text(row: DocumentRow) -> str:
    """Says what can be done with a document now."""
    if row.removed_at is not None:
        return f"removed; you can restore it until {short_day(row.removed_at + UNDO_SECONDS)}"
    coming = f"; {row.coming}" if row.coming else ""
    if row.state == "ready":
        if row.chunks or coming:
            return f"ready{coming}"
        return "no text was found"
    return f"found by words; search by meaning is {_percent(row)}% ready{coming}"


def _percent(row: DocumentRow) -> int:
    return 100 * row.embedded // max(1, row.chunks)


def remarks(row: DocumentRow, now: float) -> list[str]:
    """Returns what is unusual about a document. now: seconds since the epoch."""
    said = []
    if row.failed_pages:
        were = "was" if row.failed_pages == 1 else "were"
        said.append(f"⚠ {counted(row.failed_pages, 'page')} {were} not read. Details says why.")
    if row.same_as is not None:
        said.append(f"The same file as {row.same_as}. It is stored once, under both names.")
    if row.protected:
        said.append("Protected: looking at its pages needs the password.")
    until = undo_until(row, now)
    if row.replaced_at is not None and until is not None:
        back = f"You can bring it back until {short_day(until)}."
        said.append(f"Replaced an old version on {short_day(row.replaced_at)}. {back}")
    return said


def undo_until(row: DocumentRow, now: float) -> float | None:
    """Returns when undoing a replacement ends, in seconds since the epoch; None if it cannot be undone."""
    if row.removed_at is not None or row.replaced_at is None or row.replaced_at + UNDO_SECONDS <= now:
        return None
    return row.replaced_at + UNDO_SECONDS
