"""Opens all of a store that users fill, and writes it into an archive."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import chatbot
from chatbot.errors import ProjectError, StoreError
from chatbot.memory.archive.archive_file import FORMAT, ArchiveWriter, Manifest, why_invalid
from chatbot.memory.archive.archive_records import (
    CATALOG_RECORDS,
    MEMORY_RECORDS,
    NEWS_RECORDS,
    ArchivedRecord,
    KeyRecord,
    NewsRecord,
    Read,
    Reading,
    RemovedNewsRecord,
    SkippedError,
    Telling,
)
from chatbot.memory.legacy_files import take_over
from chatbot.memory.memory_database import MemoryDatabase, open_memories
from chatbot.memory.memory_tables import ALL
from chatbot.memory.signals import events
from chatbot.memory.signals.postgres import Connection
from chatbot.memory.signals.signal_layer import options_in
from chatbot.memory.signals.signal_store import Signals
from chatbot.models.embedders import make_embedder
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.catalog import NAME, Catalog
from chatbot.store.database import Database, place_of
from chatbot.store.lock import StoreLock, release
from chatbot.store.migration.migration_mark import unless_unfinished

__all__ = ["OpenedStore", "Tally", "export_store", "opened_store"]

Model = TypeVar("Model", bound=ArchivedRecord)
# Called with (kind, "exporting", "checking" or "importing", done, all).
Progress = Callable[[str, str, int, int], None]
NEWS_AT_ONCE = 200


@dataclass(slots=True)
class Tally:
    """What became of the records of one kind. skipped: reason -> what the records are called."""

    kind: str
    done: int = 0
    there: int = 0
    skipped: dict[str, list[str]] = field(default_factory=dict)

    def skip(self, reason: str, called: str) -> None:
        """Counts a record that was left out."""
        self.skipped.setdefault(reason, []).append(called)


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """The databases of a store, without its indexes. keys: of the API."""

    settings: Settings
    catalog: Catalog
    memories: MemoryDatabase
    keys: Database
    signals: Signals


@contextmanager
def opened_store(settings: Settings, signals: Signals | None = None) -> Iterator[OpenedStore]:
    """Opens the databases of a store, and takes its lock.

    signals: those of a chatbot that has the store open, and so the lock. Raises StoreError.
    """
    with ExitStack() as opened:
        if signals is None and not settings.database:
            opened.callback(release, StoreLock(settings.store / "store.lock"))
        catalog = unless_unfinished(settings, Catalog(place_of(settings, NAME)))
        opened.enter_context(closing(catalog))
        memories, damaged = open_memories(settings)
        opened.enter_context(closing(memories))
        embedder = make_embedder(settings)
        if not settings.database:
            damaged = damaged or take_over(memories, settings.store, embedder)
        if damaged:
            raise StoreError(
                f"The memories could not be read, and were moved to {damaged}.",
                hint="Put a backup in their place, or give the command again to go on without them.",
            )
        for tables in ALL:
            memories.prepare(tables)
        keys = opened.enter_context(closing(open_api_keys(settings)))
        if signals is None:
            signals = Signals(settings.store / "signals", embedder, options_in(settings), database=memories)
            opened.enter_context(closing(signals))
        yield OpenedStore(settings, catalog, memories, keys.database, signals)


def export_store(store: OpenedStore, path: Path, progress: Progress) -> Iterator[Tally]:
    """Writes an archive, and yields what is in it of each kind. It is in its place at the end.

    Raises StoreError, OSError.
    """
    with closing(ArchiveWriter(path)) as writer:
        databases = ((store.catalog.database, CATALOG_RECORDS), (store.memories.database, MEMORY_RECORDS))
        for database, records in ((store.keys, (KeyRecord,)), *databases):
            for record in records:
                tally = Tally(record.kind)
                lines = _lines(record, database.read, tally, progress)
                tally.done = writer.add(f"{record.kind}.jsonl", lines)
                yield tally
        with store.signals.archived() as connection:
            found: tuple[Iterable[ArchivedRecord], ...] = ((), ())
            if connection is not None:
                found = (_every_event(connection), _removed(connection))
            for record, news in zip(NEWS_RECORDS, found, strict=True):
                yield Tally(record.kind, writer.add(f"{record.kind}.jsonl", (one.line() for one in news)))
        given = store.keys.highest_number("api_key", "id")
        writer.finish(
            Manifest(format=FORMAT, program=chatbot.__version__, made_at=time.time(), keys_given=given)
        )


def _lines(record: type[ArchivedRecord], read: Read, tally: Tally, progress: Progress) -> Iterator[bytes]:
    ((total,),) = read(f"select count(*) from ({record.select(record.keys)}) as every", ())
    for done, row in enumerate(record.rows(read), 1):
        called = " ".join(str(row[key]) for key in record.keys)
        try:
            found = record.of_row(row)
            with suppress(SkippedError):  # by this version; a later one may take it
                found.check()
        except (ValueError, TypeError, ProjectError) as error:
            tally.skip(why_invalid(error), called)
        else:
            yield found.line()
        progress(record.kind, "exporting", done, max(done, total))


def _every_event(connection: Connection) -> Iterator[ArchivedRecord]:
    after = 0
    while rows := events.every_event(connection, NEWS_AT_ONCE, after=after):
        for _, text, tellings, readings in rows:
            told, read = _each(Telling, tellings), _each(Reading, readings)
            yield NewsRecord(text=text, tellings=told, readings=read)
        after = rows[-1][0]


def _removed(connection: Connection) -> Iterator[ArchivedRecord]:
    for digest, at in events.removed_news(connection):
        yield RemovedNewsRecord(sha256=digest, removed_at=at)


def _each(model: type[Model], rows: Sequence[Sequence[object]] | None) -> tuple[Model, ...]:
    """Records of values in the order of their fields."""
    values = [dict(zip(model.model_fields, row, strict=True)) for row in rows or ()]
    return tuple(model.model_validate_json(json.dumps(one)) for one in values)
