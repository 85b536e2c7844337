"""The two engines that stores run on: files, and a real Postgres. A module whose tests hold for both says
`pytestmark = pytest.mark.usefixtures("engine")`, and opens what it tests by the functions here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from chatbot.memory import items
from chatbot.memory.conversations import conversation_store
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.database import Place, PostgresPlace, open_database
from chatbot.store.postgres_words import WORDS

__all__ = [
    "ENGINES",
    "FILES",
    "StoresDatabase",
    "kill_holders",
    "memories_at",
    "on_postgres",
    "place_at",
    "settings_at",
    "stands_in_rows",
    "using",
]

FILES, POSTGRES = ENGINES = ("files", "postgres")
# Of the database of the test that runs; "" for files.
_address = [""]
_opened: list[MemoryDatabase] = []


@contextmanager
def using(address: str) -> Iterator[None]:
    """Sets the database of a test, and closes afterwards what memories_at has opened."""
    _address[0] = address
    try:
        yield
    finally:
        while _opened:
            _opened.pop().close()
        _address[0] = ""


def on_postgres() -> bool:
    return bool(_address[0])


def settings_at(home: Path, **settings: Any) -> Settings:
    """The settings of a store in that home, or in the database."""
    return Settings(home=home, **{"database": _address[0], **settings})


def kill_holders() -> None:
    """End what processes hold in the database, as their own end does; nothing holds what is in files."""
    if on_postgres():
        with psycopg.connect(_address[0], autocommit=True) as connection:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name like 'finpolicy%' and datname = current_database()"
            )


def place_at(path: Path) -> Place:
    """Where a store is that would be in that file."""
    if on_postgres():
        return PostgresPlace(_address[0], path.name.removesuffix(".sqlite3"))
    return path


def memories_at(path: Path) -> MemoryDatabase:
    """The memories that would be in that file, closed after the test."""
    opened = MemoryDatabase(place_at(path))
    _opened.append(opened)
    return opened


def stands_in_rows(text: bytes) -> bool:
    """Whether a row of the database holds the text, also among bytes."""
    with psycopg.connect(_address[0]) as connection:
        tables = connection.execute(
            "select schemaname, tablename from pg_tables where schemaname like 'finpolicy%'"
        ).fetchall()
        for schema, table in tables:
            look = f'select 1 from "{schema}"."{table}" t where t::text like %s or t::text like %s'
            if connection.execute(look.encode(), [f"%{text.decode()}%", f"%{text.hex()}%"]).fetchone():
                return True
    return False


EMPTY = """do $$ declare one record; begin
    for one in select schemaname, tablename from pg_tables where schemaname like 'finpolicy%'
        and tablename not in ('finpolicy_store', 'memory_version') loop
        execute format('delete from %I.%I', one.schemaname, one.tablename);
    end loop;
    for one in select schemaname, sequencename from pg_sequences where schemaname like 'finpolicy%' loop
        execute format('alter sequence %I.%I restart', one.schemaname, one.sequencename);
    end loop; end $$"""
STATE = """select schemaname || '.' || tablename, 0 from pg_tables where schemaname like 'finpolicy%'
    union all select 'catalog', version from finpolicy_catalog.finpolicy_store
    union all select 'memory', version from finpolicy_memory.finpolicy_store
    union all select memory, version from finpolicy_memory.memory_version order by 1"""
DROP = """do $$ declare one record; begin
    for one in select nspname from pg_namespace where nspname like 'finpolicy%' loop
        execute format('drop schema %I cascade', one.nspname);
    end loop; end $$"""


class StoresDatabase:
    """A database with the tables of all stores, which is emptied more quickly than one is made."""

    def __init__(self, address: str) -> None:
        """address: of a database of the server."""
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("create database stores encoding 'UTF8' template template0")
        self.address = address.replace("dbname=postgres", "dbname=stores")
        self._connection = psycopg.connect(self.address, autocommit=True)
        # Foreign keys are not looked at; and what a test has left open is named.
        self._connection.execute("set session_replication_role = replica; set lock_timeout = '5s'")
        self._make()

    def empty(self) -> None:
        """Delete all rows, and what a test made besides; end what it left open."""
        self._connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'stores' and pid != %s",
            [self._connection.info.backend_pid],
        )
        if self._state() == self._made:
            self._connection.execute(EMPTY)
        else:
            self._connection.execute(DROP)
            self._make()

    def close(self) -> None:
        self._connection.close()

    def _make(self) -> None:
        Catalog(PostgresPlace(self.address, "catalog")).close()
        open_database(PostgresPlace(self.address, "words"), WORDS).close()
        from chatbot.store.job_queue import JobQueue  # few tests need what it loads

        JobQueue(self.address).close()
        memories = MemoryDatabase(PostgresPlace(self.address, "memory"))
        for tables in (items.TABLES, conversation_store.TABLES):
            memories.prepare(tables)
        memories.close()
        self._made = self._state()

    def _state(self) -> list[tuple[object, ...]]:
        """The tables, and the version of each memory's and store's."""
        try:
            return self._connection.execute(STATE).fetchall()
        except psycopg.errors.UndefinedTable:
            return []
