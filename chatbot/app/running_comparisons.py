"""Runs comparisons in threads of their own and keeps them per owner, so that a page may come and go."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Protocol

from chatbot.comparison import Comparison, Entry, EntryPlace
from chatbot.errors import ProjectError
from chatbot.records import Notice

__all__ = ["Comparisons", "Running"]

log = logging.getLogger(__name__)

# Comparisons answered at the same time, each of which takes a core. More wait their turn.
MOST_AT_ONCE = 2
# Comparisons kept over all owners, and for one owner: those looked at last.
MOST_KEPT, MOST_OF_ONE = 100, 10
CLOSE_SECONDS = 2.0
TURN_SECONDS = 0.2


class ComparisonSource(Protocol):
    """What answers; see chatbot.service.Chatbot."""

    def compare(
        self,
        comparison: Comparison,
        *,
        places: Sequence[EntryPlace] | None,
        owner: str,
        stop: Callable[[], bool],
        tell: Callable[[Notice], None],
    ) -> Iterator[Entry]: ...


class Running:
    """One comparison. Its own thread writes it, whichever page shows it reads it.

    entries: what has come.
    notices: what its user should know of it, each once.
    asking: the place that is asked now, None for none.
    busy: whether it is on its way or waits its turn. Not once it was stopped, although a thread may still
        wait for a silent endpoint, whose answer is then ignored.
    """

    def __init__(self, comparison: Comparison, owner: str) -> None:
        self.comparison, self.owner = comparison, owner
        self.entries: dict[EntryPlace, Entry] = {}
        self.notices: dict[Notice, None] = {}
        self.asking: EntryPlace | None = None
        self.busy = False
        self._round = 0
        self._lock = threading.Lock()

    @property
    def lacking(self) -> tuple[EntryPlace, ...]:
        """The places that were not asked yet, in order."""
        there = self.found()
        return tuple(place for place in self.comparison.places if place not in there)

    def found(self) -> dict[EntryPlace, Entry]:
        """Returns what has come so far."""
        with self._lock:
            return dict(self.entries)

    def stop(self) -> None:
        """Asks no further place. What has come stays."""
        with self._lock:
            self._round += 1
            self.busy, self.asking = False, None

    def start(self) -> int:
        """Returns the number of a new round of asking, 0 if one is on its way."""
        with self._lock:
            if self.busy:
                return 0
            self._round += 1
            self.busy = True
            return self._round

    def goes_on(self, number: int) -> bool:
        """Tells whether this round was not stopped."""
        return self._round == number

    def run(self, chatbot: ComparisonSource, places: Sequence[EntryPlace], number: int) -> None:
        """Asks these places in a round. Returns when all are answered, or it was stopped."""
        left = list(places)
        try:
            self._note(number, asking=left[0])
            stop = partial(self._is_over, number)
            with closing(
                chatbot.compare(
                    self.comparison, places=tuple(places), owner=self.owner, stop=stop, tell=self._hear
                )
            ) as entries:  # type: ignore[type-var]
                for entry in entries:
                    left.remove(entry.place)
                    if not self._note(number, entry, asking=next(iter(left), None)):
                        return
        except Exception as error:
            if self.goes_on(number):  # else the chatbot may have been closed meanwhile
                log.exception("comparing failed")
            if isinstance(error, ProjectError):
                reason = error.message
            else:
                reason = "Something went wrong."
            for place in left:
                self._note(number, Entry(place, "failed", reason=reason, hint="See the server's log."))
        finally:
            if self.goes_on(number):
                self.stop()

    def _hear(self, notice: Notice) -> None:
        with self._lock:
            self.notices[notice] = None

    def told(self) -> list[Notice]:
        """Returns the notices so far."""
        with self._lock:
            return list(self.notices)

    def _is_over(self, number: int) -> bool:
        return not self.goes_on(number)

    def _note(self, number: int, entry: Entry | None = None, *, asking: EntryPlace | None = None) -> bool:
        """Stores what came, and what is asked next.

        Returns False, and stores nothing, if the round was stopped meanwhile.
        """
        with self._lock:
            if self._round != number:
                return False
            if entry is not None:
                self.entries[entry.place] = entry
            self.asking = asking
            return True


class Comparisons:
    """The comparisons of this process by owner. Each browser sees only its own."""

    def __init__(self, chatbot: ComparisonSource) -> None:
        self._chatbot = chatbot
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._kept: OrderedDict[tuple[str, Comparison], Running] = OrderedDict()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()

    def begin(self, comparison: Comparison, owner: str, *, anew: bool = False) -> Running:
        """Returns the comparison, and starts it unless it is complete. anew: ask everything again."""
        with self._lock:
            running = self._kept.pop((owner, comparison), None)
            if running is None or (anew and not running.busy):
                running = Running(comparison, owner)
            self._kept[owner, comparison] = running
            self._trim(owner)
        self.go_on(running)
        return running

    def go_on(self, running: Running, places: Sequence[EntryPlace] = ()) -> None:
        """Asks these places, or those that are lacking."""
        wanted = tuple(places) or running.lacking
        number = running.start() if wanted else 0
        if not number:
            return
        thread = threading.Thread(
            target=self._run, args=(running, wanted, number), name="comparing", daemon=True
        )
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def find(self, comparison: Comparison, owner: str) -> Running | None:
        """Returns a kept comparison, None if it was not asked, or too long ago."""
        with self._lock:
            return self._kept.get((owner, comparison))

    def forget(self) -> None:
        """Drops what has ended, as it may hold text of documents."""
        with self._lock:
            for key in [key for key, running in self._kept.items() if not running.busy]:
                del self._kept[key]

    def close(self) -> None:
        """Stops what is on its way. A comparison that waits for a silent endpoint is left to itself."""
        with self._lock:
            kept = list(self._kept.values())
            threads = list(self._threads)
        for running in kept:
            running.stop()
        end = time.monotonic() + CLOSE_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _trim(self, owner: str) -> None:
        """Drops the oldest beyond the limits. What is on its way stays."""
        idle = [key for key, running in self._kept.items() if not running.busy]
        mine = [key for key in idle if key[0] == owner]
        over = mine[: max(0, sum(key[0] == owner for key in self._kept) - MOST_OF_ONE)]
        for key in dict.fromkeys([*over, *idle[: max(0, len(self._kept) - MOST_KEPT)]]):
            del self._kept[key]

    def _run(self, running: Running, places: Sequence[EntryPlace], number: int) -> None:
        try:
            while not self._turns.acquire(timeout=TURN_SECONDS):
                if not running.goes_on(number):
                    return
            try:
                if running.goes_on(number):
                    running.run(self._chatbot, places, number)
            finally:
                self._turns.release()
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())
