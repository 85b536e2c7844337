"""Keeps the additions of servers that share a Postgres in its rows, so that each of them shows them all."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from chatbot.store.addition_queue import MOST_FINISHED, Job
from chatbot.store.database import Schema, Served, Stored, Transaction, open_database
from chatbot.store.digests import digest_in
from chatbot.store.version_building import AddResult, Taken

__all__ = ["JOBS", "QUEUE", "JobRow", "JobRows"]

# The schema of the queue that hands jobs to workers.
QUEUE = "finpolicy_queue"
# Seconds since the epoch by the database's clock. Those of servers may differ.
NOW = "extract(epoch from clock_timestamp())::double precision"
# waiting: its row in the catalogue, 0 for none. abandoned: see Taken.left.
TABLES = """
create table job (id integer primary key autoincrement, name text not null, sha256 text not null,
    waiting integer not null, version integer not null, owner text not null, phase text not null,
    done integer not null default 0, total integer not null default 0, seconds_left real, per_second real,
    problem text, cancelling integer not null default 0, again integer not null default 0,
    size integer not null default 0, lacks integer not null default 0, result text,
    awaited integer not null default 0, abandoned integer not null default 0,
    added_at real not null, changed_at real not null);
create index job_waiting on job(waiting);
create index job_version on job(version);
create table stop (conversation text not null, owner text not null, asked_at real not null,
    primary key (conversation, owner));
"""
JOBS = Schema(TABLES, 1)
COLUMNS = (
    "id, name, sha256, waiting, version, owner, phase, done, total, seconds_left, per_second, problem, "
    "cancelling, again, size, lacks, result, awaited, abandoned, added_at"
)
OF_THESE = "id = any(?::bigint[])"
FINISHED = "phase in ('done', 'failed', 'cancelled')"
# Seconds after which a worker that says nothing is taken for dead; and a finished job is nobody's any more
# who waited for it.
SILENT_SECONDS, AWAITED_SECONDS = 15, 86_400
ALIVE = (
    f"select 1 from {QUEUE}.procrastinate_workers where last_heartbeat > now() - interval "
    f"'{SILENT_SECONDS} seconds' limit 1"
)


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job with what its next worker must know.

    taken: the file. Its waiting is 0 for a stored version that lacks something.
    version: the stored version, 0 before it is stored.
    awaited: as of a task of the queue.
    """

    job: Job
    taken: Taken
    version: int
    awaited: bool


