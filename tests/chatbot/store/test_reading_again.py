"""A document read again from its copy by the queue, the pace that is told of queues, and what a store
takes on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError, StoreError
from chatbot.settings import Settings
from chatbot.store.addition_queue import Additions, Job
from chatbot.store.disk_usage import document_space, store_space
from chatbot.store.doctor import glance
from chatbot.store.library import Library, Upload
from chatbot.store.progress_rate import Progress, all_left, share_done
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    path = make_pdf(
        tmp_path / "Rules.pdf",
        ["The deficit ceiling is three per cent.", "The debt anchor is sixty per cent."],
    )
    add_now(made, [Upload(path), Upload(path, "Copy.pdf")])
    yield made
    made.close()


@pytest.fixture
def additions(library: Library) -> Iterator[Additions]:
    made = Additions(library)
    yield made
    made.close()


def finished(additions: Additions, job: int, *, meanwhile: Callable[[], None] = lambda: None) -> Job:
    end = time.monotonic() + 30
    while True:
        found = next(one for one in additions.jobs() if one.id == job)
        if found.finished:
            return found
        assert time.monotonic() < end
        meanwhile()
        time.sleep(0.005)


def test_a_document_is_read_again_under_all_its_names_and_searched_meanwhile(
    library: Library, additions: Additions
) -> None:
    (before,) = library.scope(["Rules.pdf"])

    def searched() -> None:
        assert len(library.scope([])) == 1

    job = finished(additions, additions.read_again("Copy.pdf"), meanwhile=searched)
    assert job.again and job.result is not None
    assert (job.phase, job.result.pages, job.result.error) == ("done", 2, None)
    (now,) = library.scope([])
    assert now != before
    assert library.scope(["Rules.pdf"]).keys() == library.scope(["Copy.pdf"]).keys() == {now}
    assert [row.replaced_at for row in library.catalog.documents()] == [
        None,
        None,
    ]  # no other version, so nothing to undo
    library.sweep()
    assert [version.id for version in library.catalog.stored()] == [now]


def test_what_cannot_be_read_again_stays(library: Library, additions: Additions) -> None:
    with pytest.raises(NotFoundError):
        additions.read_again("Other.pdf")
    (version,) = library.scope([])
    path = library.file(version)
    kept = path.read_bytes()
    path.write_bytes(b"damaged")
    job = finished(additions, additions.read_again("Rules.pdf"))
    assert (job.phase, job.again) == ("failed", True)
    assert library.scope([]).keys() == {version}
    assert path.exists()
    path.unlink()
    assert [(finding.document, "missing" in finding.problem) for finding in glance(library)] == [
        ("Rules.pdf", True)
    ]
    with pytest.raises(NotFoundError, match="not kept"):
        additions.read_again("Rules.pdf")
    path.write_bytes(kept)
    library.catalog.restart_vectors(version, library.embedder.fingerprint)
    with pytest.raises(StoreError, match="being prepared"):
        library.take_again("Rules.pdf")


def test_a_glance_sees_an_index_that_lacks_passages(library: Library) -> None:
    assert glance(library) == []
    library.indexes.keywords.remove(list(library.scope([])))
    (finding,) = glance(library)
    assert finding.problem == "the index of words has 0 of 2 passages"


def test_space_is_told_of_one_document_and_of_all(library: Library, tmp_path: Path) -> None:
    (version,) = library.scope([])
    one, everything = document_space(library, version), store_space(library)
    assert one.copies == (tmp_path / "Rules.pdf").stat().st_size
    assert 0 < one.catalogue < everything.catalogue
    assert one.vectors > 0 and one.words > 0
    assert everything.copies >= one.copies
    assert (
        everything.total == everything.copies + everything.catalogue + everything.vectors + everything.words
    )
    assert everything.free > 0
    assert document_space(library, 999).total == 0


def test_the_share_that_is_done_never_falls() -> None:
    text = [("waiting", 0, 0), ("reading", 0, 9), ("reading", 9, 9)]
    staged = [
        *text,
        ("embedding", 0, 8),
        ("embedding", 8, 8),
        ("tables", 0, 9),
        ("tables", 9, 9),
        ("images", 0, 3),
        ("images", 3, 3),
    ]
    scanned = [*text, ("ocr", 0, 3), ("ocr", 3, 3)]
    for steps in (staged, scanned):
        last = [Progress(1, "embedding", at, 8, complete=True) for at in (0, 8)]
        shares = list(map(share_done, [*(Progress(1, *step) for step in steps), *last, Progress(1, "done")]))
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_the_time_left_for_all_counts_large_files_for_more() -> None:
    done, small, large = Progress(100, "done"), Progress(100, "waiting"), Progress(900, "waiting")
    assert all_left([done, small], 10.0) == pytest.approx(10)
    assert all_left([done, large], 10.0) == pytest.approx(90)
    assert all_left([done, Progress(0, "waiting")], 10.0) == pytest.approx(
        10
    )  # of unknown size: like the others
    assert all_left([small], 10.0) is None
    assert all_left([done, small], 1.0) is None
