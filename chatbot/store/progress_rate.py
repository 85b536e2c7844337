"""Estimates the speed of additions and the time left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

__all__ = ["Progress", "all_left", "share_done"]

# Seconds of a phase before speed and time left are shown, as the first pages say little.
TELLING_SECONDS = 1.0
# Seconds of a queue before its time left is shown, as the first files have hardly begun before.
ALL_SECONDS = 3.0
# The share of a file's work that is done once its pages are read, once their vectors are made where images
# are read later, and once images are read, which in a file without other text is before the vectors. A page
# takes about half as long as its vectors, an image a second.
PAGES_READ = 0.3
EMBEDDED = 0.75
IMAGES_READ = 0.95


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one file is.

    size: bytes, 0 if not known.
    phase, done, total: as of a Job.
    lacks: whether images are still to be read.
    scanned: whether some were.
    """

    size: int
    phase: str
    done: int = 0
    total: int = 0
    lacks: bool = False
    scanned: bool = False


def share_done(one: Progress) -> float:
    """Estimates the share of a file's work that is done, in [0, 1]. It never falls between phases."""
    if one.total:
        part = min(1.0, one.done / one.total)
    else:
        part = 0.0
    begun, ended = {
        "reading": (0.0, PAGES_READ),
        "ocr": (PAGES_READ, IMAGES_READ),
        "embedding": (IMAGES_READ if one.scanned else PAGES_READ, EMBEDDED if one.lacks else 1.0),
        "images": (EMBEDDED, IMAGES_READ),
        "done": (1.0, 1.0),
    }.get(one.phase, (0.0, 0.0))
    return begun + (ended - begun) * part


def all_left(files: Iterable[Progress], seconds: float) -> float | None:
    """Estimates the seconds left of a queue that has worked for `seconds`; None if unknown.

    Large files count for more.
    """
    listed = list(files)
    known = [one.size for one in listed if one.size]
    sizes = [one.size or (mean(known) if known else 1) for one in listed]
    done = sum(size * share_done(one) for size, one in zip(sizes, listed, strict=True))
    if seconds < ALL_SECONDS or done <= 0:
        return None
    return seconds / done * (sum(sizes) - done)
