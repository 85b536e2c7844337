"""Checks the store in one thread for all users, and keeps what it found."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from chatbot.errors import CancelledError, ProjectError
from chatbot.store.doctor import REPAIR, Finding, examine
from chatbot.store.library import Library

__all__ = ["CheckProgress", "StoreCheck"]

log = logging.getLogger(__name__)

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
