"""Vectors: the next are made while some are written, and nothing is embedded twice."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.settings import Settings
from chatbot.store.catalog import SCHEMA_VERSION, Catalog
from chatbot.store.library import Library, Upload
from chatbot.store.missing_vectors import EARLY_BATCH, EMBED_BATCH, FIRST_BATCH, EarlyVectors, make_vectors
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now, read_now


class Watched(HashEmbedder):
    """Says when it is asked for its second batch."""

    def __init__(self) -> None:
        super().__init__()
        self.batches, self.second = 0, threading.Event()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.batches += 1
        if self.batches == 2:
            self.second.set()
        return super().embed(texts)


class Failing(HashEmbedder):
    """Gives one batch and fails from then on."""

    broken = True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.broken and self.calls:
            raise ModelError("The endpoint is gone.")
        return super().embed(texts)


def different(count: int) -> list[str]:
    """Pages that no two are alike."""
    return [
        f"Page {number} of the budget speaks of programme {number * 7} and of the deficit ceiling. " * 4
        for number in range(count)
    ]


def opened(home: Path, embedder: HashEmbedder) -> Library:
    return Library(Settings(home=home), embedder)


def test_the_next_vectors_are_made_while_the_first_are_not_used_yet(tmp_path: Path) -> None:
    embedder = Watched()
    library = opened(tmp_path / "home", embedder)
    read_now(library, [Upload(make_pdf(tmp_path / "Long.pdf", different(2 * EMBED_BATCH + 5)))])
    batches = make_vectors(
        library.catalog,
        embedder,
        library.without_vectors(),
        EarlyVectors(library.catalog, embedder),
        lambda: None,
    )
    first = next(batches)
    assert embedder.second.wait(10)
    rest = list(batches)
    assert [made.last for made in (first, *rest)] == [False] * (len(rest)) + [True]
    assert [ordinal for made in (first, *rest) for ordinal, *_ in made.rows] == list(
        range(2 * EMBED_BATCH + 5)
    )
    library.close()


def test_no_vectors_are_made_while_a_question_waits_for_tables(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    library = opened(tmp_path / "home", embedder)
    read_now(library, [Upload(make_pdf(tmp_path / "Long.pdf", different(EMBED_BATCH)))])
    version = library.without_vectors()[0].id
    before, asked, answered = embedder.calls, threading.Event(), threading.Event()

    def waits(phase: str, done: int, total: int) -> None:
        asked.set()
        answered.wait(10)

    question = threading.Thread(target=lambda: library.complete(version, images=False, progress=waits))
    question.start()
    assert asked.wait(10)
    vectors = threading.Thread(target=library.resume_vectors)
    vectors.start()
    vectors.join(0.5)
    assert embedder.calls == before
    answered.set()
    question.join(10)
    vectors.join(10)
    assert embedder.calls > before and not library.without_vectors()
    library.close()


def test_several_documents_follow_each_other_and_each_goes_live_with_its_last_vectors(tmp_path: Path) -> None:
    library = opened(tmp_path / "home", HashEmbedder())
    paths = [
        make_pdf(
            tmp_path / f"{name}.pdf", [f"{name} speaks of the deficit ceiling.", f"{name} speaks of debt."]
        )
        for name in ("First", "Second")
    ]
    read_now(library, [Upload(path) for path in paths])
    said: list[tuple[str, int, int]] = []
    library.resume_vectors(progress=lambda name, phase, done, total: said.append((name, done, total)))
    assert said == [("First.pdf", 2, 2), ("Second.pdf", 2, 2)]
    assert [row.state for row in library.catalog.documents()] == ["ready", "ready"]
    assert library.indexes.differences() == []
    library.close()


class Slow(HashEmbedder):
    """Lets nothing be stored before it has made a few vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.early = threading.Event()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        rows = super().embed(texts)
        if self.calls >= 2 * EARLY_BATCH:
            self.early.set()
        return rows


def store_alone(library: Library, monkeypatch: pytest.MonkeyPatch, path: Path, name: str = "") -> None:
    """Stored while nothing else is read or embedded, which takes until a few vectors are made."""
    fill, embedder = library.catalog.fill, library.embedder
    assert isinstance(embedder, Slow)

    def filled(*given: Any) -> None:
        assert embedder.early.wait(10)
        fill(*given)

    monkeypatch.setattr(library.catalog, "fill", filled)
    taken = library.adding.take(path, name or path.name)
    library.read_taken(taken, progress=lambda *_: None, cancelled=lambda: False, alone=lambda: True)


