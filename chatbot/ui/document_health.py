"""Says whether all documents can be searched, what to repair, and how much space they take."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.records import DocumentRow
from chatbot.store.disk_usage import Space, store_space
from chatbot.store.doctor import LITTLE_SPACE, REPAIR, glance
from chatbot.ui.safe_text import plain_html, quiet_html
from chatbot.ui.store_findings import findings_html

__all__ = ["bytes_text", "draw_health", "draw_space", "health_text", "space_text"]

# The number of documents with a fault that are spelled out.
MOST_SAID = 4


def draw_health(context: AppContext, *, busy: bool) -> None:
    """Draws the sentence; below it the faults that a quick look finds, with the button that repairs them."""
    documents = context.chatbot.documents()
    rows = [row for row in documents if row.removed_at is None]
    coming = sum(job.busy and job.result is None and not job.again for job in context.additions.jobs())
    if documents or coming:  # the list speaks of an empty store
        st.html(f'<p class="health" role="status">{plain_html(health_text(rows, coming))}</p>')
    if (
        busy or context.check.latest() is not None
    ):  # what is being made is not missing, and a check has looked closer
        return
    try:
        found = glance(context.chatbot.library)
    except ProjectError:  # the check below says what is wrong
        return
    if found:
        st.html(
            findings_html(found[:MOST_SAID])
            + (quiet_html(f"And {len(found) - MOST_SAID:,} more.") if len(found) > MOST_SAID else "")
        )
    if any(REPAIR in finding.fix for finding in found):
        st.button(
            "Repair now",
            key="repair-now",
            type="primary",
            on_click=context.check.start,
            kwargs={"repair": True},
        )


def draw_space(context: AppContext) -> None:
    """Draws what the documents take on the disk."""
    try:
        st.html(quiet_html(space_text(store_space(context.chatbot.library))))
    except OSError:  # an unreadable disk size is no reason to show no page
        return


def health_text(rows: Sequence[DocumentRow], coming: int) -> str:
    """Says what can be asked about now.

    rows: the documents that exist.
    coming: how many are being added and cannot be searched yet.
    """
    count = len(rows)
    lost = sum(row.state == "ready" and not row.chunks for row in rows)
    words = sum(row.state != "ready" for row in rows)
    if coming:
        more = f" {coming:,} more {'is' if coming == 1 else 'are'} being added."
    else:
        more = ""
    if not count:
        return more.strip().replace(" more ", " ", 1) or "There are no documents to search."
    all_of = "the document" if count == 1 else f"all {count:,} documents"
    if lost:
        said = f"⚠ You can ask about {count - lost:,} of {count:,}. No text was found in the others."
    else:
        said = f"✓ You can ask about {all_of}."
    if words:
        of_them = "" if words == count else f" in {words:,} of them"
        said += f" Search{of_them} still improves."
    return said + more


def space_text(space: Space) -> str:
    """Says how much is used in all, for what, and how much is free."""
    parts = (
        f"files {bytes_text(space.copies)}, text and vectors {bytes_text(space.catalogue)}, indexes "
        f"{bytes_text(space.vectors + space.words)}"
    )
    little = " ⚠ That is not much. Remove documents or free some space." if space.free < LITTLE_SPACE else ""
    free = bytes_text(space.free)
    return f"Space used: {bytes_text(space.total)} ({parts}). {free} free on this disk.{little}"


def bytes_text(count: int) -> str:
    """Writes bytes as people do: "820 KB", "3.4 MB", "12 GB"."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            if count < 10 * size:
                return f"{count / size:,.1f} {unit}"
            return f"{count / size:,.0f} {unit}"
    return f"{count:,} bytes"
