"""What holds of any budget that whole chunks and sentences are chosen for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatbot.memory.compression.selection import Segment, choose
from tests.chatbot.memory.compression.segments import (
    Chunks,
    empty_ones_stay,
    longest_of,
    segment,
    sentences_of,
    tokens_kept,
    tokens_of,
)

SIZES = st.integers(0, 40)
SENTENCE = st.tuples(SIZES, st.floats(-3, 3))
SENTENCES = st.lists(SENTENCE, min_size=1, max_size=5)
CHUNK = st.builds(segment, st.floats(0.01, 10), SENTENCES)
CHUNKS = st.lists(CHUNK, min_size=1, max_size=6)
SHARES = st.floats(0, 1)
GAMMAS = st.floats(0, 4)

# Where importance is scaled without rounding.
IMPORTANCES = st.sampled_from([0.125, 0.5, 1.0, 4.0])
TWELVE = st.just([(1, float(at)) for at in range(12)])
EVEN_CHUNK = st.builds(segment, IMPORTANCES, TWELVE)
EVEN_CHUNKS = st.lists(EVEN_CHUNK, min_size=2, max_size=5)
EXACT_RHOS = st.sampled_from([0.0, 0.25, 0.5])
EXACT_GAMMAS = st.sampled_from([0.5, 1.0, 2.0])
POWERS = st.integers(-6, 6)


@given(CHUNKS, SHARES, GAMMAS)
def test_where_there_is_room_for_all_all_stays(chunks: Chunks, rho: float, gamma: float) -> None:
    kept = choose(chunks, tokens_of(chunks), rho=rho, gamma=gamma)
    assert all(map(all, kept))


@given(CHUNKS, SHARES, SHARES, SHARES, GAMMAS)
def test_more_room_by_a_sentence_keeps_no_less(
    chunks: Chunks, one: float, other: float, rho: float, gamma: float
) -> None:
    longest = longest_of(chunks)
    total = tokens_of(chunks)
    less, more = sorted((one * total, other * total))
    if more >= less + longest:
        of_less = choose(chunks, less, rho=rho, gamma=gamma)
        of_more = choose(chunks, more, rho=rho, gamma=gamma)
        most = max(tokens_kept(chunks, of_more), longest)
        assert tokens_kept(chunks, of_less) <= most


@given(CHUNKS, SHARES, SHARES, GAMMAS)
def test_pieces_of_no_tokens_stay(chunks: Chunks, share: float, rho: float, gamma: float) -> None:
    goal = share * tokens_of(chunks)
    kept = choose(chunks, goal, rho=rho, gamma=gamma)
    assert empty_ones_stay(chunks, kept)


@given(CHUNKS, SHARES, GAMMAS)
def test_by_sentences_alone_none_stays_that_is_worth_less_than_one_that_goes(
    chunks: Chunks, share: float, gamma: float
) -> None:
    goal = share * tokens_of(chunks)
    kept = choose(chunks, goal, rho=0.0, gamma=gamma)
    for chunk, stays in zip(chunks, kept, strict=True):
        filled = [sentence for sentence in sentences_of(chunk, stays) if sentence.size]
        gone = [sentence.importance for sentence in filled if not sentence.stays]
        left = [sentence.importance for sentence in filled if sentence.stays]
        if gone and left:
            assert max(gone) <= min(left)


@given(EVEN_CHUNKS, st.integers(2, 9), EXACT_RHOS, EXACT_GAMMAS, POWERS)
def test_importance_counts_by_its_proportions(
    chunks: Chunks, tenths: int, rho: float, gamma: float, power: int
) -> None:
    factor = 2.0**power  # which changes no quotient
    scaled = [Segment(chunk.importance * factor, chunk.sizes, chunk.importances) for chunk in chunks]
    goal = tenths * tokens_of(chunks) / 10
    kept = choose(chunks, goal, rho=rho, gamma=gamma)
    assert choose(scaled, goal, rho=rho, gamma=gamma) == kept
