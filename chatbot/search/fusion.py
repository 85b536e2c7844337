"""Combines the several embeddings of a query that is longer than its embedder takes.

What is searched, and what a key stands for, is up to the caller.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import fsum
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError, QuestionError
from chatbot.models.embedders import Embedder
from chatbot.settings import STRATEGIES
from ingestion.language.terms import content_terms

__all__ = [
    "EMBEDDINGS_AT_ONCE",
    "MEANS",
    "STRATEGIES",
    "Fused",
    "LongQuery",
    "QueryChunk",
    "best_scores",
    "embed_query",
    "embedding_steps",
    "mean_vector",
    "reciprocal_ranks",
    "search_chunks",
    "split_query",
    "weakest_scores",
    "worth_searching",
]

# Strategies that search once, with a mean of all pieces; the others search for each piece.
MEANS = ("average", "weighted")
# The constant of reciprocal rank fusion, as its authors give it (Cormack, Clarke and Büttcher, SIGIR 2009).
RANK_OFFSET = 60
# How deep each of several searches goes for n results: what is tenth in three lists may be first overall. At
# this depth the order of the first 25 does not depend on how many are asked for.
LEAST_DEPTH = 100
DEPTH_PER_RESULT = 4
# Embeddings and searches of one query under way at the same time: enough for the cores and for an endpoint,
# without taking up all of either.
EMBEDDINGS_AT_ONCE = 4
# An endpoint that has failed for this many chunks and served none is not asked for the rest, each of which
# would cost its time-outs again.
MOST_FAILURES = 2
# The share of their terms that two chunks must have in common before one can be dropped. The most similar
# windows of running text have .63 in common, those of one text with a word changed .97.
LEAST_OVERLAP = 0.8
# New terms that a chunk may have and still be a copy, if its vector agrees: a figure or a date that was
# changed.
MOST_NEW_TERMS = 1
# From this cosine on one search finds what the other does. A window with one word changed stands at .9965
# (median) to the window itself; one into which a sentence on another subject is put at .953, and at most
# .9915.
SAME_VECTOR = 0.995
# A mean of unit vectors that is shorter than this points nowhere: the vectors contradict each other.
SHORTEST_MEAN = 1e-6

Floats = NDArray[np.float32]
NO_VECTOR: Floats = np.empty(0, np.float32)


class Sortable(Hashable, Protocol):
    """What a key must be: equal to itself, and in an order that settles ties."""

    def __lt__(self, other: Any, /) -> bool: ...


Key = TypeVar("Key", bound=Sortable)
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class QueryChunk:
    """A piece of a query.

    index: 0-based among all pieces of the query, None for the query as a whole.
    text: of the piece.
    vector: unit, shape (dimension,); of shape (0,) where only words are searched.
    closer: vectors of stretches of it, which a search may use beside its own.
    """

    index: int | None
    text: str
    vector: Floats
    closer: tuple[Floats, ...] = ()


@dataclass(frozen=True, slots=True)
class LongQuery:
    """A query with the vectors of its pieces.

    text: all of it, including pieces without a vector.
    chunks: at least one, by index.
    failure: why the embedder has no vector for some other piece; None where each piece that has something to
        search has one.
    """

    text: str
    chunks: tuple[QueryChunk, ...]
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Fused(Generic[Key]):
    """A result.

    key: what was found.
    score: higher is better; comparable within one search only.
    chunk_match: index of the query chunk that gave the score, None where no single chunk did.
    """

    key: Key
    score: float
    chunk_match: int | None = None


Search = Callable[[QueryChunk, int], Sequence[tuple[Key, float]]]
Found = Mapping[int | None, Sequence[tuple[Key, float]]]


def _no_progress(done: int, total: int) -> None:
    pass


# --- embedding


def embed_query(
    embedder: Embedder, text: str, *, reserve: int = 0, progress: Callable[[int, int], None] = _no_progress
) -> LongQuery:
    """The query with a vector for each piece of at most the embedder's tokens, less `reserve`; pieces without
    content terms get none.

    progress(done, total): pieces, called on this thread. Raises ModelError where there is no vector at all.
    """
    steps = embedding_steps(embedder, text, reserve=reserve)
    while True:
        try:
            progress(*next(steps))
        except StopIteration as end:
            query: LongQuery = end.value
            return query


def split_query(embedder: Embedder, text: str) -> LongQuery:
    """The query in the same pieces without their vectors, to search by words alone; nothing is embedded."""
    pieces = embedder.split(text) or [text]
    chunks = [QueryChunk(index, piece, NO_VECTOR) for index, piece in enumerate(pieces)]
    return LongQuery(text, tuple(chunks))


def embedding_steps(
    embedder: Embedder, text: str, *, reserve: int = 0
) -> Generator[tuple[int, int], None, LongQuery]:
    """Like embed_query, for callers that pass progress on as it comes: yields (done, total), returns the
    query. Closing it ends the work.
    """
    texts = embedder.split(text, reserve=reserve) or [text]
    with_content = _with_content(texts)
    vectors: dict[int, Floats] = {}
    failures: list[ModelError] = []

    def embed(index: int) -> None:
        if len(failures) >= MOST_FAILURES and not vectors:
            return
        try:
            vectors[index] = embedder.embed([texts[index]], query=True)[0]
        except ModelError as error:
            failures.append(error)

    for done, _ in enumerate(_each(embed, with_content), 1):
        yield done, len(with_content)
    if not vectors:
        raise failures[0]
    chunks = tuple(QueryChunk(index, texts[index], vectors[index]) for index in sorted(vectors))
    return LongQuery(text, chunks, failures[0] if failures else None)


def _with_content(texts: Sequence[str]) -> list[int]:
    """Indices of the texts with content terms; the first text where none has any."""
    return [index for index, text in enumerate(texts) if content_terms(text)] or [0]


def worth_searching(chunks: Sequence[QueryChunk]) -> tuple[QueryChunk, ...]:
    """The chunks without those that have no content terms and those that nearly repeat an earlier one; at
    least one chunk where any is given.

    A chunk repeats another where they share nearly all terms, and it either adds none, or at most one and has
    a vector that finds the same. What is new in a chunk may be what it is about, so words alone do not
    decide; nor do vectors alone, which some models lay close together.
    """
    kept: list[tuple[QueryChunk, frozenset[str]]] = []
    for at in _with_content([chunk.text for chunk in chunks]):
        chunk = chunks[at]
        terms = frozenset(content_terms(chunk.text))
        if not any(_repeats(chunk, terms, *other) for other in kept):
            kept.append((chunk, terms))
    return tuple(chunk for chunk, _ in kept)


def _repeats(
    chunk: QueryChunk, terms: frozenset[str], other: QueryChunk, other_terms: frozenset[str]
) -> bool:
    shared = len(terms & other_terms)
    if shared < LEAST_OVERLAP * (len(terms) + len(other_terms) - shared):
        return False
    new = len(terms) - shared
    return not new or (new <= MOST_NEW_TERMS and float(chunk.vector @ other.vector) >= SAME_VECTOR)


# --- searching


def search_chunks(
    query: LongQuery,
    search: Search[Key],
    *,
    strategy: str,
    n: int,
    progress: Callable[[int, int], None] = _no_progress,
) -> list[Fused[Key]]:
    """What a long query finds, best first, ties by key: at most n, with "union" everything that was found.

    search(chunk, n): the best n (key, score) for a chunk's vector and text, which is query.text where all of
    it is searched; called from several threads at a time. What it raises is raised.
    strategy: of STRATEGIES, else QuestionError. n: 1 or more.
    progress(done, total): searches, called on this thread.
    """
    if strategy not in STRATEGIES:
        raise QuestionError(
            f"There is no strategy named {strategy!r}.", hint=f"Strategies: {', '.join(STRATEGIES)}."
        )
    chunks = _searched(query, strategy)
    depth = n if len(chunks) == 1 else max(LEAST_DEPTH, DEPTH_PER_RESULT * n)

    def results_of(chunk: QueryChunk) -> Sequence[tuple[Key, float]]:
        return search(chunk, depth)

    found: dict[int | None, Sequence[tuple[Key, float]]] = {}
    for chunk, results in zip(chunks, _each(results_of, chunks), strict=True):
        found[chunk.index] = results
        progress(len(found), len(chunks))
    if strategy == "union":
        return best_scores(found)
    if strategy == "rrf":
        fused = reciprocal_ranks(found)
    elif strategy == "intersection":
        fused = weakest_scores(found)
    else:
        fused = best_scores(found)
    return fused[:n]


def _searched(query: LongQuery, strategy: str) -> tuple[QueryChunk, ...]:
    """The chunks that a strategy searches for."""
    chunks = worth_searching(query.chunks)
    if strategy in MEANS:
        return (QueryChunk(None, query.text, mean_vector(chunks, weighted=strategy == "weighted")),)
    if len(chunks) == 1:
        # What was dropped beside it adds nothing: it stands for the query, and every strategy searches for
        # the same.
        return (replace(chunks[0], text=query.text, closer=()),)
    return chunks


def mean_vector(chunks: Sequence[QueryChunk], *, weighted: bool = False) -> Floats:
    """The mean of the chunks' vectors, made unit again; weighted: by their length in characters without the
    blanks around them, times their importance.

    Does not depend on the chunks' order. Where they cancel each other out, the first chunk's vector stands
    for all. The vector of a single chunk is returned unchanged, to the last bit, lest ties fall otherwise
    than in the strategies that search with it.
    """
    ordered = sorted(chunks, key=lambda chunk: _place(chunk.index))
    if weighted:
        own = _importance([chunk.text for chunk in ordered])
        weights = [len(chunk.text.strip()) * share for chunk, share in zip(ordered, own, strict=True)]
    else:
        weights = [1.0] * len(ordered)
    lengths = np.array(weights, np.float64)
    vectors = np.stack([chunk.vector for chunk in ordered])
    mean = lengths @ vectors / max(lengths.sum(), SHORTEST_MEAN)
    length = float(np.linalg.norm(mean))
    if len(ordered) == 1 or length < SHORTEST_MEAN:
        return ordered[0].vector
    return np.asarray(mean / length, np.float32)


def _importance(texts: Sequence[str]) -> list[float]:
    """How much of each text stands in it alone, in (0, 1]: the mean over its content terms of 1 / the number
    of texts with that term. What every piece repeats, such as a running head, says little of any.
    """
    found = [content_terms(text) for text in texts]
    texts_with = Counter(term for terms in found for term in terms)
    shares = []
    for terms in found:
        shares.append(fsum(1 / texts_with[term] for term in terms) / len(terms) if terms else 1.0)
    return shares


# --- fusing

# Each takes what every query chunk found, in any order, and gives everything that qualifies, best first, ties
# by key.


def best_scores(found: Found[Key]) -> list[Fused[Key]]:
    """What any chunk found, each with its best score and the chunk that gave it, the first of several."""
    best: dict[Key, Fused[Key]] = {}
    for index in _indices(found):
        for key, score in found[index]:
            if key not in best or score > best[key].score:
                best[key] = Fused(key, score, index)
    return _in_order(best.values())


def weakest_scores(found: Found[Key]) -> list[Fused[Key]]:
    """What every chunk found, each with its weakest score and the chunk that gave it, the first of
    several; may be empty.
    """
    best = {index: dict(_ranked(found[index])) for index in _indices(found)}
    if not best:
        return []
    fused = []
    for key in set.intersection(*map(set, best.values())):
        scores = {index: of_chunk[key] for index, of_chunk in best.items()}
        weakest = min(scores, key=scores.__getitem__)
        fused.append(Fused(key, scores[weakest], weakest))
    return _in_order(fused)


def reciprocal_ranks(found: Found[Key]) -> list[Fused[Key]]:
    """What any chunk found, scored by the sum of 1 / (RANK_OFFSET + rank) over the chunks that found it,
    the first rank being 1.
    """
    shares: dict[Key, list[float]] = defaultdict(list)
    for results in found.values():
        for rank, (key, _) in enumerate(_ranked(results), 1):
            shares[key].append(1 / (RANK_OFFSET + rank))
    # An exact sum, which does not depend on the order of its terms.
    return _in_order(Fused(key, fsum(parts)) for key, parts in shares.items())


def _indices(found: Found[Key]) -> list[int | None]:
    return sorted(found, key=_place)


def _place(index: int | None) -> int:
    """Where a chunk stands in the order: the query as a whole before its pieces."""
    return -1 if index is None else index


def _ranked(results: Sequence[tuple[Key, float]]) -> list[tuple[Key, float]]:
    """One search's results, each key once with its best score, best first, ties by key."""
    best: dict[Key, float] = {}
    for key, score in results:
        best[key] = max(score, best.get(key, score))
    return sorted(best.items(), key=lambda row: (-row[1], row[0]))


def _in_order(fused: Iterable[Fused[Key]]) -> list[Fused[Key]]:
    return sorted(fused, key=lambda result: (-result.score, result.key))


def _each(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results in the items' order, worked out on several threads; a single one on the caller's own."""
    if len(items) == 1:
        yield work(items[0])
        return
    with ThreadPoolExecutor(min(len(items), EMBEDDINGS_AT_ONCE)) as threads:
        yield from threads.map(work, items)
