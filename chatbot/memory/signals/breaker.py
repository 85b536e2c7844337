"""Decides whether a failing database is asked again; knows only how often it failed and what time it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["Breaker"]

# Failures in a row after which it is left alone, and for how long: a time-out costs every question its length.
MOST_FAILURES = 3
RETRY_SECONDS = 30.0


class Breaker:
    """Closed: everyone asks. Open, after three failures in a row: nobody does, until one may try again. Safe from several threads."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """clock: seconds since the epoch."""
        self._clock = clock
        self._lock = threading.Lock()
        self._failures, self._retry_at, self._last_success = 0, 0.0, 0.0

    @property
    def failures(self) -> int:
        """In a row, up to now."""
        return self._failures

    @property
    def retry_at(self) -> float:
        """When it is tried again, 0 where it is closed."""
        return self._retry_at if self._failures >= MOST_FAILURES else 0.0

    @property
    def last_success(self) -> float:
        """0 where there was none."""
        return self._last_success

    def allows(self) -> bool:
        """Whether to ask now. Of those that come when it may be tried again, the first is let through and the others wait for what it finds."""
        with self._lock:
            if self._failures < MOST_FAILURES:
                return True
            if self._clock() < self._retry_at:
                return False
            self._retry_at = self._clock() + RETRY_SECONDS
            return True

    def succeeded(self) -> None:
        """It answered: all is forgotten."""
        with self._lock:
            self._failures, self._retry_at, self._last_success = 0, 0.0, self._clock()

    def failed(self) -> None:
        """It did not."""
        with self._lock:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                self._retry_at = self._clock() + RETRY_SECONDS
