"""Tells what time it is for erasing, although a machine's clock may be wrong."""

from __future__ import annotations

import math
import time
from contextlib import suppress

from chatbot.errors import StoreError
from chatbot.store.database import Database

__all__ = ["DAY", "KEEP", "StoreClock"]

DAY = 86_400.0
# A time that advanced by less is not noted again.
HOUR = 3_600.0
# No calendar here is reliable beyond the year 2096.
LATEST = 4e9
KEY = "clock"
KEEP = "insert into meta values (?, ?) on conflict (key) do update set value = excluded.value"


class StoreClock:
    """The time of a store, in seconds since the epoch. Its table `meta` keeps two.

    One is the latest time that was agreed on, and what is erased is old by that one. A start whose clock is
    more than a day ahead of it is believed only when a second start is as late, or when it has run for a day:
    until then its time is the other one. The agreed time never goes back, so what is removed while a clock is
    behind is kept for as long.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._begun = database, time.monotonic()
        self._agreed, self._claimed = self._kept()
        now = time.time()
        if self._agreed + DAY < self._claimed <= now:
            self._agreed = self._claimed
        if now <= self._agreed + DAY:
            self._agreed = max(self._agreed, now)
        self._claimed = max(self._agreed, now)
        self._keep(self._agreed)

    def now(self) -> float:
        """Returns the time for what is dated now: never before what was agreed on."""
        return max(time.time(), self._agreed + self._passed())

    def agreed(self) -> float:
        """Returns the time until which things may be erased."""
        now, passed, agreed = time.time(), self._passed(), self._agreed
        if passed >= DAY and now >= self._claimed:
            agreed = self._claimed
        if not agreed <= now <= agreed + passed + DAY:
            now = agreed + passed
        if now - self._noted >= HOUR:
            self._keep(now)
        return now

    def _passed(self) -> float:
        return time.monotonic() - self._begun

    def _kept(self) -> tuple[float, float]:
        """Returns the two times of the store, 0 for one that it has not or that can be none."""
        kept = [0.0, 0.0]
        with suppress(StoreError, ValueError):
            rows = self._database.read("select value from meta where key = ?", (KEY,))
            kept = [float(word) for row in rows for word in row[0].split()] or kept
        times = [one if math.isfinite(one) and 0 <= one <= LATEST else 0.0 for one in [*kept, 0.0, 0.0]]
        return times[0], times[1]

    def _keep(self, agreed: float) -> None:
        self._noted = agreed
        with suppress(StoreError), self._database.write() as connection:  # on a full disk
            connection.execute(KEEP, (KEY, f"{agreed} {max(agreed, self._claimed)}"))
