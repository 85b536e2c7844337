"""Makes a table of one database equal to that of another, in batches, wherever an earlier attempt stopped.

Both are read in the order of the primary key, and each batch of the source is laid beside what the target has
of it. So a repeated attempt writes only what is missing, and follows a source that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chatbot.store.database import Database
from chatbot.store.migration.row_values import Row, TableSum, normalised, summary_of
from chatbot.store.migration.table_shapes import TableShape, quoted

__all__ = ["MovedTable", "counted"]

# Rows in one statement and one transaction.
ROWS_AT_ONCE = 500
Told = Callable[[int], None]


class MovedTable:
    """One table in two databases, read from the source and written to the target."""

    def __init__(self, shape: TableShape, source: Database, target: Database, *, only: str = "true") -> None:
        """only: a condition for the rows that are looked at, the same in both."""
        self.shape, self._source, self._target, self._only = shape, source, target, only

    def delete_surplus(self) -> int:
        """Deletes rows of the target that the source lacks, and returns their number. Raises StoreError."""
        shape = self.shape
        after: Row = ()
        deleted = 0
        where = f"({shape.key_columns}) = ({shape.marks})"
        for batch in self._batches(self._target):
            last = self._key(batch[-1])
            kept = {self._key(row) for row in self._between(self._source, after, last)}
            surplus = [key for key in map(self._key, batch) if key not in kept]
            if surplus:
                with self._target.write() as changes:
                    changes.executemany(f"delete from {shape.name} where {where}", surplus)
            after = last
            deleted += len(surplus)
        return deleted

    def copy(self, told: Told) -> None:
        """Writes what the target lacks, or has otherwise. told: of the rows so far. Raises StoreError."""
        after: Row = ()
        done = 0
        for batch in self._batches(self._source):
            last = self._key(batch[-1])
            held = set(self._between(self._target, after, last))
            missing = [row for row in batch if row not in held]
            if missing:
                with self._target.write() as changes:
                    changes.executemany(self._statement(), missing)
            after = last
            done += len(batch)
            told(done)
        self._carry_numbers_on()

    def compared(self, told: Told) -> tuple[TableSum, TableSum]:
        """Sums up the rows of the source and those of the target, with the highest number given."""
        before, after = (summary_of(self._rows(database, told)) for database in (self._source, self._target))
        numbers = [highest_number(database, self.shape) for database in (self._source, self._target)]
        if numbers[0] == numbers[1]:
            return before, after
        return before, TableSum(after.count, f"ids from {numbers[1] + 1}")

    def _rows(self, database: Database, told: Told) -> Iterator[Row]:
        done = 0
        for batch in self._batches(database):
            yield from batch
            done += len(batch)
            told(done)

    def _batches(self, database: Database, after: Row = (), last: Row = ()) -> Iterator[list[Row]]:
        """The rows after a key up to another one, () for the begin and the end.

        Each batch has a limit, without which a Postgres might rather sort the whole table.
        """
        shape = self.shape
        upto = [f"({shape.key_columns}) <= ({shape.marks})"] if last else []
        batch: list[Row] = []
        while len(batch) == ROWS_AT_ONCE or not batch:
            beyond = [f"({shape.key_columns}) > ({shape.marks})"] if after else []
            rows = database.read(
                f"select {quoted(shape.columns)} from {shape.name} "
                f"where {' and '.join([self._only, *beyond, *upto])} "
                f"order by {shape.key_columns} limit {ROWS_AT_ONCE}",
                (*after, *last),
            )
            if not rows:
                return
            batch = [normalised(shape, row) for row in rows]
            yield batch
            after = self._key(batch[-1])

    def _between(self, database: Database, after: Row, last: Row) -> Iterator[Row]:
        for batch in self._batches(database, after, last):
            yield from batch

    def _key(self, row: Row) -> Row:
        return tuple(row[at] for at in self.shape.key)

    def _statement(self) -> str:
        shape = self.shape
        others = [name for at, name in enumerate(shape.columns) if at not in shape.key]
        changed = ", ".join(f'"{name}" = excluded."{name}"' for name in others)
        return (
            f"insert into {shape.name} ({quoted(shape.columns)}) values "
            f"({', '.join('?' * len(shape.columns))}) on conflict ({shape.key_columns}) "
            f"do {f'update set {changed}' if changed else 'nothing'}"
        )

    def _carry_numbers_on(self) -> None:
        """Lets the target give numbers after the highest that the source has given."""
        number = highest_number(self._source, self.shape)
        if number:
            self._target.number_from(self.shape.name, self.shape.columns[self.shape.key[0]], number)


def counted(database: Database, shape: TableShape) -> int:
    """Returns the number of rows."""
    ((count,),) = database.read(f"select count(*) from {shape.name}")
    return int(count)


def highest_number(database: Database, shape: TableShape) -> int:
    """Returns the highest number that a table has given its rows, also to those deleted; 0 for none."""
    if not shape.numbered:
        return 0
    ((highest,),) = database.read(f"select coalesce(max({shape.key_columns}), 0) from {shape.name}")
    if not shape.never_again:
        return int(highest)
    return max(int(highest), database.highest_number(shape.name, shape.columns[shape.key[0]]))
