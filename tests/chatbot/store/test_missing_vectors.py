"""Vectors: the next are made while some are written, and nothing is embedded twice."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.store.library import Library, Upload
from chatbot.store.missing_vectors import (
    EARLY_BATCH,
    EMBED_BATCH,
    FIRST_BATCH,
    EarlyVectors,
    in_turns,
    make_vectors,
)
from tests.chatbot.store.libraries import add_pages, open_library, states
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now, read_now

pytestmark = pytest.mark.usefixtures("engine")


class Failing(HashEmbedder):
    """Gives one batch and fails from then on."""

    broken = True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if self.broken and self.calls:
            raise ModelError("The endpoint is gone.")
        return super().embed(texts)


WRITTEN_ANEW = "This page was written anew and speaks of the interest rate and of nothing else at all."


def different(count: int, name: str = "") -> list[str]:
    """Pages that no two are alike, nor those of two names."""
    return [
        f"{name} Page {number} of the budget speaks of item {number * 7} and of the deficit ceiling. " * 4
        for number in range(count)
    ]


def long_pdf(folder: Path, count: int) -> Path:
    """Long.pdf, of so many pages."""
    return make_pdf(folder / "Long.pdf", different(count))


def test_several_documents_follow_each_other_and_each_goes_live_with_its_last_vectors(
    home: Path, tmp_path: Path
) -> None:
    library = open_library(home)
    uploads = []
    for name in ("First", "Second"):
        pages = [f"{name} speaks of the deficit ceiling.", f"{name} speaks of debt."]
        path = make_pdf(tmp_path / f"{name}.pdf", pages)
        uploads.append(Upload(path))
    read_now(library, uploads)
    said: list[tuple[str, int, int]] = []

    def say(name: str, phase: str, done: int, total: int) -> None:
        said.append((name, done, total))

    library.resume_vectors(progress=say)
    assert said == [("First.pdf", 2, 2), ("Second.pdf", 2, 2)]
    assert states(library) == ["ready", "ready"]
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


def vectors_of(library: Library) -> NDArray[np.float32]:
    """Those of its one document."""
    (version,) = library.scope([])
    return library.matrix(version).rows


def store_alone(library: Library, monkeypatch: pytest.MonkeyPatch, path: Path, name: str = "") -> None:
    """Stored while nothing else is read or embedded, which takes until a few vectors are made."""
    fill, embedder = library.catalog.fill, library.embedder
    assert isinstance(embedder, Slow)

    def filled(*given: Any) -> None:
        assert embedder.early.wait(10)
        fill(*given)

    monkeypatch.setattr(library.catalog, "fill", filled)
    read_alone(library, path, name or path.name)


def read_alone(library: Library, path: Path, name: str) -> None:
    taken = library.adding.take(path, name)
    library.read_taken(taken, progress=lambda *_: None, cancelled=lambda: False, alone=lambda: True)


def test_the_first_vectors_are_made_while_the_document_is_stored_and_none_twice(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Slow()
    library = open_library(home, embedder)
    pages = different(40)
    path = make_pdf(tmp_path / "first.pdf", [*pages, *pages[:7]])
    store_alone(library, monkeypatch, path, "Budget.pdf")
    assert embedder.calls >= 2 * EARLY_BATCH
    library.resume_vectors()
    assert embedder.calls == 40
    direct = open_library(tmp_path / "direct")
    add_now(direct, [Upload(path, "Budget.pdf")])
    assert np.array_equal(vectors_of(library), vectors_of(direct))
    direct.close()
    pages[30] = WRITTEN_ANEW
    path = make_pdf(tmp_path / "second.pdf", pages)
    store_alone(library, monkeypatch, path, "Budget.pdf")
    library.resume_vectors()
    assert embedder.calls == 41
    assert library.indexes.differences() == []
    library.close()


def test_vectors_that_fail_early_are_made_later(home: Path, tmp_path: Path) -> None:
    embedder = Failing()
    embedder.calls = 1
    library = open_library(home, embedder)
    path = long_pdf(tmp_path, 30)
    read_alone(library, path, "Long.pdf")
    with pytest.raises(ModelError, match="endpoint is gone"):
        library.resume_vectors()
    embedder.broken = False
    library.resume_vectors()
    assert embedder.calls == 1 + 30
    assert states(library) == ["ready"]
    library.close()


def test_equal_pages_are_embedded_once(home: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    library = open_library(home, embedder)
    page = "This page is left blank so that the next chapter begins on a right-hand page of the report."
    count = 3 * EMBED_BATCH
    added = add_pages(library, tmp_path / "Form.pdf", [page] * count)
    assert added.chunks == count
    assert embedder.calls == 1
    rows = vectors_of(library)
    assert len(np.unique(rows, axis=0)) == 1
    assert len(rows) == count
    assert library.indexes.vectors.count() == count
    library.close()


def test_a_new_edition_embeds_only_what_is_new(home: Path, tmp_path: Path) -> None:
    embedder = HashEmbedder()
    library = open_library(home, embedder)
    pages = different(80)
    add_pages(library, tmp_path / "first.pdf", pages, "Budget.pdf")
    before = embedder.calls
    old = vectors_of(library)
    pages[40] = WRITTEN_ANEW
    result = add_pages(library, tmp_path / "second.pdf", pages, "Budget.pdf")
    assert result.status == "replaced"
    assert result.chunks == 80
    assert embedder.calls - before == 1
    same = np.all(vectors_of(library) == old, axis=1)
    (changed,) = np.flatnonzero(~same)
    assert changed == 40
    library.close()


def test_what_was_made_before_an_endpoint_failed_is_kept(home: Path, tmp_path: Path) -> None:
    embedder = Failing()
    library = open_library(home, embedder)
    count = EMBED_BATCH + 10
    read_now(library, [Upload(long_pdf(tmp_path, count))])
    with pytest.raises(ModelError, match="endpoint is gone"):
        library.resume_vectors()
    (row,) = library.catalog.documents()
    assert row.embedded == FIRST_BATCH
    embedder.broken = False
    library.resume_vectors()
    assert embedder.calls == count
    (row,) = library.catalog.documents()
    assert row.state == "ready"
    assert row.embedded == count
    library.close()


def test_the_shortest_gets_its_vectors_first_and_owners_take_turns(home: Path, tmp_path: Path) -> None:
    library = open_library(home)
    owners = dict[int, str]()
    for name, owner, count in [("L", "eve", 200), ("M", "eve", 90), ("S", "ann", 80), ("T", "ann", 3)]:
        path = make_pdf(tmp_path / f"{name}.pdf", different(count, name))
        read_now(library, [Upload(path)])
        (version,) = {row.id for row in library.without_vectors()} - owners.keys()
        owners[version] = owner
    names = {row.id: row.document[0] for row in library.without_vectors()}
    turns = in_turns(library.without_vectors(), owners.__getitem__)
    assert "".join(names[version.id] for version in turns) == "TMSL"
    early = EarlyVectors(library.catalog, library.embedder)
    batches = make_vectors(library.catalog, library.embedder, turns, early, owners.__getitem__)
    made = "".join(names[batch.version.id] for batch in batches)
    assert made.index("T") <= 1, "beside a longer one of another owner"
    assert made.index("S") < made.rindex("M") < made.rindex("L"), "nobody waits for all of another"
    library.close()
