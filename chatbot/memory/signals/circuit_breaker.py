"""Decides whether a failing database is asked again, by its failures and the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

__all__ = ["CircuitBreaker"]

# Failures in a row after which it is left alone, and for how long: a time-out costs every question its
# length.
MOST_FAILURES = 3
RETRY_SECONDS = 30.0


class CircuitBreaker:
    """Closed, everyone may ask. Open, after three failures in a row, nobody may until one may try again.

    Safe to use from several threads.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """clock: seconds since the epoch."""
        self._clock, self._lock = clock, threading.Lock()
        # Failures in a row, up to now; when it is tried again, 0 where it is closed; when it answered last, 0
        # where it never did.
        self.failures, self.retry_at, self.last_success = 0, 0.0, 0.0

    def allows(self) -> bool:
        """Whether to ask now.

        When it may be tried again, the first caller is let through, and the others wait for the result.
        """
        with self._lock:
            if self._clock() < self.retry_at:
                return False
            if self.retry_at:
                self.retry_at = self._clock() + RETRY_SECONDS
            return True

    def succeeded(self) -> None:
        """Note that it answered: all failures are forgotten."""
        with self._lock:
            self.failures, self.retry_at, self.last_success = 0, 0.0, self._clock()

    def failed(self) -> None:
        """Note that it did not answer."""
        with self._lock:
            self.failures += 1
            if self.failures >= MOST_FAILURES:
                self.retry_at = self._clock() + RETRY_SECONDS
