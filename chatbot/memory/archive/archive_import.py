"""Puts the records of an archive into a store that may hold others already: nothing there is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from chatbot.errors import ProjectError
from chatbot.memory.archive.archive_export import OpenedStore, Progress, Tally
from chatbot.memory.archive.archive_file import MANIFEST, ArchiveError, ArchiveReader, why_invalid
from chatbot.memory.archive.archive_records import (
    KINDS,
    TABLED,
    ArchivedRecord,
    ConversationRecord,
    KeyRecord,
    NewsRecord,
    RemovedNewsRecord,
    SkippedError,
)
from chatbot.memory.cases.case_store import hidden
from chatbot.memory.signals import news_tables
from chatbot.memory.signals.news_sources import news_hash
from chatbot.memory.signals.records import NewsItem, NewsReading
from chatbot.store.database import Database, Transaction
from ingestion.precedence import giving_way

__all__ = ["StoreImport"]

# How much smaller a store is than an archive's files, at most: it packs each answer.
PACKED = 4
OF_OTHER_KEY = "it belongs to an API key whose number another key has here"
NOT_HERE = "its conversation is not in the archive, or belongs to somebody else here"
UNKNOWN = "this version of the program does not know it"
# How many more API keys an archive's store may have given than this one: numbers must be left for new ones.
MOST_KEYS = 1_000_000
# News that is there stays there.
KEEP_REMOVED = """insert into removed_news select ?1, ?2 where not exists
    (select 1 from news_events where content_hash = ?1) on conflict do nothing"""
TOO_HIGH = f"no store has given more than {MOST_KEYS:,} API keys"


class StoreImport:
    """One import. All of the archive is checked first; then each database takes it in one transaction.

    A record that is there already stays, unless the archive has a later one. An import that was broken off
    can be repeated.
    """

    def __init__(self, store: OpenedStore, archive: ArchiveReader, progress: Progress) -> None:
        self._store, self._archive, self._progress = store, archive, progress
        # Owners that are keys here which the archive does not have, and what stands for them.
        self._others, self._conversations = set[str](), set[str]()
        self._keys_given = store.keys.highest_number("api_key", "id")

    def run(self) -> Iterator[Tally]:
        """Yields what became of each kind. Raises ArchiveError, after which nothing was changed, and
        StoreError.
        """
        size, free = self._archive.size, self._store.memories.free_bytes()
        if size > PACKED * free:
            message = f"It holds {size:,} bytes, but only {free:,} are free on the disk."
            raise ArchiveError(message, hint="Make room, then import it. Nothing was imported.")
        if self._archive.manifest.keys_given > self._keys_given + MOST_KEYS:
            raise ArchiveError(f"{MANIFEST}: keys_given: {TOO_HIGH}.")
        for record in KINDS.values():
            self._check(record)
        for part, records in TABLED.items():
            database = getattr(self._store, part)
            with database.write() as transaction:
                tallies = [self._merge(record, database, transaction) for record in records]
            if part == "keys":
                self._note_other_keys(database)
            yield from tallies
        for name, member in self._archive.members.items():
            if (kind := name.removesuffix(".jsonl")) not in KINDS:
                yield Tally(kind, skipped=Counter({UNKNOWN: member.lines}))
        if any(self._lines(record.kind) for record in (NewsRecord, RemovedNewsRecord)):
            with self._store.signals.importing() as changes:
                tallies = [self._import_news(changes), self._import_removed(changes)]
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
        for number, record in giving_way(self._records(of.kind, "checking")):
            try:
                names = [record.key()] if of.keys else []
                if of is KeyRecord:
                    names.append(record.id)
                    if record.id > self._keys_given + MOST_KEYS:
                        raise ValueError(f"id: {TOO_HIGH}")
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

    def _merge(self, of: type[ArchivedRecord], database: Database, transaction: Transaction) -> Tally:
        tally = Tally(of.kind)
        for _, record in self._records(of.kind):
            try:
                self._put(record, database, transaction, tally)
            except SkippedError as error:
                tally.skip(str(error), record.called())
        return tally

    def _put(self, record: Any, database: Database, transaction: Transaction, tally: Tally) -> None:
        self._refuse_other_key(record)
        if record.of_conversation and record.conversation not in self._conversations:
            raise SkippedError(NOT_HERE)
        record.check()
        there = record.there(database.read)
        if isinstance(record, ConversationRecord):
            if there is not None and there.owner != record.owner:
                raise SkippedError(record.other)
            self._conversations.add(record.id)
        if isinstance(record, KeyRecord) and there is None and record.id <= self._keys_given:
            raise SkippedError(record.other)
        if there is None or (record.time and getattr(record, record.time) > getattr(there, record.time)):
            record.put(transaction)
            tally.done += 1
        elif record.says(there):
            tally.there += 1
        else:
            raise SkippedError(record.other)

    def _note_other_keys(self, keys: Database) -> None:
        """Notes whose names, which have the numbers of keys, mean somebody else here."""
        here = set(keys.read("select id, digest from api_key"))
        archived = {(record.id, record.digest) for _, record in self._records(KeyRecord.kind)}
        owners = {f"key-{number}" for number, _ in here ^ archived}
        self._others = owners.union(map(hidden, owners))
        highest = max(self._archive.manifest.keys_given, *(number for number, _ in here), 0)
        if highest > self._keys_given:
            keys.number_from("api_key", "id", highest)

    def _refuse_other_key(self, record: Any) -> None:
        """Raises SkippedError for what would come to another key than in the archive."""
        names = [str(getattr(record, name, "")) for name in ("owner", "id", "conversation", "shelf")]
        owners = {names[0], *(name.rpartition(".")[0] for name in names[1:]), names[3].partition(".")[0]}
        if owners & self._others:
            raise SkippedError(OF_OTHER_KEY)

    def _import_news(self, changes: Transaction) -> Tally:
        tally, place = Tally("news"), self._store.signals.place
        for _, record in self._records("news"):
            items = [
                NewsItem(
                    told.source, told.number, record.text, datetime.fromtimestamp(told.at, UTC), told.link
                )
                for told in record.tellings
            ]
            readings = [NewsReading(**reading.model_dump()) for reading in record.readings]
            counts = news_tables.keep_items(place, changes, items)
            event, there = news_tables.event_of(changes, record.text)
            is_new = bool(counts["events"] or counts["tellings"])
            if event and readings and not there:
                news_tables.keep_readings(place, changes, event, readings)
                is_new = True
            if is_new:
                tally.done += 1
            elif event and sorted(readings, key=repr) == sorted(there, key=repr):
                tally.there += 1
            else:
                tally.skip(record.other if event else "it was removed here", news_hash(record.text)[:16])
        return tally

    def _import_removed(self, changes: Transaction) -> Tally:
        tally, place = Tally("removed_news"), self._store.signals.place
        for _, record in self._records("removed_news"):
            at = place.time(datetime.fromtimestamp(record.removed_at, UTC))
            is_new = changes.execute(KEEP_REMOVED, (record.sha256, at)).rowcount
            tally.done, tally.there = tally.done + is_new, tally.there + (not is_new)
        return tally


def _at_line(kind: str, number: int, error: Exception) -> ArchiveError:
    return ArchiveError(f"{kind}.jsonl, line {number}: {why_invalid(error).rstrip('.')}.")
