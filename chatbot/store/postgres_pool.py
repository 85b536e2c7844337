"""Keeps connections to a Postgres for the next statement, and hangs up on a server that falls silent.

psycopg's own pool waits for a connection in the background and cannot say why none comes; here whoever needs
one connects, so that a wrong password or an expired certificate is told at once. A claim is a lock of a
connection of its own: it ends with that, and so with the process, however that ends.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from chatbot.errors import ProjectError, StoreError
from chatbot.store.database import ClosedError, Database

if TYPE_CHECKING:
    import psycopg

__all__ = ["LOCKED", "Claims", "Explain", "PostgresConnection", "PostgresPool", "claim_key"]

log = logging.getLogger(__name__)
PostgresConnection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
# The failure in our words, and whether it was given up because it took too long.
Explain: TypeAlias = "Callable[[psycopg.Error, bool], ProjectError]"
# Connections of one store in this process, and of these how many are kept while nobody needs them.
MOST, MOST_IDLE = 12, 4
# Seconds to wait for another thread's connection, and between two looks at those in use.
WAIT_SECONDS, LOOK_SECONDS = 20, 0.5


class PostgresPool:
    """The connections to one database. Safe to use from several threads."""

    def __init__(
        self, connect: Callable[[float], PostgresConnection], explain: Explain, seconds: float
    ) -> None:
        """connect: opens one within so many seconds. seconds: after which a silent server is given up."""
        self._connect, self._explain, self._seconds = connect, explain, seconds
        self._idle: list[PostgresConnection] = []
        self._used: dict[PostgresConnection, float] = {}
        self._late: set[PostgresConnection] = set()
        self._lock, self._room, self._closed = threading.Lock(), threading.BoundedSemaphore(MOST), False
        self._watching: threading.Thread | None = None
        self._ended = threading.Event()

    @contextmanager
    def lent(self, begin: bytes = b"", seconds: float | None = None) -> Iterator[PostgresConnection]:
        """Lends a connection; one that is broken or in a transaction afterwards is not lent again.

        begin: what is run first. If that finds a kept connection broken, as after a restart of the server,
            another takes its place.
        seconds: instead of the pool's.

        Raises what the database refuses, explained, and StoreError if the pool is closed.
        """
        if self._closed:
            raise ClosedError
        if not self._room.acquire(timeout=WAIT_SECONDS):
            raise StoreError(
                "The database has been busy for too long.", hint="Try again in a moment.", retryable=True
            )
        try:
            with self.explained():
                connection = self._begun(begin, seconds)
                try:
                    with self.watched(connection, seconds):
                        yield connection
                finally:
                    self._give_back(connection)
        finally:
            self._room.release()

    def connect(self) -> PostgresConnection:
        """Opens a connection that the pool does not keep. Raises StoreError if the pool is closed."""
        if self._closed:
            raise ClosedError
        return self._connect(self._seconds)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raises what the database refuses in our words."""
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise self._explain(error, False) from None

    @contextmanager
    def watched(self, connection: PostgresConnection, seconds: float | None = None) -> Iterator[None]:
        """Hangs up on a server that is silent for too long meanwhile, and explains that."""
        import psycopg

        self.renew(connection, seconds)
        try:
            yield
        except psycopg.Error as error:
            if not self.gave_up(connection):
                raise
            raise self._explain(error, True) from None
        finally:
            with self._lock:
                self._used.pop(connection, None)
                self._late.discard(connection)

    def renew(self, connection: PostgresConnection, seconds: float | None = None) -> None:
        """Begins the time anew that the next call may take. seconds: instead of the pool's."""
        with self._lock:
            self._used[connection] = time.monotonic() + (self._seconds if seconds is None else seconds)
            if self._watching is None:
                self._watching = threading.Thread(target=self._watch, name="postgres-watch", daemon=True)
                self._watching.start()

    def gave_up(self, connection: PostgresConnection) -> bool:
        """Tells whether its server was silent for too long."""
        return connection in self._late

    def forget(self) -> None:
        """Drops connections that nobody uses, as when one turned out to be broken."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            _end(connection)

    def close(self) -> None:
        """Closes all connections, after the longest running statement or transaction."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        end = time.monotonic() + WAIT_SECONDS
        for _ in range(MOST):
            self._room.acquire(timeout=max(0.0, end - time.monotonic()))
        self.forget()
        self._ended.set()
        if self._watching is not None:
            self._watching.join(LOOK_SECONDS)

    def _begun(self, begin: bytes, seconds: float | None) -> PostgresConnection:
        """Takes a kept connection, or a new one, and runs what comes first."""
        import psycopg

        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            connection = kept or self._connect(self._seconds if seconds is None else seconds)
            try:
                if begin:
                    with self.watched(connection, seconds):
                        connection.execute(begin)
                return connection
            except BaseException as error:
                broken = connection.closed and isinstance(error, psycopg.Error)
                _end(connection)
                if kept is None or not broken:
                    raise

    def _give_back(self, connection: PostgresConnection) -> None:
        from psycopg.pq import TransactionStatus

        with self._lock:
            sound = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
            if sound and not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        _end(connection)

    def _watch(self) -> None:
        """Hangs up on a server that is still silent when its own bound has passed."""
        while not self._ended.wait(LOOK_SECONDS):
            now = time.monotonic()
            with self._lock:
                late = [connection for connection, end in self._used.items() if end < now]
                for connection in late:
                    del self._used[connection]
                    self._late.add(connection)
            for connection in late:
                log.warning("The database stopped answering.")
                with suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as line:
                    line.shutdown(socket.SHUT_RDWR)


