"""Lists the tables of all memories, to move them with a store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from chatbot.memory import items, session_texts, user_settings_store
from chatbot.memory.conversations import conversation_store
from chatbot.memory.memory_database import CLOCK, NAME, SCHEMA, MemoryDatabase, Tables, check_version
from chatbot.memory.signals import news_places, signal_use
from chatbot.store.database import Database, Place
from chatbot.store.migration.table_copying import MovedPart

__all__ = ["ALL", "memory_part"]

ALL = (
    CLOCK,
    items.TABLES,
    conversation_store.TABLES,
    session_texts.TABLES,
    user_settings_store.TABLES,
    signal_use.TABLES,
    signal_use.RATINGS,
    news_places.TABLES,
)


def memory_part() -> MovedPart:
    """Returns what is moved of the memories: those that were ever used."""
    return MovedPart(NAME, SCHEMA, _scripts, _prepare)


def _scripts(database: Database) -> Sequence[str]:
    return [tables.script for tables in _made(database)]


def _prepare(place: Place, source: Database) -> None:
    with closing(MemoryDatabase(place)) as memories:
        for tables in _made(source):
            memories.prepare(tables)


def _made(database: Database) -> list[Tables]:
    """Returns the tables that are there. Raises StoreError if they are not of this program's version."""
    versions = dict(database.read("select memory, version from memory_version"))
    known = {tables.memory: tables for tables in ALL}
    for memory, version in versions.items():
        check_version(memory, version, known[memory].version if memory in known else 0)
    # A Postgres has tables of its own for news, which goes there by an archive.
    return [known[memory] for memory in sorted(versions) if memory != news_places.TABLES.memory]
