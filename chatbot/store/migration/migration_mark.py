"""Notes in the place that a store is moved to where it comes from, and whether all of it is there."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.database import Database, Schema, Stored, open_database, place_of
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
    left_in: where unfinished migrations from this source, which went to other places too, have left what they
        brought.
    """

    def __init__(self, source: Settings, target: Settings) -> None:
        """Opens it in the database of the target. Raises StoreError."""
        super().__init__(open_database(place_of(target, NAME), SCHEMA))
        self._places = tuple(SEPARATOR.join(shown_parts(one)) for one in (target, source))
        rows = self.read("select target, source from migration where finished_at is not null")
        self.finished = self._places in rows
        left = self.read(f"{UNFINISHED.format('migration')} and source = ?", self._places[1:])
        self.left_in = {part for place, _ in left for part in place.split(SEPARATOR)}

    def note(self, finished_at: float | None = None) -> None:
        """Notes the begin or the end, in place of other unfinished ones from this source."""
        with self.write() as changes:
            changes.execute(
                "delete from migration where target = ? or (source = ? and finished_at is null)", self._places
            )
            changes.execute("insert into migration values (?, ?, ?)", (*self._places, finished_at))


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
    for to, source in (map(_database_in, row) for row in rows):
        if to != source:
            raise StoreError(
                f"Not all of the store has been moved here from {source}.",
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


def _database_in(place: str) -> str:
    return place.partition(SEPARATOR)[0]
