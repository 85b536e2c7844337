"""The function search_memory_events: in Python over the memories, and in SQL in a Postgres, there also by
which index it searches, and what it refuses.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from chatbot.memory.signals.news_places import NewsFile
from chatbot.memory.signals.news_postgres import NewsPlace, make_tables, vector_text
from chatbot.memory.signals.news_tables import keep_items, keep_readings, search_memory_events
from chatbot.memory.signals.records import NewsItem, NewsReading, SignalsError
from tests.chatbot.memory.signals.postgres import NOW, Connection, searched, store
from tests.chatbot.memory.signals.postgres import put as put_row
from tests.chatbot.memory.signals.postgres import tables as tables_at
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
            NewsReading("read", tuple(assets), "observe", confidence, f"analyser {place}")
            for place, (confidence, assets) in enumerate(signals)
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


# --- in SQL
# ------------------------------------------------------------------------------------------------------------

ZERO = [0, 0, 0, 0]
WEEK = timedelta(days=7)


@pytest.fixture
def made(database: str) -> Iterator[Connection]:
    with tables_at(database) as connection:
        yield connection


def put_one(connection: Connection, vector: Sequence[float] = FIRST, confidence: float = 0.9) -> int:
    """An event with one signal; its number."""
    return put_row(connection, vector, (confidence, ()))


def events(connection: Connection, vector: Sequence[float] = FIRST, **changes: Any) -> list[int]:
    """The events that are found, in their order."""
    return [row[0] for row in searched(connection, vector, **changes)]


def test_a_zero_embedding_is_refused_wherever_it_comes_from(made: Connection) -> None:
    zero = np.zeros(4, np.float32)
    with pytest.raises(SignalsError, match="a vector is zero or has NaN"):
        vector_text(zero)
    with pytest.raises(psycopg.errors.CheckViolation):
        put_one(made, ZERO)
    put_one(made)
    with pytest.raises(psycopg.errors.DataException, match="a query embedding of length zero"):
        searched(made, ZERO)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_vector_with_nan_or_infinity_is_refused(made: Connection, wrong: float) -> None:
    vector = [1, wrong, 0, 0]
    with pytest.raises(SignalsError, match="a vector is zero or has NaN"):
        vector_text(np.array(vector, np.float32))
    with pytest.raises(psycopg.errors.DataException):
        put_one(made, vector)


@pytest.mark.parametrize("confidence", [float("nan"), -0.1, 1.1])
def test_a_confidence_that_is_none_is_refused(made: Connection, confidence: float) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        put_one(made, confidence=confidence)


def test_rows_that_name_no_time_of_creation_do_not_vanish(made: Connection) -> None:
    event = put_one(made)
    created = made.execute("SELECT created_at FROM news_events").fetchone()
    assert created != (None,)
    assert events(made) == [event]
    with pytest.raises(psycopg.errors.NotNullViolation):
        made.execute("UPDATE news_events SET created_at = NULL")


EVENTS, DIMENSION, TOPICS = 10_000, 48, 400
COPY = """COPY news_events (source, source_message_id, content_text, content_hash, published_at, embedding,
    found_by) FROM STDIN"""


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / lengths, np.float32)


def made_vectors(number: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors around topics, as news come in clusters; the topics are the same for every seed."""
    topics = np.random.default_rng(0).normal(size=(TOPICS, DIMENSION))
    random = np.random.default_rng(seed)
    chosen = topics[random.integers(TOPICS, size=number)]
    return unit(chosen + random.normal(size=(number, DIMENSION)) * 0.6)


def fill(
    connection: Connection, vectors: NDArray[np.float32], ages: Iterable[timedelta], signals: str
) -> None:
    """Write events of these vectors and ages. signals: selects the signal of each from news_events."""
    connection.execute("DROP INDEX news_events_embedding")
    with connection.cursor().copy(COPY) as copy:
        for number, (vector, age) in enumerate(zip(vectors, ages, strict=True)):
            text = vector_text(vector)
            copy.write_row(("made", str(number), "", str(number), NOW - age, text, "vector"))
    connection.execute(
        f"INSERT INTO ai_signals (news_event_id, summary, assets, action, confidence, analyser) {signals}"
    )
    # Made at once, the index takes a fraction of the time that it takes to grow.
    with connection.transaction():
        make_tables(connection, "by hand", vectors.shape[1])
    connection.execute("ANALYZE")


@pytest.fixture(scope="module")
def many(server: Any) -> Iterator[Connection]:
    """10,000 events of the last week with a signal each: every asset but one is common, every tenth signal
    is sure.
    """
    with psycopg.connect(server.address(), autocommit=True) as administrator:
        administrator.execute("CREATE DATABASE many STRATEGY file_copy")
    signals = """SELECT id, '', ARRAY['a' || id % 2], 'observe', CASE id % 10 WHEN 0 THEN 0.9 ELSE 0.5 END,
        'made' FROM news_events"""
    ages = [timedelta(minutes=number) for number in range(EVENTS)]
    address = server.address().replace("dbname=postgres", "dbname=many")
    with tables_at(address, DIMENSION) as connection:
        fill(connection, made_vectors(EVENTS, 1), ages, signals)
        yield connection


