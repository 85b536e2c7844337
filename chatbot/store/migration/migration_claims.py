"""Keeps a store that is moved, and the place it is moved to, from everybody else meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.catalog import SCHEMA
from chatbot.store.database import Database, Served, open_database
from chatbot.store.lock import StoreLock, release
from chatbot.store.migration.migration_mark import CLAIMING, WORK
from chatbot.store.postgres_address import shown_address

__all__ = ["claimed"]

# Connections of servers and commands; one of them is this process's own, which holds the claim.
OTHERS = """select count(*) from pg_stat_activity where application_name like 'finpolicy%'
    and datname = current_database() and pid != pg_backend_pid()"""
OWN = 1
# Seconds to wait for the end of connections whose processes were killed just now.
CLAIM_SECONDS, END_SECONDS, LOOK_SECONDS = 2.0, 6.0, 0.1


@contextmanager
def claimed(stores: Sequence[Settings]) -> Iterator[None]:
    """Holds the folders and databases of these stores.

    Raises StoreError if a server, a command or another migration uses one of them.
    """
    with ExitStack() as held:
        for folder in sorted({store.store for store in stores}):
            held.callback(release, StoreLock(folder / "store.lock"))
        for address in sorted({store.database for store in stores} - {""}):
            database = open_database(Served(address, CLAIMING), SCHEMA)
            held.enter_context(closing(database))
            _claim(database, address)
        yield


def _claim(database: Database, address: str) -> None:
    began = time.monotonic()
    while (waited := time.monotonic() - began) < END_SECONDS:
        database.claim(WORK)
        if database.claimed_elsewhere([WORK]):
            if waited > CLAIM_SECONDS:
                raise StoreError(
                    f"Another migration uses the database {shown_address(address)}.",
                    hint="Wait until it has ended, then try again.",
                    retryable=True,
                )
        elif database.read(OTHERS)[0][0] <= OWN:
            return
        time.sleep(LOOK_SECONDS)
    raise StoreError(
        f"A server or a command uses the database {shown_address(address)}.",
        hint="Stop all that use it, then try again.",
        retryable=True,
    )
