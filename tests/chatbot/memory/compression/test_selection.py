"""The budget: met within one sentence for any sharing between chunks and sentences, the more important
losing later.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.memory.compression.selection import Segment, choose

Chunks = list[Segment]


def segment(importance: float, sentences: list[tuple[int, float]]) -> Segment:
    """A chunk of sentences of these sizes and importances."""
    sizes = tuple(size for size, _ in sentences)
    return Segment(importance, sizes, tuple(worth for _, worth in sentences))


def rising(importance: float, sizes: tuple[int, ...]) -> Segment:
    """A chunk each sentence of which is more important than the one before."""
    return Segment(importance, sizes, tuple(map(float, range(len(sizes)))))


def sentences_of(chunks: Chunks, kept: list[list[bool]]) -> list[tuple[int, bool]]:
    """(its size, whether it stays) of each sentence."""
    pairs = zip(chunks, kept, strict=True)
    return [pair for chunk, stays in pairs for pair in zip(chunk.sizes, stays, strict=True)]


def tokens_kept(chunks: Chunks, kept: list[list[bool]]) -> int:
    return sum(size for size, stays in sentences_of(chunks, kept) if stays)


SIZES = st.integers(0, 40)
SENTENCE = st.tuples(SIZES, st.floats(-5, 5))
SENTENCES = st.lists(SENTENCE, max_size=8)
CHUNK = st.builds(segment, st.floats(1e-25, 1), SENTENCES)
CHUNKS = st.lists(CHUNK, min_size=1, max_size=12)
SHARES = st.floats(0, 1)
GAMMAS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 1e6])


@given(CHUNKS, SHARES, SHARES, GAMMAS)
def test_what_is_kept_is_within_one_sentence_of_the_goal(
    chunks: Chunks, ratio: float, rho: float, gamma: float
) -> None:
    sizes = [size for chunk in chunks for size in chunk.sizes]
    goal = ratio * sum(sizes)
    kept = choose(chunks, goal, rho=rho, gamma=gamma)
    left = tokens_kept(chunks, kept)
    if left > goal + 1e-6:
        assert sum(stays for size, stays in sentences_of(chunks, kept) if size) == 1
    else:
        assert left > goal - max(sizes, default=0) or left == sum(sizes)
    assert left or not sum(sizes)
    assert all(stays for size, stays in sentences_of(chunks, kept) if not size), "what has no tokens stays"


def test_chunks_take_rho_of_what_goes_and_sentences_the_rest() -> None:
    tens = (10,) * 10
    chunks = [rising(importance, tens) for importance in (0.1, 0.2, 0.3, 0.4)]
    kept = choose(chunks, 200, rho=0.5, gamma=1.0)
    assert tokens_kept(chunks, kept) == 200
    assert not any(kept[0])
    assert all(map(any, kept[1:]))
    by_chunks = choose(chunks, 200, rho=1.0, gamma=1.0)
    assert list(map(any, by_chunks)) == [False, False, True, True]
    by_sentences = choose(chunks, 200, rho=0.0, gamma=1.0)
    assert all(map(any, by_sentences))


# Worked by hand on four chunks of ten sentences of ten tokens each, of importance .1, .2, .3 and .4, of which
# 200 tokens stay: E_comp = 200, E_chunk = rho * 200, E_sent = (1 - rho) * 200.
@pytest.mark.parametrize(
    ("rho", "gamma", "kept"),
    [
        # E_chunk = 200 takes two whole chunks.
        (1.0, 1.0, [0, 0, 100, 100]),
        # E_chunk = 100 takes one; E_sent = 100, shared as 1/.2 : 1/.3 : 1/.4 = 46.2 : 30.8 : 23.1.
        (0.5, 1.0, [0, 50, 70, 80]),
        # Shared as 1/.04 : 1/.09 : 1/.16 = 59.0 : 26.2 : 14.8.
        (0.5, 2.0, [0, 40, 70, 90]),
        # E_chunk = 50 takes none: a chunk has 100. Shared as 10 : 5 : 3.3 : 2.5 = 96 : 48 : 32 : 24, of which
        # the first can give 90 and passes 6 on: 90 : 50.8 : 33.8 : 25.4, in whole sentences
        # 90 : 60 : 30 : 20, as what does not fit is handed on.
        (0.25, 1.0, [10, 40, 70, 80]),
        # E_sent = 200 alone, alike.
        (0.0, 0.0, [50, 50, 50, 50]),
    ],
)
def test_e_chunk_and_e_sent_are_the_seed_documents(rho: float, gamma: float, kept: list[int]) -> None:
    chunks = [rising(importance, (10,) * 10) for importance in (0.1, 0.2, 0.3, 0.4)]
    chosen = choose(chunks, 200, rho=rho, gamma=gamma)
    assert [10 * sum(stays) for stays in chosen] == kept


def test_sentences_alone_do_not_empty_the_important_where_there_is_no_room_for_one_of_each() -> None:
    """Whole chunks go first: the most important one keeps more than a sentence."""
    chunks = [rising(at + 1, (10,) * 4) for at in range(10)]
    chosen = choose(chunks, 80, rho=0.5, gamma=1.0)
    assert sum(map(sum, chosen)) == 8
    assert sum(chosen[-1]) > 2


def test_sentences_go_in_inverse_proportion_to_importance_and_the_least_important_first() -> None:
    ones = (1,) * 100
    chunks = [rising(0.25, ones), rising(0.5, ones)]

    def gone(gamma: float) -> list[int]:
        chosen = choose(chunks, 140, rho=0.0, gamma=gamma)
        return [stays.count(False) for stays in chosen]

    # 60 to go, shared as 2 ** gamma to 1; the sum is the same for each gamma.
    root = 2**0.5
    smaller = 60 / (root + 1)
    larger = smaller * root
    assert gone(0.5) == [pytest.approx(larger, abs=1), pytest.approx(smaller, abs=1)]
    assert gone(1.0) == [40, 20]
    assert gone(2.0) == [48, 12]
    _, second = choose(chunks, 140, rho=0.0, gamma=1.0)
    assert second == [False] * 20 + [True] * 80


def test_what_a_chunk_cannot_give_is_handed_on() -> None:
    chunks = [rising(0.1, (10, 10)), rising(0.9, (10,) * 10)]
    kept = choose(chunks, 60, rho=0.0, gamma=1.0)
    assert list(map(sum, kept)) == [1, 5]


def test_where_one_sentence_of_each_is_too_much_chunks_go_the_least_important_first() -> None:
    chunks = [rising(importance, (10, 5)) for importance in (0.3, 0.1, 0.2)]
    kept = choose(chunks, 5, rho=0.0, gamma=1.0)
    assert kept == [[False, True], [False, False], [False, False]]
