"""Asks each part that a store stands on whether it answers, and how quickly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from chatbot.errors import ProjectError

__all__ = ["PartCheck", "PartChecks", "StorePart"]

# Seconds after which a part that has not answered is reported as down.
SECONDS = 3.0
CHECKS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class StorePart:
    """place: what it is kept in. ping: anything that it must answer; it raises ProjectError or OSError."""

    name: str
    place: str
    ping: Callable[[], object]


@dataclass(frozen=True, slots=True)
class PartCheck:
    """seconds: until it answered or failed. problem: what it said, "" if all is well."""

    name: str
    place: str
    seconds: float
    problem: str


class PartChecks:
    """Asks all parts at once. A part that still owes an answer is not asked again until it has come."""

    def __init__(self, parts: Iterable[StorePart], *, seconds: float = SECONDS) -> None:
        """seconds: to wait for answers."""
        self._parts, self._seconds = tuple(parts), seconds
        self._threads = ThreadPoolExecutor(CHECKS_AT_ONCE, thread_name_prefix="part-check")
        self._asked: dict[str, Future[PartCheck]] = {}
        self._lock = threading.Lock()

    def add(self, part: StorePart) -> None:
        """Asks one more part from now on."""
        with self._lock:
            self._parts += (part,)

    def all(self) -> list[PartCheck]:
        """Returns what each part answered, in their order."""
        with self._lock:
            parts = self._parts
            for part in parts:
                if part.name not in self._asked:
                    self._asked[part.name] = self._threads.submit(_ping, part)
            asked = [self._asked[part.name] for part in parts]
        answered, _ = wait(asked, self._seconds)
        with self._lock:
            self._asked = {name: one for name, one in self._asked.items() if one not in answered}
        problem = f"There was no answer within {self._seconds:g} seconds."
        return [
            one.result() if one in answered else PartCheck(part.name, part.place, self._seconds, problem)
            for part, one in zip(parts, asked, strict=True)
        ]

    def close(self) -> None:
        """Ends the threads, without waiting for a part that does not answer."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _ping(part: StorePart) -> PartCheck:
    begun = time.perf_counter()
    problem = ""
    try:
        part.ping()
    except ProjectError as error:
        problem = error.whole_message
    except OSError as error:
        problem = f"{error.strerror or type(error).__name__}."
    return PartCheck(part.name, part.place, time.perf_counter() - begun, problem)
