"""Whose turn it is among the workers of one test run: many run tests at a time, what measures time or memory runs alone; knows no test."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

__all__ = ["note_alone", "noted_alone", "turn"]


def note_alone(folder: Path, tests: Iterable[str]) -> None:
    """Tell who deals out the tests which of them run alone; every worker notes the same. folder: the run's own."""
    path = folder / f"alone-{os.getpid()}"
    path.write_text("\n".join(tests), "utf-8")
    path.replace(folder / "alone")


@cache
def noted_alone(folder: Path) -> frozenset[str]:
    """The tests that run alone, once all workers have noted them."""
    return frozenset((folder / "alone").read_text("utf-8").split("\n"))


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
