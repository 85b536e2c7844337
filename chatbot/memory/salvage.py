"""Finds what is damaged of the memories, and saves whole rows of a damaged file into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from chatbot.errors import StoreError
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.memory_tables import ALL
from chatbot.store.database import statements
from chatbot.store.migration.table_shapes import TableShape, quoted, shapes_of
from chatbot.store.plain_files import is_plain
from chatbot.store.sqlite_file import UNUSABLE, SqliteFile

__all__ = ["damage_of", "save_rows"]

KINDS: dict[str, tuple[type, ...]] = {"text": (str,), "integer": (int,), "real": (float, int)}
# Where the file says how large its pages are and how many there are; and how much of it may be missing, in
# times what is left, before that is taken for damage.
PAGE_SIZE, PAGE_COUNT, MOST_MISSING = slice(16, 18), slice(28, 32), 64
# What a file of SQLite begins with, and where it says that changes are written without a log.
MAGIC, WAYS, NO_LOG = b"SQLite format 3\0", slice(18, 20), b"\1\1"


def damage_of(memories: MemoryDatabase) -> list[str]:
    """Returns what is wrong with the database of the memories, and which of their tables lack something."""
    found = memories.database.complaints()
    if found or not isinstance(memories.database, SqliteFile):
        return found
    try:
        made = {row[0] for row in memories.read("select memory from memory_version")}
        return memories.database.lacking([one.script for one in ALL if one.memory in made])
    except StoreError as error:
        return [error.message]


def save_rows(damaged: Path, memories: MemoryDatabase) -> int:
    """Copies each row that can be read whole, and returns their number. `damaged` is not changed.

    Of a table with a damaged part these are the rows before it, and those behind it.
    """
    saved = 0
    with closing(_readable(damaged)) as source:
        source.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for tables in ALL:
            memories.prepare(tables)
            for shape in shapes_of([tables.script]):
                saved += _save(source, shape, memories)
    return saved


def _save(source: sqlite3.Connection, shape: TableShape, memories: MemoryDatabase) -> int:
    try:
        there = {row[1] for row in source.execute(f"pragma table_info({shape.name})")}
    except UNUSABLE:
        return 0
    columns = [column for column in shape.columns if column in there]
    kinds = [kind for column, kind in zip(shape.columns, shape.kinds, strict=True) if column in there]
    keys = [shape.columns[at] for at in shape.key]
    if not set(keys) <= there:
        return 0
    marks = ", ".join("?" * len(columns))
    put = f"insert or ignore into {shape.name} ({quoted(columns)}) values ({marks})"
    saved = 0
    with memories.write() as connection:
        for row in _rows(source, shape.name, columns, keys):
            if all(map(_fits, row, kinds)):
                with suppress(sqlite3.IntegrityError):  # of a conversation that could not be read
                    saved += connection.execute(put, row).rowcount
    return saved


def _fits(value: object, kind: str) -> bool:
    return value is None or isinstance(value, KINDS.get(kind, (bytes,)))


def _rows(
    source: sqlite3.Connection, name: str, columns: list[str], keys: list[str]
) -> Iterator[tuple[Any, ...]]:
    """Yields rows from the first up to one that cannot be read, and then from the last down to one."""
    for order in ("asc", "desc"):
        by = ", ".join(f'"{key}" {order}' for key in keys)
        try:
            yield from source.execute(f"select {quoted(columns)} from {name} order by {by}")
        except UNUSABLE:
            continue
        return


def _readable(damaged: Path) -> sqlite3.Connection:
    """Opens the file to be read, or if it cannot be, a copy in memory.

    There the header and the list of tables are put as this program makes them, without views: reading one may
    never end.
    """
    if not is_plain(damaged):
        return sqlite3.connect(":memory:")
    source = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    try:
        if not source.execute("select 1 from sqlite_master where type = 'view'").fetchone():
            source.execute("select count(*) from memory_version").fetchone()
            return source
    except UNUSABLE:
        pass
    source.close()
    copy = sqlite3.connect(":memory:", isolation_level=None)
    data = bytearray(damaged.read_bytes())
    data[: len(MAGIC)], data[WAYS] = MAGIC, NO_LOG
    # Of a file that was cut, what is left is read only where the number of pages is right.
    missing = int.from_bytes(data[PAGE_SIZE]) * int.from_bytes(data[PAGE_COUNT]) - len(data)
    data.extend(bytes(missing if 0 < missing < MOST_MISSING * len(data) else 0))
    with suppress(*UNUSABLE):
        copy.deserialize(bytes(data))
        copy.execute("pragma writable_schema = on")
        copy.execute("delete from sqlite_master where type = 'view'")
        for tables in ALL:
            for statement in statements(tables.script):
                kind, name = statement.split()[1:3]
                if kind == "table":
                    change = "update sqlite_master set sql = ? where type = 'table' and name = ?"
                    copy.execute(change, (statement.strip(), name))
        copy.execute("pragma writable_schema = reset")
    return copy
