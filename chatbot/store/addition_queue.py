"""Queues additions: reads several files at once, then makes vectors, then reads images left for later.

Also cancels additions, and continues those that an earlier process left.
"""

from __future__ import annotations

import io
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from chatbot.errors import CancelledError, EncryptedError, ProjectError, StoreError
from chatbot.store.catalog import Version
from chatbot.store.jobs import MOST_FINISHED, STORED, UNREAD, AddResult, Job, Phase, time_left
from chatbot.store.version_building import (
    NO_VECTORS,
    NOT_COMPLETE,
    Upload,
    different_files,
    failed_upload,
)
from ingestion.chunks import prepare

__all__ = [
    "Additions",
    "Job",
    "NewFile",
    "QueuedFile",
    "add_files",
]

if TYPE_CHECKING:
    from chatbot.store.library import Library
    from chatbot.store.shared_jobs import SharedJobs

log = logging.getLogger(__name__)

# Seconds before making vectors is tried again after a failure.
RETRY_SECONDS = 60.0
# Seconds after which a file that is read, or of which images are, lets others begin beside it; how many such
# files there may be; and how many of them one owner may have.
LONG_SECONDS, MOST_LONG, MOST_LONG_OF_OWNER = 2.0, 6, 3
# Seconds of a phase before its speed and time left are told, as the first pages say little.
TELLING_SECONDS = 1.0
# Seconds between two looks whether something has become long.
TURN_SECONDS = 0.5
# How many passages must be without vectors for the images of a version to be read first, for each passage of
# that version: ten times as long is made of vectors then. An image takes thirty times as long as a page's
# vectors.
FIRST_BEFORE = 300
# How long closing waits for the page or batch in progress.
CLOSE_SECONDS = 10.0
# Seconds between two looks of one who waits for a queue that is at work already.
LOOK_SECONDS = 0.05
# tell(document, phase, done, total): phase "reading", "ocr", "embedding" or "images"; called from the threads
# of the queue.
Telling = Callable[[str, str, int, int], None]


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to add.

    name: display text, never a path.
    data: an open file at its start, or the file's path.
    password: for this reading only, never stored.
    owner: who adds it, "" if that does not matter.
    languages: see Job.
    """

    name: str
    data: BinaryIO | Path
    password: str | None = None
    owner: str = ""
    languages: str = ""


@dataclass(slots=True, eq=False)
class QueuedFile:
    """A job with what only the queue knows.

    password: for its next reading.
    spent: seconds spent on it alone.
    timed: whether its result includes them.
    begun: when its reading, or that of its images, began by time.monotonic(); 0.0 while neither is under way.
    phases: those in which it is worked at here; another queue has it done further elsewhere.
    """

    job: Job
    password: str | None = field(default=None, repr=False)
    cancelled: bool = False
    started: float = 0.0
    spent: float = 0.0
    phase_started: float = 0.0
    phase_from: int = 0
    timed: bool = False
    begun: float = 0.0
    phases: Container[Phase] = frozenset(Phase)

    @property
    def here(self) -> bool:
        """Whether its next step is done here."""
        return self.job.phase in self.phases

    def one_after_another(self) -> tuple[str, ...]:
        """The name and the bytes of the file, neither of which another file may have that is read at the same
        time.
        """
        return (self.job.name, self.job.digest)

    def become(self, **changes: object) -> None:
        """Changes the job. Raises ValueError for a phase that it cannot have next."""
        job = replace(self.job, **changes)  # type: ignore[arg-type]
        if not self.job.goes_to(job.phase):
            raise ValueError(f"An addition does not go from {self.job.phase} to {job.phase}.")
        self.job = job

    def advance(self, phase: Phase, done: int, total: int) -> None:
        """Notes progress, and estimates the time left from it. What is told too late changes nothing."""
        if not self.job.goes_to(phase):
            return
        now = time.monotonic()
        if phase != self.job.phase or done < self.job.done:
            self.phase_started, self.phase_from = now, done
        spent = now - self.phase_started
        made = done - self.phase_from
        speed = made / spent if made > 0 and spent >= TELLING_SECONDS else None
        left = (total - done) / speed if speed else None
        self.become(phase=phase, done=done, total=total, per_second=speed, seconds_left=left)


class Additions:
    """Reads files, makes vectors and completes documents, all in threads of its own.

    `readers` files are read at a time. Vectors are made when no file waits to be read, and images that were
    left for later are read when no vectors are to be made. What takes long keeps nobody waiting: further
    files begin beside it, the version that lacks fewest vectors gets them first, and owners take turns. What
    an earlier process left unread, without vectors or incomplete comes first. Any thread may call it.
    """

    def __init__(
        self, library: Library, *, readers: int = 2, tell: Telling | None = None, older: bool = True
    ) -> None:
        """Starts the threads.

        tell: given if somebody waits for what is queued now, and only for that. Then nothing older is
            continued, and all jobs are awaited.
        older: whether what an earlier process left is continued.
        """
        self._library, self._tell = library, tell
        # Whether nothing is worked at but the jobs of this queue.
        self._only_own = tell is not None or not older
        self._changed = threading.Condition()
        self._tasks: list[QueuedFile] = []
        # Whoever kept an id when the server ended finds no other file under it later.
        self._ids = itertools.count(time.time_ns() // 1_000_000)
        self._closing = False
        self._embedding_due, self._not_before, self._embedding_since = not self._only_own, 0.0, 0.0
        # Whether vectors are being made, and the versions that could not be completed, which only the next
        # start tries again.
        self._making, self._given_up = False, set[int]()
        # The jobs whose vectors are being made, and who chooses what is completed next.
        self._embedding_now = set[QueuedFile]()
        self._choosing = threading.Lock()
        self._lacking: list[Version] = []
        self._erasing: set[str] = set()
        # The time left covers the jobs added from this time on, since the queue was last idle.
        self._batch, self._batch_started = 0.0, time.monotonic()
        library.watch(self.wake)
        if not self._only_own:
            self._tasks += self._under_way()
        self._readers = max(1, readers)
        work = [
            self._embed_all,
            *[self._complete_all] * (1 + MOST_LONG),
            *[self._read_all] * (self._readers + MOST_LONG),
        ]
        self._threads = [
            threading.Thread(target=target, name=f"additions-{number}", daemon=True)
            for number, target in enumerate(work)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def stops(self) -> SharedJobs | None:
        """Where servers that share a store tell each other which answers to stop; None for one server."""
        return None

    # --- what the pages call
    # ----------------------------------------------------------------------------------------------------

    def enqueue(self, files: Sequence[NewFile], *, awaited: bool = False) -> list[int]:
        """Keeps the bytes and queues the files. Returns a job id for each. Raises StoreError.

        A file that cannot be added becomes a failed job; the others go on.

        awaited: whether the caller waits for the jobs, and calls `release`. Until then they are not
            forgotten, and a file that needs a password fails.
        """
        numbers = list[int]()
        digests = dict[str, tuple[str, BinaryIO | Path]]()
        for file in files:
            numbers.append(self._queue(self._take(file, digests, awaited or self._tell is not None)))
        return numbers

    def read_again(self, name: str, languages: str = "") -> int:
        """Queues a document to be read again from its kept copy. Returns a job id.

        Until then the previous reading is searched. Raises NotFoundError, StoreError, and DocumentError for
        languages that cannot be read.

        languages: as in Job, but "" for those it was read in.
        """
        if any(job.name == name and not job.finished for job in self.jobs()):
            raise StoreError(
                f"{name[:200]} is already being read.", hint="Wait until that is finished.", retryable=True
            )
        return self._queue(QueuedFile(self._library.take_again(name, languages)))

    def seconds_left(self) -> float | None:
        """Estimates the seconds until everything queued is done; None if unknown."""
        with self._changed:
            jobs = [task.job for task in self._tasks if task.job.added_at >= self._batch]
            worked = time.monotonic() - self._batch_started
        return time_left(jobs, worked)

    def jobs(self) -> tuple[Job, ...]:
        """Returns all jobs as they stand, in the order they were queued."""
        with self._changed:
            return tuple(task.job for task in self._tasks)

    def wait(self, job: int) -> Job:
        """Waits for a job until it is finished, or has a problem and nothing else left to do."""
        while True:
            for found in self.jobs():
                if found.id == job and found.settled:
                    return found
            with self._changed:
                self._changed.wait(LOOK_SECONDS)

    def unlock(self, job: int, password: str) -> None:
        """Tries a file again that waits for its password."""
        with self._changed:
            for task in self._tasks:
                if task.job.id == job and task.job.phase == Phase.PASSWORD:
                    task.password = password
                    task.become(phase=Phase.WAITING, problem=None)
            self._changed.notify_all()

    def wake(self) -> None:
        """Looks for missing vectors again, after a document was restored."""
        with self._changed:
            self._embedding_due, self._not_before = True, 0.0
            self._changed.notify_all()

    def cancel(self, job: int) -> None:
        """Stops a job and undoes what it has done so far. Finished and unknown jobs are left alone."""
        with self._changed:
            for task in [task for task in self._tasks if task.job.id == job and task.job.cancellable]:
                self._stop(task)
            self._changed.notify_all()

    def clear_finished(self, jobs: Container[int]) -> None:
        """Forgets those of these jobs that are finished."""
        with self._changed:
            self._tasks = [
                task
                for task in self._tasks
                if task.job.awaited or not task.job.finished or task.job.id not in jobs
            ]

    def release(self, jobs: Collection[int]) -> None:
        """Says that nobody waits for these jobs any more, and cancels those that are not read yet."""
        with self._changed:
            for task in [task for task in self._tasks if task.job.id in jobs]:
                task.become(awaited=False)
                if task.job.phase in UNREAD:
                    self._stop(task)
            self._changed.notify_all()

    def erase(self, name: str) -> list[Path]:
        """Gives a document up beyond restoring, with anything being added under its name.

        What it leaves is erased shortly after. Returns what Library.retire does.
        """
        with self._changed:
            for task in [task for task in self._tasks if task.job.name == name and not task.job.finished]:
                self._stop(task)
        left = self._library.retire(name)
        with self._changed:
            self._erasing.add(name)
            self._changed.notify_all()
        return left

    def erasing(self) -> frozenset[str]:
        """The names of documents that are about to be erased."""
        with self._changed:
            return frozenset(self._erasing)

    def abandon(self) -> None:
        """Closes the queue and undoes all additions that were not read yet."""
        with self._changed:
            for task in self._tasks:
                if task.job.phase in UNREAD:
                    task.cancelled = True
                    task.become(cancelling=True)
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: not any(task.job.cancelling for task in self._tasks), CLOSE_SECONDS
            )
        self.close()

    def close(self) -> None:
        """Stops after the page or batch in progress.

        What was read is kept, and what waits is continued at the next start.
        """
        self._library.watch(None)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        end = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            # The caller closes the store next.
            thread.join(max(0.0, end - time.monotonic()) if self._tell is None else None)

    def _stop(self, task: QueuedFile) -> None:
        """Cancels a job.

        A job that only waits is cancelled by a thread of its own, as the others may be busy for minutes.
        """
        task.cancelled = True
        if task.job.phase in {Phase.WAITING, Phase.PASSWORD}:
            task.become(phase=Phase.READING, cancelling=True)
            threading.Thread(target=self._read, args=(task,), name="additions-cancel", daemon=True).start()
        else:
            task.become(cancelling=True)
            self._embedding_due = self._embedding_due or task.job.phase in STORED

    # --- reading
    # --------------------------------------------------------------------------------------------------------

    def _under_way(self) -> Iterator[QueuedFile]:
        """Yields what an earlier process left."""
        incomplete = {version.id for version in self._library.incomplete()}
        lacking = {version.id for version in self._library.without_vectors()} | incomplete
        for job in self._library.catalog.under_way():
            if job.phase in UNREAD:
                yield QueuedFile(replace(job, phase=Phase.WAITING))
            elif job.phase == Phase.PASSWORD:
                yield QueuedFile(job)
            elif job.version in lacking:
                yield QueuedFile(replace(job, phase=Phase.EMBEDDING, lacks=job.version in incomplete))

    def _job(self, version: Version, phase: Phase, **details: Any) -> Job:
        """Returns a job for a version that lacks something, and that no addition has."""
        job = Job(next(self._ids), version.document, phase, added_at=time.time(), digest=version.sha256)
        return replace(job, version=version.id, **details)

    def _take_up(self) -> None:
        """Makes jobs for versions that lack something and have none, as after the embedding model changed."""
        # Asked first: what is stored meanwhile has a job already.
        incomplete = {one.id: one for one in self._library.incomplete() if one.id not in self._given_up}
        lacking = incomplete | {version.id: version for version in self._library.without_vectors()}
        with self._changed:
            jobs = [task.job for task in self._tasks if not task.job.finished]
            known = {job.version for job in jobs}, {job.name for job in jobs}
            for number, version in lacking.items():
                if number not in known[0] and version.document not in known[1]:
                    job = self._job(version, Phase.EMBEDDING, lacks=number in incomplete)
                    self._tasks.append(QueuedFile(job))

    def _queue(self, task: QueuedFile) -> int:
        """Queues a file and returns the id of its job. Forgets the oldest finished ones."""
        with self._changed:
            finished = [other for other in self._tasks if other.job.finished and not other.job.awaited]
            for other in finished[:-MOST_FINISHED]:
                self._tasks.remove(other)
            if not any(other.job.busy for other in self._tasks):
                self._batch, self._batch_started = task.job.added_at, time.monotonic()
            self._tasks.append(task)
            self._changed.notify_all()
        return task.job.id

    def _take(
        self, file: NewFile, digests: dict[str, tuple[str, BinaryIO | Path]], awaited: bool
    ) -> QueuedFile:
        try:
            taken = self._library.adding.take(
                file.data,
                file.name,
                owner=file.owner,
                size=_size(file.data),
                awaited=awaited,
                languages=file.languages,
            )
            digest, first = digests.setdefault(taken.name, (taken.digest, file.data))
            if digest != taken.digest:
                self._library.adding.give_up(taken)
                raise different_files(taken.name, first, file.data)
        except ProjectError as error:
            hint = error.hint
            if "--name" in hint and not isinstance(file.data, Path):
                hint = "Rename the file and add it again."
            failure = ProjectError(error.message, hint=hint, retryable=error.retryable)
            result = failed_upload(file.name, failure)
            job = Job(next(self._ids), result.document, Phase.FAILED, result=result, added_at=time.time())
            return QueuedFile(replace(job, owner=file.owner, awaited=awaited))
        return QueuedFile(taken, file.password)

    def _read_all(self) -> None:
        while (task := self._next_waiting()) is not None:
            self._read(task)

    def _next_waiting(self) -> QueuedFile | None:
        """Waits for a file to read and returns it; None to end."""
        with self._changed:
            while not self._closing:
                task = next(iter(self._to_read()), None)
                if task is not None:
                    task.become(phase=Phase.READING, done=0, total=0)
                    task.phase_started = task.started = task.begun = time.monotonic()
                    return task
                waits = any(task.job.phase == Phase.WAITING for task in self._tasks)
                self._changed.wait(TURN_SECONDS if waits else None)
            return None

    def _to_read(self) -> list[QueuedFile]:
        """Returns the files whose reading may begin, in the order in which it should.

        Versions of one document, and equal files, are read one after another.
        """
        reading = [task for task in self._tasks if task.job.phase in {Phase.READING, Phase.OCR}]
        busy = {same for task in reading for same in task.one_after_another()}
        free = list[QueuedFile]()
        for task in self._tasks:
            if task.job.phase == Phase.WAITING:
                if busy.isdisjoint(task.one_after_another()):
                    free.append(task)
                busy.update(task.one_after_another())
        return _in_turn(free, reading, self._readers)

    def _read(self, task: QueuedFile) -> None:
        """Reads one file until its words are searchable."""
        taken = replace(task.job, password=task.password)
        try:
            if task.cancelled:
                raise CancelledError("Cancelled.")
            progress = partial(self._report, task)
            stop, alone = lambda: task.cancelled or self._closing, partial(self._is_alone, task)
            result = self._library.read_taken(taken, progress=progress, cancelled=stop, alone=alone)
        except CancelledError:
            if task.cancelled:
                _try(partial(self._library.adding.give_up, taken))
                self._settle(task, phase=Phase.CANCELLED)
        except Exception as error:
            if self._tries_again(task, error):
                self._settle(task, phase=Phase.WAITING, done=0, total=0)
                return
            failure = _explained(error)
            locked = isinstance(error, EncryptedError) and not task.job.awaited
            task.password = None
            _try(partial(self._library.adding.give_up, taken, failure, keep=locked))
            if locked:
                self._settle(task, phase=Phase.PASSWORD, problem=failure.message)
            else:
                self._settle(task, phase=Phase.FAILED, result=failed_upload(taken.name, failure))
        else:
            self._read_done(task, result)

    def _tries_again(self, task: QueuedFile, error: Exception) -> bool:
        """Tells whether a file that could not be read is to be read once more."""
        return False

    def _is_alone(self, task: QueuedFile) -> bool:
        with self._changed:
            return not self._making and not any(
                other.job.phase in UNREAD for other in self._tasks if other is not task
            )

    def _read_done(self, task: QueuedFile, result: AddResult) -> None:
        for job in self._library.catalog.under_way() if result.attached else ():
            if job.id in result.attached:
                self._queue(QueuedFile(job))
        with self._changed:
            if result.status in {"added", "replaced"} and not result.linked:
                task.advance(Phase.EMBEDDING, 0, result.chunks)
                task.become(result=result, lacks=result.lacks, version=result.version)
                task.password, task.spent = None, time.monotonic() - task.started
                task.begun = 0.0
                self._embedding_due, self._not_before = True, 0.0
                self._changed.notify_all()
                return
            # The bytes may belong to another document that still lacks its vectors.
            self._embedding_due = True
        self._settle(task, phase=Phase.DONE, result=result)

    def _settle(self, task: QueuedFile, **changes: object) -> None:
        with self._changed:
            task.become(seconds_left=None, per_second=None, cancelling=False, **changes)
            if task.job.finished:
                task.password = None
            self._changed.notify_all()

    def _report(self, task: QueuedFile, phase: str, done: int, total: int) -> None:
        with self._changed:
            task.advance(Phase(phase), done, total)
        if self._tell is not None:
            self._tell(task.job.name, phase, done, total)

    # --- vectors and erasing
    # ----------------------------------------------------------------------------------------------------

    def _embed_all(self) -> None:
        while self._wait_for_embedding():
            self._discard_cancelled()
            if not self._library.indexes.words_whole:
                _try(self._library.align_words)
            with self._changed:
                erasing = set(self._erasing)
            if erasing:
                _try(self._library.sweep)
                with self._changed:
                    self._erasing -= erasing
                    self._finish(
                        [task for task in self._stored() if task.cancelled and task.job.name in erasing],
                        phase=Phase.CANCELLED,
                    )
            if not self._only_own:
                _try(self._take_up)
            stopped = threading.Event()
            with self._changed:
                # Anything read from here on needs another scrub.
                self._embedding_due, begun, self._making = False, self._embedding(), True
                self._embedding_now = set(begun)
            problem = _try(partial(self._make_vectors, stopped))
            with self._changed:
                self._making = False
                if problem:
                    self._embedding_due, self._not_before = True, time.monotonic() + RETRY_SECONDS
                    for task in self._embedding():
                        task.become(problem=problem, seconds_left=None)
                    self._changed.notify_all()
                elif stopped.is_set():
                    self._embedding_due = True
                else:
                    self._embedded_all(
                        [task for task in begun if task.job.phase == Phase.EMBEDDING and not task.cancelled]
                    )
                self._changed.notify_all()

    def _make_vectors(self, stopped: threading.Event) -> None:
        """Makes vectors until all are there or something is more urgent, which sets `stopped`."""

        def urgent() -> bool:
            if self._urgent():
                stopped.set()
            return stopped.is_set()

        self._embedding_since = time.monotonic()
        with self._changed:
            own = {task.job.version: task.job.owner for task in self._embedding()}
        self._library.resume_vectors(
            only=own,
            owner_of=lambda version: own.get(version, ""),
            progress=self._embedded,
            cancelled=urgent,
        )
        if not urgent():
            self._library.sweep()

    def _wait_for_embedding(self) -> bool:
        """Waits until there are vectors to make or rows to erase, and returns True; False to end."""
        with self._changed:
            while not self._closing:
                wait = self._not_before - time.monotonic()
                if (
                    self._erasing
                    or self._cancelled_embedding()
                    or (self._embedding_due and wait <= 0 and not self._text_waits())
                ):
                    return True
                self._changed.wait(max(TURN_SECONDS, wait) if self._embedding_due else None)
            return False

    def _urgent(self) -> bool:
        """Tells whether something must be done before more vectors are made.

        Asked between batches, when documents that were complete before are live.
        """
        with self._changed:
            made = [task for task in self._embedding() if 0 < task.job.total <= task.job.done]
            # Some may lack no vectors at all, as after their images were read.
            unknown = {
                task
                for task in self._embedding_now
                if task.job.phase == Phase.EMBEDDING and not task.job.total and task.job.version
            }
            if unknown:
                lacking = {version.id for version in self._library.without_vectors()}
                made += [task for task in unknown if task.job.version not in lacking]
            self._embedded_all([task for task in made if not task.cancelled])
            return (
                self._closing
                or bool(self._erasing)
                or self._cancelled_embedding()
                or self._text_waits()
                # What has just been read may lack fewer vectors than what gets them.
                or not self._embedding_now.issuperset(self._embedding())
            )

    def _text_waits(self) -> bool:
        """Tells whether a file waits that could soon be searchable. Neither long reading or OCR nor what is
        read again delays anybody's vectors.
        """
        now = time.monotonic()
        return any(
            task.job.phase == Phase.READING and not task.job.again and not _is_long(task, now)
            for task in self._tasks
        ) or any(not task.job.again for task in self._to_read())

    def _embedding(self) -> list[QueuedFile]:
        return [task for task in self._tasks if task.job.phase == Phase.EMBEDDING and task.here]

    def _stored(self) -> list[QueuedFile]:
        return [task for task in self._tasks if task.job.phase in STORED]

    def _cancelled_embedding(self) -> bool:
        return any(task.cancelled for task in self._stored())

    def _embedded(self, name: str, phase: str, done: int, total: int) -> None:
        """Notes a batch of vectors."""
        with self._changed:
            task = next((task for task in self._embedding() if task.job.name == name), None)
            if task is None:
                return  # its job is about to learn that its text is stored, or was cancelled
            task.advance(Phase.EMBEDDING, done, total)
            task.become(problem=None)
            before, self._embedding_since = self._embedding_since, time.monotonic()
            task.spent += self._embedding_since - before
        if self._tell is not None:
            self._tell(name, phase, done, total)

    def _embedded_all(self, tasks: Iterable[QueuedFile]) -> None:
        """Notes that these versions have all vectors: they are done, or their images are read next."""
        finished = []
        for task in tasks:
            if task.job.result is not None and not task.timed:
                task.become(result=replace(task.job.result, seconds=task.spent))
                task.timed = True
            if task.job.lacks:
                task.advance(Phase.IMAGES, 0, 0)
            else:
                finished.append(task)
        self._finish(finished)

    def _finish(self, tasks: Iterable[QueuedFile], phase: Phase = Phase.DONE) -> None:
        for task in tasks:
            if task.job.version and task.job.result is None and task.job.version not in self._given_up:
                # What an earlier process left is now complete.
                self._tell_result(task, AddResult(task.job.name, "completed"))
            if task.job.result is not None and task.started:
                seconds = round(time.monotonic() - task.started, 3)
                task.become(result=replace(task.job.result, complete_seconds=seconds))
            task.become(phase=phase, problem=None, seconds_left=None, cancelling=False, lacks=False)
        self._changed.notify_all()

    def _discard_cancelled(self) -> None:
        with self._changed:
            tasks = [task for task in self._stored() if task.cancelled]
        for task in tasks:
            if task.job.result is not None and not task.job.result.linked:
                _try(partial(self._library.discard, task.job.result.version, task.job.name))
            with self._changed:
                self._finish([task], phase=Phase.CANCELLED)

    # --- images left for later
    # ----------------------------------------------------------------------------------------------------

    def _complete_all(self) -> None:
        while (found := self._next_incomplete()) is not None:
            version, task = found
            stop, told = partial(self._stops, task), partial(self._report, task)
            problem = _try(partial(self._library.complete, version.id, progress=told, cancelled=stop))
            with self._changed:
                task.begun = 0.0
                if problem and not stop():
                    self._given_up.add(version.id)
                    result = task.job.result
                    task.become(result=result and replace(result, warning=NOT_COMPLETE.format(problem)))

    def _next_incomplete(self) -> tuple[Version, QueuedFile] | None:
        """Waits for an incomplete version whose turn it is, and returns it with its job; None to end."""
        with self._choosing, self._changed:
            while not self._closing:
                if not (self._erasing or self._text_waits() or self._cancelled_embedding()):
                    with suppress(ProjectError):  # such as a full disk: the next event wakes it again
                        # What has just been stored has its job soon.
                        unread = {task.job.name for task in self._tasks if task.job.phase in UNREAD}
                        lacking = [
                            version
                            for version in self._library.incomplete()
                            if version.id not in self._given_up and version.document not in unread
                        ]
                        if self._completed({version.id for version in lacking}):
                            continue
                        own = {
                            task.job.version: task for task in self._stored() if task.job.lacks and task.here
                        }
                        self._lacking = [version for version in lacking if version.id in own]
                        if found := self._to_complete(own):
                            return found
                        if not self._only_own and not self._lacking:
                            self._begin_older(task.job for task in self._tasks)
                self._changed.wait(TURN_SECONDS if self._lacking else None)
            return None

    def _to_complete(self, own: Mapping[int, QueuedFile]) -> tuple[Version, QueuedFile] | None:
        """Returns the incomplete version whose turn it is. Its reading counts as begun.

        While vectors are made, or about to be, that is only one that takes far less time than they do.
        """
        due = self._embedding_due and self._not_before <= time.monotonic()
        turns = sorted(self._lacking, key=lambda version: version.chunks)
        if turns and (self._making or due):
            without = {one.id: one.chunks - one.embedded for one in self._library.without_vectors()}
            most = min(without.values(), default=0) / FIRST_BEFORE
            turns = [version for version in turns if version.id not in without and version.chunks < most]
        tasks = {own[version.id]: version for version in turns}
        working = [task for task in self._stored() if task.begun]
        for task in _in_turn([task for task in tasks if not task.begun], working, 1):
            task.begun = time.monotonic()
            return tasks[task], task
        return None

    def _begin_older(self, jobs: Iterable[Job]) -> None:
        """Queues one document to be read again that an earlier version of the program has read.

        Only if none of these jobs, which are all, is to be done, and each once until the next start.
        """
        if any(job.busy for job in jobs):
            return
        for version in self._library.read_by_older():
            if version.id not in self._given_up and not version.protected:
                self._given_up.add(version.id)
                with suppress(ProjectError):  # such as a missing copy, which `doctor` names
                    self.read_again(version.document)
                    return

    def _completed(self, lacking: set[int]) -> bool:
        """Finishes the jobs that lack nothing any more, whoever read it. Returns whether there were any.

        Their documents may need other vectors now.
        """
        complete = [task for task in self._stored() if task.job.lacks and task.job.version not in lacking]
        for task in complete:
            if task.job.result is not None and task.job.version not in self._given_up:
                self._tell_result(task, task.job.result)
            task.become(phase=Phase.EMBEDDING, done=0, total=0, lacks=False, seconds_left=None)
        self._embedding_due = self._embedding_due or bool(complete)
        self._changed.notify_all()
        return bool(complete)

    def _tell_result(self, task: QueuedFile, result: AddResult) -> None:
        """Returns the result as its version is now, or unchanged if that cannot be read."""
        _try(lambda: task.become(result=self._library.adding.result_of(task.job.version, result)))

    def _stops(self, task: QueuedFile) -> bool:
        return self._closing or task.cancelled or task.job.name in self._erasing


def _is_long(task: QueuedFile, now: float) -> bool:
    return task.begun > 0 and now - task.begun > LONG_SECONDS


def _in_turn(waiting: Iterable[QueuedFile], working: Sequence[QueuedFile], at_once: int) -> list[QueuedFile]:
    """Returns those that may begin, first those of owners of whom least is worked at.

    at_once: how many may be worked at, beside those that take long and the first ones of other owners.
    """
    now = time.monotonic()
    long = sum(_is_long(task, now) for task in working)
    owners = Counter(task.job.owner for task in working)
    free = len(working) < at_once + min(long, MOST_LONG)
    may_begin = [
        task
        for task in waiting
        if (free and owners[task.job.owner] < at_once + MOST_LONG_OF_OWNER)
        or (not owners[task.job.owner] and len(working) < at_once + MOST_LONG)
    ]
    return sorted(may_begin, key=lambda task: owners[task.job.owner])


def add_files(
    library: Library,
    uploads: Sequence[Upload],
    *,
    readers: int,
    progress: Telling,
    started: float | None = None,
    through: Additions | None = None,
) -> Iterator[AddResult]:
    """Queues files, waits, and yields one result for each in their order.

    A result comes when the whole file is read and has its vectors, or when it failed, which does not affect
    the others. Leaving the iterator stops the reading and undoes what was not read yet.

    started: time.perf_counter() from which the first file's seconds count.
    through: a queue that is at work already; progress is then called on this thread.
    """
    began = time.time() - (time.perf_counter() - started if started is not None else 0.0)
    files = [
        NewFile(upload.name or upload.path.name, upload.path, upload.password, languages=upload.languages)
        for upload in uploads
    ]
    additions = through or Additions(library, readers=readers, tell=progress)
    jobs = list[int]()
    try:
        jobs = additions.enqueue(files, awaited=True)
        if through is None:
            prepare()
        ended = _awaited(through, jobs, progress) if through else map(additions.wait, jobs)
        for number, job in enumerate(ended):
            jobs += job.result.attached if job.result else ()
            yield _outcome(job, 0.0 if number else max(0.0, job.added_at - began))
    finally:
        if through is None:
            additions.abandon()
        elif jobs:
            through.release(jobs)


def _awaited(additions: Additions, jobs: Sequence[int], progress: Telling) -> Iterator[Job]:
    """Yields these jobs in their order, each once it has ended or has a problem, and tells of all."""
    told: dict[int, tuple[str, int, int]] = {}
    known = dict[int, Job]()
    for number in jobs:
        while True:
            found = {job.id: job for job in additions.jobs() if job.id in jobs}
            for job in found.values():
                if told.get(job.id) != (job.phase, job.done, job.total) and job.total:
                    told[job.id] = (job.phase, job.done, job.total)
                    progress(job.name, job.phase, job.done, job.total)
            known |= found
            # One that is gone was erased.
            job = known.get(number) or Job(number, "", Phase.CANCELLED)
            if job.settled or number not in found:
                yield job if number in found else replace(job, phase=Phase.CANCELLED, problem=None)
                break
            progress(job.name, job.phase, job.done, job.total)
            time.sleep(LOOK_SECONDS)


def _outcome(job: Job, before: float) -> AddResult:
    """Returns the result of a job that has ended, or whose vectors cannot be made.

    before: seconds before its turn came, which also count.
    """
    result = job.result or AddResult(job.name, "failed", error="Cancelled.")
    if job.problem:
        result = replace(result, warning=NO_VECTORS.format(job.problem))
    if result.searchable_seconds is not None:
        result = replace(result, searchable_seconds=round(result.searchable_seconds + before, 3))
    return replace(result, seconds=round(result.seconds + before, 3))


def _size(data: BinaryIO | Path) -> int:
    """Returns the size in bytes of a file open at its start, 0 if it is unknown before reading."""
    try:
        if isinstance(data, Path):
            return data.stat().st_size
        size = data.seek(0, io.SEEK_END)
        data.seek(0)
    except (OSError, ValueError):
        return 0
    return size


def _try(step: Callable[[], object]) -> str | None:
    """Runs a step and returns what went wrong, None if nothing did.

    An unexpected error is logged too, and the queue goes on.
    """
    try:
        step()
    except Exception as error:
        return str(_explained(error))
    return None


def _explained(error: Exception) -> ProjectError:
    if isinstance(error, ProjectError):
        return error
    log.error("the queue of additions failed at one step", exc_info=error)
    return ProjectError("Something went wrong.", hint="See the server's log.")
