"""What holds of any budget that whole chunks and sentences are chosen for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatbot.memory.compression.selection import Segment, choose


def chunk_of(importance: float, sentences: list[tuple[int, float]]) -> Segment:
    return Segment(importance, tuple(size for size, _ in sentences), tuple(worth for _, worth in sentences))


SENTENCES = st.lists(st.tuples(st.integers(0, 40), st.floats(-3, 3)), min_size=1, max_size=5)
CHUNKS = st.lists(st.builds(chunk_of, st.floats(0.01, 10), SENTENCES), min_size=1, max_size=6)
SHARES = st.floats(0, 1)


def total(chunks: list[Segment]) -> int:
    return sum(sum(chunk.sizes) for chunk in chunks)


def size_of(chunks: list[Segment], kept: list[list[bool]]) -> int:
    return sum(
        size
        for chunk, stays in zip(chunks, kept, strict=True)
        for size, stay in zip(chunk.sizes, stays, strict=True)
        if stay
    )


@given(CHUNKS, SHARES, st.floats(0, 4))
def test_where_there_is_room_for_all_all_stays(chunks: list[Segment], rho: float, gamma: float) -> None:
    assert all(all(stays) for stays in choose(chunks, total(chunks), rho=rho, gamma=gamma))


@given(CHUNKS, SHARES, SHARES, SHARES, st.floats(0, 4))
def test_more_room_by_a_sentence_keeps_no_less(
    chunks: list[Segment], one: float, other: float, rho: float, gamma: float
) -> None:
    longest = max((size for chunk in chunks for size in chunk.sizes), default=0)
    less, more = sorted((one * total(chunks), other * total(chunks)))
    if more >= less + longest:
        kept = [size_of(chunks, choose(chunks, goal, rho=rho, gamma=gamma)) for goal in (less, more)]
        assert kept[0] <= max(kept[1], longest)


@given(CHUNKS, SHARES, SHARES, st.floats(0, 4))
def test_pieces_of_no_tokens_stay(chunks: list[Segment], share: float, rho: float, gamma: float) -> None:
    kept = choose(chunks, share * total(chunks), rho=rho, gamma=gamma)
    assert all(
        stay
        for chunk, stays in zip(chunks, kept, strict=True)
        for size, stay in zip(chunk.sizes, stays, strict=True)
        if not size
    )


@given(CHUNKS, SHARES, st.floats(0, 4))
def test_by_sentences_alone_none_stays_that_is_worth_less_than_one_that_goes(
    chunks: list[Segment], share: float, gamma: float
) -> None:
    kept = choose(chunks, share * total(chunks), rho=0.0, gamma=gamma)
    for chunk, stays in zip(chunks, kept, strict=True):
        gone = [
            worth
            for worth, stay, size in zip(chunk.importances, stays, chunk.sizes, strict=True)
            if not stay and size
        ]
        left = [
            worth
            for worth, stay, size in zip(chunk.importances, stays, chunk.sizes, strict=True)
            if stay and size
        ]
        assert not gone or not left or max(gone) <= min(left)


@given(
    st.lists(
        st.builds(
            chunk_of, st.sampled_from([0.125, 0.5, 1.0, 4.0]), st.just([(1, float(at)) for at in range(12)])
        ),
        min_size=2,
        max_size=5,
    ),
    st.integers(2, 9),
    st.sampled_from([0.0, 0.25, 0.5]),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.integers(-6, 6),
)
def test_importance_counts_by_its_proportions(
    chunks: list[Segment], tenths: int, rho: float, gamma: float, power: int
) -> None:
    scaled = [
        Segment(chunk.importance * 2.0**power, chunk.sizes, chunk.importances) for chunk in chunks
    ]  # which changes no quotient
    goal = tenths * total(chunks) / 10
    assert choose(scaled, goal, rho=rho, gamma=gamma) == choose(chunks, goal, rho=rho, gamma=gamma)
