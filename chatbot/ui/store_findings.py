"""Offers to check the store, and shows what the last check found with each fix."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import streamlit as st

from chatbot.app.store_check import CheckProgress, StoreCheck
from chatbot.store.doctor import REPAIR, Finding
from chatbot.ui.safe_text import notice_html, plain_html, quiet_html

__all__ = ["findings_html", "show_check"]

POLL_SECONDS = 0.5


def show_check(check: StoreCheck, *, busy: Callable[[], bool]) -> None:
    """Draws the button and what the last check found.

    busy: whether documents are being added, whose work a check would take for left over.
    """
    running = check.running
    with st.container(key="store-check"):
        st.fragment(_draw, run_every=POLL_SECONDS if running else None)(check, busy, running)


def _draw(check: StoreCheck, busy: Callable[[], bool], was_running: bool) -> None:
    latest = check.latest()
    if latest is None:
        _offer("Check for problems", check, busy)
    elif latest.ended_at is None:
        st.html(
            f'<p class="quiet" role="status">{"Repairing" if latest.repair else "Checking"} the store …</p>'
        )
        if not was_running:  # begun by the click that draws this: from here on it is polled
            st.rerun()
    elif was_running:
        st.rerun()
    else:
        _draw_outcome(check, latest, busy)


def _draw_outcome(check: StoreCheck, latest: CheckProgress, busy: Callable[[], bool]) -> None:
    at = time.strftime("%H:%M", time.localtime(latest.ended_at))
    if latest.error is not None:
        st.html(notice_html(latest.error.message, latest.error.hint))
    elif latest.findings:
        st.html(findings_html(latest.findings))
    else:
        st.html(quiet_html(f"✓ The store is in order: catalogue, copies and indexes match. Checked at {at}."))
    with st.container(horizontal=True, gap="medium"):
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
        st.button("Dismiss", key="check-away", type="tertiary", on_click=check.put_away)


def _offer(label: str, check: StoreCheck, busy: Callable[[], bool]) -> None:
    later = busy()
    told = (
        "Available when all documents have been added."
        if later
        else "Checks that the catalogue, files and indexes match. Changes nothing."
    )
    st.button(
        label, key="check", type="tertiary", disabled=later, help=told, on_click=_start, args=(check, busy)
    )


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
