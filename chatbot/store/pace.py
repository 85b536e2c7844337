"""How fast additions go, and about how long what is queued will take; knows counts, sizes and seconds, no file and no thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

__all__ = ["Progress", "all_left", "share_done"]

# Seconds of a phase before speed and time left are told: the first pages say little.
TELLING_SECONDS = 1.0
# Seconds of a queue before its time left is told: until then the first files have hardly begun.
ALL_SECONDS = 3.0
# What has been done of a file's work when the text of its pages is read, and when its scanned pages are; vectors are the rest. A page of text takes
# some 10 ms, its vectors 35; a scanned page a second.
TEXT_READ, SCANS_READ = 0.2, 0.85


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one file is. size: bytes, 0 where that is not known. phase, done, total: as of a Job. scanned: whether pages of it were read by OCR."""

    size: int
    phase: str
    done: int = 0
    total: int = 0
    scanned: bool = False


def share_done(one: Progress) -> float:
    """About what share of a file's work is done, in [0, 1]; it never falls from one phase to the next."""
    part = min(1.0, one.done / one.total) if one.total else 0.0
    if one.phase == "reading":
        return TEXT_READ * part
    if one.phase == "ocr":
        return TEXT_READ + (SCANS_READ - TEXT_READ) * part
    if one.phase == "embedding":
        begun = SCANS_READ if one.scanned else TEXT_READ
        return begun + (1 - begun) * part
    return 1.0 if one.phase == "done" else 0.0


def all_left(files: Iterable[Progress], seconds: float) -> float | None:
    """About how many seconds a queue still takes that has worked for `seconds`; None where nobody can tell. Large files count for more."""
    listed = list(files)
    known = [one.size for one in listed if one.size]
    sizes = [one.size or (mean(known) if known else 1) for one in listed]
    done = sum(size * share_done(one) for size, one in zip(sizes, listed, strict=True))
    if seconds < ALL_SECONDS or done <= 0:
        return None
    return seconds / done * (sum(sizes) - done)
