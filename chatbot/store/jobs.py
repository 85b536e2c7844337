"""Defines what the addition of a file passes through, and keeps those under way in the catalogue.

    waiting          reading
    reading or ocr   the other of the two; embedding once its text is stored, done for bytes that are there
                     already; password; waiting to be read once more; failed, cancelled
    password         waiting; reading to be cancelled
    embedding        images if it lacks some; done, cancelled
    images           embedding for what they changed; cancelled

A queue of one process stores waiting, password and embedding, and begins again there at its next start. Where
servers share a store, every phase is stored, for all of them to see.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from statistics import mean
from typing import Any

from chatbot.store.damage import as_damage
from chatbot.store.database import Stored, Transaction
from chatbot.store.digests import digest_in

__all__ = [
    "FINISHED",
    "JOB_SCHEMA",
    "MOST_FINISHED",
    "NEXT",
    "OVER",
    "QUEUE",
    "SILENT_SECONDS",
    "STORED",
    "UNREAD",
    "UNREAD_ROWS",
    "WAITING_FILES",
    "AddResult",
    "Job",
    "Jobs",
    "Phase",
    "SharedJobs",
    "end_jobs",
    "end_stored",
    "time_left",
    "work_of",
]


class Phase(StrEnum):
    """The phase of an addition."""

    WAITING = "waiting"
    READING = "reading"
    OCR = "ocr"
    PASSWORD = "password"
    EMBEDDING = "embedding"
    IMAGES = "images"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({Phase.DONE, Phase.FAILED, Phase.CANCELLED})
# Those of a job whose document is stored; and those of one that can be undone completely.
STORED = frozenset({Phase.EMBEDDING, Phase.IMAGES})
UNREAD = frozenset({Phase.WAITING, Phase.READING, Phase.OCR})
# The share of a file's work that is done once its pages are read, once their vectors are made where images
# are read later, and once images are read, which in a file without other text is before the vectors. A page
# takes about half as long as its vectors, an image a second.
PAGES_READ, EMBEDDED, IMAGES_READ = 0.3, 0.75, 0.95
# Seconds of a queue before its time left is estimated: earlier, the first files have hardly begun.
ALL_SECONDS = 3.0
# The number of finished jobs that are remembered until they are cleared.
MOST_FINISHED = 200
READ_INTO = {Phase.EMBEDDING, Phase.PASSWORD, Phase.WAITING, *OVER}
NEXT: dict[Phase, set[Phase]] = {
    Phase.WAITING: {Phase.READING},
    Phase.READING: {Phase.OCR, *READ_INTO},
    Phase.OCR: {Phase.READING, *READ_INTO},
    Phase.PASSWORD: {Phase.WAITING, Phase.READING},
    Phase.EMBEDDING: {Phase.IMAGES, Phase.DONE, Phase.CANCELLED},
    Phase.IMAGES: {Phase.EMBEDDING, Phase.CANCELLED},
    **{phase: set() for phase in OVER},
}


@dataclass(frozen=True, slots=True)
class AddResult:
    """The outcome for one file.

    status: added | unchanged | replaced | failed, or completed for what an earlier process left.
    failed_pages: (page, reason), physical, 1-based.
    searchable_seconds: from when its turn came until keyword search found it.
    seconds: the same, and the making of its vectors.
    complete_seconds: from then until all of it was read, None if that was so before.
    attached: ids of the jobs for documents that it carried.
    needs_password: it failed because it opens only with a password.
    linked: its bytes were stored already, so nothing was read or stored.
    retryable: it may be added later as it is, for example after a full disk.
    lacks: whether images are still to be read.
    """

    document: str
    status: str
    id: str | None = None
    pages: int = 0
    chunks: int = 0
    ocr_pages: int = 0
    failed_pages: tuple[tuple[int, str], ...] = ()
    seconds: float = 0.0
    searchable_seconds: float | None = None
    error: str | None = None
    warning: str | None = None
    version: int = 0
    needs_password: bool = False
    linked: bool = False
    retryable: bool = False
    lacks: bool = False
    complete_seconds: float | None = None
    attached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A snapshot of one addition.

    id: unique, also across restarts.
    done, total: pages while reading, chunks while embedding.
    lacks: whether images are still to be read.
    seconds_left: of this phase, None if unknown.
    result: set once the document is read and therefore searchable by words.
    added_at: seconds since the epoch.
    problem: why it waits for its vectors or for the user.
    per_second: speed of this phase.
    again: whether a stored document is read again, although its bytes are known.
    languages: the codes of those in which its images are read, "" for those of the setting.
    size: bytes, 0 if not known.
    owner: who adds it, "" if that does not matter.
    digest: the SHA-256 of the file, whose copy is kept; "" for one that could not be taken.
    version: the stored version, 0 before it is stored.
    awaited: whether somebody waits for it: it is not forgotten, and it fails without its password.
    recovered: whether its copy was found without a document. As the only trace of a document it is not given
        up.
    left: whether an earlier process took it, so that its user may have no other copy at hand.
    password: for this reading only, never stored.
    """

    id: int
    name: str
    phase: Phase
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    result: AddResult | None = None
    added_at: float = 0.0
    problem: str | None = None
    cancelling: bool = False
    per_second: float | None = None
    again: bool = False
    size: int = 0
    lacks: bool = False
    owner: str = ""
    digest: str = ""
    version: int = 0
    awaited: bool = False
    recovered: bool = False
    left: bool = False
    languages: str = ""
    password: str | None = field(default=None, repr=False)

    @property
    def finished(self) -> bool:
        """Nothing will change any more."""
        return self.phase in OVER

    @property
    def busy(self) -> bool:
        """It continues by itself."""
        return not self.finished and self.phase != Phase.PASSWORD

    @property
    def share(self) -> float:
        """An estimate of the share of its work that is done, in [0, 1]. It never falls between phases."""
        scanned = self.result is not None and self.result.ocr_pages > 0
        begun, ended = {
            Phase.READING: (0.0, PAGES_READ),
            Phase.OCR: (PAGES_READ, IMAGES_READ),
            Phase.EMBEDDING: (IMAGES_READ if scanned else PAGES_READ, EMBEDDED if self.lacks else 1.0),
            Phase.IMAGES: (EMBEDDED, IMAGES_READ),
            Phase.DONE: (1.0, 1.0),
        }.get(self.phase, (0.0, 0.0))
        return begun + (ended - begun) * min(1.0, self.done / max(1, self.total))

    @property
    def settled(self) -> bool:
        """It is finished, or has a problem and nothing else left to do."""
        return self.finished or bool(self.problem and not self.lacks and self.phase != Phase.WAITING)

    @property
    def cancellable(self) -> bool:
        """It can still be undone completely. What an earlier process stored cannot."""
        return (
            not self.finished
            and not self.cancelling
            and (self.phase not in STORED or self.result is not None)
        )

    def goes_to(self, phase: Phase) -> bool:
        """Tells whether it may have that phase next."""
        return phase == self.phase or phase in NEXT[self.phase]


