"""News brought into a real Postgres: once, with all their tellings, whole or named, by whichever embedder
and analyser.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.signals.analysis import CAP, RULES, SCHEMA
from chatbot.memory.signals.news_postgres import VERSION
from chatbot.memory.signals.news_sources import News, one_news, read_news
from chatbot.memory.signals.records import NewsItem, NewsReading, SignalsError
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.writing_scripts import own_threshold
from chatbot.store.database import EarlierStoreError, NewerStoreError
from tests.case_rows import case_rows
from tests.chatbot.memory.signals.postgres import (
    NOW,
    Connection,
    EnglishEmbedder,
    connect,
    item,
    news,
    store,
    vector_of,
)
from tests.fakes import HashEmbedder, ScriptedModel

KEY_RATE = "The key rate rose in Ankara."
QUESTION = "key rate in Ankara"


def texts_of(signals: Signals, **options: Any) -> list[str]:
    return [row.text for row in signals.listed(**options)]


def found_by(signals: Signals, question: str, vector: NDArray[np.float32] | None) -> list[str]:
    """How each of the news is found."""
    found = signals.find(question, vector, 3, as_of=NOW)
    return [one.by for one in found]


def row(connection: Connection, query: str) -> tuple[Any, ...]:
    """The only row of the query."""
    (only,) = connection.execute(query).fetchall()
    return only


@pytest.mark.long
def test_the_development_export_twice_is_662_events_once_with_all_699_tellings(
    shared: Path, database: str
) -> None:
    told = read_news(shared / "news" / "telegram_messages_nasonov.json")
    embedder = EnglishEmbedder()
    signals = store(database, embedder)
    first = signals.add(told)
    second = signals.add(told)
    assert (first.read, first.events, first.tellings, first.without_text) == (699, 662, 699, 38)
    assert not first.problem
    assert first.read == first.events + first.repeated + first.known
    assert (second.events, second.tellings, second.known, second.analysed) == (0, 0, 699, {})
    with connect(database) as connection:
        counts = row(connection, "SELECT count(*), count(DISTINCT content_text) FROM news_events")
        assert counts == (662, 662)
        assert row(connection, "SELECT count(*) FROM news_sources") == (699,)
    question = "Что с ключевой ставкой ЦБ?"
    latest = max(one.at for one in told.items)
    found = signals.find(question, vector_of(question, embedder), 3, as_of=latest)
    assert len(found) == 3
    for one in found:
        assert (one.by, one.at.year) == ("keywords", 2024)


def test_one_text_told_twice_is_one_event_as_old_as_its_first_telling(place: str) -> None:
    signals = store(place)
    late = item("Rates rose.", 1, source="late", hours=1)
    early = item("Rates\n rose.", 7, source="early", hours=9)
    signals.add(News((late,)))
    done = signals.add(News((early,)))
    assert (done.events, done.tellings) == (0, 1)
    (event,) = signals.listed()
    assert event.at == NOW - timedelta(hours=9)
    assert [source[:2] for source in event.sources] == [("early", "7"), ("late", "1")]


def test_a_post_whose_text_was_changed_later_stays_as_first_told_and_is_counted(place: str) -> None:
    signals = store(place)
    signals.add(news("Rates rose."))
    done = signals.add(news("Rates fell."))
    assert (done.events, done.changed, done.known) == (0, 1, 0)
    assert texts_of(signals) == ["Rates rose."]


def test_a_post_without_words_is_kept_and_never_recalled(place: str) -> None:
    signals = store(place)
    done = signals.add(news("", "Rates rose."))
    assert (done.events, done.embedded, done.without_text, done.analysed) == (2, 1, 1, {RULES: 1})
    rates, empty = signals.listed()
    assert (rates.text, rates.state) == ("Rates rose.", "vector")
    assert (empty.text, empty.state) == ("", "nothing")


def test_one_import_writes_at_a_time(place: str) -> None:
    """Two that write rows of each other's in another order would each wait for the other."""
    first = store(place)
    second = store(place)
    first.add(news())
    thread = threading.Thread(target=second.add, args=(news("Rates rose."),))
    with first.place.write():
        thread.start()
        thread.join(0.7)
        assert thread.is_alive()
        assert first.health().events == 0, "those that read wait for nobody"
    thread.join(20)
    assert first.health().events == 1


