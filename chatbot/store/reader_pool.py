"""Keeps reading processes for a while for the next page of the same file.

Starting a process takes longer than reading a page.
"""

from __future__ import annotations

import threading
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
        self._waiting: dict[Path, Reader] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._timer: threading.Timer | None = None

    @contextmanager
    def reading(self, path: Path, password: str | None = None) -> Iterator[Reader]:
        """A process that has the file open. Raises as Reader does.

        It serves only once if it needed a password or if anything failed in it.
        """
        with self._lock:
            found = self._waiting.pop(path, None) if password is None else None
        reader = found or Reader(path, password=password)
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        if password is None:
            self._keep(path, reader)
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
            waiting, self._waiting = self._waiting, {}
        for reader in waiting.values():
            reader.close()

    def _keep(self, path: Path, reader: Reader) -> None:
        """Let a process wait until none has been used for a while."""
        left = [reader]
        with self._lock:
            if not self._closed and path not in self._waiting:
                self._waiting[path] = left.pop()
                left += [self._waiting.pop(old) for old in list(self._waiting)[:-MOST_WAITING]]
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = threading.Timer(self._idle_seconds, self.end_waiting)
                self._timer.daemon = True
                self._timer.start()
        for ended in left:
            ended.close()
