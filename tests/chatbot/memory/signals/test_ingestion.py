"""News brought into a real Postgres: once, with all their tellings, whole or named, by whichever embedder
and analyser.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.signals import schema as table_module
from chatbot.memory.signals.analysis import CAP, RULES, SCHEMA
from chatbot.memory.signals.news_sources import News, one_news, read_news
from chatbot.memory.signals.records import Imported, NewsItem, NewsReading, SignalsError
from chatbot.memory.signals.schema import MIGRATIONS, VERSION, migrate, store_state
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.writing_scripts import own_threshold
from tests.chatbot.memory.signals.postgres import (
    EMBEDDER,
    NOW,
    EnglishEmbedder,
    ask,
    connect,
    item,
    news,
    put,
    store,
)
from tests.fakes import HashEmbedder, ScriptedModel


def test_the_development_export_twice_is_662_events_once_with_all_699_tellings(
    shared: Path, database: str, tmp_path: Path
) -> None:
    told = read_news(shared / "news" / "telegram_messages_nasonov.json")
    signals = store(tmp_path, database, EnglishEmbedder())
    first, second = signals.add(told), signals.add(told)
    assert (first.read, first.events, first.tellings, first.without_text, first.problem) == (
        699,
        662,
        699,
        38,
        "",
    )
    assert first.read == first.events + first.repeated + first.known
    assert (second.events, second.tellings, second.known, second.analysed) == (0, 0, 699, {})
    with connect(database) as connection:
        assert connection.execute(
            "SELECT count(*), count(DISTINCT content_text) FROM news_events"
        ).fetchone() == (662, 662)
        assert connection.execute("SELECT count(*) FROM news_sources").fetchone() == (699,)
    at = replace(
        ask("Что с ключевой ставкой ЦБ?", EnglishEmbedder()),
        now=max(one.at for one in told.items).timestamp(),
    )
    found = signals.find(at.question, at.vector, 3, as_of=max(one.at for one in told.items))
    assert len(found) == 3 and all(one.by == "keywords" and one.at.year == 2024 for one in found)


def test_one_text_told_twice_is_one_event_as_old_as_its_first_telling(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(News((item("Rates rose.", 1, source="late", hours=1),)))
    done = signals.add(News((item("Rates\n rose.", 7, source="early", hours=9),)))
    assert (done.events, done.tellings) == (0, 1)
    (row,) = signals.listed()
    assert row.at == NOW - timedelta(hours=9)
    assert [source[:2] for source in row.sources] == [("early", "7"), ("late", "1")]


def test_a_post_whose_text_was_changed_later_stays_as_first_told_and_is_counted(
    database: str, tmp_path: Path
) -> None:
    signals = store(tmp_path, database)
    signals.add(news("Rates rose."))
    done = signals.add(news("Rates fell."))
    assert (done.events, done.changed, done.known) == (0, 1, 0)
    assert [row.text for row in signals.listed()] == ["Rates rose."]


def test_a_post_without_words_is_kept_and_never_recalled(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    done = signals.add(news("", "Rates rose."))
    assert (done.events, done.embedded, done.without_text, done.analysed) == (2, 1, 1, {RULES: 1})
    assert [(row.text, row.state) for row in signals.listed()] == [("Rates rose.", "vector"), ("", "nothing")]


def test_two_imports_at_once_keep_everything_once(database: str, tmp_path: Path) -> None:
    told = news(*(f"News number {number} on rates." for number in range(60)))
    stores, done = [store(tmp_path, database) for _ in range(2)], list[Imported]()
    threads = [threading.Thread(target=lambda one=one: done.append(one.add(told))) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(one.events for one in done) == 60 == len(stores[0].listed(100))


def test_imports_of_the_same_news_in_opposite_orders_do_not_stop_each_other(
    database: str, tmp_path: Path
) -> None:
    stores = [store(tmp_path / str(number), database) for number in range(2)]
    stores[0].add(news())
    failed = list[BaseException]()

    def add(one: Signals, told: Sequence[NewsItem]) -> None:
        try:
            one.add(News(tuple(told)))
        except BaseException as error:  # told by the test itself
            failed.append(error)

    for number in range(4):
        told = [item(f"Round {number}, news {one} on rates.", 1_000 * number + one) for one in range(480)]
        threads = [
            threading.Thread(target=add, args=(one, part))
            for one, part in zip(stores, (told, told[::-1]), strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == [] and stores[0].health().events == 4 * 480


def test_one_import_writes_at_a_time(database: str, tmp_path: Path) -> None:
    """Two that write rows of each other's in another order would each wait for the other."""
    first, second = (store(tmp_path / str(number), database) for number in range(2))
    first.add(news())
    thread = threading.Thread(target=second.add, args=(news("Rates rose."),))
    with first._writing():
        thread.start()
        thread.join(0.7)
        assert thread.is_alive() and first.health().events == 0, "those that read wait for nobody"
    thread.join(20)
    assert first.health().events == 1


