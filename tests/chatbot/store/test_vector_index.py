"""Vectors: Chroma in cosine space, exact matrices, the bounded cache."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import StoreError
from chatbot.store.vector_index import ChromaIndex, IndexedPassage, LeastRecentlyUsed, Vectors, matrix_of
from tests.stores import open_chroma

X, Y, XY = (np.array(row, np.float32) for row in ([1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]))


def passage(
    ordinal: int, windows: Vectors, text: str = "The ceiling is three per cent.", label: str = "iv"
) -> IndexedPassage:
    return IndexedPassage(7, ordinal, windows, text, "Rules.pdf", 4, label, "text")


@pytest.fixture
def index(tmp_path: Path) -> ChromaIndex:
    made = ChromaIndex(tmp_path / "vectors", fingerprint="hand", dimension=3)
    made.upsert([passage(0, X[None]), passage(1, np.stack([Y, XY]))])
    return made


def test_scores_are_cosines_and_a_chunk_counts_once(index: ChromaIndex) -> None:
    assert [(v, o, round(s, 3)) for v, o, s in index.search(X, 10)] == [(7, 0, 1.0), (7, 1, 0.6)]
    assert index.count() == 3


def test_upsert_replaces_and_remove_removes(index: ChromaIndex) -> None:
    index.upsert([passage(0, Y[None])])
    assert index.count() == 3
    assert {(v, o): round(s, 3) for v, o, s in index.search(X, 10)}[7, 0] == 0.0
    index.remove([7])
    assert index.search(X, 10) == []
    assert set(index.counts()) == set()


def test_any_client_of_chroma_can_read_and_search_the_passages(index: ChromaIndex, tmp_path: Path) -> None:
    name = index.name
    index.close()
    client = open_chroma(tmp_path / "vectors")
    collection = client.get_collection(name, embedding_function=None)
    assert collection.metadata == {"fingerprint": "hand", "dimension": 3, "space": "cosine"}
    found = collection.query(query_embeddings=X[None], n_results=1, where={"document": "Rules.pdf"})
    assert found["ids"] == [["7:0:0"]] and found["documents"] == [["The ceiling is three per cent."]]
    told = {
        "document": "Rules.pdf",
        "page": 4,
        "page_label": "iv",
        "method": "text",
        "chunk_id": "7:0",
        "version": 7,
        "ordinal": 0,
    }
    assert found["metadatas"] == [[told]]
    assert len(collection.get(where_document={"$contains": "ceiling"})["ids"]) == 3
    collection.add(
        ids=["8:0:0"], embeddings=XY[None], documents=["Of another client."], metadatas=[{"version": 8}]
    )
    client.close()
    client.clear_system_cache()
    assert index.counts() == {7: 3, 8: 1}


def test_names_are_those_of_the_first_passages(index: ChromaIndex) -> None:
    assert index.names([7, 9]) == {7: "Rules.pdf"}


@pytest.mark.parametrize("many", [0, 1_200], ids=["in the log of changes", "written"])
def test_scrubbed_text_stands_in_no_file(index: ChromaIndex, tmp_path: Path, many: int) -> None:
    angles = np.linspace(0.1, 1.4, many, dtype=np.float32)
    others = np.stack(
        [np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1
    )  # Each leads on towards Y.
    index.upsert(
        IndexedPassage(8, ordinal, others[[ordinal]], f"number {ordinal}", "Notes.pdf", 1, "", "text")
        for ordinal in range(many)
    )
    index.upsert([passage(2, XY[None], text="The zygomorphic clause.", label="zygomorphic")])
    index.remove([7])
    index.upsert([IndexedPassage(9, 0, Y[None], "It stays.", "Kept.pdf", 1, "", "text")])
    index.scrub()
    assert index.count() == many + 1
    assert [row[:2] for row in index.search(Y, 1)] == [(9, 0)]
    index.close()
    assert [row[:2] for row in index.search(Y, 1)] == [(9, 0)]
    assert [
        path.name for path in tmp_path.rglob("*") if path.is_file() and b"zygomorph" in path.read_bytes()
    ] == []


def test_scrubbed_text_of_another_embedders_collection_stands_in_no_file(
    index: ChromaIndex, tmp_path: Path
) -> None:
    index.upsert([passage(2, XY[None], text="The zygomorphic clause.")])
    index.close()
    other = ChromaIndex(tmp_path / "vectors", fingerprint="other", dimension=3)
    other.drop_others()
    other.scrub()
    assert [
        path.name for path in tmp_path.rglob("*") if path.is_file() and b"zygomorph" in path.read_bytes()
    ] == []


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
    assert matrix.cosines(Y, 3, np.array([2, 1])).tolist() == pytest.approx([0.8, -1.0])
    assert matrix_of([], 3).cosines(Y, 2).tolist() == [-1.0, -1.0]
    assert matrix_of([], 3).cosines(Y, 2, np.array([1])).tolist() == [-1.0]


def test_the_cache_forgets_what_was_not_used_for_longest() -> None:
    cache: LeastRecentlyUsed[str] = LeastRecentlyUsed(6, size=len)
    made: list[str] = []

    def get(key: str) -> str:
        return cache.get(key, lambda: made.append(key) or key * 3)  # type: ignore[func-returns-value]

    assert [get(key) for key in "abac"] == ["aaa", "bbb", "aaa", "ccc"]
    get("a")
    get("b")
    assert made == ["a", "b", "c", "b"]


def test_searches_while_the_files_are_scrubbed_find_all_and_break_nothing(tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(1_200, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = ChromaIndex(tmp_path / "vectors", fingerprint="hand", dimension=3)
    index.upsert(
        passage(ordinal, row[None], f"Passage {ordinal} of the rules.") for ordinal, row in enumerate(rows)
    )
    done, wrong = threading.Event(), list[object]()

    def search() -> None:
        while not done.is_set():
            try:
                if len(index.search(X, 5)) != 5:
                    wrong.append("too few")
            except StoreError as error:
                wrong.append(error)

    searching = [threading.Thread(target=search) for _ in range(2)]
    for thread in searching:
        thread.start()
    for version in range(20, 26):
        gone = [
            IndexedPassage(version, ordinal, row[None], f"Of version {version}.", "Gone.pdf", 1, "", "text")
            for ordinal, row in enumerate(rows[:50])
        ]
        index.upsert(gone)
        index.remove([version])
        index.scrub()
    done.set()
    for thread in searching:
        thread.join()
    assert wrong == [] and index.counts() == {7: 1_200}
    index.close()
    with closing(sqlite3.connect(tmp_path / "vectors" / "chroma.sqlite3")) as database:
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
