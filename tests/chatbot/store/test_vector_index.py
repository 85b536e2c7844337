"""Vectors in a folder: Chroma's files, their scrubbing, exact matrices, the bounded cache."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import StoreError
from chatbot.store.chroma_files import check_files
from chatbot.store.chroma_folder import ChromaFolder
from chatbot.store.index_errors import IndexDamagedError
from chatbot.store.vector_index import ChromaIndex, IndexedPassage, Vectors
from tests.stores import open_chroma

ROOT = Path(__file__).resolve().parents[3]
X = np.array([1, 0, 0], np.float32)
Y = np.array([0, 1, 0], np.float32)
XY = np.array([0.6, 0.8, 0], np.float32)
CEILING = "The ceiling is three per cent."


def passage(ordinal: int, windows: Vectors, text: str = CEILING, label: str = "iv") -> IndexedPassage:
    return IndexedPassage(7, ordinal, windows, text, "Rules.pdf", 4, label, "text")


def opened(folder: Path, fingerprint: str = "hand") -> ChromaIndex:
    return ChromaIndex(ChromaFolder(folder), fingerprint=fingerprint, dimension=3)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """The folder of the index."""
    return tmp_path / "vectors"


@pytest.fixture
def index(vectors: Path) -> ChromaIndex:
    made = opened(vectors)
    one, two = passage(0, X[None]), passage(1, np.stack([Y, XY]))
    made.upsert([one, two])
    return made


def best(index: ChromaIndex, query: Vectors) -> tuple[int, int]:
    ((version, ordinal, _),) = index.search(query, 1)
    return version, ordinal


def holding_zygomorph(folder: Path) -> list[str]:
    """The files in which the word can be read that was scrubbed."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if b"zygomorph" in path.read_bytes()]


def test_any_client_of_chroma_can_read_and_search_the_passages(index: ChromaIndex, vectors: Path) -> None:
    name = index.name
    index.close()
    client = open_chroma(vectors)
    collection = client.get_collection(name, embedding_function=None)
    assert collection.metadata == {"fingerprint": "hand", "dimension": 3, "space": "cosine"}
    found = collection.query(query_embeddings=X[None], n_results=1, where={"document": "Rules.pdf"})
    assert found["ids"] == [["7:0:0"]]
    assert found["documents"] == [[CEILING]]
    ((told,),) = found["metadatas"]
    assert told.pop("document") == "Rules.pdf"
    assert told.pop("page") == 4
    assert told.pop("page_label") == "iv"
    assert told.pop("method") == "text"
    assert told == {"chunk_id": "7:0", "version": 7, "ordinal": 0}
    of_ceilings = collection.get(where_document={"$contains": "ceiling"})
    assert sorted(of_ceilings["ids"]) == ["7:0:0", "7:1:0"]  # the second window of 7:1 has no text of its own
    other = {"documents": ["Of another client."], "metadatas": [{"version": 8}]}
    collection.add(ids=["8:0:0"], embeddings=XY[None], **other)
    client.close()
    client.clear_system_cache()
    assert index.counts() == {7: 3, 8: 1}


@pytest.mark.parametrize("many", [0, 1_200], ids=["in the log of changes", "written"])
def test_scrubbed_text_stands_in_no_file(index: ChromaIndex, tmp_path: Path, many: int) -> None:
    angles = np.linspace(0.1, 1.4, many, dtype=np.float32)
    # Each leads on towards Y.
    others = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    notes = []
    for ordinal, row in enumerate(others):
        text = f"number {ordinal}"
        notes.append(IndexedPassage(8, ordinal, row[None], text, "Notes.pdf", 1, "", "text"))
    index.upsert(notes)
    clause = passage(2, XY[None], text="The zygomorphic clause.", label="zygomorphic")
    index.upsert([clause])
    index.remove([7])
    kept = IndexedPassage(9, 0, Y[None], "It stays.", "Kept.pdf", 1, "", "text")
    index.upsert([kept])
    index.scrub()
    assert index.count() == many + 1
    assert best(index, Y) == (9, 0)
    index.close()
    assert best(index, Y) == (9, 0)
    assert holding_zygomorph(tmp_path) == []


def test_scrubbed_text_of_another_embedders_collection_stands_in_no_file(
    index: ChromaIndex, vectors: Path, tmp_path: Path
) -> None:
    clause = passage(2, XY[None], text="The zygomorphic clause.")
    index.upsert([clause])
    index.close()
    other = opened(vectors, "other")
    other.drop_others()
    other.scrub()
    assert holding_zygomorph(tmp_path) == []


