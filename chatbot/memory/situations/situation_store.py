"""Stores what was advised in past situations and finds the situations most like a new one.

It works on texts and their vectors alone and does not depend on the chat.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, StoreError
from chatbot.memory.import_files import ImportedLines, Progress, holds_words, no_progress
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.situations.situation_import import read_situations
from chatbot.memory.situations.situation_types import TABLES, Situation, new_situation, plain_scope
from chatbot.models.embedders import Embedder
from chatbot.models.tokens import encodable
from chatbot.search.fusion import MEANS, LongQuery, QueryChunk, embed_query, search_chunks
from chatbot.search.subwindow_embedding import embed_subwindows
from chatbot.store.database import Transaction
from chatbot.store.vector_index import matrix_of

__all__ = ["RecalledSituation", "SituationHealth", "SituationMemory", "Situations", "insert_situation"]

# Situations embedded and stored at a time.
BATCH = 100
# The newest recommendation of each situation first.
ADVISED = """select key, scope, situation, recommendation, at from situation join advice using (key)
    where owner = ? order by key, at desc, recommendation"""
ADVISE = (
    "insert into advice values (?, ?, ?) on conflict (key, recommendation) do update set at = excluded.at"
    " where excluded.at > advice.at"
)


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
        """A database that cannot be read raises at each use, but does not block the documents."""
        self._shared, self.embedder = database, embedder
        with suppress(StoreError):
            database.prepare(TABLES)

    @property
    def _database(self) -> MemoryDatabase:
        self._shared.prepare(TABLES)
        return self._shared

    def add(self, owner: str, pairs: Iterable[tuple[str, str]], *, scope: str = "") -> list[str]:
        """Store (situation, recommendation) pairs and return their keys. No pairs is fine.

        A pair that is already stored is stored once. Pairs are stored even if no vectors can be made now;
        they get them at the next search. Raises UsageError, StoreError.
        """
        now = time.time()
        return self._store([new_situation(owner, scope, pair, now) for pair in pairs])

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the situations of a file of JSON lines; see `situation_import`.

        progress: called while the vectors are made. Raises NotFoundError, UsageError where the file cannot be
        read at all, StoreError.
        """
        read, problems = read_situations(path, owner)
        keys = {situation.key for situation in read}
        known = {key: stored.recommendations for key, stored in self._of(owner).items()}
        self._store(read, progress)
        new = {one.key for one in read if not {*one.recommendations} <= {*known.get(one.key, ())}}
        return ImportedLines(len(new), len(keys) - len(new), problems)

    def edit(
        self, owner: str, key: str, recommendations: Sequence[str], *, situation: str, scope: str
    ) -> str:
        """Correct a situation: its recommendations, the newest first, its text and its scope.

        Returns its key, which changes with the text or the scope. Raises NotFoundError, UsageError,
        StoreError.
        """
        now = time.time()
        texts = list(dict.fromkeys(text for text in recommendations if text.strip()))
        parts = [new_situation(owner, scope, (situation, text), now) for text in texts or [""]]
        cleaned = tuple(text for part in parts for text in part.recommendations)
        edited = replace(parts[0], recommendations=cleaned)
        with self._database.write() as connection:
            query = (
                "select recommendation, at from advice join situation using (key) where key = ? and owner = ?"
            )
            times = dict(connection.execute(query, (key, owner)).fetchall())
            if not times:
                raise _no_situation(key)
            # An unchanged text keeps its vectors, and an unchanged recommendation keeps its time.
            connection.execute("delete from situation where key = ? and key != ?", (key, edited.key))
            connection.execute("delete from advice where key = ?", (key,))
            advice = []
            for position, text in enumerate(cleaned):
                advised_at = times.get(text, now - position / 1_000)
                advice.append((edited.key, text, advised_at))
            insert_situation(connection, edited, advice)
        self._shared.compact()
        self._make_vectors()
        return edited.key

    def _store(self, situations: Sequence[Situation], progress: Progress = no_progress) -> list[str]:
        """Store situations and make their vectors.

        A recommendation that is already stored becomes the newest again.
        """
        if situations:
            with self._database.write() as connection:
                for situation in situations:
                    # A situation from a file may be older than what is stored.
                    advice = [(situation.key, text, situation.at) for text in situation.recommendations]
                    insert_situation(connection, situation, advice)
            self._make_vectors(progress)
        return [situation.key for situation in situations]

    def _make_vectors(self, progress: Progress = no_progress) -> None:
        with suppress(ModelError):  # `health` reports how many are waiting
            self.catch_up(progress=progress)

    def embedded(self, text: str, *, strategy: str) -> LongQuery:
        """Embed a text as a query for `search`. Raises ModelError.

        For a strategy that searches each piece by itself, the query also holds stretches of the pieces.
        """
        query = embed_query(self.embedder, text)
        if strategy in MEANS:
            return query
        return embed_subwindows(self.embedder, query)

    def search(
        self, query: LongQuery, owner: str, scopes: Collection[str], *, strategy: str, n: int
    ) -> list[RecalledSituation]:
        """At most n distinct situations of these scopes, best first, each scored by its best window.

        With the strategy "union", everything that was found. Every situation that has vectors of this
        embedder is scored exactly. Raises StoreError, QuestionError.
        """
        stored = self._stored_windows(owner, scopes)
        numbered = [(place, windows) for place, (_, windows) in enumerate(stored)]
        matrix = matrix_of(numbered, self.embedder.dimension)
        scored: list[NDArray[np.float32]] = []

        def nearest(chunk: QueryChunk, depth: int) -> list[tuple[str, float]]:
            vectors = (chunk.vector, *chunk.closer)
            cosines = [matrix.cosines(vector, len(stored)) for vector in vectors]
            scores = np.max(cosines, axis=0).clip(-1, 1)
            scored.append(scores)
            best = np.argsort(-scores, kind="stable")[:depth].tolist()
            return [(stored[place][0], float(scores[place])) for place in best]

        fused = search_chunks(query, nearest, strategy=strategy, n=n)
        best_cosines: dict[str, float] = {}
        # A sum of ranks gives an order but no likeness.
        if strategy == "rrf":
            highest = np.max(scored, axis=0).tolist()
            keys = [key for key, _ in stored]
            best_cosines = dict(zip(keys, highest, strict=True))
        found = self._of(owner)
        recalled = []
        for hit in fused:
            if hit.key in found:
                score = best_cosines.get(hit.key, hit.score)
                recalled.append(RecalledSituation(found[hit.key], score, hit.chunk_match))
        return recalled

    def _stored_windows(self, owner: str, scopes: Collection[str]) -> list[tuple[str, bytes]]:
        """(key, vectors of the windows) of an owner's situations that have sound vectors of this embedder."""
        statement = """select key, windows from situation where owner = ? and fingerprint = ?
            and scope in (select value from json_each(?)) order by key"""
        plain_scopes = json.dumps(list(map(plain_scope, scopes)))
        rows = self._database.read(statement, (owner, self.embedder.fingerprint, plain_scopes))
        row_bytes = 4 * self.embedder.dimension
        return [
            (key, windows)
            for key, windows in rows
            if isinstance(windows, bytes) and windows and not len(windows) % row_bytes
        ]

    def catch_up(self, *, progress: Progress = no_progress) -> None:
        """Make the vectors of situations that have none.

        They lack them after another embedder was chosen, or if no vectors could be made when they were
        stored.
        progress: called with how many of how many are made. Raises ModelError, StoreError.
        """
        waiting = self._waiting()
        for start in range(0, len(waiting), BATCH):
            self._embed(waiting[start : start + BATCH])
            progress(min(start + BATCH, len(waiting)), len(waiting))

    def _embed(self, situations: Iterable[tuple[str, str]]) -> None:
        """Make and store the vectors of some situations: (key, text)."""
        windows_of = {key: self.embedder.split(text) or [text] for key, text in situations}
        windows = [window for windows in windows_of.values() for window in windows]
        vectors = self.embedder.embed(windows).astype(np.float32)
        bounds = pairwise(accumulate(map(len, windows_of.values()), initial=0))
        updates = []
        for key, (start, end) in zip(windows_of, bounds, strict=True):
            rows = vectors[start:end]
            updates.append((self.embedder.fingerprint, rows.tobytes(), key))
        self._database.change_each("update situation set fingerprint = ?, windows = ? where key = ?", updates)

    def _waiting(self) -> list[tuple[Any, ...]]:
        """(key, text) of the situations, of all owners, that have no vectors of this embedder."""
        return self._database.read(
            "select key, situation from situation where coalesce(fingerprint, '') != ? order by key",
            (self.embedder.fingerprint,),
        )

    def _of(self, owner: str) -> dict[str, Situation]:
        """All situations of an owner, by key."""
        found: dict[str, Situation] = {}
        for key, scope, text, recommendation, at in self._database.read(ADVISED, (owner,)):
            situation = found.get(key) or Situation(key, owner, scope, text, (), at)
            recommendations = (*situation.recommendations, recommendation)
            found[key] = replace(situation, recommendations=recommendations)
        return found

    def remove(self, owner: str, key: str) -> None:
        """Erase a situation and its recommendations. Raises NotFoundError, StoreError."""
        if not self._database.change("delete from situation where key = ? and owner = ?", (key, owner)):
            raise _no_situation(key)
        self._shared.erased()

    def listed(self, owner: str, *, search: str = "") -> list[Situation]:
        """An owner's situations, the latest first. search: only those that hold each of its words."""
        matching = [
            one
            for one in self._of(owner).values()
            if holds_words("\n".join((one.scope, one.situation, *one.recommendations)), search)
        ]
        return sorted(matching, key=lambda situation: (-situation.at, situation.key))

    def export(self, owner: str) -> Iterator[bytes]:
        """An owner's situations as lines of JSON, the oldest first; `import_file` reads them."""
        for situation in reversed(self.listed(owner)):
            record = {
                "scope": situation.scope,
                "situation": situation.situation,
                "recommendations": situation.recommendations,
                "at": situation.at,
            }
            yield json.dumps(record).encode() + b"\n"

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order; "" stands for situations without a subject."""
        statement = "select distinct scope from situation where owner = ? order by scope"
        return [scope for (scope,) in self._database.read(statement, (owner,))]

    def health(self, owner: str) -> SituationHealth:
        """The state of an owner's situations. Raises StoreError where they cannot be read."""
        count = len(self.listed(owner))
        scopes = tuple(self.scopes(owner))
        return SituationHealth(count, scopes, len(self._waiting()))


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


def _no_situation(key: str) -> NotFoundError:
    return NotFoundError(
        f"You have no advice {key[:40]!r}.", hint="List them to check; it may have been removed."
    )


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


def insert_situation(
    connection: Transaction, situation: Situation, advice: Iterable[tuple[str, str, float]]
) -> None:
    """Store a situation unless it is there, and its advice: (key, recommendation, time)."""
    statement = (
        "insert into situation (key, owner, scope, situation) values (?, ?, ?, ?) on conflict do nothing"
    )
    values = (situation.key, situation.owner, situation.scope, situation.situation)
    connection.execute(statement, values)
    connection.executemany(ADVISE, advice)
