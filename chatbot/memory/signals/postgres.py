"""Manages connections to the signal database: opened on demand, bounded in time, kept for the next call."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from chatbot.memory.signals.embedded_postgres import EmbeddedServer
from chatbot.memory.signals.postgres_errors import explain, parse_address, shown_address
from chatbot.memory.signals.records import SignalsError
from chatbot.store.postgres_pool import PostgresConnection as Connection
from chatbot.store.postgres_pool import PostgresPool

if TYPE_CHECKING:
    import psycopg

__all__ = ["INSTALL_HINT", "Connection", "Postgres", "client_is_installed"]

# The server ends a statement in time by itself; one that cannot any more is hung up on so much later.
GRACE_SECONDS = 0.25
# The least that the client library waits for a connection.
LEAST_CONNECT_SECONDS = 2
INSTALL_HINT = "Install it: make setup-signals, or by pip the extra `signals`."


def client_is_installed() -> bool:
    """Tells whether the packages are there that ask a signal database."""
    return bool(importlib.util.find_spec("psycopg") and importlib.util.find_spec("pgvector"))


class Postgres:
    """A Postgres, embedded or named by an address. Safe from several threads."""

    def __init__(self, place: EmbeddedServer | str) -> None:
        """place: the embedded server, or a connection string."""
        self._place = place
        self._address = ""
        self._pool = PostgresPool(self._connect, self._explain, GRACE_SECONDS)

    @property
    def shown(self) -> str:
        """Where it is, for display, without a password."""
        if isinstance(self._place, EmbeddedServer):
            return "the embedded Postgres"
        try:
            return shown_address(self._place)
        except ImportError:
            return "a Postgres of your own"

    @contextmanager
    def transaction(self, *, seconds: float) -> Iterator[Connection]:
        """A connection for one transaction, committed at the end and rolled back on any error.

        seconds: for each statement, and for the whole where the server falls silent. Raises SignalsError for
        whatever the database does; a server that was restarted since the last call is met with a new
        connection, one that is down is started where it is the embedded one.
        """
        if not client_is_installed():
            raise SignalsError(
                "The Postgres client (psycopg, pgvector) is not installed.", kind="missing", hint=INSTALL_HINT
            )
        import psycopg

        # In the transaction, not at connecting: a pooler passes no options on.
        begin = f"begin; set local statement_timeout = {max(1, int(seconds * 1_000))}"
        with self._pool.lent(begin.encode(), seconds + GRACE_SECONDS) as connection:
            try:
                yield connection
                connection.commit()
            except BaseException:
                with suppress(psycopg.Error):
                    connection.rollback()
                raise

    def close(self) -> None:
        """Close what is open, and stop the embedded server."""
        self._pool.close()
        if isinstance(self._place, EmbeddedServer):
            self._place.stop()

    def _connect(self, seconds: float) -> Connection:
        """Connects; starts the embedded server first where it does not run."""
        import psycopg

        if isinstance(self._place, EmbeddedServer):
            self._address = self._place.address(seconds=seconds)
        else:
            parse_address(self._place)
            self._address = self._place
        # Statements are never prepared: a pooler may give the next one to another session.
        return psycopg.connect(
            self._address,
            connect_timeout=max(LEAST_CONNECT_SECONDS, round(seconds)),
            application_name="finpolicy signals",
            prepare_threshold=None,
            autocommit=True,
        )

    def _explain(self, error: psycopg.Error, late: bool) -> SignalsError:
        return explain(error, address=self._address, late=late)
