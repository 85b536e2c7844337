"""Whose turn it is among the workers of one test run: many run tests at a time, what measures time or
memory runs alone; knows no test.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO

__all__ = ["TurnError", "note_alone", "noted_alone", "turn"]

# Longer than any test may take, and those that run alone together.
PATIENCE_SECONDS = 600.0
PAUSE_SECONDS = 0.02


class TurnError(Exception):
    """Another worker has kept its turn for so long that it will not end it."""


def note_alone(folder: Path, tests: Iterable[str]) -> None:
    """Tell who deals out the tests which of them run alone; every worker notes the same. folder: the run's
    own.
    """
    path = folder / f"alone-{os.getpid()}"
    path.write_text("\n".join(tests), "utf-8")
    path.replace(folder / "alone")


@cache
def noted_alone(folder: Path) -> frozenset[str]:
    """The tests that run alone, once all workers have noted them."""
    return frozenset((folder / "alone").read_text("utf-8").split("\n"))


@contextmanager
def turn(folder: Path, *, alone: bool, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait until it is this worker's turn; with `alone` no other has one until this one ends. folder: the
    run's own, of all its workers. Raises TurnError after `patience` seconds.

    The kernel ends the turn of a worker that dies. A process that it has forked may still hold its lock,
    which is why nobody waits for ever.
    """
    end = time.monotonic() + patience
    with (folder / "door").open("w") as door, (folder / "room").open("w") as room:
        # Who waits to be alone keeps the door, so that nobody enters before.
        _lock(door, fcntl.LOCK_EX, end)
        try:
            _lock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, end)
        finally:
            fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # Said outright: a process that the test has forked may still hold the file.
            fcntl.flock(room, fcntl.LOCK_UN)


def _lock(file: IO[str], kind: int, end: float) -> None:
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise TurnError(
                    f"Another worker has kept {file.name} for too long: has one died and left a process "
                    f"behind?"
                ) from None
            time.sleep(PAUSE_SECONDS)
        else:
            return
