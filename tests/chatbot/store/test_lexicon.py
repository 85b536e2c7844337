"""BM25 over packed term counts, against the formula worked out by hand."""

import math

import pytest

from chatbot.store.lexicon import K1, B, inverse_frequency, pack_lexicons, unpack_lexicons

CHUNKS = [["debt", "rule", "debt"], ["revenue"], []]


def test_scores_follow_the_formula() -> None:
    chunks, pages = unpack_lexicons(pack_lexicons(CHUNKS, [["debt"]]))
    weight = inverse_frequency(3, 1)
    mean = 4 / 3
    expected = weight * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean))
    assert chunks.scores({"debt": weight}).tolist() == pytest.approx([expected, 0, 0])
    assert weight == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert pages.frequency("debt") == 1
    assert chunks.has("rule", 0)
    assert not chunks.has("rule", 1)


def test_unknown_terms_and_no_units_score_nothing() -> None:
    chunks, pages = unpack_lexicons(pack_lexicons([], []))
    assert chunks.scores({"debt": 1.0}).shape == pages.scores({}).shape == (0,)
    assert unpack_lexicons(pack_lexicons(CHUNKS, []))[0].scores({"zebra": 1.0}).tolist() == [0, 0, 0]
