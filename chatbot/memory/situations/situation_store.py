"""Situation memory: what was advised in a situation, found again for one that is like it; knows texts and
their vectors, not the chat.
"""

from __future__ import annotations

import json
import sqlite3
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
from chatbot.store.vector_index import matrix_of

__all__ = ["RecalledSituation", "SituationHealth", "SituationMemory", "Situations"]

# Situations embedded and stored at a time.
BATCH = 100
SELECT = "select key, owner, scope, situation, recommendation, at from situation join advice using (key)"
ORDER = "order by key, at desc, recommendation"
ADVISE = (
    "insert into advice values (?, ?, ?) on conflict (key, recommendation) do update set at = max(at, "
    "excluded.at)"
)


@dataclass(frozen=True, slots=True)
class RecalledSituation:
    """A situation that was found. score: cosine, in [-1, 1]. chunk_match: which piece of a long query gave
    it, None where no single one did.
    """

    situation: Situation
    score: float
    chunk_match: int | None


@dataclass(frozen=True, slots=True)
class SituationHealth:
    """How an owner's situations fare. waiting: situations of all owners that have no vectors of this
    embedder yet.
    """

    situations: int
    scopes: tuple[str, ...]
    waiting: int


class Situations:
    """The situations of all owners, each with a vector for every window of its text. Safe from several
    threads and processes.
    """

    def __init__(self, database: MemoryDatabase, embedder: Embedder) -> None:
        """What cannot be read is told at each use, and keeps nobody from the documents."""
        self._shared, self.embedder = database, embedder
        with suppress(StoreError):
            database.prepare(TABLES)

    @property
    def _database(self) -> MemoryDatabase:
        self._shared.prepare(TABLES)
        return self._shared

    def add(self, owner: str, pairs: Iterable[tuple[str, str]], *, scope: str = "") -> list[str]:
        """Keep (situation, recommendation) pairs; their keys. What is there already stays once. None is
        nothing to do.

        They are kept where no vector can be made now too, and get theirs at the next search. Raises
        UsageError, StoreError.
        """
        now = time.time()
        return self._kept([new_situation(owner, scope, one, now) for one in pairs])

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the situations of a file of JSON lines; see `importing`. progress: of making their vectors.

        Raises NotFoundError, UsageError where it cannot be read at all, StoreError.
        """
        made, problems = read_situations(path, owner)
        keys = {one.key for one in made}
        told = {(key, text) for key, one in self._get(keys).items() for text in one.recommendations}
        self._kept(made, progress)
        new = {one.key for one in made if (one.key, *one.recommendations) not in told}
        return ImportedLines(len(new), len(keys) - len(new), problems)

    def edit(
        self, owner: str, key: str, recommendations: Sequence[str], *, situation: str, scope: str
    ) -> str:
        """Correct a situation: what is advised, the newest first, its text and its scope; its key, which is
        another where the text or the scope is.

        Raises NotFoundError, UsageError, StoreError.
        """
        now = time.time()
        texts = list(dict.fromkeys(text for text in recommendations if text.strip()))
        made = [new_situation(owner, scope, (situation, text), now) for text in texts or [""]]
        one = replace(made[0], recommendations=tuple(text for each in made for text in each.recommendations))
        with self._database.write() as connection:
            found = (
                "select recommendation, at from advice join situation using (key) where key = ? and owner = ?"
            )
            times = dict(connection.execute(found, (key, owner)).fetchall())
            if not times:
                raise _no_situation(key)
            # Of the same text the vectors stay, and what was advised before keeps its time.
            connection.execute("delete from situation where key = ? and key != ?", (key, one.key))
            connection.execute("delete from advice where key = ?", (key,))
            _keep(
                connection,
                one,
                [
                    (one.key, text, times.get(text, now - later / 1_000))
                    for later, text in enumerate(one.recommendations)
                ],
            )
        self._shared.compact()
        self._make_vectors()
        return one.key

    def _kept(self, made: Sequence[Situation], progress: Progress = no_progress) -> list[str]:
        """Keep them, and make their vectors; a recommendation that is there already becomes the newest
        again.
        """
        if made:
            with self._database.write() as connection:
                for one in made:
                    # What is read from a file may be older than what is here.
                    _keep(connection, one, [(one.key, text, one.at) for text in one.recommendations])
            self._make_vectors(progress)
        return [one.key for one in made]

    def _make_vectors(self, progress: Progress = no_progress) -> None:
        with suppress(ModelError):  # health tells how many wait
            self.catch_up(progress=progress)

    def embedded(self, text: str, *, strategy: str) -> LongQuery:
        """A text as `search` takes it; where its pieces are searched each for itself, with stretches of
        them. Raises ModelError.
        """
        query = embed_query(self.embedder, text)
        if strategy in MEANS:
            return query
        return embed_subwindows(self.embedder, query)

    def search(
        self, query: LongQuery, owner: str, scopes: Collection[str], *, strategy: str, n: int
    ) -> list[RecalledSituation]:
        """At most n distinct situations of these scopes, best first, each with its best window; with "union"
        everything that was found.

        Every situation is scored exactly: of those that have vectors of this embedder. Raises StoreError,
        QuestionError.
        """
        statement = """select key, windows from situation where owner = ? and fingerprint = ? and
            typeof(windows) = 'blob'
            and scope in (select value from json_each(?)) order by key"""
        rows = self._database.read(
            statement, (owner, self.embedder.fingerprint, json.dumps(list(map(plain_scope, scopes))))
        )
        stored = [(key, data) for key, data in rows if data and not len(data) % (4 * self.embedder.dimension)]
        matrix = matrix_of([(at, data) for at, (_, data) in enumerate(stored)], self.embedder.dimension)
        scored: list[NDArray[np.float32]] = []

        def nearest(chunk: QueryChunk, depth: int) -> list[tuple[str, float]]:
            scores = np.max(
                [matrix.cosines(vector, len(stored)) for vector in (chunk.vector, *chunk.closer)], axis=0
            ).clip(-1, 1)
            scored.append(scores)
            return [
                (stored[at][0], float(scores[at]))
                for at in np.argsort(-scores, kind="stable")[:depth].tolist()
            ]

        fused = search_chunks(query, nearest, strategy=strategy, n=n)
        # A sum of ranks orders but says nothing of likeness.
        if strategy == "rrf":
            cosines = {
                key: float(score) for (key, _), score in zip(stored, np.max(scored, axis=0), strict=True)
            }
        else:
            cosines = {}
        there = self._get([one.key for one in fused])
        return [
            RecalledSituation(there[one.key], cosines.get(one.key, one.score), one.chunk_match)
            for one in fused
            if one.key in there
        ]

    def catch_up(self, *, progress: Progress = no_progress) -> None:
        """Make the vectors of situations that have none, after another embedder was chosen or while no
        vectors could be made. progress: told how many of how many are made. Raises ModelError, StoreError."""
        waiting = self._waiting()
        for at in range(0, len(waiting), BATCH):
            part = self._get(waiting[at : at + BATCH])
            texts = {key: self.embedder.split(one.situation) or [one.situation] for key, one in part.items()}
            rows = self.embedder.embed([window for windows in texts.values() for window in windows]).astype(
                np.float32
            )
            ends = pairwise(accumulate(map(len, texts.values()), initial=0))
            made = [
                (self.embedder.fingerprint, rows[start:end].tobytes(), key)
                for key, (start, end) in zip(texts, ends, strict=True)
            ]
            self._database.change_each(
                "update situation set fingerprint = ?, windows = ? where key = ?", made
            )
            progress(min(at + BATCH, len(waiting)), len(waiting))

    def _waiting(self) -> list[str]:
        """Keys of the situations, of all owners, that have no vectors of this embedder."""
        rows = self._database.read(
            "select key from situation where fingerprint is not ? order by key", (self.embedder.fingerprint,)
        )
        return [key for (key,) in rows]

    def _get(self, keys: Collection[str]) -> dict[str, Situation]:
        """Those of the keys that are there."""
        return _grouped(
            self._database.read(
                f"{SELECT} where key in (select value from json_each(?)) {ORDER}", (json.dumps(list(keys)),)
            )
        )

    def remove(self, owner: str, key: str) -> None:
        """Erase a situation and what was advised in it. Raises NotFoundError, StoreError."""
        if not self._database.change("delete from situation where key = ? and owner = ?", (key, owner)):
            raise _no_situation(key)
        self._shared.erased()

    def listed(self, owner: str, *, search: str = "") -> list[Situation]:
        """An owner's situations, the latest first. search: only those with each of its words."""
        found = _grouped(self._database.read(f"{SELECT} where owner = ? {ORDER}", (owner,))).values()
        held = [
            one
            for one in found
            if holds_words("\n".join([one.scope, one.situation, *one.recommendations]), search)
        ]
        return sorted(held, key=lambda one: (-one.at, one.key))

    def export(self, owner: str) -> Iterator[bytes]:
        """An owner's situations as lines of JSON, the oldest first; `import_file` reads them."""
        for one in reversed(self.listed(owner)):
            yield (
                json.dumps(
                    {
                        "scope": one.scope,
                        "situation": one.situation,
                        "recommendations": one.recommendations,
                        "at": one.at,
                    }
                ).encode()
                + b"\n"
            )

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order; "" for what is of no subject."""
        return [
            scope
            for (scope,) in self._database.read(
                "select distinct scope from situation where owner = ? order by scope", (owner,)
            )
        ]

    def health(self, owner: str) -> SituationHealth:
        """Raises StoreError where they cannot be read."""
        return SituationHealth(len(self.listed(owner)), tuple(self.scopes(owner)), len(self._waiting()))


class SituationMemory:
    """One owner's situations of one scope, by the calls of the memory it replaces.

    scope: a name, a symbol or a topic, whatever its case; what is remembered in one is never found in
    another.
    """

    def __init__(self, situations: Situations, *, scope: str = "", owner: str = "local") -> None:
        self._situations, self._scope, self._owner = situations, scope, owner

    def add_situations(self, situations_and_advice: Sequence[tuple[str, str]]) -> None:
        """Remember (situation, recommendation) pairs; none is nothing to do. Raises UsageError,
        StoreError.
        """
        self._situations.add(self._owner, situations_and_advice, scope=self._scope)

    def get_memories(
        self, current_situation: str, n_matches: int = 1, aggregate_chunks: bool = True, *, strategy: str = ""
    ) -> list[dict[str, Any]]:
        """At most n_matches distinct situations like this one, the most alike first, each as
        {"matched_situation", "recommendation", "similarity_score"}.

        recommendation: the newest of its situation; "also" holds the others where there are any.
        similarity_score: cosine, in [-1, 1]. A text longer than the embedder takes is cut into pieces: their
        mean is searched, or each piece alone where aggregate_chunks is False, and "chunk_match" then says
        which gave the score, itself or by a stretch of it, 0-based. strategy: of fusion.STRATEGIES, in the
        place of these two. Raises ModelError, StoreError, QuestionError.
        """
        if (
            n_matches < 1
            or not current_situation.strip()
            or plain_scope(self._scope) not in self._situations.scopes(self._owner)
        ):
            return []
        self._situations.catch_up()
        wanted = strategy or ("average" if aggregate_chunks else "per_chunk")
        query = self._situations.embedded(encodable(current_situation), strategy=wanted)
        found = self._situations.search(query, self._owner, [self._scope], strategy=wanted, n=n_matches)
        return [_as_match(one) for one in found]


def _no_situation(key: str) -> NotFoundError:
    return NotFoundError(f"You have no situation {key[:40]!r}.", hint="List them; it may have been removed.")


def _as_match(found: RecalledSituation) -> dict[str, Any]:
    newest, *others = found.situation.recommendations
    match = {
        "matched_situation": found.situation.situation,
        "recommendation": newest,
        "similarity_score": found.score,
    }
    return (
        match
        | ({} if found.chunk_match is None else {"chunk_match": found.chunk_match})
        | ({"also": others} if others else {})
    )


def _keep(connection: sqlite3.Connection, one: Situation, advice: Iterable[tuple[str, str, float]]) -> None:
    """Keep a situation where it is not there, and what is advised in it with the time of that."""
    statement = (
        "insert into situation (key, owner, scope, situation) values (?, ?, ?, ?) on conflict do nothing"
    )
    connection.execute(statement, (one.key, one.owner, one.scope, one.situation))
    connection.executemany(ADVISE, advice)


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[str, Situation]:
    """By key the situations of (key, owner, scope, situation, recommendation, at), the newest
    recommendation of each first.
    """
    found: dict[str, Situation] = {}
    for key, owner, scope, situation, text, at in rows:
        one = found.get(key) or Situation(key, owner, scope, situation, (), at)
        found[key] = replace(one, recommendations=(*one.recommendations, text))
    return found