def _among(phases: Iterable[Phase]) -> str:
    return f"phase in ({', '.join(sorted(repr(phase.value) for phase in phases))})"


# Conditions of rows.
FINISHED, UNREAD_ROWS = _among(OVER), _among({*UNREAD, Phase.PASSWORD})
# The files that are needed although no version has them yet.
WAITING_FILES = f"select digest as sha256 from job where {UNREAD_ROWS}"
JOB_SCHEMA = """
create table job (id integer primary key autoincrement, name text not null, phase text not null,
    done integer not null default 0, total integer not null default 0, seconds_left real, result text,
    added_at real not null, problem text, cancelling integer not null default 0, per_second real,
    again integer not null default 0, size integer not null default 0, lacks integer not null default 0,
    owner text not null default '', digest text not null default '', version integer not null default 0,
    awaited integer not null default 0, recovered integer not null default 0,
    languages text not null default '');
create table stop (conversation text not null, owner text not null, asked_at real not null,
    primary key (conversation, owner));
"""
FIELDS = [one.name for one in fields(Job) if one.name not in {"left", "password"}]
COLUMNS = ", ".join(FIELDS)
FLAGS = {"cancelling", "again", "lacks", "awaited", "recovered"}


# The schema of the queue that hands jobs to workers.
QUEUE = "finpolicy_queue"
OF_THESE = "id = any(?::bigint[])"
# Seconds after which a worker that says nothing is taken for dead; and a finished job is nobody's any more
# who waited for it.
SILENT_SECONDS, AWAITED_SECONDS = 15, 86_400
ALIVE = (
    f"select 1 from {QUEUE}.procrastinate_workers where last_heartbeat > now() - interval "
    f"'{SILENT_SECONDS} seconds' limit 1"
)


