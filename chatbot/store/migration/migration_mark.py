"""Notes in the place that a store is moved to where it comes from, and whether all of it is there."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.database import Database, Schema, Stored, Transaction, open_database, place_of
from chatbot.store.postgres_pool import LOCKED, claim_key

__all__ = ["CLAIMING", "WORK", "MigrationMark", "refuse_unfinished", "shown_parts", "unless_unfinished"]

Opened = TypeVar("Opened", bound=Stored)
SCHEMA = Schema(
    "create table migration (target text primary key, source text not null, finished_at real) without rowid;"
    "\n",
    1,
)
# What a migration claims in each database that it reads or writes, and by which store.
WORK, CLAIMING = "migration", "catalog"
# Of the database; and its table as other schemas of a Postgres name it.
NAME, SERVED = "migration", "finpolicy_migration.migration"
SEPARATOR = " | "
UNFINISHED = "select target, source from {} where finished_at is null"


class MigrationMark(Stored):
    """The note of one migration, and those of others to the same databases.

    finished: whether it has ended, and everything was equal then.
    unfinished_source: of another migration that was begun here and not finished; "" for none.
    left_in: where unfinished migrations from this source, which went to other places too, have left what they
        brought.
    """

    def __init__(self, source: Settings, target: Settings) -> None:
        """Opens it in the database of the target. Raises StoreError."""
        super().__init__(open_database(place_of(target, NAME), SCHEMA))
        self._source, self._target = (SEPARATOR.join(shown_parts(one)) for one in (source, target))
        done = "select 1 from migration where target = ? and source = ? and finished_at is not null"
        self.finished = bool(self.read(done, (self._target, self._source)))
        unfinished = self.read(UNFINISHED.format("migration"))
        self.unfinished_source = next((row[1] for row in unfinished), "")
        left = [target.split(SEPARATOR) for target, source in unfinished if source == self._source]
        self.left_in = {part for parts in left for part in parts}

    def begin(self) -> None:
        """Notes the begin, in place of one from another source, or of an unfinished one to other places."""
        with self.write() as changes:
            changes.execute("delete from migration where source = ? and finished_at is null", (self._source,))
            self._note(changes, None)

    def finish(self) -> None:
        """Notes that everything is there."""
        with self.write() as changes:
            self._note(changes, time.time())

    def _note(self, changes: Transaction, finished_at: float | None) -> None:
        changes.execute(
            "insert into migration values (?, ?, ?) on conflict (target) do update set"
            " source = excluded.source, finished_at = excluded.finished_at",
            (self._target, self._source, finished_at),
        )


def refuse_unfinished(settings: Settings, opened: Database, *, moving: bool = False) -> None:
    """Raises StoreError if the databases of a store were not moved here completely, or are being moved.

    opened: any of them.
    moving: whether a migration asks, which is told only of what was not moved completely.
    """
    place = place_of(settings, NAME)
    rows: list[tuple[Any, ...]] = []
    if isinstance(place, Path):
        if place.exists():
            with closing(open_database(place, SCHEMA, read_only=True)) as file:
                rows = file.read(UNFINISHED.format("migration"))
    elif opened.read("select to_regclass(?) is not null", (SERVED,))[0][0]:
        rows = opened.read(UNFINISHED.format(SERVED))
    for target, source in rows:
        if target.split(SEPARATOR)[0] != source.split(SEPARATOR)[0]:
            raise StoreError(
                f"Not all of the store has been moved here from {source.split(SEPARATOR)[0]}.",
                hint="Give the same `migrate` command again, or use the store where it was.",
            )
    claim = claim_key(f"finpolicy_{CLAIMING}", WORK)
    if settings.database and not moving and opened.read(LOCKED.format("?"), (claim,)):
        raise StoreError(
            "The store is being moved.",
            hint="Wait until the migration has ended, then try again.",
            retryable=True,
        )


def unless_unfinished(settings: Settings, opened: Opened) -> Opened:
    """Returns a part of a store that was opened. Closes it and raises as refuse_unfinished does."""
    try:
        refuse_unfinished(settings, opened.database)
    except BaseException:
        opened.close()
        raise
    return opened


def shown_parts(settings: Settings) -> tuple[str, str, str]:
    """Returns where (database, vectors, copies) of a store are, without a password."""
    from chatbot.store.object_files import shown_objects
    from chatbot.store.postgres_faults import shown_address

    folder = settings.store.resolve()
    return (
        shown_address(settings.database) if settings.database else str(folder),
        settings.chroma_url or str(folder / "vectors"),
        shown_objects(settings.objects) if settings.objects else str(settings.documents.resolve()),
    )
