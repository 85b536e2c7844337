"""Fusion: what each strategy is defined as, what holds for all of them, and how a long query becomes
vectors.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chatbot.errors import ModelError, QuestionError
from chatbot.search.fusion import (
    EMBEDDINGS_AT_ONCE,
    MEANS,
    STRATEGIES,
    Fused,
    LongQuery,
    QueryChunk,
    best_scores,
    embed_query,
    embedding_steps,
    mean_vector,
    reciprocal_ranks,
    search_chunks,
    split_query,
    weakest_scores,
    worth_searching,
)
from tests.fakes import HashEmbedder

Floats = NDArray[np.float32]
Found = dict[int | None, Sequence[tuple[str, float]]]
Fusion = Callable[[Found], list[Fused[str]]]
Search = Callable[[QueryChunk, int], list[tuple[str, float]]]
Key = TypeVar("Key", str, int)
SUBJECTS = "debt anchor, pension fund, excise duty, wage bill, contingency reserve, capital project".split(
    ", "
)
DIMENSION = 512

keys = st.sampled_from([f"page {n}" for n in range(8)])
scores = st.floats(-1, 1, allow_nan=False) | st.sampled_from([0.0, 0.25, 0.5])  # ties are what goes wrong
results = st.lists(st.tuples(keys, scores), max_size=12)
founds = st.dictionaries(st.integers(0, 6), results, min_size=1, max_size=5)


def embedder() -> HashEmbedder:
    return HashEmbedder(dimension=DIMENSION)


def chunk(index: int, text: str, vector: Sequence[float] | None = None) -> QueryChunk:
    if vector is not None:
        return QueryChunk(index, text, np.array(vector, np.float32))
    (made,) = embedder().embed([text])
    return QueryChunk(index, text, made)


def query_of(*texts: str) -> LongQuery:
    chunks = [chunk(index, text) for index, text in enumerate(texts)]
    return LongQuery(" ".join(texts), tuple(chunks))


def library(texts: Mapping[str, str]) -> Search:
    """A search by cosine over a few texts, best first."""
    vectors = embedder().embed(list(texts.values()))

    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        cosines = [float(asked.vector @ vector) for vector in vectors]
        found = list(zip(texts, cosines, strict=True))
        return sorted(found, key=lambda row: (-row[1], row[0]))[:n]

    return search


class Noting:
    """A search that notes what it is asked, and finds one page for anything."""

    def __init__(self) -> None:
        self.asked: list[QueryChunk] = []
        self.depths: list[int] = []

    def __call__(self, asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        self.asked.append(asked)
        self.depths.append(n)
        return [("a", 1.0)]


def keys_of(found: Iterable[Fused[Key]]) -> list[Key]:
    return [one.key for one in found]


PAGES = {f"page of the {subject}": f"The {subject} of the year, set by law" for subject in SUBJECTS}


FUSIONS = [best_scores, weakest_scores, reciprocal_ranks]


def test_each_fusion_by_hand() -> None:
    found: Found = {0: [("a", 0.9), ("b", 0.5), ("c", 0.1)], 3: [("b", 0.8), ("a", 0.2)]}
    assert best_scores(found) == [Fused("a", 0.9, 0), Fused("b", 0.8, 3), Fused("c", 0.1, 0)]
    assert best_scores({3: [("a", 0.9)], 1: [("a", 0.9)]}) == [Fused("a", 0.9, 1)]
    assert weakest_scores(found) == [Fused("b", 0.5, 0), Fused("a", 0.2, 3)]
    twice = 1 / 61 + 1 / 62
    assert reciprocal_ranks(found) == [Fused("a", twice), Fused("b", twice), Fused("c", 1 / 63)]


@pytest.mark.parametrize("fuse", FUSIONS)
@given(found=founds)
def test_each_key_comes_once_best_first_and_ties_by_key(fuse: Fusion, found: Found) -> None:
    fused = fuse(found)
    keys = set(keys_of(fused))
    assert len(keys) == len(fused)
    places = [(-one.score, one.key) for one in fused]
    assert places == sorted(places)


def test_the_mean_is_unit_and_weighs_by_length_when_asked() -> None:
    chunks = [chunk(0, "ab", [1, 0]), chunk(1, "abcdef  ", [0, 1])]
    plain, weighted = mean_vector(chunks), mean_vector(chunks, weighted=True)
    assert plain == pytest.approx([0.5**0.5, 0.5**0.5])
    assert weighted == pytest.approx([2 / 40**0.5, 6 / 40**0.5])


def test_what_all_pieces_repeat_weighs_less() -> None:
    head = "deficit ceiling output"
    chunks = [
        chunk(0, f"{head} harbour", [1, 0]),
        chunk(1, "wage bill audit", [0, 1]),
        chunk(2, head, [1, 0]),
    ]
    of_head, own, repeated = (text.text for text in chunks)
    # Three terms of four stand in two pieces; none of the second piece's; all of the third's.
    weights = [len(of_head) * (3 * 0.5 + 1) / 4, len(own) * 1.0, len(repeated) * 0.5]
    expected = np.array([weights[0] + weights[2], weights[1]])
    assert mean_vector(chunks, weighted=True) == pytest.approx(expected / np.linalg.norm(expected))


REPORT = " ".join(
    f"Item{word} of the report was examined by committee{word}." for word in "abcdefghijklmnopqrstuvwxyz"
)


def indices(chunks: Sequence[QueryChunk]) -> list[int | None]:
    return [one.index for one in chunks]


def searched(*texts: str) -> list[int | None]:
    """Which of these pieces of a query are searched."""
    return indices(worth_searching(query_of(*texts).chunks))


def test_chunks_without_a_subject_are_dropped_and_the_others_keep_their_index() -> None:
    kept = searched("what is it that we have there", "the debt anchor", ". . .", "the pension fund")
    assert kept == [1, 3]
    assert searched("what is it", "why so") == [0]


def test_copies_are_dropped_and_the_first_stays() -> None:
    inflected = REPORT.replace("report was", "reports were")
    assert searched(REPORT, "The debt anchor.", REPORT.upper(), inflected) == [0, 1]
    # So is one word more that changes neither words nor vector.
    changed = REPORT.replace("Itemq", "Itemzz")
    same, other = embedder().embed([REPORT, "pension"])
    report = QueryChunk(0, REPORT, same)
    copy, moved = QueryChunk(1, changed, same), QueryChunk(1, changed, other)
    assert indices(worth_searching([report, copy])) == [0]
    assert indices(worth_searching([report, moved])) == [0, 1]


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(subject=st.sampled_from(SUBJECTS), n=st.integers(1, 9))
def test_one_chunk_gives_one_order_in_every_strategy(strategy: str, subject: str, n: int) -> None:
    text, search = f"The {subject} of the year", library(PAGES)
    found = search_chunks(query_of(text), search, strategy=strategy, n=n)
    alone = search(chunk(0, text), n)
    assert keys_of(found) == [key for key, _ in alone]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_stretches_are_for_searches_by_several_pieces(strategy: str) -> None:
    stretch = chunk(0, "The pension fund").vector
    one, several = query_of("The debt anchor"), query_of("The debt anchor", "The wage bill")
    for query, kept in ((one, False), (several, strategy not in MEANS)):
        closer = [replace(piece, closer=(stretch,)) for piece in query.chunks]
        search = Noting()
        search_chunks(replace(query, chunks=tuple(closer)), search, strategy=strategy, n=3)
        assert {bool(asked.closer) for asked in search.asked} == {kept}


@pytest.mark.parametrize("strategy", ["per_chunk", "union"])
def test_a_subject_of_one_chunk_is_found_by_that_chunk(strategy: str) -> None:
    subjects = [f"The {subject} of the year" for subject in SUBJECTS[:4]]
    query = query_of("It is what it is.", *subjects)
    found = search_chunks(query, library(PAGES), strategy=strategy, n=4)
    expected = {f"page of the {subject}": place for place, subject in enumerate(SUBJECTS[:4], 1)}
    assert {one.key: one.chunk_match for one in found[:4]} == expected


@given(st.lists(st.sampled_from(SUBJECTS), min_size=2, max_size=5, unique=True), st.integers(1, 4))
def test_union_is_uncut_and_holds_what_the_others_find(subjects: list[str], n: int) -> None:
    query = query_of(*(f"The {subject} is large" for subject in subjects))
    union = search_chunks(query, library(PAGES), strategy="union", n=n)
    assert len(union) == len(PAGES)
    everything = set(keys_of(union))
    for strategy in set(STRATEGIES) - {"union"}:
        found = search_chunks(query, library(PAGES), strategy=strategy, n=n)
        assert len(found) <= n
        assert set(keys_of(found)) <= everything
        assert strategy != "per_chunk" or found == union[:n]


@pytest.mark.parametrize("strategy", [one for one in STRATEGIES if one != "union"])
def test_the_first_results_do_not_depend_on_how_many_are_asked_for(strategy: str) -> None:
    pages = {}
    for number in range(300):
        others = " and ".join(SUBJECTS[: number % 5])
        pages[f"{number:03}"] = f"The {SUBJECTS[number % 6]} {others} of case {number}"
    search = library(pages)
    pieces = ["The pension fund is large", "The wage bill of case 17", "The debt anchor and its reserve"]
    query = query_of(*pieces)
    many = search_chunks(query, search, strategy=strategy, n=25)
    assert len(many) == 25 or strategy == "intersection"
    for n in (1, 3, 10):
        few = search_chunks(query, search, strategy=strategy, n=n)
        assert few == many[:n]


def test_average_searches_once_with_all_the_words() -> None:
    query, search = query_of("The debt anchor", "is what it is", "The pension fund"), Noting()
    search_chunks(query, search, strategy="average", n=1)
    (asked,) = search.asked
    assert asked.text == query.text
    debt, _, pension = query.chunks
    assert asked.vector == pytest.approx(mean_vector([debt, pension]))


def test_the_searches_of_one_query_run_at_the_same_time() -> None:
    together = threading.Barrier(EMBEDDINGS_AT_ONCE)

    def search(asked: QueryChunk, n: int) -> list[tuple[int, float]]:
        together.wait(timeout=10)  # broken, and so an error, where fewer searches are under way
        return [(asked.index or 0, 1.0)]

    query = query_of(*SUBJECTS[:EMBEDDINGS_AT_ONCE])
    done: list[tuple[int, int]] = []

    def note(step: int, steps: int) -> None:
        done.append((step, steps))

    found = search_chunks(query, search, strategy="per_chunk", n=9, progress=note)
    assert keys_of(found) == list(range(EMBEDDINGS_AT_ONCE))
    assert done == [(step, EMBEDDINGS_AT_ONCE) for step in range(1, EMBEDDINGS_AT_ONCE + 1)]


def test_a_search_that_fails_and_an_unknown_strategy_are_told() -> None:
    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        raise ModelError("gone")

    query = query_of("debt", "pension")
    for strategy, error, said in (("rrf", ModelError, "gone"), ("best", QuestionError, "'best'")):
        with pytest.raises(error, match=said):
            search_chunks(query, search, strategy=strategy, n=3)


class FailingEmbedder(HashEmbedder):
    """Has no vector for texts that hold `word`."""

    def __init__(self, word: str, **given: int) -> None:
        super().__init__(**given)
        self.word = word

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """As Embedder.embed."""
        vectors = super().embed(texts)
        if any(self.word in text for text in texts):
            raise ModelError(f"no vector for {self.word}")
        return vectors


def test_a_long_query_is_cut_by_tokens_and_each_piece_embedded() -> None:
    steps: list[tuple[int, int]] = []

    def note(step: int, count: int) -> None:
        steps.append((step, count))

    text = "The debt anchor The wage bill"
    query = embed_query(HashEmbedder(max_tokens=3), text, progress=note)
    first, second = query.chunks
    assert first.index == 0
    assert first.text == "The debt anchor "
    assert second.index == 1
    assert second.text == "The wage bill"
    (alone,) = HashEmbedder().embed(["The wage bill"])
    assert second.vector == pytest.approx(alone)
    assert query.text == text
    assert query.failure is None
    assert steps == [(1, 2), (2, 2)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_words_alone_are_searched_in_the_same_pieces(strategy: str) -> None:
    unasked, search = HashEmbedder(max_tokens=3), Noting()
    text = "The debt anchor The wage bill What is it"
    search_chunks(split_query(unasked, text), search, strategy=strategy, n=5)
    pieces = [text] if strategy in {"average", "weighted"} else ["The debt anchor ", "The wage bill "]
    assert sorted(asked.text for asked in search.asked) == pieces
    assert not unasked.calls


def test_the_others_keep_their_index_where_one_piece_fails() -> None:
    failing = FailingEmbedder("pension", max_tokens=3, dimension=DIMENSION)
    query = embed_query(failing, "the debt anchor the pension fund the wage bill")
    assert indices(query.chunks) == [0, 2]
    assert str(query.failure) == "no vector for pension"
    best = search_chunks(query, library(PAGES), strategy="per_chunk", n=2)
    matches = {one.key: one.chunk_match for one in best}
    assert matches == {"page of the debt anchor": 0, "page of the wage bill": 2}


def test_an_embedder_that_fails_for_all_is_told_and_not_asked_for_all() -> None:
    failing = FailingEmbedder("subject", max_tokens=1)
    text = " ".join(f"subject{n}" for n in range(50))
    with pytest.raises(ModelError, match="no vector"):
        embed_query(failing, text)
    assert failing.calls < 10


def test_closing_the_steps_ends_the_work() -> None:
    class Slow(HashEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
            time.sleep(0.01)
            return super().embed(texts)

    before = threading.active_count()
    slow = Slow(max_tokens=1)
    steps = embedding_steps(slow, " ".join(f"subject{n}" for n in range(100)))
    assert next(steps) == (1, 100)
    steps.close()
    assert slow.calls < 50
    assert threading.active_count() < before + 20
