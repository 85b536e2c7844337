"""Page scores, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from chatbot.search.page_scores import (
    BEST_COSINE,
    WEIGHTS,
    WORST_COSINE,
    ScoreInputs,
    Weights,
    measure_rows,
    rows_about,
    score_pages,
)
from chatbot.store.term_scores import Rows, RowTerms, pack_terms, unpack_terms

FLAT = Weights(vector=2, chunk_words=1, page_words=1, rows=0, measures=0, periods=0, kinds=0, neighbours=0)


def evidence(
    pages: list[int],
    cosines: list[float],
    chunk_words: list[float],
    page_words: list[float],
    **others: list[float],
) -> ScoreInputs:
    count = len(page_words)
    parts = {
        name: np.array(others.get(name, [0.0] * count), np.float32)
        for name in ("rows", "measures", "periods", "kinds")
    }
    kept = np.array(others.get("kept", [1.0] * count), np.float32)
    words, chunks = np.array(page_words, np.float32), np.array(chunk_words, np.float32)
    return ScoreInputs(np.array(pages), np.array(cosines, np.float32), chunks, words, kept=kept, **parts)


def rows_of(*rows: RowTerms) -> Rows:
    return unpack_terms(pack_terms([], [], rows)).rows


def test_a_page_scores_its_best_parts_and_names_its_best_chunk() -> None:
    scored = score_pages(
        evidence([1, 1, 2], [BEST_COSINE, WORST_COSINE, -1.0], [0.0, 0.5, 0.2], [0.1, 0.9]), FLAT
    )
    assert scored.pages.tolist() == [1, 2]
    assert scored.total.tolist() == pytest.approx([2.0 + 0.5 + 0.1, 0.0 + 0.2 + 0.9])
    assert scored.best.tolist() == [0, 2]


def test_every_part_counts_by_its_weight_and_pages_of_contents_keep_a_share() -> None:
    given = evidence(
        [1, 2],
        [-1, -1],
        [0, 0],
        [0, 0],
        rows=[1, 0],
        measures=[0, 1],
        periods=[1, 0],
        kinds=[0, 1],
        kept=[1.0, 0.5],
    )
    scored = score_pages(given, replace(WEIGHTS, neighbours=0.0))
    assert scored.total.tolist() == pytest.approx(
        [WEIGHTS.rows + WEIGHTS.periods, 0.5 * (WEIGHTS.measures + WEIGHTS.kinds)]
    )


def test_the_pages_beside_add_a_little() -> None:
    given = evidence([1, 2, 3], [-1, -1, -1], [0, 0, 0], [0.0, 1.0, 0.0])
    scored = score_pages(given, replace(FLAT, neighbours=0.2))
    assert scored.total.tolist() == pytest.approx([0.1, 1.0, 0.1])


def test_a_score_does_not_depend_on_what_else_was_found() -> None:
    rng = np.random.default_rng(0)
    cosines, words, pages = rng.random(40).tolist(), rng.random(40).tolist(), np.repeat(np.arange(1, 11), 4)
    page_words = rng.random(10).tolist()
    whole = score_pages(evidence(pages.tolist(), cosines, words, page_words), WEIGHTS)
    some = np.flatnonzero(pages <= 5)
    part = score_pages(
        evidence(pages[some].tolist(), [cosines[at] for at in some], [words[at] for at in some], page_words),
        WEIGHTS,
    )
    assert part.total.tolist() == whole.total[:5].tolist()


def test_rows_are_found_by_label_and_less_by_what_stands_around_them() -> None:
    rows = rows_of(
        RowTerms(1, ["total", "debt"], ["2024"], []),
        RowTerms(2, ["revenu"], ["debt"], ["total"]),
        RowTerms(3, ["cash"], [], []),
    )
    assert rows_about(rows, {"total": 1.0, "debt": 3.0}, (), 3).tolist() == pytest.approx(
        [1.0, 0.4 * (0.5 + 2.1) / 4, 0.0]
    )
    assert rows_about(rows, {"total": 1.0, "debt": 3.0}, ("revenu",), 3).tolist() == pytest.approx(
        [1.0, (0.5 + 2.1) / 4, 0.0]
    )


def test_measures_are_found_by_their_phrases_whole_labels_and_years() -> None:
    rows = rows_of(
        RowTerms(1, ["total", "asset"], ["2024", "2023"], []),
        RowTerms(2, ["total", "asset", "held", "sale"], ["2024"], []),
        RowTerms(3, ["total", "asset"], ["2019"], []),
        RowTerms(4, ["asset"], [], []),
    )
    wanted = [[("total", "asset")]]
    assert measure_rows(rows, wanted, ["2024"], 4).tolist() == pytest.approx([1.0, 0.5, 0.6, 0.0])
    assert measure_rows(rows, [*wanted, [("asset",)]], [], 4).tolist() == pytest.approx(
        [0.75, 0.375, 0.75, 0.5]
    )
    assert measure_rows(rows, [], [], 4).tolist() == [0.0] * 4


def test_only_keeps_what_is_named_and_the_shares() -> None:
    kept = WEIGHTS.only("vector")
    assert (kept.vector, kept.rows, kept.document, kept.contents) == (
        WEIGHTS.vector,
        0.0,
        0.0,
        WEIGHTS.contents,
    )
