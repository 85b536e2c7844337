"""The SQLite file that conversations stand in: its tables, its transactions, and what its errors mean for the user; knows no conversation."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chatbot.errors import StoreError
from chatbot.store.database import LITTLE_SPACE, disk_is_full

__all__ = ["ConversationFile", "DamagedError"]

# Seconds to wait for another program that holds the file; the answer waits as long.
BUSY_SECONDS = 3
VERSION = 2
# The first version had begun_at and owner, number, user, assistant and at alone, and no number of its own.
EARLIER = ("conversation", "exchange")
SCHEMA = """
create table if not exists conversation (id text primary key, owner text not null, begun_at real not null, changed_at real not null, title text,
    deleted_at real, compresses integer not null default 1, recalls_others integer not null default 0,
    off text not null default '') without rowid;
create index if not exists conversation_of on conversation(owner, changed_at);
create table if not exists exchange (conversation text not null references conversation(id) on delete cascade, number integer not null, user text not null,
    assistant text not null, at real not null, state text not null default 'complete', cited text,
    full_tokens integer, kept_tokens integer, chunks integer, primary key (conversation, number)) without rowid;
create table if not exists detail (conversation text not null, number integer not null, answer blob, fingerprint text, vector blob,
    primary key (conversation, number), foreign key (conversation, number) references exchange(conversation, number) on delete cascade) without rowid;
create table if not exists source (sha256 text not null, conversation text not null, number integer not null, primary key (sha256, conversation, number),
    foreign key (conversation, number) references exchange(conversation, number) on delete cascade) without rowid;
create table if not exists summary (conversation text not null references conversation(id) on delete cascade, first integer not null, last integer not null,
    text text not null, model text not null, primary key (conversation, last)) without rowid;
"""


class DamagedError(StoreError):
    """The file is no database, or broken: nothing of it can be read here."""


class ConversationFile:
    """One SQLite connection for all threads, one statement or transaction at a time; path: None for one that lives in memory only."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._lock = path, threading.RLock()
        try:
            self._connection = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        try:
            # Bytes that are no text must not keep the other rows from being read.
            self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            self._connection.executescript(
                "pragma journal_mode = wal; pragma synchronous = normal; pragma foreign_keys = on; pragma secure_delete = on;"
            )
            self._upgrade()
        except sqlite3.Error as error:
            self.close()
            raise self._unusable(error) from error
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(statement, arguments).fetchall()
            except sqlite3.Error as error:
                raise self._unusable(error) from error

    def compact(self) -> None:
        """Write the log back into the file, so that what was erased stands in neither."""
        self.read("pragma wal_checkpoint(truncate)")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction; what fails in it changes nothing."""
        with self._lock:
            try:
                self._connection.execute("begin immediate")
                try:
                    yield self._connection
                except BaseException:
                    with suppress(sqlite3.Error):  # a full disk has rolled back already
                        self._connection.execute("rollback")
                    raise
                self._connection.execute("commit")
            except sqlite3.Error as error:
                with suppress(sqlite3.Error):
                    self._connection.execute("rollback")
                raise self._unusable(error) from error

    def _upgrade(self) -> None:
        ((found,),) = self.read("pragma user_version")
        if found > VERSION:
            raise StoreError(f"The conversations are of version {found}, this program knows {VERSION}.", hint="Update the program.")
        with self.write() as connection:
            there = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
            earlier = found == 0 and set(EARLIER) <= there
            if earlier:
                for name in EARLIER:
                    connection.execute(f"alter table {name} rename to earlier_{name}")
            if found == 1:
                connection.execute("alter table conversation add column off text not null default ''")
            for statement in filter(str.strip, SCHEMA.split(";\n")):
                connection.execute(statement)
            if earlier:
                connection.execute(
                    "insert into conversation (id, owner, begun_at, changed_at) select id, owner, begun_at, coalesce((select max(at) from earlier_exchange"
                    " where conversation = id), begun_at) from earlier_conversation"
                )
                connection.execute(
                    "insert into exchange (conversation, number, user, assistant, at) select conversation, number, user, assistant, at from earlier_exchange"
                )
                for name in reversed(EARLIER):
                    connection.execute(f"drop table earlier_{name}")
            connection.execute(f"pragma user_version = {VERSION}")

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        """What an SQLite error means for the user."""
        text = str(error)
        if "full" in text or ("disk I/O" in text and self._path and shutil.disk_usage(self._path.parent).free < LITTLE_SPACE):
            return disk_is_full()
        name = self._path.name if self._path else "memory"
        if "locked" in text or "busy" in text:
            return StoreError(
                f"Another program holds the conversations ({name}).", hint="Close it and try again; nothing stored is lost.", retryable=True
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(f"The conversations cannot be written: {text}.", hint="Set FINPOLICY_HOME to a folder you may write.")
        hint = f"Move {self._path or name} away; the documents are not touched by that."
        kind = DamagedError if "not a database" in text or "malformed" in text else StoreError
        return kind(f"The conversations ({name}) cannot be used: {text}.", hint=hint)
