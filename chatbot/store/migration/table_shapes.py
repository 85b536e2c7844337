"""Knows the tables that a store's statements make, and brings their rows into one form for both engines."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from chatbot.store.database import statements

__all__ = ["Row", "TableShape", "TableSum", "normalised", "quoted", "shapes_of", "summary_of"]

Row = tuple[Any, ...]
HASH_BYTES = 16
# What a Postgres has in place of the one character that no text there can hold.
REPLACEMENT = "\ufffd"


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
    numbered: bool
    never_again: bool

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
    described = database.execute("select name, lower(type), pk from pragma_table_info(?)", (name,))
    columns, kinds, ranks = zip(*described, strict=True)
    refers = {row[0] for row in database.execute('select "from" from pragma_foreign_key_list(?)', (name,))}
    key = tuple(sorted((at for at, rank in enumerate(ranks) if rank), key=ranks.__getitem__))
    numbered = len(key) == 1 and kinds[key[0]] == "integer" and columns[key[0]] not in refers
    return TableShape(name, columns, kinds, key, numbered, "autoincrement" in sql.lower())


@dataclass(frozen=True, slots=True)
class TableSum:
    """How much there is, and a hash of it all that does not depend on the order. digest: 32 hex digits."""

    count: int
    digest: str


def summary_of(rows: Iterable[Sequence[Any]]) -> TableSum:
    """Sums up rows of numbers, texts, bytes and None: the hash of a set is the sum of its rows' hashes."""
    count = total = 0
    for row in rows:
        count += 1
        written = repr(tuple(row)).encode("utf-8", "surrogatepass")
        total += int.from_bytes(hashlib.blake2b(written, digest_size=HASH_BYTES).digest())
    return TableSum(count, f"{total % (1 << 8 * HASH_BYTES):0{2 * HASH_BYTES}x}")


def normalised(shape: TableShape, row: Sequence[Any]) -> Row:
    """Returns a row with each value as its column should have it, where an engine was less strict."""
    return tuple(_value(kind, value) for kind, value in zip(shape.kinds, row, strict=True))


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
