"""The function search_memory_events on a real Postgres: by which index it searches, and what it refuses. What
it gives is tested with its twin in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from chatbot.memory.signals.news_postgres import make_tables, vector_text
from chatbot.memory.signals.records import SignalsError
from tests.chatbot.memory.signals.postgres import NOW, Connection, put, searched, tables

FIRST = [1, 0, 0, 0]
ZERO = [0, 0, 0, 0]
WEEK = timedelta(days=7)


@pytest.fixture
def made(database: str) -> Iterator[Connection]:
    with tables(database) as connection:
        yield connection


def put_one(connection: Connection, vector: Sequence[float] = FIRST, confidence: float = 0.9) -> int:
    """An event with one signal; its number."""
    return put(connection, vector, (confidence, ()))


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
    with tables(address, DIMENSION) as connection:
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
    with tables(database, 8) as connection:
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
