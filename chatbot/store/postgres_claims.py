"""Tells servers and workers that share a store what each of them is at, so that the others leave it alone.

A claim is a lock of a connection of its own. It ends with that, and so with the process, however that ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from typing import TypeVar

from chatbot.store.postgres_pool import PostgresConnection, PostgresPool

__all__ = ["LOCKED", "Claims", "claim_key"]

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


class Claims:
    """The claims of one store in one process. Safe to use from several threads."""

    def __init__(self, name: str, pool: PostgresPool) -> None:
        """name: of the store's schema, which is part of every lock."""
        self._name, self._pool = name, pool
        self._connection: PostgresConnection | None = None
        self._lock, self._mine = threading.Lock(), set[str]()

    def add(self, work: str) -> bool:
        """Claims some work. Returns False if another has. Raises StoreError."""
        key = self._key(work)
        with self._lock:
            if key in self._mine:
                return True
            ((claimed,),) = self._ask(lambda connection: connection.execute(CLAIM_EACH, [[key]]).fetchall())
            if claimed:
                self._mine.add(key)
            return bool(claimed)

    def drop(self, work: str) -> None:
        """Gives some work up, or has done it."""
        with self._lock:
            if self._key(work) in self._mine:
                self._mine.discard(self._key(work))
                self._ask(lambda connection: connection.execute(RELEASE, [self._key(work)]))

    def elsewhere(self, works: Collection[str]) -> set[str]:
        """Returns the work that others have claimed. Raises StoreError.

        What was claimed here is claimed again if the connection broke meanwhile.
        """
        if not works and not self._mine:
            return set()
        keys = {self._key(work): work for work in works}
        with self._lock:
            rows = self._ask(lambda connection: connection.execute(CLAIMED, [list(keys)]).fetchall())
        return {keys[key] for (key,) in rows}

    def close(self) -> None:
        """Gives up all work, at once: of a connection that is closed the server learns a moment later."""
        with self._lock, suppress(Exception):
            if self._connection is not None:
                with self._pool.watched(self._connection), closing(self._connection):
                    self._connection.execute("select pg_advisory_unlock_all()")

    def _key(self, work: str) -> str:
        return claim_key(self._name, work)

    def _ask(self, ask: Callable[[PostgresConnection], T]) -> T:
        """Asks, over a new connection if the old one broke; what was claimed before is then claimed again."""
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
                self._connection.execute(CLAIM_EACH, [sorted(self._mine)])
                return ask(self._connection)
