"""Manages the store of signals: imports, embeds and analyses news, and searches, lists and corrects them.

It writes no notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from chatbot.errors import ModelError, NotFoundError, StoreError, UsageError
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals import news_tables
from chatbot.memory.signals.analysis import RULES, read_by_model, read_by_rules
from chatbot.memory.signals.news_places import (
    NewsFile,
    Search,
    StoreState,
    moment,
    nothing_imported,
)
from chatbot.memory.signals.news_postgres import (
    INSTALL_HINT,
    NewsPlace,
    NewsPostgres,
    client_is_installed,
    no_vectors,
)
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
from chatbot.memory.signals.signal_use import CircuitBreaker, SourceRatings, State, Switch
from chatbot.memory.signals.writing_scripts import is_foreign, own_threshold, reads_english_only
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
# Called with a stage and how many are done in it.
Stages = Callable[[str, int], None]
# The least share of a question's keywords that news must hold.
KEYWORD_SHARE = 0.5
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
        kept = database or MemoryDatabase(None)
        self._switch, self._embedder = Switch(kept), embedder
        self.ratings = SourceRatings(kept)
        self.place: NewsPlace = NewsFile(kept)
        if self.options.address:
            self.place = NewsPostgres(self.options.address, self.options.seconds)

    # --- whether it is in use
    # -----------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """Whether something was imported, and whether it is switched on, without opening a database.

        A database of the user's own counts as imported into, if it can be asked.
        """
        state = self._switch.read()
        theirs = bool(self.options.address) and client_is_installed()
        return replace(state, imported=state.imported or theirs)

    @property
    def off(self) -> str:
        """Why it is not in use, "" if it is.

        A database of the user's own counts as imported into, until it says otherwise.
        """
        why = self._off()
        return why.message if why else ""

    def _off(self) -> SignalsError | None:
        state = self.state
        if not state.on:
            return SignalsError(
                "News signals are off.",
                kind="off",
                hint=f"Turn them on: {PROGRAM} memory signals on",
            )
        if state.imported:
            return None
        return self.not_set_up() or nothing_imported()

    def not_set_up(self) -> SignalsError | None:
        """Why no news can be kept in the database that was named, None if it can or none was named."""
        if not self.options.address or client_is_installed():
            return None
        return SignalsError(
            "News signals are not set up: their Postgres client (psycopg, pgvector) is not installed.",
            kind="off",
            hint=INSTALL_HINT,
        )

    def switch(self, *, on: bool) -> None:
        """Switch it on, or leave it unchanged and recall nothing. Raises StoreError."""
        self._switch.change(on=on)

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
        self,
        news: News,
        model: LLM | None = None,
        *,
        again: bool = False,
        progress: Stages = lambda stage, done: None,
    ) -> Imported:
        """Store what is new of the news, then embed and analyse everything that waits for it.

        That includes news of earlier imports. A second time it changes nothing. model: None for the rules.
        again: also store what somebody removed. progress: called with "kept", "embedded" or "analysed" and
        how many. Raises SignalsError; what was stored until then stays.
        """
        self.place.make(self._embedder.fingerprint, self._embedder.dimension)
        embedder = self.place.state().embedder
        if embedder != self._embedder.fingerprint:
            raise SignalsError(
                f"The signals were embedded with {embedder}, but {self._embedder.fingerprint} is configured.",
                kind="embedder",
                hint=f"Configure that model again, or embed them again: {PROGRAM} memory signals reembed",
            )
        kept = Counter[str](
            read=len(news.items) + news.unread,
            unread=news.unread,
            without_text=sum(not item.text for item in news.items),
        )
        for start in range(0, len(news.items), BATCH):
            with self.place.write() as changes:
                kept += news_tables.keep_items(
                    self.place, changes, news.items[start : start + BATCH], again=again
                )
            progress("kept", min(start + BATCH, len(news.items)))
        if not self._switch.read().imported:
            self._switch.change(imported=True)
        done = replace(Imported(refused=news.refused), **dict[str, Any](kept))
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
        return self._embed(Imported(), lambda stage, done: None)

    def archived(self) -> NewsPlace | None:
        """Where to read all that is stored; None if there is nothing. Raises SignalsError."""
        if self.state.imported:
            try:
                self.place.state()
            except SignalsError as error:
                if error.kind != "off":
                    raise
            else:
                return self.place
        return None

    @contextmanager
    def importing(self) -> Iterator[Transaction]:
        """A transaction to store news of an archive, which the next import embeds. Raises SignalsError."""
        self.place.make(self._embedder.fingerprint, self._embedder.dimension)
        with self.place.write() as changes:
            yield changes
        self._switch.change(imported=True)

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
        wanted = options or self.options
        search = Search(n, wanted.confidence, wanted.hours, as_of or datetime.now(UTC), wanted.assets)
        with self.place.looking():
            return self._found(text, vector, search, wanted.threshold or self.threshold)

    def _found(self, text: str, vector: Vectors | None, search: Search, least: float) -> list[RecalledEvent]:
        state = self._searchable()
        found: list[RecalledEvent] = []
        n = search.count
        # An English embedder makes meaningless vectors of other scripts.
        unread = reads_english_only(self._embedder.fingerprint) and is_foreign(text)
        if (
            unread
            or vector is None
            or vector.shape != (state.dimension,)
            or state.embedder != self._embedder.fingerprint
            or not (np.isfinite(vector).all() and vector.any())
        ):
            vector = None
        else:
            found = news_tables.search_memory_events(
                self.place, vector, least, n, search.confidence, search.hours, search.assets, search.as_of
            )
        if len(found) < n:
            found += news_tables.search_by_keywords(
                self.place,
                text,
                KEYWORD_SHARE,
                replace(search, count=n - len(found)),
                all_events=vector is None,
            )
        return found

    def _searchable(self) -> StoreState:
        """The state of the tables. Raises SignalsError if their vectors were dropped."""
        state = self.place.state()
        if not state.vectors:
            raise no_vectors()
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
        limits, breaker = options or self.options, self.breaker
        health = Health(
            "off",
            database=self.place.shown,
            embedder=self._embedder.fingerprint,
            threshold=limits.threshold or self.threshold,
            confidence=limits.confidence,
            hours=limits.hours,
        )
        try:
            why = self._off()
            if why:
                raise why
            state = self._searchable()
            counts = news_tables.count_events(self.place, limits.confidence, limits.hours)
        except StoreError as error:
            health = replace(health, message=error.message, hint=error.hint)
            if isinstance(error, SignalsError) and error.kind == "off":
                return health
            return replace(
                health,
                state="fallback" if breaker.retry_at else "failed",
                failures=breaker.failures,
                retry_at=breaker.retry_at,
                last_success=breaker.last_success,
            )
        breaker.succeeded()
        health = replace(health, **dict[str, Any](counts), last_success=breaker.last_success)
        if state.embedder != self._embedder.fingerprint:
            message = (
                f"The vectors come from another model ({state.embedder}), so news is found by keywords only."
            )
            hint = f"Embed them again: {PROGRAM} memory signals reembed"
            return replace(health, state="fallback", message=message, hint=hint)
        if not counts["signals"]:
            message = "The database works but has no signals."
            return replace(health, state="empty", message=message, hint="Import news.")
        return replace(health, state="normal", message="The database works.")

    def ping(self) -> None:
        """Raises SignalsError unless the database answers, or the store is off."""
        if not self._off():
            self.place.read("select 1")

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _embed(self, done: Imported, progress: Stages) -> Imported:
        """Embed what waits, a batch in each transaction.

        If the embedder fails, the rest waits and is found by keywords.
        """
        english = reads_english_only(self._embedder.fingerprint)
        while True:
            waiting = self.place.read(PENDING, [EMBEDDED_AT_ONCE])
            if not waiting:
                return done
            readable = [(event, text) for event, text in waiting if not (english and is_foreign(text))]
            # None for those that are found by keywords.
            vectors: dict[int, Vectors | None] = dict.fromkeys(event for event, _ in waiting)
            try:
                # No transaction is held while an embedder works.
                if readable:
                    rows = self._embedder.embed([text for _, text in readable])
                    for (event, _), row in zip(readable, rows, strict=True):
                        vectors[event] = row
                rows_of_events = [
                    (None, "keywords", event) if row is None else (self.place.vector(row), "vector", event)
                    for event, row in vectors.items()
                ]
                with self.place.write() as changes:
                    changes.executemany(KEEP_VECTOR, rows_of_events)
            except (ModelError, SignalsError) as error:
                if isinstance(error, SignalsError) and error.kind != "vector":
                    raise
                return replace(done, problem=f"{WAITING} {error}")
            embedded = done.embedded + len(readable)
            by_keywords = done.by_keywords + len(waiting) - len(readable)
            done = replace(done, embedded=embedded, by_keywords=by_keywords)
            progress("embedded", done.embedded + done.by_keywords)

    def _analyse(self, done: Imported, model: LLM | None, progress: Stages) -> Imported:
        after = 0
        failures = 0
        analysed = Counter[str]()
        while True:
            waiting = self.place.read(UNREAD, [after, READ_AT_ONCE])
            if not waiting:
                return replace(done, analysed=dict(analysed))
            # No transaction is held while a model thinks.
            readings = list[tuple[int, NewsReading]]()
            for event, source, number, text, at in waiting:
                item = NewsItem(source, number, text, moment(at))
                reading, failure = _read(item, model if failures < MOST_MODEL_FAILURES else None)
                if failure:
                    failures = failures + 1
                    done = replace(done, problem=f"Some news was read by rules. {failure}")
                elif reading.analyser != RULES:
                    failures = 0
                readings.append((event, reading))
                analysed[reading.analyser] += 1
            with self.place.write() as changes:
                for event, reading in readings:
                    news_tables.keep_readings(self.place, changes, event, [reading])
            after = waiting[-1][0]
            progress("analysed", analysed.total())

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
        why = self._off()
        if why:
            raise why
        self.place.state()
        return self.place


def _read(item: NewsItem, model: LLM | None) -> tuple[NewsReading, str]:
    """(a reading, why it is not the model's)."""
    failure = ""
    if model is not None:
        try:
            return read_by_model(item, model), ""
        except ModelError as error:
            failure = str(error)
    return read_by_rules(item), failure
