"""The function search_memory_events: in Python over the memories, and in SQL in a Postgres."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from chatbot.memory.signals.news_places import NewsFile
from chatbot.memory.signals.news_postgres import NewsPlace
from chatbot.memory.signals.news_tables import keep_items, keep_readings, search_memory_events
from chatbot.memory.signals.records import NewsItem, NewsReading, SignalsError
from tests.chatbot.memory.signals.postgres import NOW, store
from tests.fakes import HashEmbedder

FIRST = (1, 0, 0, 0)
CALL = "select news_event_id, similarity, confidence from search_memory_events(?, ?, ?, ?, ?, ?, ?)"
Put = Callable[..., int]
Find = Callable[..., list[tuple[int, float, float]]]


@pytest.fixture
def tables(place: str) -> NewsPlace:
    made = store(place, HashEmbedder(dimension=4)).place
    made.make("by hand", 4)
    return made


@pytest.fixture
def put(tables: NewsPlace) -> Put:
    """Stores an event with signals, each (confidence, assets); returns its number."""

    def stored(
        vector: Sequence[float] | None, *signals: tuple[float, Sequence[str]], at: datetime = NOW
    ) -> int:
        ((number,),) = tables.read("select count(*) + 1 from news_events")
        readings = [
            NewsReading("read", tuple(assets), "observe", confidence, f"analyser {at}")
            for at, (confidence, assets) in enumerate(signals)
        ]
        with tables.write() as changes:
            keep_items(tables, changes, [NewsItem("hand", str(number), f"News {number}.", at)])
            keep_readings(tables, changes, number, readings)
            if vector is not None:
                argument = tables.vector(np.array(vector, np.float32))
                statement = "update news_events set embedding = ?, found_by = 'vector' where id = ?"
                changes.execute(statement, (argument, number))
        return int(number)

    return stored


@pytest.fixture
def find(tables: NewsPlace) -> Find:
    """Searches for three of everything of the last week, unless told otherwise."""

    def found(vector: Sequence[float] = FIRST, **changes: Any) -> list[tuple[int, float, float]]:
        wanted: dict[str, Any] = {
            "match_threshold": 0.0,
            "match_count": 3,
            "min_confidence": 0.0,
            "time_window_hours": 168,
            "asset_filter": [],
            "as_of": NOW,
        } | changes
        query = np.array(vector, np.float32)
        if isinstance(tables, NewsFile):
            rows = search_memory_events(tables, query, **wanted)
            return [(row.event, round(row.similarity, 6), row.reading.confidence) for row in rows]
        found = tables.read(CALL, [tables.vector(query), *wanted.values()])
        return [(event, round(similarity, 6), confidence) for event, similarity, confidence in found]

    return found


def test_threshold_and_confidence_are_at_least(put: Put, find: Find) -> None:
    event = put((1, 1, 1, -1), (0.6, []))
    query = (1, 1, 1, 1)
    assert find(query, match_threshold=0.4999, min_confidence=0.6) == [(event, 0.5, 0.6)]
    assert find(query, match_threshold=0.5001) == []
    assert find(query, min_confidence=0.6000001) == []


def test_the_window_is_by_the_time_of_publishing_and_ends_as_of(put: Put, find: Find) -> None:
    fresh = put(FIRST, (0.9, []), at=NOW - timedelta(hours=168))
    put(FIRST, (0.9, []), at=NOW - timedelta(hours=169))
    put(FIRST, (0.9, []), at=NOW + timedelta(hours=1))
    assert [event for event, *_ in find()] == [fresh]
    old = put(FIRST, (0.9, []), at=NOW - timedelta(days=400))
    assert [event for event, *_ in find(as_of=NOW - timedelta(days=399))] == [old]


def test_an_event_is_one_row_with_the_best_of_its_signals_that_qualify(put: Put, find: Find) -> None:
    event = put(FIRST, (0.7, ["ETH"]), (0.9, ["BTC"]), (0.8, []))
    assert find() == [(event, 1.0, 0.9)]
    assert find(asset_filter=["eth"]) == [(event, 1.0, 0.7)]
    assert find(asset_filter=["eth"], min_confidence=0.8) == []


def test_the_order_is_similarity_then_confidence_then_newest(put: Put, find: Find) -> None:
    far = put((1, 1, 0, 0), (1.0, []))
    old = put(FIRST, (0.8, []), at=NOW - timedelta(hours=2))
    new = put(FIRST, (0.8, []), at=NOW - timedelta(hours=1))
    sure = put(FIRST, (0.9, []), at=NOW - timedelta(hours=3))
    assert [event for event, *_ in find(match_count=9)] == [sure, new, old, far]
    assert [event for event, *_ in find(match_count=2)] == [sure, new]


@pytest.mark.parametrize("asked", [["btc"], ["Btc", "none"], [" bTC "]])
def test_the_asset_filter_knows_no_case(put: Put, find: Find, asked: list[str]) -> None:
    written = {put(FIRST, (0.9, [name])) for name in ("btc", "BTC")}
    other = put(FIRST, (0.9, ["ETH"]))
    assert {event for event, *_ in find(asset_filter=asked)} == written
    assert {event for event, *_ in find(asset_filter=[])} == {*written, other}


def test_an_event_without_vector_or_signal_is_passed_over(put: Put, find: Find) -> None:
    put(None, (0.9, []))
    put(FIRST)
    assert find() == []


@pytest.mark.parametrize("wrong", [(0, 0, 0, 0), (1, np.nan, 0, 0)])
def test_a_vector_that_is_like_nothing_is_refused(put: Put, find: Find, wrong: tuple[float, ...]) -> None:
    put(FIRST, (0.9, []))
    for call in (lambda: find(wrong), lambda: put(wrong)):
        with pytest.raises(SignalsError, match="a vector is zero or has NaN"):
            call()


@pytest.mark.timed
def test_ten_thousand_events_of_a_week_are_compared_in_time(place: str) -> None:
    if not place.startswith("/"):
        pytest.skip("a Postgres has an index")
    signals = store(place, HashEmbedder(dimension=384))
    signals.place.make(HashEmbedder(dimension=384).fingerprint, 384)
    rows = np.random.default_rng(0).normal(size=(10_000, 384)).astype(np.float32)
    items = [NewsItem("made", str(number), f"News {number}.", NOW) for number in range(len(rows))]
    with signals.place.write() as changes:
        keep_items(signals.place, changes, items)
        changes.executemany(
            "update news_events set embedding = ?, found_by = 'vector' where id = ?",
            [(signals.place.vector(row), number) for number, row in enumerate(rows, 1)],
        )
        changes.execute(
            "insert into ai_signals (news_event_id, summary, assets, action, confidence, analyser,"
            " summary_cn) select id, 'read', '[]', 'observe', 0.9, 'made', '' from news_events"
        )
    started = time.perf_counter()
    (found, *_) = search_memory_events(signals.place, rows[7], 0.4, 3, 0.6, 168, as_of=NOW)
    assert time.perf_counter() - started < 1
    assert found.text == "News 7."
    assert found.similarity == pytest.approx(1.0, abs=1e-5)
