"""Gives out a few places to many who want one, so that each kind of them gets its turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from ingestion.errors import CancelledError
from ingestion.reading.reader import LOOK_SECONDS

__all__ = ["Turns"]


class Turns:
    """Places that are held for a while. A free one goes to whose last turn is longest ago."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._changed = threading.Condition()
        # Who waits, once for each place wanted, and when each that is still there had its last turn.
        self._waiting = list[object]()
        self._last: WeakKeyDictionary[object, float] = WeakKeyDictionary()

    @contextmanager
    def turn(self, who: object, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait for a place, and hold it. Raises CancelledError where `cancelled` turns true meanwhile."""
        with self._changed:
            self._waiting.append(who)
            try:
                while not self._free or who is not min(
                    self._waiting, key=lambda one: self._last.get(one, 0.0)
                ):
                    if cancelled():
                        raise CancelledError("Cancelled.")
                    self._changed.wait(LOOK_SECONDS)
                self._free -= 1
                self._last[who] = time.monotonic()
            finally:
                self._waiting.remove(who)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()
