"""What every place of vectors does alike, a folder and a server; and how a server fails and comes back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import SettingsError, StoreError
from chatbot.store.chroma_folder import ChromaFolder
from chatbot.store.chroma_server import ChromaServer
from chatbot.store.vector_index import NOBODYS, ChromaIndex, IndexDamagedError, IndexedPassage, Place, Vectors
from tests.answering_server import AnsweringServer
from tests.served_chroma import ServedChroma

X = np.array([1, 0, 0], np.float32)
Y = np.array([0, 1, 0], np.float32)
XY = np.array([0.6, 0.8, 0], np.float32)
CEILING = "The ceiling is three per cent."
TOKEN = "a-token-that-nobody-may-see"
# Opens another index of the same store: open(fingerprint, dimension).
Open = Callable[..., ChromaIndex]
OPENED = list[ChromaIndex]()


@pytest.fixture(autouse=True)
def closed_after_each_test() -> Iterator[None]:
    """No test leaves a connection open."""
    yield
    while OPENED:
        OPENED.pop().close()


def index_at(place: Place, *, fingerprint: str = "hand", dimension: int = 3, owner: str = "") -> ChromaIndex:
    """An index that is closed after the test."""
    OPENED.append(ChromaIndex(place, fingerprint=fingerprint, dimension=dimension, owner=owner))
    return OPENED[-1]


def passage(ordinal: int, windows: Vectors, version: int = 7) -> IndexedPassage:
    return IndexedPassage(version, ordinal, windows, CEILING, "Rules.pdf", 4, "iv", "text")


@pytest.fixture(params=["folder", "server"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    owner = uuid.uuid4().hex[:12]

    def index(fingerprint: str = "hand", dimension: int = 3) -> ChromaIndex:
        if request.param == "folder":
            folder = ChromaFolder(tmp_path / "vectors")
            return index_at(folder, fingerprint=fingerprint, dimension=dimension)
        server = ChromaServer(request.getfixturevalue("chroma").address)
        return index_at(server, fingerprint=fingerprint, dimension=dimension, owner=owner)

    return index


@pytest.fixture
def index(opened: Open) -> ChromaIndex:
    """Two passages, the second of two windows."""
    made = opened()
    made.upsert([passage(0, X[None]), passage(1, np.stack([Y, XY]))])
    return made


def scores(index: ChromaIndex, query: Vectors) -> dict[tuple[int, int], float]:
    """The score of each passage, by version and ordinal, the best first."""
    hits = index.search(query, 10)
    found = {(version, ordinal): round(score, 3) for version, ordinal, score in hits}
    assert len(found) == len(hits)
    return found


def test_scores_are_cosines_and_a_chunk_counts_once(index: ChromaIndex) -> None:
    found = list(scores(index, X).items())
    assert found == [((7, 0), 1.0), ((7, 1), 0.6)]
    assert index.count() == 3


def test_nearly_all_of_the_nearest_are_found(opened: Open) -> None:
    """With Chroma's own ef_search it is 95 %."""
    draw, dimension, count = np.random.default_rng(0), 64, 3_000
    drawn = draw.standard_normal((count, dimension)).astype(np.float32)
    rows = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    index = opened("many", dimension)
    index.upsert(passage(number, row[None]) for number, row in enumerate(rows))
    found = 0
    for query in rows[:20]:
        nearest = set(np.argsort(-rows @ query)[:100].tolist())
        found += len(nearest.intersection(ordinal for _, ordinal, _ in index.search(query, 100)))
    assert found > 0.97 * 20 * 100


def test_upsert_replaces_and_remove_removes(index: ChromaIndex) -> None:
    index.upsert([passage(0, X[None]), passage(0, Y[None])])
    assert index.count() == 3
    assert scores(index, X)[7, 0] == 0.0
    index.remove([7])
    assert index.search(X, 10) == []
    assert not index.counts()


def test_what_was_stored_is_there_when_it_is_opened_again(index: ChromaIndex, opened: Open) -> None:
    index.close()
    again = opened()
    assert scores(again, Y) == {(7, 1): 1.0, (7, 0): 0.0}
    assert again.counts() == {7: 3}


def test_another_embedder_gets_a_collection_of_its_own(index: ChromaIndex, opened: Open) -> None:
    index.close()
    other = opened("other")
    assert other.count() == 0
    other.drop_others()
    other.close()
    assert opened().count() == 0


def test_vectors_of_another_dimension_are_damage(opened: Open) -> None:
    index = opened()
    index.upsert([passage(0, X[None])])
    with pytest.raises(IndexDamagedError, match="dimension"):
        index.search(np.ones(4, np.float32), 5)


def test_a_collection_of_another_dimension_is_damage_and_can_be_cleared(opened: Open) -> None:
    index = opened()
    index.upsert([passage(0, X[None])])
    index.close()
    other = opened(dimension=4)
    with pytest.raises(IndexDamagedError, match="built with"):
        other.count()
    other.clear()
    assert other.count() == 0


def test_scrubbing_leaves_what_was_not_deleted(index: ChromaIndex) -> None:
    index.upsert([passage(0, Y[None], version=8)])
    index.remove([7])
    index.scrub()
    assert index.counts() == {8: 1}


