"""Puts the records of an archive into a store that may hold others already: nothing there is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from chatbot.errors import DocumentError, ProjectError
from chatbot.memory.archive.archive_export import OpenedStore, Progress, Tally
from chatbot.memory.archive.archive_file import DOCUMENT, ArchiveError, ArchiveReader, why_invalid
from chatbot.memory.archive.archive_records import (
    ArchivedRecord,
    ConversationRecord,
    KeyRecord,
    NewsRecord,
    RemovedNewsRecord,
)
from chatbot.memory.archive.archived_kinds import CATALOG_KINDS, KEYS, MEMORY_KINDS, Kind, SkippedError
from chatbot.memory.cases.case_store import hidden
from chatbot.memory.signals import events
from chatbot.memory.signals.news_sources import news_hash
from chatbot.memory.signals.postgres import Connection
from chatbot.memory.signals.records import NewsItem, NewsReading
from chatbot.store.database import Transaction
from chatbot.store.document_names import free_name
from chatbot.store.kept_copies import KeptName, copies_of

__all__ = ["StoreImport"]

KINDS = {kind.name: kind for kind in (KEYS, *CATALOG_KINDS, *MEMORY_KINDS)}
# News is in another database, so its records have no Kind.
NEWS: dict[str, type[ArchivedRecord]] = {"news": NewsRecord, "removed_news": RemovedNewsRecord}
OTHER = "it is different here, and stays as it is here"
OF_KEY = re.compile(r"key-(\d{1,15})")


class StoreImport:
    """One import. All of the archive is checked first; then each database takes it in one transaction.

    A record that is there already stays, unless the archive has a later one. An import that was broken off
    can be repeated.
    """

    def __init__(self, store: OpenedStore, archive: ArchiveReader, progress: Progress) -> None:
        self._store, self._archive, self._progress = store, archive, progress
        # Number of a key in the archive -> its number here; and numbers that other keys have here.
        self._numbers, self._taken = dict[int, int](), set[int]()
        # What stands for a key in the names of ratings -> its owner's name.
        self._keys, self._conversations = dict[str, str](), set[str]()

    def run(self) -> Iterator[Tally]:
        """Yields what became of each kind. Raises ArchiveError, after which nothing was changed, and
        StoreError.
        """
        for name in [*KINDS, *NEWS]:
            self._check(name)
        for name, digest in self._copies():
            if self._archive.members[name].sha256 != digest:
                raise ArchiveError(f"{name} is not named by its hash.")
            with self._archive.opened(name):
                pass  # which checks all of it
        yield self._import_keys()
        with self._store.catalog.database.write() as transaction:
            tallies = [self._merge(kind, transaction) for kind in CATALOG_KINDS]
        yield from tallies
        with self._store.memories.write() as transaction:
            tallies = [self._merge(kind, transaction) for kind in MEMORY_KINDS]
        yield from tallies
        yield from self._unknown()
        if copies := self._copies():
            yield self._import_copies(copies)
        if any(self._lines(name) for name in NEWS):
            with self._store.signals.importing() as connection:
                tallies = [self._import_news(connection), self._import_removed(connection)]
            yield from tallies

    # --- reading
    # --------------------------------------------------------------------------------------------------------

    def _lines(self, name: str) -> int:
        member = self._archive.members.get(f"{name}.jsonl")
        return member.lines if member else 0

    def _records(self, name: str, phase: str = "importing") -> Iterator[tuple[int, Any]]:
        """Yields (number of the line, record). Raises ArchiveError."""
        member = f"{name}.jsonl"
        model = NEWS.get(name) or KINDS[name].record
        for number, line in self._archive.lines(member) if member in self._archive.members else ():
            try:
                yield number, model.model_validate_json(line)
            except ValueError as error:
                raise _at_line(member, number, why_invalid(error)) from error
            self._progress(name, phase, number, max(number, self._lines(name)))

    def _check(self, name: str) -> None:
        """Reads all records of a kind, before anything is stored."""
        seen = set[int]()
        for number, record in self._records(name, "checking"):
            try:
                if kind := KINDS.get(name):
                    kind.check(record)
                    key = hash(kind.key_of(record))
                    if key in seen:
                        raise ValueError("it stands there twice")
                    seen.add(key)
            except SkippedError:
                continue
            except (ValueError, ProjectError) as error:
                raise _at_line(f"{name}.jsonl", number, why_invalid(error)) from error

    def _unknown(self) -> Iterator[Tally]:
        """Names what a later version of the program has put into the archive."""
        for name, member in self._archive.members.items():
            kind = name.removesuffix(".jsonl")
            if kind != name and kind not in KINDS and kind not in NEWS:
                tally = Tally(kind)
                tally.skipped["this version of the program does not know it"] = [name] * member.lines
                yield tally

    def _copies(self) -> list[tuple[str, str]]:
        """(name, SHA-256) of the documents in the archive."""
        return [(name, found[1]) for name in self._archive.members if (found := DOCUMENT.fullmatch(name))]

    # --- storing
    # --------------------------------------------------------------------------------------------------------

    def _merge(self, kind: Kind, transaction: Transaction) -> Tally:
        tally = Tally(kind.name)
        for _, record in self._records(kind.name):
            called = " ".join(map(str, kind.key_of(record)))
            try:
                record = self._of_owner(record)
                self._store_one(kind, transaction, record, tally)
            except SkippedError as error:
                tally.skipped[str(error)].append(called)
        return tally

    def _store_one(self, kind: Kind, transaction: Transaction, record: Any, tally: Tally) -> None:
        if kind.of_conversation and record.conversation not in self._conversations:
            raise SkippedError("its conversation is not in the archive, or belongs to somebody else here")
        kind.check(record)
        there: Any = kind.find(transaction, record)
        if isinstance(record, ConversationRecord) and (there is None or there.owner == record.owner):
            self._conversations.add(record.id)
        if there is None or kind.newer(record, there):
            kind.insert(transaction, record)
            tally.done += 1
        elif kind.alike(record, there):
            tally.there += 1
        else:
            raise SkippedError(OTHER)

    def _of_owner(self, record: Any) -> Any:
        """The record with the numbers that the API's keys have here in place of those in the archive."""
        changes: dict[str, Any] = {}
        fields = type(record).model_fields
        if "owner" in fields:
            changes["owner"] = self._owner(record.owner)
        for name in {"id", "conversation"} & fields.keys():
            owner, dot, rest = getattr(record, name).rpartition(".")
            changes[name] = f"{self._owner(owner)}{dot}{rest}"
        if "shelf" in fields:
            owner, dot, rest = record.shelf.partition(".")
            changes["shelf"] = f"{self._shelf(owner)}{dot}{rest}"
            if isinstance(by := record.case.get("by"), str):
                changes["case"] = record.case | {"by": self._shelf(by)}
        return record.model_copy(update=changes)

    def _owner(self, owner: str) -> str:
        if not (found := OF_KEY.fullmatch(owner)):
            return owner
        number = int(found[1])
        if number not in self._numbers and number in self._taken:
            raise SkippedError("it belongs to an API key that is gone, whose number another key has here")
        return f"key-{self._numbers.get(number, number)}"

    def _shelf(self, name: str) -> str:
        """What stands for the owner of ratings here. The archive does not say who it is."""
        return hidden(self._owner(self._keys[name])) if name in self._keys else name

    def _import_keys(self) -> Tally:
        """Stores the keys of the API. One whose number was given here before gets another."""
        tally, keys = Tally(KEYS.name), self._store.keys
        given = keys.highest_number("api_key", "id")
        records = dict[int, KeyRecord]()
        for line, record in self._records(KEYS.name):
            if record.number in records:
                raise _at_line("keys.jsonl", line, "another key has its number")
            records[record.number] = record
        highest = max(given, self._archive.manifest.keys_given, *records)
        with keys.write() as transaction:
            for record in records.values():
                row = transaction.execute(
                    "select id from api_key where digest = ?", (record.digest,)
                ).fetchone()
                if row is not None:
                    self._numbers[record.number] = int(row[0])
                    tally.there += 1
                    continue
                number = record.number
                if number <= given or number in self._numbers.values():
                    number = highest = highest + 1
                KEYS.insert(transaction, record.model_copy(update={"number": number}))
                self._numbers[record.number] = number
                tally.done += 1
            self._taken = {row[0] for row in transaction.execute("select id from api_key").fetchall()}
        owners = [f"key-{number}" for number in self._taken.union(self._numbers)]
        self._keys = {hidden(owner): owner for owner in owners}
        if highest > given:
            keys.number_from("api_key", "id", highest)
        return tally

    def _import_copies(self, members: list[tuple[str, str]]) -> Tally:
        """Keeps the copies, which are read as those of a store whose catalogue was lost."""
        tally, copies = Tally("copies"), copies_of(self._store.settings)
        names = self._store.catalog.remembered()
        for done, (name, digest) in enumerate(members, 1):
            if copies.has(digest):
                tally.there += 1
            elif not names.get(digest):
                tally.skipped["no record names it"].append(digest)
            else:
                free = [KeptName(self._free(called), at) for called, at in names[digest]]
                try:
                    with self._archive.opened(name) as file:
                        copies.take(file, free[0].name)
                    copies.write_names(digest, free)
                    tally.done += 1
                except DocumentError as error:
                    tally.skipped[error.message].append(digest)
            self._progress("copies", "importing", done, len(members))
        return tally

    def _free(self, name: str) -> str:
        """The name, or one like it that no document here has."""
        taken = self._store.catalog.names()
        return free_name(name, taken) if name in taken else name

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
            if not event:
                tally.skipped["it was removed here"].append(news_hash(record.text)[:16])
                continue
            if not there:
                events.keep_readings(connection, [(event, reading) for reading in readings])
            if counts["events"] or counts["tellings"] or (readings and not there):
                tally.done += 1
            elif readings == there:
                tally.there += 1
            else:
                tally.skipped[OTHER].append(news_hash(record.text)[:16])
        return tally

    def _import_removed(self, connection: Connection) -> Tally:
        tally = Tally("removed_news")
        for _, record in self._records("removed_news"):
            if events.keep_removed(connection, record.sha256, record.removed_at):
                tally.done += 1
            else:
                tally.there += 1
        return tally


def _at_line(member: str, number: int, why: str) -> ArchiveError:
    return ArchiveError(f"{member}, line {number}: {why.rstrip('.')}.")