class Jobs(Stored):
    """The additions under way. In a store that servers share, also the last finished ones."""

    def wait(self, name: str, digest: str, **details: Any) -> Job:
        """Notes that a file with a kept copy waits to be added, in a job of its own.

        details: other fields of the job, as of one that could not even be taken.
        """
        job = replace(Job(0, name, Phase.WAITING, digest=digest, added_at=time.time()), **details)
        with self.write() as connection:
            return replace(job, id=insert(connection, job))

    def under_way(self) -> list[Job]:
        """Returns all that are not finished, in the order they came, as a later process finds them."""
        return list(map(_left, self._jobs(f"where not {FINISHED}")))

    def waiting(self) -> list[Job]:
        """Returns those whose text is not stored, in the order they came, as a later process finds them."""
        return list(map(_left, self._jobs(f"where {UNREAD_ROWS}")))

    def left(self) -> Iterator[Job]:
        """Yields the same, each while no other process is at it; none begins to meanwhile."""
        for known in self.waiting():
            if self.database.claim(work_of(known.id)):
                try:
                    yield from map(_left, self._jobs(f"where id = ? and {UNREAD_ROWS}", (known.id,)))
                finally:
                    self.database.release(work_of(known.id))

    def end(self, job: int, phase: Phase, result: AddResult | None = None) -> None:
        """Notes that an addition is over. Its copy is deleted unless something else needs it."""
        with self.write() as connection:
            connection.execute(
                "insert into erased select digest from job where id = ? and digest != '' "
                "on conflict do nothing",
                (job,),
            )
            end_jobs(connection, "id = ?", job, phase, result, shared=self.database.shared)

    def end_complete(self, lacking: Container[int]) -> None:
        """Ends the jobs that nobody works at and whose versions are complete. lacking: those that are not."""
        for job in self.under_way():
            left = job.phase in STORED and job.version not in lacking and not job.cancelling
            if left and self.database.claim(work_of(job.id)):
                try:
                    self.end(job.id, Phase.DONE)
                finally:
                    self.database.release(work_of(job.id))

    def hold(self, job: int, problem: str) -> None:
        """Notes that an addition waits for something that the user must do."""
        phase = Phase.PASSWORD.value
        self.change("update job set phase = ?, problem = ? where id = ?", (phase, problem, job))

    def get(self, number: int) -> Job | None:
        """Returns one job, None if it was forgotten."""
        return next(iter(self._jobs("where id = ?", (number,))), None)

    def _jobs(self, which: str, arguments: Sequence[Any] = ()) -> list[Job]:
        return list(map(_job_in, self.read(f"select {COLUMNS} from job {which} order by id", arguments)))


