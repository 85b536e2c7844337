"""BM25 over packed term counts, against the formula worked out by hand."""

import math

import pytest

from chatbot.store.term_scores import (
    BESIDE,
    CAPTION,
    K1,
    LABEL,
    B,
    RowTerms,
    inverse_frequency,
    pack_terms,
    unpack_terms,
)

CHUNKS = [["debt", "rule", "debt"], ["revenue"], []]


def test_scores_follow_the_formula() -> None:
    kept = unpack_terms(pack_terms(CHUNKS, [["debt"]], []))
    chunks, pages = kept.chunks, kept.pages
    weight = inverse_frequency(3, 1)
    mean = 4 / 3
    expected = weight * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / mean))
    assert chunks.scores({"debt": weight}).tolist() == pytest.approx([expected, 0, 0])
    assert weight == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert pages.frequency("debt") == 1
    assert chunks.has("rule", 0)
    assert not chunks.has("rule", 1)


def test_unknown_terms_and_no_units_score_nothing() -> None:
    kept = unpack_terms(pack_terms([], [], []))
    assert kept.chunks.scores({"debt": 1.0}).shape == kept.pages.scores({}).shape == (0,)
    assert kept.rows.having("debt", 0).tolist() == []
    assert unpack_terms(pack_terms(CHUNKS, [], [])).chunks.scores({"zebra": 1.0}).tolist() == [0, 0, 0]


def test_a_row_keeps_the_most_telling_place_of_each_term() -> None:
    rows = [
        RowTerms(4, ["total", "asset"], ["asset", "2024"], ["balanc", "sheet"]),
        RowTerms(5, ["total", "debt"], [], ["debt", "2023"]),
    ]
    kept = unpack_terms(pack_terms([], [], rows)).rows
    assert (kept.pages.tolist(), kept.labels.tolist(), kept.dated.tolist()) == ([4, 5], [2, 2], [True, True])
    assert kept.lexicon.scores({}).shape == (2,)
    assert kept.having("total", LABEL).tolist() == [0, 1]
    assert kept.having("asset", LABEL).tolist() == [0]
    assert kept.having("2024", LABEL).tolist() == []
    assert kept.having("2024", BESIDE).tolist() == [0]
    assert kept.having("debt", LABEL).tolist() == [1]
    assert kept.having("balanc", CAPTION).tolist() == [0]