class JobRows(Stored):
    """The jobs of a store."""

    def __init__(self, address: str) -> None:
        """Raises StoreError if the database cannot be used or is of another version."""
        super().__init__(open_database(Served(address, "jobs"), JOBS))

    def add(self, row: JobRow) -> int:
        """Stores a new job, and returns its id. Forgets the oldest finished ones."""
        with self._write() as connection:
            number = _insert(connection, row)
            connection.execute(
                f"delete from job where {FINISHED} and (awaited = 0 or changed_at < {NOW} - ?) and id not in "
                f"(select id from job where {FINISHED} order by id desc limit ?)",
                (AWAITED_SECONDS, MOST_FINISHED),
            )
            return number

    def add_left(self, row: JobRow) -> int:
        """Stores a job for what nobody works at any more; 0 if there is one."""
        with self._write() as connection:
            there: str
            which: tuple[int | str, ...]
            if row.taken.waiting:
                there, which = "waiting = ?", (row.taken.waiting,)
            elif row.job.lacks:  # a version that could not be completed is not tried again
                there, which = f"version = ? or (name = ? and not {FINISHED})", (row.version, row.job.name)
            else:
                there, which = f"(version = ? or name = ?) and not {FINISHED}", (row.version, row.job.name)
            found = connection.execute(f"select 1 from job where {there}", which).fetchone()
            return 0 if found else _insert(connection, row)

    def get(self, number: int) -> JobRow | None:
        """Returns one job, None if it was forgotten."""
        return next(iter(self._rows("where id = ?", (number,))), None)

    def all(self) -> list[JobRow]:
        """Returns all jobs in the order they were queued."""
        return self._rows("")

    def _rows(self, which: str, arguments: Sequence[Any] = ()) -> list[JobRow]:
        return list(map(_row, self._read(f"select {COLUMNS} from job {which} order by id", arguments)))

    def workers(self) -> bool:
        """Tells whether any worker is alive."""
        return bool(self._read(ALIVE))

    def now(self) -> float:
        """Returns the database's time, in seconds since the epoch."""
        return float(self._read(f"select {NOW}")[0][0])

    def note(self, job: Job, version: int) -> bool:
        """Stores how far a job is. Returns whether it is to be cancelled."""
        with self._write() as connection:
            found = connection.execute(
                "update job set phase = ?, done = ?, total = ?, seconds_left = ?, per_second = ?, "
                "problem = ?, lacks = ?, result = ?, version = ?, cancelling = case when ? = 1 then 0 else "
                f"cancelling end, changed_at = {NOW} where id = ? returning cancelling",
                (
                    *(job.phase, job.done, job.total, job.seconds_left, job.per_second, job.problem),
                    *(job.lacks, _packed(job.result), version, job.finished or job.phase == "password"),
                    job.id,
                ),
            ).fetchone()
            return bool(found and found[0])

    def cancel(self, numbers: Collection[int]) -> None:
        """Asks whoever works at these jobs to stop, and undo what was done."""
        self._change(f"update job set cancelling = 1 where {OF_THESE} and not {FINISHED}", (list(numbers),))

    def settle(self, number: int, phase: str) -> bool:
        """Gives a job that nobody works at this phase. Returns False if it is finished."""
        return bool(
            self._change(
                f"update job set phase = ?, problem = null, cancelling = 0, changed_at = {NOW} where id = ? "
                f"and not {FINISHED}",
                (phase, number),
            )
        )

    def release(self, numbers: Collection[int]) -> None:
        """Says that nobody waits for these jobs any more."""
        self._change(f"update job set awaited = 0 where {OF_THESE}", (list(numbers),))

    def clear(self, numbers: Collection[int]) -> None:
        """Forgets those of these jobs that are finished and not awaited."""
        self._change(f"delete from job where {OF_THESE} and awaited = 0 and {FINISHED}", (list(numbers),))

    def unqueued(self) -> list[JobRow]:
        """Returns the jobs that go on by themselves, but that the queue does not have."""
        return self._rows(
            f"where not {FINISHED} and phase != 'password' and not exists (select 1 from "
            f"{QUEUE}.procrastinate_jobs q where q.status in ('todo', 'doing') "
            "and (q.args->>'number')::bigint = job.id)"
        )

    # --- answers that are stopped
    # ----------------------------------------------------------------------------------------

    def stop(self, conversation: str, owner: str) -> None:
        """Asks whichever server writes an answer in this conversation to stop."""
        with self._write() as connection:
            connection.execute(f"delete from stop where asked_at < {NOW} - ?", (AWAITED_SECONDS,))
            connection.execute(
                f"insert into stop values (?, ?, {NOW}) on conflict (conversation, owner) "
                "do update set asked_at = excluded.asked_at",
                (conversation, owner),
            )

    def stopped(self, conversations: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those of these (conversation, owner) that are to be stopped, once each."""
        wanted = "select * from unnest(?::text[], ?::text[])"
        pairs = tuple(map(list, zip(*conversations, strict=True)))
        if not self._read(f"select 1 from stop where (conversation, owner) in ({wanted}) limit 1", pairs):
            return set()
        with self._write() as connection:
            gone = connection.execute(
                f"delete from stop where (conversation, owner) in ({wanted}) returning conversation, owner",
                pairs,
            )
            return {(conversation, owner) for conversation, owner in gone.fetchall()}


def _insert(connection: Transaction, row: JobRow) -> int:
    job, taken = row.job, row.taken
    made = connection.execute(
        "insert into job(name, sha256, waiting, version, owner, phase, problem, again, size, lacks, "
        "result, awaited, abandoned, added_at, changed_at) values "
        f"(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {NOW}, {NOW}) returning id",
        (
            *(job.name, taken.digest, taken.waiting, row.version, job.owner, job.phase, job.problem),
            *(job.again, job.size, job.lacks, _packed(job.result), row.awaited, taken.left),
        ),
    )
    return int(made.fetchone()[0])


def _packed(result: AddResult | None) -> str | None:
    return None if result is None else json.dumps(asdict(result))


def _result(text: str | None) -> AddResult | None:
    if text is None:
        return None
    fields = json.loads(text)
    return replace(AddResult(**fields), failed_pages=tuple(map(tuple, fields["failed_pages"])))


def _row(row: Sequence[Any]) -> JobRow:
    number, name, digest, waiting, version, owner, phase, done, total, seconds, speed, problem, *rest = row
    *flags, size, lacks, result, awaited, abandoned, added_at = rest
    cancelling, again = map(bool, flags)
    found = _result(result)
    state = (number, name, phase, done, total, seconds, found, added_at, problem, cancelling, speed, again)
    job = Job(*state, size, bool(lacks), owner)
    taken = Taken(name, digest_in(digest), waiting, again=again, left=bool(abandoned))
    return JobRow(job, taken, version, bool(awaited))
