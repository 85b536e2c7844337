"""Keeps reading processes for a while for the next page of the same file.

Starting a process takes longer than reading a page.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingestion.reading.reader import Reader

__all__ = ["Readers"]

# Who looks at a page looks at the next page, or at another citation, within a minute. Each waiting process
# takes some 50 MB.
IDLE_SECONDS, MOST_WAITING = 60.0, 2


class Readers:
    """The waiting processes, by file. Thread-safe; a process serves one thread at a time."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._waiting: OrderedDict[Path, tuple[Reader, threading.Timer]] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def reading(self, path: Path, password: str | None = None) -> Iterator[Reader]:
        """A process that has the file open. Raises as Reader does.

        It serves only once if it needed a password or if anything failed in it.
        """
        reader = (self._take(path) if password is None else None) or Reader(path, password=password)
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        if password is None:
            self._put(path, reader)
        else:
            reader.close()

    def close(self) -> None:
        """End all waiting processes, and let none wait from now on."""
        self._closed = True
        self.end_waiting()

    def end_waiting(self) -> None:
        """End the waiting processes, for example when a file they have open is erased.

        Those at work end by themselves a little later.
        """
        with self._lock:
            waiting, self._waiting = list(self._waiting.values()), OrderedDict()
        for reader, timer in waiting:
            timer.cancel()
            reader.close()

    def _take(self, path: Path) -> Reader | None:
        with self._lock:
            found = self._waiting.pop(path, None)
        if found is None:
            return None
        found[1].cancel()
        return found[0]

    def _put(self, path: Path, reader: Reader) -> None:
        timer = threading.Timer(self._idle_seconds, self._end, (path, reader))
        timer.daemon = True
        left: list[tuple[Reader, threading.Timer]] = []
        with self._lock:
            if self._closed or path in self._waiting:
                left.append((reader, timer))
            else:
                self._waiting[path] = (reader, timer)
                timer.start()
                while len(self._waiting) > MOST_WAITING:
                    left.append(self._waiting.popitem(last=False)[1])
        for ended, ended_timer in left:
            ended_timer.cancel()
            ended.close()

    def _end(self, path: Path, reader: Reader) -> None:
        """End a process that was not used in time."""
        with self._lock:
            found = self._waiting.get(path)
            if found is None or found[0] is not reader:
                return
            del self._waiting[path]
        reader.close()
