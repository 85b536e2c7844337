"""Fills tables in threads of their own and keeps them per owner, so that a page may come and go.

A table is a comparison, or the key figures of some documents.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, get_args

from chatbot.comparison import Comparison, Entry, EntryPlace
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.errors import ProjectError
from chatbot.records import DocumentRow, Notice

__all__ = ["AskedFigures", "Comparisons", "Running"]

log = logging.getLogger(__name__)

# Tables filled at the same time, each of which takes a core. More wait their turn.
COMPARISONS_AT_ONCE = 2
# Tables kept over all owners, and for one owner: those looked at last.
MOST_KEPT, MOST_OF_ONE = 100, 10
CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class AskedFigures:
    """The key figures of documents. places: their names. rows: all documents as they are stored; the figures
    are read anew when these change.
    """

    places: tuple[str, ...]
    rows: tuple[DocumentRow, ...]


Asked = Comparison | AskedFigures
# What waits for a thread; None ends it.
_Work = queue.SimpleQueue[Callable[[], None] | None]


class TableSource(Protocol):
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

    def figures_of(self, names: Sequence[str]) -> Iterator[DocumentFigures]: ...


class Running:
    """One table. Its own thread writes it, whichever page shows it reads it.

    notices: what its user should know of it, each once.
    asking: the place that is asked now, None for none.
    busy: whether it is on its way or waits its turn. Not once it was stopped, although a thread may still
        wait for a silent endpoint, whose answer is then ignored.
    """

    def __init__(self, asked: Asked, owner: str) -> None:
        self.asked, self.owner = asked, owner
        self.notices: dict[Notice, None] = {}
        self.asking: EntryPlace | str | None = None
        self._found: dict[EntryPlace | str, Any] = {}
        self._round = 0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._over.set()

    @property
    def busy(self) -> bool:
        """See the class."""
        return not self._over.is_set()

    @property
    def lacking(self) -> Sequence[EntryPlace | str]:
        """The places that were not asked yet, in order."""
        there = self.found()
        return [place for place in self.asked.places if place not in there]

    def found(self) -> Mapping[Any, Any]:
        """Returns what has come so far: entries by place, or a document's figures by its name."""
        with self._lock:
            return dict(self._found)

    def told(self) -> list[Notice]:
        """Returns the notices so far."""
        with self._lock:
            return list(self.notices)

    def wait(self, seconds: float) -> None:
        """Waits for its end, at most so long."""
        self._over.wait(seconds)

    def stop(self) -> None:
        """Asks no further place. What has come stays."""
        with self._lock:
            self._round += 1
            self.asking = None
            self._over.set()

    def start(self) -> int:
        """Returns the number of a new round of asking, 0 if one is on its way."""
        with self._lock:
            if self.busy:
                return 0
            self._round += 1
            self._over.clear()
            return self._round

    def goes_on(self, number: int) -> bool:
        """Tells whether this round was not stopped."""
        return self._round == number

    def run(self, chatbot: TableSource, places: Sequence[EntryPlace | str], number: int) -> None:
        """Asks these places in a round. Returns when all are answered, or it was stopped."""
        left = list(places)
        try:
            if not self._note(number, {}, left):
                return
            with closing(self._answers(chatbot, places, number)) as answers:  # type: ignore[type-var]
                for place, found in answers:
                    left.remove(place)
                    if not self._note(number, {place: found}, left):
                        return
        except Exception as error:
            if self.goes_on(number):  # else the chatbot may have been closed meanwhile
                log.exception("filling a table failed")
            reason = error.message if isinstance(error, ProjectError) else "Something went wrong."
            self._note(number, {place: _failed(place, reason) for place in left}, ())
        finally:
            if self.goes_on(number):
                self.stop()

    def _answers(self, chatbot: TableSource, places: Sequence[Any], number: int) -> Iterator[tuple[Any, Any]]:
        if isinstance(self.asked, Comparison):
            for entry in chatbot.compare(
                self.asked,
                places=tuple(places),
                owner=self.owner,
                stop=lambda: not self.goes_on(number),
                tell=self._hear,
            ):
                yield entry.place, entry
        else:
            for figures in chatbot.figures_of(places):
                yield figures.document, figures

    def _hear(self, notice: Notice) -> None:
        with self._lock:
            self.notices[notice] = None

    def _note(self, number: int, found: Mapping[Any, Any], left: Sequence[EntryPlace | str]) -> bool:
        """Stores what came, and what is asked next: the first that is left.

        Returns False, and stores nothing, if the round was stopped meanwhile.
        """
        with self._lock:
            if not self.goes_on(number):
                return False
            self._found |= found
            self.asking = next(iter(left), None)
            return True


