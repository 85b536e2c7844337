"""Keeps whether news signals are in use, whether their database is worth asking, and how sources were rated.

It opens no database of news.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.memory.signals.records import SourceRow

__all__ = ["RATINGS", "TABLES", "CircuitBreaker", "SourceRatings", "State"]

TABLES = Tables(
    "signals", "create table signal_state (name text primary key, value integer not null) without rowid;\n"
)


@dataclass(frozen=True, slots=True)
class State:
    """Whether signals are in use.

    imported: whether anything was ever imported.
    on: whether nobody switched it off.
    """

    imported: bool = False
    on: bool = True


RATINGS = Tables(
    "signal_sources",
    """create table source_rating (owner text not null, conversation text not null,
number integer not null, source text not null, helpful integer not null,
primary key (owner, conversation, number, source)) without rowid;
""",
)


class SourceRatings:
    """The ratings of answers by the sources of the news in them. Safe to use from several threads."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Raises StoreError."""
        database.prepare(RATINGS)
        self._database = database

    def rate(
        self, owner: str, conversation: str, number: int, sources: Iterable[str], *, helpful: bool
    ) -> None:
        """Notes a rating of the answer of this number; a later one takes its place. Raises StoreError."""
        with self._database.write() as connection:
            connection.executemany(
                "insert into source_rating values (?, ?, ?, ?, ?) on conflict (owner, conversation, number,"
                " source) do update set helpful = excluded.helpful",
                [(owner, conversation, number, source, helpful) for source in set(sources)],
            )

    def listed(self) -> list[SourceRow]:
        """Returns every source that was rated, the one with the most ratings first. Raises StoreError."""
        rows = self._database.read(
            "select source, sum(helpful), sum(1 - helpful) from source_rating group by source"
            " order by count(*) desc, source"
        )
        return [SourceRow(*row) for row in rows]


# Failures in a row after which it is left alone, and for how long: a time-out costs every question its
# length.
MOST_FAILURES = 3
RETRY_SECONDS = 30.0


class CircuitBreaker:
    """Closed, everyone may ask. Open, after three failures in a row, nobody may until one may try again.

    Safe to use from several threads.
    """

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """clock: seconds since the epoch."""
        self._clock, self._lock = clock, threading.Lock()
        # Failures in a row, up to now; when it is tried again, 0 where it is closed; when it answered last, 0
        # where it never did.
        self.failures, self.retry_at, self.last_success = 0, 0.0, 0.0

    def allows(self) -> bool:
        """Whether to ask now.

        When it may be tried again, the first caller is let through, and the others wait for the result.
        """
        with self._lock:
            if self._clock() < self.retry_at:
                return False
            if self.retry_at:
                self.retry_at = self._clock() + RETRY_SECONDS
            return True

    def succeeded(self) -> None:
        """Note that it answered: all failures are forgotten."""
        with self._lock:
            self.failures, self.retry_at, self.last_success = 0, 0.0, self._clock()

    def failed(self) -> None:
        """Note that it did not answer."""
        with self._lock:
            self.failures += 1
            if self.failures >= MOST_FAILURES:
                self.retry_at = self._clock() + RETRY_SECONDS
