"""Knows the tables that a store's statements make, and brings their rows into one form for both engines."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from chatbot.store.database import statements

__all__ = ["Row", "RowSum", "TableShape", "TableSum", "normalised", "quoted", "shapes_of", "summary_of"]


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


Row = tuple[Any, ...]
HASH_BYTES = 16
# What a Postgres has in place of the one character that no text there can hold.
REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class TableSum:
    """How much there is, and a hash of it all that does not depend on the order. digest: 32 hex digits."""

    count: int
    digest: str


def normalised(shape: TableShape, row: Sequence[Any]) -> Row:
    """Returns a row with each value as its column should have it, where an engine was less strict."""
    return tuple(_value(kind, value) for kind, value in zip(shape.kinds, row, strict=True))


class RowSum:
    """Sums up rows in whatever order: the hash of a set is the sum of its rows' hashes."""

    def __init__(self) -> None:
        self._count = self._total = 0

    def add(self, row: Sequence[Any]) -> None:
        """Counts a row in, of numbers, texts, bytes and None."""
        written = repr(tuple(row)).encode("utf-8", "surrogatepass")
        self._count += 1
        self._total += int.from_bytes(hashlib.blake2b(written, digest_size=HASH_BYTES).digest())

    def summary(self) -> TableSum:
        """Returns the sum so far."""
        return TableSum(self._count, f"{self._total % (1 << 8 * HASH_BYTES):0{2 * HASH_BYTES}x}")


def summary_of(rows: Iterable[Sequence[Any]]) -> TableSum:
    """Sums up rows."""
    found = RowSum()
    for row in rows:
        found.add(row)
    return found.summary()


def _value(kind: str, value: Any) -> Any:
    match kind, value:
        case "text", str():
            return value.replace("\0", REPLACEMENT)
        case "text", bytes():
            return value.decode("utf-8", "replace").replace("\0", REPLACEMENT)
        case "blob", str():
            return value.encode()
        case "blob", memoryview() | bytearray():
            return bytes(value)
        case "integer", bool() | float():
            return int(value)
        case "real", int():
            return float(value)
    return value