def served(chroma: ServedChroma, owner: str) -> ChromaIndex:
    return index_at(ChromaServer(chroma.address), owner=owner)


def test_two_stores_on_one_server_do_not_see_each_other(chroma: ServedChroma) -> None:
    one, two = served(chroma, "one"), served(chroma, "two")
    one.upsert([passage(0, X[None])])
    two.upsert([passage(0, Y[None])])
    two.drop_others()
    assert scores(one, X) == {(7, 0): 1.0}
    assert scores(two, X) == {(7, 0): 0.0}


def test_no_proxy_sees_what_a_server_is_asked(chroma: ServedChroma, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert served(chroma, "direct").count() == 0


def test_a_server_that_was_killed_is_met_again_by_itself(chroma: ServedChroma) -> None:
    index = served(chroma, "killed")
    index.upsert([passage(0, X[None])])
    chroma.kill()
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        index.search(X, 5)
    assert raised.value.retryable
    assert "FINPOLICY_CHROMA_URL" in raised.value.hint
    chroma.start()
    assert scores(index, X) == {(7, 0): 1.0}
    chroma.kill()
    chroma.start()
    index.upsert([passage(1, Y[None])])
    assert index.count() == 2


def test_a_collection_that_the_server_lost_is_damage_and_made_again(chroma: ServedChroma) -> None:
    index, other = served(chroma, "lost"), served(chroma, "lost")
    index.upsert([passage(0, X[None])])
    other.clear()
    with pytest.raises(IndexDamagedError, match="lost"):
        index.search(X, 5)
    assert index.count() == 0


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, "", "refused the token"),
        (403, '{"error": "Forbidden", "message": "no"}', "refused the token"),
        (410, '{"error": "Unimplemented", "message": "old"}', "does not answer like a Chroma server"),
        (404, "<html>nginx</html>", "does not answer like a Chroma server"),
        (200, "<html>a page</html>", "does not answer like a Chroma server"),
        (301, "", "does not answer like a Chroma server"),
        (404, '{"error": "NotFoundError", "message": "Tenant [default_tenant] not found"}', "tenant"),
        (503, "", "starting or busy"),
        (500, '{"error": "InternalError", "message": "database or disk is full"}', "full"),
        (500, "", "failed"),
    ],
)
def test_each_failure_of_a_server_says_what_to_do(status: int, body: str, words: str) -> None:
    with AnsweringServer([(status, body)] * 2) as server:
        index = index_at(ChromaServer(server.address, TOKEN))
        with pytest.raises(StoreError, match=words) as raised:
            index.count()
        index.close()
    assert raised.value.hint
    assert TOKEN not in f"{raised.value} {raised.value.hint}"
    assert server.headers[0]["Authorization"] == f"Bearer {TOKEN}"
    assert len(server.headers) == (2 if status == 503 else 1)


def test_a_silent_server_is_given_up_in_time() -> None:
    with AnsweringServer([]) as server:
        index = index_at(ChromaServer(server.address, seconds=0.2))
        with pytest.raises(StoreError, match="did not answer in 0.2 seconds") as raised:
            index.count()
    assert raised.value.retryable


def test_only_the_first_search_waits_for_a_silent_server() -> None:
    named = {"name": "default_database", "tenant": "default_tenant", "id": str(uuid.uuid4())}
    identity = {"user_id": "", "tenant": "default_tenant", "databases": ["default_database"]}
    collection = {
        "id": str(uuid.uuid4()),
        "name": "passages",
        "metadata": {"fingerprint": "hand", "dimension": 3, "space": "cosine"},
        "configuration_json": {},
        "dimension": 3,
        "tenant": "default_tenant",
        "database": "default_database",
    }
    opening = [(200, json.dumps(answer)) for answer in (identity, named, named, collection)]
    with AnsweringServer(opening) as server:
        index = index_at(ChromaServer(server.address, seconds=0.5))
        for _ in range(5):
            with pytest.raises(StoreError, match="did not answer in 0.5 seconds"):
                index.search(X, 3)
        asked = len(server.headers)
    assert asked == len(opening) + 1  # to open the collection, and once for the nearest


@pytest.mark.parametrize("address", ["chroma:8000", "http://", f"http://user:{TOKEN}@host", "ftp://host"])
def test_an_address_that_is_none_is_refused_without_quoting_it(address: str) -> None:
    with pytest.raises(SettingsError, match="FINPOLICY_CHROMA_URL") as raised:
        ChromaServer(address)
    assert TOKEN not in f"{raised.value} {raised.value.hint}"


def test_records_of_others_are_passed_over(opened: Open, index: ChromaIndex) -> None:
    with index._place.using(index._wanted) as (_, collection):
        keys = ["hello", "7:0", "a:b:c", "1:2:3:4", "²:0:0"]
        collection.upsert(ids=keys, embeddings=[X] * 5, documents=["x"] * 5, metadatas=[{"version": 7}] * 5)
    assert [hit[:2] for hit in index.search(X, 8)] == [(7, 0), (7, 1)]
    assert index.counts() == {7: 3, NOBODYS: 5}
