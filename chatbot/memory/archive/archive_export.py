"""Opens all of a store that users fill, and writes it into an archive."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import chatbot
from chatbot.errors import ProjectError, StoreError
from chatbot.memory.archive.archive_file import FORMAT, ArchiveWriter, Manifest, why_invalid
from chatbot.memory.archive.archive_records import (
    ArchivedRecord,
    NewsRecord,
    Reading,
    RemovedNewsRecord,
    Telling,
)
from chatbot.memory.archive.archived_kinds import CATALOG_KINDS, KEYS, MEMORY_KINDS, Kind, Read
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
from chatbot.store.kept_copies import copies_of, copy_name
from chatbot.store.lock import StoreLock, release
from chatbot.store.migration.migration_mark import unless_unfinished

__all__ = ["OpenedStore", "Tally", "export_store", "opened_store"]

Model = TypeVar("Model", bound=ArchivedRecord)
# Called with (kind, "exporting", "checking" or "importing", done, all).
Progress = Callable[[str, str, int, int], None]
NEWS_AT_ONCE, BYTES_AT_ONCE = 200, 2**20


@dataclass(slots=True)
class Tally:
    """What became of the records of one kind. skipped: reason -> what the records are called."""

    kind: str
    done: int = 0
    there: int = 0
    skipped: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


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


def export_store(
    store: OpenedStore, path: Path, progress: Progress, *, with_documents: bool = False
) -> Iterator[Tally]:
    """Writes an archive, and yields what is in it of each kind. It is in its place at the end.

    with_documents: whether the kept copies of the documents go into it too. Raises StoreError, OSError.
    """
    with closing(ArchiveWriter(path)) as writer:
        databases = ((store.keys, (KEYS,)), (store.catalog.database, CATALOG_KINDS))
        for database, kinds in (*databases, (store.memories.database, MEMORY_KINDS)):
            for kind in kinds:
                tally = Tally(kind.name)
                tally.done = writer.add(f"{kind.name}.jsonl", _lines(kind, database.read, tally, progress))
                yield tally
        yield from _news(store.signals, writer)
        if with_documents:
            yield _documents(store, writer, progress)
        given = store.keys.highest_number("api_key", "id")
        writer.finish(
            Manifest(format=FORMAT, program=chatbot.__version__, made_at=time.time(), keys_given=given)
        )


def _lines(kind: Kind, read: Read, tally: Tally, progress: Progress) -> Iterator[bytes]:
    ((total,),) = read(f"select count(*) from ({kind.source}) as listed", ())
    for done, row in enumerate(kind.rows(read), 1):
        try:
            line = kind.record_of(row).line()
        except (ValueError, TypeError, AttributeError) as error:
            tally.skipped[why_invalid(error)].append(f"{row[0]} {row[1]}")
        else:
            yield line
        progress(kind.name, "exporting", done, max(done, total))


def _news(signals: Signals, writer: ArchiveWriter) -> Iterator[Tally]:
    with signals.archived() as connection:
        for name, records in (
            ("news", _every_event(connection) if connection else ()),
            ("removed_news", _removed(connection) if connection else ()),
        ):
            yield Tally(name, writer.add(f"{name}.jsonl", (record.line() for record in records)))


def _every_event(connection: Connection) -> Iterator[ArchivedRecord]:
    after = 0
    while rows := events.every_event(connection, NEWS_AT_ONCE, after=after):
        for after, text, tellings, readings in rows:  # noqa: B007
            yield NewsRecord(
                text=text,
                tellings=tuple(_named(Telling, telling) for telling in tellings or ()),
                readings=tuple(_named(Reading, reading) for reading in readings or ()),
            )


def _removed(connection: Connection) -> Iterator[ArchivedRecord]:
    for digest, at in events.removed_news(connection):
        yield RemovedNewsRecord(sha256=digest, removed_at=at)


def _documents(store: OpenedStore, writer: ArchiveWriter, progress: Progress) -> Tally:
    copies, tally = copies_of(store.settings), Tally("copies")
    digests = sorted(store.catalog.hashes())
    for digest in digests:
        try:
            with copies.path_to_read(digest).open("rb") as file:
                parts = iter(lambda: file.read(BYTES_AT_ONCE), b"")
                writer.add(f"documents/{copy_name(digest)}", parts, of_lines=False)
        except ProjectError as error:
            tally.skipped[error.message].append(digest)
            continue
        tally.done += 1
        progress(tally.kind, "exporting", tally.done, len(digests))
    return tally


def _named(model: type[Model], values: Sequence[object]) -> Model:
    """A record of values in the order of its fields."""
    return model.model_validate_json(json.dumps(dict(zip(model.model_fields, values, strict=True))))
