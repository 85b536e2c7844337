"""Writes all of a store that users fill into an archive."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import chatbot
from chatbot.errors import ProjectError
from chatbot.memory.archive.archive_file import FORMAT, ArchiveWriter, Manifest, why_invalid
from chatbot.memory.archive.archive_records import (
    TABLED,
    ArchivedRecord,
    NewsRecord,
    Read,
    Reading,
    RemovedNewsRecord,
    SkippedError,
    Telling,
)
from chatbot.memory.signals.news_places import moment
from chatbot.memory.signals.news_postgres import NewsPlace
from chatbot.memory.signals.news_tables import every_event
from chatbot.memory.signals.signal_store import Signals
from chatbot.store.database import Database
from chatbot.store.document_names import MOST_NAMED

__all__ = ["OpenedStore", "Progress", "Tally", "export_store"]

# Called with (kind, "exporting", "checking" or "importing", done, all).
Progress = Callable[[str, str, int, int], None]


@dataclass(slots=True)
class Tally:
    """What became of the records of one kind. skipped: reason -> how many. called: reason -> what the
    first of them are called.
    """

    kind: str
    done: int = 0
    there: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    called: dict[str, list[str]] = field(default_factory=dict)

    def skip(self, reason: str, called: str) -> None:
        """Counts a record that was left out."""
        self.skipped[reason] += 1
        if self.skipped[reason] <= MOST_NAMED:
            self.called.setdefault(reason, []).append(called)


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """What users fill of a store. keys: of the API."""

    keys: Database
    catalog: Database
    memories: Database
    signals: Signals


def export_store(store: OpenedStore, path: Path, progress: Progress) -> Iterator[Tally]:
    """Writes an archive, and yields what is in it of each kind. It is in its place at the end.

    Raises StoreError, OSError.
    """
    with closing(ArchiveWriter(path)) as writer:
        for part, records in TABLED.items():
            for record in records:
                tally = Tally(record.kind)
                lines = _lines(record, getattr(store, part).read, tally, progress)
                tally.done = writer.add(f"{record.kind}.jsonl", lines)
                yield tally
        news = store.signals.archived()
        for record, of in ((NewsRecord, _news), (RemovedNewsRecord, _removed_news)):
            lines = of(news) if news else iter(())
            yield Tally(record.kind, writer.add(f"{record.kind}.jsonl", lines))
        given = store.keys.highest_number("api_key", "id")
        writer.finish(
            Manifest(format=FORMAT, program=chatbot.__version__, made_at=time.time(), keys_given=given)
        )


def _lines(record: type[ArchivedRecord], read: Read, tally: Tally, progress: Progress) -> Iterator[bytes]:
    ((total,),) = read(f"select count(*) from {record.listed()}", ())
    for done, row in enumerate(record.rows(read), 1):
        try:
            found = record.of_row(row)
            with suppress(SkippedError):  # by this version; a later one may take it
                found.check()
        except (ValueError, TypeError, ProjectError) as error:
            tally.skip(why_invalid(error), " ".join(str(row[key]) for key in record.keys))
        else:
            yield found.line()
        progress(record.kind, "exporting", done, max(done, total))


def _news(place: NewsPlace) -> Iterator[bytes]:
    for row in every_event(place):
        told = [
            Telling(source=one.source, number=one.number, link=one.link, at=one.at.timestamp())
            for one in row.tellings
        ]
        readings = [Reading(**asdict(one)) for one in row.readings]
        yield NewsRecord(text=row.text, tellings=tuple(told), readings=tuple(readings)).line()


def _removed_news(place: NewsPlace) -> Iterator[bytes]:
    for digest, at in place.read("select content_hash, removed_at from removed_news order by content_hash"):
        yield RemovedNewsRecord(sha256=digest, removed_at=moment(at).timestamp()).line()
