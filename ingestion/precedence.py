"""Lets long work in Python pause while somebody waits for what other threads do.

An interpreter runs one thread at a time: beside one that never rests, another takes several times as long.
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
# Seconds of processor after which a request counts as long work itself, and no longer goes first.
MOST_TAKEN = 0.5

# Only one thread of long work pauses at a time, so that many are not quicker than one.
_pausing = threading.Lock()
# The threads that somebody waits for, each with the seconds that it had worked before; and when the last of
# others ended.
_awaited: dict[int, float] = {}
_ended = [-LATELY]


@contextmanager
def precedence() -> Iterator[None]:
    """Makes the long work of other threads pause meanwhile."""
    thread = threading.get_ident()
    _awaited[thread] = time.thread_time()
    try:
        yield
    finally:
        if _awaited.pop(thread, None) is not None:
            _ended[0] = time.monotonic()


def giving_way(items: Iterable[Item]) -> Iterator[Item]:
    """Yields pieces of long work, and pauses between them while somebody waits for another thread."""
    since = time.thread_time()
    for item in items:
        yield item
        now = time.thread_time()
        worked, thread = now - since, threading.get_ident()
        if now - _awaited.get(thread, now) > MOST_TAKEN:
            _awaited.pop(thread)
        if thread not in _awaited and (_awaited or time.monotonic() - _ended[0] < LATELY):
            with _pausing:
                time.sleep(PAUSE * worked)
        elif worked > SWITCHED:
            time.sleep(REST * worked)
        since = now
