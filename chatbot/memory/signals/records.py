"""Defines the records from a news item to a recalled signal, and the state of their store, also in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.memory.layers import counted

__all__ = [
    "ACTIONS",
    "AssetRow",
    "EventRow",
    "Health",
    "Imported",
    "NewsItem",
    "NewsReading",
    "RecalledEvent",
    "SignalOptions",
    "SignalsError",
    "SourceRow",
    "checked",
]

HOURS_OF_A_DAY = 24
ACTIONS = ("buy", "sell", "observe")


class SignalsError(StoreError):
    """The signal store cannot be used, or not for this.

    kind: "package" (it is missing) | "address" | "no-vector" | "embedder" | "vector" | "off" | one of
    postgres_faults.KINDS.
    """

    def __init__(
        self, message: str, *, kind: str, hint: str = "", retryable: bool = False, details: str = ""
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable, details=details)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class SignalOptions:
    """How signals are kept and recalled.

    address: a Postgres connection string, "" for the file of all memories.
    threshold: least cosine similarity, 0 for the embedder's own.
    confidence: least of a signal, 0 to 1.
    hours: how old news may be.
    most_notes: of one recall.
    seconds: how long a recall waits for the database.
    days: after which news is erased, 0 for never.
    templates: folder of the user's own templates, None for none.
    assets: of which one must be named; () for all.
    """

    address: str = field(default="", repr=False)
    threshold: float = 0.0
    confidence: float = 0.6
    hours: int = 168
    most_notes: int = 3
    seconds: float = 3.0
    days: float = 0.0
    templates: Path | None = None
    assets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A news item as a source tells it.

    source: channel or file.
    number: its id there.
    text: verbatim, "" for a picture alone.
    at: when it was published.
    """

    source: str
    number: str
    text: str
    at: datetime
    link: str = ""


@dataclass(frozen=True, slots=True)
class NewsReading:
    """What a news item means to its analyser.

    assets: in upper case.
    action: one of ACTIONS.
    confidence: 0 to 1.
    analyser: "rules-N" or a model's name.
    summary_cn: the summary in Chinese, "" if the analyser gave none.
    """

    summary: str
    assets: tuple[str, ...]
    action: str
    confidence: float
    analyser: str
    summary_cn: str = ""


def checked(action: object, confidence: object) -> tuple[str, float]:
    """Both as a signal has them. Raises ValueError where they are anything else."""
    if (
        action not in ACTIONS
        or isinstance(confidence, bool)
        or not isinstance(confidence, int | float)
        or not 0 <= confidence <= 1
    ):
        raise ValueError(f"its action is {action!r}, its confidence {confidence!r}")
    return str(action), float(confidence)


