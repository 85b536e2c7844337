"""Takes news as it comes: from feeds that it visits, and from what others push to the server."""

from __future__ import annotations

import calendar
import html
import logging
import queue
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chatbot.errors import ProjectError
from chatbot.memory.signals.news_sources import LONGEST_TEXT, News, item_of
from chatbot.memory.signals.records import NewsItem
from chatbot.memory.signals.signal_store import Signals
from chatbot.models.chat import LLM
from chatbot.models.web_pages import WebError, fetch_page, host_of
from chatbot.serialize import WEB
from chatbot.settings import Settings
from ingestion.errors import ReaderDiedError
from ingestion.invisible_characters import one_line, visible
from ingestion.reading.reader import read_feed

__all__ = ["FeedVisit", "LiveNews", "feed_news"]

log = logging.getLogger(__name__)

# News that waits to be read while a model is slow.
MOST_WAITING = 1_000
CLEAN_SECONDS = 3_600.0
MINUTE = 60.0
TAG = re.compile(r"<[^<>]{0,2000}>")


@dataclass(frozen=True, slots=True)
class FeedVisit:
    """The last visit of a feed.

    at: seconds since the epoch.
    news: how many items were new to the feed's reader, known ones among them.
    problem: why nothing could be read, "" if it could.
    """

    url: str
    at: float
    news: int = 0
    problem: str = ""


class LiveNews:
    """Reads the feeds of the settings in a thread of its own, and stores what is pushed. Safe to use from
    several threads.
    """

    def __init__(self, signals: Signals, model: Callable[[], LLM | None], settings: Settings) -> None:
        """Starts the thread. model: the chat model that reads the signals, asked for each time."""
        self._signals, self._model, self._settings = signals, model, settings
        self._waiting: queue.Queue[News | None] = queue.Queue(MOST_WAITING)
        self._marks: dict[str, Mapping[str, str]] = {}
        self._visits: dict[str, FeedVisit] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="live-news", daemon=True)
        self._thread.start()

    def take(self, news: News) -> None:
        """Stores news soon. Raises ProjectError if too much waits already."""
        try:
            self._waiting.put_nowait(news)
        except queue.Full:
            raise ProjectError(
                "Too much news waits to be read.", hint="Push it again later.", retryable=True
            ) from None

    def visits(self) -> list[FeedVisit]:
        """Returns the last visit of each feed, in the order of the settings."""
        return [self._visits[url] for url in self._settings.feeds.split() if url in self._visits]

    def wait(self) -> None:
        """Waits until all that was taken is stored."""
        self._waiting.join()

    def close(self) -> None:
        """Stops; what still waits is lost. A fetch that is under way ends with the process."""
        self._closed = True
        while not self._waiting.empty():
            self._waiting.get_nowait()
            self._waiting.task_done()
        self._waiting.put(None)
        self._thread.join(1.0)

    def _work(self) -> None:
        next_visit = next_clean = time.monotonic()
        while not self._closed:
            now = time.monotonic()
            if now >= next_visit:
                for url in self._settings.feeds.split():
                    self._visit(url)
                next_visit = now + max(1.0, self._settings.feed_minutes) * MINUTE
            if now >= next_clean:
                self._try(self._signals.clean)
                next_clean = now + CLEAN_SECONDS
            try:
                news = self._waiting.get(timeout=max(0.0, min(next_visit, next_clean) - time.monotonic()))
            except queue.Empty:
                continue
            if news is not None:
                self._store(news)
            self._waiting.task_done()

    def _visit(self, url: str) -> None:
        if self._closed:
            return
        now, news = time.time(), News(())
        try:
            page = fetch_page(url, self._settings, rule="", known=self._marks.get(url))
            if page.changed:
                news = feed_news(page.body, url, self._settings.feed_seconds)
        except ProjectError as error:
            self._visits[url] = FeedVisit(url, now, problem=str(error))
            log.warning("the feed of %s: %s", visible(host_of(url)), visible(str(error)))
            return
        problem = self._store(news) if news.items else ""
        if not problem:
            self._marks[url] = page.mark
        self._visits[url] = FeedVisit(url, now, len(news.items), problem)

    def _store(self, news: News) -> str:
        """Stores news. Returns why it could not be, "" if it could."""
        return self._try(lambda: self._signals.add(news, self._model()))

    def _try(self, step: Callable[[], object]) -> str:
        try:
            step()
        except ProjectError as error:
            log.warning("storing news: %s", visible(str(error)))
            return str(error)
        except Exception:
            if not self._closed:
                log.exception("storing news failed")
            return "Something inside failed."
        return ""


def feed_news(data: bytes, url: str, seconds: float) -> News:
    """The news of an RSS or Atom feed; an entry without a date counts as published now.

    It is parsed in a reading process, within so many seconds. Raises WebError for what is no feed, or takes
    longer.
    """
    try:
        feed = read_feed(data, seconds)
    except ReaderDiedError:
        raise WebError(
            f"{host_of(url)} sends a feed that takes more than {seconds:g} seconds or too much memory.",
            hint="Remove it from FINPOLICY_FEEDS, or set FINPOLICY_FEED_SECONDS to more.",
        ) from None
    if "entries" not in feed:
        raise WebError(f"{host_of(url)} sends no RSS or Atom feed.", hint="Check the address of the feed.")
    title, host = one_line(str(feed["title"] or "")), host_of(url)
    items = [_item(entry, f"{title} ({host})" if title else host) for entry in feed["entries"]]
    return News(tuple(item for item in items if any(map(str.isalnum, item.text))))


def _item(entry: Mapping[str, Any], source: str) -> NewsItem:
    title, body, link = _plain(entry["title"]), _plain(entry["summary"]), str(entry["link"] or "").strip()
    told, at = entry["published_parsed"] or entry["updated_parsed"], datetime.now(UTC)
    with suppress(TypeError, ValueError, OverflowError, OSError):
        at = min(at, datetime.fromtimestamp(calendar.timegm(told), UTC))
    row = {
        "text": body if body.startswith(title) else f"{title}\n{body}",
        "date": at.isoformat(),
        "link": link if link.lower().startswith(WEB) else "",
        "source": source,
        "id": entry["id"] or link or title,
    }
    return item_of(row, source)


def _plain(value: object) -> str:
    """The words of HTML."""
    text = html.unescape(TAG.sub(" ", str(value or "")[: 10 * LONGEST_TEXT]))
    return " ".join(text.replace("\0", " ").split())
