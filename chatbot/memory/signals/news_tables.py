"""Stores, searches, lists and counts events, their tellings and their signals, in either engine.

It embeds and reads nothing.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any

from chatbot.memory.import_files import holds_words
from chatbot.memory.signals.news_places import listed, moment
from chatbot.memory.signals.news_postgres import NewsPlace
from chatbot.memory.signals.news_sources import news_hash
from chatbot.memory.signals.records import (
    ACTIONS,
    AssetRow,
    EventRow,
    NewsItem,
    NewsReading,
    RecalledEvent,
    SignalOptions,
)
from chatbot.memory.signals.writing_scripts import keywords_of
from chatbot.store.database import Transaction

__all__ = [
    "count_events",
    "event_of",
    "every_event",
    "keep_items",
    "keep_readings",
    "list_assets",
    "list_events",
    "remove_event",
    "search_by_keywords",
    "search_memory_events",
]

# The least share of a question's keywords that news must hold.
KEYWORD_SHARE = 0.5
# Events that are read at a time.
AT_ONCE = 200
# Whichever of these values a column has, as one argument.
AMONG = "in (select value from json_each(?))"
NUMBERED = "in (select cast(value as bigint) from json_each(?))"
# Casts make a damaged value odd text or 0 rather than an error.
READING = """cast(s.summary as text), s.assets, cast(s.action as text),
    cast(s.confidence as double precision), cast(s.analyser as text), cast(s.summary_cn as text)"""
# Of an event the best signal counts.
SIGNALS = """select e.id, e.published_at, s.assets, s.action, cast(s.confidence as double precision)
    from news_events e join ai_signals s on s.news_event_id = e.id order by s.confidence, s.id"""


def keep_items(
    place: NewsPlace, changes: Transaction, items: Sequence[NewsItem], *, again: bool = False
) -> Counter[str]:
    """Store the new ones of these items, as first told; one text is one event with all its tellings.

    again: also items that somebody removed. Returns how many new "events" and "tellings" there are, items
    "known" before, "changed" ones, whose number was known with another text, and those that somebody
    "removed".
    """
    hashes = [news_hash(item.text) for item in items]
    if again:
        changes.execute(f"delete from removed_news where content_hash {AMONG}", [json.dumps(hashes)])
    statement = f"select content_hash from removed_news where content_hash {AMONG}"
    removed = {digest for (digest,) in changes.execute(statement, [json.dumps(hashes)])}
    told = changes.execute(
        "select t.source, t.source_message_id, e.content_hash from news_sources t join news_events e"
        f" on e.id = t.news_event_id where t.source_message_id {AMONG}",
        [json.dumps([item.number for item in items])],
    )
    known = {(source, number): digest for source, number, digest in told}
    counts = Counter[str]()
    new = dict[tuple[str, str], tuple[NewsItem, str]]()
    for item, digest in zip(items, hashes, strict=True):
        former = known.get((item.source, item.number))
        if digest in removed:
            counts["removed"] += 1
        elif former is None:
            new.setdefault((item.source, item.number), (item, digest))
        elif former != digest:
            counts["changed"] += 1
    rows = [
        (
            item.source,
            item.number,
            item.text,
            digest,
            place.time(item.at),
            place.array(keywords_of(item.text)),
            "pending" if item.text else "nothing",
            item.link,
        )
        for item, digest in new.values()
    ]
    counts["events"] = changes.executemany(
        "insert into news_events (source, source_message_id, content_text, content_hash, published_at,"
        " keywords, found_by) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        [row[:7] for row in rows],
    ).rowcount
    counts["tellings"] = changes.executemany(
        "insert into news_sources (source, source_message_id, news_event_id, link, published_at)"
        " select ?1, ?2, id, ?8, ?5 from news_events where content_hash = ?4 on conflict do nothing",
        rows,
    ).rowcount
    # News are as old as their first telling, in whichever order they are imported.
    changes.executemany(
        "update news_events set published_at = ?2 where content_hash = ?1 and published_at > ?2",
        [row[3:5] for row in rows],
    )
    counts["known"] = len(items) - counts["removed"] - counts["changed"] - counts["tellings"]
    return counts


def keep_readings(
    place: NewsPlace, changes: Transaction, event: int, readings: Iterable[NewsReading]
) -> None:
    """Store readings of an event, but of an analyser that has read it before."""
    changes.executemany(
        "insert into ai_signals (news_event_id, summary, assets, action, confidence, analyser, summary_cn)"
        " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        [
            (
                event,
                one.summary,
                place.array(one.assets),
                one.action,
                one.confidence,
                one.analyser,
                one.summary_cn,
            )
            for one in readings
        ],
    )


def remove_event(place: NewsPlace, changes: Transaction, event: int) -> None:
    """Erase an event with its tellings and signals, and remember that it was removed."""
    now = place.time(datetime.now(UTC))
    changes.execute(
        "insert into removed_news (content_hash, removed_at) select content_hash, ? from news_events"
        " where id = ? on conflict (content_hash) do update set removed_at = excluded.removed_at",
        (now, event),
    )
    changes.execute("delete from news_events where id = ?", [event])


# --- looking
# ------------------------------------------------------------------------------------------------------------


def every_event(place: NewsPlace, order: str = "id") -> Iterator[EventRow]:
    """All events there are now: what is removed meanwhile hides no other. order: by which columns."""
    return _events(place, [row[0] for row in place.read(f"select id from news_events order by {order}")])


def _events(place: NewsPlace, numbers: Sequence[int]) -> Iterator[EventRow]:
    """The events of these numbers, in that order, a few at a time, with tellings, the first one first, and
    readings, the most confident first.
    """
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        wanted = [json.dumps(some)]
        tellings, readings = defaultdict[int, list[NewsItem]](list), defaultdict[int, list[NewsReading]](list)
        for event, source, number, link, at in place.read(
            "select news_event_id, source, source_message_id, link, published_at from news_sources"
            f" where news_event_id {NUMBERED} order by published_at, source, source_message_id",
            wanted,
        ):
            tellings[event].append(NewsItem(source, number, "", moment(at), link))
        for event, *reading in place.read(
            f"select s.news_event_id, {READING} from ai_signals s"
            f" where s.news_event_id {NUMBERED} order by s.confidence desc, s.id desc",
            wanted,
        ):
            readings[event].append(_reading(reading))
        rows = place.read(
            "select id, cast(content_text as text), published_at, found_by, source, source_message_id"
            f" from news_events where id {NUMBERED}",
            wanted,
        )
        found = {row[0]: row for row in rows}
        for event in some:
            if event in found:
                _, text, at, state, source, number = found[event]
                # Another program may have written an event alone.
                told = tellings[event] or [NewsItem(source, number, "", moment(at))]
                yield EventRow(event, text, moment(at), state, tuple(told), tuple(readings[event]))


def event_of(changes: Transaction, text: str) -> tuple[int, list[NewsReading]]:
    """(number of the event with this text, its readings in the order they came); 0 if there is none."""
    rows = changes.execute(
        f"select e.id, {READING} from news_events e left join ai_signals s on s.news_event_id = e.id"
        " where e.content_hash = ? order by s.id",
        [news_hash(text)],
    ).fetchall()
    return (rows[0][0] if rows else 0), [_reading(one) for _, *one in rows if one[0] is not None]


def _reading(values: Sequence[Any]) -> NewsReading:
    summary, assets, *others = values
    return NewsReading(summary, listed(assets), *others)


def list_events(place: NewsPlace, most: int, *, search: str = "", asset: str = "") -> list[EventRow]:
    """Events with all their tellings and readings, latest first.

    search: only those that hold each of its words in the text, its sources or its signals.
    asset: only those with a signal that names it, in any case; "" for all.
    """
    wanted = _folded([asset] if asset.strip() else [])
    found = (
        event
        for event in every_event(place, "published_at desc, id desc")
        if wanted <= _named(event) and holds_words(_searched(event), search)
    )
    return list(islice(found, most))


def _named(event: EventRow) -> frozenset[str]:
    """The assets that its signals name."""
    return _folded(chain.from_iterable(one.assets for one in event.readings))


def _searched(event: EventRow) -> str:
    """What a search of the list looks at."""
    words = [event.text]
    for item in event.tellings:
        words += [item.source, item.link]
    for one in event.readings:
        words += [one.summary, one.summary_cn, *one.assets, one.action, one.analyser]
    return "\n".join(words)


def _best(place: NewsPlace) -> Iterable[tuple[datetime, frozenset[str], str, float]]:
    """The best signal of each event: (time, assets, action, confidence)."""
    best = {}
    for event, at, names, action, sure in place.read(SIGNALS):
        best[event] = (moment(at), _folded(listed(names)), action, sure)
    return best.values()


def _folded(names: Iterable[str]) -> frozenset[str]:
    """Names of assets as they are compared, whoever wrote them."""
    return frozenset(name.strip().upper() for name in names)


def list_assets(place: NewsPlace) -> list[AssetRow]:
    """What the news says of each asset, most news first."""
    by_asset = defaultdict(list)
    for at, assets, action, sure in _best(place):
        for asset in assets or ("",):
            by_asset[asset].append((at, action, sure))
    rows = []
    for asset, found in by_asset.items():
        counts = Counter(action for _, action, _ in found)
        mean = sum(sure for *_, sure in found) / len(found)
        actions = {action: counts[action] for action in ACTIONS}
        rows.append(AssetRow(asset, len(found), actions, mean, max(at for at, *_ in found)))
    return sorted(rows, key=lambda row: (-row.events, row.asset))


def count_events(place: NewsPlace, confidence: float, hours: int) -> dict[str, int]:
    """How many "events", "signals", events "pending" and found "by_keywords" there are.

    "read" counts the events with a signal. Of these, "recallable" counts those that can be recalled now, with
    that least confidence and within so many hours. The others are "unsure", "old" or "early" (dated in the
    future).
    """
    now = datetime.now(UTC)
    states = dict(place.read("select found_by, count(*) from news_events group by found_by"))
    best = [(at, sure) for at, _, _, sure in _best(place)]
    since = now - timedelta(hours=hours)
    return {
        "events": sum(states.values()),
        "pending": states.get("pending", 0),
        "by_keywords": states.get("keywords", 0),
        "signals": place.read("select count(*) from ai_signals")[0][0],
        "read": len(best),
        "recallable": sum(sure >= confidence and since <= at <= now for at, sure in best),
        "unsure": sum(sure < confidence for _, sure in best),
        "old": sum(at < since for at, _ in best),
        "early": sum(at > now for at, _ in best),
    }


# --- searching
# ------------------------------------------------------------------------------------------------------------


def search_memory_events(
    place: NewsPlace,
    query_embedding: Any,
    match_threshold: float,
    match_count: int,
    min_confidence: float,
    time_window_hours: int,
    asset_filter: Sequence[str] = (),
    as_of: datetime | None = None,
) -> list[RecalledEvent]:
    """Signals like the question, as the function of this name in a Postgres has them: one for each event, its
    best; by similarity, then by confidence, the latest first.

    query_embedding: (dimension,). match_threshold: least cosine. min_confidence: at least this.
    time_window_hours: how long before as_of, which is now by default, the news was published. asset_filter:
    any of these, in any case; none for all. Raises SignalsError for a vector of no length or with NaN.
    """
    wanted = SignalOptions(
        "", match_threshold, min_confidence, time_window_hours, match_count, assets=tuple(asset_filter)
    )
    as_of = as_of or datetime.now(UTC)
    return _recalled(place, place.nearest(query_embedding, wanted, as_of), "vector", wanted)


def search_by_keywords(
    place: NewsPlace, text: str, wanted: SignalOptions, as_of: datetime, *, all_events: bool = False
) -> list[RecalledEvent]:
    """Signals of news that hold the text's keywords, at least KEYWORD_SHARE of them.

    all_events: also events that have a vector.
    """
    keywords = frozenset(keywords_of(text))
    others = "" if all_events else " and found_by <> 'vector'"
    shares = {}
    for event, own in place.read(
        f"select id, keywords from news_events where published_at between ? and ?{others}",
        (place.time(as_of - timedelta(hours=wanted.hours)), place.time(as_of)),
    ):
        share = len(keywords.intersection(listed(own))) / max(len(keywords), 1)
        if share >= KEYWORD_SHARE:
            shares[event] = share
    return _recalled(place, shares, "keywords", wanted)


def _recalled(
    place: NewsPlace, likeness: Mapping[int, float], by: str, wanted: SignalOptions
) -> list[RecalledEvent]:
    """The most alike of these events with a signal that may be recalled."""
    found, assets, n = list[RecalledEvent](), _folded(wanted.assets), wanted.most_notes
    for row in _events(place, sorted(likeness, key=likeness.__getitem__, reverse=True)):
        likely = likeness[row.event]
        if len(found) >= n and likely < found[n - 1].similarity:
            break
        for reading in row.readings:
            if reading.confidence >= wanted.confidence and (not assets or assets & _folded(reading.assets)):
                first = row.tellings[0]
                told = (first.source, first.link, row.text, row.at)
                found.append(RecalledEvent(row.event, likely, by, *told, reading))
                break
    found.sort(key=lambda one: (one.similarity, one.reading.confidence, one.at, one.event), reverse=True)
    return found[:n]
