"""A plain connection to a real Postgres, as the index of words needs it; knows nothing of other stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from chatbot.store.postgres_words import WORD_TABLES

__all__ = ["PlainDatabase"]


class PlainDatabase:
    """One connection, and a schema of its own with empty tables of words."""

    def __init__(self, address: str, schema: str) -> None:
        self._connection = psycopg.connect(address, autocommit=True)
        self._connection.execute(f"create schema {schema}; set search_path to {schema}".encode())
        self._connection.execute(WORD_TABLES.replace("blob", "bytea").encode())

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows."""
        return self.execute(statement, arguments).fetchall()

    @contextmanager
    def write(self) -> Iterator[PlainDatabase]:
        """Opens a transaction."""
        with self._connection.transaction():
            yield self

    def execute(self, statement: str, arguments: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        """Runs one statement."""
        return self._connection.execute(
            statement.replace("?", "%s").encode(), list(arguments) or None, binary=True
        )

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()
