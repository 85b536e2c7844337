"""The SQLite file that conversations stand in: its tables, how earlier ones become these, and what its errors mean for the user; knows no conversation."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from chatbot.errors import StoreError
from chatbot.store.database import Database

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


class ConversationFile(Database):
    """One SQLite connection for all threads, one statement or transaction at a time; path: None for one that lives in memory only."""

    _connection_each = False
    _synchronous = "normal"

    def __init__(self, path: Path | None) -> None:
        """Raises StoreError where it cannot be used, DamagedError where nothing of it can be read."""
        self._in_memory = path is None
        super().__init__(path or Path("memory"), SCHEMA, VERSION)

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows. Raises StoreError."""
        return self._read(statement, arguments)

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
        """One transaction; what fails in it changes nothing. Raises StoreError."""
        return self._write()

    def _read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._write_lock:
            return super()._read(statement, arguments)

    def _address(self) -> str:
        return "file::memory:" if self._in_memory else super()._address()

    def _busy_seconds(self) -> float:
        return BUSY_SECONDS

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Bytes that are no text must not keep the other rows from being read.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        super()._prepare(connection)

    def _check_version(self, schema: str, version: int) -> None:
        """Brings an earlier file up to date, with all that is in it."""
        ((found,),) = self._read("pragma user_version")
        if found > version:
            raise StoreError(f"The conversations are of version {found}, this program knows {version}.", hint="Update the program.")
        if self._read_only and found == version:
            return
        with self._write() as connection:
            there = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
            earlier = found == 0 and set(EARLIER) <= there
            if earlier:
                for name in EARLIER:
                    connection.execute(f"alter table {name} rename to earlier_{name}")
            if found == 1:
                connection.execute("alter table conversation add column off text not null default ''")
            for statement in filter(str.strip, schema.split(";\n")):
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
            connection.execute(f"pragma user_version = {version}")

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        """What an SQLite error means for the user."""
        found = super()._unusable(error)
        if found.retryable:
            return found
        text, name = str(error), self._path.name
        if "locked" in text or "busy" in text:
            return StoreError(
                f"Another program holds the conversations ({name}).", hint="Close it and try again; nothing stored is lost.", retryable=True
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(f"The conversations cannot be written: {text}.", hint="Set FINPOLICY_HOME to a folder you may write.")
        hint = f"Move {self._path} away; the documents are not touched by that."
        kind = DamagedError if "not a database" in text or "malformed" in text else StoreError
        return kind(f"The conversations ({name}) cannot be used: {text}.", hint=hint)
