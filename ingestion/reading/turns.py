"""Gives out a few places to many who want one, so that each kind of them gets its turn."""

from __future__ import annotations

import itertools
import threading
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
        self._numbers = itertools.count()
        # Who waits, each with its number, and the number of the last turn of each that is still there.
        self._waiting = dict[int, object]()
        self._last: WeakKeyDictionary[object, int] = WeakKeyDictionary()

    @contextmanager
    def turn(self, who: object, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Wait for a place, and hold it. Raises CancelledError where `cancelled` turns true meanwhile."""
        with self._changed:
            number = next(self._numbers)
            self._waiting[number] = who
            try:
                while not (self._free and self._next() == number):
                    if cancelled():
                        raise CancelledError("Cancelled.")
                    self._changed.wait(LOOK_SECONDS)
                self._free -= 1
                self._last[who] = next(self._numbers)
            finally:
                del self._waiting[number]
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def _next(self) -> int:
        return min(self._waiting, key=lambda number: (self._last.get(self._waiting[number], -1), number))
