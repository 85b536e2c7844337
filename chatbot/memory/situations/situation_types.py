"""Defines situations with what was advised in them, what is stored of one, and the files that hold them.

Their lines are as `memory situations list --json` writes them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.errors import UsageError
from chatbot.memory.import_files import LineProblem, json_in_line, read_lines
from chatbot.memory.items import Item
from chatbot.models.embedders import Embedder
from chatbot.models.tokens import encodable
from chatbot.store.damage import json_in
from chatbot.store.vector_index import Vectors

__all__ = [
    "LONGEST_RECOMMENDATION",
    "LONGEST_SITUATION",
    "SITUATIONS",
    "Situation",
    "new_situation",
    "plain_scope",
    "read_situations",
    "situation_key",
]

# Characters of a situation, and of a recommendation: a report of forty pages. A longer text is a document.
LONGEST_SITUATION, LONGEST_RECOMMENDATION = 100_000, 10_000
# More recommendations than anybody reads of one situation.
MOST_RECOMMENDATIONS = 100
NO_SITUATION = "it has no situation with advice"
HINT = (
    'Use JSON lines of {"situation": ..., "recommendations": [...], "scope": ...}, or of '
    "[situation, recommendation]."
)


@dataclass(frozen=True, slots=True)
class Situation:
    """One situation as stored.

    key: made from its owner and content, so that it is the same wherever and whenever it is added.
    scope: "" if it has no subject.
    situation: its text.
    advice: (recommendation, when it was added in seconds since the epoch), the newest first.
    """

    key: str
    scope: str
    situation: str
    advice: tuple[tuple[str, float], ...]

    @property
    def recommendations(self) -> tuple[str, ...]:
        """What was advised, the newest first."""
        return tuple(text for text, _ in self.advice)

    @property
    def at(self) -> float:
        """When the newest was added."""
        return self.advice[0][1]

    def advised(self, advice: Sequence[tuple[str, float]]) -> Situation:
        """The situation with this advice, each recommendation once, as it was added last."""
        latest = dict(sorted(advice, key=lambda one: one[1]))
        newest = sorted(latest.items(), key=lambda one: (-one[1], one[0]))
        return replace(self, advice=tuple(newest))


class SituationKind:
    """Situations as items: every window of the text has a vector."""

    name, noun = "situation", "advice"

    def item(self, value: Situation) -> Item:
        """See Kind."""
        payload = json.dumps({"scope": value.scope, "advice": value.advice})
        return Item(value.key, value.situation, payload)

    def value(self, item: Item, owner: str) -> Situation:
        """See Kind."""
        match json_in(item.payload):
            case {"scope": str(scope), "advice": [_, *_] as advice}:
                return Situation(item.key, scope, item.text, tuple(map(_advice_in, advice)))
        raise ValueError("it has no scope or advice")

    def joined(self, old: Situation, new: Situation) -> Situation:
        """The situation with the advice of both."""
        return old.advised([*old.advice, *new.advice])

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> Sequence[Vectors]:
        """See Kind."""
        windows = [embedder.split(text) or [text] for text in texts]
        rows = embedder.embed(list(chain.from_iterable(windows)))
        return np.split(rows, list(accumulate(map(len, windows)))[:-1])


SITUATIONS = SituationKind()


def _advice_in(stored: object) -> tuple[str, float]:
    match stored:
        case [str(text), int() | float() as at]:
            return text, at
    raise ValueError("its advice is no text with its time")


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
    for what, text, most in (
        ("situation", situation, LONGEST_SITUATION),
        ("recommendation", recommendation, LONGEST_RECOMMENDATION),
    ):
        if len(text) > most:
            raise UsageError(
                f"The {what} has {len(text):,} characters; the limit is {most:,}.",
                hint="Shorten it, or add it as a document.",
            )
    situation, advice, scope = (
        encodable(text).replace("\x00", " ") for text in (situation, recommendation, scope)
    )
    return Situation(situation_key(owner, scope, situation), plain_scope(scope), situation, ((advice, now),))


# --- reading files
# ------------------------------------------------------------------------------------------------------------


def read_situations(path: Path, owner: str) -> tuple[list[Situation], tuple[LineProblem, ...]]:
    """(the situations of a file, the lines that cannot be read).

    The situations are in the file's order, one for each recommendation, the newest of a line first. A line is
    an object or a pair; a recommendation may also be a single text. Raises as read_whole.
    """
    read = partial(_read, owner=owner, now=time.time())
    found, problems = read_lines(path, read, "situation", HINT)
    return list(chain.from_iterable(found)), problems


def _read(line: bytes, *, owner: str, now: float) -> list[Situation]:
    """The situations of a line. Raises ValueError with the reason if it holds none."""
    fields: Any = json_in_line(line)
    match fields:
        case [str(situation), str(recommendation)]:
            fields = {"situation": situation, "recommendation": recommendation}
        case {"situation": str(situation)}:
            pass
        case _:
            raise ValueError(NO_SITUATION)
    given = fields.get("recommendations", fields.get("recommendation", fields.get("advice")))
    texts, scope, at = [given] if isinstance(given, str) else given, fields.get("scope", ""), fields.get("at")
    if not isinstance(scope, str):
        raise ValueError("its scope is not text")
    if not isinstance(texts, list) or not texts:
        raise ValueError(NO_SITUATION)
    if len(texts) > MOST_RECOMMENDATIONS:
        raise ValueError(f"it has more than {MOST_RECOMMENDATIONS} recommendations")
    # A time in the future would be the newest for ever.
    is_past = isinstance(at, int | float) and not isinstance(at, bool) and 0 < at <= now
    newest = float(at) if is_past else now
    try:
        return [
            new_situation(owner, scope, (situation, text), newest - place / 1_000)
            for place, text in enumerate(texts)
        ]
    except UsageError as error:
        raise ValueError(error.message) from error