def test_a_folder_that_is_no_folder_is_refused_with_a_fix(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(StoreError, match="doctor"):
        opened(file).count()


def open_in(folder: Path) -> list[str]:
    """The files of a folder that this process has open."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(link))
    return [path for path in found if path.startswith(str(folder))]


def is_released(folder: Path) -> bool:
    """Tells whether this process has no file of a folder open. Threads of Chroma close them, in 0.001 s."""
    end = time.monotonic() + 5
    while open_in(folder) and time.monotonic() < end:
        time.sleep(0.001)
    return not open_in(folder)


def test_closing_releases_all_files(index: ChromaIndex, vectors: Path) -> None:
    assert open_in(vectors)
    index.close()
    assert is_released(vectors)


def test_a_folder_that_chroma_could_not_open_can_be_made_anew(vectors: Path) -> None:
    vectors.mkdir()
    with closing(sqlite3.connect(vectors / "chroma.sqlite3")) as database:
        database.execute("create table migrations (other text)")
    index = opened(vectors)
    for _ in range(2):
        with pytest.raises(IndexDamagedError, match="cannot be used"):
            index.count()
        assert is_released(vectors)
    index.clear()
    assert index.count() == 0


def test_a_collection_that_could_not_be_opened_is_released(index: ChromaIndex, vectors: Path) -> None:
    index.close()
    other = ChromaIndex(ChromaFolder(vectors), fingerprint="hand", dimension=4)
    with pytest.raises(IndexDamagedError, match="built with"):
        other.count()
    assert is_released(vectors)
    assert index.count() == 3


# A file or an environment of another program, with which importing Chroma would fail.
OTHERS = {"CHROMA_SERVER_NOFILE": "many", "ANONYMIZED_TELEMETRY": "loudly", "IS_PERSISTENT": "perhaps"}
OPENING = """
import sys
opened = []
sys.addaudithook(lambda event, told: opened.append(str(told[0])) if event == "open" else None)
from pathlib import Path
from chatbot.store.chroma_folder import ChromaFolder
from chatbot.store.vector_index import ChromaIndex
index = ChromaIndex(ChromaFolder(Path("vectors")), fingerprint="hand", dimension=3)
assert "chromadb" not in sys.modules
print(index.count(), "chromadb" in sys.modules, sorted(path for path in opened if path.endswith(".env")))
print({"grpc", "opentelemetry.sdk.trace", "rich"} & set(sys.modules))
from opentelemetry.sdk.trace.export import BatchSpanProcessor
print(BatchSpanProcessor.__module__)
"""


@pytest.mark.parametrize("where", ["environment", "file"])
def test_chroma_takes_no_settings_of_other_programs(tmp_path: Path, where: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if where == "environment":
        environment |= OTHERS
    else:
        (tmp_path / ".env").write_text("".join(f"{name}={value}\n" for name, value in OTHERS.items()))
    command = [sys.executable, "-c", OPENING]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    of_its_own = "opentelemetry.sdk.trace.export"
    assert done.stdout.splitlines() == ["0 True []", "set()", of_its_own], done.stderr


def test_searches_while_the_files_are_scrubbed_find_all_and_break_nothing(vectors: Path) -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(1_200, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = opened(vectors)
    passages = []
    for ordinal, row in enumerate(rows):
        text = f"Passage {ordinal} of the rules."
        passages.append(passage(ordinal, row[None], text))
    index.upsert(passages)
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
        text, gone = f"Of version {version}.", []
        for ordinal, row in enumerate(rows[:50]):
            gone.append(IndexedPassage(version, ordinal, row[None], text, "Gone.pdf", 1, "", "text"))
        index.upsert(gone)
        index.remove([version])
        index.scrub()
        index.close()
    done.set()
    for thread in searching:
        thread.join()
    assert wrong == []
    assert index.counts() == {7: 1_200}
    index.close()
    with closing(sqlite3.connect(vectors / "chroma.sqlite3")) as database:
        found = database.execute("pragma integrity_check").fetchall()
        assert found == [("ok",)]


@pytest.mark.parametrize(
    "foreign",
    [
        "create view other as with recursive c(x) as (select 1 union all select x from c) select x from c",
        "create trigger other after insert on embeddings_queue begin delete from segments; end",
    ],
)
def test_what_another_program_put_into_chromas_database_is_damage(
    index: ChromaIndex, vectors: Path, foreign: str
) -> None:
    index.close()
    with closing(sqlite3.connect(vectors / "chroma.sqlite3")) as database:
        database.execute(foreign)
    for use in (index.faults, index.scrub, lambda: index.search(X, 1)):
        with pytest.raises(IndexDamagedError, match="another program has put 'other' into chroma.sqlite3"):
            use()


def test_a_transaction_that_a_kill_broke_off_is_no_damage(
    index: ChromaIndex, vectors: Path, tmp_path: Path
) -> None:
    index.close()
    with closing(sqlite3.connect(vectors / "chroma.sqlite3", isolation_level=None)) as database:
        database.execute("pragma cache_size = 1")
        database.execute("begin immediate")
        database.execute("create table half (data)")
        database.execute("insert into half values (zeroblob(1000000))")
        shutil.copytree(vectors, tmp_path / "left")
        database.execute("rollback")
    assert list((tmp_path / "left").glob("chroma.sqlite3-journal"))
    left = opened(tmp_path / "left")
    assert left.faults() == []
    assert left.counts() == {7: 3}
    left.close()


def test_a_graph_that_leads_to_nobody_is_damage_before_it_is_followed(vectors: Path) -> None:
    index = opened(vectors)
    rows = np.random.default_rng(1).standard_normal((2_500, 1, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    for version in (1, 7):  # of which the first is deleted, and some rows of the log are in no graph yet
        index.upsert(
            IndexedPassage(version, at, row, "", "Rules.pdf", 1, "", "text") for at, row in enumerate(rows)
        )
        index.remove([1])
    assert index.faults() == []
    index.close()
    check_files(vectors)
    (graph,) = vectors.glob("*/data_level0.bin")
    sound = graph.read_bytes()
    for wrong in (
        b"\xff\xff\0\0",
        b"\x01\0\0\0\xff\xff\xff\x7f",
    ):  # too many neighbours, and one that is not there
        graph.write_bytes(wrong + sound[len(wrong) :])
        with pytest.raises(IndexDamagedError, match="the graph of vectors"):
            index.search(X, 1)
    graph.write_bytes(sound[:-5_000])
    with pytest.raises(IndexDamagedError, match="the graph of vectors"):
        index.search(X, 1)
    graph.write_bytes(sound)
    assert len(index.search(X, 10)) == 10
