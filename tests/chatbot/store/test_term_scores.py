"""BM25 over packed term counts, against the formula worked out by hand."""

import math
from pathlib import Path

import pytest

from chatbot.errors import StoreError
from chatbot.store.joint_lexicon import JointLexicon, JointRows, starts_of
from chatbot.store.mapped_terms import mapped
from chatbot.store.term_scores import (
    BESIDE,
    CAPTION,
    K1,
    LABEL,
    B,
    Lexicon,
    Rows,
    RowTerms,
    inverse_frequency,
    pack_terms,
    unpack_terms,
)

CHUNKS = [["debt", "rule", "debt"], ["revenue"], []]


def having(rows: Rows, term: str, place: float) -> list[int]:
    """The rows that have a term in a place at least as telling."""
    return list(JointRows([rows], [0], [term]).having(term, place))


def scores(lexicon: Lexicon, weights: dict[str, float]) -> list[float]:
    """What each unit scores."""
    starts = starts_of([len(lexicon.lengths)])
    return list(JointLexicon([lexicon], starts, weights).scores(weights))


def test_scores_follow_the_formula() -> None:
    packed = pack_terms(CHUNKS, [["debt"]], [])
    kept = unpack_terms(packed)
    chunks, pages = kept.chunks, kept.pages
    weight = inverse_frequency(3, 1)
    mean = 4 / 3
    length = 1 - B + B * 3 / mean
    expected = weight * 2 * (K1 + 1) / (2 + K1 * length)
    assert scores(chunks, {"debt": weight}) == pytest.approx([expected, 0, 0])
    assert weight == pytest.approx(math.log(1 + 2.5 / 1.5))
    assert pages.frequency("debt") == 1
    assert chunks.has("rule", 0)
    assert not chunks.has("rule", 1)


def test_unknown_terms_and_no_units_score_nothing() -> None:
    nothing = unpack_terms(pack_terms([], [], []))
    assert scores(nothing.chunks, {"debt": 1.0}) == []
    assert scores(nothing.pages, {}) == []
    assert having(nothing.rows, "debt", 0) == []
    kept = unpack_terms(pack_terms(CHUNKS, [], []))
    assert scores(kept.chunks, {"zebra": 1.0}) == [0, 0, 0]


def test_terms_on_the_disk_are_the_same(tmp_path: Path) -> None:
    row = RowTerms(4, ["total", "asset", "2024"], ["asset"], ["sheet"])
    for packed in (pack_terms(CHUNKS, [["debt", "rule"]], [row]), pack_terms([], [], [])):
        kept = unpack_terms(packed)
        there = mapped(kept, tmp_path)
        assert there.size == kept.size
        for term in ("debt", "rule", "asset", "zebra"):
            assert scores(there.chunks, {term: 1.0}) == scores(kept.chunks, {term: 1.0})
            assert there.pages.frequency(term) == kept.pages.frequency(term)
            assert having(there.rows, term, LABEL) == having(kept.rows, term, LABEL)
        assert there.rows.pages.tolist() == kept.rows.pages.tolist()
        assert there.rows.dated.tolist() == kept.rows.dated.tolist()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_room_for_terms_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="full"):
        mapped(unpack_terms(pack_terms(CHUNKS, [], [])), tmp_path / "missing")


def test_a_row_keeps_the_most_telling_place_of_each_term() -> None:
    assets = RowTerms(4, ["total", "asset"], ["asset", "2024"], ["balanc", "sheet"])
    debt = RowTerms(5, ["total", "debt"], [], ["debt", "2023"])
    packed = pack_terms([], [], [assets, debt])
    kept = unpack_terms(packed).rows
    assert kept.pages.tolist() == [4, 5]
    assert kept.labels.tolist() == [2, 2]
    assert kept.dated.tolist() == [True, True]
    assert scores(kept.lexicon, {}) == [0, 0]
    assert having(kept, "total", LABEL) == [0, 1]
    assert having(kept, "asset", LABEL) == [0]
    assert having(kept, "2024", LABEL) == []
    assert having(kept, "2024", BESIDE) == [0]
    assert having(kept, "debt", LABEL) == [1]
    assert having(kept, "balanc", CAPTION) == [0]
