"""What the tests of signals stand on: news and stores that can be worked out by hand; starts no server
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals.news_postgres import make_tables
from chatbot.memory.signals.news_sources import News, news_hash
from chatbot.memory.signals.records import NewsItem, SignalOptions
from chatbot.memory.signals.signal_store import Signals
from chatbot.records import Recall
from tests.fakes import HashEmbedder

__all__ = [
    "NOW",
    "OPENED",
    "Connection",
    "EnglishEmbedder",
    "ask",
    "connect",
    "item",
    "news",
    "put",
    "searched",
    "store",
    "tables",
    "vector_of",
]

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
EMBEDDER = HashEmbedder(dimension=64)
OPENED: list[Signals | MemoryDatabase] = []
Connection = psycopg.Connection[tuple[Any, ...]]


class EnglishEmbedder(HashEmbedder):
    """One whose vectors mean nothing for other scripts than the Latin."""

    def __init__(self) -> None:
        super().__init__(dimension=64)
        self.fingerprint = "minilm-made-up-64"


def item(text: str, number: int = 1, *, source: str = "channel", hours: float = 1.0) -> NewsItem:
    """News told so many hours before NOW."""
    at = NOW - timedelta(hours=hours)
    return NewsItem(source, str(number), text, at, f"https://t.me/{source}/{number}")


def news(*texts: str) -> News:
    items = [item(text, number) for number, text in enumerate(texts, 1)]
    return News(tuple(items))


def store(place: str, embedder: HashEmbedder = EMBEDDER, **options: Any) -> Signals:
    """A store that takes every signal, however unsure; closed after the test.

    place: the path of a file of memories, or the address of a database.
    """
    options.setdefault("confidence", 0.0)
    memories = MemoryDatabase(Path(place) if place.startswith("/") else None)
    address = "" if place.startswith("/") else place
    opened = Signals(embedder, SignalOptions(address=address, **options), database=memories)
    OPENED.append(opened)
    OPENED.append(memories)
    return opened


def vector_of(text: str, embedder: HashEmbedder = EMBEDDER) -> NDArray[np.float32]:
    return np.asarray(embedder.embed([text])[0], np.float32)


def ask(
    question: str, embedder: HashEmbedder = EMBEDDER, *, vector: NDArray[np.float32] | None = None
) -> Recall:
    if vector is None:
        vector = vector_of(question, embedder)
    return Recall(question, vector, "talk", "me", now=NOW.timestamp())


def connect(address: str) -> Connection:
    return psycopg.connect(address, autocommit=True)


def tables(address: str, dimension: int = 4, fingerprint: str = "by hand") -> Connection:
    """A database with the tables, for rows written by hand."""
    connection = connect(address)
    with connection.transaction():
        make_tables(connection, fingerprint, dimension)
    return connection


PUT_EVENT = """INSERT INTO news_events (source, source_message_id, content_text, content_hash, published_at,
        embedding, found_by)
    SELECT 'hand', n, %s, %s || n, %s, %s::vector,
    'vector' FROM (SELECT (count(*) + 1)::text AS n FROM news_events) AS c RETURNING id"""
PUT_SIGNAL = """INSERT INTO ai_signals (news_event_id, summary, assets, action, confidence, analyser)
    VALUES (%s, 'read', %s, 'observe', %s, %s)"""


def written(vector: Sequence[float]) -> str:
    """As Postgres reads it."""
    return str(list(map(float, vector)))


def put(
    connection: Connection,
    vector: Sequence[float] | None,
    *signals: tuple[float, Sequence[str]],
    at: datetime = NOW,
    text: str = "",
) -> int:
    """An event with signals, each (confidence, assets); its number."""
    embedding = None if vector is None else written(vector)
    row = connection.execute(PUT_EVENT, [text, news_hash(text), at, embedding]).fetchone()
    assert row is not None
    event = int(row[0])
    for number, (confidence, assets) in enumerate(signals):
        connection.execute(PUT_SIGNAL, [event, list(assets), confidence, f"analyser {number}"])
    return event


def given(vector: Sequence[float], **changes: Any) -> list[Any]:
    """Arguments of search_memory_events: three of everything of the last week, unless told otherwise."""
    wanted = {
        "threshold": 0.0,
        "count": 3,
        "confidence": 0.0,
        "hours": 168,
        "assets": None,
        "as_of": NOW,
    } | changes
    return [written(vector), *wanted.values()]


def searched(connection: Connection, vector: Sequence[float], **changes: Any) -> list[tuple[Any, ...]]:
    """(event, similarity, confidence) of each row that search_memory_events gives."""
    call = (
        "SELECT news_event_id, similarity, confidence FROM search_memory_events(%s, %s, %s, %s, %s, %s, %s)"
    )
    return connection.execute(call, given(vector, **changes)).fetchall()
