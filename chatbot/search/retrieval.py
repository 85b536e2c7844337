"""Finds the pages that answer a query: vectors and words of every chunk in reach, added up page by page; answers nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import QuestionError
from chatbot.records import Hit
from chatbot.search.pages import CHUNK_WORDS_WEIGHT, CONTENTS_SHARE, PAGE_WORDS_WEIGHT, VECTOR_WEIGHT, score_pages
from chatbot.store.catalog import StoredChunk
from chatbot.store.damage import IndexDamagedError
from chatbot.store.lexicon import K1, inverse_frequency
from chatbot.store.library import Library
from chatbot.terms import content_terms
from ingestion.page_kinds import CONTENTS
from ingestion.records import NO_FACTS

__all__ = ["MODES", "MOST_HITS", "Query", "Retriever"]

MODES = ("hybrid", "vector", "keyword")
WEIGHTS = {
    "hybrid": (VECTOR_WEIGHT, CHUNK_WORDS_WEIGHT, PAGE_WORDS_WEIGHT),
    "vector": (1.0, 0.0, 0.0),
    "keyword": (0.0, CHUNK_WORDS_WEIGHT, PAGE_WORDS_WEIGHT),
}
# Up to this many chunks in reach each one is scored exactly, which takes 10 ms; beyond it the two indexes name candidates first.
MOST_EXACT_CHUNKS = 20_000
# Candidates from each index: the pages that end in the first ten were always among the first 60 chunks of one of them.
CANDIDATES = 200
# A page has four chunks or so: that many candidates for each page that is asked for.
CANDIDATES_PER_HIT = 8
MOST_HITS = 10_000
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched. vector: the query's unit vector, None to search by words alone. names: documents to stay in, () for all."""

    text: str
    vector: Floats | None
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3


@dataclass(frozen=True, slots=True)
class _Scope:
    """Live versions in reach. chunks: version -> how many; keep: version -> ordinals to score, None for all."""

    names: Mapping[int, str]
    chunk_pages: Mapping[int, NDArray[np.int64]]
    keep: Mapping[int, NDArray[np.int64]] | None


