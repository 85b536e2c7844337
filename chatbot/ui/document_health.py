"""Says whether all documents can be searched, what to repair, and how much space they take.

It offers to check the store, and shows what the last check found with each fix.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.store_check import CheckProgress, StoreCheck
from chatbot.errors import ProjectError
from chatbot.records import DocumentRow
from chatbot.store.disk_usage import Space, store_space
from chatbot.store.doctor import LITTLE_SPACE, REPAIR, Finding, glance
from chatbot.ui.page_parts import abreast, draw_problem, draw_quiet, draw_quiet_button, follow
from chatbot.ui.safe_text import plain_html, quiet_html

__all__ = [
    "bytes_text",
    "draw_health",
    "draw_space",
    "findings_html",
    "health_text",
    "parts_text",
    "show_check",
    "space_text",
]

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
        draw_quiet(space_text(store_space(context.chatbot.library)))
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
    little = " ⚠ That is not much. Remove documents or free some space." if space.free < LITTLE_SPACE else ""
    return f"Space used: {parts_text(space)}. {bytes_text(space.free)} free on this disk.{little}"


def parts_text(space: Space) -> str:
    """Says how much is used in all, and for what."""
    index = bytes_text(space.vectors + space.words)
    parts = f"files {bytes_text(space.copies)}, text {bytes_text(space.catalogue)}, search index {index}"
    return f"{bytes_text(space.total)} ({parts})"


def bytes_text(count: int) -> str:
    """Writes bytes as people do: "820 KB", "3.4 MB", "12 GB"."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            if count < 10 * size:
                return f"{count / size:,.1f} {unit}"
            return f"{count / size:,.0f} {unit}"
    return f"{count:,} bytes"


def show_check(check: StoreCheck, *, busy: Callable[[], bool]) -> None:
    """Draws the button and what the last check found.

    busy: whether documents are being added, whose work a check would take for left over.
    """
    with st.container(key="store-check"):
        follow(partial(_draw, check, busy), lambda: check.running)


def _draw(check: StoreCheck, busy: Callable[[], bool]) -> None:
    latest = check.latest()
    if latest is None:
        _offer("Check for problems", check, busy)
    elif latest.ended_at is None:
        what = "Repairing" if latest.repair else "Checking"
        st.html(f'<p class="quiet" role="status">{what} your documents …</p>')
    else:
        _draw_outcome(check, latest, busy)


def _draw_outcome(check: StoreCheck, latest: CheckProgress, busy: Callable[[], bool]) -> None:
    at = time.strftime("%H:%M", time.localtime(latest.ended_at))
    if latest.error is not None:
        draw_problem(latest.error)
    elif latest.findings:
        st.html(findings_html(latest.findings))
    else:
        draw_quiet(f"✓ Everything is in order. Checked at {at}.")
    with abreast(gap="medium"):
        if latest.repairable:
            st.button(
                "Repair",
                key="repair",
                disabled=busy(),
                on_click=_start,
                args=(check, busy),
                kwargs={"repair": True},
            )
        _offer("Check again", check, busy)
        draw_quiet_button("Dismiss", "check-away", check.put_away)


def _offer(label: str, check: StoreCheck, busy: Callable[[], bool]) -> None:
    later = busy()
    told = (
        "Available when all documents have been added."
        if later
        else "Looks for files and search data that are missing or damaged. Changes nothing."
    )
    draw_quiet_button(label, "check", _start, check, busy, disabled=later, help=told)


def _start(check: StoreCheck, busy: Callable[[], bool], *, repair: bool = False) -> None:
    if not busy():
        check.start(repair=repair)


def findings_html(findings: Iterable[Finding]) -> str:
    """Renders each finding with its fix, in the page's words rather than the command line's."""
    return f'<ul class="findings">{"".join(map(_finding_html, findings))}</ul>'


def _finding_html(finding: Finding) -> str:
    fix = finding.fix.replace(REPAIR, "Repair fixes it.")
    named = f"<strong>{plain_html(finding.document)}</strong>: " if finding.document else ""
    return (
        f"<li>{'✓' if finding.mended else '⚠'} {named}{plain_html(finding.problem)}. <span "
        f'class="fix">{plain_html(fix)}</span></li>'
    )
