"""Checks the store from the page, in one thread for all users, and shows what it found with each fix."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import streamlit as st

from chatbot.errors import CancelledError, ProjectError
from chatbot.store.doctor import REPAIR, Finding, examine
from chatbot.store.library import Library
from chatbot.ui.safe_text import notice_html, plain_html, quiet_html

__all__ = ["CheckProgress", "StoreCheck", "findings_html", "show_check"]

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
# How long closing waits for the step in progress. The longest is hashing one kept copy.
CLOSE_SECONDS = 10.0
# Files that wait for the user are at the top of the page, with what they wait for.
WAITS = "it has not been added yet"


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """One check as it stands.

    ended_at: seconds since the epoch, None while it runs.
    error: why it could not be finished.
    """

    repair: bool = False
    findings: tuple[Finding, ...] = ()
    ended_at: float | None = None
    error: ProjectError | None = None

    @property
    def repairable(self) -> bool:
        """Whether something was found that can be repaired."""
        return any(REPAIR in finding.fix for finding in self.findings)


class StoreCheck:
    """Checks a library in a thread of its own. Any thread may use it."""

    def __init__(self, library: Library, examined: Callable[..., Iterator[Finding]] = examine) -> None:
        self._library, self._examined = library, examined
        self._lock = threading.Lock()
        self._check: CheckProgress | None = None
        self._thread: threading.Thread | None = None
        self._closing = False

    @property
    def running(self) -> bool:
        """Whether a check has begun and not ended."""
        return self._check is not None and self._check.ended_at is None

    def latest(self) -> CheckProgress | None:
        """Returns the last check, None if there was none yet or its outcome was dismissed."""
        return self._check

    def start(self, *, repair: bool = False) -> None:
        """Begins a check. Does nothing while one runs."""
        with self._lock:
            if self.running or self._closing:
                return
            self._check = CheckProgress(repair)
            self._thread = threading.Thread(target=self._run, args=(repair,), name="store-check", daemon=True)
            self._thread.start()

    def put_away(self) -> None:
        """Dismisses the outcome of a check that has ended."""
        with self._lock:
            if not self.running:
                self._check = None

    def close(self) -> None:
        """Stops after the step in progress."""
        self._closing = True
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    def _run(self, repair: bool) -> None:
        check = CheckProgress(repair)
        try:
            for finding in self._examined(self._library, repair=repair, progress=self._go_on):
                if not finding.problem.startswith(WAITS):
                    check = replace(check, findings=(*check.findings, finding))
                self._go_on()
        except ProjectError as error:
            check = replace(check, error=error)
        except BaseException:  # a panic in a library too: additions wait until the check has ended
            log.exception("the check failed")
            check = replace(
                check,
                error=ProjectError("The check failed.", hint="See the server's log."),
            )
        self._check = replace(check, ended_at=time.time())

    def _go_on(self, *_: object) -> None:
        if self._closing:
            raise CancelledError("The server was stopped.")


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
        _offer("Check the store", check, busy)
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
