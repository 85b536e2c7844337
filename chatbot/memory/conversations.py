"""Conversations in SQLite, each with its owner; keeps what was said, decides nothing about what is made of it."""

from __future__ import annotations

import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chatbot.errors import NotFoundError, StoreError
from chatbot.records import Exchange

__all__ = ["WINDOW", "Conversations"]

# Exchanges that a conversation's sliding window keeps.
WINDOW = 10
CONVERSATION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
SCHEMA = """
create table if not exists conversation (id text primary key, owner text not null, begun_at real not null) without rowid;
create table if not exists exchange (conversation text not null references conversation(id), number integer not null, user text not null,
    assistant text not null, at real not null, primary key (conversation, number)) without rowid;
"""


class Conversations:
    """All conversations of a store. Reads and writes from any thread."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError where the file cannot be used."""
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.executescript("pragma journal_mode = wal; pragma foreign_keys = on;" + SCHEMA)
        except sqlite3.Error as error:
            raise StoreError(f"The conversations cannot be used: {error}.", hint=f"Move {path.name} away.") from error

    @contextmanager
    def _using(self) -> Iterator[None]:
        """One at a time; what SQLite cannot do is a StoreError."""
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                raise StoreError(
                    f"The conversations cannot be used: {error}.", hint="Free disk space, or move conversations.sqlite3 away."
                ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def begin(self, owner: str, conversation: str | None = None) -> str:
        """The id of a conversation of `owner`, made if need be. Raises NotFoundError for an id that is malformed or somebody else's."""
        conversation = conversation or secrets.token_urlsafe(12)
        if not CONVERSATION_ID.fullmatch(conversation):
            raise NotFoundError(f"{conversation[:80]!r} is not the id of a conversation.", hint="Use letters, digits, - and _, at most 64.")
        with self._using():
            self._connection.execute("insert into conversation values (?, ?, ?) on conflict(id) do nothing", (conversation, owner, time.time()))
            found = self._connection.execute("select owner from conversation where id = ?", (conversation,)).fetchone()
        if found[0] != owner:
            raise NotFoundError(f"There is no conversation {conversation!r}.", hint="Begin a new one.")
        return conversation

    def window(self, conversation: str, owner: str) -> list[Exchange]:
        """The last WINDOW exchanges, oldest first; empty for a conversation that is not there or not this owner's."""
        with self._using():
            rows = self._connection.execute(
                "select user, assistant from exchange join conversation on id = conversation where conversation = ? and owner = ? order by number desc limit ?",
                (conversation, owner, WINDOW),
            ).fetchall()
        return [Exchange(*row) for row in reversed(rows)]

    def append(self, conversation: str, exchange: Exchange) -> None:
        """Add an exchange at the end."""
        with self._using():
            self._connection.execute(
                "insert into exchange select ?, coalesce(max(number), 0) + 1, ?, ?, ? from exchange where conversation = ?",
                (conversation, exchange.user, exchange.assistant, time.time(), conversation),
            )