def test_two_files_of_one_name_are_both_kept(place: str, tmp_path: Path) -> None:
    signals = store(place)
    file = tmp_path / "news.csv"
    for month in ("January", "February"):
        file.write_text(
            f"id,text,date\n1,Rates rose in {month}.,2025-02-27\n2,Oil fell in {month}.,2025-02-27\n"
        )
        first = signals.add(read_news(file))
        assert (first.events, first.known, first.changed) == (2, 0, 0)
        second = signals.add(read_news(file))
        assert (second.events, second.known, second.changed) == (0, 2, 0)
    assert len(signals.listed()) == 4


def event_of(signals: Signals, text: str) -> int:
    """The event of the news with exactly this text."""
    (event,) = (row.event for row in signals.listed() if row.text == text)
    return event


def test_news_that_were_removed_stay_away_until_somebody_adds_them_again(place: str) -> None:
    signals = store(place)
    told = news("Rates rose.", "Wheat fell.")
    signals.add(told)
    signals.remove(event_of(signals, "Rates rose."))
    otherwise_broken = news("Rates\nrose.", "Wheat fell.")
    of_another = News((item("Rates rose.", 9, source="other"),))
    for again in (told, otherwise_broken, of_another):
        done = signals.add(again)
        assert (done.events, done.tellings, done.removed) == (0, 0, 1)
    assert texts_of(signals) == ["Wheat fell."]
    by_hand = one_news("Rates rose.", source="me")
    done = signals.add(by_hand, again=True)
    assert done.events == 1
    assert len(signals.listed()) == 2
    done = signals.add(told)
    assert done.removed == 0


class FailingEmbedder(HashEmbedder):
    """Fails until it is mended."""

    broken = True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.broken:
            raise ModelError("the embedder is down")
        return super().embed(texts)


def test_an_embedder_that_fails_loses_nothing_and_the_next_import_goes_on(place: str) -> None:
    embedder = FailingEmbedder()
    signals = store(place, embedder)
    done = signals.add(news(KEY_RATE))
    assert done.events == 1
    assert "the embedder is down" in done.problem
    assert found_by(signals, QUESTION, None) == ["keywords"]
    embedder.broken = False
    done = signals.add(news())
    assert done.embedded == 1
    assert signals.listed()[0].state == "vector"


@pytest.mark.parametrize(
    ("text", "question"),
    case_rows("""
        Банк России повысил ключевую ставку до 21%  | Что с ключевой ставкой Банка России?
        中国人民银行下调存款准备金率                | 存款准备金率
        Биткоин вырос до 100 тысяч долларов         | bitcoin in dollars
        Η κεντρική τράπεζα μείωσε τα επιτόκια       | Τι έκανε η κεντρική τράπεζα;
    """),
)
def test_text_in_another_script_is_found_by_keywords_where_the_embedder_is_english(
    text: str, question: str, place: str
) -> None:
    embedder = EnglishEmbedder()
    signals = store(place, embedder)
    done = signals.add(news(text, "Wheat prices fell in Chicago."))
    assert (done.embedded, done.by_keywords) == (1, 1)
    (found,) = signals.find(question, vector_of(question, embedder), 3, as_of=NOW)
    assert (found.text, found.by) == (text, "keywords")


def test_another_embedder_is_refused_at_import_and_found_by_keywords_until_embedded_anew(place: str) -> None:
    small = HashEmbedder(dimension=32)
    first = store(place)
    other = store(place, small)
    first.add(news(KEY_RATE))
    with pytest.raises(SignalsError, match="hash-64.*hash-32") as refused:
        other.add(news("More."))
    assert refused.value.kind == "embedder"
    vector = vector_of(QUESTION, small)
    assert found_by(other, QUESTION, vector) == ["keywords"]
    health = other.health()
    assert health.state == "fallback"
    assert "another model" in health.message
    done = other.reembed()
    assert done.embedded == 1
    assert found_by(other, QUESTION, vector) == ["vector"]
    assert other.health().state == "normal"
    (event,) = other.listed()
    assert len(event.readings) == 1


