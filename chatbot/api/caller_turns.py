"""Lets long work of a caller wait its turn, so that one caller does not take all threads of the server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chatbot.api.problems import ProblemError

__all__ = ["MOST_AT_ONCE", "MOST_WAITING", "CallerTurns"]

# Comparisons and the like of one caller that are worked on at the same time, and those that wait or are.
MOST_AT_ONCE, MOST_WAITING = 4, 32


class CallerTurns:
    """Who works and who waits, by caller. For one event loop."""

    def __init__(self) -> None:
        self._here = Counter[str]()
        self._places = dict[str, asyncio.Semaphore]()

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncIterator[None]:
        """Waits for this caller's turn, and holds it. Raises ProblemError if too many of theirs wait."""
        if self._here[owner] >= MOST_WAITING:
            raise ProblemError(
                429,
                f"{MOST_WAITING} long requests of this caller are not answered yet.",
                hint="Wait for the answers.",
                headers={"retry-after": "10"},
            )
        self._here[owner] += 1
        try:
            async with self._places.setdefault(owner, asyncio.Semaphore(MOST_AT_ONCE)):
                yield
        finally:
            self._here[owner] -= 1
            if not self._here[owner]:
                del self._here[owner], self._places[owner]
