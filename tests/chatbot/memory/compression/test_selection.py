"""The budget: met within one sentence for any sharing between chunks and sentences, the more important
losing later.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.memory.compression.selection import Segment, choose


def segment(row: tuple[float, list[tuple[int, float]]]) -> Segment:
    value, sentences = row
    return Segment(value, tuple(size for size, _ in sentences), tuple(worth for _, worth in sentences))


SIZES = st.lists(st.tuples(st.integers(0, 40), st.floats(-5, 5)), max_size=8)
CHUNKS = st.lists(st.tuples(st.floats(1e-25, 1), SIZES).map(segment), min_size=1, max_size=12)


def tokens(chunks: list[Segment], kept: list[list[bool]]) -> int:
    return sum(
        size
        for chunk, flags in zip(chunks, kept, strict=True)
        for size, stays in zip(chunk.sizes, flags, strict=True)
        if stays
    )


@given(CHUNKS, st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, 2.0, 1e6]))
def test_what_is_kept_is_within_one_sentence_of_the_goal(
    chunks: list[Segment], ratio: float, rho: float, gamma: float
) -> None:
    total, longest = (
        sum(sum(chunk.sizes) for chunk in chunks),
        max([0, *(size for chunk in chunks for size in chunk.sizes)]),
    )
    goal = ratio * total
    kept = choose(chunks, goal, rho=rho, gamma=gamma)
    left = tokens(chunks, kept)
    if left > goal + 1e-6:
        assert (
            sum(
                stays
                for chunk, flags in zip(chunks, kept, strict=True)
                for size, stays in zip(chunk.sizes, flags, strict=True)
                if size
            )
            == 1
        )
    else:
        assert left > goal - longest or left == total
    assert not total or left
    assert all(
        stays
        for chunk, flags in zip(chunks, kept, strict=True)
        for size, stays in zip(chunk.sizes, flags, strict=True)
        if not size
    )


def test_chunks_take_rho_of_what_goes_and_sentences_the_rest() -> None:
    chunks = [Segment(value, (10,) * 10, tuple(map(float, range(10)))) for value in (0.1, 0.2, 0.3, 0.4)]
    kept = choose(chunks, 200, rho=0.5, gamma=1.0)
    assert tokens(chunks, kept) == 200
    assert not any(kept[0]) and all(map(any, kept[1:]))
    assert [any(flags) for flags in choose(chunks, 200, rho=1.0, gamma=1.0)] == [False, False, True, True]
    assert all(map(any, choose(chunks, 200, rho=0.0, gamma=1.0)))


def test_sentences_go_in_inverse_proportion_to_importance_and_the_least_important_first() -> None:
    chunks = [Segment(value, (1,) * 100, tuple(map(float, range(100)))) for value in (0.25, 0.5)]
    gone = []
    for gamma in (0.5, 1.0, 2.0):
        chosen = choose(chunks, 140, rho=0.0, gamma=gamma)
        gone.append([100 - sum(flags) for flags in chosen])
    # 60 to go, shared as 2 ** gamma to 1; the sum is the same for each gamma.
    assert gone == [
        [pytest.approx(60 * 2**0.5 / (2**0.5 + 1), abs=1), pytest.approx(60 / (2**0.5 + 1), abs=1)],
        [40, 20],
        [48, 12],
    ]
    assert choose(chunks, 140, rho=0.0, gamma=1.0)[1] == [False] * 20 + [True] * 80


def test_what_a_chunk_cannot_give_is_handed_on() -> None:
    chunks = [Segment(0.1, (10, 10), (0.0, 1.0)), Segment(0.9, (10,) * 10, tuple(map(float, range(10))))]
    assert [sum(flags) for flags in choose(chunks, 60, rho=0.0, gamma=1.0)] == [1, 5]


def test_where_one_sentence_of_each_is_too_much_chunks_go_the_least_important_first() -> None:
    chunks = [Segment(value, (10, 5), (0.0, 1.0)) for value in (0.3, 0.1, 0.2)]
    assert choose(chunks, 5, rho=0.0, gamma=1.0) == [[False, True], [False, False], [False, False]]


def test_a_chunk_larger_than_what_goes_is_thinned_not_dropped() -> None:
    chunks = [Segment(0.1, (10,) * 100, tuple(map(float, range(100)))), Segment(0.9, (10,), (0.0,))]
    kept = choose(chunks, 500, rho=0.5, gamma=1.0)
    assert kept[1] == [True] and sum(kept[0]) == 49


def test_one_sentence_stays_in_any_case() -> None:
    assert choose([Segment(0.5, (10, 20), (1.0, 0.0))], 0, rho=1.0, gamma=1.0) == [[True, False]]
    assert choose([], 0, rho=1.0, gamma=1.0) == []


def test_importances_of_very_different_size_share_what_goes() -> None:
    chunks = [Segment(1.0, (2, 2, 2, 1), (0.0,) * 4), Segment(1e-25, (1,), (0.0,))]
    for gamma in (0.0, 0.5, 1.0, 2.0, 1e6):
        assert 2 < tokens(chunks, choose(chunks, 4.0, rho=0.0, gamma=gamma)) <= 4