class SharedJobs(Jobs):
    """The jobs of a store in a Postgres, in its catalogue."""

    def forget_old(self) -> None:
        """Forgets the oldest finished jobs."""
        self.change(
            f"delete from job where {FINISHED} and (awaited = 0 or added_at < ?) and id not in "
            f"(select id from job where {FINISHED} order by id desc limit ?)",
            (time.time() - AWAITED_SECONDS, MOST_FINISHED),
        )

    def add_left(self, job: Job) -> None:
        """Stores a job for a version that lacks something, unless there is one.

        A version that could not be completed is not tried again.
        """
        its_own = f"version = ?{'' if job.lacks else f' and not {FINISHED}'}"
        there = f"select 1 from job where {its_own} or (name = ? and not {FINISHED})"
        with self.write() as connection:
            if connection.execute(there, (job.version, job.name)).fetchone() is None:
                insert(connection, job)

    def all(self) -> list[Job]:
        """Returns all jobs in the order they were queued."""
        return self._jobs("")

    def workers(self) -> bool:
        """Tells whether any worker is alive."""
        return bool(self.read(ALIVE))

    # Each of these is one statement, which does not wait for whoever writes the catalogue just now.

    def note(self, job: Job) -> bool:
        """Stores how far a job is. Returns whether it is to be cancelled, as one is whose file was erased."""
        stopped = job.finished or job.phase == Phase.PASSWORD
        found = self.read(
            "update job set phase = ?1, done = ?, total = ?, seconds_left = ?, per_second = ?, problem = ?, "
            "lacks = ?, result = ?, version = ?, cancelling = case when ? = 1 then 0 else cancelling end "
            f"where id = ? and (phase = ?1 or not {FINISHED}) returning cancelling",
            (
                *(job.phase.value, job.done, job.total, job.seconds_left, job.per_second, job.problem),
                *(job.lacks, packed(job.result), job.version, stopped, job.id),
            ),
        )
        if found:
            return bool(found[0][0])
        return job.phase in UNREAD and self.get(job.id) is None  # what is stored is erased with its version

    def cancel(self, numbers: Collection[int]) -> None:
        """Asks whoever works at these jobs to stop, and undo what was done."""
        self.read(
            f"update job set cancelling = 1 where {OF_THESE} and not {FINISHED} returning id",
            (list(numbers),),
        )

    def unlock(self, number: int) -> None:
        """Lets a job go on that waited for its password."""
        self.read(
            "update job set phase = ?, problem = null, cancelling = 0 where id = ? and phase = ? "
            "returning id",
            (Phase.WAITING.value, number, Phase.PASSWORD.value),
        )

    def release(self, numbers: Collection[int]) -> None:
        """Says that nobody waits for these jobs any more."""
        self.read(f"update job set awaited = 0 where {OF_THESE} returning id", (list(numbers),))

    def clear(self, numbers: Collection[int]) -> None:
        """Forgets those of these jobs that are finished and not awaited."""
        self.read(
            f"delete from job where {OF_THESE} and awaited = 0 and {FINISHED} returning id", (list(numbers),)
        )

    def unqueued(self) -> list[Job]:
        """Returns the jobs that go on by themselves, but that the queue does not have."""
        return self._jobs(
            f"where not {FINISHED} and phase != '{Phase.PASSWORD.value}' and not exists (select 1 from "
            f"{QUEUE}.procrastinate_jobs q where q.status in ('todo', 'doing') "
            "and (q.args->>'number')::bigint = job.id)"
        )

    # --- answers that are stopped
    # ----------------------------------------------------------------------------------------

    def stop(self, conversation: str, owner: str) -> None:
        """Asks whichever server writes an answer in this conversation to stop."""
        now = time.time()
        self.read("delete from stop where asked_at < ? returning asked_at", (now - AWAITED_SECONDS,))
        self.read(
            "insert into stop values (?, ?, ?) on conflict (conversation, owner) "
            "do update set asked_at = excluded.asked_at returning asked_at",
            (conversation, owner, now),
        )

    def stopped(self, conversations: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns those of these (conversation, owner) that are to be stopped, once each."""
        wanted = "select * from unnest(?::text[], ?::text[])"
        pairs = tuple(map(list, zip(*conversations, strict=True)))
        if not self.read(f"select 1 from stop where (conversation, owner) in ({wanted}) limit 1", pairs):
            return set()
        gone = f"delete from stop where (conversation, owner) in ({wanted}) returning conversation, owner"
        return {(conversation, owner) for conversation, owner in self.read(gone, pairs)}


def work_of(job: int) -> str:
    """Returns the name of the work at a job, which the process at it claims."""
    return f"job {job}"


def insert(connection: Transaction, job: Job) -> int:
    """Stores a new job. Returns its id."""
    values = [packed(job.result) if name == "result" else getattr(job, name) for name in FIELDS[1:]]
    marks = ", ".join("?" * len(values))
    made = connection.execute(
        f"insert into job({', '.join(FIELDS[1:])}) values ({marks}) returning id",
        [value.value if isinstance(value, Phase) else value for value in values],
    )
    return int(made.fetchone()[0])


def end_jobs(
    connection: Transaction,
    which: str,
    number: int,
    phase: Phase,
    result: AddResult | None = None,
    *,
    shared: bool,
) -> None:
    """Ends jobs. Their rows go, unless other servers are to see what became of them.

    which: a condition with the number.
    """
    which = f"{which} and not {FINISHED}"
    if shared:
        connection.execute(
            "update job set phase = ?, result = coalesce(?, result), problem = null, cancelling = 0 "
            f"where {which}",
            (phase.value, packed(result), number),
        )
    else:
        connection.execute(f"delete from job where {which}", (number,))


def end_stored(connection: Transaction, version: int) -> None:
    """Ends the jobs of a version that has all its vectors, if all of it is read.

    Not for a store that servers share: there whoever works at a job ends it, and says what came of it.
    """
    which = f"version = ? and {_among(STORED)} and version not in (select version from incomplete)"
    end_jobs(connection, which, version, Phase.DONE, shared=False)


def time_left(jobs: Iterable[Job], seconds: float) -> float | None:
    """Estimates the seconds until these jobs are done, after `seconds` of them; None if unknown.

    Large files count for more.
    """
    counted = [
        job
        for job in jobs
        if job.phase not in {Phase.PASSWORD, Phase.FAILED, Phase.CANCELLED}
        and (job.result is None or not (job.result.linked or job.result.status == "unchanged"))
    ]
    known = [job.size for job in counted if job.size]
    sizes = [job.size or (mean(known) if known else 1) for job in counted]
    done = sum(size * job.share for size, job in zip(sizes, counted, strict=True))
    return seconds / done * (sum(sizes) - done) if seconds >= ALL_SECONDS and done > 0 else None


def packed(result: AddResult | None) -> str | None:
    """Returns a result as a row has it."""
    return None if result is None else json.dumps(asdict(result))


def _left(job: Job) -> Job:
    """A job as a later process finds it."""
    return replace(job, left=True, awaited=False)


def _job_in(row: Sequence[Any]) -> Job:
    with as_damage("A file that is being added"):
        found = dict(zip(FIELDS, row, strict=True))
        found |= {name: bool(found[name]) for name in FLAGS}
        found |= {"phase": Phase(found["phase"]), "digest": found["digest"] and digest_in(found["digest"])}
        if found["result"] is not None:
            result = AddResult(**json.loads(found["result"]))
            found["result"] = replace(
                result, failed_pages=tuple((page, why) for page, why in result.failed_pages)
            )
        return Job(**found)
