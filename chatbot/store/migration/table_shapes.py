"""Knows the tables that a store's statements make, whichever engine holds them; asks no store."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from chatbot.store.database import statements

__all__ = ["TableShape", "quoted", "shapes_of"]


@dataclass(frozen=True, slots=True)
class TableShape:
    """One table.

    columns, kinds: names, and the type of each: "text", "integer", "real" or "blob".
    key: the positions of the primary key's columns.
    numbered: whether the key is a number that counts up by itself.
    never_again: whether such a number is not given twice, even after its row was deleted.
    """

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    key: tuple[int, ...]
    numbered: bool = False
    never_again: bool = False

    @property
    def key_columns(self) -> str:
        """The columns of the key, for a statement."""
        return quoted([self.columns[at] for at in self.key])

    @property
    def marks(self) -> str:
        """A question mark for each column of the key."""
        return ", ".join("?" * len(self.key))


def shapes_of(scripts: Sequence[str]) -> list[TableShape]:
    """Returns the tables that these statements make, each after those that it refers to.

    They are run in an empty SQLite in memory, which then says what is there.
    """
    with closing(sqlite3.connect(":memory:")) as database:
        for script in scripts:
            for statement in statements(script):
                database.execute(statement)
        made = database.execute(
            "select name, sql from sqlite_master where type = 'table' and name not like 'sqlite_%'"
            " order by rowid"
        ).fetchall()
        return [_shape(database, name, sql) for name, sql in made]


def quoted(names: Sequence[str]) -> str:
    """Returns names of columns for a statement: some are words of SQL too."""
    return ", ".join(f'"{name}"' for name in names)


def _shape(database: sqlite3.Connection, name: str, sql: str) -> TableShape:
    columns = database.execute("select name, lower(type), pk from pragma_table_info(?)", (name,)).fetchall()
    refers = {row[0] for row in database.execute('select "from" from pragma_foreign_key_list(?)', (name,))}
    ranked = sorted((rank, at) for at, (_, _, rank) in enumerate(columns) if rank)
    key = tuple(at for _, at in ranked)
    alone = len(key) == 1 and columns[key[0]][1] == "integer"
    return TableShape(
        name,
        tuple(column for column, _, _ in columns),
        tuple(kind for _, kind, _ in columns),
        key,
        alone and columns[key[0]][0] not in refers,
        "autoincrement" in sql.lower(),
    )