def _failed(place: EntryPlace | str, reason: str) -> Entry | DocumentFigures:
    if isinstance(place, EntryPlace):
        return Entry(place, "failed", reason=reason, hint="See the server's log.")
    return DocumentFigures(place, 0, remark=reason.rstrip("."))


class Comparisons:
    """The tables of this process by owner. Each browser sees only its own."""

    def __init__(self, chatbot: TableSource) -> None:
        self._chatbot = chatbot
        self._kept: OrderedDict[tuple[str, Asked], Running] = OrderedDict()
        self._lock = threading.Lock()
        # What models are asked waits by itself: key figures need none.
        self._waiting: dict[type[Asked], _Work] = {kind: queue.SimpleQueue() for kind in get_args(Asked)}
        self._threads = [
            threading.Thread(target=_work, args=(waiting,), daemon=True)
            for waiting in self._waiting.values()
            for _ in range(COMPARISONS_AT_ONCE)
        ]
        for thread in self._threads:
            thread.start()

    def begin(self, asked: Asked, owner: str, *, anew: bool = False) -> Running:
        """Returns the table, and starts it unless it is complete. anew: ask everything again."""
        with self._lock:
            running = self._kept.pop((owner, asked), None)
            if running is None or (anew and not running.busy):
                running = Running(asked, owner)
            self._kept[owner, asked] = running
            self._trim(owner)
        self.go_on(running)
        return running

    def go_on(self, running: Running, places: Sequence[EntryPlace | str] = ()) -> None:
        """Asks these places, or those that are lacking."""
        wanted = tuple(places) or running.lacking
        if wanted and (number := running.start()):
            self._waiting[type(running.asked)].put(partial(running.run, self._chatbot, wanted, number))

    def find(self, asked: Asked, owner: str) -> Running | None:
        """Returns a kept table, None if it was not asked, or too long ago."""
        with self._lock:
            return self._kept.get((owner, asked))

    def drop(self, running: Running) -> None:
        """Stops a table that nobody looks at any more, and drops it."""
        running.stop()
        key = running.owner, running.asked
        with self._lock:
            if self._kept.get(key) is running:
                del self._kept[key]

    def forget(self) -> None:
        """Drops what has ended, as it may hold text of documents."""
        with self._lock:
            for key in [key for key, running in self._kept.items() if not running.busy]:
                del self._kept[key]

    def close(self) -> None:
        """Stops what is on its way. What waits for a silent endpoint is left to itself."""
        with self._lock:
            kept = list(self._kept.values())
        for running in kept:
            running.stop()
        for waiting in [*self._waiting.values()] * COMPARISONS_AT_ONCE:
            waiting.put(None)
        end = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _trim(self, owner: str) -> None:
        """Drops the oldest beyond the limits. What is on its way stays."""
        idle = [key for key, running in self._kept.items() if not running.busy]
        mine = [key for key in idle if key[0] == owner]
        over = mine[: max(0, sum(key[0] == owner for key in self._kept) - MOST_OF_ONE)]
        for key in dict.fromkeys([*over, *idle[: max(0, len(self._kept) - MOST_KEPT)]]):
            del self._kept[key]


def _work(waiting: _Work) -> None:
    while (run := waiting.get()) is not None:
        run()