class Retriever:
    """Searches a library. Holds nothing but what the library keeps ready; safe from several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def search(self, query: Query) -> list[Hit]:
        """The best pages, at most `query.k`, best first, one hit a page; the order does not depend on k. Raises NotFoundError for an unknown document."""
        _check(query.mode, query.k)
        try:
            return self._search(query)
        except (KeyError, IndexError):  # a document was replaced or erased meanwhile: what is there now answers
            return self._search(query)

    def _search(self, query: Query) -> list[Hit]:
        scope = self._scope(query)
        words = content_terms(query.text)
        weights = self._term_weights(words, scope)
        most = max(sum(weights.values()) * (K1 + 1), 1e-9)
        found: list[tuple[float, int, int, int, tuple[float, float, float]]] = []
        for version in scope.names:
            found.extend(self._score(version, query, scope, weights, most))
        found.sort(key=lambda row: (-row[0], row[1], row[2]))
        meaning = query.vector is not None and query.mode != "keyword"
        return [self._hit(scope.names[row[1]], row, weights, searched_by_meaning=meaning) for row in found[: query.k]]

    def raw(self, vector: Floats, names: Sequence[str], k: int) -> list[Hit]:
        """The k nearest chunks by cosine, several a page if so: the plain top-k of a vector store."""
        _check("vector", k)
        active = self._library.scope(names)
        found: list[tuple[float, int, int]] = []
        if names:
            for version in active:
                scores = self._library.matrix(version).cosines(vector, len(self._pages(version)))
                found.extend((float(score), version, ordinal) for ordinal, score in enumerate(scores))
        else:
            found = [(score, version, ordinal) for version, ordinal, score in _live(partial(self._library.vectors.search, vector), active, k)]
        found.sort(key=lambda row: (-row[0], row[1], row[2]))
        chunks = [(score, self._library.catalog.chunk(version, ordinal)) for score, version, ordinal in found[:k]]
        return [self._as_hit(active[chunk.version], chunk, score, {"vector": score}) for score, chunk in chunks]

    def _scope(self, query: Query) -> _Scope:
        names = self._library.scope(query.names)
        pages = {version: self._pages(version) for version in names}
        if query.names or sum(map(len, pages.values())) <= MOST_EXACT_CHUNKS:
            return _Scope(names, pages, None)
        keep: dict[int, set[int]] = {}
        try:
            candidates = self._candidates(query, names)
        except IndexDamagedError:  # whoever changes the store next makes the index anew; until then each chunk is scored
            return _Scope(names, pages, None)
        for version, ordinal, _ in candidates:
            keep.setdefault(version, set()).add(ordinal)
        arrays = {version: np.array(sorted(ordinals), np.int64) for version, ordinals in keep.items()}
        return _Scope({version: names[version] for version in arrays}, pages, arrays)

    def _candidates(self, query: Query, names: Mapping[int, str]) -> list[tuple[int, int, float]]:
        """(version, ordinal, score) of the chunks that the indexes name."""
        wanted, candidates = max(CANDIDATES, CANDIDATES_PER_HIT * query.k), list[tuple[int, int, float]]()
        if query.mode != "vector":
            candidates += _live(partial(self._library.keywords.search, content_terms(query.text)), names, wanted)
        if query.vector is not None and query.mode != "keyword":
            candidates += _live(partial(self._library.vectors.search, query.vector), names, wanted)
        return candidates

    def _pages(self, version: int) -> NDArray[np.int64]:
        return self._library.chunk_pages(version)

    def _term_weights(self, words: Sequence[str], scope: _Scope) -> dict[str, float]:
        """Inverse document frequency of each term over the chunks in reach."""
        if scope.keep is not None:
            total, keywords = self._library.keywords.count(), self._library.keywords
            return {word: inverse_frequency(total, min(total, keywords.frequency(word))) for word in words}
        lexicons = [self._library.lexicons(version)[0] for version in scope.names]
        total = sum(len(lexicon.lengths) for lexicon in lexicons)
        return {word: inverse_frequency(total, sum(lexicon.frequency(word) for lexicon in lexicons)) for word in words}

    def _score(
        self, version: int, query: Query, scope: _Scope, weights: Mapping[str, float], most: float
    ) -> list[tuple[float, int, int, int, tuple[float, float, float]]]:
        """(score, version, page, best ordinal, parts) of the pages of one version."""
        pages = scope.chunk_pages[version]
        if not len(pages):
            return []
        by_chunk, by_page = self._library.lexicons(version)
        cosines = np.full(len(pages), -1.0, np.float32)
        if query.vector is not None and query.mode != "keyword":
            cosines = self._library.matrix(version).cosines(query.vector, len(pages))
        chunk_words, page_words = by_chunk.scores(weights) / np.float32(most), by_page.scores(weights) / np.float32(most)
        kept = scope.keep[version] if scope.keep is not None else np.arange(len(pages))
        scored = score_pages(cosines[kept], chunk_words[kept], page_words, pages[kept], weights=WEIGHTS[query.mode])
        kinds = self._library.page_kinds(version)
        contents = np.array([page for page, of in kinds.items() if CONTENTS in of], np.int64)
        total = np.where(np.isin(scored.pages, contents), CONTENTS_SHARE * scored.total, scored.total)
        parts = zip(scored.vector.tolist(), scored.chunk_words.tolist(), scored.page_words.tolist(), strict=True)
        rows = zip(total.tolist(), scored.pages.tolist(), kept[scored.best].tolist(), parts, strict=True)
        return [(total, version, page, best, part) for total, page, best, part in rows if total > 0]

    def _hit(
        self, name: str, row: tuple[float, int, int, int, tuple[float, float, float]], weights: Mapping[str, float], *, searched_by_meaning: bool
    ) -> Hit:
        score, version, page, ordinal, parts = row
        by_page = self._library.lexicons(version)[1]
        there = sum(weight for word, weight in weights.items() if by_page.has(word, page - 1))
        named = dict(zip(("vector", "chunk_words", "page_words"), parts, strict=True))
        if not searched_by_meaning:
            del named["vector"]
        return self._as_hit(
            name, self._library.catalog.chunk(version, ordinal), score, {**named, "coverage": there / max(sum(weights.values()), 1e-9)}
        )

    def _as_hit(self, name: str, chunk: StoredChunk, score: float, parts: Mapping[str, float]) -> Hit:
        page = self._library.catalog.pages(chunk.version, [chunk.page])[chunk.page]
        stored = self._library.catalog.version(chunk.version)
        return Hit(
            document=name,
            version=chunk.version,
            page=chunk.page,
            page_label=page.label,
            label_source=page.label_source,
            extraction_method=page.method,
            confidence=page.confidence,
            chunk_id=f"{chunk.version}:{chunk.ordinal}",
            text=chunk.text,
            page_text=page.text,
            body=page.body,
            context=chunk.context,
            score=round(score, 6),
            scores={name: round(value, 4) for name, value in parts.items()},
            tables=self._library.catalog.tables(chunk.version, chunk.page).get(chunk.page, ()),
            kinds=self._library.page_kinds(chunk.version).get(chunk.page, ()),
            instructions=page.instructions,
            facts=stored.facts if stored else NO_FACTS,
        )


def _live(search: Callable[[int], list[tuple[int, int, float]]], live: Mapping[int, str], wanted: int) -> list[tuple[int, int, float]]:
    """The best `wanted` chunks of live versions: an index may still hold removed ones, so more is asked for until there are enough."""
    limit = wanted
    while True:
        found = search(limit)
        kept = [row for row in found if row[0] in live]
        if len(kept) >= wanted or len(found) < limit // 2:  # a chunk of two windows is found twice and named once
            return kept[:wanted]
        limit *= 4


def _check(mode: str, k: int) -> None:
    if mode not in MODES:
        raise QuestionError(f"There is no mode {mode!r}.", hint=f"Modes: {', '.join(MODES)}.")
    if not 1 <= k <= MOST_HITS:
        raise QuestionError(f"k is {k}.", hint=f"Ask for 1 to {MOST_HITS} pages.")
