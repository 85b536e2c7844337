"""The command `worker` as a process: it reads for servers, ends when told to, and may be killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chatbot.models.embedders import make_embedder
from chatbot.settings import Settings
from chatbot.store.addition_queue import NewFile
from tests import commands, forkserver
from tests.pdfs import make_pdf
from tests.shared_servers import Machine, machine, until
from tests.stores import RULES

ROOT = Path(__file__).resolve().parent.parent.parent
ENDED = 130


def test_a_worker_needs_a_database(tmp_path: Path) -> None:
    done = commands.run(tmp_path / "home", "worker")
    assert done.returncode == 2
    assert "Set FINPOLICY_DATABASE_URL" in done.stderr


@contextmanager
def worker(folder: Path, database: str, name: str) -> Iterator[forkserver.Process]:
    """A running one with a home of its own, which sees the copies in `folder`."""
    home = folder / name
    home.mkdir()
    (home / "documents").symlink_to(folder / "documents")
    environment = {"FINPOLICY_HOME": str(home), "FINPOLICY_DATABASE_URL": database}
    with (folder / f"{name}.log").open("wb") as said, Path(os.devnull).open("rb") as nothing:
        process = forkserver.start(
            ["-m", "chatbot", "worker"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=nothing,
            stdout=said,
            stderr=said,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)


@contextmanager
def server(folder: Path, database: str) -> Iterator[Machine]:
    """One that leaves all reading to workers, in this process."""
    embedder = make_embedder(Settings(home=folder))
    with machine(folder, database, "server", works=False, embedder=embedder) as opened:
        yield opened


def test_a_worker_reads_and_ends_when_it_is_told(tmp_path: Path, served: str) -> None:
    with server(tmp_path, served) as here, worker(tmp_path, served, "worker") as process:
        (number,) = here.additions.enqueue([NewFile("Rules.pdf", make_pdf(tmp_path / "a.pdf", RULES))])
        job = here.done(number)
        assert (job.phase, job.problem) == ("done", None)
        assert here.library.catalog.find("Rules.pdf").state == "ready"  # type: ignore[union-attr]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == ENDED
        assert "Working." in (tmp_path / "worker.log").read_text()
        assert "Traceback" not in (tmp_path / "worker.log").read_text()
        until(lambda: not here.additions.stops.workers(), 5)


def test_a_worker_with_another_embedder_stops(tmp_path: Path, served: str) -> None:
    with machine(tmp_path, served, "server", works=False):
        done = commands.run(tmp_path / "worker", "worker", FINPOLICY_DATABASE_URL=served)
        assert done.returncode == 3
        assert "Give all servers and workers the same FINPOLICY_EMBEDDING_MODEL." in done.stderr


@pytest.mark.long
def test_a_killed_worker_loses_nothing(tmp_path: Path, served: str) -> None:
    pages = [f"{page} Chapter {number}." for number in range(40) for page in RULES]
    files = [
        NewFile(f"{name}.pdf", make_pdf(tmp_path / f"{name}.pdf", [*pages, f"Volume {name}."]))
        for name in range(4)
    ]
    with (
        server(tmp_path, served) as here,
        worker(tmp_path, served, "first") as first,
        worker(tmp_path, served, "second"),
    ):
        numbers = here.additions.enqueue(files)
        until(lambda: any(here.job(number).phase == "embedding" for number in numbers))
        first.kill()
        for number in numbers:
            until(lambda number=number: here.job(number).finished, 90)  # type: ignore[misc]
            assert here.job(number).phase == "done"
        assert sorted(here.library.catalog.names()) == sorted(file.name for file in files)
        stored = here.library.catalog.stored()
        assert [(row.state, row.lacks) for row in stored] == [("ready", "")] * 4
        assert here.library.catalog.waiting() == []
        words = here.library.indexes.keywords.counts()
        assert words == here.library.catalog.chunk_counts()


def test_a_command_reads_through_the_queue(tmp_path: Path, served: str) -> None:
    (tmp_path / "documents").mkdir()
    home = tmp_path / "command"
    home.mkdir()
    (home / "documents").symlink_to(tmp_path / "documents")
    paths = [make_pdf(tmp_path / name, RULES) for name in ("One.pdf", "Two.pdf")]
    done = commands.run(home, "add", *paths, "--json", FINPOLICY_DATABASE_URL=served)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["document"] for line in lines] == ["One.pdf", "Two.pdf"]
    assert {line["status"] for line in lines} == {"added"}
    with server(tmp_path, served) as here:
        assert sorted(job.name for job in here.additions.jobs()) == ["One.pdf", "Two.pdf"]
        assert sorted(here.library.catalog.names()) == ["One.pdf", "Two.pdf"]
        assert len(here.library.catalog.stored()) == 1
