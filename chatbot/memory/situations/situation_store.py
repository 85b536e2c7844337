"""Stores what was advised in past situations and finds the situations most like a new one.

It works on texts and their vectors alone and does not depend on the chat.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.errors import ModelError
from chatbot.memory.import_files import ImportedLines, Progress, holds_words, no_progress
from chatbot.memory.items import Items, unknown
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.situations.situation_types import (
    SITUATIONS,
    Situation,
    new_situation,
    plain_scope,
    read_situations,
)
from chatbot.models.embedders import Embedder
from chatbot.models.tokens import encodable
from chatbot.search.fusion import MEANS, LongQuery, QueryChunk, embed_query, search_chunks
from chatbot.search.subwindow_embedding import embed_subwindows

__all__ = ["RecalledSituation", "SituationHealth", "SituationMemory", "Situations"]


@dataclass(frozen=True, slots=True)
class RecalledSituation:
    """A situation that a search found.

    situation: the stored situation.
    score: cosine, in [-1, 1].
    chunk_match: the piece of a long query that found it; None where no single piece did.
    """

    situation: Situation
    score: float
    chunk_match: int | None


@dataclass(frozen=True, slots=True)
class SituationHealth:
    """The state of an owner's situations.

    situations: how many the owner has.
    scopes: the owner's scopes, in order.
    waiting: situations of all owners that have no vectors of this embedder yet.
    """

    situations: int
    scopes: tuple[str, ...]
    waiting: int


class Situations:
    """The situations of all owners, each with a vector for every window of its text.

    Safe to use from several threads and processes.
    """

    def __init__(self, database: MemoryDatabase, embedder: Embedder) -> None:
        """Raises StoreError where the tables cannot be made."""
        self.embedder, self._items = embedder, Items(database, embedder, SITUATIONS)

    def add(self, owner: str, pairs: Iterable[tuple[str, str]], *, scope: str = "") -> list[str]:
        """Store (situation, recommendation) pairs and return their keys. No pairs is fine.

        A pair that is already stored becomes the newest again. Pairs are stored even if no vectors can be
        made now; they get them at the next search. Raises UsageError, StoreError.
        """
        now = time.time()
        return self._store(owner, [new_situation(owner, scope, pair, now) for pair in pairs])

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the situations of a file of JSON lines; see `read_situations`.

        progress: called while the vectors are made. Raises NotFoundError, UsageError where the file cannot be
        read at all, StoreError.
        """
        read, problems = read_situations(path, owner)
        stored = self._items.view(owner).values
        known = {key: set(one.recommendations) for key, one in stored.items()}
        keys = set(self._store(owner, read, progress))
        new = {one.key for one in read if not known.get(one.key, set()).issuperset(one.recommendations)}
        return ImportedLines(len(new), len(keys) - len(new), problems)

    def edit(
        self, owner: str, key: str, recommendations: Sequence[str], *, situation: str, scope: str
    ) -> str:
        """Correct a situation: its recommendations, the newest first, its text and its scope.

        Returns its key, which changes with the text or the scope. Raises NotFoundError, UsageError,
        StoreError.
        """
        texts = [text for text in dict.fromkeys(recommendations) if text.strip()]
        now = time.time()
        parts = [new_situation(owner, scope, (situation, text), now) for text in texts or [""]]

        def edited(old: Situation) -> Situation:
            # An unchanged recommendation keeps its time.
            times = dict(old.advice)
            advice = [
                (part.recommendations[0], times.get(part.recommendations[0], now - place / 1_000))
                for place, part in enumerate(parts)
            ]
            return parts[0].advised(advice)

        new = self._items.change(owner, key, edited)
        self._make_vectors()
        return new.key

    def _store(
        self, owner: str, situations: Sequence[Situation], progress: Progress = no_progress
    ) -> list[str]:
        """Store situations and make their vectors."""
        if situations:
            self._items.put(owner, situations)
            self._make_vectors(progress)
        return [situation.key for situation in situations]

    def _make_vectors(self, progress: Progress = no_progress) -> None:
        with suppress(ModelError):  # `health` reports how many are waiting
            self.catch_up(progress=progress)

    def catch_up(self, *, progress: Progress = no_progress) -> None:
        """Make the vectors of situations that have none of this embedder. Raises ModelError, StoreError.

        progress: called with how many of how many are made.
        """
        self._items.embed(progress=progress)

    def embedded(self, text: str, *, strategy: str) -> LongQuery:
        """Embed a text as a query for `search`. Raises ModelError.

        For a strategy that searches each piece by itself, the query also holds stretches of the pieces.
        """
        query = embed_query(self.embedder, text)
        return query if strategy in MEANS else embed_subwindows(self.embedder, query)

    def search(
        self, query: LongQuery, owner: str, scopes: Collection[str], *, strategy: str, n: int
    ) -> list[RecalledSituation]:
        """At most n distinct situations of these scopes, best first, each scored by its best window.

        With the strategy "union", everything that was found. Every situation that has vectors of this
        embedder is scored exactly. Raises StoreError, QuestionError.
        """
        plain_scopes = set(map(plain_scope, scopes))
        found = list[tuple[float, Situation]]()

        def nearest(chunk: QueryChunk, depth: int) -> list[tuple[str, float]]:
            near = self._items.recall(
                owner, (chunk.vector, *chunk.closer), depth, wanted=lambda one: one.scope in plain_scopes
            )
            found.extend(near)
            return [(one.key, score) for score, one in near]

        fused = search_chunks(query, nearest, strategy=strategy, n=n)
        best = {one.key: (score, one) for score, one in sorted(found, key=lambda pair: pair[0])}
        # A sum of ranks gives an order but no likeness.
        return [
            RecalledSituation(
                best[hit.key][1], best[hit.key][0] if strategy == "rrf" else hit.score, hit.chunk_match
            )
            for hit in fused
        ]

    def remove(self, owner: str, key: str) -> None:
        """Erase a situation and its recommendations. Raises NotFoundError, StoreError."""
        if not self._items.remove(lambda one: True, "owner = ? and key = ?", [owner, key]):
            raise unknown(SITUATIONS, key)

    def listed(self, owner: str, *, search: str = "") -> list[Situation]:
        """An owner's situations, the latest first. search: only those that hold each of its words."""
        matching = (
            one
            for one in self._items.view(owner).values.values()
            if holds_words("\n".join((one.scope, one.situation, *one.recommendations)), search)
        )
        return sorted(matching, key=lambda one: (-one.at, one.key))

    def export(self, owner: str) -> Iterator[bytes]:
        """An owner's situations as lines of JSON, the oldest first; `import_file` reads them."""
        for one in reversed(self.listed(owner)):
            names = ("scope", "situation", "recommendations", "at")
            yield json.dumps({name: getattr(one, name) for name in names}).encode() + b"\n"

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order; "" stands for situations without a subject."""
        return sorted({one.scope for one in self._items.view(owner).values.values()})

    def health(self, owner: str) -> SituationHealth:
        """The state of an owner's situations. Raises StoreError where they cannot be read."""
        scopes = tuple(self.scopes(owner))
        return SituationHealth(len(self.listed(owner)), scopes, len(self._items.waiting()))


