"""The library: what is added is found, replaced as a whole, removed at once; failures cost the others
nothing.
"""

import logging
import os
import pydoc
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
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, StoreError
from chatbot.models.embedders import LOCAL_FINGERPRINTS
from chatbot.search.pending_content import pending_content
from chatbot.store import sqlite_file
from chatbot.store.addition_queue import Additions
from chatbot.store.indexing import Indexes
from chatbot.store.library import Library, Upload
from chatbot.store.term_scores import pack_terms
from chatbot.store.word_index import WordIndex
from ingestion.language.terms import terms
from tests.chatbot.store.libraries import add_pages, embedded, kept_pdfs, open_library, passages, states
from tests.engines import settings_at
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_here, add_now, open_chroma, read_now

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

FIRST = ["The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."]
SECOND = [
    "The deficit ceiling is two per cent of output, since the rule was amended in the spring of that year."
]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Rules.pdf, which says FIRST."""
    return make_pdf(tmp_path / "Rules.pdf", FIRST)


def add(library: Library, *uploads: Upload) -> dict[str, str]:
    return {result.document: result.status for result in add_now(library, uploads)}


def texts(library: Library) -> list[str]:
    return [chunk.text for version in library.scope([]) for chunk in library.catalog.chunks(version)]


def first_texts(library: Library) -> dict[str, str]:
    """How each document begins, by name."""
    versions = library.scope([]).items()
    return {name: library.catalog.chunks(version)[0].text for version, name in versions}


def live(library: Library, *names: str) -> list[str]:
    """The documents that are searched, in all of them or in these."""
    return list(library.scope(names).values())


def names(library: Library) -> list[str]:
    return [row.name for row in library.catalog.documents()]


@on_both
def test_a_version_that_another_process_erased_meanwhile_can_be_added_again(
    library: Library, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the database is restarted, which ends the claim of whoever adds."""
    searchable = library.catalog.searchable

    def erased(version: int, job: int) -> None:
        library.catalog.erase([version])
        searchable(version, job)

    with monkeypatch.context() as patched:
        patched.setattr(library.catalog, "searchable", erased)
        (result,) = add_now(library, [Upload(rules)])
        assert result.error is not None
        assert "dropped while it was being added" in result.error
        assert result.retryable
    (result,) = add_now(library, [Upload(rules)])
    assert result.status == "added"


@on_both
def test_adding_indexes_keeps_a_copy_and_ends_ready(library: Library, home: Path, rules: Path) -> None:
    (result,) = add_now(library, [Upload(rules)])
    assert result.status == "added"
    assert result.pages == 1
    assert result.chunks == 1
    assert result.error is None
    assert result.searchable_seconds is not None
    assert result.searchable_seconds <= result.seconds
    assert states(library) == ["ready"]
    assert passages(library) == 1
    (copy,) = kept_pdfs(home)
    assert copy.read_bytes() == rules.read_bytes()
    assert add(library, Upload(rules)) == {"Rules.pdf": "unchanged"}
    make_pdf(rules, SECOND)
    assert add(library, Upload(rules)) == {"Rules.pdf": "replaced"}
    assert len(texts(library)) == 1
    assert "two per cent" in texts(library)[0]
    versions = library.scope([])
    hits = library.indexes.keywords.search(terms("ceiling"), 5)
    assert [version for version, *_ in hits if version in versions] == [2]


