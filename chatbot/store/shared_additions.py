"""The queue of additions of servers and workers that share a Postgres.

The jobs are rows that all of them see. Whoever is handed one works at it with its embedded queue, up to the
next step, which may be done elsewhere.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Collection, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from chatbot.errors import CancelledError, StoreError
from chatbot.settings import PROGRAM
from chatbot.store.addition_queue import Additions, QueuedFile
from chatbot.store.database import NewerStoreError
from chatbot.store.job_queue import JobQueue
from chatbot.store.jobs import UNREAD, Job, Phase, time_left
from chatbot.store.library import Library
from chatbot.store.shared_jobs import SharedJobs

__all__ = ["EMBEDDER", "SharedAdditions"]

log = logging.getLogger(__name__)
# The steps of an addition, each a queue of its own, with the phases in it. So texts are read before vectors
# are made, and a long scan holds nobody up.
READ, VECTORS, REST = "read", "vectors", "rest"
STEPS = {READ: UNREAD | {Phase.PASSWORD}, VECTORS: {Phase.EMBEDDING}, REST: {Phase.IMAGES}}
# How many documents a process makes vectors of, or reads further, at once, with those that take long; and how
# many files it takes beside those that it reads, to begin them while these take long.
AT_ONCE = {VECTORS: 6, REST: 6}
MOST_BESIDE = 3
# Seconds between two notes of a job's progress; between two looks at all jobs, however many pages ask;
# between two looks at a job that another process works at; and between two looks for what nobody works at.
NOTE_SECONDS, SHOWN_SECONDS, ELSEWHERE_SECONDS, LEFT_SECONDS = 0.3, 0.2, 0.5, 5.0
# How often a file is read once more because a server went away meanwhile.
MOST_TRIES = 20
# Key of a value in the catalogue: by which embedder vectors are made.
EMBEDDER = "embedder"
NO_WORKER = f"Waiting for a worker. Start one: {PROGRAM} worker"


class OtherEmbedderError(StoreError):
    """Another process makes other vectors of the same documents."""


class SharedAdditions(Additions):
    """The additions of all processes that share the store, and this one's part in them.

    ended: set when this process works no more, as `problem` says.
    """

    @property
    def stops(self) -> SharedJobs:
        """Where servers tell each other which answers to stop."""
        return self._rows

    def __init__(self, library: Library, queue: JobQueue, *, readers: int, works: bool) -> None:
        """Starts the threads. works: whether this process works at jobs, or leaves them to others.

        Raises StoreError if it makes other vectors than are wanted.
        """
        self._library = library
        self._check()
        self._rows, self._jobs = SharedJobs(library.catalog.database), queue
        self._shown: tuple[float, tuple[Job, ...]] = (0.0, ())
        self._tries = Counter[int]()
        self._left, self.ended = threading.Event(), threading.Event()
        self.problem: StoreError | None = None
        super().__init__(library, readers=readers, older=False)
        self._looking = threading.Thread(target=self._look_after, name="additions-left", daemon=True)
        self._looking.start()
        if works:
            queue.work(self._attend_queued, {READ: readers + MOST_BESIDE, **AT_ONCE})

    # --- what the pages call
    # ----------------------------------------------------------------------------------------------------

    def seconds_left(self) -> float | None:
        """Estimates the seconds until everything queued is done; None if unknown."""
        jobs = self.jobs()
        busy = [job for job in jobs if job.busy]
        if not busy:
            return None
        worked = time.time() - busy[0].added_at
        return time_left([job for job in jobs if job.id >= busy[0].id], worked)

    def ping(self) -> None:
        """Asks the queue whether anybody works at it. Raises StoreError if nobody does."""
        if not self._rows.workers():
            raise StoreError(NO_WORKER)

    def jobs(self) -> tuple[Job, ...]:
        """Returns all jobs as they stand, in the order they were queued; while the database is away, as they
        were.
        """
        asked, jobs = self._shown
        if time.monotonic() - asked < SHOWN_SECONDS:
            return jobs
        with suppress(StoreError):
            jobs = tuple(self._rows.all())
            if any(job.phase == Phase.WAITING for job in jobs) and not self._rows.workers():
                jobs = tuple(
                    replace(job, problem=NO_WORKER) if job.phase == Phase.WAITING else job for job in jobs
                )
        self._shown = (time.monotonic(), jobs)
        return jobs

    def unlock(self, job: int, password: str) -> None:
        """Tries a file again that waits for its password, in this process."""
        self._rows.unlock(job)
        self._forget_shown()
        self._attend_aside(job, password)

    def wake(self) -> None:
        """Looks for missing vectors again, after a document was restored."""
        super().wake()
        self._left.set()

    def cancel(self, job: int) -> None:
        """Stops a job, whoever works at it, and undoes what was done."""
        self._cancel_all([job])

    def clear_finished(self, jobs: Container[int]) -> None:
        """Forgets those of these jobs that are finished."""
        self._rows.clear([job.id for job in self.jobs() if job.id in jobs])
        self._forget_shown()

    def release(self, jobs: Collection[int]) -> None:
        """Says that nobody waits for these jobs any more, and cancels those that are not read yet."""
        self._rows.release(jobs)
        self._forget_shown()
        self._cancel_all([job.id for job in self.jobs() if job.id in jobs and job.phase in UNREAD])

    def erase(self, name: str) -> list[Path]:
        """Gives a document up beyond restoring; see Additions."""
        self._cancel_all([job.id for job in self.jobs() if job.name == name and not job.finished])
        return super().erase(name)

    def close(self) -> None:
        """Stops after the page or batch in progress. Other processes go on with what is left."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._left.set()
        self._jobs.stop()
        self._looking.join()  # it queues jobs
        self._jobs.close()
        super().close()
        self.ended.set()

    # --- handing jobs out
    # ----------------------------------------------------------------------------------------------------

    def _queue(self, task: QueuedFile) -> int:
        """Gives a file that was taken here to whoever reads it; one that was not only has its row.

        A file that comes with a password is read by this process: nothing that is stored has the password.
        """
        job = task.job
        if job.finished:
            details = {"phase": job.phase, "result": job.result, "owner": job.owner, "awaited": job.awaited}
            job = self._rows.wait(job.name, "", **details)
        elif task.password is not None:
            self._attend_aside(job.id, task.password)
        else:
            self._put(job)
        self._rows.forget_old()
        self._forget_shown()
        return job.id

    def _cancel_all(self, numbers: Collection[int]) -> None:
        if not numbers:
            return
        self._rows.cancel(numbers)
        self._forget_shown()
        for number in numbers:
            self._attend_aside(number)

    def _forget_shown(self) -> None:
        self._shown = (0.0, self._shown[1])

    def _look_after(self) -> None:
        """Makes jobs, now and then, of what nobody works at, and queues those that the queue has lost."""
        while not self._closing:
            try:
                self._check()
                self._find_left()
            except StoreError as error:
                log.warning("Looking for unfinished additions: %s", error)
            self._left.wait(LEFT_SECONDS)
            self._left.clear()

    def _find_left(self) -> None:
        # Asked first: what is stored meanwhile has a job already.
        lacking = self._library.without_vectors()
        incomplete = self._library.incomplete()
        for versions, phase in ((incomplete, Phase.IMAGES), (lacking, Phase.EMBEDDING)):
            for version in versions:
                self._rows.add_left(self._job(version, phase, lacks=versions is incomplete))
        for job in self._rows.unqueued():
            self._put(job)
        self._begin_older(self._rows.all())

    def _put(self, job: Job) -> None:
        """Queues the next step of a job."""
        step = _step_of(job.phase)
        self._jobs.put(job.id, step, job.name if step == READ else None)

    # --- working at jobs
    # ----------------------------------------------------------------------------------------------------

    def _attend_queued(self, number: int, step: str) -> None:
        """Works at a job that the queue hands to this process. Raises what hands it back."""
        try:
            self._check()
        except (NewerStoreError, OtherEmbedderError) as error:
            if self.problem is None:
                log.warning("Documents are not read here any more: %s", error)
            self.problem = error
            self._jobs.stop()
            self.ended.set()
            raise
        job = self._rows.get(number)
        if job is not None and _step_of(job.phase) == step:
            self._attend(job)

    def _check(self) -> None:
        """Raises StoreError if this process must not work at this store."""
        self._library.catalog.database.check_version()
        wanted = self._library.catalog.meta(EMBEDDER)
        if wanted not in (None, self._library.embedder.fingerprint):
            raise OtherEmbedderError(
                "The server that was started last has another embedding model than this one.",
                hint="Give all servers and workers the same FINPOLICY_EMBEDDING_MODEL.",
            )

    def _attend_aside(self, number: int, password: str | None = None) -> None:
        """Works at a job in a thread, if nobody works at it: to cancel it, or with its password."""
        threading.Thread(
            target=self._attend_if_free, args=(number, password), name="additions-aside", daemon=True
        ).start()

    def _attend_if_free(self, number: int, password: str | None) -> None:
        try:
            job = self._rows.get(number)
            if job is not None and (password is not None or job.cancelling):
                self._attend(job, password, wait=False)
        except CancelledError:
            pass
        except StoreError as error:  # another worker goes on with it
            log.warning("An addition could not be gone on with here: %s", error)

    def _attend(self, job: Job, password: str | None = None, *, wait: bool = True) -> None:
        """Works at a job up to its next step, unless another process does; then waits for that."""
        with self._alone(job, wait=wait) as alone:
            step = _step_of(job.phase)
            found = self._rows.get(job.id) if alone else None
            # It may have got further until now.
            if found is None or found.finished or _step_of(found.phase) != step:
                return
            if found.phase == Phase.PASSWORD and not found.cancelling:
                return
            task = self._begin(found, step, password)
            try:
                self._follow(task)
            finally:
                with self._changed:
                    self._tasks.remove(task)
                self._tries.pop(job.id, None)
            if task.job.busy:
                self._put(task.job)

    @contextmanager
    def _alone(self, job: Job, *, wait: bool) -> Iterator[bool]:
        """Keeps a job from other threads and processes. Yields False if one of them has it and need not be
        waited for.
        """
        while not self._rows.database.claim(job.work):
            if not wait:
                yield False
                return
            if self._closing:
                raise CancelledError("Stopped.")
            time.sleep(ELSEWHERE_SECONDS)
        try:
            yield True
        finally:
            self._rows.database.release(job.work)

    def _begin(self, found: Job, step: str, password: str | None) -> QueuedFile:
        """Gives a job to the embedded queue of this process."""
        job = replace(found, cancelling=False, problem=None, done=0, total=0)
        if step == READ:
            task = QueuedFile(replace(job, phase=Phase.WAITING), password)
        else:
            task = QueuedFile(job, spent=job.result.seconds if job.result else 0.0)
        task.phases = STEPS[step]
        with self._changed:
            self._tasks.append(task)
            if found.cancelling:
                self._stop(task)
            if step == VECTORS:
                self._embedding_due, self._not_before = True, 0.0
            self._changed.notify_all()
        return task

    def _tries_again(self, task: QueuedFile, error: Exception) -> bool:
        """Waits for a server that went away; what it had of a file's reading by then is read again."""
        number = task.job.id
        if not (isinstance(error, StoreError) and error.retryable) or self._tries[number] >= MOST_TRIES:
            return False
        self._tries[number] += 1
        while not (self._closing or task.cancelled):
            time.sleep(NOTE_SECONDS)
            with suppress(StoreError):
                self._rows.workers()
                break
        return True

    def _follow(self, task: QueuedFile) -> None:
        """Notes how far a job is, until its step is done. Raises CancelledError when this process closes."""
        while True:
            with self._changed:
                if not self._closing and not _is_over(task):
                    self._changed.wait(NOTE_SECONDS)
                over = _is_over(task)
            try:
                cancelling = self._note(task)
                if over:
                    return
                if cancelling and not task.cancelled:
                    super().cancel(task.job.id)
            except StoreError:  # the work goes on meanwhile, and is noted when the database is back
                time.sleep(NOTE_SECONDS)
            if self._closing:
                raise CancelledError("Stopped.")

    def _note(self, task: QueuedFile) -> bool:
        """Stores how far a job is; returns whether it is to be cancelled. Keeps hold of what is claimed."""
        self._rows.database.claimed_elsewhere(())
        return self._rows.note(task.job)


def _is_over(task: QueuedFile) -> bool:
    """Tells whether this process has done its step of a job."""
    return not (task.job.busy and task.here)


def _step_of(phase: Phase) -> str:
    return next((step for step, phases in STEPS.items() if phase in phases), READ)
