"""A library on servers finds what one in folders finds, and goes on while a server is down."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import StoreError
from chatbot.search.retrieval import Query, Retriever
from chatbot.store.doctor import examine
from chatbot.store.library import Library, Upload
from chatbot.store.vector_index import IndexedPassage
from tests.chatbot.store.libraries import open_library
from tests.engines import StoresDatabase
from tests.pdfs import make_pdf
from tests.served_chroma import ServedChroma
from tests.served_objects import ServedObjects
from tests.stores import add_here

TOPICS = "deficit debt ceiling revenue spending pension customs reserve grant subsidy".split()
QUESTIONS = ("What is the debt ceiling?", "pension spending of region 3", "customs revenue", "grant reserve")


def uploads(folder: Path) -> list[Upload]:
    """Documents of five pages each; no two pages are equally about a topic."""
    chance = random.Random(3)
    made = []
    for number in range(4):
        pages = []
        for _ in range(5):
            words = chance.choices(TOPICS, k=chance.randint(9, 60))
            pages.append(f"{' '.join(words)} of region {number}.")
        made.append(Upload(make_pdf(folder / f"Region {number}.pdf", pages)))
    return made


@pytest.fixture(scope="module")
def settings(
    chroma: ServedChroma, objects: ServedObjects, stores_database: StoresDatabase
) -> Iterator[dict[str, Any]]:
    """What names the servers."""
    yield {
        "chroma_url": chroma.address,
        "database": stores_database.address,
        "files": f"s3://{objects.bucket}/library",
        "files_endpoint": objects.endpoint,
    }
    stores_database.empty()


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("embedded")
    library = open_library(folder / "home")
    add_here(library, uploads(folder))
    yield library
    library.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("served")
    library = open_library(folder / "home", **settings)
    add_here(library, uploads(folder))
    yield library
    library.close()


@pytest.fixture(autouse=True)
def candidates_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The indexes are asked, as in a large store."""
    monkeypatch.setattr("chatbot.search.retrieval.MOST_EXACT_CHUNKS", 0)
    monkeypatch.setattr("chatbot.search.retrieval.CANDIDATES", 6)


def found(library: Library, text: str, mode: str = "hybrid") -> list[tuple[str, int, float]]:
    (vector,) = library.embedder.embed([text], query=True)
    hits = Retriever(library).search(Query(text, vector, mode=mode, k=5))
    return [(hit.document, hit.page, hit.score) for hit in hits]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_servers_find_what_folders_find(served: Library, embedded: Library, question: str, mode: str) -> None:
    expected = found(embedded, question, mode)
    assert expected
    assert found(served, question, mode) == expected


def test_a_kept_copy_is_read_from_the_object_store(served: Library) -> None:
    (version, name), *_ = served.scope([]).items()
    shutil.rmtree(served.folder / "copies")
    (served.folder / "copies").mkdir()
    assert served.file(version).read_bytes().startswith(b"%PDF")
    assert served.file(version).parent == served.folder / "copies"
    assert served.read_again(name).status == "replaced"
    assert list(examine(served)) == []


def test_indexes_on_servers_agree_with_the_catalogue(served: Library) -> None:
    assert served.indexes.differences() == []


def test_words_answer_while_the_vectors_server_is_down(
    served: Library, chroma: ServedChroma, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = found(served, QUESTIONS[0])
    chroma.kill()
    try:
        assert found(served, QUESTIONS[0])[0][:2] == before[0][:2]
        monkeypatch.setattr("chatbot.search.retrieval.MOST_CHUNKS_WITHOUT_INDEX", 0)
        assert found(served, QUESTIONS[0])[0][:2] == before[0][:2]
        with pytest.raises(StoreError, match="cannot be reached"):
            found(served, QUESTIONS[0], "vector")
    finally:
        chroma.start()
    assert found(served, QUESTIONS[0]) == before


def test_what_others_put_into_the_collection_is_passed_over_and_repaired(served: Library) -> None:
    before = found(served, QUESTIONS[0])
    (vector,) = served.embedder.embed([QUESTIONS[0]], query=True)
    version = next(iter(served.scope([])))
    vectors = served.indexes.vectors
    vectors.upsert([IndexedPassage(version, 77, vector[None], "x", "x", 1, "", "text")])
    assert found(served, QUESTIONS[0], "vector")
    assert found(served, QUESTIONS[0])[0] == before[0]
    assert served.indexes.differences()
    assert list(examine(served, repair=True))
    assert served.indexes.differences() == []
    assert found(served, QUESTIONS[0]) == before


def test_a_lost_collection_is_made_again_from_the_catalogue(served: Library) -> None:
    before = found(served, QUESTIONS[0])
    served.indexes.vectors.clear()
    served.indexes.unaligned()
    served.sweep()
    assert found(served, QUESTIONS[0]) == before
    assert served.indexes.differences() == []
