"""Runs statements on a connection to a Postgres, alone or in a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from chatbot.store.database import Changed, Outcome
from chatbot.store.postgres_dialect import translated
from chatbot.store.postgres_pool import PostgresConnection, PostgresPool

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresTransaction", "run"]

# Rows sent in one call, so that a long document's take no longer than one call may.
ROWS_AT_ONCE = 500


class PostgresTransaction:
    """A transaction under way; see Transaction."""

    def __init__(
        self, connection: PostgresConnection, pool: PostgresPool, seconds: float | None = None
    ) -> None:
        """seconds: after which a silent server is given up, instead of the pool's."""
        self._connection, self._pool, self._seconds = connection, pool, seconds

    def execute(self, statement: str, arguments: Sequence[Any] = (), /) -> Outcome:
        """Runs one statement."""
        self._pool.renew(self._connection, self._seconds)
        return run(self._connection, statement, arguments)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Changed:
        """Runs one statement for each of these rows of arguments."""
        taken, left, changed = translated(statement), iter(rows), 0
        while some := [taken.arguments(row) or () for row in islice(left, ROWS_AT_ONCE)]:
            self._pool.renew(self._connection, self._seconds)
            with self._connection.cursor() as cursor:
                cursor.executemany(taken.query, some)
                changed += cursor.rowcount
        return Changed(changed)


def run(connection: PostgresConnection, statement: str, arguments: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
    """Runs one statement, as the stores write it."""
    taken = translated(statement)
    return connection.execute(taken.query, taken.arguments(arguments), binary=not taken.defines)
