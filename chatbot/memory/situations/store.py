"""Situation memory: what was advised in a situation, found again for one that is like it; knows texts and their vectors, not the chat."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.errors import ModelError, NotFoundError, StoreError
from chatbot.memory.import_files import ImportedLines, Progress
from chatbot.memory.situations.file import Situation, SituationFile, new_situation, shelf_of
from chatbot.memory.situations.importing import read_situations
from chatbot.memory.situations.index import SituationIndex
from chatbot.search.closer import look_closer
from chatbot.search.fusion import MEANS, LongQuery, QueryChunk, embed_query, search_chunks
from chatbot.store.damage import IndexDamagedError
from chatbot.store.embedders import Embedder
from chatbot.tokens import encodable

__all__ = ["Remembered", "SituationHealth", "SituationMemory", "Situations"]

# Situations embedded and stored at a time.
BATCH = 100


def _no_progress(done: int, total: int) -> None:
    return


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
        """Opens nothing: what cannot be read is told at each use, and keeps nobody from the documents."""
        self._embedder = embedder
        self._path = folder / "situations.sqlite3"
        self._opened: SituationFile | None = None
        self._opening = threading.Lock()
        self._index = SituationIndex(folder / "index", fingerprint=embedder.fingerprint, dimension=embedder.dimension)
        self._lock = threading.Lock()
        # Keys without vectors; None until the index was compared with the file.
        self._waiting: set[str] | None = None

    def close(self) -> None:
        self._index.close()
        with self._opening:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    @property
    def _file(self) -> SituationFile:
        """Opened at first use. Raises StoreError."""
        with self._opening:
            if self._opened is None:
                self._opened = SituationFile(self._path)
            return self._opened

    def add(self, owner: str, pairs: Iterable[tuple[str, str]], *, scope: str = "") -> list[str]:
        """Keep (situation, recommendation) pairs; their keys. What is there already stays once. None is nothing to do.

        They are kept where no vector can be made now too, and get theirs at the next search. Raises UsageError, StoreError.
        """
        now = time.time()
        return self._kept([new_situation(owner, scope, one, now) for one in pairs])

    def import_file(self, owner: str, path: Path, *, progress: Progress = _no_progress) -> ImportedLines:
        """Add the situations of a file of JSON lines; see `importing`. progress: of making their vectors.

        Raises NotFoundError, UsageError where it cannot be read at all, StoreError.
        """
        read = read_situations(path)
        made = [
            new_situation(owner, one.scope, (one.situation, text), one.at - at / 1_000)
            for one in read.entries
            for at, text in enumerate(one.recommendations)
        ]
        known = self._file.get({one.key for one in made})
        told = {(key, text) for key, one in known.items() for text in one.recommendations}
        self._kept(made, progress)
        new = {(one.key, *one.recommendations) for one in made} - told
        return ImportedLines(len({key for key, *_ in new}), len({one.key for one in made}) - len({key for key, *_ in new}), read.problems)

    def edit(self, owner: str, key: str, recommendations: Sequence[str], *, situation: str, scope: str) -> str:
        """Correct a situation: what is advised, the newest first, its text and its scope; its key, which is another where the text or the scope is.

        Raises NotFoundError, UsageError, StoreError.
        """
        before = self._file.get([key]).get(key)
        if before is None or before.owner != owner:
            raise _no_situation(key)
        now = time.time()
        texts = list(dict.fromkeys(text for text in recommendations if text.strip()))
        made = [new_situation(owner, scope, (situation, text), now) for text in texts or [""]]
        one = replace(made[0], recommendations=tuple(text for each in made for text in each.recommendations))
        if not self._file.replace(key, one):
            raise _no_situation(key)
        if one.key != key:
            self._forget(before)
        self._await([one])
        return one.key

    def _kept(self, made: Sequence[Situation], progress: Progress = _no_progress) -> list[str]:
        if made:
            self._file.add(made)
            self._await(made, progress)
        return [one.key for one in made]

    def _await(self, made: Sequence[Situation], progress: Progress = _no_progress) -> None:
        with self._lock:
            if self._waiting is not None:
                self._waiting.update(one.key for one in made)
        with suppress(ModelError):  # health tells how many wait
            self.catch_up(progress=progress)

    def _forget(self, one: Situation) -> None:
        """Take what is not in the file any more out of the index; where that fails, the next use sweeps it."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.discard(one.key)
        try:
            self._index.remove(one.shelf, one.key)
        except StoreError:
            with self._lock:
                self._waiting = None

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
        found, missing = self._searched(query, shelves, strategy, n)
        if missing:  # vectors of what was removed hold the places of others
            with self._lock:
                self._waiting = self._compared()
            found, _ = self._searched(query, shelves, strategy, n)
        return found

    def _searched(self, query: LongQuery, shelves: Collection[str], strategy: str, n: int) -> tuple[list[Remembered], list[str]]:
        """(what was found, keys that were found and are in the file no more)."""
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
        found = [Remembered(there[one.key], score, one.chunk_match) for one, score in zip(fused, scores, strict=True) if one.key in there]
        return found, [one.key for one in fused if one.key not in there]

    def catch_up(self, *, progress: Progress = _no_progress) -> None:
        """Make the vectors of situations that have none, after another embedder was chosen, an index was lost or while no vectors could be made; drop what is of no
        situation any more. progress: told how many of how many are made. Raises ModelError, StoreError."""
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
            still = self._file.get(part)
            for key in part.keys() - still.keys():  # removed meanwhile
                self._index.remove(part[key].shelf, key)
            with self._lock:
                self._waiting.difference_update(waiting[at : at + BATCH])
            progress(min(at + BATCH, len(waiting)), len(waiting))
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
            raise _no_situation(key)
        self._forget(one)

    def listed(self, owner: str, *, search: str = "") -> list[Situation]:
        """An owner's situations, the latest first. search: only those with each of its words."""
        words = search.casefold().split()
        return [
            one
            for one in self._file.listed(owner)
            if all(word in "\n".join([one.scope, one.situation, *one.recommendations]).casefold() for word in words)
        ]

    def export(self, owner: str) -> Iterator[bytes]:
        """An owner's situations as lines of JSON, the oldest first; `import_file` reads them."""
        for one in reversed(self._file.listed(owner)):
            yield json.dumps({"scope": one.scope, "situation": one.situation, "recommendations": one.recommendations, "at": one.at}).encode() + b"\n"

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


def _no_situation(key: str) -> NotFoundError:
    return NotFoundError(f"You have no situation {key[:40]!r}.", hint="List them; it may have been removed.")


def _as_match(found: Remembered) -> dict[str, Any]:
    newest, *others = found.situation.recommendations
    match: dict[str, Any] = {"matched_situation": found.situation.situation, "recommendation": newest, "similarity_score": found.score}
    if found.chunk_match is not None:
        match["chunk_match"] = found.chunk_match
    return match | ({"also": others} if others else {})