def test_vectors_of_more_than_two_thousand_numbers_are_indexed_in_half_precision(place: str) -> None:
    small = store(place)
    small.add(news(KEY_RATE))
    of_3072 = HashEmbedder(dimension=3_072)
    large = store(place, of_3072)
    large.reembed()
    assert found_by(large, QUESTION, vector_of(QUESTION, of_3072)) == ["vector"]
    back = store(place)
    back.reembed()
    assert found_by(back, QUESTION, vector_of(QUESTION)) == ["vector"]


def test_the_threshold_is_the_embedders_unless_it_is_set() -> None:
    assert own_threshold("minilm-53aa-b1-384-t1") == 0.37
    assert own_threshold("text-embedding-3-small-1536-t1") == 0.40
    signals = store("host=nowhere", threshold=0.7)
    assert signals.threshold == 0.7


@pytest.mark.parametrize(
    ("version", "error", "why"),
    [(1, EarlierStoreError, f"has version 1, .* needs {VERSION}"), (99, NewerStoreError, "has version 99")],
)
def test_tables_of_another_version_are_named_and_left_alone(
    database: str, version: int, error: type[Exception], why: str
) -> None:
    signals = store(database)
    signals.add(news("Rates rose."))
    event = event_of(signals, "Rates rose.")
    with connect(database) as connection:
        connection.execute("UPDATE signal_store SET version = %s", [version])
    reading = NewsReading("x", (), "observe", 0.5, "a person")
    calls: list[Callable[[], object]] = [
        lambda: signals.add(news("More.")),
        lambda: signals.find("key rate", None, 3),
        signals.reembed,
        lambda: signals.remove(event),
        lambda: signals.correct(event, reading),
    ]
    for call in calls:
        with pytest.raises(error, match=why):
            call()
    assert signals.health().state == "failed"
    with connect(database) as connection:
        analyser = row(connection, "SELECT s.analyser FROM news_events JOIN ai_signals s ON true")
        assert analyser == (RULES,)


@pytest.fixture
def of_all_ages(place: str) -> Signals:
    """News of the last hour, of last week, of the next hour, and one without words; two are unsure."""
    signals = store(place)
    now = datetime.now(UTC)
    ages = {
        "The key rate rose.": 1,
        "Rates rose in Ankara.": 1,
        "The key rate fell.": 200,
        "Nothing is known of it.": 200,
        "The key rate rises.": -1,
    }
    items = [item("", 9)]
    for number, (text, hours) in enumerate(ages.items()):
        items.append(NewsItem("channel", str(number), text, now - timedelta(hours=hours)))
    signals.add(News(tuple(items)))
    for row in signals.listed():
        if row.text in {"Rates rose in Ankara.", "Nothing is known of it."}:
            signals.correct(row.event, replace(row.readings[0], confidence=0.2))
    return signals


def test_health_counts_what_can_be_recalled_now_and_why_not_the_rest(of_all_ages: Signals) -> None:
    sure = replace(of_all_ages.options, confidence=0.6)
    health = of_all_ages.health(sure)
    assert (health.events, health.read, health.recallable) == (6, 5, 1)
    assert (health.unsure, health.old, health.early) == (2, 2, 1)
    text = "The key rate rose."
    found = of_all_ages.find(text, vector_of(text), 9, options=sure)
    assert len(found) == health.recallable


REPLY = {
    "summary": "Rates rose to 21%.",
    "assets": ["rub", "$BTC", "no code!"],
    "action": "sell",
    "confidence": 0.9,
}


