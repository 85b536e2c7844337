"""Page scores, worked out by hand."""

import numpy as np
import pytest

from chatbot.search.pages import BEST_COSINE, WORST_COSINE, score_pages


def test_a_page_scores_its_best_parts_and_names_its_best_chunk() -> None:
    cosines = np.array([BEST_COSINE, WORST_COSINE, -1.0], np.float32)
    scored = score_pages(
        cosines, np.array([0.0, 0.5, 0.2], np.float32), np.array([0.1, 0.9], np.float32), np.array([1, 1, 2]), weights=(2.0, 1.0, 1.0)
    )
    assert scored.pages.tolist() == [1, 2]
    assert scored.total.tolist() == pytest.approx([2.0 + 0.5 + 0.1, 0.0 + 0.2 + 0.9])
    assert scored.best.tolist() == [0, 2]


def test_a_score_does_not_depend_on_what_else_was_found() -> None:
    rng = np.random.default_rng(0)
    cosines, words, pages = rng.random(40, np.float32), rng.random(40, np.float32), np.repeat(np.arange(1, 11), 4)
    page_words = rng.random(10, np.float32)
    whole = score_pages(cosines, words, page_words, pages, weights=(2, 1, 1))
    some = np.flatnonzero(pages <= 5)
    part = score_pages(cosines[some], words[some], page_words, pages[some], weights=(2, 1, 1))
    assert part.total.tolist() == whole.total[:5].tolist()
