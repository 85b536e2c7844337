"""Situation memory: what was advised in a situation, found again for one that is like it; knows texts and their vectors, not the chat."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.situations.file import Situation, SituationFile, plain_scope, shelf_of, situation_key
from chatbot.memory.situations.index import SituationIndex
from chatbot.search.closer import look_closer
from chatbot.search.fusion import MEANS, LongQuery, QueryChunk, embed_query, search_chunks
from chatbot.store.damage import IndexDamagedError
from chatbot.store.embedders import Embedder
from chatbot.tokens import encodable

__all__ = ["Remembered", "SituationHealth", "SituationMemory", "Situations"]

# Characters of a situation, and of a recommendation: a report of forty pages; more is a document.
LONGEST_SITUATION, LONGEST_RECOMMENDATION = 100_000, 10_000
# Situations embedded and stored at a time.
BATCH = 100


@dataclass(frozen=True, slots=True)
class Remembered:
    """A situation that was found. score: cosine, in [-1, 1]. chunk_match: which piece of a long query gave it, None where no single one did."""

    situation: Situation
    score: float
    chunk_match: int | None


@dataclass(frozen=True, slots=True)
class SituationHealth:
    """How an owner's situations fare. waiting: situations of all owners that have no vectors of this embedder yet."""

    situations: int
    scopes: tuple[str, ...]
    waiting: int


