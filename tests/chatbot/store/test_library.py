"""The library: what is added is found, replaced as a whole, removed at once; failures cost the others
nothing.
"""

import logging
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, StoreError
from chatbot.models.embedders import LOCAL_FINGERPRINTS
from chatbot.settings import Settings
from chatbot.store import sqlite_file
from chatbot.store.indexing import Indexes
from chatbot.store.keyword_index import KeywordIndex
from chatbot.store.library import Library, Upload
from chatbot.store.term_scores import pack_terms
from ingestion.language.terms import terms
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_here, add_now, open_chroma, read_now

FIRST = ["The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."]
SECOND = [
    "The deficit ceiling is two per cent of output, since the rule was amended in the spring of that year."
]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    yield made
    made.close()


def add(library: Library, *uploads: Upload) -> dict[str, str]:
    return {result.document: result.status for result in add_now(library, uploads)}


def texts(library: Library) -> list[str]:
    return [chunk.text for version in library.scope([]) for chunk in library.catalog.chunks(version)]


def test_adding_indexes_keeps_a_copy_and_ends_ready(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    (result,) = add_now(library, [Upload(path)])
    assert (result.status, result.pages, result.chunks, result.error) == ("added", 1, 1, None)
    assert result.searchable_seconds is not None
    assert result.searchable_seconds <= result.seconds
    assert [row.state for row in library.catalog.documents()] == ["ready"]
    assert library.indexes.vectors.count() == library.indexes.keywords.count() == 1
    assert [copy.read_bytes() for copy in (tmp_path / "home" / "documents").glob("*.pdf")] == [
        path.read_bytes()
    ]


def test_the_same_file_again_is_unchanged_and_other_bytes_replace_it(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    assert add(library, Upload(path)) == {"Rules.pdf": "added"}
    assert add(library, Upload(path)) == {"Rules.pdf": "unchanged"}
    make_pdf(path, SECOND)
    assert add(library, Upload(path)) == {"Rules.pdf": "replaced"}
    assert len(texts(library)) == 1
    assert "two per cent" in texts(library)[0]
    assert [
        hit[0] for hit in library.indexes.keywords.search(terms("ceiling"), 5) if hit[0] in library.scope([])
    ] == [2]


def test_a_replacement_can_be_undone_and_done_again_until_it_is_old(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path))
    add(library, Upload(make_pdf(path, SECOND)))
    library.sweep()
    library.restore("Rules.pdf")
    assert "three per cent" in texts(library)[0]
    library.restore("Rules.pdf")
    assert "two per cent" in texts(library)[0]
    with monkeypatch.context() as later:
        later.setattr("chatbot.store.library.UNDO_DAYS", -1)
        library.sweep()
    assert library.indexes.vectors.count() == library.indexes.keywords.count() == 1
    assert len(list((tmp_path / "home" / "documents").glob("*.pdf"))) == 1
    with pytest.raises(NotFoundError, match="replaced"):
        library.restore("Rules.pdf")


def test_the_same_bytes_under_two_names_are_kept_once_and_found_under_both(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path))
    (twin,) = add_now(library, [Upload(path, "Twin.pdf")])
    assert (twin.status, twin.chunks) == ("added", 1)
    assert "Rules.pdf" in (twin.warning or "")
    assert library.indexes.keywords.count() == library.embedder.calls == 1  # type: ignore[attr-defined]
    assert [(row.name, row.same_as) for row in library.catalog.documents()] == [
        ("Rules.pdf", None),
        ("Twin.pdf", "Rules.pdf"),
    ]
    assert list(library.scope([]).values()) == ["Rules.pdf"]
    assert list(library.scope(["Twin.pdf"]).values()) == ["Twin.pdf"]
    library.remove("Rules.pdf", purge=True)
    assert list(library.scope([]).values()) == ["Twin.pdf"]
    assert add(library, Upload(make_pdf(path, SECOND), "Twin.pdf")) == {"Twin.pdf": "replaced"}
    assert "two per cent" in texts(library)[0]


