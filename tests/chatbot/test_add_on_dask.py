"""`add --dask`: a cluster reads, and what is stored is what a reading here stores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import CancelledError, StoreError
from chatbot.store.cluster_reading import Cluster
from chatbot.store.contents import StoredChunk
from chatbot.store.library import Library, Upload
from ingestion.document import Circumstances
from tests import commands
from tests.chatbot.store.libraries import open_library
from tests.pdfs import make_pdf
from tests.stores import RULES, add_now


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a cluster with one worker, in a process of its own."""
    from distributed import LocalCluster

    made: Any = LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None)
    with made as cluster:
        yield cluster.scheduler_address


def unnumbered(library: Library, version: int) -> list[StoredChunk]:
    return [replace(chunk, version=0) for chunk in library.catalog.chunks(version)]


def test_a_cluster_reads_what_is_read_here(tmp_path: Path, scheduler: str) -> None:
    files = [make_pdf(tmp_path / name, pages) for name, pages in (("A.pdf", RULES), ("B.pdf", RULES[:1]))]
    kept = []
    for cluster in (None, Cluster(scheduler)):
        library = open_library(tmp_path / ("here" if cluster is None else "there"))
        if cluster is not None:
            assert cluster.places == 2
            library.adding.elsewhere = cluster.read
        results = add_now(library, list(map(Upload, files)))
        assert [(result.status, result.error) for result in results] == [("added", None)] * 2
        # Two are read at once, and which is stored first is left open.
        kept.append([unnumbered(library, row.id) for row in library.catalog.stored()])
        library.close()
        if cluster is not None:
            cluster.close()
    assert sorted(kept[0], key=len) == sorted(kept[1], key=len)


def test_errors_and_passwords_pass_through_the_cluster(tmp_path: Path, scheduler: str) -> None:
    locked = make_pdf(tmp_path / "Locked.pdf", RULES, user_password="sesame")
    broken = tmp_path / "Broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing")
    library, cluster = open_library(tmp_path / "home"), Cluster(scheduler)
    library.adding.elsewhere = cluster.read
    results = add_now(library, [Upload(locked), Upload(broken), Upload(locked, "Open.pdf", "sesame")])
    assert [result.status for result in results] == ["failed", "failed", "added"]
    assert results[0].needs_password
    assert results[1].error
    with pytest.raises(CancelledError):
        cluster.read(locked, Circumstances(cancelled=lambda: True))
    cluster.close()
    library.close()


def test_the_command_uses_the_cluster(tmp_path: Path, scheduler: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    done = commands.run(tmp_path / "home", "add", "--dask", scheduler, file, "--json")
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout)
    assert (line["document"], line["status"], line["pages"]) == ("Rules.pdf", "added", 2)


def test_an_unreachable_scheduler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.store.cluster_reading.CONNECT_SECONDS", 0.5)
    with pytest.raises(StoreError, match="The Dask scheduler at tcp://127.0.0.1:1 cannot be reached"):
        Cluster("tcp://127.0.0.1:1")
