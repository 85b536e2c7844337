"""Additions of servers that share a Postgres: any worker reads, every server shows, cancels and undoes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from chatbot.store.addition_queue import NewFile
from chatbot.store.job_queue import JobQueue
from chatbot.store.jobs import QUEUE
from tests.embedded_postgres import EmbeddedServer
from tests.pdfs import make_pdf
from tests.shared_servers import machine, until
from tests.stores import RULES


def change(address: str, statement: str, *arguments: object) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"set search_path to {QUEUE}".encode())
        connection.execute(statement.encode(), arguments)


def end_connections(address: str) -> None:
    """As when Postgres is restarted."""
    change(
        address,
        "select pg_terminate_backend(pid) from pg_stat_activity where pid != pg_backend_pid()"
        " and starts_with(application_name, 'finpolicy')",
    )


def test_a_worker_reads_what_a_server_takes(tmp_path: Path, served: str) -> None:
    with (
        machine(tmp_path, served, "server", works=False) as server,
        machine(tmp_path, served, "worker"),
        machine(tmp_path, served, "other", works=False) as other,
    ):
        file = make_pdf(tmp_path / "Rules.pdf", RULES)
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file, owner="me")])
        job = other.done(number)
        assert (job.phase, job.owner, job.problem) == ("done", "me", None), str(job.result)
        assert job.result is not None
        assert (job.result.status, job.result.pages, job.result.lacks) == ("added", 2, False)
        (version,) = other.library.scope([])
        assert other.library.catalog.version(version).state == "ready"  # type: ignore[union-attr]
        assert not other.library.incomplete()
        other.additions.clear_finished({number})
        until(lambda: server.additions.jobs() == ())
        (again,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        assert server.done(again).result.status == "unchanged"  # type: ignore[union-attr]
        third = server.additions.read_again("Rules.pdf")
        assert server.done(third).again
        assert len(server.library.scope([])) == 1


def test_without_a_worker_a_file_says_so_and_can_be_cancelled_anywhere(tmp_path: Path, served: str) -> None:
    with (
        machine(tmp_path, served, "server", works=False) as server,
        machine(tmp_path, served, "other", works=False) as other,
    ):
        file = make_pdf(tmp_path / "Rules.pdf", RULES)
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        job = other.job(number)
        assert job.phase == "waiting"
        assert job.problem is not None
        assert job.problem.startswith("Waiting for a worker. Start one: ")
        assert not job.settled
        other.additions.cancel(number)
        assert server.done(number).phase == "cancelled"
        assert server.library.catalog.waiting() == []
        assert list((tmp_path / "documents").glob("*.pdf")) == []


def test_what_is_finished_without_the_queue_is_done_for_every_server(tmp_path: Path, served: str) -> None:
    with machine(tmp_path, served, "server", works=False) as server:
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", make_pdf(tmp_path / "Rules.pdf", RULES))])
        assert [result.status for result in server.library.resume()] == ["added"]
        job = server.done(number)
        assert (job.phase, job.problem) == ("done", None)
        assert server.library.catalog.under_way() == []
        assert len(list((tmp_path / "documents").glob("*.pdf"))) == 1


def test_two_servers_that_add_the_same_bytes_store_one_version(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "first") as first, machine(tmp_path, served, "second") as second:
        numbers = [
            *first.additions.enqueue([NewFile("Rules.pdf", file)]),
            *second.additions.enqueue([NewFile("Same.pdf", file)]),
            *first.additions.enqueue([NewFile("Again.pdf", file)]),
        ]
        assert {first.done(number).phase for number in numbers} == {"done"}
        assert len(first.library.catalog.stored()) == 1
        assert len(first.library.catalog.names()) == 3


def test_a_password_stays_in_the_server_that_got_it(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Secret.pdf", RULES, user_password="opensesame1")
    with (
        machine(tmp_path, served, "server", works=False) as server,
        machine(tmp_path, served, "worker") as worker,
    ):
        (number,) = server.additions.enqueue([NewFile("Secret.pdf", file)])
        until(lambda: server.job(number).phase == "password")
        assert worker.job(number).problem
        server.additions.unlock(number, "opensesame1")
        assert server.done(number).phase == "done"
        (known,) = server.additions.enqueue(
            [
                NewFile(
                    "Other.pdf",
                    make_pdf(tmp_path / "Other.pdf", RULES[:1], user_password="opensesame2"),
                    password="opensesame2",
                )
            ]
        )
        assert server.done(known).phase == "done"
    with psycopg.connect(served) as connection:
        for schema, table in (("finpolicy_catalog", "job"), (QUEUE, "procrastinate_jobs")):
            rows = connection.execute(f"select t::text from {schema}.{table} t".encode()).fetchall()
            assert "opensesame" not in str(rows)


@pytest.mark.parametrize("again", [False, True], ids=["only there", "queued again"])
def test_what_a_dead_worker_had_is_taken_up(tmp_path: Path, served: str, *, again: bool) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "server", works=False) as server:
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        change(
            served,
            f"insert into {QUEUE}.procrastinate_workers (last_heartbeat) values (now() - interval '1 h')",
        )
        change(
            served,
            f"update {QUEUE}.procrastinate_jobs set status = 'doing', "
            f"worker_id = (select max(id) from {QUEUE}.procrastinate_workers) "
            f"where id = (select min(id) from {QUEUE}.procrastinate_jobs)",
        )
        change(served, "update finpolicy_catalog.job set phase = 'reading', done = 1, total = 2")
        if again:
            with closing(JobQueue(served)) as queue:
                queue.put(number, "read", "Rules.pdf")
        with machine(tmp_path, served, "worker"):
            assert server.done(number).result.status == "added"  # type: ignore[union-attr]


def test_a_job_is_queued_once_however_many_find_that_it_is_not(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with (
        machine(tmp_path, served, "server", works=False) as server,
        closing(JobQueue(served)) as one,
        closing(JobQueue(served)) as other,
        psycopg.connect(served, autocommit=True) as connection,
    ):
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        change(served, "delete from procrastinate_jobs")  # as if the queue had lost it
        with ThreadPoolExecutor(8) as pool:
            put = [pool.submit(queue.put, number, "read", "Rules.pdf") for queue in (one, other) * 4]
            for done in put:
                done.result()
        count = f"select count(*) from {QUEUE}.procrastinate_jobs where (args->>'number')::bigint = %s"
        assert connection.execute(count.encode(), [number]).fetchall() == [(1,)]


def test_a_text_that_a_dead_worker_stored_is_not_read_twice(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "server", works=False) as server:
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        row = server.additions.stops.get(number)
        assert row is not None
        server.library.read_taken(row, progress=lambda *_: None, cancelled=lambda: False)
        with machine(tmp_path, served, "worker"):
            job = server.done(number)
        assert job.result is not None
        assert (job.phase, job.result.status, job.result.pages) == ("done", "completed", 2)
        assert len(server.library.catalog.stored()) == 1


def test_erasing_leaves_no_name_among_the_jobs(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "server") as server:
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        server.done(number)
        server.additions.erase("Rules.pdf")
        until(lambda: not server.additions.erasing())
        assert server.additions.stops.all() == []


def test_what_nobody_has_a_job_for_gets_one(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "server", works=False) as server:
        taken = server.library.adding.take(file, "Rules.pdf")
        server.library.read_taken(taken, progress=lambda *_: None, cancelled=lambda: False)
        server.library.adding.take(make_pdf(tmp_path / "Left.pdf", RULES[:1]), "Left.pdf")
    with machine(tmp_path, served, "other") as other:
        until(lambda: {job.phase for job in other.additions.jobs()} == {"done"})
        assert [row.state for row in other.library.catalog.documents()] == ["ready", "ready"]
        assert not other.library.incomplete()


def test_a_worker_of_an_older_version_stops(tmp_path: Path, served: str) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "worker") as worker:
        change(served, "update finpolicy_catalog.finpolicy_store set version = version + 1")
        (number,) = worker.additions.enqueue([NewFile("Rules.pdf", file)])
        assert worker.additions.ended.wait(10)
        assert "Update the program" in str(worker.additions.problem)
        assert worker.job(number).phase == "waiting"
    change(served, "update finpolicy_catalog.finpolicy_store set version = version - 1")
    with machine(tmp_path, served, "newer") as newer:
        assert newer.done(number).phase == "done"


def test_a_worker_that_closes_hands_back_what_it_was_at(
    tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_pdf(tmp_path / "Rules.pdf", RULES)
    with machine(tmp_path, served, "server", works=False) as server:
        with machine(tmp_path, served, "worker") as worker:
            monkeypatch.setattr(worker.library.adding, "read", _reads_for_long)
            (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
            until(lambda: server.job(number).phase == "reading")
            # An hour ahead of the database: what is handed back waits for no clock.
            monkeypatch.setattr("procrastinate.utils.utcnow", _in_an_hour)
        with machine(tmp_path, served, "another"):
            assert server.done(number).phase == "done"


def _reads_for_long(*_: object, cancelled: object, **__: object) -> object:
    from chatbot.errors import CancelledError

    assert callable(cancelled)
    while not cancelled():
        time.sleep(0.05)
    raise CancelledError("Cancelled.")


def _in_an_hour() -> object:
    from datetime import UTC, datetime, timedelta

    return datetime.now(UTC) + timedelta(hours=1)


@pytest.mark.long
def test_a_database_that_goes_away_again_and_again_loses_nothing(tmp_path: Path, served: str) -> None:
    files = [
        NewFile(f"{number}.pdf", make_pdf(tmp_path / f"{number}.pdf", [*RULES * 10, f"Volume {number}."]))
        for number in range(6)
    ]
    with (
        machine(tmp_path, served, "server", works=False) as server,
        machine(tmp_path, served, "worker"),
        machine(tmp_path, served, "other"),
    ):
        numbers = server.additions.enqueue(files)
        for _ in range(6):
            time.sleep(0.25)
            end_connections(served)
        for number in numbers:
            job = server.done(number, 60)
            assert job.phase == "done", job.result and job.result.error
        assert sorted(server.library.catalog.names()) == [file.name for file in files]
        # What was stored just when its worker lost the database is completed by whoever finds it so.
        end = time.monotonic() + 30
        while server.library.incomplete() and time.monotonic() < end:
            time.sleep(0.2)
        assert not server.library.incomplete()
        assert [row.state for row in server.library.catalog.stored()] == ["ready"] * 6
        assert server.library.catalog.waiting() == []
        assert server.library.indexes.keywords.counts() == server.library.catalog.chunk_counts()


def test_a_worker_that_does_not_see_the_copies_says_so(tmp_path: Path, served: str) -> None:
    with (
        machine(tmp_path, served, "server", works=False) as server,
        machine(tmp_path / "elsewhere", served, "worker"),
    ):
        file = make_pdf(tmp_path / "Rules.pdf", RULES)
        (number,) = server.additions.enqueue([NewFile("Rules.pdf", file)])
        result = server.done(number).result
    assert result is not None
    error = result.error or ""
    assert error.startswith(f"The kept copy of the file is not in {tmp_path}/elsewhere/documents. Add")
    assert "FINPOLICY_FILES" in error


def test_processes_that_start_together_make_the_queue_once(server: EmbeddedServer) -> None:
    address, together = server.address(), threading.Barrier(6)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("create database together")
    empty = address.replace("dbname=postgres", "dbname=together")
    assert empty != address

    def start(_: int) -> None:
        together.wait()
        JobQueue(empty).close()

    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(start, range(6)))
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("drop database together with (force)")
