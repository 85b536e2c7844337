"""News as it comes from feeds and webhooks, what is erased in time, and how often sources were right."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals.live_news import LiveNews, feed_news
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import NewsItem
from chatbot.memory.signals.signal_use import SourceRatings
from chatbot.models.web_pages import WebError, fetch_page
from chatbot.settings import Settings
from tests.chatbot.memory.signals.postgres import news, store

FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Desk &amp; Co</title>
<item><title>OPEC cuts output</title>
<description>&lt;p&gt;Oil &lt;b&gt;falls short&lt;/b&gt;&lt;/p&gt;</description>
<link>https://news.example/1</link><guid>a1</guid><pubDate>Sat, 01 Mar 2025 10:00:00 GMT</pubDate></item>
<item><title>BTC was stolen from an exchange</title><link>javascript:alert(1)</link></item>
</channel></rss>"""
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><rss><channel><item><title>&i;</title></item></channel></rss>"
)


class Feeds(BaseHTTPRequestHandler):
    """A web server with a feed that does not change, and addresses that misbehave."""

    visits: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.visits.append(self.path)
        if self.path == "/feed" and self.headers.get("If-None-Match") == '"one"':
            self._reply(304)
        elif self.path == "/feed":
            self._reply(200, FEED.encode(), ETag='"one"')
        elif self.path == "/moved":
            self._reply(302, Location="/feed")
        elif self.path == "/round":
            self._reply(302, Location="/round")
        elif self.path == "/other":
            _, _, port = self.headers["Host"].partition(":")
            self._reply(302, Location=f"http://localhost:{port}/feed")
        elif self.path == "/inside":
            self._reply(302, Location="http://169.254.169.254/latest")
        elif self.path == "/endless":
            self._reply(200, b"x" * 6_000_000)
        else:
            self._reply(404)

    def _reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Feeds)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_feed_is_read_as_news() -> None:
    oil, theft = feed_news(FEED.encode(), "https://news.example/feed", 10.0).items
    assert oil == NewsItem(
        "Desk & Co (news.example)",
        "a1",
        "OPEC cuts output\nOil falls short",
        datetime(2025, 3, 1, 10, tzinfo=UTC),
        "https://news.example/1",
    )
    assert not theft.link, "an address that is no web address is none"
    assert datetime.now(UTC) - theft.at < timedelta(minutes=1)


HALF = b"<rss version='2.0'><channel><item><title>a &#xD800; b</title></item></channel></rss>"


@pytest.mark.parametrize("data", [b"", b"<html>", b"\0\xff", b"http://127.0.0.1/", b"{}", HALF])
def test_what_is_no_feed_is_refused(data: bytes) -> None:
    with pytest.raises(WebError, match=r"news\.example sends no RSS or Atom feed"):
        feed_news(data, "https://news.example/feed", 10.0)


def test_a_feed_that_unfolds_without_end_is_not_unfolded() -> None:
    try:
        found = feed_news(BOMB.encode(), "https://news.example/feed", 10.0).items
    except WebError:
        found = ()
    assert sum(len(item.text) for item in found) < 1_000_000


@pytest.mark.timed
def test_a_feed_made_to_be_slow_costs_the_server_nothing_and_is_named() -> None:
    attributes = " ".join(f'a{number}="b"' for number in range(32_000))
    item = f"<item {attributes}><title>x</title></item>"
    slow = f"<rss version='2.0'><channel><title>T</title>{item}</channel></rss>"
    begun = time.process_time()
    with pytest.raises(WebError, match="news.example sends a feed that takes more than 1 s") as caught:
        feed_news(slow.encode(), "https://news.example/feed", 1.0)
    assert time.process_time() - begun < 0.5
    assert "FINPOLICY_FEED_SECONDS" in caught.value.hint
    assert len(feed_news(FEED.encode(), "https://news.example/feed", 10.0).items) == 2


def test_feeds_are_visited_and_their_news_is_kept_once(web: str, place: str, tmp_path: Path) -> None:
    Feeds.visits.clear()
    signals = store(place)
    feeds = f"{web}/feed {web}/nothing"
    live = LiveNews(signals, lambda: None, Settings(home=tmp_path, feeds=feeds))
    try:
        until(lambda: len(live.visits()) == 2)
        assert [visit.news for visit in live.visits()] == [2, 0]
        assert "status 404" in live.visits()[1].problem
        assert [row.text.partition("\n")[0] for row in signals.listed()] == [
            "BTC was stolen from an exchange",
            "OPEC cuts output",
        ]
        live._visit(f"{web}/feed")
        assert live.visits()[0].news == 0, "it had not changed"
        live.take(news("Wheat prices fell."))
        live.wait()
        assert len(signals.listed()) == 3
    finally:
        live.close()


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/round", "redirects again and again"),
        ("/inside", "cannot be fetched"),
        ("/other", "cannot be fetched"),
        ("/endless", "larger than"),
    ],
)
def test_a_page_that_misbehaves_is_given_up(web: str, path: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=why):
        fetch_page(f"{web}{path}", Settings(home=tmp_path), rule="")


