"""Tells whether the memory of signals is in use, without opening its database.

Each fact is a row in the database of all memories.
"""

from __future__ import annotations

from dataclasses import dataclass

from chatbot.errors import StoreError
from chatbot.memory.memory_database import MemoryDatabase, Tables

__all__ = ["TABLES", "State", "Switch"]

TABLES = Tables(
    "signals", ("create table signal_state (name text primary key, value integer not null) without rowid;\n",)
)


@dataclass(frozen=True, slots=True)
class State:
    """Whether signals are in use.

    imported: whether anything was ever imported.
    on: whether nobody switched it off.
    """

    imported: bool = False
    on: bool = True


class Switch:
    """The state as it is stored. Safe to use from several threads and processes."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Raises StoreError."""
        database.prepare(TABLES)
        self._database = database

    def read(self) -> State:
        """The state; the initial one if there is none or it cannot be read."""
        try:
            found = dict(self._database.read("select name, value from signal_state"))
        except StoreError:
            return State()
        return State(bool(found.get("imported", False)), bool(found.get("on", True)))

    def change(self, **changes: bool) -> None:
        """Change the state and store it. Raises StoreError."""
        with self._database.write() as connection:
            connection.executemany(
                "insert into signal_state values (?, ?)"
                " on conflict (name) do update set value = excluded.value",
                changes.items(),
            )
