"""Vectors: Chroma in cosine space, exact matrices, the bounded cache."""

from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import StoreError
from chatbot.store.vectors import ChromaIndex, LeastRecentlyUsed, matrix_of

X, Y, XY = (np.array(row, np.float32) for row in ([1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]))


@pytest.fixture
def index(tmp_path: Path) -> ChromaIndex:
    made = ChromaIndex(tmp_path / "vectors", fingerprint="hand", dimension=3)
    made.upsert(7, [(0, X[None]), (1, np.stack([Y, XY]))])
    return made


def test_scores_are_cosines_and_a_chunk_counts_once(index: ChromaIndex) -> None:
    assert [(v, o, round(s, 3)) for v, o, s in index.search(X, 10)] == [(7, 0, 1.0), (7, 1, 0.6)]
    assert index.count() == 3


def test_upsert_replaces_and_remove_removes(index: ChromaIndex) -> None:
    index.upsert(7, [(0, Y[None])])
    assert index.count() == 3
    assert {(v, o): round(s, 3) for v, o, s in index.search(X, 10)}[7, 0] == 0.0
    index.remove([7])
    assert index.search(X, 10) == []
    assert set(index.counts()) == set()


def test_another_embedder_gets_a_collection_of_its_own(index: ChromaIndex, tmp_path: Path) -> None:
    index.close()
    other = ChromaIndex(tmp_path / "vectors", fingerprint="other", dimension=3)
    assert other.count() == 0
    other.drop_others()
    other.close()
    assert ChromaIndex(tmp_path / "vectors", fingerprint="hand", dimension=3).count() == 0


def test_a_folder_that_is_no_folder_is_refused_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="doctor"):
        ChromaIndex(tmp_path / "file", fingerprint="hand", dimension=3).count()


def test_a_matrix_takes_each_chunks_best_window() -> None:
    matrix = matrix_of([(0, X.tobytes()), (2, np.stack([X, XY]).tobytes())], 3)
    assert matrix.cosines(Y, 3).tolist() == pytest.approx([0.0, -1.0, 0.8])
    assert matrix_of([], 3).cosines(Y, 2).tolist() == [-1.0, -1.0]


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    cache: LeastRecentlyUsed[str] = LeastRecentlyUsed(6, size=len)
    made: list[str] = []

    def get(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key * 3)  # type: ignore[func-returns-value]

    assert [get(key) for key in "abac"] == ["aaa", "bbb", "aaa", "ccc"]
    get("a")
    get("b")
    assert made == ["a", "b", "c", "b"]
