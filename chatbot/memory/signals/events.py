"""Stores, searches, lists and counts events, their tellings and their signals in the database tables.

It embeds and reads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, LiteralString

import numpy as np

from chatbot.memory.signals.news_sources import news_hash
from chatbot.memory.signals.postgres import Connection
from chatbot.memory.signals.records import (
    ACTIONS,
    AssetRow,
    EventRow,
    NewsItem,
    NewsReading,
    RecalledEvent,
    SignalsError,
    TimelinePoint,
)
from chatbot.memory.signals.writing_scripts import keywords_of
from chatbot.models.tokens import encodable
from chatbot.store.vector_index import Vectors

__all__ = [
    "Search",
    "change_signal",
    "count_events",
    "event_of",
    "every_event",
    "keep_items",
    "keep_readings",
    "keep_removed",
    "keep_vectors",
    "list_assets",
    "list_events",
    "pending_events",
    "remove_event",
    "remove_older",
    "removed_news",
    "search_by_keywords",
    "search_by_vector",
    "timeline",
    "unread_events",
    "vector_text",
]

# Words that a search of the list may have.
MOST_WORDS = 20
DAY_SECONDS = 86_400.0
FOUND = (
    "f.news_event_id, f.similarity, f.content_text, f.published_at, f.source, f.link, f.summary, f.assets, "
    "f.action, f.confidence, f.analyser, s.summary_cn"
)
BEST_FIRST = "f.similarity DESC, f.confidence DESC, f.published_at DESC, f.news_event_id DESC"


@dataclass(frozen=True, slots=True)
class Search:
    """What a search asks for beside likeness.

    count: how many rows at most.
    confidence: the least confidence.
    hours: how long before as_of.
    as_of: the time of the search.
    assets: any of these; () for all.
    """

    count: int
    confidence: float
    hours: int
    as_of: datetime
    assets: tuple[str, ...] = ()

    @property
    def given(self) -> list[object]:
        """The arguments as the functions of the database take them."""
        return [self.count, self.confidence, self.hours, list(self.assets), self.as_of]


def keep_items(connection: Connection, items: Sequence[NewsItem], *, again: bool = False) -> Counter[str]:
    """Store the new ones of these items, as first told; one text is one event with all its tellings.

    again: also items that somebody removed. Returns how many new "events" and "tellings" there are, items
    "known" before, "changed" ones, whose number was known with another text, and those that somebody
    "removed".
    """
    hashes = [news_hash(item.text) for item in items]
    if again:
        connection.execute("DELETE FROM removed_news WHERE content_hash = ANY (%s)", [hashes])
    rows = connection.execute("SELECT content_hash FROM removed_news WHERE content_hash = ANY (%s)", [hashes])
    removed = {row[0] for row in rows}
    kept = [item for item, digest in zip(items, hashes, strict=True) if digest not in removed]
    counts = Counter(removed=len(items) - len(kept))
    if kept:
        counts.update(_keep(connection, kept))
    return counts


def _keep(connection: Connection, items: Sequence[NewsItem]) -> dict[str, int]:
    unique = {(item.source, item.number): item for item in reversed(items)}
    known = _told(connection, unique)
    new = [item for key, item in reversed(unique.items()) if key not in known]
    changed = 0
    for item in items:
        known_hash = known.get((item.source, item.number))
        changed += known_hash not in (None, news_hash(item.text))
    if not new:
        return {"known": len(items) - changed, "changed": changed}
    sources = [item.source for item in new]
    numbers = [item.number for item in new]
    texts = [item.text for item in new]
    hashes = list(map(news_hash, texts))
    times = [item.at for item in new]
    links = [item.link for item in new]
    keywords = [" ".join(keywords_of(text)) for text in texts]
    events = connection.execute(
        """INSERT INTO news_events (source, source_message_id, content_text, content_hash, published_at,
            found_by, keywords)
        SELECT s, n, c, h, a, CASE WHEN c = '' THEN 'nothing' ELSE 'pending' END, string_to_array(k, ' ')
        FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[], %s::text[]) AS i (s,
        n, c, h, a, k)
        ON CONFLICT DO NOTHING""",
        [sources, numbers, texts, hashes, times, keywords],
    ).rowcount
    tellings = connection.execute(
        """INSERT INTO news_sources (source, source_message_id, news_event_id, link, published_at)
        SELECT i.s, i.n, e.id, i.l, i.a FROM unnest(%s::text[], %s::text[], %s::text[], %s::timestamptz[],
        %s::text[]) AS i (s, n, h, a, l)
        JOIN news_events e ON e.content_hash = i.h ON CONFLICT DO NOTHING""",
        [sources, numbers, hashes, times, links],
    ).rowcount
    # News are as old as their first telling, in whichever order they are imported.
    connection.execute(
        """UPDATE news_events e SET published_at = i.a
        FROM (SELECT h, min(a) AS a FROM unnest(%s::text[], %s::timestamptz[]) AS u (h, a) GROUP BY h) AS i
        WHERE e.content_hash = i.h AND i.a < e.published_at""",
        [hashes, times],
    )
    known_count = len(items) - tellings - changed
    return {"events": events, "tellings": tellings, "known": known_count, "changed": changed}


def pending_events(connection: Connection, most: int) -> list[tuple[Any, ...]]:
    """(event, text) of the events that wait to be embedded, oldest first."""
    return connection.execute(
        "SELECT id, content_text FROM news_events WHERE found_by = 'pending' ORDER BY id LIMIT %s", [most]
    ).fetchall()


def keep_vectors(connection: Connection, vectors: Mapping[int, Vectors | None]) -> None:
    """Store the vectors of events; None for those that are found by keywords.

    Raises SignalsError for a vector of no length or with NaN.
    """
    statement: LiteralString = "UPDATE news_events SET embedding = %s, found_by = %s WHERE id = %s"
    for event, vector in vectors.items():
        if vector is None:
            connection.execute(statement, [None, "keywords", event])
        else:
            connection.execute(statement, [vector_text(vector), "vector", event])


def unread_events(connection: Connection, most: int, *, after: int = 0) -> list[tuple[int, NewsItem]]:
    """Events with words that no analyser has read, with a number above `after`, by number."""
    rows = connection.execute(
        """SELECT id, source, source_message_id, content_text,
            published_at FROM news_events e WHERE found_by <> 'nothing' AND id > %s
        AND NOT EXISTS (SELECT FROM ai_signals s WHERE s.news_event_id = e.id) ORDER BY id LIMIT %s""",
        [after, most],
    ).fetchall()
    return [
        (event, NewsItem(source, number, text, at.astimezone(UTC)))
        for event, source, number, text, at in rows
    ]


def keep_readings(connection: Connection, readings: Iterable[tuple[int, NewsReading]]) -> None:
    """Store readings of events.

    A second reading by the same analyser replaces its first, and one by a model replaces that of the rules.
    """
    for event, reading in readings:
        values = [reading.summary, list(reading.assets), reading.action, reading.confidence]
        values.append(reading.summary_cn)
        connection.execute(
            """INSERT INTO ai_signals (news_event_id, summary, assets, action, confidence,
                summary_cn, analyser) VALUES (%s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (news_event_id, analyser) DO UPDATE SET summary = excluded.summary,
            summary_cn = excluded.summary_cn, assets = excluded.assets, action = excluded.action,
            confidence = excluded.confidence, created_at = now()""",
            [event, *values, reading.analyser],
        )
        if not reading.analyser.startswith("rules-"):
            connection.execute(
                "DELETE FROM ai_signals WHERE news_event_id = %s AND analyser LIKE 'rules-%%'", [event]
            )


def search_by_vector(
    connection: Connection, vector: Vectors, threshold: float, search: Search
) -> list[RecalledEvent]:
    """The function search_memory_events. threshold: least cosine similarity.

    Raises SignalsError for a vector of no length or with NaN.
    """
    # The argument has the type of the column; a bare text takes it.
    arguments = [vector_text(vector), threshold, *search.given]
    return _searched(connection, "search_memory_events(%s, %s, %s, %s, %s, %s, %s)", arguments, "vector")


def search_by_keywords(
    connection: Connection, text: str, threshold: float, search: Search, *, all_events: bool = False
) -> list[RecalledEvent]:
    """The function search_memory_keywords.

    threshold: least share of the text's keywords. all_events: also events that have a vector.
    """
    keywords = keywords_of(text)
    if not keywords:
        return []
    arguments = [keywords, threshold, *search.given, not all_events]
    function: LiteralString = "search_memory_keywords(%s, %s, %s, %s, %s, %s, %s, %s)"
    return _searched(connection, function, arguments, "keywords")


def _searched(
    connection: Connection, function: LiteralString, arguments: Sequence[object], by: str
) -> list[RecalledEvent]:
    found = []
    statement: LiteralString = (
        f"SELECT {FOUND} FROM {function} AS f JOIN ai_signals s USING (news_event_id, analyser)"
        f" ORDER BY {BEST_FIRST}"
    )
    for row in connection.execute(statement, arguments):
        event, similarity, text, at, source, link, *signal = row
        published = at.astimezone(UTC)
        reading = _reading(signal)
        found.append(RecalledEvent(event, similarity, by, source, link, text, published, reading))
    return found


def every_event(connection: Connection) -> Iterator[str]:
    """All events with tellings, the first one first, and readings, as an archive has them in JSON."""
    after = 0
    while rows := connection.execute(
        """SELECT e.id, json_build_object('text', e.content_text, 'tellings',
            (SELECT json_agg(json_build_object('source', t.source, 'number', t.source_message_id,
            'link', t.link, 'at', extract(epoch FROM t.published_at))
            ORDER BY t.published_at, t.source, t.source_message_id)
                FROM news_sources t WHERE t.news_event_id = e.id), 'readings',
            (SELECT coalesce(json_agg(json_build_object('summary', s.summary, 'assets', s.assets,
            'action', s.action, 'confidence', s.confidence, 'analyser', s.analyser,
            'summary_cn', s.summary_cn) ORDER BY s.id), '[]')
                FROM ai_signals s WHERE s.news_event_id = e.id))::text
        FROM news_events e WHERE e.id > %s ORDER BY e.id LIMIT 200""",
        [after],
    ).fetchall():
        yield from (text for _, text in rows)
        after = rows[-1][0]


def event_of(connection: Connection, text: str) -> tuple[int, list[NewsReading]]:
    """(number of the event with this text, its readings); 0 if there is none."""
    rows = connection.execute(
        """SELECT e.id, s.summary, s.assets, s.action, s.confidence, s.analyser, s.summary_cn
        FROM news_events e
        LEFT JOIN ai_signals s ON s.news_event_id = e.id WHERE e.content_hash = %s ORDER BY s.id""",
        [news_hash(text)],
    ).fetchall()
    return (rows[0][0] if rows else 0), [_reading(signal) for _, *signal in rows if signal[0] is not None]


def removed_news(connection: Connection) -> Iterator[str]:
    """All removed news, in order, as an archive has them in JSON."""
    rows = connection.execute(
        """SELECT json_build_object('sha256', content_hash,
            'removed_at', extract(epoch FROM removed_at))::text FROM removed_news ORDER BY content_hash"""
    )
    yield from (text for (text,) in rows)


def keep_removed(connection: Connection, digest: str, at: float) -> bool:
    """Note that news was removed; False if that is known. News that is there stays there."""
    statement = """INSERT INTO removed_news (content_hash, removed_at) SELECT %s, to_timestamp(%s)
        WHERE NOT EXISTS (SELECT FROM news_events WHERE content_hash = %s) ON CONFLICT DO NOTHING"""
    return bool(connection.execute(statement, [digest, at, digest]).rowcount)


def list_events(connection: Connection, most: int, *, search: str = "", asset: str = "") -> list[EventRow]:
    """Events with all their tellings and readings, latest first.

    search: only those that hold each of its words in the text, its sources or its signals.
    asset: only those with a signal that names it, in any case; "" for all.
    """
    words = encodable(search).replace("\0", " ").lower().split()
    assets = list(filter(None, [encodable(asset).replace("\0", "").strip()]))
    rows = connection.execute(
        """SELECT e.id, e.content_text, e.published_at, e.found_by,
            (SELECT array_agg(array[t.source, t.source_message_id, t.link] ORDER BY t.published_at, t.source,
            t.source_message_id)
                FROM news_sources t WHERE t.news_event_id = e.id),
            (SELECT json_agg(json_build_array(s.summary, s.assets, s.action, s.confidence,
            s.analyser, s.summary_cn) ORDER BY s.confidence DESC, s.id DESC)
                FROM ai_signals s WHERE s.news_event_id = e.id)
        FROM news_events e
        WHERE NOT EXISTS (
            SELECT FROM unnest(%s::text[]) AS w (word) WHERE strpos(lower(e.content_text), w.word) = 0
                AND NOT EXISTS (SELECT FROM news_sources t WHERE t.news_event_id = e.id AND
                strpos(lower(concat_ws(' ', t.source, t.link)), w.word) > 0)
                AND NOT EXISTS (SELECT FROM ai_signals s WHERE s.news_event_id = e.id
                    AND strpos(lower(concat_ws(' ', s.summary, s.summary_cn, array_to_string(s.assets, ' '),
                    s.action, s.analyser)), w.word) > 0)
        ) AND (cardinality(signal_assets(%s)) = 0 OR EXISTS (
            SELECT FROM ai_signals s WHERE s.news_event_id = e.id AND s.assets_folded && signal_assets(%s)))
        ORDER BY e.published_at DESC, e.id DESC LIMIT %s""",
        [words[:MOST_WORDS], assets, assets, most],
    )
    found = []
    for event, text, at, state, sources, signals in rows:
        tellings = tuple(map(tuple, sources or ()))
        readings = tuple(map(_reading, signals or ()))
        found.append(EventRow(event, text, at.astimezone(UTC), state, tellings, readings))
    return found


def change_signal(connection: Connection, event: int, reading: NewsReading) -> bool:
    """Replace all readings of an event by this one; False if there is no event of that number."""
    found = connection.execute("SELECT 1 FROM news_events WHERE id = %s FOR UPDATE", [event])
    if not found.fetchone():
        return False
    connection.execute("DELETE FROM ai_signals WHERE news_event_id = %s", [event])
    keep_readings(connection, [(event, reading)])
    return True


def remove_event(connection: Connection, event: int) -> bool:
    """Erase an event with its tellings and signals, and remember that it was removed.

    False if there is no event of that number.
    """
    statement = """WITH gone AS (DELETE FROM news_events WHERE id = %s RETURNING content_hash)
        INSERT INTO removed_news (content_hash) SELECT content_hash FROM gone ON CONFLICT (content_hash) DO
        UPDATE SET removed_at = now()"""
    return bool(connection.execute(statement, [event]).rowcount)


def remove_older(connection: Connection, days: float) -> int:
    """Erase the events that were published more than so many days ago. Returns how many."""
    statement = "DELETE FROM news_events WHERE published_at < now() - make_interval(secs => %s)"
    return connection.execute(statement, [days * DAY_SECONDS]).rowcount


def list_assets(connection: Connection, confidence: float) -> list[AssetRow]:
    """What the news says of each asset, most news first.

    Of each event the best signal counts, if it has at least that confidence.
    """
    rows = connection.execute(
        """SELECT a.asset, count(*), count(*) FILTER (WHERE s.action = 'buy'),
            count(*) FILTER (WHERE s.action = 'sell'), count(*) FILTER (WHERE s.action = 'observe'),
            avg(s.confidence), max(e.published_at)
        FROM news_events e
            CROSS JOIN LATERAL (
                SELECT g.assets_folded, g.action, g.confidence FROM ai_signals g
                WHERE g.news_event_id = e.id ORDER BY g.confidence DESC, g.id DESC LIMIT 1
            ) AS s
            CROSS JOIN LATERAL unnest(CASE WHEN s.assets_folded = '{}' THEN ARRAY[''] ELSE s.assets_folded
            END) AS a (asset)
        WHERE s.confidence >= %s GROUP BY a.asset ORDER BY count(*) DESC, a.asset""",
        [confidence],
    )
    return [
        AssetRow(asset, count, dict(zip(ACTIONS, actions, strict=True)), mean, latest.astimezone(UTC))
        for asset, count, *actions, mean, latest in rows
    ]


def count_events(connection: Connection, confidence: float, hours: int) -> dict[str, Any]:
    """How many "events", "signals", events "pending" and found "by_keywords" there are.

    "read" counts the events with a signal. Of these, "recallable" counts those that can be recalled now, with
    that least confidence and within so many hours. The others are "unsure", "old" or "early" (dated in the
    future).
    """
    row = connection.execute(
        """SELECT count(*) AS events, count(*) FILTER (WHERE found_by = 'pending') AS pending,
            count(*) FILTER (WHERE found_by = 'keywords') AS by_keywords,
            coalesce(sum(s.signals), 0) AS signals, count(s.best) AS read,
            count(*) FILTER (WHERE s.best >= %(least)s AND published_at BETWEEN w.since AND now()) AS
            recallable,
            count(*) FILTER (WHERE s.best < %(least)s) AS unsure,
            count(*) FILTER (WHERE s.best IS NOT NULL AND published_at < w.since) AS old,
            count(*) FILTER (WHERE s.best IS NOT NULL AND published_at > now()) AS early
        FROM news_events e
            LEFT JOIN (SELECT news_event_id, count(*) AS signals,
            max(confidence) AS best FROM ai_signals GROUP BY news_event_id) AS s
                ON s.news_event_id = e.id
            CROSS JOIN (SELECT now() - make_interval(hours => %(hours)s) AS since) AS w""",
        {"least": confidence, "hours": hours},
    )
    names = [column.name for column in row.description or ()]
    return dict(zip(names, map(int, row.fetchone() or ()), strict=True))


def timeline(connection: Connection, confidence: float) -> list[TimelinePoint]:
    """Signals by day and asset, oldest first.

    Of each event the best signal counts, if it has at least that confidence.
    """
    rows = connection.execute(
        """SELECT to_char(e.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, a.asset, count(*),
            avg(s.confidence)
        FROM news_events e
            CROSS JOIN LATERAL (
                SELECT g.assets_folded, g.confidence FROM ai_signals g WHERE g.news_event_id = e.id ORDER BY
                g.confidence DESC, g.id DESC LIMIT 1
            ) AS s
            CROSS JOIN LATERAL unnest(CASE WHEN s.assets_folded = '{}' THEN ARRAY[''] ELSE s.assets_folded
            END) AS a (asset)
        WHERE s.confidence >= %s GROUP BY day, a.asset ORDER BY day, a.asset""",
        [confidence],
    )
    return [TimelinePoint(*row) for row in rows]


def vector_text(vector: Vectors) -> str:
    """A vector as pgvector reads it.

    Raises SignalsError for one of no length, or with NaN or infinity, because its likeness to anything is not
    a number.
    """
    from pgvector import Vector

    values = np.asarray(vector, np.float32)
    if values.ndim != 1 or not np.isfinite(values).all() or not values.any():
        hint = "The embedding model sent unusable vectors, so signals are matched by keywords."
        raise SignalsError(
            "Check the embedding model: a vector is zero or has NaN.", kind="vector", hint=hint
        )
    text: str = Vector(values).to_text()
    return text


def _told(connection: Connection, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Hash of the text of each telling that is known, by source and number."""
    rows = connection.execute(
        """SELECT t.source, t.source_message_id, e.content_hash FROM unnest(%s::text[], %s::text[]) AS i (s,
            n)
        JOIN news_sources t ON t.source = i.s AND t.source_message_id = i.n JOIN news_events e ON e.id =
        t.news_event_id""",
        [*map(list, zip(*keys, strict=True))],
    )
    return {(source, number): digest for source, number, digest in rows}


def _reading(values: Sequence[Any]) -> NewsReading:
    summary, assets, action, confidence, analyser, in_chinese = values
    return NewsReading(summary, tuple(assets), action, float(confidence), analyser, in_chinese)
