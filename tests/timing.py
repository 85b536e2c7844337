"""How the time of a function grows with what it is given, in this process's own time, which the load of
the machine hardly changes; knows no test.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

__all__ = ["growth"]

# Less than this is no measure.
LEAST_SECONDS = 0.002


def growth(act: Callable[[int], object], *, small: int, large: int, tries: int = 3) -> float:
    """How many times as long an item takes among `large` as among `small`: about 1 where time grows with the
    size, and large / small where with its square.

    The least of so many tries; one that is far from the square ends them. Measuring coverage changes both
    alike.
    """
    act(small)
    found = float("inf")
    for _ in range(tries):
        shorter = min(_seconds(act, small) for _ in range(2))
        found = min(found, _seconds(act, large) / max(shorter, LEAST_SECONDS) * small / large)
        if found < 2:
            break
    return found


def _seconds(act: Callable[[int], object], size: int) -> float:
    # A collection goes through all that the tests hold, and falls on the larger size.
    gc.disable()
    try:
        started = time.process_time()
        act(size)
        return time.process_time() - started
    finally:
        gc.enable()
