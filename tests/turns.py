"""Whose turn it is among the workers of one test run: many run tests at a time, what measures time or memory runs alone; knows no test."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["turn"]


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Wait until it is this worker's turn; with `alone` no other has one until this one ends. folder: the run's own, of all its workers."""
    with (folder / "door").open("w") as door, (folder / "room").open("w") as room:
        # Who waits to be alone keeps the door, so that nobody enters before.
        fcntl.flock(door, fcntl.LOCK_EX)
        try:
            fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        finally:
            fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            # Said outright: a process that the test has forked may still hold the file.
            fcntl.flock(room, fcntl.LOCK_UN)