@on_both
def test_a_replacement_can_be_undone_and_done_again_until_it_is_old(
    library: Library, home: Path, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(library, Upload(rules))
    add(library, Upload(make_pdf(rules, SECOND)))
    library.sweep()
    library.restore("Rules.pdf")
    assert "three per cent" in texts(library)[0]
    library.restore("Rules.pdf")
    assert "two per cent" in texts(library)[0]
    with monkeypatch.context() as later:
        later.setattr(library.catalog.clock, "agreed", lambda: time.time() + 8 * 86_400)
        library.sweep()
    assert passages(library) == 1
    assert len(kept_pdfs(home)) == 1
    with pytest.raises(NotFoundError, match="replaced"):
        library.restore("Rules.pdf")


@on_both
def test_the_same_bytes_under_two_names_are_kept_once_and_found_under_both(
    library: Library, rules: Path
) -> None:
    add(library, Upload(rules))
    (twin,) = add_now(library, [Upload(rules, "Twin.pdf")])
    assert twin.status == "added"
    assert twin.chunks == 1
    assert "Rules.pdf" in (twin.warning or "")
    assert library.indexes.keywords.count() == 1
    assert embedded(library) == 1
    same = {row.name: row.same_as for row in library.catalog.documents()}
    assert same == {"Rules.pdf": None, "Twin.pdf": "Rules.pdf"}
    assert live(library) == ["Rules.pdf"]
    assert live(library, "Twin.pdf") == ["Twin.pdf"]
    replacement = add_pages(library, rules, SECOND, "Rules.pdf")
    assert replacement.status == "replaced"
    found = first_texts(library)
    assert "two per cent" in found["Rules.pdf"]
    assert "three per cent" in found["Twin.pdf"]
    library.restore("Rules.pdf")
    assert len(library.scope([])) == 1
    library.remove("Rules.pdf", purge=True)
    assert live(library) == ["Twin.pdf"]
    (version,) = library.scope([])
    assert library.file(version).exists(), "its copy is another's too"
    assert add_pages(library, rules, SECOND, "Twin.pdf").status == "replaced"


def test_a_failing_file_costs_the_others_nothing(library: Library, tmp_path: Path) -> None:
    (tmp_path / "empty.pdf").write_bytes(b"")
    (tmp_path / "text.pdf").write_text("not a pdf at all")
    good = make_pdf(tmp_path / "good.pdf", FIRST)
    failing = [tmp_path / name for name in ("empty.pdf", "text.pdf", "gone.pdf")]
    results = add_now(library, [Upload(path) for path in (*failing, good)])
    statuses = {result.document: result.status for result in results}
    assert statuses.pop("good.pdf") == "added"
    assert statuses == {path.name: "failed" for path in failing}
    for result in results:
        assert "\n" not in (result.error or "")
    assert names(library) == ["good.pdf"]


def test_two_different_files_of_one_name_in_one_call(library: Library, rules: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = make_pdf(tmp_path / "other" / "Rules.pdf", SECOND)
    results = add_now(library, [Upload(rules), Upload(other)])
    assert sorted(result.status for result in results) == ["added", "failed"]
    error = next(result.error for result in results if result.error)
    assert str(rules) in error
    assert str(other) in error
    assert "--name" in error


def test_a_blank_document_is_added_with_a_warning(library: Library, tmp_path: Path) -> None:
    result = add_pages(library, tmp_path / "blank.pdf", [""])
    assert result.status == "added"
    assert result.chunks == 0
    assert result.warning


@on_both
def test_removing_hides_at_once_restoring_brings_back_purging_erases(
    library: Library, home: Path, rules: Path
) -> None:
    add(library, Upload(rules))
    library.remove("Rules.pdf")
    assert texts(library) == []
    assert add(library, Upload(rules)) == {"Rules.pdf": "added"}
    assert len(texts(library)) == 1
    library.remove("Rules.pdf")
    library.sweep()
    library.restore("Rules.pdf")
    assert len(texts(library)) == 1
    library.remove("Rules.pdf")
    library.remove("Rules.pdf", purge=True)
    assert library.catalog.documents() == []
    assert passages(library) == 0
    assert not kept_pdfs(home)
    with pytest.raises(NotFoundError):
        library.restore("Rules.pdf")
    with pytest.raises(NotFoundError, match="Nothing.pdf"):
        library.remove("Nothing.pdf")


def test_keyword_search_is_ready_before_the_vectors_and_stopping_keeps_what_stands(
    library: Library, tmp_path: Path
) -> None:
    path = make_pdf(tmp_path / "Long.pdf", long_pages(100))
    read_now(library, [Upload(path)])
    library.resume_vectors(cancelled=lambda: library.catalog.documents()[0].embedded > 0)
    (row,) = library.catalog.documents()
    assert row.state == "embedding"
    assert row.chunks == library.indexes.keywords.count()
    assert 0 < row.embedded < row.chunks
    missing = row.chunks - row.embedded
    before = embedded(library)
    library.resume()
    assert states(library) == ["ready"]
    assert embedded(library) - before == missing


def test_another_embedder_makes_new_vectors_from_the_stored_text(rules: Path, tmp_path: Path) -> None:
    library = open_library(tmp_path, HashEmbedder(dimension=32))
    add(library, Upload(rules))
    library.close()
    other = open_library(tmp_path, HashEmbedder(dimension=16))
    (version,) = other.scope([])
    assert other.matrix(version).rows.shape == (0, 16)
    assert other.without_vectors()
    other.resume()
    assert other.matrix(version).rows.shape == (1, 16)
    assert other.without_vectors() == []
    other.close()


@pytest.mark.parametrize("folder", ["vectors", "keywords"])
def test_a_lost_index_is_made_anew_from_the_catalogue(
    library: Library, home: Path, rules: Path, folder: str
) -> None:
    add(library, Upload(rules))
    library.close()
    shutil.rmtree(home / "chroma_db" / folder)
    again = open_library(home)
    again.sweep()
    assert passages(again) == 1
    assert embedded(again) == 0
    (hit,) = again.indexes.keywords.search(["anchor"], 5)
    assert hit[:2] == (1, 0)
    again.close()


def test_a_second_owner_is_refused_with_the_holders_pid(library: Library, home: Path) -> None:
    with pytest.raises(StoreError, match=str(os.getpid())):
        open_library(home)


def long_pages(count: int) -> list[str]:
    """Pages of which each is a passage or more."""
    return [f"Page {number} speaks of the deficit ceiling. " * 20 for number in range(count)]


KILLED = """
import sys, time
from pathlib import Path
from chatbot.settings import Settings
from chatbot.store.addition_queue import add_files
from chatbot.store.library import Library, Upload
from tests.fakes import HashEmbedder
class Slow(HashEmbedder):
    def embed(self, texts, *, query=False):
        time.sleep(0.1)
        return super().embed(texts, query=query)
library = Library(Settings(home=Path(sys.argv[1]), database=sys.argv[3]), Slow())
def told(document, phase, done, total):
    print(phase, flush=True)
list(add_files(library, [Upload(Path(sys.argv[2]))], readers=2, progress=told))
"""


@on_both
@pytest.mark.parametrize("phase", ["reading", "embedding"])
def test_a_killed_addition_leaves_no_half_document(
    home: Path, tmp_path: Path, phase: str, root: Path
) -> None:
    path = make_pdf(tmp_path / "Long.pdf", long_pages(60))
    command = [sys.executable, "-c", KILLED, str(home), str(path), settings_at(home).database]
    environment = {**os.environ, "PYTHONPATH": "."}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment)
    assert child.stdout
    for line in child.stdout:
        if line.strip() == phase:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    time.sleep(0.1)
    library = open_library(home)
    library.resume()
    library.sweep()
    (row,) = library.catalog.documents()
    assert row.state == "ready"
    assert row.embedded == row.chunks
    assert library.indexes.vectors.count() == row.chunks
    library.close()


class FailingEmbedder(HashEmbedder):
    """An endpoint that is down."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Fails."""
        raise ModelError("The endpoint is down.", hint="Start it.")


def test_vectors_that_cannot_be_made_leave_every_document_found_by_its_words(
    home: Path, tmp_path: Path
) -> None:
    uploads = []
    for number, text in enumerate(FIRST + SECOND):
        path = make_pdf(tmp_path / f"{number}.pdf", [f"{text} Document {number}."])
        uploads.append(Upload(path))
    library = open_library(home, FailingEmbedder())
    results = add_now(library, uploads)
    for result in results:
        assert result.status == "added"
        assert "The endpoint is down. Start it." in (result.warning or "")
    assert states(library) == ["keyword"] * 2
    library.close()
    again = open_library(home)
    again.resume()
    assert states(again) == ["ready"] * 2
    again.close()


def test_a_document_the_user_removed_stays_removed_while_a_new_one_of_its_name_comes(
    library: Library, rules: Path
) -> None:
    read_now(library, [Upload(rules)])
    library.remove("Rules.pdf")
    make_pdf(rules, SECOND)
    (coming,) = read_now(library, [Upload(rules)])
    assert "two per cent" in texts(library)[0]
    library.discard(coming.version)
    library.resume()
    library.sweep()
    assert texts(library) == []
    library.restore("Rules.pdf")
    assert "three per cent" in texts(library)[0]


def test_the_last_addition_wins_while_a_replacement_is_pending(library: Library, tmp_path: Path) -> None:
    first = make_pdf(tmp_path / "a.pdf", FIRST)
    second = make_pdf(tmp_path / "b.pdf", SECOND)
    add(library, Upload(first, "Rules.pdf"))
    read_now(library, [Upload(second, "Rules.pdf")])
    (result,) = read_now(library, [Upload(first, "Rules.pdf")])
    assert result.status == "replaced"
    library.resume()
    assert "three per cent" in texts(library)[0]


def readings(data: bytes) -> Iterator[bytes]:
    """A file's bytes as they stand, as the text they may be in UTF-16, and as what zlib would unpack from
    any place of them.
    """
    yield data
    yield data.replace(b"\0", b"")
    for beginning in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        packed = data[beginning.start() :]
        with suppress(zlib.error):
            yield zlib.decompressobj().decompress(packed)


def holding(word: bytes, folder: Path) -> list[str]:
    """Names of the files under a folder in which a word can be read, in small letters or great."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = []
    for path in files:
        texts_of_it = readings(path.read_bytes())
        if any(word in text.lower() for text in texts_of_it):
            found.append(path.name)
    return found


def letters_in_chroma(word: str, library: Library) -> int:
    """How many rows Chroma's own index of letters still has for a word, whether their text is there or
    not.
    """
    library.indexes.vectors.close()
    trigrams = {word[at : at + 3] for at in range(len(word) - 2)}
    rows = 0
    with closing(sqlite3.connect(library.folder / "vectors" / "chroma.sqlite3")) as database:
        database.execute(
            "create virtual table temp.terms using fts5vocab(main, embedding_fulltext_search, row)"
        )
        for trigram in trigrams:
            found = database.execute("select count(*) from temp.terms where term = ?", (trigram,))
            rows += found.fetchone()[0]
    return rows


def test_what_was_purged_stands_in_no_file_of_the_store(library: Library, home: Path, tmp_path: Path) -> None:
    planted = [
        "The xylozygomorphic clause is three per cent of all output in the year.",
        "It is repeated: Xylozygomorphic clauses count.",
    ]
    uploads = []
    for number in range(9):
        pages = [f"Rule {number} is of output {line}." for line in range(9)]
        path = make_pdf(tmp_path / f"Rules {number}.pdf", pages)
        uploads.append(Upload(path))
    path = make_pdf(tmp_path / "Xylozygomorphic.pdf", planted)
    uploads.append(Upload(path))
    add(library, *uploads)
    there = holding(b"xylozygomorph", home)
    assert "chroma.sqlite3" in there
    assert any(name.startswith("catalog.sqlite3") for name in there)
    assert letters_in_chroma("xylozyg", library) == 5
    library.remove("Xylozygomorphic.pdf", purge=True)
    assert holding(b"xylozygomorph", home) == []
    assert letters_in_chroma("xylozyg", library) == 0
    words = library.indexes.keywords
    assert words.frequencies(["xylozygomorph"]) == {"xylozygomorph": 0}
    assert not words.has_deleted()
    assert passages(library) == 81
    assert library.indexes.differences() == []


def test_an_index_that_is_stopped_while_it_is_deleted_is_no_half_index(
    library: Library,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    add_pages(library, tmp_path / "Rules.pdf", ["The deficit ceiling."])

    class Stopped(BaseException):
        """As by a kill: nothing after it runs."""

    deleted = shutil.rmtree

    def half(folder: Path, *, ignore_errors: bool) -> None:
        if folder.exists():
            contents = set(folder.iterdir())
            for file in contents - {folder / "meta.json"}:
                file.unlink()
            raise Stopped
        deleted(folder, ignore_errors=ignore_errors)

    monkeypatch.setattr("chatbot.store.discarding.shutil.rmtree", half)
    with pytest.raises(Stopped):
        library.indexes._new_keywords(None)
    monkeypatch.undo()
    library.close()
    with caplog.at_level(logging.WARNING):
        again = open_library(home)
        again.resume()
    assert caplog.messages == []
    assert not list(again.folder.glob("*.discarded"))
    assert again.indexes.differences() == []
    assert again.indexes.keywords.count() == 1
    again.close()


def test_a_purge_that_another_program_holds_up_says_so_and_is_done_later(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_pages(library, tmp_path / "Rules.pdf", ["The xylozygomorphic clause is three per cent."])
    library.catalog.close()
    library.close()
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.1)
    again = open_library(home)
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
    for number in range(6):
        path = tmp_path / f"Rules {number}.pdf"
        add_pages(library, path, [f"Rule {number} is of the ceiling."])

    def hits() -> int:
        return len(library.indexes.keywords.search(["ceil"], 10))

    before, seen = hits(), list[int]()
    filled = Indexes._fill_keywords

    def watched(indexes: Indexes, keywords: WordIndex, **how: Any) -> None:
        filled(indexes, keywords, **how)
        seen.append(hits())

    monkeypatch.setattr(Indexes, "_fill_keywords", watched)
    library.remove("Rules 5.pdf", purge=True)
    assert before == 6
    assert min(seen) >= 5
    assert hits() == 5


def test_the_name_of_a_purged_document_goes_where_its_file_stays_under_another(
    library: Library, rules: Path
) -> None:
    add(library, Upload(rules, "Xylozygomorphic.pdf"), Upload(rules, "Twin.pdf"))
    library.remove("Xylozygomorphic.pdf", purge=True)
    (version,) = library.scope([])
    assert library.indexes.vectors.names([version]) == {version: "Twin.pdf"}
    assert holding(b"xylozygomorph", library.folder / "vectors") == []


def test_a_store_of_before_is_brought_up_to_date_without_making_a_vector(
    library: Library, home: Path, rules: Path
) -> None:
    """Its Chroma holds vectors alone, in a collection of another name; the catalogue says that all is
    well.
    """
    add(library, Upload(rules))
    fingerprint = library.embedder.fingerprint
    (version,) = library.scope([])
    vectors = library.folder / "vectors"
    library.indexes.vectors.close()
    shutil.rmtree(vectors)
    client = open_chroma(vectors)
    name, cosine = "chunks-" + "0" * 16, {"hnsw": {"space": "cosine"}}
    collection = client.create_collection(name, configuration=cosine, embedding_function=None)
    row = library.matrix(version).rows[:1]
    about = {"version": version, "ordinal": 0}
    collection.add(ids=[f"{version}:0:0"], embeddings=row, metadatas=[about])
    client.close()
    client.clear_system_cache()
    library.catalog.set_meta("vectors_aligned", fingerprint)
    library.close()

    class Idle(HashEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
            raise AssertionError("a vector is made")

    again = open_library(home, Idle())
    before = again.indexes.complete
    again.resume()
    assert before is False
    assert again.indexes.complete is True
    assert again.indexes.differences() == []
    assert again.indexes.vectors.names([version]) == {version: "Rules.pdf"}
    again.indexes.vectors.close()
    client = open_chroma(vectors)
    (found,) = client.list_collections()
    assert found.name == again.indexes.vectors.name
    client.close()
    client.clear_system_cache()
    again.close()


def test_switching_between_the_embedded_models_keeps_the_vectors_of_both(
    library: Library, rules: Path, tmp_path: Path
) -> None:
    """Going back makes none; those of an endpoint's model go."""
    library.close()
    first, second = LOCAL_FINGERPRINTS
    made = list[int]()
    for fingerprint in (first, second, "endpoint-64", first, second, "endpoint-64"):
        embedder = HashEmbedder()
        embedder.fingerprint = fingerprint
        switched = open_library(tmp_path / "both", embedder)
        if not made:
            add(switched, Upload(rules))
        switched.resume()
        (version,) = switched.scope([])
        assert len(switched.matrix(version).rows) == 1
        assert switched.indexes.vectors.count() == 1
        assert switched.without_vectors() == []
        assert switched.indexes.differences() == []
        made.append(embedder.calls)
        switched.close()
    assert made[3:] == [0, 0, 1]
    assert all(made[:3])


@on_both
def test_a_purge_that_was_interrupted_is_finished_later(library: Library, home: Path, rules: Path) -> None:
    add(library, Upload(rules))
    library.catalog.retire("Rules.pdf")
    assert library.catalog.documents() == []
    with pytest.raises(NotFoundError):
        library.restore("Rules.pdf")
    library.sweep()
    assert passages(library) == 0
    assert not kept_pdfs(home)


def test_files_that_are_not_the_librarys_are_never_deleted(home: Path, rules: Path, tmp_path: Path) -> None:
    library = open_library(home)
    add(library, Upload(rules))
    library.close()
    own = home / "documents" / f"{'x' * 64}.pdf"
    own.write_bytes(b"mine")
    for path in (home / "chroma_db").glob("catalog.sqlite3*"):
        path.unlink()
    again = open_library(home)
    add(again, Upload(make_pdf(tmp_path / "Other.pdf", SECOND)))
    again.sweep()
    again.close()
    assert len(kept_pdfs(home)) == 3


STEPS = ["begin", "fill", "searchable", "add_vectors", "ready"]


@on_both
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_process_that_ends_at_any_step_of_a_replacement_leaves_one_whole_document(
    home: Path, rules: Path, step: str, when: str
) -> None:
    """The step fails as a killed process would, leaving everything as it is; the store is then opened
    anew.
    """
    library = open_library(home)
    add(library, Upload(rules))
    make_pdf(rules, SECOND)
    whole = getattr(library.catalog, step)
    library.catalog.__dict__[step] = _ending(whole, when)
    with pytest.raises(KeyboardInterrupt):
        add_here(library, [Upload(rules)])
    calls = embedded(library)
    library.close()
    again = open_library(home)
    assert len(texts(again)) == 1
    again.resume()
    again.sweep()
    (text,) = texts(again)
    assert "two per cent" in text
    assert again.indexes.differences() == []
    assert again.catalog.waiting() == []
    once_more = (step, when) == ("add_vectors", "before")
    assert embedded(again) + calls == 2 + once_more
    assert len(kept_pdfs(home)) == 2
    again.close()


def _ending(call: Callable[..., object], when: str) -> Callable[..., object]:
    def ended(*arguments: object, **options: object) -> object:
        if when == "after":
            call(*arguments, **options)
        raise KeyboardInterrupt

    return ended


@on_both
def test_reading_again_keeps_what_is_on_its_way(library: Library, rules: Path, tmp_path: Path) -> None:
    add(library, Upload(rules), Upload(rules, "Twin.pdf"))
    replacement = make_pdf(tmp_path / "next.pdf", SECOND)
    read_now(library, [Upload(replacement, "Twin.pdf")])
    library.read_again("Rules.pdf")
    found = first_texts(library)
    assert "three per cent" in found["Rules.pdf"]
    assert "two per cent" in found["Twin.pdf"]


@on_both
def test_stopping_while_files_left_by_another_process_are_read_loses_none(
    library: Library, tmp_path: Path
) -> None:
    for number in range(4):
        name = f"{number}.pdf"
        path = make_pdf(tmp_path / name, [f"{FIRST[0]} Document {number}."])
        with path.open("rb") as file:
            library.adding.take(file, name)
    library.resume(cancelled=lambda: True)
    assert len(library.catalog.waiting()) == 4
    assert len(library.copies.all()) == 4
    library.resume()
    assert states(library) == ["ready"] * 4


@on_both
def test_a_removal_while_a_replacement_comes_can_be_undone_with_it(
    library: Library, rules: Path, tmp_path: Path
) -> None:
    add(library, Upload(rules))
    replacement = make_pdf(tmp_path / "next.pdf", SECOND)
    read_now(library, [Upload(replacement, "Rules.pdf")])
    library.remove("Rules.pdf")
    library.sweep()
    library.restore("Rules.pdf")
    library.resume()
    assert "two per cent" in texts(library)[0]


@on_both
def test_a_store_is_indexed_anew_when_the_language_learns_a_word(
    library: Library, home: Path, tmp_path: Path
) -> None:
    page = "Die Sitzung im Dezember 2024 endete mit einem Beschluss des Ausschusses."
    added = add_pages(library, tmp_path / "a.pdf", [page])
    assert added.status == "added", added
    (number,) = library.catalog.active(["a.pdf"])
    packed = library.catalog.lexicon(number)
    word = terms("Dezember")[0]
    assert library.terms(number).chunks.frequency(word)
    assert library.indexes.keywords.frequencies([word]) == {word: 1}
    unknown = [["dezemb"]]  # as before the word was known
    library.catalog.new_lexicon(number, pack_terms(unknown, unknown, []))
    library.indexes.keywords.add(number, unknown)
    library.catalog.set_meta("terms", "before")
    library.close()
    again = open_library(home)
    again.sweep()
    assert again.catalog.lexicon(number) == packed
    assert again.indexes.keywords.frequencies([word]) == {word: 1}
    assert again.indexes.keywords.frequencies(["dezemb"]) == {"dezemb": 0}
    again.close()


@on_both
def test_a_file_that_was_refused_does_not_come_back(
    tmp_path: Path, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_library(tmp_path / "home")) as library:
        add_here(library, [Upload(rules)])
        second = make_pdf(tmp_path / "Second.pdf", SECOND)
        with monkeypatch.context() as patch:
            patch.setattr(library.catalog, "wait", fail)
            for file in (second, rules):  # the copy of the latter was there before
                with pytest.raises(StoreError, match="gone"):
                    library.adding.take(file, "Rules.pdf")
        assert len(kept_pdfs(tmp_path / "home")) == 1
    with closing(open_library(tmp_path / "home")) as library:
        assert library.catalog.waiting() == []
        assert "three per cent" in first_texts(library)["Rules.pdf"]


def test_a_copy_from_before_the_latest_change_is_not_added(tmp_path: Path, rules: Path) -> None:
    with closing(open_library(tmp_path / "home")) as library:
        library.copies.take_file(make_pdf(tmp_path / "Second.pdf", SECOND), "Rules.pdf")
        add_here(library, [Upload(rules)])
    with closing(open_library(tmp_path / "home")) as library:
        assert library.catalog.waiting() == []
        library.remove("Rules.pdf")
        time.sleep(0.05)  # the clock of a file system has larger steps
        third = make_pdf(tmp_path / "Third.pdf", [*FIRST, *SECOND])
        digest = library.copies.take_file(third, "Rules.pdf")
    with closing(open_library(tmp_path / "home")) as library:
        assert [waiting.digest for waiting in library.catalog.waiting()] == [digest]


def fail(*_: object, **__: object) -> int:
    raise StoreError("The database is gone.")


def test_an_index_of_words_that_is_being_rebuilt_is_whole_at_any_kill(
    library: Library, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        add_pages(library, tmp_path / f"Rules{number}.pdf", [f"The deficit ceiling of {number}."])
    library.close()

    class Stopped(BaseException):
        """As by a kill: nothing after it runs."""

    moments = [
        ("chatbot.store.keyword_index.KeywordIndex.add", 2),
        ("chatbot.store.indexing.put_in_place", 1),
        ("pathlib.Path.rename", 2),
        ("chatbot.store.discarding.finish_discarding", 1),
    ]
    for place, times in moments:
        again = open_library(home)
        assert again.indexes.words_whole
        left = [times]
        done = pydoc.locate(place)
        assert callable(done)

        def counted(*given: object, done: Any = done, left: list[int] = left, **named: object) -> object:
            left[0] -= 1
            if not left[0]:
                raise Stopped
            return done(*given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(place, counted)
            with pytest.raises(Stopped):
                again.indexes._new_keywords(None)
        again.close()
        opened = open_library(home)
        assert opened.indexes.words_whole, place
        assert opened.indexes.keywords.count() == 3
        assert opened.indexes.differences() == []
        assert not list(opened.folder.glob("keywords.*")), "nothing is left of it"
        opened.close()


def test_a_store_without_all_its_words_is_not_ready_and_says_so(home: Path, tmp_path: Path) -> None:
    library = open_library(home)
    for number in range(3):
        add_pages(library, tmp_path / f"Rules{number}.pdf", [f"The deficit ceiling of {number}."])
    library.close()
    shutil.rmtree(home / "chroma_db" / "keywords")
    again = open_library(home)
    assert not again.indexes.words_whole
    told = pending_content(again, ())
    assert told is not None
    assert told.text == "Still building the index of words, so some pages may not be found."
    with closing(Additions(again)):
        end = time.monotonic() + 20
        while not again.indexes.words_whole and time.monotonic() < end:
            time.sleep(0.01)
    assert again.indexes.keywords.count() == 3
    assert pending_content(again, ()) is None
    again.close()
