"""A document read again from its copy by the queue, the pace that is told of queues, and what a store
takes on the disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import NotFoundError, StoreError
from chatbot.store.addition_queue import Additions
from chatbot.store.disk_usage import document_space, store_space
from chatbot.store.doctor import glance
from chatbot.store.jobs import AddResult, Job, Phase
from chatbot.store.library import Library, Upload
from tests.chatbot.store.libraries import open_library
from tests.pdfs import make_pdf
from tests.stores import add_now


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    made = open_library(home)
    pages = ["The deficit ceiling is three per cent.", "The debt anchor is sixty per cent."]
    path = make_pdf(tmp_path / "Rules.pdf", pages)
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

    number = additions.read_again("Copy.pdf")
    job = finished(additions, number, meanwhile=searched)
    assert job.again
    assert job.result is not None
    assert job.phase == "done"
    assert job.result.pages == 2
    assert job.result.error is None
    (now,) = library.scope([])
    assert now != before
    for name in ("Rules.pdf", "Copy.pdf"):
        assert library.scope([name]).keys() == {now}
    rows = library.catalog.documents()
    # No other version, so nothing to undo.
    assert [row.replaced_at for row in rows] == [None, None]
    library.sweep()
    (stored,) = library.catalog.stored()
    assert stored.id == now


def test_what_cannot_be_read_again_stays(library: Library, additions: Additions) -> None:
    with pytest.raises(NotFoundError):
        additions.read_again("Other.pdf")
    (version,) = library.scope([])
    path = library.file(version)
    kept = path.read_bytes()
    path.write_bytes(b"damaged")
    number = additions.read_again("Rules.pdf")
    job = finished(additions, number)
    assert job.phase == "failed"
    assert job.again is True
    assert library.scope([]).keys() == {version}
    assert path.exists()
    path.unlink()
    (finding,) = glance(library)
    assert finding.document == "Rules.pdf"
    assert "missing" in finding.problem
    with pytest.raises(NotFoundError, match="no longer kept"):
        additions.read_again("Rules.pdf")
    path.write_bytes(kept)
    library.catalog.restart_vectors(version, library.embedder.fingerprint)
    with pytest.raises(StoreError, match="still being indexed"):
        library.take_again("Rules.pdf")


def test_a_glance_sees_an_index_that_lacks_passages(library: Library) -> None:
    assert glance(library) == []
    library.indexes.keywords.remove(list(library.scope([])))
    (finding,) = glance(library)
    assert finding.problem == "the keyword index has 0 of 2 passages"


def test_space_is_told_of_one_document_and_of_all(library: Library, tmp_path: Path) -> None:
    (version,) = library.scope([])
    one = document_space(library, version)
    everything = store_space(library)
    assert one.copies == (tmp_path / "Rules.pdf").stat().st_size
    assert 0 < one.catalogue < everything.catalogue
    assert one.vectors > 0
    assert one.words > 0
    assert everything.copies >= one.copies
    indexes = everything.vectors + everything.words
    assert everything.total == everything.copies + everything.catalogue + indexes
    assert everything.free > 0
    assert document_space(library, 999).total == 0


# What is counted in each phase, in order.
WHOLE = {Phase.READING: 9, Phase.EMBEDDING: 8}
LATER = {Phase.READING: 9, Phase.EMBEDDING: 8, Phase.IMAGES: 3}
SCANNED = {Phase.READING: 9, Phase.OCR: 3}
READ = AddResult("A.pdf", "added", ocr_pages=3)


def job_at(phase: Phase, done: int = 0, total: int = 0, **more: Any) -> Job:
    return Job(1, "A.pdf", phase, done, total, **more)


@pytest.mark.parametrize("phases", [WHOLE, LATER, SCANNED], ids=["whole", "images later", "scanned"])
def test_the_share_that_is_done_never_falls(phases: Mapping[Phase, int]) -> None:
    steps = [job_at(Phase.WAITING)]
    for phase, total in phases.items():
        steps += [job_at(phase, done, total, lacks=phases is LATER) for done in (0, total)]
    if phases is not WHOLE:
        steps += [job_at(Phase.EMBEDDING, done, 8, result=READ) for done in (0, 8)]
    steps.append(job_at(Phase.DONE))
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
