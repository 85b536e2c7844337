"""Defines situations with their recommendations, and the tables they are stored in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from chatbot.errors import UsageError
from chatbot.memory.memory_database import Tables
from chatbot.models.tokens import encodable

__all__ = [
    "LONGEST_RECOMMENDATION",
    "LONGEST_SITUATION",
    "TABLES",
    "Situation",
    "new_situation",
    "plain_scope",
    "situation_key",
]

TABLES = Tables(
    "situations",
    """create table situation (key text primary key, owner text not null, scope text not null,
            situation text not null,
    fingerprint text, windows blob) without rowid;
create index situation_of on situation(owner, scope);
create table advice (key text not null references situation(key) on delete cascade,
recommendation text not null, at real not null,
    primary key (key, recommendation)) without rowid;
""",
)
# Characters of a situation, and of a recommendation: a report of forty pages. A longer text is a document.
LONGEST_SITUATION, LONGEST_RECOMMENDATION = 100_000, 10_000


@dataclass(frozen=True, slots=True)
class Situation:
    """One situation as stored.

    key: made from its content, so that it is the same wherever and whenever it is added.
    owner: whose it is.
    scope: "" if it has no subject.
    situation: its text.
    recommendations: what was advised, the newest first.
    at: when the newest was added, in seconds since the epoch.
    """

    key: str
    owner: str
    scope: str
    situation: str
    recommendations: tuple[str, ...]
    at: float


def plain_scope(scope: str) -> str:
    """A scope as it is compared, without case and extra blanks."""
    return " ".join(scope.casefold().split())


def situation_key(owner: str, scope: str, situation: str) -> str:
    """32 hexadecimal digits."""
    parts = [owner, plain_scope(scope), " ".join(situation.split())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def new_situation(owner: str, scope: str, pair: object, now: float) -> Situation:
    """A pair of a situation and a recommendation, as it is stored.

    Raises UsageError for anything else, and for a text that is too long.
    """
    match pair:
        case (str(situation), str(recommendation)) if situation.strip() and recommendation.strip():
            pass
        case _:
            raise UsageError(
                f"{repr(pair)[:80]} is not a pair of a situation and a recommendation.",
                hint="Write two texts; neither may be empty.",
            )
    _check_length("situation", situation, LONGEST_SITUATION)
    _check_length("recommendation", recommendation, LONGEST_RECOMMENDATION)
    situation = _storable(situation)
    return Situation(
        situation_key(owner, scope, situation),
        owner,
        plain_scope(encodable(scope)),
        situation,
        (_storable(recommendation),),
        now,
    )


def _check_length(what: str, text: str, most: int) -> None:
    """Raise UsageError for a text that is too long."""
    if len(text) > most:
        raise UsageError(
            f"The {what} has {len(text):,} characters; the limit is {most:,}.",
            hint="Shorten it, or add it as a document.",
        )


def _storable(text: str) -> str:
    return encodable(text).replace("\x00", " ")
