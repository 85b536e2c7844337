"""Lets servers and workers that share a store see and change each other's additions, and stop answers."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from chatbot.store.jobs import FINISHED, MOST_FINISHED, UNREAD, Job, Jobs, Phase, insert, packed

__all__ = ["QUEUE", "SILENT_SECONDS", "SharedJobs"]

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

    def get(self, number: int) -> Job | None:
        """Returns one job, None if it was forgotten."""
        return next(iter(self._jobs("where id = ?", (number,))), None)

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