def test_pages_are_fetched_from_the_internet_alone_where_the_rule_says_so(web: str, tmp_path: Path) -> None:
    assert fetch_page(f"{web}/moved", Settings(home=tmp_path), rule="").url == f"{web}/feed"
    for url in (
        f"{web}/feed",
        "file:///etc/passwd",
        "https://10.0.0.1/",
        "ftp://news.example/",
        "https://[::1",
    ):
        with pytest.raises(Exception, match="cannot be fetched"):
            fetch_page(url, Settings(home=tmp_path), rule="public")
    with pytest.raises(WebError, match="FINPOLICY_OFFLINE"):
        fetch_page(f"{web}/feed", Settings(home=tmp_path, offline=True), rule="")


def test_old_news_is_erased_where_the_settings_say_so(place: str) -> None:
    fresh = NewsItem("desk", "2", "Wheat prices fell today.", datetime.now(UTC))
    old = NewsItem("desk", "1", "Wheat prices rose.", datetime.now(UTC) - timedelta(days=31))
    keeping = store(place)
    keeping.add(News((old, fresh)))
    assert keeping.clean() == 0
    assert len(keeping.listed()) == 2
    erasing = store(place, days=30)
    assert erasing.clean() == 1
    assert [row.text for row in erasing.listed()] == [fresh.text]
    erasing.add(News((old,)))
    assert len(erasing.listed()) == 1, "what is too old already does not stay"


def test_news_is_listed_by_asset(place: str) -> None:
    signals = store(place)
    signals.add(news("BTC was stolen from an exchange.", "The exchange lists BTC and ETH.", "Rain falls."))
    by_asset = {row.asset: row for row in signals.assets()}
    assert by_asset["BTC"].events == 2
    assert sum(by_asset["BTC"].actions.values()) == 2
    assert by_asset["ETH"].events == 1
    assert len(signals.listed(asset="btc")) == 2
    assert len(signals.listed(asset="eth", search="exchange")) == 1
    assert signals.listed(asset="gold") == []


def test_own_templates_stand_before_the_products(tmp_path: Path) -> None:
    from chatbot.memory.signals.templates import TEMPLATES, match_templates, templates_in

    folder = tmp_path / "memories"
    assert templates_in(TEMPLATES, folder) == templates_in(TEMPLATES)
    folder.mkdir()
    own = folder / "harvest.json"
    own.write_text(
        '{"id": "harvest", "summary": "Prices rise.", "keywords": ["harvest fails"], "action": "buy",'
        ' "confidence": 0.7}'
    )
    (found,) = match_templates("What if the harvest fails?", templates_in(TEMPLATES, folder))
    assert found.summary == "Prices rise."
    own.write_text(own.read_text().replace("rise", "soar"))
    (found,) = match_templates("What if the harvest fails?", templates_in(TEMPLATES, folder))
    assert found.summary == "Prices soar."
    replaced = replace(templates_in(TEMPLATES)[0], title="Mine")
    own.write_text(
        f'{{"id": "{replaced.id}", "title": "Mine", "summary": "s", "keywords": ["x"], "confidence": 0.5}}'
    )
    assert [one.title for one in templates_in(TEMPLATES, folder) if one.id == replaced.id] == ["Mine"]


def test_a_source_is_known_by_the_ratings_of_answers_with_its_news() -> None:
    ratings = SourceRatings(MemoryDatabase(None))
    ratings.rate("me", "talk", 1, ["desk", "wire"], helpful=True)
    ratings.rate("me", "talk", 2, ["desk"], helpful=True)
    ratings.rate("me", "talk", 2, ["desk"], helpful=False)
    assert [(row.source, row.helpful, row.unhelpful) for row in ratings.listed()] == [
        ("desk", 1, 1),
        ("wire", 1, 0),
    ]
    assert ratings.listed()[0].helpful_rate == 0.5


def until(is_so: object) -> None:
    """Waits until this is so, ten seconds at most."""
    end = time.monotonic() + 10
    assert callable(is_so)
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)
    assert is_so()
