"""Keeps news in the file of all memories: its tables, and how values, vectors and times are in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from chatbot.memory.items import cosines_of
from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.memory.signals.records import SignalOptions, SignalsError
from chatbot.settings import PROGRAM
from chatbot.store.damage import json_in
from chatbot.store.vector_index import Vectors

__all__ = [
    "STATE",
    "TABLES",
    "NewsFile",
    "StoreState",
    "listed",
    "moment",
    "nothing_imported",
    "sound_vector",
]

# As in a Postgres, see tables.sql, with numbers for times, JSON for lists and bytes for vectors.
TABLES = Tables(
    "news",
    """create table signal_store (one integer primary key, version integer not null,
    embedder text not null, dimension integer not null);
create table news_events (id integer primary key autoincrement, source text not null,
    source_message_id text not null, content_text text not null, content_hash text not null unique,
    published_at real not null, embedding blob, keywords text not null, found_by text not null,
    unique (source, source_message_id));
create index news_events_published_at on news_events(published_at);
create table news_sources (source text not null, source_message_id text not null,
    news_event_id integer not null references news_events(id) on delete cascade, link text not null,
    published_at real not null, primary key (source, source_message_id)) without rowid;
create index news_sources_event on news_sources(news_event_id);
create table ai_signals (id integer primary key autoincrement,
    news_event_id integer not null references news_events(id) on delete cascade, summary text not null,
    assets text not null, action text not null, confidence real not null, analyser text not null,
    summary_cn text not null, unique (news_event_id, analyser));
create table removed_news (content_hash text primary key, removed_at real not null) without rowid;
""",
)
# Times are bounded to the year 2096, beyond which no calendar here is reliable.
LATEST = 4e9
STATE = "select version, embedder, dimension from signal_store"


@dataclass(frozen=True, slots=True)
class StoreState:
    """What the tables say of themselves.

    version: 0 for no tables.
    embedder, dimension: of the vectors, "" and 0 before the first import.
    vectors: whether there is a place for them, which goes with the extension of a Postgres.
    """

    version: int = 0
    embedder: str = ""
    dimension: int = 0
    vectors: bool = True


class NewsFile:
    """News in the file of all memories. Safe to use from several threads and processes.

    read, write, erased: see MemoryDatabase.
    """

    shown = "with the memories"

    def __init__(self, memories: MemoryDatabase) -> None:
        """memories: kept open by whoever opened them."""
        self._memories = memories
        self.read, self.write, self.erased = memories.read, memories.write, memories.erased

    def looking(self) -> AbstractContextManager[None]:
        """What several reads of one search are done in: here nothing."""
        return nullcontext()

    def state(self) -> StoreState:
        """What the tables say of themselves. Raises SignalsError if there is no news ("off")."""
        self._memories.prepare(TABLES)
        for row in self.read(STATE):
            return StoreState(*row)
        raise nothing_imported()

    def make(self, fingerprint: str, dimension: int) -> None:
        """Make the tables unless they are there, for the vectors of an embedder."""
        self._memories.prepare(TABLES)
        self._memories.change(
            "insert into signal_store values (1, 1, ?, ?) on conflict do nothing", (fingerprint, dimension)
        )

    def renew(self, fingerprint: str, dimension: int) -> None:
        """Drop all vectors, and take those of this embedder from now on."""
        with self.write() as changes:
            changes.execute("update signal_store set embedder = ?, dimension = ?", (fingerprint, dimension))
            changes.execute(
                "update news_events set embedding = null, found_by = 'pending' where found_by <> 'nothing'"
            )

    def time(self, at: datetime) -> float:
        """A time as an argument: seconds since the epoch."""
        return at.timestamp()

    def array(self, values: Sequence[str]) -> str:
        """A list as an argument: JSON."""
        return json.dumps(list(values), ensure_ascii=False)

    def vector(self, values: Vectors) -> bytes:
        """A vector as an argument. Raises SignalsError if it has no length, or NaN."""
        sound = sound_vector(values)
        return (sound / np.linalg.norm(sound)).tobytes()

    def nearest(self, vector: Vectors, wanted: SignalOptions, as_of: datetime) -> dict[int, float]:
        """Cosine, at least the threshold, by the number of each event that may be found; all are compared."""
        until = as_of.timestamp()
        rows = self.read(
            "select id, embedding from news_events where published_at between ? and ?"
            " and length(embedding) = ?",
            (until - wanted.hours * 3_600, until, vector.nbytes),
        )
        stored = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(-1, len(vector))
        cosines = cosines_of(stored, np.frombuffer(self.vector(vector), np.float32)).tolist()
        near = zip(rows, cosines, strict=True)
        return {event: cosine for (event, _), cosine in near if cosine >= wanted.threshold}

    def close(self) -> None:
        """Does nothing: whoever opened the memories closes them."""


def sound_vector(vector: Vectors) -> Vectors:
    """The vector. Raises SignalsError if its likeness to anything is not a number."""
    values = np.asarray(vector, np.float32)
    if values.ndim != 1 or not np.isfinite(values).all() or not values.any():
        raise SignalsError(
            "Check the embedding model: a vector is zero or has NaN.",
            kind="vector",
            hint="The embedding model sent unusable vectors, so signals are matched by keywords.",
        )
    return values


def moment(value: Any) -> datetime:
    """A time as either engine gives it; that of a damaged value is long ago."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    is_sound = isinstance(value, int | float) and 0 <= value < LATEST
    return datetime.fromtimestamp(value if is_sound else 0, UTC)


def listed(value: Any) -> tuple[str, ...]:
    """A list as either engine gives it; a damaged one is empty."""
    with suppress(ValueError, TypeError):
        value = value if isinstance(value, list) else json_in(value)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def nothing_imported() -> SignalsError:
    """What a store is that holds no news yet."""
    hint = f"Import some: {PROGRAM} memory signals import FILE"
    return SignalsError("No news has been imported.", kind="off", hint=hint)