def test_two_files_of_one_name_are_both_kept(database: str, tmp_path: Path) -> None:
    signals, file = store(tmp_path, database), tmp_path / "news.csv"
    for month in ("January", "February"):
        file.write_text(
            f"id,text,date\n1,Rates rose in {month}.,2025-02-27\n2,Oil fell in {month}.,2025-02-27\n"
        )
        done = [signals.add(read_news(file)) for _ in range(2)]
        assert [(one.events, one.known, one.changed) for one in done] == [(2, 0, 0), (0, 2, 0)]
    assert len(signals.listed()) == 4


def test_news_that_were_removed_stay_away_until_somebody_adds_them_again(
    database: str, tmp_path: Path
) -> None:
    signals, told = store(tmp_path, database), news("Rates rose.", "Wheat fell.")
    signals.add(told)
    (event,) = (row.event for row in signals.listed() if row.text == "Rates rose.")
    signals.remove(event)
    for again in (told, news("Rates\nrose.", "Wheat fell."), News((item("Rates rose.", 9, source="other"),))):
        done = signals.add(again)
        assert (done.events, done.tellings, done.removed) == (0, 0, 1)
    assert [row.text for row in signals.listed()] == ["Wheat fell."]
    assert signals.add(one_news("Rates rose.", source="me"), again=True).events == 1
    assert len(signals.listed()) == 2 and signals.add(told).removed == 0


class FailingEmbedder(HashEmbedder):
    """Fails until it is mended."""

    broken = True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.broken:
            raise ModelError("the embedder is down")
        return super().embed(texts)


def test_an_embedder_that_fails_loses_nothing_and_the_next_import_goes_on(
    database: str, tmp_path: Path
) -> None:
    embedder = FailingEmbedder()
    signals = store(tmp_path, database, embedder)
    done = signals.add(news("The key rate rose in Ankara."))
    assert done.events == 1 and "the embedder is down" in done.problem
    assert [one.by for one in signals.find("key rate in Ankara", None, 3, as_of=NOW)] == ["keywords"]
    embedder.broken = False
    assert signals.add(news()).embedded == 1
    assert signals.listed()[0].state == "vector"


