"""Page scores, worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

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
from chatbot.store.joint_lexicon import JointRows
from chatbot.store.term_scores import RowTerms, pack_terms, unpack_terms

FLAT = Weights(vector=2, chunk_words=1, page_words=1, rows=0, measures=0, periods=0, kinds=0, neighbours=0)


def floats(numbers: list[float]) -> NDArray[np.float32]:
    return np.array(numbers, np.float32)


def evidence(
    pages: list[int],
    cosines: list[float],
    chunk_words: list[float],
    page_words: list[float],
    **others: list[float],
) -> ScoreInputs:
    count = len(page_words)
    nothing, all_of_it = [0.0] * count, [1.0] * count
    return ScoreInputs(
        np.array(pages),
        floats(cosines),
        floats(chunk_words),
        floats(page_words),
        rows=floats(others.get("rows", nothing)),
        measures=floats(others.get("measures", nothing)),
        periods=floats(others.get("periods", nothing)),
        kinds=floats(others.get("kinds", nothing)),
        kept=floats(others.get("kept", all_of_it)),
    )


def rows_of(*rows: RowTerms) -> JointRows:
    terms = {term for row in rows for term in (*row.label, *row.beside, *row.caption)}
    return JointRows([unpack_terms(pack_terms([], [], rows)).rows], [0], terms)


def test_a_page_scores_its_best_parts_and_names_its_best_chunk() -> None:
    cosines = [BEST_COSINE, WORST_COSINE, -1.0]
    given = evidence([1, 1, 2], cosines, [0.0, 0.5, 0.2], [0.1, 0.9])
    scored = score_pages(given, FLAT)
    assert scored.pages.tolist() == [1, 2]
    first, second = 2.0 + 0.5 + 0.1, 0.0 + 0.2 + 0.9
    assert scored.total.tolist() == pytest.approx([first, second])
    assert scored.best.tolist() == [0, 2]


def test_every_part_counts_by_its_weight_and_pages_of_contents_keep_a_share() -> None:
    none, first, second = [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]
    parts = {"rows": first, "measures": second, "periods": first, "kinds": second}
    given = evidence([1, 2], [-1, -1], none, none, kept=[1.0, 0.5], **parts)
    scored = score_pages(given, replace(WEIGHTS, neighbours=0.0))
    of_first = WEIGHTS.rows + WEIGHTS.periods
    of_second = WEIGHTS.measures + WEIGHTS.kinds
    assert scored.total.tolist() == pytest.approx([of_first, 0.5 * of_second])


def test_a_score_does_not_depend_on_what_else_was_found() -> None:
    rng = np.random.default_rng(0)
    cosines, words = rng.random(40).tolist(), rng.random(40).tolist()
    page_words = rng.random(10).tolist()
    pages = np.repeat(np.arange(1, 11), 4).tolist()
    whole = score_pages(evidence(pages, cosines, words, page_words), WEIGHTS)
    # Four chunks of each page: the first five pages.
    some = evidence(pages[:20], cosines[:20], words[:20], page_words)
    part = score_pages(some, WEIGHTS)
    assert part.total.tolist() == whole.total[:5].tolist()


def test_rows_are_found_by_label_and_less_by_what_stands_around_them() -> None:
    rows = rows_of(
        RowTerms(1, ["total", "debt"], ["2024"], []),
        RowTerms(2, ["revenu"], ["debt"], ["total"]),
        RowTerms(3, ["cash"], [], []),
    )
    asked = {"total": 1.0, "debt": 3.0}
    around = (0.5 + 2.1) / 4
    plain = rows_about(rows, asked, (), 3)
    assert plain.tolist() == pytest.approx([1.0, 0.4 * around, 0.0])
    of_revenue = rows_about(rows, asked, ("revenu",), 3)
    assert of_revenue.tolist() == pytest.approx([1.0, around, 0.0])


def test_measures_are_found_by_their_phrases_whole_labels_and_years() -> None:
    rows = rows_of(
        RowTerms(1, ["total", "asset"], ["2024", "2023"], []),
        RowTerms(2, ["total", "asset", "held", "sale"], ["2024"], []),
        RowTerms(3, ["total", "asset"], ["2019"], []),
        RowTerms(4, ["asset"], [], []),
    )
    total_assets, assets = [("total", "asset")], [("asset",)]
    of_year = measure_rows(rows, [total_assets], ["2024"], 4)
    assert of_year.tolist() == pytest.approx([1.0, 0.5, 0.6, 0.0])
    of_both = measure_rows(rows, [total_assets, assets], [], 4)
    assert of_both.tolist() == pytest.approx([0.75, 0.375, 0.75, 0.5])
    of_none = measure_rows(rows, [], [], 4)
    assert of_none.tolist() == [0.0] * 4