class SituationMemory:
    """One owner's situations of one scope, with the interface of the memory that it replaces.

    scope: a name, a symbol or a topic, in any case. What is stored in one scope is never found in another.
    """

    def __init__(self, situations: Situations, *, scope: str = "", owner: str = "local") -> None:
        self._situations, self._scope, self._owner = situations, scope, owner

    def add_situations(self, situations_and_advice: Sequence[tuple[str, str]]) -> None:
        """Store (situation, recommendation) pairs. No pairs is fine. Raises UsageError, StoreError."""
        self._situations.add(self._owner, situations_and_advice, scope=self._scope)

    def get_memories(
        self, current_situation: str, n_matches: int = 1, aggregate_chunks: bool = True, *, strategy: str = ""
    ) -> list[dict[str, Any]]:
        """At most n_matches distinct situations like this one, the most alike first.

        Each is {"matched_situation", "recommendation", "similarity_score"}:
        recommendation: the newest of its situation; "also" holds the others where there are any.
        similarity_score: cosine, in [-1, 1].

        A text longer than the embedder takes is cut into pieces. Their mean is searched, or each piece by
        itself where aggregate_chunks is False; "chunk_match" then gives the piece, 0-based, that led to the
        score, itself or by a stretch of it. strategy: one of fusion.STRATEGIES, instead of these two. Raises
        ModelError, StoreError, QuestionError.
        """
        if n_matches < 1 or not current_situation.strip():
            return []
        if plain_scope(self._scope) not in self._situations.scopes(self._owner):
            return []
        self._situations.catch_up()
        if not strategy:
            strategy = "average" if aggregate_chunks else "per_chunk"
        query = self._situations.embedded(encodable(current_situation), strategy=strategy)
        found = self._situations.search(query, self._owner, [self._scope], strategy=strategy, n=n_matches)
        return [_as_match(recalled) for recalled in found]


def _as_match(found: RecalledSituation) -> dict[str, Any]:
    newest, *others = found.situation.recommendations
    match: dict[str, Any] = {
        "matched_situation": found.situation.situation,
        "recommendation": newest,
        "similarity_score": found.score,
    }
    if found.chunk_match is not None:
        match["chunk_match"] = found.chunk_match
    if others:
        match["also"] = others
    return match
