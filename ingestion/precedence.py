"""Lets long work in Python pause while somebody waits for what other threads do.

An interpreter runs one thread at a time: beside a thread that never rests, another takes several times as long.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["giving_way", "precedence"]

Item = TypeVar("Item")

# Seconds that long work pauses for each second it worked, all of its threads together. It never stands still.
PAUSE = 3.0
# Who was just answered asks again for this many seconds.
LATELY = 1.0
# After this many seconds a thread should have let another one run; where a piece took longer, work rests for
# this share of it even if nobody waits, so that a request can come in.
SWITCHED, REST = 0.005, 0.15

# Only one thread of long work pauses at a time, so that many are not quicker than one.
_pausing = threading.Lock()
# The threads that somebody waits for, and when the last of others ended.
_awaited: list[int] = []
_ended = [-LATELY]


@contextmanager
def precedence() -> Iterator[None]:
    """Makes the long work of other threads pause meanwhile."""
    thread = threading.get_ident()
    _awaited.append(thread)
    try:
        yield
    finally:
        _awaited.remove(thread)
        _ended[0] = time.monotonic()


def giving_way(items: Iterable[Item]) -> Iterator[Item]:
    """Yields pieces of long work, and pauses between them while somebody waits for another thread."""
    since = time.monotonic()
    for item in items:
        yield item
        now = time.monotonic()
        if threading.get_ident() not in _awaited and (_awaited or now - _ended[0] < LATELY):
            with _pausing:
                time.sleep(PAUSE * (now - since))
        elif now - since > SWITCHED:
            time.sleep(REST * (now - since))
        since = time.monotonic()