@dataclass(frozen=True, slots=True)
class RecalledEvent:
    """An event with its best signal.

    event: its id.
    similarity: cosine in [-1, 1]; by keywords, the share of the question's keywords that it holds.
    by: "vector" | "keywords".
    """

    event: int
    similarity: float
    by: str
    source: str
    link: str
    text: str
    at: datetime
    reading: NewsReading


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as listed.

    state: "vector" | "keywords" | "pending" | "nothing" (it has no words).
    tellings: where it was seen, the first one first, without its text.
    readings: the most confident first.
    """

    event: int
    text: str
    at: datetime
    state: str
    tellings: tuple[NewsItem, ...] = ()
    readings: tuple[NewsReading, ...] = ()

    @property
    def sources(self) -> tuple[tuple[str, str, str], ...]:
        """(source, number, link) of every telling."""
        return tuple((told.source, told.number, told.link) for told in self.tellings)


@dataclass(frozen=True, slots=True)
class AssetRow:
    """What the news says of one asset.

    asset: in upper case, "" for signals that name none.
    events: how many have a signal that names it.
    actions: how many events speak for each of ACTIONS.
    confidence: the mean of their best signals.
    latest: when the latest was published.
    """

    asset: str
    events: int
    actions: dict[str, int]
    confidence: float
    latest: datetime


@dataclass(frozen=True, slots=True)
class SourceRow:
    """How often news of a source was in an answer that a reader rated.

    source: a channel, a feed or a file, or a local template.
    helpful, unhelpful: numbers of ratings.
    """

    source: str
    helpful: int
    unhelpful: int

    @property
    def helpful_rate(self) -> float:
        """The share of ratings that say helpful, 0 to 1."""
        return self.helpful / (self.helpful + self.unhelpful)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did.

    read: items in the file.
    events, tellings: new ones.
    known: items that were stored before.
    changed: items whose text was another before, which stays.
    removed: items that somebody removed, which stay away.
    refused: why an item could not be read.
    unread: how many could not be read.
    embedded, by_keywords: new events, by how they are found.
    without_text: items without words.
    analysed: new readings, by analyser.
    problem: why embedding or analysing stopped early; the next import does the rest.
    """

    read: int = 0
    events: int = 0
    tellings: int = 0
    known: int = 0
    changed: int = 0
    removed: int = 0
    refused: tuple[str, ...] = ()
    unread: int = 0
    embedded: int = 0
    by_keywords: int = 0
    without_text: int = 0
    analysed: dict[str, int] = field(default_factory=dict)
    problem: str = ""

    @property
    def repeated(self) -> int:
        """Items of the same text as another, of this file or before: one event, told several times."""
        return self.tellings - self.events

    @property
    def text(self) -> str:
        """What the import did; the counts before the semicolon add up to all that was read."""
        counts = (
            (self.events, "new"),
            (self.repeated, "with the same text as another"),
            (self.known, "known"),
            (self.changed, "changed, but the earlier text is kept"),
            (self.removed, "removed earlier and not added again"),
            (self.unread, "unreadable"),
        )
        parts = [f"{count:,} {what}" for count, what in counts if count or what in {"new", "known"}]
        after = f"{sum(self.analysed.values()):,} read into signals"
        if self.without_text:
            after += f", {self.without_text:,} {'has' if self.without_text == 1 else 'have'} no text"
        return f"{self.read:,} read: {', '.join(parts)}; {after}. {self.problem}".strip()


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the store.

    state: "off" (nothing imported, or switched off) | "normal" | "empty" (the database answers and holds no
        signal) | "failed" (it failed, the next recall tries again) | "fallback" (signals are found by local
        templates or keywords alone).
    message, hint: one sentence each.
    failures: in a row.
    retry_at: epoch seconds when an open breaker tries again, 0 if it is closed.
    last_success: epoch seconds, 0 for never.
    database: where it is, without a password.
    read: events with a signal.
    recallable: events that a question may recall now. An event may be several of the following three.
    unsure: events whose best signal is under the least confidence.
    old: events published more than `hours` ago.
    early: events dated in the future.
    """

    state: str
    message: str = ""
    hint: str = ""
    database: str = ""
    events: int = 0
    signals: int = 0
    pending: int = 0
    by_keywords: int = 0
    embedder: str = ""
    threshold: float = 0.0
    failures: int = 0
    retry_at: float = 0.0
    last_success: float = 0.0
    read: int = 0
    recallable: int = 0
    unsure: int = 0
    old: int = 0
    early: int = 0
    confidence: float = 0.0
    hours: int = 0

    @property
    def text(self) -> str:
        """How much there is and where; of a store that cannot be asked, only since when. "" if it is off."""
        if self.state == "off":
            return ""
        if self.state == "failed" or (self.state == "fallback" and self.failures):
            moment = datetime.fromtimestamp(self.last_success, UTC)
            last = f" It last answered on {moment:%d %B %Y, %H:%M} UTC." if self.last_success else ""
            return f"{self.state}: {self.database}.{last}"
        waiting = f", {self.pending:,} still being indexed" if self.pending else ""
        counts = f"{counted(self.events, 'event')}, {counted(self.signals, 'signal')}"
        return f"{self.state}: {counts}{waiting}, {self.database}."

    @property
    def recallable_text(self) -> str:
        """How much of the news a question may recall now, and why not the rest; "" if there is no signal."""
        if not self.read:
            return ""
        days, left = divmod(self.hours, HOURS_OF_A_DAY)
        span = counted(self.hours, "hour") if left or not days else counted(days, "day")
        counts = (
            (self.unsure, f"below confidence {self.confidence:.2f}"),
            (self.old, f"older than {span}"),
            (self.early, "dated in the future"),
        )
        reasons = [f"{count:,} {'is' if count == 1 else 'are'} {why}" for count, why in counts if count]
        text = f"{self.recallable:,} of {counted(self.read, 'event')} with a signal can be recalled now"
        return f"{text}{': ' if reasons else ''}{', '.join(reasons)}."
