"""Puts the records of an archive into a store that may hold others already: nothing there is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from chatbot.errors import ProjectError
from chatbot.memory.archive.archive_export import OpenedStore, Progress, Tally
from chatbot.memory.archive.archive_file import ArchiveError, ArchiveReader, why_invalid
from chatbot.memory.archive.archive_records import (
    CATALOG_RECORDS,
    MEMORY_RECORDS,
    NEWS_RECORDS,
    ArchivedRecord,
    ConversationRecord,
    KeyRecord,
    SkippedError,
)
from chatbot.memory.cases.case_store import hidden
from chatbot.memory.signals import events
from chatbot.memory.signals.news_sources import news_hash
from chatbot.memory.signals.postgres import Connection
from chatbot.memory.signals.records import NewsItem, NewsReading
from chatbot.store.database import Transaction

__all__ = ["StoreImport"]

RECORDS: tuple[type[ArchivedRecord], ...] = (KeyRecord, *CATALOG_RECORDS, *MEMORY_RECORDS, *NEWS_RECORDS)
KINDS = {record.kind: record for record in RECORDS}
# How much smaller a store is than an archive's files, at most: it packs each answer.
PACKED = 4
OTHER = "it is different here, and stays as it is here"
NO_NUMBER = "another API key has its number here, or had it; make a new key"
OF_OTHER_KEY = "it belongs to an API key whose number another key has here"
NOT_HERE = "its conversation is not in the archive, or belongs to somebody else here"
UNKNOWN = "this version of the program does not know it"


class StoreImport:
    """One import. All of the archive is checked first; then each database takes it in one transaction.

    A record that is there already stays, unless the archive has a later one. An import that was broken off
    can be repeated.
    """

    def __init__(self, store: OpenedStore, archive: ArchiveReader, progress: Progress) -> None:
        self._store, self._archive, self._progress = store, archive, progress
        # Owners that are keys here which the archive does not have, and what stands for them.
        self._others, self._conversations = set[str](), set[str]()

    def run(self) -> Iterator[Tally]:
        """Yields what became of each kind. Raises ArchiveError, after which nothing was changed, and
        StoreError.
        """
        size, free = self._archive.size, self._store.memories.database.free_bytes()
        if size > PACKED * free:
            message = f"It holds {size:,} bytes, but only {free:,} are free on the disk."
            raise ArchiveError(message, hint="Make room, then import it. Nothing was imported.")
        for record in KINDS.values():
            self._check(record)
        yield self._import_keys()
        databases = (
            (self._store.catalog.database, CATALOG_RECORDS),
            (self._store.memories.database, MEMORY_RECORDS),
        )
        for database, records in databases:
            with database.write() as transaction:
                tallies = [self._merge(record, transaction) for record in records]
            yield from tallies
        for name, member in self._archive.members.items():
            if (kind := name.removesuffix(".jsonl")) not in KINDS:
                yield Tally(kind, skipped={UNKNOWN: [name] * member.lines})
        if any(self._lines(record.kind) for record in NEWS_RECORDS):
            with self._store.signals.importing() as connection:
                tallies = [self._import_news(connection), self._import_removed(connection)]
            yield from tallies

    # --- reading
    # --------------------------------------------------------------------------------------------------------

    def _lines(self, kind: str) -> int:
        member = self._archive.members.get(f"{kind}.jsonl")
        return member.lines if member else 0

    def _records(self, kind: str, phase: str = "importing") -> Iterator[tuple[int, Any]]:
        """Yields (number of the line, record). Raises ArchiveError."""
        member = f"{kind}.jsonl"
        for number, line in self._archive.lines(member) if member in self._archive.members else ():
            try:
                record = KINDS[kind].model_validate_json(line)
            except ValueError as error:
                raise _at_line(kind, number, error) from error
            yield number, record
            self._progress(kind, phase, number, max(number, self._lines(kind)))

    def _check(self, of: type[ArchivedRecord]) -> None:
        """Reads all records of a kind, before anything is stored."""
        seen = set[int]()
        for number, record in self._records(of.kind, "checking"):
            try:
                names = [record.key()] if of.keys else []
                if of is KeyRecord:
                    names.append(record.id)
                if seen.intersection(map(hash, names)):
                    raise ValueError("it is there twice")
                seen.update(map(hash, names))
                record.check()
            except SkippedError:
                continue
            except (ValueError, RecursionError, ProjectError) as error:
                raise _at_line(of.kind, number, error) from error

    # --- storing
    # --------------------------------------------------------------------------------------------------------

    def _merge(self, of: type[ArchivedRecord], transaction: Transaction) -> Tally:
        tally = Tally(of.kind)
        for _, record in self._records(of.kind):
            try:
                self._put(transaction, record, tally)
            except SkippedError as error:
                tally.skip(str(error), " ".join(map(str, record.key())))
        return tally

    def _put(self, transaction: Transaction, record: Any, tally: Tally) -> None:
        self._refuse_other_key(record)
        if record.of_conversation and record.conversation not in self._conversations:
            raise SkippedError(NOT_HERE)
        record.check()
        there = record.there(transaction)
        if isinstance(record, ConversationRecord) and (there is None or there.owner == record.owner):
            self._conversations.add(record.id)
        if there is None or record.is_later(there):
            record.put(transaction)
            tally.done += 1
        elif record.says(there):
            tally.there += 1
        else:
            raise SkippedError(OTHER)

    def _import_keys(self) -> Tally:
        """Stores the keys of the API, whose numbers their owners' names have."""
        tally, keys, same = Tally(KeyRecord.kind), self._store.keys, set[int]()
        given = keys.highest_number("api_key", "id")
        with keys.write() as transaction:
            for _, record in self._records(KeyRecord.kind):
                there = record.there(transaction)
                if there is None and record.id > given:
                    record.put(transaction)
                    tally.done += 1
                elif there is not None and record.says(there):
                    tally.there += 1
                else:
                    tally.skip(NO_NUMBER, record.name)
                    continue
                same.add(record.id)
            here = {row[0] for row in transaction.execute("select id from api_key").fetchall()}
            skipped = {record.id for _, record in self._records(KeyRecord.kind)} - same
        owners = {f"key-{number}" for number in (here - same) | skipped}
        self._others = owners.union(map(hidden, owners))
        highest = max(self._archive.manifest.keys_given, *here, 0)
        if highest > given:
            keys.number_from("api_key", "id", highest)
        return tally

    def _refuse_other_key(self, record: Any) -> None:
        """Raises SkippedError for what would come to another key than in the archive."""
        names = [str(getattr(record, name, "")) for name in ("owner", "id", "conversation", "shelf")]
        owners = {names[0], *(name.rpartition(".")[0] for name in names[1:]), names[3].partition(".")[0]}
        if owners & self._others:
            raise SkippedError(OF_OTHER_KEY)

    def _import_news(self, connection: Connection) -> Tally:
        tally = Tally("news")
        for _, record in self._records("news"):
            items = [
                NewsItem(
                    told.source, told.number, record.text, datetime.fromtimestamp(told.at, UTC), told.link
                )
                for told in record.tellings
            ]
            readings = [NewsReading(**reading.model_dump()) for reading in record.readings]
            counts = events.keep_items(connection, items)
            event, there = events.event_of(connection, record.text)
            is_new = bool(counts["events"] or counts["tellings"])
            if event and readings and not there:
                events.keep_readings(connection, [(event, reading) for reading in readings])
                is_new = True
            if is_new:
                tally.done += 1
            elif event and readings == there:
                tally.there += 1
            else:
                tally.skip(OTHER if event else "it was removed here", news_hash(record.text)[:16])
        return tally

    def _import_removed(self, connection: Connection) -> Tally:
        tally = Tally("removed_news")
        for _, record in self._records("removed_news"):
            is_new = events.keep_removed(connection, record.sha256, record.removed_at)
            tally.done, tally.there = tally.done + is_new, tally.there + (not is_new)
        return tally


def _at_line(kind: str, number: int, error: Exception) -> ArchiveError:
    return ArchiveError(f"{kind}.jsonl, line {number}: {why_invalid(error).rstrip('.')}.")