class ZeroEmbedder(HashEmbedder):
    """Gives vectors of no length."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.zeros((len(texts), self.dimension), np.float32)


def test_zero_vectors_of_an_embedder_are_refused_and_the_news_found_by_keywords(
    database: str, tmp_path: Path
) -> None:
    signals = store(tmp_path, database, ZeroEmbedder())
    done = signals.add(news("The key rate rose in Ankara."))
    assert "length zero" in done.problem and done.embedded == 0
    assert [one.by for one in signals.find("key rate in Ankara", np.zeros(64, np.float32), 3, as_of=NOW)] == [
        "keywords"
    ]


# --- scripts
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Банк России повысил ключевую ставку до 21%", "Что с ключевой ставкой Банка России?"),
        ("中国人民银行下调存款准备金率", "存款准备金率"),
        ("Биткоин вырос до 100 тысяч долларов", "bitcoin in dollars"),
        ("Η κεντρική τράπεζα μείωσε τα επιτόκια", "Τι έκανε η κεντρική τράπεζα;"),
    ],
)
def test_text_in_another_script_is_found_by_keywords_where_the_embedder_is_english(
    text: str, question: str, database: str, tmp_path: Path
) -> None:
    embedder = EnglishEmbedder()
    signals = store(tmp_path, database, embedder)
    done = signals.add(news(text, "Wheat prices fell in Chicago."))
    assert (done.embedded, done.by_keywords) == (1, 1)
    found = signals.find(question, embedder.embed([question])[0], 3, as_of=NOW)
    assert [(one.text, one.by) for one in found] == [(text, "keywords")]


def test_a_question_in_another_script_matches_nothing_by_an_english_vector(
    database: str, tmp_path: Path
) -> None:
    embedder = EnglishEmbedder()
    signals = store(tmp_path, database, embedder)
    signals.add(news("Wheat prices fell in Chicago."))
    alike = embedder.embed(["Wheat prices fell in Chicago."])[0]
    assert [one.by for one in signals.find("Wheat prices?", alike, 3, as_of=NOW)] == ["vector"]
    assert signals.find("Кто такой Пушкин?", alike, 3, as_of=NOW) == []


def test_another_embedder_gives_text_of_any_script_its_vector(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    assert signals.add(news("Банк России повысил ключевую ставку")).embedded == 1


# --- embedders
# ------------------------------------------------------------------------------------------------------------


def test_another_embedder_is_refused_at_import_and_found_by_keywords_until_embedded_anew(
    database: str, tmp_path: Path
) -> None:
    first, other = store(tmp_path, database), store(tmp_path, database, HashEmbedder(dimension=32))
    first.add(news("The key rate rose in Ankara."))
    with pytest.raises(SignalsError, match="hash-64.*hash-32") as refused:
        other.add(news("More."))
    assert refused.value.kind == "embedder"
    question = ask("key rate in Ankara", HashEmbedder(dimension=32))
    assert [one.by for one in other.find(question.question, question.vector, 3, as_of=NOW)] == ["keywords"]
    assert (other.health().state, "another embedder" in other.health().message) == ("fallback", True)
    assert other.reembed().embedded == 1
    assert [one.by for one in other.find(question.question, question.vector, 3, as_of=NOW)] == ["vector"]
    assert other.health().state == "normal" and len(other.listed()[0].readings) == 1


def test_vectors_of_more_than_two_thousand_numbers_are_indexed_in_half_precision(
    database: str, tmp_path: Path
) -> None:
    small, large = store(tmp_path, database), HashEmbedder(dimension=3_072)
    small.add(news("The key rate rose in Ankara."))
    signals = store(tmp_path, database, large)
    signals.reembed()
    question = ask("key rate in Ankara", large)
    assert [one.by for one in signals.find(question.question, question.vector, 3, as_of=NOW)] == ["vector"]
    back = store(tmp_path, database)
    back.reembed()
    assert [
        one.by for one in back.find("key rate in Ankara", ask("key rate in Ankara").vector, 3, as_of=NOW)
    ] == ["vector"]


def test_the_threshold_is_the_embedders_unless_it_is_set(tmp_path: Path) -> None:
    assert (
        own_threshold("minilm-53aa-b1-384-t1") == 0.37
        and own_threshold("text-embedding-3-small-1536-t1") == 0.40
    )
    assert store(tmp_path, "host=nowhere", threshold=0.7).threshold == 0.7


# --- tables
# ------------------------------------------------------------------------------------------------------------


def test_migrations_can_be_run_again_and_change_nothing(database: str) -> None:
    shape = (
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = "
        "'public' ORDER BY 1, 2"
    )
    with connect(database) as connection:
        for _ in range(2):
            with connection.transaction():
                migrate(connection, "by hand", 4)
        before = connection.execute(shape).fetchall()
        put(connection, [1, 0, 0, 0], (0.9, ["BTC"]))
        with connection.transaction():
            assert migrate(connection, "another", 8) == store_state(connection)
        assert connection.execute(shape).fetchall() == before
        assert store_state(connection).embedder == "by hand" and store_state(connection).dimension == 4
        assert connection.execute("SELECT count(*) FROM ai_signals").fetchone() == (1,)


def test_an_older_schema_is_named_and_the_next_import_updates_it_losing_nothing(
    database: str, tmp_path: Path
) -> None:
    with connect(database) as connection:
        with connection.transaction():
            migrate(connection, EMBEDDER.fingerprint, EMBEDDER.dimension, migrations=MIGRATIONS[:1])
        connection.execute(
            (
                "INSERT INTO news_events (source, source_message_id, content_text, content_hash, "
                "published_at) VALUES ('old', '1', 'Key rate rose.', 'h', %s)"
            ),
            [NOW],
        )
    signals = store(tmp_path, database)
    with pytest.raises(SignalsError, match=f"of version 1, older than {VERSION}") as named:
        signals.find("key rate", None, 3)
    assert named.value.kind == "schema" and signals.health().state == "failed"
    assert signals.add(news("More.")).embedded == 2
    assert {row.text for row in signals.listed()} == {"Key rate rose.", "More."}


def test_a_newer_schema_is_left_alone(database: str, tmp_path: Path) -> None:
    with connect(database) as connection, connection.transaction():
        migrate(connection, EMBEDDER.fingerprint, EMBEDDER.dimension)
    signals = store(tmp_path, database)
    signals.add(news("Rates rose."))
    event = signals.listed()[0].event
    with connect(database) as connection:
        connection.execute("UPDATE signal_store SET version = 99")
    signals = store(tmp_path, database)
    calls: list[Callable[[], object]] = [
        lambda: signals.add(news("More.")),
        lambda: signals.find("key rate", None, 3),
        signals.reembed,
    ]
    for call in [
        *calls,
        lambda: signals.remove(event),
        lambda: signals.correct(event, NewsReading("x", (), "observe", 0.5, "a person")),
    ]:
        with pytest.raises(SignalsError, match="version 99, newer") as named:
            call()
        assert named.value.kind == "newer-schema"
    with connect(database) as connection:
        assert connection.execute(
            "SELECT s.analyser FROM news_events JOIN ai_signals s ON true"
        ).fetchall() == [(RULES,)]


def test_health_counts_what_can_be_recalled_now_and_why_not_the_rest(database: str, tmp_path: Path) -> None:
    signals, now = store(tmp_path, database), datetime.now(UTC)
    ages = {
        "The key rate rose.": 1,
        "Rates rose in Ankara.": 1,
        "The key rate fell.": 200,
        "Nothing is known of it.": 200,
        "The key rate rises.": -1,
    }
    items = (
        NewsItem("channel", str(number), text, now - timedelta(hours=hours))
        for number, (text, hours) in enumerate(ages.items())
    )
    signals.add(News((*items, item("", 9))))
    health = signals.health(replace(signals.options, confidence=0.6))
    assert (health.events, health.read, health.recallable, health.unsure, health.old, health.early) == (
        6,
        5,
        1,
        2,
        2,
        1,
    )
    found = signals.find(
        "The key rate rose.",
        EMBEDDER.embed(["The key rate rose."])[0],
        9,
        options=replace(signals.options, confidence=0.6),
    )
    assert len(found) == health.recallable
    health = signals.health(replace(signals.options, confidence=0.0, hours=300))
    assert (health.recallable, health.unsure, health.old, health.confidence, health.hours) == (
        4,
        0,
        0,
        0.0,
        300,
    )


def test_what_was_never_imported_is_said_and_starts_no_server(tmp_path: Path) -> None:
    signals = Signals(tmp_path / "signals", EMBEDDER)
    calls: list[Callable[[], object]] = [
        lambda: signals.find("rates", None, 3),
        signals.listed,
        signals.reembed,
        lambda: signals.remove(1),
    ]
    for call in calls:
        with pytest.raises(SignalsError, match="No news has been imported") as named:
            call()
        assert named.value.kind == "off" and "signals import FILE" in named.value.hint
    assert not (tmp_path / "signals").exists()


def test_the_migrations_are_counted_by_their_names() -> None:
    assert [path.name[:3] for path in table_module.MIGRATIONS] == [
        f"{number:03}" for number in range(1, VERSION + 1)
    ]


# --- analysis in the store
# --------------------------------------------------------------------------------------------------


def reply(**changes: Any) -> list[str]:
    return [
        json.dumps(
            {
                "summary": "Rates rose to 21%.",
                "assets": ["rub", "$BTC", "no code!"],
                "action": "sell",
                "confidence": 0.9,
            }
            | changes
        )
    ]


def test_a_model_reads_each_news_once_with_a_structured_reply(database: str, tmp_path: Path) -> None:
    signals, model = store(tmp_path, database), ScriptedModel(reply())
    assert signals.add(news("Rates rose."), model).analysed == {"scripted": 1}
    assert signals.add(news("Rates rose."), model).analysed == {}
    assert signals.listed()[0].readings == (
        NewsReading("Rates rose to 21%.", ("RUB", "BTC"), "sell", 0.9, "scripted"),
    )
    assert [schema for _, _, schema in model.calls] == [SCHEMA]


def test_a_model_that_fails_is_left_alone_after_three_and_rules_read_the_rest(
    database: str, tmp_path: Path
) -> None:
    signals, model = store(tmp_path, database), ScriptedModel([ModelError("it is down")])
    done = signals.add(news(*(f"News {number} on the key rate." for number in range(6))), model)
    assert len(model.calls) == 3 and done.analysed == {RULES: 6} and "it is down" in done.problem
    assert all(one.readings[0].confidence <= CAP for one in signals.listed())


# --- looking and correcting
# -------------------------------------------------------------------------------------------------


def test_news_are_searched_by_their_words_sources_and_signals(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(
        News(
            (
                item("Rates ROSE in Riga.", 1, source="agency"),
                item("Wheat fell 5%_.", 2, source="bulletin"),
                item("Ставка выросла.", 3),
            )
        )
    )
    signals.correct(
        next(row.event for row in signals.listed() if "Wheat" in row.text),
        NewsReading("A harvest.", ("WHEAT",), "sell", 0.8, "a person"),
    )

    def found(words: str) -> list[str]:
        return [row.text[:5] for row in signals.listed(search=words)]

    assert found("rose") == found("AGENCY rates") == found("riga") == ["Rates"]
    assert found("harvest") == found("sell wheat") == found("5%_") == found("bulletin") == ["Wheat"]
    assert found("ставка") == ["Ставк"] and len(found("")) == 3
    assert found("rose wheat") == found("w%t") == found("\ud800") == []


def test_a_signal_is_corrected_and_an_event_removed(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(news("Rates rose."))
    event = signals.listed()[0].event
    mine = NewsReading("It was a rumour.", ("RUB",), "observe", 0.2, "a person")
    signals.correct(event, mine)
    assert signals.listed()[0].readings == (mine,)
    with pytest.raises(UsageError, match="'hold'"):
        signals.correct(event, replace(mine, action="hold"))
    signals.remove(event)
    assert signals.listed() == [] and signals.health().state == "empty"
    for call in (lambda: signals.remove(event), lambda: signals.correct(event, mine)):
        with pytest.raises(NotFoundError, match=f"no news event {event}"):
            call()


def test_the_timeline_counts_each_event_once_by_day_and_asset(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(
        News(
            (
                item("Bitcoin rose.", 1),
                item("Bitcoin fell against the dollar.", 2),
                item("Wheat was sown.", 3, hours=30),
            )
        )
    )
    assert [(one.day, one.asset, one.signals) for one in signals.timeline()] == [
        ("2025-02-28", "", 1),
        ("2025-03-01", "BTC", 2),
        ("2025-03-01", "USD", 1),
    ]
    assert signals.timeline(0.99) == []


def test_a_search_by_asset_knows_no_case(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(news("Bitcoin prices rose.", "Wheat prices rose."))
    vector = EMBEDDER.embed(["prices rose"])[0]
    assert [one.text for one in signals.find("prices rose", vector, 9, as_of=NOW, assets=("btc",))] == [
        "Bitcoin prices rose."
    ]


def test_rows_of_another_writer_without_tellings_are_found(database: str, tmp_path: Path) -> None:
    signals = store(tmp_path, database)
    signals.add(news())
    with connect(database) as connection:
        put(connection, list(EMBEDDER.embed(["key rate"])[0]), (0.9, []), text="key rate")
    assert [
        one.source for one in signals.find("key rate", EMBEDDER.embed(["key rate"])[0], 3, as_of=NOW)
    ] == ["hand"]