def test_the_first_vectors_are_made_while_the_document_is_stored_and_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Slow()
    library = opened(tmp_path / "home", embedder)
    pages = different(40)
    store_alone(library, monkeypatch, make_pdf(tmp_path / "first.pdf", [*pages, *pages[:7]]), "Budget.pdf")
    assert embedder.calls >= 2 * EARLY_BATCH
    library.resume_vectors()
    assert embedder.calls == 40
    direct = opened(tmp_path / "direct", HashEmbedder())
    add_now(direct, [Upload(tmp_path / "first.pdf", "Budget.pdf")])
    (one,), (other,) = library.scope([]), direct.scope([])
    assert np.array_equal(library.matrix(one).rows, direct.matrix(other).rows)
    direct.close()
    pages[30] = "This page was written anew and speaks of the interest rate and of nothing else at all."
    store_alone(library, monkeypatch, make_pdf(tmp_path / "second.pdf", pages), "Budget.pdf")
    library.resume_vectors()
    assert embedder.calls == 41
    assert library.indexes.differences() == []
    library.close()


def test_vectors_that_fail_early_are_made_later(tmp_path: Path) -> None:
    embedder = Failing()
    embedder.calls = 1
    library = opened(tmp_path / "home", embedder)
    taken = library.adding.take(make_pdf(tmp_path / "Long.pdf", different(30)), "Long.pdf")
    library.read_taken(taken, progress=lambda *_: None, cancelled=lambda: False, alone=lambda: True)
    with pytest.raises(ModelError, match="endpoint is gone"):
        library.resume_vectors()
    embedder.broken = False
    library.resume_vectors()
    assert embedder.calls == 1 + 30
    assert [row.state for row in library.catalog.documents()] == ["ready"]
    library.close()


def test_equal_pages_are_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    library = opened(tmp_path / "home", embedder)
    page = "This page is left blank so that the next chapter begins on a right-hand page of the report."
    (added,) = add_now(library, [Upload(make_pdf(tmp_path / "Form.pdf", [page] * (3 * EMBED_BATCH)))])
    assert added.chunks == 3 * EMBED_BATCH
    assert embedder.calls == 1
    (version,) = library.scope([])
    assert len(np.unique(library.matrix(version).rows, axis=0)) == 1
    assert len(library.matrix(version).rows) == added.chunks == library.indexes.vectors.count()
    library.close()


def test_a_new_edition_embeds_only_what_is_new(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    library = opened(tmp_path / "home", embedder)
    pages = different(80)
    add_now(library, [Upload(make_pdf(tmp_path / "first.pdf", pages), "Budget.pdf")])
    before, (first,) = embedder.calls, library.scope([])
    old = library.matrix(first).rows
    pages[40] = "This page was written anew and speaks of the interest rate and of nothing else at all."
    (result,) = add_now(library, [Upload(make_pdf(tmp_path / "second.pdf", pages), "Budget.pdf")])
    assert (result.status, result.chunks) == ("replaced", 80)
    assert embedder.calls - before == 1
    (second,) = library.scope([])
    same = np.all(library.matrix(second).rows == old, axis=1)
    assert np.flatnonzero(~same).tolist() == [40]
    library.close()


def test_what_was_made_before_an_endpoint_failed_is_kept(tmp_path: Path) -> None:
    embedder = Failing()
    library = opened(tmp_path / "home", embedder)
    read_now(library, [Upload(make_pdf(tmp_path / "Long.pdf", different(EMBED_BATCH + 10)))])
    with pytest.raises(ModelError, match="endpoint is gone"):
        library.resume_vectors()
    assert [row.embedded for row in library.catalog.documents()] == [FIRST_BATCH]
    embedder.broken = False
    library.resume_vectors()
    assert embedder.calls == EMBED_BATCH + 10
    assert [(row.state, row.embedded) for row in library.catalog.documents()] == [("ready", EMBED_BATCH + 10)]
    library.close()


def test_going_back_to_an_embedder_keeps_the_vectors_that_stand(tmp_path: Path) -> None:
    home = tmp_path / "home"
    library = opened(home, HashEmbedder(dimension=32))
    add_now(library, [Upload(make_pdf(tmp_path / "Rules.pdf", different(3)))])
    library.close()
    other = opened(home, Failing(dimension=16))
    other.embedder.calls = 1  # type: ignore[attr-defined]
    with pytest.raises(ModelError):
        other.resume_vectors()
    other.close()
    back = opened(home, HashEmbedder(dimension=32))
    back.resume_vectors()
    assert back.embedder.calls == 0  # type: ignore[attr-defined]
    assert [row.state for row in back.catalog.documents()] == ["ready"]
    back.close()


def test_a_store_of_the_version_before_is_opened_and_embeds_what_it_lacks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    library = opened(home, HashEmbedder())
    add_now(library, [Upload(make_pdf(tmp_path / "Rules.pdf", different(3)))])
    library.close()
    path = home / "chroma_db" / "catalog.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript("drop table chunk_key; pragma user_version = 5;")
    connection.close()
    read = Catalog(path, read_only=True)
    assert len(read.documents()) == 1
    assert read.vectors_of([b"key"], "any") == {}
    read.close()
    again = opened(home, HashEmbedder())
    add_now(again, [Upload(make_pdf(tmp_path / "Other.pdf", different(4)))])
    assert [row.state for row in again.catalog.documents()] == ["ready", "ready"]
    again.remove("Rules.pdf", purge=True)
    again.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()
