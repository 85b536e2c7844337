"""Copies the tables of one database into another, in one transaction, and compares both."""

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

__all__ = ["ComparedPart", "MovedDatabase", "MovedPart", "Progress"]

# Rows in one statement.
ROWS_AT_ONCE = 500
# (what, "moving" or "comparing", done, all).
Progress = Callable[[str, str, int, int], None]


@dataclass(frozen=True, slots=True)
class MovedPart:
    """One database of a store.

    name: of it, as place_of takes it.
    scripts: returns the statements that made the tables of one. Raises StoreError if they are of another
        version.
    prepare: makes those tables in another place, beyond what opening it makes.
    only: name of a table -> a condition for those of its rows that belong to the store.
    """

    name: str
    schema: Schema
    scripts: Callable[[Database], Sequence[str]]
    prepare: Callable[[Place, Database], None] = lambda place, source: None
    only: Mapping[str, str] = field(default_factory=dict)

    def counts(self, database: Database) -> dict[str, int]:
        """Returns table -> number of its rows."""
        names = [shape.name for shape in shapes_of(self.scripts(database))]
        return {name: database.read(f"select count(*) from {name}")[0][0] for name in names}


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """A table, the copies or an index, before and after. what: such as "catalog page"."""

    what: str
    before: TableSum
    after: TableSum

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return self.before == self.after


class MovedDatabase:
    """One database of a store, where it is and where it goes."""

    def __init__(self, part: MovedPart, source: Database, target: Database, progress: Progress) -> None:
        self._part, self._source, self._target, self._progress = part, source, target, progress
        # Each after those that it refers to.
        self._shapes = shapes_of(part.scripts(source))
        self._counts = part.counts(source)

    def copy(self) -> None:
        """Writes all rows into the target in place of those that are there, or none. Raises StoreError."""
        with self._target.write() as changes:
            for shape in reversed(self._shapes):
                key, only = shape.key_columns, self._only(shape)
                some = f"select {key} from {shape.name} where {only} limit {ROWS_AT_ONCE}"
                while changes.execute(f"delete from {shape.name} where ({key}) in ({some})").rowcount:
                    pass
            for shape in self._shapes:
                marks = ", ".join("?" * len(shape.columns))
                put = f"insert into {shape.name} ({quoted(shape.columns)}) values ({marks})"
                for batch in self._batches(self._source, shape, "moving"):
                    changes.executemany(put, batch)
        for shape in self._shapes:
            if shape.numbered:
                self._go_on_with_numbers(shape)

    def compared(self) -> Iterator[ComparedPart]:
        """Yields the sums of each table's rows in the source and in the target."""
        for shape in self._shapes:
            before, after = (
                summary_of(chain.from_iterable(self._batches(database, shape, "comparing")))
                for database in (self._source, self._target)
            )
            yield ComparedPart(f"{self._part.name} {shape.name}", before, after)

    def _go_on_with_numbers(self, shape: TableShape) -> None:
        """Has the target give numbers after the highest that the source has given, also to rows since
        deleted.
        """
        column = shape.columns[shape.key[0]]
        ((highest,),) = self._source.read(f"select coalesce(max({column}), 0) from {shape.name}")
        if shape.never_again:
            highest = max(highest, self._source.highest_number(shape.name, column))
        if highest:
            self._target.number_from(shape.name, column, highest)

    def _only(self, shape: TableShape) -> str:
        return self._part.only.get(shape.name, "true")

    def _batches(self, database: Database, shape: TableShape, phase: str) -> Iterator[list[Row]]:
        """The rows in the order of the primary key.

        Each batch has a limit, without which a Postgres might rather sort the whole table.
        """
        what, done, last = f"{self._part.name} {shape.name}", 0, Row()
        while True:
            beyond = f" and ({shape.key_columns}) > ({', '.join('?' * len(last))})" if last else ""
            rows = database.read(
                f"select {quoted(shape.columns)} from {shape.name} where {self._only(shape)}{beyond} "
                f"order by {shape.key_columns} limit {ROWS_AT_ONCE}",
                last,
            )
            if rows:
                yield [normalised(shape, row) for row in rows]
                last = tuple(rows[-1][at] for at in shape.key)
                done += len(rows)
                self._progress(what, phase, done, max(done, self._counts[shape.name]))
            if len(rows) < ROWS_AT_ONCE:
                return
