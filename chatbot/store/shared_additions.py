"""The queue of additions of servers and workers that share a Postgres.

The jobs are rows that all of them see. Whoever is handed one works at it with its embedded queue, up to the
next step, which may be done elsewhere.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Collection, Container
from contextlib import suppress
from dataclasses import replace

from chatbot.errors import CancelledError, StoreError
from chatbot.settings import PROGRAM
from chatbot.store.addition_queue import Additions, QueuedFile
from chatbot.store.database import NewerStoreError
from chatbot.store.job_queue import JobQueue
from chatbot.store.jobs import UNREAD, Job, Phase, SharedJobs, work_of
from chatbot.store.library import Library

__all__ = ["SharedAdditions"]

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

    stops: SharedJobs

    def __init__(self, library: Library, address: str, *, readers: int, works: bool, leads: bool) -> None:
        """Starts the threads.

        address: of the Postgres.
        works: whether this process works at jobs, or leaves them to others.
        leads: whether vectors are to be made by this process's embedder from now on.

        Raises StoreError if it makes other vectors than are wanted.
        """
        self._library, self._rows = library, SharedJobs(library.catalog.database)
        self.stops = self._rows
        if leads and library.catalog.meta(EMBEDDER) != library.embedder.fingerprint:
            library.catalog.set_meta(EMBEDDER, library.embedder.fingerprint)
        self._check()
        self._jobs = JobQueue(address)
        self._shown: tuple[float, tuple[Job, ...]] = (0.0, ())
        self._tries = Counter[int]()
        self._look, self.ended = threading.Event(), threading.Event()
        self.problem: StoreError | None = None
        super().__init__(library, readers=readers, older=False)
        self._looking = threading.Thread(target=self._look_after, name="additions-left", daemon=True)
        self._looking.start()
        if works:
            self._jobs.work(self._attend, {READ: readers + MOST_BESIDE, **AT_ONCE})

    # --- what the pages call
    # ----------------------------------------------------------------------------------------------------

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

    def seconds_left(self) -> float | None:
        """Estimates the seconds until everything queued is done; None if unknown."""
        busy = [job.added_at for job in self.jobs() if job.busy]
        self._batch = self._batch_started = min(busy, default=time.time())
        return super().seconds_left()

    def unlock(self, job: int, password: str) -> None:
        """Tries a file again that waits for its password, in this process."""
        self._rows.unlock(job)
        self._attend_aside(job, password)

    def wake(self) -> None:
        """Looks for missing vectors again, after a document was restored."""
        super().wake()
        self._look.set()

    def clear_finished(self, jobs: Container[int]) -> None:
        """Forgets those of these jobs that are finished."""
        self._rows.clear([job.id for job in self.jobs() if job.id in jobs])
        self._shown = (0.0, ())

    def release(self, jobs: Collection[int]) -> None:
        """Says that nobody waits for these jobs any more, and cancels those that are not read yet."""
        self._rows.release(jobs)
        super().release(jobs)

    def close(self, seconds: float | None = 10.0) -> None:
        """Stops after the page or batch in progress. Other processes go on with what is left."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._look.set()
        self._jobs.stop()
        self._looking.join()  # it queues jobs
        self._jobs.close()
        super().close(seconds)
        self.ended.set()

    # --- handing jobs out
    # ----------------------------------------------------------------------------------------------------

    def _queue(self, job: Job) -> int:
        """Gives a file that was taken here to whoever reads it; one that was not only has its row.

        A file that comes with a password is read by this process: nothing that is stored has the password.
        """
        if job.finished:
            details = {"phase": job.phase, "result": job.result, "owner": job.owner, "awaited": job.awaited}
            job = self._rows.wait(job.name, "", **details)
        elif job.password is not None:
            self._attend_aside(job.id, job.password)
        else:
            self._put(job)
        self._rows.forget_old()
        self._shown = (0.0, self._shown[1])
        return job.id

    def _cancel(self, jobs: Collection[int]) -> None:
        """Has jobs undone that are not finished, whoever works at them."""
        if jobs:
            self._rows.cancel(jobs)
        for number in jobs:
            self._attend_aside(number)

    def _put(self, job: Job) -> None:
        """Queues the next step of a job."""
        step = _step_of(job.phase)
        self._jobs.put(job.id, step, job.name if step == READ else None)

    def _look_after(self) -> None:
        """Makes jobs, now and then, of what nobody works at, and queues those that the queue has lost."""
        while not self._closing:
            try:
                self._check()
                self._find_left()
                self._begin_older(self._rows.all())
            except StoreError as error:
                log.warning("Looking for unfinished additions: %s", error)
            self._look.wait(LEFT_SECONDS)
            self._look.clear()

    def _find_left(self) -> None:
        for job in self._left():
            self._rows.add_left(job)
        for job in self._rows.unqueued():
            self._put(job)

    # --- working at jobs
    # ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raises StoreError if this process must not work at this store."""
        self._library.catalog.database.check_version()
        wanted = self._library.catalog.meta(EMBEDDER)
        if wanted not in (None, self._library.embedder.fingerprint):
            raise OtherEmbedderError(
                "The server that was started last has another embedding model than this one.",
                hint="Give all servers and workers the same FINPOLICY_EMBEDDING_MODEL.",
            )

    def _check_worker(self) -> None:
        """Raises the same, and then works at nothing more."""
        try:
            self._check()
        except (NewerStoreError, OtherEmbedderError) as error:
            if self.problem is None:
                log.warning("Documents are not read here any more: %s", error)
            self.problem = error
            self._jobs.stop()
            self.ended.set()
            raise

    def _attend_aside(self, number: int, password: str | None = None) -> None:
        """Works at a job in a thread, if nobody works at it: to cancel it, or with its password."""
        self._shown = (0.0, self._shown[1])

        def attend() -> None:
            try:
                self._attend(number, password=password)
            except CancelledError:
                pass
            except StoreError as error:  # another worker goes on with it
                log.warning("An addition could not be gone on with here: %s", error)

        threading.Thread(target=attend, name="additions-aside", daemon=True).start()

    def _attend(self, number: int, step: str = "", password: str | None = None) -> None:
        """Works at a job up to its next step. Raises what hands it back.

        step: that the queue hands to this process, which waits for others that are at it; "" aside.
        """
        if step:
            self._check_worker()
        database = self._library.catalog.database
        while not database.claim(work := work_of(number)):
            if self._closing:
                raise CancelledError("Stopped.")
            if not step:
                return
            time.sleep(ELSEWHERE_SECONDS)
        try:
            job = self._rows.get(number)
            # It may have got further until now.
            if job is None or job.finished or (step and step != _step_of(job.phase)):
                return
            wanted = job.phase != Phase.PASSWORD if step else password is not None
            if wanted or job.cancelling:
                self._follow(job, password)
        finally:
            database.release(work)

    def _follow(self, job: Job, password: str | None) -> None:
        """Gives a job to the embedded queue of this process, and notes how far it is until its step is done.

        Raises CancelledError when this process closes.
        """
        step = _step_of(job.phase)
        task = QueuedFile(
            replace(job, problem=None, done=0, total=0),
            phases=STEPS[step],
            chunks=job.result.chunks if job.result else 0,
        )
        if step == READ:
            task.job = replace(task.job, phase=Phase.WAITING, password=password)
        with self._changed:
            self._tasks.append(task)
            if step == VECTORS:
                self._due, self._not_before = True, 0.0
            self._changed.notify_all()
        try:
            self._note_until_done(task)
        finally:
            with self._changed:
                self._tasks.remove(task)
            self._tries.pop(job.id, None)
        if task.job.busy:
            self._put(task.job)

    def _note_until_done(self, task: QueuedFile) -> None:
        while True:
            with self._changed:
                if not self._closing and task.job.busy and task.here:
                    self._changed.wait(NOTE_SECONDS)
                over = not (task.job.busy and task.here)
            try:
                # What is claimed here is claimed again after a lost connection.
                self._library.catalog.database.claimed_elsewhere(())
                cancelling = self._rows.note(task.job)
                if over:
                    return
                if cancelling and not task.job.cancelling:
                    super()._cancel([task.job.id])
            except StoreError:  # the work goes on meanwhile, and is noted when the database is back
                time.sleep(NOTE_SECONDS)
            if self._closing:
                raise CancelledError("Stopped.")

    def _tries_again(self, task: QueuedFile, error: Exception) -> bool:
        """Waits for a server that went away; what it had of a file's reading by then is read again."""
        number = task.job.id
        if not (isinstance(error, StoreError) and error.retryable) or self._tries[number] >= MOST_TRIES:
            return False
        self._tries[number] += 1
        while not self._stops(task):
            time.sleep(NOTE_SECONDS)
            with suppress(StoreError):
                self._rows.workers()
                break
        return True


def _step_of(phase: Phase) -> str:
    return next((step for step, phases in STEPS.items() if phase in phases), READ)
