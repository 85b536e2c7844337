"""Stretches of a long query: which piece each belongs to, and where none are made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chatbot.search.fusion import LongQuery, embed_query
from chatbot.search.subwindow_embedding import embed_subwindows
from tests.fakes import HashEmbedder


class NotingEmbedder(HashEmbedder):
    """Remembers what it embeds."""

    def __init__(self, *, max_tokens: int = 8) -> None:
        super().__init__(dimension=4096, max_tokens=max_tokens)
        self.fingerprint = "minilm-like"
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed(texts)


def words(count: int, name: str = "word") -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def stretches(embedder: NotingEmbedder, query: LongQuery) -> dict[int | None, list[str]]:
    """The texts whose vectors each piece was given."""
    named = {}
    for text in tuple(embedder.seen):
        (vector,) = embedder.embed([text])
        named[vector.tobytes()] = " ".join(text.split())
    found = {}
    for chunk in query.chunks:
        found[chunk.index] = [named[vector.tobytes()] for vector in chunk.closer]
    return found


def test_each_piece_has_its_halves_and_quarters() -> None:
    embedder = NotingEmbedder()
    found = embed_subwindows(embedder, embed_query(embedder, words(16)))
    of_piece = stretches(embedder, found)
    assert set(of_piece) == {0, 1}
    for piece, first in ((0, 0), (1, 8)):
        spans = [(0, 4), (4, 8), (0, 2), (2, 4), (4, 6), (6, 8)]
        expected = [range(first + begin, first + end) for begin, end in spans]
        assert of_piece[piece] == [" ".join(map("word{}".format, span)) for span in expected]


def test_a_stretch_across_two_pieces_is_of_the_one_that_holds_most() -> None:
    embedder = NotingEmbedder(max_tokens=7)  # stretches of three and of one word
    query = embed_query(embedder, words(14))
    found = stretches(embedder, embed_subwindows(embedder, query))
    assert "word6 word7 word8" in found[1]
    assert "word3 word4 word5" in found[0]


def test_a_piece_that_has_no_vector_has_no_stretches() -> None:
    embedder = NotingEmbedder()
    whole = embed_query(embedder, words(24))
    first, _, last = whole.chunks
    query = embed_subwindows(embedder, LongQuery(whole.text, (first, last)))
    assert [chunk.index for chunk in query.chunks] == [0, 2]
    for text in chain.from_iterable(stretches(embedder, query).values()):
        assert "word8" not in text.split()


PARTS = st.sampled_from(["a" * 40, "deficit", "the", "x", "\n\n", "支出"])


@given(st.lists(PARTS, min_size=1, max_size=60), st.integers(1, 9))
def test_any_text_keeps_its_pieces(parts: list[str], limit: int) -> None:
    embedder = HashEmbedder(max_tokens=limit)
    embedder.fingerprint = "minilm-like"
    query = embed_query(embedder, " ".join(parts))
    found = embed_subwindows(embedder, query)
    for before, after in zip(query.chunks, found.chunks, strict=True):
        assert after.index == before.index
        assert after.text == before.text
