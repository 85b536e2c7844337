"""Keeps the index of vectors in a folder of this machine, by Chroma's client of one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chatbot.store.chroma_client import collection_of, kept_open, open_folder
from chatbot.store.chroma_files import blank, check_files, faults_in, scrub, written_at
from chatbot.store.discarding import discard, finish_discarding
from chatbot.store.index_errors import explaining
from chatbot.store.vector_index import CollectionSpec

__all__ = ["ChromaFolder"]

WHAT = "The vector index"


class ChromaFolder:
    """A folder with Chroma's files. One process may use it, by any number of threads."""

    # A call blocks all threads of the interpreter, for 0.01 s with this many. More are no quicker.
    upserted = 16

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = threading.Condition()
        self._users, self._closed = 0, False
        self._opened: tuple[Any, Any] | None = None
        finish_discarding(folder)

    def exists(self) -> bool:
        """Tells whether the folder exists, without opening it."""
        return self._folder.exists()

    @contextmanager
    def using(self, wanted: CollectionSpec) -> Iterator[tuple[Any, Any]]:
        """Provides client and open collection, and tells damage from a full disk if using them fails."""
        with explaining(WHAT, self._folder):
            with self._turn:
                self._turn.wait_for(lambda: not self._closed)
                if self._opened is None:
                    self._opened = self._open(wanted)
                opened = self._opened
                self._users += 1
            try:
                yield opened
            finally:
                with self._turn:
                    self._users -= 1
                    self._turn.notify_all()

    def scrub(self) -> None:
        """Removes the text of deleted rows from Chroma's files.

        Chroma is closed meanwhile, because two builds of SQLite in one process do not see each other's locks
        and would damage the file. Searches wait, about a second for 10,000 passages. Raises StoreError, for
        example if the disk has no room.
        """
        with self._closing(), explaining(WHAT, self._folder):
            scrub(self._folder)

    def faults(self) -> list[str]:
        """Returns what SQLite's own check finds wrong, and graphs that are damaged. Raises StoreError."""
        with self._closing(), explaining(WHAT, self._folder):
            return faults_in(self._folder)

    def close(self) -> None:
        """Closes the files once no search uses them; the next use opens them again."""
        with self._closing():
            return

    def clear(self, wanted: CollectionSpec) -> None:
        """Deletes the folder."""
        with self._closing():
            discard(self._folder)

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Closes the files and keeps them closed: no search has them open, and none begins."""
        with self._turn:
            self._turn.wait_for(lambda: not self._closed)
            self._closed = True
            self._turn.wait_for(lambda: not self._users)
            opened, self._opened = self._opened, None
        try:
            if opened is not None:
                opened[0].close()
            yield
        finally:
            with self._turn:
                self._closed = False
                self._turn.notify_all()

    def _open(self, wanted: CollectionSpec) -> tuple[Any, Any]:
        check_files(self._folder)
        before = written_at(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        with kept_open(open_folder(self._folder)) as client:
            collection = collection_of(client, wanted)
            # The first query takes over and writes what is in the log.
            collection.count()
            if written_at(self._folder) != before:
                blank(self._folder)
            return client, collection
