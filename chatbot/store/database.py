"""Defines what the stores need of a database: an SQLite file or a schema of a Postgres, chosen by its place.

Statements are written once, in what both engines understand, with ? or ?1 for their arguments. Text sorts by
code points in both.
"""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM, Settings

__all__ = [
    "Changed",
    "ClosedError",
    "Database",
    "EarlierStoreError",
    "NewerStoreError",
    "Place",
    "PostgresPlace",
    "Schema",
    "Stored",
    "Transaction",
    "open_database",
    "place_of",
    "statements",
]


class EarlierStoreError(StoreError):
    """The store was made by an earlier version of the program, whose tables this one cannot use."""

    def __init__(self, what: str, found: int, needed: int) -> None:
        super().__init__(
            f"The {what} has version {found}, but this program needs {needed}.",
            hint=f"Export it with the version that made it (`{PROGRAM} export`), move it away, and "
            f"import the archive (`{PROGRAM} import`).",
        )


class NewerStoreError(StoreError):
    """The store was made by a later version of the program, and only that version should change it."""

    def __init__(self, what: str, found: int, supported: int) -> None:
        super().__init__(
            f"The {what} has version {found}, but this program supports {supported}.",
            hint="Update the program.",
        )


class ClosedError(StoreError):
    """The store was closed meanwhile, as when the server is being stopped."""

    def __init__(self) -> None:
        super().__init__("The store is closed.", hint="Start the program again.")


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A place in a Postgres.

    address: its connection string, which may contain a password.
    name: of the store, such as "catalog". It has the schema finpolicy_<name>.
    """

    address: str = field(repr=False)
    name: str


Place: TypeAlias = Path | PostgresPlace


@dataclass(frozen=True, slots=True)
class Schema:
    r"""The tables of a store.

    tables: statements that make them, each ending in ";\n".
    version: of these tables, from 1.
    """

    tables: str
    version: int


class Counted(Protocol):
    """How many rows were changed, by all statements of a call together."""

    @property
    def rowcount(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Changed:
    """A count of changed rows."""

    rowcount: int


class Outcome(Counted, Protocol):
    """What a statement found, or changed."""

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """A transaction under way."""

    def execute(self, statement: str, arguments: Sequence[Any] = ..., /) -> Outcome: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Counted: ...


class Database(ABC):
    """One store's tables. Any thread may read; writes happen one at a time, each one transaction.

    read_only: whether nothing can be written, as on a full disk.
    shared: whether other processes may use it too.

    Every method raises StoreError for what the engine refuses.
    """

    read_only = False
    shared = False

    def __init__(self) -> None:
        # What is claimed here.
        self._claiming, self._claimed = threading.Lock(), set[str]()

    @abstractmethod
    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows. In this thread's transaction it finds what that has written."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Transaction]:
        """Opens a transaction, committed at the end; what fails in it changes nothing."""

    @abstractmethod
    def close(self) -> None:
        """Ends all use, after the longest running statement or transaction."""

    @abstractmethod
    def complaints(self) -> list[str]:
        """Returns what the engine's own check finds wrong, at most ten lines; none if all is sound."""

    @abstractmethod
    def highest_number(self, table: str, column: str) -> int:
        """Returns the highest number that a column that counts up by itself was ever given; 0 for none."""

    @abstractmethod
    def number_from(self, table: str, column: str, number: int) -> None:
        """Lets such a column go on after a number."""

    @abstractmethod
    def used_bytes(self) -> int:
        """Returns how much space everything takes."""

    def free_bytes(self) -> int:
        """Returns how much more can be written, as far as that is known here."""
        return sys.maxsize

    def compact(self) -> bool:
        """Gives up the space of what was deleted. Returns False if a part of it still has to stay."""
        return True

    def shorten_log(self) -> None:  # noqa: B027
        """Keeps what is noted of finished transactions short, where that takes space beside the tables."""

    def check_version(self) -> None:  # noqa: B027
        """Raises NewerStoreError if a later version of the program has changed the tables meanwhile."""

    def claim(self, work: str) -> bool:
        """Keeps other threads and processes from some work, until it is released.

        That also happens when the process ends, however it does. Returns False if another has claimed it.
        """
        with self._claiming:
            free = work not in self._claimed
            self._claimed.add(work)
            return free

    def release(self, work: str) -> None:
        """Lets others do some work."""
        with self._claiming:
            self._claimed.discard(work)

    def claimed_elsewhere(self, works: Collection[str]) -> set[str]:
        """Returns the work that other processes have claimed."""
        return set()


class Stored:
    """A store in a database of its own, which it is kept in."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def close(self) -> None:
        """Closes the database, after the longest running statement or transaction."""
        self.database.close()

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows; see Database."""
        return self.database.read(statement, arguments)

    def write(self) -> AbstractContextManager[Transaction]:
        """Opens a transaction; see Database."""
        return self.database.write()

    def column(self, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        """Returns the first value of each row."""
        return [row[0] for row in self.database.read(statement, arguments)]

    def change(self, statement: str, arguments: Sequence[Any] = ()) -> int:
        """Runs one statement as a transaction of its own. Returns the number of changed rows."""
        with self.database.write() as connection:
            return connection.execute(statement, arguments).rowcount


def place_of(settings: Settings, name: str) -> Place:
    """Returns where a store is kept: in the database of the settings, else in a file of the home."""
    if settings.database:
        return PostgresPlace(settings.database, name)
    return settings.store / f"{name}.sqlite3"


def open_database(place: Place, schema: Schema, *, read_only: bool = False) -> Database:
    """Opens a database, with its tables.

    read_only: waits for nobody and changes nothing.

    Raises StoreError if it cannot be used or is of another version.
    """
    if isinstance(place, PostgresPlace):
        from chatbot.store.postgres_database import PostgresDatabase

        return PostgresDatabase(place, schema, read_only=read_only)
    from chatbot.store.sqlite_file import SqliteFile

    return SqliteFile(place, schema, read_only=read_only)


def statements(script: str) -> list[str]:
    r"""Returns the statements of a script, each of which ends in ";\n"."""
    return [statement for statement in script.split(";\n") if statement.strip()]
