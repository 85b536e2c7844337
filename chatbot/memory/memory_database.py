"""Opens the database of all memories, makes each memory's tables, and explains errors to the user."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.database import (
    EarlierStoreError,
    NewerStoreError,
    Place,
    PostgresPlace,
    Schema,
    Stored,
    open_database,
    place_of,
    statements,
)
from chatbot.store.discarding import delete
from chatbot.store.migration.migration_mark import unless_unfinished
from chatbot.store.sqlite_file import SqliteFile, set_aside
from chatbot.store.store_clock import StoreClock

__all__ = [
    "CLOCK",
    "NAME",
    "DamagedError",
    "MemoryDatabase",
    "Tables",
    "check_version",
    "keep_latest",
    "open_memories",
]

log = logging.getLogger(__name__)
Value = TypeVar("Value")


NAME = "memory"
SCHEMA = Schema(
    "create table memory_version (memory text primary key, version integer not null) without rowid;\n", 2
)
# Seconds to wait for another program that holds the file; an answer waits as long.
BUSY_SECONDS = 3
# What the names of files end in that could not be read, before the time.
DAMAGED = "damaged"


class DamagedError(StoreError):
    """The file is no database, or is broken: nothing in it can be read."""


@dataclass(frozen=True, slots=True)
class Tables:
    r"""The tables of one memory.

    memory: its name.
    script: statements that make them, each ending in ";\n".
    version: of these.
    """

    memory: str
    script: str
    version: int = 1


CLOCK = Tables("clock", "create table meta (key text primary key, value text not null) without rowid;\n")


class MemoryDatabase(Stored):
    """One database for all memories, or none, if everything is kept in memory.

    Reads from any thread, writes one at a time, also beside other processes.
    """

    def __init__(self, place: Place | None) -> None:
        """place: None for what is never written to disk.

        Raises StoreError if it cannot be used, DamagedError if nothing of it can be read.
        """
        super().__init__(
            open_database(place, SCHEMA) if isinstance(place, PostgresPlace) else MemoryFile(place)
        )
        self._place = place

    @cached_property
    def clock(self) -> StoreClock:
        """By which memories are deleted, and erased."""
        with suppress(StoreError):  # on a full disk
            self.prepare(CLOCK)
        return StoreClock(self.database)

    def prepare(self, tables: Tables) -> None:
        """Make the tables of one memory unless they are there.

        Raises StoreError, as EarlierStoreError or NewerStoreError if another version of the program did.
        """
        if self._has(tables):
            return
        with self.write() as connection:
            if self._has(tables):  # others have made them meanwhile
                return
            for statement in statements(tables.script):
                connection.execute(statement)
            connection.execute("insert into memory_version values (?, ?)", (tables.memory, tables.version))

    def _has(self, tables: Tables) -> bool:
        found = self.read("select version from memory_version where memory = ?", (tables.memory,))
        if found:
            check_version(tables.memory, int(found[0][0]), tables.version)
        return bool(found)

    def change_each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each of these rows of arguments, in one transaction. Raises StoreError."""
        with self.write() as connection:
            connection.executemany(statement, rows)

    def erased(self) -> None:
        """Make sure that what was just deleted cannot be recovered.

        It is left in no file: neither in this one, nor in one that was set aside as damaged. A Postgres
        overwrites it in its own time.
        """
        if not self.database.compact():
            log.warning(
                "Another program is reading the memories. Deleted text leaves their log when that ends."
            )
        if not isinstance(self._place, Path):
            return
        for path in self._place.parent.glob(f"*.{DAMAGED}*"):
            delete(path)


class MemoryFile(SqliteFile):
    """The file of all memories, or what stands for it in memory."""

    def __init__(self, path: Path | None) -> None:
        """path: None for what is never written to disk."""
        self._in_memory = path is None
        # What has no file is there for the one connection that made it.
        self._connection_each = not self._in_memory
        super().__init__(path or Path("memory"), SCHEMA)

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows. Raises StoreError."""
        with nullcontext() if self._connection_each else self._write_lock:
            return super().read(statement, arguments)

    def _address(self) -> str:
        if self._in_memory:
            return "file::memory:"
        return super()._address()

    def _busy_seconds(self) -> float:
        return BUSY_SECONDS

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Bytes that are no text must not keep the other rows from being read.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        super()._prepare(connection)

    def _unusable(self, error: Exception) -> StoreError:
        """What an error of SQLite means for the user."""
        found = super()._unusable(error)
        if found.retryable:
            return found
        text = str(error)
        name = self._path.name
        if "locked" in text or "busy" in text:
            return StoreError(
                f"Another program is using the memories ({name}).",
                hint="Close it and try again. Nothing stored is lost.",
                retryable=True,
            )
        if "readonly" in text or "unable to open" in text:
            return StoreError(
                f"The memories cannot be written: {text}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            )
        hint = f"Move {self._path} away. This does not affect the documents."
        broken = isinstance(error, UnicodeDecodeError) or "not a database" in text or "malformed" in text
        kind = DamagedError if broken else StoreError
        return kind(f"The memories ({name}) cannot be used: {text}.", hint=hint)

    def _damaged(self, how: str) -> StoreError:
        return DamagedError(f"The memories ({self._path.name}) cannot be used: {how}.")


def check_version(memory: str, found: int, supported: int) -> None:
    """Raises StoreError if a memory's tables are not of the version that this program makes."""
    if found < 0:
        raise StoreError(
            f"The {memory} memory has version {found}, which no program gives.",
            hint=f"Put {NAME}.sqlite3 back from a backup.",
        )
    if found > supported:
        raise NewerStoreError(f"{memory} memory", found, supported)
    if found < supported:
        raise EarlierStoreError(f"{memory} memory", found, supported)


def keep_latest(kept: OrderedDict[str, Value], key: str, value: Value, most: int) -> None:
    """Keep a value as the latest of at most so many; the oldest goes first."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)


def open_memories(settings: Settings, *, mend: bool = False) -> tuple[MemoryDatabase, Path | None]:
    """(the memories of a store, where a damaged file was set aside; None for the latter if it is sound).

    A file that is no sound database is set aside so that documents can still be asked. Its whole rows are
    saved before. Raises StoreError.

    mend: whether that is also done with a file of which only a part is damaged.
    """
    from chatbot.memory.salvage import damage_of

    place = place_of(settings, NAME)
    try:
        memories = unless_unfinished(settings, MemoryDatabase(place))
    except DamagedError as error:
        return _renewed(settings.store / f"{NAME}.sqlite3", error.message)
    if mend and isinstance(place, Path) and (damage := damage_of(memories)):
        memories.close()
        return _renewed(place, damage[0])
    return memories, None


def _renewed(path: Path, damage: str) -> tuple[MemoryDatabase, Path]:
    """Puts a new file with all whole rows in place of a damaged one, and returns where that is now.

    Until all of them are saved, the damaged file stays where it is.
    """
    from chatbot.memory.salvage import save_rows

    saving = path.with_name(f"{path.name}.saving")
    for part in ("-wal", "-shm", ""):
        saving.with_name(saving.name + part).unlink(missing_ok=True)
    saved = MemoryDatabase(saving)
    try:
        count = save_rows(path, saved)
        saved.database.compact()
    finally:
        saved.close()
    aside = set_aside(path, f"{DAMAGED}-{time.strftime('%Y%m%d-%H%M%S')}")
    saving.rename(path)
    log.warning("%s %s rows of it were saved. It was moved to %s.", damage, count, aside.name)
    return MemoryDatabase(path), aside
