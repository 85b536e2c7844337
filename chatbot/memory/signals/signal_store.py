"""Manages the store of signals: imports, embeds and analyses news, and searches, lists and corrects them.

It writes no notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from chatbot.errors import ModelError, NotFoundError, StoreError, UsageError
from chatbot.memory.import_files import Progress, no_progress
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals import news_tables
from chatbot.memory.signals.analysis import read_by_model, read_by_rules
from chatbot.memory.signals.news_places import NewsFile, StoreState, moment, nothing_imported
from chatbot.memory.signals.news_postgres import VECTORS_HINT, NewsPlace, NewsPostgres, not_set_up
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import (
    ACTIONS,
    AssetRow,
    EventRow,
    Health,
    Imported,
    NewsItem,
    NewsReading,
    RecalledEvent,
    SignalOptions,
    SignalsError,
)
from chatbot.memory.signals.signal_use import TABLES, CircuitBreaker, SourceRatings, State
from chatbot.memory.signals.writing_scripts import is_unread, own_threshold
from chatbot.models.chat import LLM
from chatbot.models.embedders import Embedder
from chatbot.settings import PROGRAM
from chatbot.store.database import Transaction
from chatbot.store.vector_index import Vectors

__all__ = ["Signals"]

# Items and vectors of one transaction. A kill loses that much, and the next import does it again.
BATCH = 500
EMBEDDED_AT_ONCE = 64
READ_AT_ONCE = 50
# A model that failed this often in a row is not asked again in an import.
MOST_MODEL_FAILURES = 3
WAITING = "Some news could not be embedded. It is found by keywords until the next import."
# Of each item: it is stored, embedded and analysed.
STEPS = 3
KEEP_STATE = """insert into signal_state values (?, ?)
    on conflict (name) do update set value = excluded.value"""
KEEP_VECTOR = "update news_events set embedding = ?, found_by = ? where id = ?"
PENDING = "select id, content_text from news_events where found_by = 'pending' order by id limit ?"
UNREAD = """select id, source, source_message_id, content_text, published_at from news_events e
    where found_by <> 'nothing' and id > ?
    and not exists (select 1 from ai_signals s where s.news_event_id = e.id) order by id limit ?"""


class Signals:
    """News and their signals, in the file of all memories or in a Postgres. Safe to use from several threads.

    It connects to nothing until it is used.
    """

    def __init__(
        self,
        embedder: Embedder,
        options: SignalOptions | None = None,
        *,
        database: MemoryDatabase | None = None,
    ) -> None:
        """embedder: whose vectors are used.

        database: of all memories; None to keep everything in this object alone. Raises StoreError.
        """
        self.options, self.breaker = options or SignalOptions(), CircuitBreaker()
        self._kept, self._embedder = database or MemoryDatabase(None), embedder
        self._kept.prepare(TABLES)
        self.ratings = SourceRatings(self._kept)
        self.place: NewsPlace = NewsFile(self._kept)
        if self.options.address:
            self.place = NewsPostgres(self.options.address, self.options.seconds)

    # --- whether it is in use
    # -----------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Whether something was imported, and whether it is switched on, without opening a database.

        A database of the user's own counts as imported into, if it can be asked. A state that cannot be read
        is the initial one.
        """
        found = dict[str, int]()
        with suppress(StoreError):
            found.update(self._kept.read("select name, value from signal_state"))
        theirs = self.options.address and not not_set_up()
        return State(bool(found.get("imported") or theirs), bool(found.get("on", True)))

    @property
    def off(self) -> SignalsError | None:
        """Why it is not in use, None if it is."""
        state = self.state
        if not state.on:
            hint = f"Turn them on: {PROGRAM} memory signals on"
            return SignalsError("News signals are off.", kind="off", hint=hint)
        return None if state.imported else self.not_set_up() or nothing_imported()

    def not_set_up(self) -> SignalsError | None:
        """Why no news can be kept in the database that was named, None if it can or none was named."""
        return not_set_up("off") if self.options.address else None

    def switch(self, **states: bool) -> None:
        """Note that it is `on`, or recalls nothing while it stays as it is; and that news was `imported`.

        Raises StoreError.
        """
        self._kept.change_each(KEEP_STATE, states.items())

    def close(self) -> None:
        """Close its connections."""
        self.place.close()

    @property
    def threshold(self) -> float:
        """Least cosine similarity of a recall."""
        return self.options.threshold or own_threshold(self._embedder.fingerprint)

    # --- news in
    # --------------------------------------------------------------------------------------------------------

    def add(
        self, news: News, model: LLM | None = None, *, again: bool = False, progress: Progress = no_progress
    ) -> Imported:
        """Store what is new of the news, then embed and analyse everything that waits for it.

        That includes news of earlier imports. A second time it changes nothing. model: None for the rules.
        again: also store what somebody removed. progress: called with how many of the three steps of each
        item are done. Raises SignalsError; what was stored until then stays.
        """
        self.place.make(self._embedder.fingerprint, self._embedder.dimension)
        embedder = self.place.state().embedder
        if embedder != self._embedder.fingerprint:
            raise SignalsError(
                f"The signals were embedded with {embedder}, but {self._embedder.fingerprint} is configured.",
                kind="embedder",
                hint=f"Configure that model again, or embed them again: {PROGRAM} memory signals reembed",
            )
        kept = Counter(without_text=sum(not item.text for item in news.items))
        for start in range(0, len(news.items), BATCH):
            items = news.items[start : start + BATCH]
            with self.place.write() as changes:
                kept += news_tables.keep_items(self.place, changes, items, again=again)
            progress(start + len(items), STEPS * len(news.items))
        self.switch(imported=True)
        done = Imported(
            len(news.items) + news.unread, refused=news.refused, unread=news.unread, **dict[str, Any](kept)
        )
        done = self._analyse(self._embed(done, progress), model, progress)
        self.clean()
        return done

    def clean(self) -> int:
        """Erase news that was published more than `options.days` ago, and return how much.

        Raises SignalsError.
        """
        if not self.options.days or not self.state.imported:
            return 0
        self.place.state()
        before = self.place.time(datetime.now(UTC) - timedelta(days=self.options.days))
        with self.place.write() as changes:
            erased = changes.execute("delete from news_events where published_at < ?", [before]).rowcount
        if erased:
            self.place.erased()
        return erased

    def reembed(self) -> Imported:
        """Drop the vectors and make them anew with this embedder.

        Signals stay, and are found by keywords until each has its vector. Raises SignalsError.
        """
        self.place.state()
        self.place.renew(self._embedder.fingerprint, self._embedder.dimension)
        return self._embed(Imported(), no_progress)

    def archived(self) -> NewsPlace | None:
        """Where to read all that is stored; None if there is nothing. Raises SignalsError."""
        try:
            if self.state.imported:
                self.place.state()
                return self.place
        except SignalsError as error:
            if error.kind != "off":
                raise
        return None

    @contextmanager
    def importing(self) -> Iterator[Transaction]:
        """A transaction to store news of an archive, which the next import embeds. Raises SignalsError."""
        self.place.make(self._embedder.fingerprint, self._embedder.dimension)
        with self.place.write() as changes:
            yield changes
        self.switch(imported=True)

    # --- signals out
    # --------------------------------------------------------------------------------------------------------

    def find(
        self,
        text: str,
        vector: Vectors | None,
        n: int,
        *,
        as_of: datetime | None = None,
        options: SignalOptions | None = None,
    ) -> list[RecalledEvent]:
        """At most n events that are like the question, by meaning first, then by keywords.

        vector: the question's, None if it could not be embedded; one of no length is ignored. as_of: news
        after it do not count; default now. options: whose thresholds and assets hold; default the
        store's own. Raises SignalsError.
        """
        wanted, as_of = replace(options or self.options, most_notes=n), as_of or datetime.now(UTC)
        with self.place.looking():
            state = self._searchable()
            found = list[RecalledEvent]()
            by_vector = (
                not is_unread(text, self._embedder.fingerprint)
                and vector is not None
                and vector.shape == (state.dimension,)
                and state.embedder == self._embedder.fingerprint
                and bool(np.isfinite(vector).all() and vector.any())
            )
            if by_vector:
                found = news_tables.search_memory_events(
                    self.place,
                    vector,
                    wanted.threshold or self.threshold,
                    n,
                    wanted.confidence,
                    wanted.hours,
                    wanted.assets,
                    as_of,
                )
            if len(found) < n:
                rest = replace(wanted, most_notes=n - len(found))
                found += news_tables.search_by_keywords(
                    self.place, text, rest, as_of, all_events=not by_vector
                )
            return found

    def _searchable(self) -> StoreState:
        """The state of the tables. Raises SignalsError if their vectors were dropped with the extension."""
        state = self.place.state()
        if not state.vectors:
            problem = "The vectors of the signals are gone: the extension pgvector was dropped."
            raise SignalsError(problem, kind="no-vector", hint=VECTORS_HINT)
        return state

    def listed(self, most: int = 50, *, search: str = "", asset: str = "") -> list[EventRow]:
        """Events with their tellings and readings, latest first.

        search: only those with each of its words. asset: only those with a signal that names it. Raises
        SignalsError.
        """
        return news_tables.list_events(self._reading(), most, search=search, asset=asset)

    def assets(self) -> list[AssetRow]:
        """What the news says of each asset, most news first; of each event its best signal counts.

        Raises SignalsError.
        """
        return news_tables.list_assets(self._reading())

    def correct(self, event: int, reading: NewsReading) -> None:
        """Replace all readings of an event by a person's.

        Raises NotFoundError, UsageError and SignalsError.
        """
        if reading.action not in ACTIONS or not 0 <= reading.confidence <= 1:
            raise UsageError(
                f"The signal is {reading.action!r} at {reading.confidence}.",
                hint="Use buy, sell or observe, with a confidence from 0 to 1.",
            )
        with self._changing(event) as changes:
            changes.execute("delete from ai_signals where news_event_id = ?", [event])
            news_tables.keep_readings(self.place, changes, event, [reading])

    def remove(self, event: int) -> None:
        """Erase an event with its tellings and signals; no import brings it back.

        Raises NotFoundError and SignalsError.
        """
        with self._changing(event) as changes:
            news_tables.remove_event(self.place, changes, event)
        self.place.erased()

    def health(self, options: SignalOptions | None = None) -> Health:
        """The state of the store, asked now; a database that is back closes the breaker.

        While the store is off, it starts nothing and connects to nothing. options: whose thresholds decide
        what can be recalled, default the store's own.
        """
        limits, counts = options or self.options, dict[str, Any]()
        try:
            if why := self.off:
                raise why
            embedder = self._searchable().embedder
            counts = news_tables.count_events(self.place, limits.confidence, limits.hours)
            self.breaker.succeeded()
            state, message, hint = "normal", "The database works.", ""
            if embedder != self._embedder.fingerprint:
                state, hint = "fallback", f"Embed them again: {PROGRAM} memory signals reembed"
                message = (
                    f"The vectors come from another model ({embedder}), so news is found by keywords only."
                )
            elif not counts["signals"]:
                state, message, hint = "empty", "The database works but has no signals.", "Import news."
        except StoreError as error:
            state, message, hint = "failed", error.message, error.hint
            if isinstance(error, SignalsError) and error.kind == "off":
                state = "off"
            elif self.breaker.retry_at:
                state = "fallback"
        return Health(
            state,
            message,
            hint,
            database=self.place.shown,
            embedder=self._embedder.fingerprint,
            threshold=limits.threshold or self.threshold,
            failures=self.breaker.failures,
            retry_at=self.breaker.retry_at,
            last_success=self.breaker.last_success,
            confidence=limits.confidence,
            hours=limits.hours,
            **counts,
        )

    def ping(self) -> None:
        """Raises SignalsError unless the database answers, or the store is off."""
        if not self.off:
            self.place.read("select 1")

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _embed(self, done: Imported, progress: Progress) -> Imported:
        """Embed what waits, a batch in each transaction.

        If the embedder fails, the rest waits and is found by keywords.
        """
        while waiting := self.place.read(PENDING, [EMBEDDED_AT_ONCE]):
            rows, readable = list[tuple[Any, str, int]](), list[tuple[int, str]]()
            for event, text in waiting:
                if is_unread(text, self._embedder.fingerprint):
                    rows.append((None, "keywords", event))
                else:
                    readable.append((event, text))
            try:
                # No transaction is held while an embedder works.
                if readable:
                    vectors = self._embedder.embed([text for _, text in readable])
                    for (event, _), vector in zip(readable, vectors, strict=True):
                        rows.append((self.place.vector(vector), "vector", event))
                with self.place.write() as changes:
                    changes.executemany(KEEP_VECTOR, rows)
            except (ModelError, SignalsError) as error:
                if isinstance(error, SignalsError) and error.kind != "vector":
                    raise
                return replace(done, problem=f"{WAITING} {error}")
            embedded = done.embedded + len(readable)
            by_keywords = done.by_keywords + len(waiting) - len(readable)
            done = replace(done, embedded=embedded, by_keywords=by_keywords)
            progress(min(done.read + embedded + by_keywords, 2 * done.read), STEPS * done.read)
        return done

    def _analyse(self, done: Imported, model: LLM | None, progress: Progress) -> Imported:
        after, failures, analysed = 0, 0, Counter[str]()
        while waiting := self.place.read(UNREAD, [after, READ_AT_ONCE]):
            # No transaction is held while a model thinks.
            readings = list[tuple[int, NewsReading]]()
            for event, source, number, text, at in waiting:
                item = NewsItem(source, number, text, moment(at))
                reading = None
                if model is not None and failures < MOST_MODEL_FAILURES:
                    try:
                        reading, failures = read_by_model(item, model), 0
                    except ModelError as error:
                        failures += 1
                        done = replace(done, problem=f"Some news was read by rules. {error}")
                readings.append((event, reading or read_by_rules(item)))
            with self.place.write() as changes:
                for event, reading in readings:
                    news_tables.keep_readings(self.place, changes, event, [reading])
                    analysed[reading.analyser] += 1
            after = waiting[-1][0]
            progress(min(2 * done.read + analysed.total(), STEPS * done.read), STEPS * done.read)
        return replace(done, analysed=dict(analysed))

    @contextmanager
    def _changing(self, event: int) -> Iterator[Transaction]:
        """A transaction to change one event. Raises NotFoundError if there is no such event."""
        self.place.state()
        with self.place.write() as changes:
            if not changes.execute("select 1 from news_events where id = ?", [event]).fetchone():
                hint = f"List them: {PROGRAM} memory signals list"
                raise NotFoundError(f"There is no news event {event}.", hint=hint)
            yield changes

    def _reading(self) -> NewsPlace:
        """The place for pages and commands. Raises SignalsError if nothing was imported."""
        if why := self.off:
            raise why
        self.place.state()
        return self.place