def test_one_of_two_names_gets_another_file_and_the_other_keeps_its_own(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path), Upload(path, "Twin.pdf"))
    add(library, Upload(make_pdf(tmp_path / "next.pdf", SECOND), "Rules.pdf"))
    found = {name: library.catalog.chunks(version)[0].text for version, name in library.scope([]).items()}
    assert "two per cent" in found["Rules.pdf"]
    assert "three per cent" in found["Twin.pdf"]
    library.restore("Rules.pdf")
    assert len(library.scope([])) == 1


def test_a_failing_file_costs_the_others_nothing(library: Library, tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    (tmp_path / "text.pdf").write_text("not a pdf at all")
    good = make_pdf(tmp_path / "good.pdf", FIRST)
    results = add_now(
        library,
        [
            Upload(tmp_path / "empty.pdf"),
            Upload(tmp_path / "text.pdf"),
            Upload(tmp_path / "gone.pdf"),
            Upload(good),
        ],
    )
    assert {result.document: result.status for result in results} == {
        "empty.pdf": "failed",
        "text.pdf": "failed",
        "gone.pdf": "failed",
        "good.pdf": "added",
    }
    assert all("\n" not in (result.error or "") for result in results)
    assert [row.name for row in library.catalog.documents()] == ["good.pdf"]


def test_two_different_files_of_one_name_in_one_call(library: Library, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first, second = (
        make_pdf(tmp_path / "Rules.pdf", FIRST),
        make_pdf(tmp_path / "other" / "Rules.pdf", SECOND),
    )
    results = add_now(library, [Upload(first), Upload(second)])
    assert [result.status for result in results] == ["failed", "added"] or [
        result.status for result in results
    ] == ["added", "failed"]
    error = next(result.error for result in results if result.error)
    assert str(first) in error
    assert str(second) in error
    assert "--name" in error


def test_names_are_display_text_never_paths(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", FIRST)
    names = [result.document for result in add_now(library, [Upload(path, "../../x.pdf")])]
    assert names == ["x.pdf"]
    (long,) = add_now(library, [Upload(path, "n" * 300)])
    assert long.status == "failed"
    assert "300 characters" in (long.error or "")
    (spoofed,) = add_now(library, [Upload(path, "a\u202efdp.pdf")])
    assert spoofed.document == "a‹U+202E›fdp.pdf"


def test_a_file_over_the_limit(tmp_path: Path) -> None:
    library = Library(Settings(home=tmp_path / "home", max_upload_mb=1), HashEmbedder())
    (tmp_path / "large.pdf").write_bytes(b"%PDF-1.7" + b"\0" * 2**21)
    (result,) = add_now(library, [Upload(tmp_path / "large.pdf")])
    library.close()
    assert "FINPOLICY_MAX_UPLOAD_MB" in (result.error or "")


def test_a_blank_document_is_added_with_a_warning(library: Library, tmp_path: Path) -> None:
    (result,) = add_now(library, [Upload(make_pdf(tmp_path / "blank.pdf", [""]))])
    assert (result.status, result.chunks) == ("added", 0)
    assert result.warning


def test_removing_hides_at_once_restoring_brings_back_purging_erases(
    library: Library, tmp_path: Path
) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.remove("Rules.pdf")
    assert texts(library) == []
    library.sweep()
    library.restore("Rules.pdf")
    assert len(texts(library)) == 1
    library.remove("Rules.pdf")
    library.remove("Rules.pdf", purge=True)
    assert library.catalog.documents() == []
    assert library.indexes.keywords.count() == library.indexes.vectors.count() == 0
    assert not list((tmp_path / "home" / "documents").glob("*.pdf"))
    with pytest.raises(NotFoundError):
        library.restore("Rules.pdf")
    with pytest.raises(NotFoundError, match="Nothing.pdf"):
        library.remove("Nothing.pdf")


def test_a_removed_document_can_be_added_again(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path))
    library.remove("Rules.pdf")
    assert add(library, Upload(path)) == {"Rules.pdf": "added"}
    assert len(texts(library)) == 1


def test_one_document_that_is_deleted_does_not_take_anothers_copy(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path), Upload(path, "Twin.pdf"))
    library.remove("Twin.pdf", purge=True)
    (version,) = library.scope([])
    assert library.file(version).exists()


def test_keyword_search_is_ready_before_the_vectors_and_stopping_keeps_what_stands(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(
        tmp_path / "Long.pdf", [f"Page {n} speaks of the deficit ceiling. " * 20 for n in range(100)]
    )
    read_now(library, [Upload(path)])
    library.resume_vectors(cancelled=lambda: library.catalog.documents()[0].embedded > 0)
    (row,) = library.catalog.documents()
    assert row.state == "embedding"
    assert 0 < row.embedded < row.chunks == library.indexes.keywords.count()
    before = library.embedder.calls  # type: ignore[attr-defined]
    library.resume()
    assert library.catalog.documents()[0].state == "ready"
    assert library.embedder.calls - before == row.chunks - row.embedded  # type: ignore[attr-defined]


def test_another_embedder_makes_new_vectors_from_the_stored_text(tmp_path: Path) -> None:
    library = Library(Settings(home=tmp_path), HashEmbedder(dimension=32))
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.close()
    other = Library(Settings(home=tmp_path), HashEmbedder(dimension=16))
    (version,) = other.scope([])
    assert other.matrix(version).rows.shape == (0, 16)
    assert other.without_vectors()
    other.resume()
    assert other.matrix(version).rows.shape == (1, 16)
    assert other.without_vectors() == []
    other.close()


def test_a_lost_vector_index_is_made_anew_from_the_catalogue(library: Library, tmp_path: Path) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.close()
    shutil.rmtree(tmp_path / "home" / "chroma_db" / "vectors")
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    again.sweep()
    assert again.indexes.vectors.count() == 1
    assert again.embedder.calls == 0  # type: ignore[attr-defined]
    again.close()


def test_a_second_owner_is_refused_with_the_holders_pid(library: Library, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=str(os.getpid())):
        Library(Settings(home=tmp_path / "home"), HashEmbedder())


KILLED = """
import sys, time
from pathlib import Path
from chatbot.settings import Settings
from chatbot.store.addition_queue import add_files
from chatbot.store.library import Library, Upload
from tests.fakes import HashEmbedder
library = Library(Settings(home=Path(sys.argv[1])), HashEmbedder())
def slow(document, phase, done, total):
    print(phase, flush=True)
    time.sleep(0.05 if phase == "embedding" else 0)
list(add_files(library, [Upload(Path(sys.argv[2]))], readers=2, progress=slow))
"""


@pytest.mark.parametrize("phase", ["reading", "embedding"])
def test_a_killed_addition_leaves_no_half_document(tmp_path: Path, phase: str, root: Path) -> None:
    path = make_pdf(
        tmp_path / "Long.pdf", [f"Page {n} speaks of the deficit ceiling. " * 20 for n in range(200)]
    )
    home = tmp_path / "home"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, home, path],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert child.stdout
    for line in child.stdout:
        if line.strip() == phase:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    time.sleep(0.1)
    library = Library(Settings(home=home), HashEmbedder())
    library.resume()
    library.sweep()
    rows = library.catalog.documents()
    assert [(row.state, row.embedded == row.chunks) for row in rows] == [("ready", True)]
    assert library.indexes.vectors.count() == sum(row.chunks for row in rows)
    library.close()


class FailingEmbedder(HashEmbedder):
    """An endpoint that is down."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Fails."""
        raise ModelError("The endpoint is down.", hint="Start it.")


def test_vectors_that_cannot_be_made_leave_every_document_found_by_its_words(tmp_path: Path) -> None:
    paths = [
        make_pdf(tmp_path / f"{n}.pdf", [f"{text} Document {n}."]) for n, text in enumerate(FIRST + SECOND)
    ]
    library = Library(Settings(home=tmp_path / "home"), FailingEmbedder())
    results = add_now(library, [Upload(path) for path in paths])
    assert [
        (result.status, "The endpoint is down. Start it." in (result.warning or "")) for result in results
    ] == [("added", True)] * 2
    assert [row.state for row in library.catalog.documents()] == ["keyword"] * 2
    library.close()
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    again.resume()
    assert [row.state for row in again.catalog.documents()] == ["ready"] * 2
    again.close()


def test_a_document_the_user_removed_stays_removed_while_a_new_one_of_its_name_comes(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    read_now(library, [Upload(path)])
    library.remove("Rules.pdf")
    make_pdf(path, SECOND)
    (coming,) = read_now(library, [Upload(path)])
    assert "two per cent" in texts(library)[0]
    library.discard(coming.version)
    library.resume()
    library.sweep()
    assert texts(library) == []
    library.restore("Rules.pdf")
    assert "three per cent" in texts(library)[0]


def test_the_last_addition_wins_while_a_replacement_is_pending(library: Library, tmp_path: Path) -> None:
    first, second = make_pdf(tmp_path / "a.pdf", FIRST), make_pdf(tmp_path / "b.pdf", SECOND)
    add(library, Upload(first, "Rules.pdf"))
    read_now(library, [Upload(second, "Rules.pdf")])
    assert [result.status for result in read_now(library, [Upload(first, "Rules.pdf")])] == ["replaced"]
    library.resume()
    assert "three per cent" in texts(library)[0]


def test_the_same_file_twice_in_one_call_is_read_once(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    (tmp_path / "copy").mkdir()
    twin = make_pdf(tmp_path / "copy" / "Rules.pdf", FIRST)
    assert [result.status for result in add_now(library, [Upload(path), Upload(twin)])] == [
        "added",
        "unchanged",
    ]
    assert library.embedder.calls == 1  # type: ignore[attr-defined]


def test_ids_are_never_used_again(library: Library, tmp_path: Path) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    (before,) = library.scope([])
    library.remove("Rules.pdf", purge=True)
    add(library, Upload(make_pdf(tmp_path / "Other.pdf", SECOND)))
    (after,) = library.scope([])
    assert after > before


def readings(data: bytes) -> Iterator[bytes]:
    """A file's bytes as they stand, as the text they may be in UTF-16, and as what zlib would unpack from
    any place of them.
    """
    yield data
    yield data.replace(b"\0", b"")
    for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(data[start.start() :])


def holding(word: bytes, folder: Path) -> list[str]:
    """Names of the files under a folder in which a word can be read, in small letters or great."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = []
    for path in files:
        if any(word in text.lower() for text in readings(path.read_bytes())):
            found.append(path.name)
    return found


def letters_in_chroma(word: str, library: Library) -> int:
    """How many rows Chroma's own index of letters still has for a word, whether their text is there or
    not.
    """
    library.indexes.vectors.close()
    with closing(sqlite3.connect(library.folder / "vectors" / "chroma.sqlite3")) as sqlite_file:
        sqlite_file.execute(
            "create virtual table temp.terms using fts5vocab(main, embedding_fulltext_search, row)"
        )
        trigrams = {word[at : at + 3] for at in range(len(word) - 2)}
        return sum(
            sqlite_file.execute("select count(*) from temp.terms where term = ?", (trigram,)).fetchone()[0]
            for trigram in trigrams
        )


def test_what_was_purged_stands_in_no_file_of_the_store(library: Library, tmp_path: Path) -> None:
    planted = [
        "The xylozygomorphic clause is three per cent of all output in the year.",
        "It is repeated: Xylozygomorphic clauses count.",
    ]
    uploads = []
    for number in range(9):
        pages = [f"Rule {number} is of output {line}." for line in range(9)]
        uploads.append(Upload(make_pdf(tmp_path / f"Rules {number}.pdf", pages)))
    add(library, *uploads, Upload(make_pdf(tmp_path / "Xylozygomorphic.pdf", planted)))
    there = holding(b"xylozygomorph", tmp_path / "home")
    assert "chroma.sqlite3" in there and any(name.startswith("catalog.sqlite3") for name in there)
    assert letters_in_chroma("xylozyg", library) == 5
    library.remove("Xylozygomorphic.pdf", purge=True)
    assert holding(b"xylozygomorph", tmp_path / "home") == []
    assert letters_in_chroma("xylozyg", library) == 0
    assert (
        library.indexes.keywords.frequency("xylozygomorph") == 0
        and not library.indexes.keywords.has_deleted()
    )
    assert library.indexes.keywords.count() == library.indexes.vectors.count() == 81
    assert library.indexes.differences() == []


def test_an_index_that_is_stopped_while_it_is_deleted_is_no_half_index(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling."])))

    class Stopped(BaseException):
        """As by a kill: nothing after it runs."""

    deleted = shutil.rmtree

    def half(folder: Path, *, ignore_errors: bool) -> None:
        if folder.exists():
            for file in folder.iterdir():
                if file.name != "meta.json":
                    file.unlink()
            raise Stopped
        deleted(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr("chatbot.store.indexing.shutil.rmtree", half)
    with pytest.raises(Stopped):
        library.indexes._new_keywords(None)
    monkeypatch.undo()
    library.close()
    with caplog.at_level(logging.WARNING):
        again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
        again.resume()
    assert caplog.messages == [] and [path.name for path in again.folder.glob("*.discarded")] == []
    assert again.indexes.differences() == [] and again.indexes.keywords.count() == 1
    again.close()


def test_a_purge_that_another_program_holds_up_says_so_and_is_done_later(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", ["The xylozygomorphic clause is three per cent."])))
    library.catalog.close()
    library.close()
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.1)
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    with closing(sqlite3.connect(again.folder / "catalog.sqlite3", isolation_level=None)) as other:
        other.execute("begin")
        other.execute("select * from page").fetchall()
        with pytest.raises(StoreError, match="another program"):
            again.remove("Rules.pdf", purge=True)
        assert again.catalog.documents() == []
    again.sweep()
    assert holding(b"xylozygomorph", again.folder) == []
    again.close()


def test_words_are_found_while_another_document_is_purged(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(
        library,
        *(
            Upload(make_pdf(tmp_path / f"Rules {number}.pdf", [f"Rule {number} is of the ceiling."]))
            for number in range(6)
        ),
    )
    before, seen = len(library.indexes.keywords.search(["ceil"], 10)), list[int]()
    filled = Indexes._fill_keywords

    def watched(indexes: Indexes, keywords: KeywordIndex) -> None:
        filled(indexes, keywords)
        seen.append(len(library.indexes.keywords.search(["ceil"], 10)))

    monkeypatch.setattr(Indexes, "_fill_keywords", watched)
    library.remove("Rules 5.pdf", purge=True)
    assert before == 6 and min(seen) >= 5
    assert len(library.indexes.keywords.search(["ceil"], 10)) == 5


def test_vectors_left_by_an_earlier_run_do_not_keep_those_of_a_new_file(
    library: Library, tmp_path: Path
) -> None:
    read_now(library, [Upload(make_pdf(tmp_path / "Old.pdf", FIRST))])
    (result,) = add_now(library, [Upload(make_pdf(tmp_path / "New.pdf", SECOND))])
    assert result.warning is None
    assert [version.document for version in library.without_vectors()] == ["Old.pdf"]


def test_the_name_of_a_purged_document_goes_where_its_file_stays_under_another(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path, "Xylozygomorphic.pdf"), Upload(path, "Twin.pdf"))
    library.remove("Xylozygomorphic.pdf", purge=True)
    (version,) = library.scope([])
    assert library.indexes.vectors.names([version]) == {version: "Twin.pdf"}
    assert holding(b"xylozygomorph", library.folder / "vectors") == []


def test_a_store_of_before_is_brought_up_to_date_without_making_a_vector(
    library: Library, tmp_path: Path
) -> None:
    """Its Chroma holds vectors alone, in a collection of another name; the catalogue says that all is
    well.
    """
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    fingerprint, (version,) = library.embedder.fingerprint, library.scope([])
    library.indexes.vectors.close()
    shutil.rmtree(library.folder / "vectors")
    client = open_chroma(library.folder / "vectors")
    collection = client.create_collection(
        "chunks-" + "0" * 16, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    collection.add(
        ids=[f"{version}:0:0"],
        embeddings=library.matrix(version).rows[:1],
        metadatas=[{"version": version, "ordinal": 0}],
    )
    client.close()
    client.clear_system_cache()
    library.catalog.set_meta("vectors_aligned", fingerprint)
    library.close()

    class Idle(HashEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
            raise AssertionError("a vector is made")

    again = Library(Settings(home=tmp_path / "home"), Idle())
    before = again.indexes.complete
    again.resume()
    assert (before, again.indexes.complete) == (False, True)
    assert again.indexes.differences() == []
    assert again.indexes.vectors.names([version]) == {version: "Rules.pdf"}
    again.indexes.vectors.close()
    client = open_chroma(again.folder / "vectors")
    assert [found.name for found in client.list_collections()] == [again.indexes.vectors.name]
    client.close()
    client.clear_system_cache()
    again.close()


def test_switching_between_the_embedded_models_keeps_the_vectors_of_both(
    library: Library, tmp_path: Path
) -> None:
    """Going back makes none; those of an endpoint's model go."""
    library.close()
    path, settings = make_pdf(tmp_path / "Rules.pdf", FIRST), Settings(home=tmp_path / "both")
    made = list[int]()
    for number, fingerprint in enumerate(
        [LOCAL_FINGERPRINTS[0], LOCAL_FINGERPRINTS[1], "endpoint-64", *LOCAL_FINGERPRINTS, "endpoint-64"]
    ):
        embedder = HashEmbedder()
        embedder.fingerprint = fingerprint
        switched = Library(settings, embedder)
        if not number:
            add(switched, Upload(path))
        switched.resume()
        (version,) = switched.scope([])
        assert (
            len(switched.matrix(version).rows),
            switched.indexes.vectors.count(),
            switched.without_vectors(),
        ) == (1, 1, [])
        assert switched.indexes.differences() == []
        made.append(embedder.calls)
        switched.close()
    assert made[3:] == [0, 0, 1] and all(made[:3])


def test_a_purge_that_was_interrupted_is_finished_later(library: Library, tmp_path: Path) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.catalog.retire("Rules.pdf")
    assert library.catalog.documents() == []
    with pytest.raises(NotFoundError):
        library.restore("Rules.pdf")
    library.sweep()
    assert library.indexes.keywords.count() == library.indexes.vectors.count() == 0
    assert not list((tmp_path / "home" / "documents").glob("*.pdf"))


def test_files_that_are_not_the_librarys_are_never_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    library = Library(Settings(home=home), HashEmbedder())
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.close()
    own = home / "documents" / f"{'x' * 64}.pdf"
    own.write_bytes(b"mine")
    for path in (home / "chroma_db").glob("catalog.sqlite3*"):
        path.unlink()
    again = Library(Settings(home=home), HashEmbedder())
    add(again, Upload(make_pdf(tmp_path / "Other.pdf", SECOND)))
    again.sweep()
    again.close()
    assert len(list((home / "documents").glob("*.pdf"))) == 3


def test_a_lost_keyword_index_is_made_anew_from_the_catalogue(library: Library, tmp_path: Path) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    library.close()
    shutil.rmtree(tmp_path / "home" / "chroma_db" / "keywords")
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    again.sweep()
    assert [(version, ordinal) for version, ordinal, _ in again.indexes.keywords.search(["anchor"], 5)] == [
        (1, 0)
    ]
    again.close()


def test_what_is_no_file_is_refused_and_does_not_hang(library: Library, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    results = add_now(library, [Upload(tmp_path / "pipe.pdf"), Upload(Path("/dev/zero")), Upload(tmp_path)])
    assert [result.status for result in results] == ["failed"] * 3
    assert "not a file" in (results[0].error or "")


STEPS = ["begin", "fill", "searchable", "add_vectors", "ready", "refill"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_process_that_ends_at_any_step_of_a_replacement_leaves_one_whole_document(
    tmp_path: Path, step: str, when: str
) -> None:
    """The step fails as a killed process would, leaving everything as it is; the store is then opened
    anew.
    """
    home, path = tmp_path / "home", make_pdf(tmp_path / "Rules.pdf", FIRST)
    library = Library(Settings(home=home), HashEmbedder())
    add(library, Upload(path))
    make_pdf(path, SECOND)
    library.catalog.__dict__[step] = _ending(getattr(library.catalog, step), when)
    with pytest.raises(KeyboardInterrupt):
        add_here(library, [Upload(path)])
    calls: int = library.embedder.calls  # type: ignore[attr-defined]
    library.close()
    again = Library(Settings(home=home), HashEmbedder())
    assert len(texts(again)) == 1
    again.resume()
    again.sweep()
    (text,) = texts(again)
    assert "two per cent" in text
    assert again.indexes.differences() == []
    assert again.catalog.waiting() == []
    once_more = (step, when) == ("add_vectors", "before")
    assert again.embedder.calls + calls == 2 + once_more  # type: ignore[attr-defined]
    assert len(list((home / "documents").glob("*.pdf"))) == 2
    again.close()


def _ending(call: Callable[..., object], when: str) -> Callable[..., object]:
    def ended(*arguments: object, **options: object) -> object:
        if when == "after":
            call(*arguments, **options)
        raise KeyboardInterrupt

    return ended


def test_reading_again_keeps_what_is_on_its_way(library: Library, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add(library, Upload(path), Upload(path, "Twin.pdf"))
    read_now(library, [Upload(make_pdf(tmp_path / "next.pdf", SECOND), "Twin.pdf")])
    library.read_again("Rules.pdf")
    found = {name: library.catalog.chunks(version)[0].text for version, name in library.scope([]).items()}
    assert "three per cent" in found["Rules.pdf"]
    assert "two per cent" in found["Twin.pdf"]


def test_stopping_while_files_left_by_another_process_are_read_loses_none(
    library: Library, tmp_path: Path
) -> None:
    for number in range(4):
        with make_pdf(tmp_path / f"{number}.pdf", [f"{FIRST[0]} Document {number}."]).open("rb") as file:
            library.adding.take(file, f"{number}.pdf")
    library.resume(cancelled=lambda: True)
    assert len(library.catalog.waiting()) == 4
    assert len(library.copies.all()) == 4
    library.resume()
    assert [row.state for row in library.catalog.documents()] == ["ready"] * 4


def test_a_removal_while_a_replacement_comes_can_be_undone_with_it(library: Library, tmp_path: Path) -> None:
    add(library, Upload(make_pdf(tmp_path / "Rules.pdf", FIRST)))
    read_now(library, [Upload(make_pdf(tmp_path / "next.pdf", SECOND), "Rules.pdf")])
    library.remove("Rules.pdf")
    library.sweep()
    library.restore("Rules.pdf")
    library.resume()
    assert "two per cent" in texts(library)[0]


def test_a_store_is_indexed_anew_when_the_language_learns_a_word(library: Library, tmp_path: Path) -> None:
    (added,) = add_now(
        library,
        [
            Upload(
                make_pdf(
                    tmp_path / "a.pdf",
                    ["Die Sitzung im Dezember 2024 endete mit einem Beschluss des Ausschusses."],
                )
            )
        ],
    )
    assert added.status == "added", added
    (number,) = library.catalog.active(["a.pdf"])
    packed = library.catalog.lexicon(number)
    word = terms("Dezember")[0]
    assert (
        library.terms(number).chunks.postings(word)[0].size and library.indexes.keywords.frequency(word) == 1
    )
    library.catalog.new_lexicon(
        number, pack_terms([["dezemb"]], [["dezemb"]], [])
    )  # as before the word was known
    library.indexes.keywords.add(number, [["dezemb"]])
    library.catalog.set_meta("terms", "before")
    library.close()
    again = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    again.sweep()
    assert again.catalog.lexicon(number) == packed and again.indexes.keywords.frequency(word) == 1
    assert not again.indexes.keywords.frequency("dezemb")
    again.close()
