"""Keeps the index of vectors in a folder of this machine, by Chroma's embedded engine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from chatbot.store.chroma import EmbeddedCollection, EmbeddedEngine
from chatbot.store.discarding import discard, finish_discarding
from chatbot.store.graph_files import blank, check_graphs, written_at
from chatbot.store.index_errors import check_metadata, explaining
from chatbot.store.vector_engine import Wanted

__all__ = ["ChromaFolder"]

WHAT = "The vector index"
# Seconds that scrubbing waits for another program to release the file.
BUSY_SECONDS = 30
# Its log keeps each change until the vectors are written. The texts in it have been stored before.
SCRUBBING = (
    "pragma secure_delete = on",
    (
        "delete from embeddings_queue where not exists (select 1 from segments s where topic like '%' || "
        "s.collection)"
    ),
    """update embeddings_queue set metadata = null where exists (select 1 from segments s join max_seq_id m
        on m.segment_id = s.id
       where s.scope = 'METADATA' and topic like '%' || s.collection and embeddings_queue.seq_id <=
       m.seq_id)""",
    "insert into embedding_fulltext_search(embedding_fulltext_search) values ('optimize')",
    "vacuum",
)


class ChromaFolder:
    """A folder with Chroma's files. One process may use it, by any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = threading.Condition()
        self._users, self._scrubbing = 0, False
        self._opened: tuple[EmbeddedEngine, EmbeddedCollection] | None = None
        finish_discarding(folder)

    def exists(self) -> bool:
        """Tells whether the folder exists, without opening it."""
        return self._folder.exists()

    @contextmanager
    def using(self, wanted: Wanted) -> Iterator[tuple[EmbeddedEngine, EmbeddedCollection]]:
        """Provides the open collection, and tells damage from a full disk if using it fails."""
        with explaining(WHAT, self._folder):
            with self._turn:
                self._turn.wait_for(lambda: not self._scrubbing)
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
        """Removes the text of deleted rows from Chroma's files: log of changes, text index and unused space.

        Chroma is closed meanwhile, because two builds of SQLite in one process do not see each other's locks
        and would damage the file. Searches wait, about a second for 10,000 passages. Raises StoreError, for
        example if the disk has no room.
        """
        with (
            self._alone(),
            closing(
                sqlite3.connect(self._folder / "chroma.sqlite3", isolation_level=None, timeout=BUSY_SECONDS)
            ) as database,
        ):
            for statement in SCRUBBING:
                database.execute(statement)
            blank(self._folder)

    def faults(self) -> list[str]:
        """Returns what SQLite's own check finds wrong, and graphs that are damaged. Raises StoreError."""
        with (
            self._alone(),
            closing(sqlite3.connect(self._folder / "chroma.sqlite3", timeout=BUSY_SECONDS)) as database,
        ):
            found = [str(row[0]) for row in database.execute("pragma integrity_check(10)")]
        return [f"the vector index is damaged: {line}" for line in found if line != "ok"]

    def close(self) -> None:
        """Closes the files; the next use opens them again."""
        with self._turn:
            self._opened = None

    def clear(self, wanted: Wanted) -> None:
        """Deletes the folder."""
        self.close()
        discard(self._folder)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Provides the files to the caller alone: no search has them open, and none begins."""
        with self._turn:
            self._turn.wait_for(lambda: not self._scrubbing)
            self._scrubbing = True
            self._turn.wait_for(lambda: not self._users)
            self._opened = None
        try:
            with explaining(WHAT, self._folder):
                _check(self._folder)
                yield
        finally:
            with self._turn:
                self._scrubbing = False
                self._turn.notify_all()

    def _open(self, wanted: Wanted) -> tuple[EmbeddedEngine, EmbeddedCollection]:
        _check(self._folder)
        before = written_at(self._folder)
        engine = EmbeddedEngine(self._folder)
        collection = engine.collection(wanted.name, wanted.metadata)
        check_metadata(collection.metadata, wanted.metadata)
        # The first query takes over and writes what is in the log.
        collection.count()
        if written_at(self._folder) != before:
            blank(self._folder)
        return engine, collection


def _check(folder: Path) -> None:
    """Raises ValueError for damaged graphs, and for a view or a trigger, of which Chroma makes none."""
    check_graphs(folder)
    path = folder / "chroma.sqlite3"
    if path.exists():
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            foreign = "select name from sqlite_master where type in ('view', 'trigger')"
            for (name,) in database.execute(foreign):
                raise ValueError(f"another program has put {str(name)[:80]!r} into {path.name}")
