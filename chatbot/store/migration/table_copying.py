"""Copies the tables of one database into another, in batches, and compares both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from chatbot.store.database import Database, Place, Schema
from chatbot.store.migration.table_shapes import (
    Row,
    TableShape,
    TableSum,
    normalised,
    quoted,
    shapes_of,
    summary_of,
)

__all__ = ["MovedPart", "MovedTable", "counted"]

# Rows in one statement and one transaction.
ROWS_AT_ONCE = 500
Told = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class MovedPart:
    """One database of a store.

    name: of it, as place_of takes it.
    scripts: returns the statements that made the tables of one.
    prepare: makes those tables in another place, beyond what opening it makes.
    only: name of a table -> a condition for those of its rows that belong to the store.
    """

    name: str
    schema: Schema
    scripts: Callable[[Database], Sequence[str]]
    prepare: Callable[[Place, Database], None] = lambda place, source: None
    only: Mapping[str, str] = field(default_factory=dict)

    def shapes(self, database: Database) -> list[TableShape]:
        """Returns the tables that are in a database, each after those that it refers to. Raises StoreError
        if they are of another version.
        """
        return shapes_of(self.scripts(database))


class MovedTable:
    """One table in two databases, read from the source and written to the target.

    what: the part and the table, for display.
    rows: of the source when it was opened.
    """

    def __init__(self, part: MovedPart, shape: TableShape, source: Database, target: Database) -> None:
        self.what, self.rows = f"{part.name} {shape.name}", counted(source, shape)
        self._shape, self._source, self._target = shape, source, target
        # A condition for the rows that are looked at, the same in both.
        self._only = part.only.get(shape.name, "true")

    def clear(self) -> None:
        """Deletes the rows of the target. Raises StoreError."""
        shape, deleted = self._shape, ROWS_AT_ONCE
        some = f"select {shape.key_columns} from {shape.name} where {self._only} limit {ROWS_AT_ONCE}"
        while deleted == ROWS_AT_ONCE:
            with self._target.write() as changes:
                gone = changes.execute(f"delete from {shape.name} where ({shape.key_columns}) in ({some})")
                deleted = gone.rowcount

    def copy(self, told: Told) -> None:
        """Writes all rows into the target, which has none.

        told: of the rows so far. Raises StoreError.
        """
        shape = self._shape
        marks = ", ".join("?" * len(shape.columns))
        changed = ", ".join(f'"{name}" = excluded."{name}"' for name in shape.columns)
        put = (
            f"insert into {shape.name} ({quoted(shape.columns)}) values ({marks}) "
            f"on conflict ({shape.key_columns}) do update set {changed}"
        )
        for batch in self._batches(self._source, told):
            with self._target.write() as changes:
                changes.executemany(put, batch)
        # The target gives numbers after the highest that the source has given.
        if number := _highest_number(self._source, shape):
            self._target.number_from(shape.name, shape.columns[shape.key[0]], number)

    def compared(self, told: Told) -> tuple[TableSum, TableSum]:
        """Sums up the rows of the source and those of the target, with the highest number given."""
        databases = (self._source, self._target)
        before, after = (
            summary_of(chain.from_iterable(self._batches(database, told))) for database in databases
        )
        numbers = [_highest_number(database, self._shape) for database in databases]
        if numbers[0] == numbers[1]:
            return before, after
        return before, TableSum(after.count, f"ids from {numbers[1] + 1}")

    def _batches(self, database: Database, told: Told) -> Iterator[list[Row]]:
        """The rows in the order of the primary key.

        Each batch has a limit, without which a Postgres might rather sort the whole table.
        """
        shape, done = self._shape, 0
        batch: list[Row] = []
        last: Row = ()
        while len(batch) == ROWS_AT_ONCE or not done:
            beyond = f" and ({shape.key_columns}) > ({', '.join('?' * len(last))})" if last else ""
            rows = database.read(
                f"select {quoted(shape.columns)} from {shape.name} where {self._only}{beyond} "
                f"order by {shape.key_columns} limit {ROWS_AT_ONCE}",
                last,
            )
            if not rows:
                return
            batch = [normalised(shape, row) for row in rows]
            yield batch
            last = tuple(batch[-1][at] for at in shape.key)
            done += len(batch)
            told(done)


def counted(database: Database, shape: TableShape) -> int:
    """Returns the number of rows."""
    ((count,),) = database.read(f"select count(*) from {shape.name}")
    return int(count)


def _highest_number(database: Database, shape: TableShape) -> int:
    """Returns the highest number that a table has given its rows, also to those deleted; 0 for none."""
    if not shape.numbered:
        return 0
    ((highest,),) = database.read(f"select coalesce(max({shape.key_columns}), 0) from {shape.name}")
    if not shape.never_again:
        return int(highest)
    return max(int(highest), database.highest_number(shape.name, shape.columns[shape.key[0]]))