def exact(connection: Connection, vector: str, confidence: float, threshold: float, count: int) -> list[Any]:
    """The nearest events by comparing all."""
    query = """SELECT e.id FROM news_events e JOIN ai_signals s ON s.news_event_id = e.id
        WHERE s.confidence >= %s AND 1 - (e.embedding <=> %s::vector) >= %s ORDER BY (e.embedding <=>
        %s::vector) + 0 LIMIT %s"""
    with connection.transaction():
        connection.execute("SET LOCAL enable_indexscan = off")
        rows = connection.execute(query, [confidence, vector, threshold, vector, count])
        return [event for (event,) in rows]


def test_ten_thousand_events_recall_by_the_index_is_exact_for_95_of_100_queries(many: Connection) -> None:
    right = 0
    for vector in made_vectors(100, 2):
        found = events(many, vector.tolist(), threshold=0.4, confidence=0.6)
        right += found == exact(many, vector_text(vector), 0.6, 0.4, 3)
    assert right >= 95


@pytest.mark.parametrize("assets", [None, ["A0"]])
def test_no_fewer_rows_than_asked_where_more_qualify(many: Connection, assets: list[str] | None) -> None:
    """One signal in ten qualifies, far more than the index looks at in its first round."""
    (vector,) = made_vectors(1, 3).tolist()
    found = events(many, vector, threshold=-1, confidence=0.6, assets=assets, count=100)
    assert len(found) == 100


@pytest.mark.parametrize("assets", [None, ["BTC"]])
def test_no_fewer_rows_than_asked_however_many_nearer_ones_lie_outside(
    database: str, assets: list[str] | None
) -> None:
    """Thousands of nearer events are too old, and more than are compared one by one are not: the walk of
    the index would end among the old ones.
    """
    random = np.random.default_rng(0)
    old, new = 8_000, 2_500
    axis, other_axis = np.eye(8)[:2]
    near = axis + random.normal(size=(old, 8)) * 0.1
    far = axis + random.normal(size=(new, 8)) * 0.02 + 0.7 * other_axis
    vectors = np.concatenate([near, far]).astype(np.float32)
    ages = [timedelta(days=30)] * old
    ages += [timedelta(minutes=number) for number in range(new)]
    signals = "SELECT id, '', ARRAY['BTC'], 'observe', 0.9, 'made' FROM news_events"
    in_the_window = """SELECT id FROM news_events WHERE published_at > %s ORDER BY
        (embedding <=> %s::vector) + 0 LIMIT 5"""
    with tables_at(database, 8) as connection:
        fill(connection, vectors, ages, signals)
        # Whatever the server is set to.
        connection.execute("SET hnsw.max_scan_tuples = 1000")
        vector = axis.tolist()
        found = events(connection, vector, threshold=0.4, confidence=0.6, count=5, assets=assets)
        rows = connection.execute(in_the_window, [NOW - WEEK, str(vector)])
        assert found == [event for (event,) in rows]


PARAMETERS = {
    "query_embedding": "vector",
    "min_confidence": "float8",
    "wanted": "text[]",
    "since": "timestamptz",
    "as_of": "timestamptz",
}


def test_the_search_walks_the_hnsw_index_with_an_iterative_scan(many: Connection) -> None:
    """The query that the function holds, explained as it stands there."""
    row = many.execute("SELECT prosrc, proconfig FROM pg_proc WHERE proname = 'nearest_signals'").fetchone()
    assert row
    source, settings = row
    assert "hnsw.iterative_scan=strict_order" in settings
    query = re.search(r"-- begin: nearest\n(.*?)-- end: nearest", source, re.DOTALL)
    assert query
    body = query[1]
    for number, name in enumerate(PARAMETERS, 1):
        body = re.sub(rf"\b{name}\b", f"${number}", body)
    types = ", ".join(PARAMETERS.values())
    many.execute(f"PREPARE nearest ({types}) AS {body}")
    vector = vector_text(made_vectors(1, 4)[0])
    since = NOW - WEEK
    with many.transaction():
        for setting in settings:
            name, _, value = setting.partition("=")
            many.execute("SELECT set_config(%s, %s, true)", [name, value])
        explained = many.execute(f"EXPLAIN EXECUTE nearest ('{vector}', 0.6, NULL, '{since}', '{NOW}')")
        plan = "\n".join(str(line) for (line,) in explained)
    scan = "Index Scan using news_events_embedding on news_events"
    assert scan in plan
    assert "Order By: (embedding <=> " in plan
    above, *_ = plan.split("Index Scan using news_events_embedding")
    assert "Sort" not in above