def test_a_model_reads_each_news_once_with_a_structured_reply(place: str) -> None:
    signals = store(place)
    model = ScriptedModel([json.dumps(REPLY)])
    first = signals.add(news("Rates rose."), model)
    assert first.analysed == {"scripted": 1}
    second = signals.add(news("Rates rose."), model)
    assert second.analysed == {}
    reading = NewsReading("Rates rose to 21%.", ("RUB", "BTC"), "sell", 0.9, "scripted")
    assert signals.listed()[0].readings == (reading,)
    ((_, _, schema),) = model.calls
    assert schema == SCHEMA


def test_a_model_that_fails_is_left_alone_after_three_and_rules_read_the_rest(place: str) -> None:
    signals = store(place)
    model = ScriptedModel([ModelError("it is down")])
    told = news(*(f"News {number} on the key rate." for number in range(6)))
    done = signals.add(told, model)
    assert len(model.calls) == 3
    assert done.analysed == {RULES: 6}
    assert "it is down" in done.problem
    for event in signals.listed():
        assert event.readings[0].confidence == CAP


RATES, WHEAT, RUSSIAN = "Rates ROSE in Riga.", "Wheat fell 5%_.", "Ставка выросла."


@pytest.fixture
def searchable(place: str) -> Signals:
    """News of three sources, one of them corrected by a person."""
    signals = store(place)
    rates = item(RATES, 1, source="agency")
    wheat = item(WHEAT, 2, source="bulletin")
    signals.add(News((rates, wheat, item(RUSSIAN, 3))))
    reading = NewsReading("A harvest.", ("WHEAT",), "sell", 0.8, "a person")
    signals.correct(event_of(signals, WHEAT), reading)
    return signals


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("rose", [RATES]),
        ("AGENCY rates", [RATES]),
        ("ставка", [RUSSIAN]),
        ("", [RUSSIAN, WHEAT, RATES]),
        ("rose wheat", []),
        ("w%t", []),
        ("\ud800", []),
    ],
    ids=ascii,
)
def test_news_that_hold_each_word_as_it_stands_are_found(
    searchable: Signals, words: str, found: list[str]
) -> None:
    assert sorted(texts_of(searchable, search=words)) == sorted(found)


def test_a_signal_is_corrected_and_an_event_removed(place: str) -> None:
    signals = store(place)
    signals.add(news("Rates rose."))
    event = event_of(signals, "Rates rose.")
    mine = NewsReading("It was a rumour.", ("RUB",), "observe", 0.2, "a person")
    signals.correct(event, mine)
    assert signals.listed()[0].readings == (mine,)
    unknown_action = replace(mine, action="hold")
    with pytest.raises(UsageError, match="'hold'"):
        signals.correct(event, unknown_action)
    signals.remove(event)
    assert signals.listed() == []
    assert signals.health().state == "empty"
    with pytest.raises(NotFoundError, match=f"no news event {event}"):
        signals.remove(event)
    with pytest.raises(NotFoundError, match=f"no news event {event}"):
        signals.correct(event, mine)


@pytest.mark.parametrize("value", ["'{'", "x'ff'", "7", "1e300"])
def test_damaged_rows_in_a_file_harm_nothing_else(value: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    signals = store(str(path))
    signals.add(news("Wheat prices rose.", "Rates rose in Riga."))
    with closing(sqlite3.connect(path)) as connection:
        for table, column in (
            ("news_events", "published_at"),
            ("news_events", "embedding"),
            ("news_events", "keywords"),
            ("ai_signals", "assets"),
            ("ai_signals", "confidence"),
            ("ai_signals", "summary"),
        ):
            key = "id" if table == "news_events" else "news_event_id"
            connection.execute(f"update {table} set {column} = {value} where {key} = 1")
        connection.commit()
    assert {"Wheat prices rose.", "Rates rose in Riga."} == set(texts_of(signals))
    assert signals.health().events == 2
    assert signals.assets()
    (found, *_) = signals.find("Rates rose in Riga.", vector_of("Rates rose in Riga."), 3, as_of=NOW)
    assert found.text == "Rates rose in Riga."