def _end(connection: PostgresConnection) -> None:
    with suppress(Exception):
        connection.close()


T = TypeVar("T")
CLAIM_EACH = "select pg_try_advisory_lock(hashtextextended(work, 0)) from unnest(%s::text[]) work"
RELEASE = "select pg_advisory_unlock(hashtextextended(%s, 0))"
LOCKED = """select 1 from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted and pid != pg_backend_pid()
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32) | objid::bigint = hashtextextended({}, 0)"""
CLAIMED = f"select work from unnest(%s::text[]) work where exists ({LOCKED.format('work')})"


def claim_key(schema: str, work: str) -> str:
    """Returns what is locked for some work."""
    return f"{schema} {work}"


class Claims(Database):
    """The claims of one store in one process. Safe to use from several threads."""

    def __init__(self, name: str, pool: PostgresPool) -> None:
        """name: of the store's schema, which is part of every lock."""
        super().__init__()
        self._name, self._pool, self._is_over = name, pool, False
        self._connection: PostgresConnection | None = None

    def claim(self, work: str) -> bool:
        """Claims some work. Returns False if another has. Raises StoreError."""
        key = self._key(work)
        with self._claiming:
            if key in self._claimed:
                return False
            ((claimed,),) = self._ask(lambda connection: connection.execute(CLAIM_EACH, [[key]]).fetchall())
            if claimed:
                self._claimed.add(key)
            return bool(claimed)

    def release(self, work: str) -> None:
        """Gives some work up, or has done it."""
        key = self._key(work)
        with self._claiming:
            if key in self._claimed:
                self._claimed.discard(key)
                with suppress(ProjectError):  # a database that is gone has no claims
                    self._ask(lambda connection: connection.execute(RELEASE, [key]))

    def claimed_elsewhere(self, works: Collection[str]) -> set[str]:
        """Returns the work that others have claimed. Raises StoreError.

        What was claimed here is claimed again if the connection broke meanwhile.
        """
        if not works and not self._claimed:
            return set()
        keys = {self._key(work): work for work in works}
        with self._claiming:
            rows = self._ask(lambda connection: connection.execute(CLAIMED, [list(keys)]).fetchall())
        return {keys[key] for (key,) in rows}

    def close(self) -> None:
        """Gives up all work, and closes all connections after the longest running statement or transaction.

        At once: of a connection that is closed the server learns a moment later.
        """
        with self._claiming, suppress(Exception):
            self._is_over = True
            if self._connection is not None:
                with self._pool.watched(self._connection), closing(self._connection):
                    self._connection.execute("select pg_advisory_unlock_all()")
        self._pool.close()

    def _key(self, work: str) -> str:
        return claim_key(self._name, work)

    def _ask(self, ask: Callable[[PostgresConnection], T]) -> T:
        """Asks, over a new connection if the old one broke; what was claimed before is then claimed again."""
        if self._is_over:
            raise ClosedError
        with self._pool.explained():
            if self._connection is not None:
                try:
                    with self._pool.watched(self._connection):
                        return ask(self._connection)
                except Exception:
                    if not self._connection.closed:
                        raise
            self._connection = self._pool.connect()
            with self._pool.watched(self._connection):
                self._connection.execute(CLAIM_EACH, [sorted(self._claimed)])
                return ask(self._connection)
