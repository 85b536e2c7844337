"""Uses one SQLite file from many threads: connections, transactions, full disks, errors for the user."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM
from chatbot.store.database import (
    ClosedError,
    Database,
    EarlierStoreError,
    NewerStoreError,
    Schema,
    statements,
)
from chatbot.store.disk_reserve import disk_is_full, free_bytes, is_full
from chatbot.store.migration.table_shapes import shapes_of
from chatbot.store.plain_files import is_plain, is_strange

__all__ = ["SqliteFile", "set_aside"]

# Seconds a reader waits for the writer's transaction. The longest one, 2,000 pages, takes 1.
BUSY_SECONDS = 20
# Pages given back to the disk in one step. What is moved for it is in the log until the step is done.
SHRINKING_PAGES = 256
# What SQLite, or the module that reads its rows, raises for a file that it cannot use or that is damaged: a
# name in its schema may be no text any more.
UNUSABLE = (sqlite3.Error, UnicodeDecodeError)
# The only file that can be made again from others.
REBUILT = "catalog"
# What SQLite keeps beside a file.
BESIDE = ("", "-wal", "-shm", "-journal")


class _Held:
    """A connection that is closed when nobody has it any more, as when its thread ends.

    The browser's pages run in a new thread each time.

    read_only: as it was opened.
    """

    def __init__(self, connection: sqlite3.Connection, *, read_only: bool) -> None:
        self.connection, self.read_only = connection, read_only
        # Closing a connection while a statement runs on it would crash the process.
        self.in_use = threading.RLock()

    def __del__(self) -> None:
        self.connection.close()


class SqliteFile(Database):
    """A file that any thread may read; see Database.

    If the disk is too full to open the file for writing, it is only read until a write finds room. Subclasses
    for other files than the catalogue override how the file is opened and named in messages.
    """

    # Whether each thread has a connection of its own. A single one is for threads that take turns.
    _connection_each = True

    def __init__(self, path: Path, schema: Schema, *, read_only: bool = False) -> None:
        """Opens the file.

        read_only: waits for nobody and changes nothing.

        Raises StoreError if the file is damaged, not writable or of another version.
        """
        super().__init__()
        self._path, self._schema, self.read_only, self._no_room = path, schema, read_only, False
        is_new = not read_only and not path.exists()
        # Such a file is taken for a new one, and nothing is known of what was in it.
        self.was_empty = is_plain(path) and not path.stat().st_size
        self._local: Any = threading.local() if self._connection_each else SimpleNamespace()
        self._held: WeakSet[_Held] = WeakSet()
        self._holding, self._closed = threading.Lock(), False
        self._write_lock = threading.RLock()
        try:
            try:
                self._check_version()
            except StoreError:
                if read_only or not is_full(path.parent) or not path.exists():
                    raise
                self.read_only = self._no_room = True
                if self._version() == 0:  # nothing is in it yet
                    raise
                self._check_version()
        except BaseException:
            self.close()
            with suppress(OSError):  # a new file without a byte would look like one that was emptied
                if is_new and not path.stat().st_size:
                    path.unlink()
            raise

    def close(self) -> None:
        """Closes every connection, after the longest running statement or transaction.

        The object cannot be used afterwards.
        """
        with self._holding:
            self._closed, every = True, list(self._held)
        for held in every:
            with held.in_use:
                held.connection.close()

    def compact(self) -> bool:
        """Writes the log back into the file and returns unused space to the disk.

        Erased data is then in neither. Returns False if another program reads the file, so that the log has
        to stay.
        """
        ((busy, _, _),) = self.read("pragma wal_checkpoint(truncate)")
        (automatic,), (unused,) = self.read("pragma auto_vacuum")[0], self.read("pragma freelist_count")[0]
        with suppress(sqlite3.Error, StoreError):  # a disk without room for it either
            for _ in range(0, unused if automatic else 0, SHRINKING_PAGES):
                # As a script: `execute` takes one step of it, which is one page.
                with self._connection() as connection:
                    connection.executescript(f"pragma incremental_vacuum({SHRINKING_PAGES})")
                self.read("pragma wal_checkpoint(truncate)")
        return not busy

    def shorten_log(self) -> None:
        """Writes the log back into the file."""
        self.read("pragma wal_checkpoint(truncate)")

    def highest_number(self, table: str, column: str) -> int:
        """Returns the highest number that a table's key was ever given; 0 for none."""
        found = self.read("select seq from sqlite_sequence where name = ?", (table,))
        return int(found[0][0]) if found else 0

    def number_from(self, table: str, column: str, number: int) -> None:
        """Lets a table's key go on after a number. One without autoincrement does that by itself."""
        sql = "select 1 from sqlite_master where name = ? and sql like '%autoincrement%'"
        if self.read(sql, (table,)):
            with self.write() as connection:
                connection.execute("delete from sqlite_sequence where name = ?", (table,))
                connection.execute("insert into sqlite_sequence values (?, ?)", (table, number))

    def free_bytes(self) -> int:
        """Returns the free bytes on the file's disk."""
        return free_bytes(self._path.parent)

    def used_bytes(self) -> int:
        """Returns the bytes of the file and of those that SQLite keeps beside it."""
        total = 0
        for path in self._path.parent.glob(f"{self._path.name}*"):
            with suppress(OSError):
                total += path.stat().st_size
        return total

    def complaints(self) -> list[str]:
        """Returns what SQLite's own check finds wrong, at most ten lines, and tables that are not as this
        program made them; none if the file is sound.
        """
        if self.was_empty:
            return ["it was empty when it was opened"]
        try:
            found = [str(row[0]) for row in self.read("pragma integrity_check(10)")]
            broken = self.read("pragma foreign_key_check")
            lacking = self.lacking([self._schema.tables])
        except StoreError as error:
            if error.retryable:
                raise
            return [error.message.removesuffix(".")]
        refers = [f"{row[0]} refers to a missing {row[2]}" for row in broken[:10]]
        return [line for line in found if line != "ok"] + refers + lacking

    def lacking(self, scripts: Sequence[str]) -> list[str]:
        """Returns which of the tables that these scripts make are missing, or lack columns."""
        found = list[str]()
        for shape in shapes_of(scripts):
            rows = self.read("select name from pragma_table_info(?)", (shape.name,))
            if missing := set(shape.columns) - {row[0] for row in rows}:
                found.append(f"the table {shape.name} has no {', '.join(sorted(missing))}")
        return found

    def _refuse_foreign(self) -> None:
        """Raises StoreError for a view, which may never end, or a trigger: this program makes neither."""
        for (name,) in self.read("select name from sqlite_master where type in ('view', 'trigger')"):
            raise self._damaged(f"another program has put {str(name)[:80]!r} into it")

    def _check_version(self) -> None:
        found, schema = self._version(), self._schema
        if found > schema.version:
            raise NewerStoreError("store", found, schema.version)
        if found < 0:
            raise self._damaged(f"it says that it has version {found}")
        if 0 < found < schema.version:
            raise EarlierStoreError("store", found, schema.version)
        # A file of another version has what the program made that has that version.
        self._refuse_foreign()
        if found == 0 and not self.read_only:
            with self.write() as connection:
                if connection.execute("pragma user_version").fetchone() == (0,):
                    for statement in statements(schema.tables):
                        connection.execute(statement)
                    connection.execute(f"pragma user_version = {schema.version}")

    def _version(self) -> int:
        return int(self.read("pragma user_version")[0][0])

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Provides this thread's connection, which is not closed meanwhile."""
        held: _Held | None = getattr(self._local, "held", None)
        if held is None or held.read_only != self.read_only:
            held = self._open()
            with held.in_use:
                if self._closed:
                    raise ClosedError
                self._prepare(held.connection)
            self._local.held = held
        with held.in_use:
            if self._closed:
                raise ClosedError
            yield held.connection

    def _open(self) -> _Held:
        with self._holding:
            if self._closed:
                raise ClosedError
            for path in (self._path.with_name(self._path.name + end) for end in BESIDE):
                if is_strange(path):
                    raise self._damaged(f"{path.name} is a link, or no plain file")
            connection = sqlite3.connect(
                self._address(),
                uri=True,
                timeout=self._busy_seconds(),
                isolation_level=None,
                check_same_thread=False,
            )
            held = _Held(connection, read_only=self.read_only)
            self._held.add(held)
        return held

    def _address(self) -> str:
        """Returns the file's address for SQLite."""
        return f"{self._path.absolute().as_uri()}?mode={self._read_mode() if self.read_only else 'rwc'}"

    def _busy_seconds(self) -> float:
        return BUSY_SECONDS

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Sets up a new connection."""
        connection.execute("pragma temp_store = memory")
        if not self.read_only:
            # This holds for a new file, before its first write.
            connection.execute("pragma auto_vacuum = incremental")
            self._keep_log(connection)
            connection.executescript(
                "pragma foreign_keys = on; pragma secure_delete = on; pragma synchronous = full;"
            )

    def _keep_log(self, connection: sqlite3.Connection) -> None:
        """Has the file written through a log (WAL).

        While another connection does this to a new file, SQLite says at once that it is locked.
        """
        end = time.monotonic() + self._busy_seconds()
        while True:
            try:
                connection.execute("pragma journal_mode = wal")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def _read_mode(self) -> str:
        """Chooses how to open a file that cannot be written.

        SQLite then has no place for what readers share, and needs none if the log beside the file is empty.
        """
        log = self._path.with_name(f"{self._path.name}-wal")
        unwritable = is_full(self._path.parent) or not os.access(self._path.parent, os.W_OK)
        unchanging = unwritable and not (log.exists() and log.stat().st_size)
        return "ro&immutable=1" if unchanging else "ro"

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows. Raises StoreError."""
        try:
            with self._connection() as connection:
                return connection.execute(statement, arguments).fetchall()
        except UNUSABLE as error:
            raise self._unusable(error) from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Opens a transaction; what fails in it changes nothing. Raises StoreError."""
        with self._write_lock:
            try:
                self._make_writable()
                with self._connection() as connection:
                    connection.execute("begin immediate")
                    try:
                        yield connection
                        connection.execute("commit")
                    except BaseException:
                        with suppress(sqlite3.Error):  # a full disk has rolled back already
                            connection.execute("rollback")
                        raise
            except UNUSABLE as error:
                raise self._unusable(error) from error

    def _make_writable(self) -> None:
        """Switches to writing, even if there was no room for it when the file was opened."""
        if not self._no_room:
            return
        self.read_only = False
        try:
            with self._connection() as connection:
                connection.execute("pragma user_version").fetchall()
        except UNUSABLE as error:
            self.read_only = True
            raise disk_is_full(self._path.parent) from error
        self._no_room = False

    def _unusable(self, error: Exception) -> StoreError:
        """Returns what an error of SQLite means for the user."""
        text = str(error)
        if "full" in text or (
            ("disk I/O" in text or "unable to open" in text) and is_full(self._path.parent)
        ):
            return disk_is_full(self._path.parent)
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"The catalogue cannot be written: {text}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            )
        return self._damaged(text)

    def _damaged(self, how: str) -> StoreError:
        """Returns the error for a damaged file."""
        return StoreError(
            f"{'The catalogue ' if self._path.stem == REBUILT else ''}{self._path.name} is damaged: {how}.",
            hint=f"`{PROGRAM} rebuild` rebuilds it from the kept copies."
            if self._path.stem == REBUILT
            else f"Put a backup in its place, or move {self._path} away.",
        )


def set_aside(path: Path, why: str) -> Path:
    """Renames a file to "<name>.<why>", and returns the new path. Raises OSError.

    The files that SQLite keeps beside it move first: they would be taken for those of a new file.
    """
    number = 1
    aside = path.with_name(f"{path.name}.{why}")
    while aside.exists():
        number += 1
        aside = path.with_name(f"{path.name}.{why}-{number}")
    for part in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + part).rename(aside.with_name(aside.name + part))
    return aside