class Situations:
    """The situations of all owners in a folder: SQLite as the truth, Chroma derived from it. One process at a time; safe from several threads."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Opens the file; Chroma is opened at first use. Raises StoreError."""
        self._embedder = embedder
        self._file = SituationFile(folder / "situations.sqlite3")
        self._index = SituationIndex(folder / "index", fingerprint=embedder.fingerprint, dimension=embedder.dimension)
        self._lock = threading.Lock()
        # Keys without vectors; None until the index was compared with the file.
        self._waiting: set[str] | None = None

    def close(self) -> None:
        self._index.close()
        self._file.close()

    def add(self, owner: str, pairs: Iterable[tuple[str, str]], *, scope: str = "") -> list[str]:
        """Keep (situation, recommendation) pairs; their keys. What is there already stays once. None is nothing to do.

        They are kept where no vector can be made now too, and get theirs at the next search. Raises UsageError, StoreError.
        """
        now = time.time()
        made = [_situation(owner, scope, one, now) for one in pairs]
        if not made:
            return []
        self._file.add(made)
        with self._lock:
            if self._waiting is not None:
                self._waiting.update(one.key for one in made)
        with suppress(ModelError):  # health tells how many wait
            self.catch_up()
        return [one.key for one in made]

    def embedded(self, text: str, *, strategy: str) -> LongQuery:
        """A text as `search` takes it; where its pieces are searched each for itself, with stretches of them. Raises ModelError."""
        query = embed_query(self._embedder, text)
        return query if strategy in MEANS else look_closer(self._embedder, query)

    def search(self, query: LongQuery, owner: str, scopes: Collection[str], *, strategy: str, n: int) -> list[Remembered]:
        """At most n distinct situations of these scopes, best first; with "union" everything that was found. A damaged index is made anew first.

        Raises StoreError, QuestionError, and ModelError where it could not be made anew.
        """
        shelves = {shelf_of(owner, scope) for scope in scopes}
        if n < 1 or not shelves:
            return []
        cosines: dict[str, float] = {}

        def nearest(chunk: QueryChunk, depth: int) -> list[tuple[str, float]]:
            found = self._index.nearest(np.stack([chunk.vector, *chunk.closer]), shelves, depth)
            with self._lock:
                cosines.update((key, max(score, cosines.get(key, -1.0))) for key, score in found)
            return found

        try:
            fused = search_chunks(query, nearest, strategy=strategy, n=n)
        except IndexDamagedError:
            self.rebuild()
            fused = search_chunks(query, nearest, strategy=strategy, n=n)
        there = self._file.get([one.key for one in fused])
        # A sum of ranks orders but says nothing of likeness.
        scores = [cosines[one.key] if strategy == "rrf" else one.score for one in fused]
        return [Remembered(there[one.key], score, one.chunk_match) for one, score in zip(fused, scores, strict=True) if one.key in there]

    def catch_up(self) -> None:
        """Make the vectors of situations that have none, after another embedder was chosen, an index was lost or while no vectors could be made; drop what is of no
        situation any more. Raises ModelError, StoreError."""
        with self._lock:
            if self._waiting is None:
                self._waiting = self._compared()
            waiting = sorted(self._waiting)
        for at in range(0, len(waiting), BATCH):
            part = self._file.get(waiting[at : at + BATCH])
            texts = {key: self._embedder.split(one.situation) or [one.situation] for key, one in part.items()}
            rows = self._embedder.embed([window for windows in texts.values() for window in windows])
            ends = list(accumulate(map(len, texts.values()), initial=0))
            self._index.put([(key, part[key].shelf, rows[start:end]) for key, (start, end) in zip(texts, pairwise(ends), strict=True)])
            with self._lock:
                self._waiting.difference_update(waiting[at : at + BATCH])
        if waiting:
            self._index.drop_others()

    def rebuild(self) -> None:
        """Make the index anew from the file. Raises ModelError, StoreError."""
        with self._lock:
            self._index.clear()
            self._waiting = None
        self.catch_up()

    def remove(self, owner: str, key: str) -> None:
        """Erase a situation and what was advised in it. Raises NotFoundError, StoreError."""
        one = self._file.get([key]).get(key)
        if one is None or not self._file.remove(key, owner):
            raise NotFoundError(f"You have no situation {key[:40]!r}.", hint="List them; it may have been removed.")
        with self._lock:
            if self._waiting is not None:
                self._waiting.discard(key)
        self._index.remove(one.shelf, key)

    def listed(self, owner: str, *, search: str = "") -> list[Situation]:
        """An owner's situations, the latest first. search: only those with each of its words."""
        words = search.casefold().split()
        return [
            one
            for one in self._file.listed(owner)
            if all(word in "\n".join([one.scope, one.situation, *one.recommendations]).casefold() for word in words)
        ]

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order; "" for what is of no subject."""
        return self._file.scopes(owner)

    def count(self, owner: str, scope: str) -> int:
        """How many situations an owner has in a scope."""
        return self._file.count(owner, scope)

    def health(self, owner: str) -> SituationHealth:
        """Raises StoreError where the file or the index cannot be used."""
        with self._lock:
            if self._waiting is None:
                self._waiting = self._compared()
            waiting = len(self._waiting)
        return SituationHealth(len(self._file.listed(owner)), tuple(self._file.scopes(owner)), waiting)

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    def _compared(self) -> set[str]:
        """Keys of the file that the index does not hold whole; what it holds besides is dropped. A damaged index is made anew."""
        there = self._file.shelves()
        try:
            held = self._index.held()
        except IndexDamagedError:
            self._index.clear()
            held = self._index.held()
        for (shelf, key), whole in held.items():
            if not whole or there.get(key) != shelf:
                self._index.remove(shelf, key)
        return {key for key, shelf in there.items() if not held.get((shelf, key))}


class SituationMemory:
    """One owner's situations of one scope, by the calls of the memory it replaces.

    scope: a name, a symbol or a topic, whatever its case; what is remembered in one is never found in another.
    """

    def __init__(self, situations: Situations, *, scope: str = "", owner: str = "local") -> None:
        self._situations, self._scope, self._owner = situations, scope, owner

    def add_situations(self, situations_and_advice: Sequence[tuple[str, str]]) -> None:
        """Remember (situation, recommendation) pairs; none is nothing to do. Raises UsageError, StoreError."""
        self._situations.add(self._owner, situations_and_advice, scope=self._scope)

    def get_memories(self, current_situation: str, n_matches: int = 1, aggregate_chunks: bool = True, *, strategy: str = "") -> list[dict[str, Any]]:
        """At most n_matches distinct situations like this one, the most alike first, each as {"matched_situation", "recommendation", "similarity_score"}.

        recommendation: the newest of its situation; "also" holds the others where there are any. similarity_score: cosine, in [-1, 1]. A text longer than the
        embedder takes is cut into pieces: their mean is searched, or each piece alone where aggregate_chunks is False, and "chunk_match" then says which
        gave the score, itself or by a stretch of it, 0-based. strategy: of fusion.STRATEGIES, in the place of these two. Raises ModelError, StoreError,
        QuestionError.
        """
        if n_matches < 1 or not current_situation.strip() or not self._situations.count(self._owner, self._scope):
            return []
        self._situations.catch_up()
        wanted = strategy or ("average" if aggregate_chunks else "per_chunk")
        query = self._situations.embedded(encodable(current_situation), strategy=wanted)
        found = self._situations.search(query, self._owner, [self._scope], strategy=wanted, n=n_matches)
        return [_as_match(one) for one in found]


def _as_match(found: Remembered) -> dict[str, Any]:
    newest, *others = found.situation.recommendations
    match: dict[str, Any] = {"matched_situation": found.situation.situation, "recommendation": newest, "similarity_score": found.score}
    if found.chunk_match is not None:
        match["chunk_match"] = found.chunk_match
    return match | ({"also": others} if others else {})


def _situation(owner: str, scope: str, pair: object, now: float) -> Situation:
    match pair:
        case (str(situation), str(recommendation)) if situation.strip() and recommendation.strip():
            pass
        case _:
            raise UsageError(f"{repr(pair)[:80]} is no pair of a situation and a recommendation.", hint="Give two texts, neither of them empty.")
    for what, text, most in (("situation", situation, LONGEST_SITUATION), ("recommendation", recommendation, LONGEST_RECOMMENDATION)):
        if len(text) > most:
            raise UsageError(f"The {what} has {len(text):,} characters, at most {most:,} are kept.", hint="Shorten it, or add it as a document.")
    situation = encodable(situation).replace("\x00", " ")
    return Situation(
        situation_key(owner, scope, situation),
        owner,
        plain_scope(encodable(scope)),
        situation,
        (encodable(recommendation).replace("\x00", " "),),
        now,
    )
