"""Fusion: what each strategy is defined as, what holds for all of them, and how a long query becomes
vectors.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chatbot.errors import ModelError, QuestionError
from chatbot.search.fusion import (
    DEPTH_PER_RESULT,
    LEAST_DEPTH,
    MEANS,
    MOST_AT_ONCE,
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
SUBJECTS = [
    "debt anchor",
    "pension fund",
    "excise duty",
    "wage bill",
    "contingency reserve",
    "capital project",
]
DIMENSION = 512

keys = st.sampled_from([f"page {n}" for n in range(8)])
scores = st.floats(-1, 1, allow_nan=False) | st.sampled_from([0.0, 0.25, 0.5])  # ties are what goes wrong
results = st.lists(st.tuples(keys, scores), max_size=12)
founds = st.dictionaries(st.integers(0, 6), results, min_size=1, max_size=5)


def chunk(index: int, text: str, vector: Sequence[float] | None = None) -> QueryChunk:
    made = (
        np.array(vector, np.float32)
        if vector is not None
        else HashEmbedder(dimension=DIMENSION).embed([text])[0]
    )
    return QueryChunk(index, text, made)


def query_of(*texts: str) -> LongQuery:
    return LongQuery(" ".join(texts), tuple(chunk(index, text) for index, text in enumerate(texts)))


def library(texts: Mapping[str, str]) -> Callable[[QueryChunk, int], list[tuple[str, float]]]:
    """A search by cosine over a few texts, best first."""
    vectors = {key: HashEmbedder(dimension=DIMENSION).embed([text])[0] for key, text in texts.items()}

    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        found = [(key, float(asked.vector @ vector)) for key, vector in vectors.items()]
        return sorted(found, key=lambda row: (-row[1], row[0]))[:n]

    return search


PAGES = {f"page of the {subject}": f"The {subject} of the year, set by law" for subject in SUBJECTS}


# --- the fusions
# ------------------------------------------------------------------------------------------------------------

FUSIONS = [best_scores, weakest_scores, reciprocal_ranks]


def test_each_fusion_by_hand() -> None:
    found: Found = {0: [("a", 0.9), ("b", 0.5), ("c", 0.1)], 3: [("b", 0.8), ("a", 0.2)]}
    assert best_scores(found) == [Fused("a", 0.9, 0), Fused("b", 0.8, 3), Fused("c", 0.1, 0)]
    assert best_scores({3: [("a", 0.9)], 1: [("a", 0.9)]}) == [Fused("a", 0.9, 1)]
    assert weakest_scores(found) == [Fused("b", 0.5, 0), Fused("a", 0.2, 3)]
    assert reciprocal_ranks(found) == [
        Fused("a", 1 / 61 + 1 / 62),
        Fused("b", 1 / 62 + 1 / 61),
        Fused("c", 1 / 63),
    ]


def test_nothing_is_everywhere_where_one_chunk_found_nothing() -> None:
    found: Found = {0: [("a", 0.9)], 1: []}
    assert weakest_scores(found) == []
    found[1] = [("b", 0.9)]
    assert weakest_scores(found) == []


@given(founds)
def test_ranks_are_summed_as_defined(found: Found) -> None:
    expected: dict[str, float] = {}
    for rows in found.values():
        best: dict[str, float] = {}
        for key, score in rows:
            best[key] = max(score, best.get(key, score))
        for rank, key in enumerate(sorted(best, key=lambda key: (-best[key], key)), 1):
            expected[key] = expected.get(key, 0.0) + 1 / (60 + rank)
    assert {one.key: one.score for one in reciprocal_ranks(found)} == pytest.approx(expected)


@pytest.mark.parametrize("fuse", FUSIONS)
@given(found=founds, data=st.data())
def test_the_order_of_chunks_and_of_results_does_not_matter(
    fuse: Callable[[Found], list[Fused[str]]], found: Found, data: st.DataObject
) -> None:
    mixed: Found = {
        index: data.draw(st.permutations(found[index])) for index in data.draw(st.permutations(list(found)))
    }
    assert fuse(mixed) == fuse(found)


@pytest.mark.parametrize("fuse", FUSIONS)
@given(found=founds)
def test_each_key_comes_once_best_first_and_ties_by_key(
    fuse: Callable[[Found], list[Fused[str]]], found: Found
) -> None:
    fused = fuse(found)
    assert len({one.key for one in fused}) == len(fused)
    assert [(-one.score, one.key) for one in fused] == sorted((-one.score, one.key) for one in fused)


@given(founds)
def test_the_weakest_score_is_one_of_every_chunk_and_never_above_the_best(found: Found) -> None:
    best = {one.key: one.score for one in best_scores(found)}
    everything = {key for rows in found.values() for key, _ in rows}
    assert set(best) == everything == {one.key for one in reciprocal_ranks(found)}
    for one in weakest_scores(found):
        assert all(one.key in dict(rows) for rows in found.values())
        assert one.score <= best[one.key]
        assert (one.key, one.score) in found[one.chunk_match]


@given(founds)
def test_a_best_score_is_that_of_the_chunk_it_names(found: Found) -> None:
    for one in best_scores(found):
        assert (one.key, one.score) in found[one.chunk_match]
        assert one.score == max(score for rows in found.values() for key, score in rows if key == one.key)


@given(st.lists(st.tuples(keys, scores), max_size=12))
def test_one_chunk_gives_one_order_in_every_fusion(rows: list[tuple[str, float]]) -> None:
    orders = set()
    for fuse in FUSIONS:
        orders.add(tuple(one.key for one in fuse({4: rows})))
    assert len(orders) == 1


# --- vectors
# ------------------------------------------------------------------------------------------------------------


def test_the_mean_is_unit_and_weighs_by_length_when_asked() -> None:
    short, long = chunk(0, "ab", [1, 0]), chunk(1, "abcdef  ", [0, 1])
    assert mean_vector([short, long]) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert mean_vector([short, long], weighted=True) == pytest.approx(np.array([2, 6]) / 40**0.5)


def test_vectors_that_cancel_out_leave_the_first() -> None:
    assert mean_vector([chunk(1, "b", [-1, 0]), chunk(0, "a", [1, 0])]).tolist() == [1.0, 0.0]


@given(st.permutations(range(5)), st.booleans())
def test_a_mean_does_not_depend_on_the_order(order: list[int], weighted: bool) -> None:
    chunks = [chunk(index, f"{subject} " * (index + 1)) for index, subject in enumerate(SUBJECTS[:5])]
    mixed = mean_vector([chunks[index] for index in order], weighted=weighted)
    assert mixed.tobytes() == mean_vector(chunks, weighted=weighted).tobytes()
    assert float(np.linalg.norm(mixed)) == pytest.approx(1)


# --- which chunks are searched
# --------------------------------------------------------------------------------------------------

REPORT = " ".join(
    f"Item{word} of the report was examined by committee{word}." for word in "abcdefghijklmnopqrstuvwxyz"
)


def indices(chunks: Sequence[QueryChunk]) -> list[int | None]:
    return [one.index for one in chunks]


def test_chunks_without_a_subject_are_dropped_and_the_others_keep_their_index() -> None:
    query = query_of("what is it that we have there", "the debt anchor", ". . .", "the pension fund")
    assert indices(worth_searching(query.chunks)) == [1, 3]


def test_where_no_chunk_has_a_subject_the_first_is_searched() -> None:
    assert indices(worth_searching(query_of("what is it", "why so").chunks)) == [0]


def test_copies_are_dropped_and_the_first_stays() -> None:
    query = query_of(REPORT, "The debt anchor.", REPORT.upper(), REPORT.replace("report was", "reports were"))
    assert indices(worth_searching(query.chunks)) == [0, 1]


def test_one_word_that_changes_neither_words_nor_vector_is_a_copy() -> None:
    changed = REPORT.replace("Itemq", "Itemzz")
    same, other = HashEmbedder(dimension=DIMENSION).embed([REPORT, "pension"])
    assert indices(worth_searching([QueryChunk(0, REPORT, same), QueryChunk(1, changed, same)])) == [0]
    assert indices(worth_searching([QueryChunk(0, REPORT, same), QueryChunk(1, changed, other)])) == [0, 1]


def test_a_subject_within_repeated_words_is_kept() -> None:
    assert indices(worth_searching(query_of(REPORT, REPORT + " The pension fund is in deficit.").chunks)) == [
        0,
        1,
    ]


def test_a_short_question_is_no_copy_of_the_text_that_holds_its_words() -> None:
    assert indices(worth_searching(query_of(REPORT, "Which report was examined?").chunks)) == [0, 1]


# --- searching
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(subject=st.sampled_from(SUBJECTS), n=st.integers(1, 9))
def test_one_chunk_gives_one_order_in_every_strategy(strategy: str, subject: str, n: int) -> None:
    found = search_chunks(query_of(f"The {subject} of the year"), library(PAGES), strategy=strategy, n=n)
    assert [one.key for one in found] == [
        key for key, _ in library(PAGES)(chunk(0, f"The {subject} of the year"), n)
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_chunk_that_is_left_is_searched_as_the_query(strategy: str) -> None:
    query, asked = query_of("what is it", "The debt anchor", "The debt anchor"), list[tuple[str, bytes]]()

    def search(one: QueryChunk, n: int) -> list[tuple[str, float]]:
        asked.append((one.text, one.vector.tobytes()))
        return [("a", 1.0)]

    found = search_chunks(query, search, strategy=strategy, n=3)
    assert asked == [(query.text, query.chunks[1].vector.tobytes())]
    assert found[0].chunk_match == (1 if strategy in {"per_chunk", "union", "intersection"} else None)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_stretches_are_for_searches_by_several_pieces(strategy: str) -> None:
    stretch = query_of("The pension fund").chunks[0].vector
    for texts, kept in (
        (["The debt anchor"], False),
        (["The debt anchor", "The wage bill"], strategy not in MEANS),
    ):
        query, seen = query_of(*texts), set[bool]()

        def search(one: QueryChunk, n: int, seen: set[bool] = seen) -> list[tuple[str, float]]:
            seen.add(bool(one.closer))
            return [("a", 1.0)]

        closer = replace(query, chunks=tuple(replace(one, closer=(stretch,)) for one in query.chunks))
        search_chunks(closer, search, strategy=strategy, n=3)
        assert seen == {kept}


@pytest.mark.parametrize("strategy", ["per_chunk", "union"])
def test_a_subject_of_one_chunk_is_found_by_that_chunk(strategy: str) -> None:
    query = query_of("It is what it is.", *(f"The {subject} of the year" for subject in SUBJECTS[:4]))
    found = search_chunks(query, library(PAGES), strategy=strategy, n=4)
    assert {one.key: one.chunk_match for one in found[:4]} == {
        f"page of the {subject}": at for at, subject in enumerate(SUBJECTS[:4], 1)
    }


def test_every_result_of_per_chunk_names_its_chunk() -> None:
    for texts in (["It is.", "The pension fund"], ["The pension fund", "The wage bill"]):
        found = search_chunks(query_of(*texts), library(PAGES), strategy="per_chunk", n=6)
        assert all(one.chunk_match is not None for one in found)


@given(st.lists(st.sampled_from(SUBJECTS), min_size=2, max_size=5, unique=True), st.integers(1, 4))
def test_union_is_uncut_and_holds_what_the_others_find(subjects: list[str], n: int) -> None:
    query = query_of(*(f"The {subject} is large" for subject in subjects))
    found = {
        strategy: search_chunks(query, library(PAGES), strategy=strategy, n=n) for strategy in STRATEGIES
    }
    assert len(found["union"]) == len(PAGES)
    assert all(len(found[strategy]) <= n for strategy in set(STRATEGIES) - {"union"})
    everything = {one.key for one in found["union"]}
    for rows in found.values():
        assert {one.key for one in rows} <= everything
    assert found["per_chunk"] == found["union"][:n]


DEPTH_QUESTIONS = """
average
weighted
per_chunk
rrf
intersection
""".strip().split("\n")


@pytest.mark.parametrize("strategy", DEPTH_QUESTIONS)
def test_the_first_results_do_not_depend_on_how_many_are_asked_for(strategy: str) -> None:
    pages = {
        f"{n:03}": f"The {SUBJECTS[n % 6]} {' and '.join(SUBJECTS[: n % 5])} of case {n}" for n in range(300)
    }
    query = query_of(
        "The pension fund is large", "The wage bill of case 17", "The debt anchor and its reserve"
    )
    many = search_chunks(query, library(pages), strategy=strategy, n=25)
    assert len(many) == 25 or strategy == "intersection"
    assert all(search_chunks(query, library(pages), strategy=strategy, n=n) == many[:n] for n in (1, 3, 10))


def test_several_searches_go_deeper_than_what_is_asked_for_and_one_does_not() -> None:
    depths: list[int] = []

    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        depths.append(n)
        return []

    search_chunks(query_of("debt", "pension"), search, strategy="rrf", n=3)
    search_chunks(query_of("debt", "pension"), search, strategy="rrf", n=50)
    search_chunks(query_of("debt", "pension"), search, strategy="average", n=3)
    search_chunks(query_of("debt"), search, strategy="rrf", n=3)
    assert depths == [LEAST_DEPTH] * 2 + [50 * DEPTH_PER_RESULT] * 2 + [3, 3]


def test_average_searches_once_with_all_the_words() -> None:
    asked: list[QueryChunk] = []
    query = query_of("The debt anchor", "is what it is", "The pension fund")

    def search(one: QueryChunk, n: int) -> list[tuple[str, float]]:
        asked.append(one)
        return [("a", 1.0)]

    search_chunks(query, search, strategy="average", n=1)
    assert [one.text for one in asked] == [query.text]
    assert asked[0].vector == pytest.approx(mean_vector([query.chunks[0], query.chunks[2]]))


def test_the_searches_of_one_query_run_at_the_same_time() -> None:
    together = threading.Barrier(MOST_AT_ONCE)

    def search(asked: QueryChunk, n: int) -> list[tuple[int, float]]:
        together.wait(timeout=10)  # broken, and so an error, where fewer searches are under way
        return [(asked.index or 0, 1.0)]

    query = query_of(*SUBJECTS[:MOST_AT_ONCE])
    done: list[tuple[int, int]] = []
    found = search_chunks(query, search, strategy="per_chunk", n=9, progress=lambda *step: done.append(step))
    assert [one.key for one in found] == list(range(MOST_AT_ONCE))
    assert done == [(step, MOST_AT_ONCE) for step in range(1, MOST_AT_ONCE + 1)]


def test_a_search_that_fails_is_told() -> None:
    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        raise ModelError("gone")

    with pytest.raises(ModelError, match="gone"):
        search_chunks(query_of("debt", "pension"), search, strategy="rrf", n=3)


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(QuestionError, match="'best'"):
        search_chunks(query_of("debt"), library(PAGES), strategy="best", n=3)


# --- embedding
# ------------------------------------------------------------------------------------------------------------


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
    text = "The debt anchor The wage bill"
    query = embed_query(HashEmbedder(max_tokens=3), text, progress=lambda *step: steps.append(step))
    assert [(one.index, one.text) for one in query.chunks] == [(0, "The debt anchor "), (1, "The wage bill")]
    assert query.chunks[1].vector == pytest.approx(HashEmbedder().embed(["The wage bill"])[0])
    assert (query.text, query.failure) == (text, None)
    assert steps == [(1, 2), (2, 2)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_words_alone_are_searched_in_the_same_pieces(strategy: str) -> None:
    embedder, texts = HashEmbedder(max_tokens=3), list[str]()

    def search(asked: QueryChunk, n: int) -> list[tuple[str, float]]:
        texts.append(asked.text)
        return [(asked.text, 1.0)]

    search_chunks(
        split_query(embedder, "The debt anchor The wage bill What is it"), search, strategy=strategy, n=5
    )
    whole = ["The debt anchor The wage bill What is it"]
    assert sorted(texts) == (
        whole if strategy in {"average", "weighted"} else ["The debt anchor ", "The wage bill "]
    )
    assert not embedder.calls


def test_pieces_without_a_subject_are_not_embedded() -> None:
    embedder = HashEmbedder(max_tokens=3)
    query = embed_query(embedder, "what is it the debt anchor")
    assert (indices(query.chunks), embedder.calls) == ([1], 1)
    assert indices(embed_query(embedder, "what is it").chunks) == [0]


def test_the_others_keep_their_index_where_one_piece_fails() -> None:
    query = embed_query(
        FailingEmbedder("pension", max_tokens=3, dimension=DIMENSION),
        "the debt anchor the pension fund the wage bill",
    )
    assert indices(query.chunks) == [0, 2]
    assert str(query.failure) == "no vector for pension"
    best = search_chunks(query, library(PAGES), strategy="per_chunk", n=2)
    assert {(one.key, one.chunk_match) for one in best} == {
        ("page of the debt anchor", 0),
        ("page of the wage bill", 2),
    }


def test_an_embedder_that_fails_for_all_is_told_and_not_asked_for_all() -> None:
    embedder = FailingEmbedder("subject", max_tokens=1)
    with pytest.raises(ModelError, match="no vector"):
        embed_query(embedder, " ".join(f"subject{n}" for n in range(50)))
    assert embedder.calls < 10


def test_closing_the_steps_ends_the_work() -> None:
    class Slow(HashEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
            time.sleep(0.01)
            return super().embed(texts)

    embedder = Slow(max_tokens=1)
    steps = embedding_steps(embedder, " ".join(f"subject{n}" for n in range(100)))
    assert next(steps) == (1, 100)
    steps.close()
    assert embedder.calls < 50
    assert threading.active_count() < 20


@given(st.text(st.sampled_from("ab .é中\n"), max_size=60))
def test_any_text_has_a_vector(text: str) -> None:
    query = embed_query(HashEmbedder(max_tokens=4), text)
    assert query.chunks
    assert len(worth_searching(query.chunks)) >= 1
