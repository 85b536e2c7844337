"""Queues additions: reads several files at once, then makes vectors, then reads images left for later.

Also cancels additions, and continues those that an earlier process left.
"""

from __future__ import annotations

import importlib.util
import itertools
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from chatbot.errors import CancelledError, EncryptedError, ProjectError, StoreError
from chatbot.settings import Settings
from chatbot.store.jobs import MOST_FINISHED, STORED, UNREAD, AddResult, Job, Phase, SharedJobs, time_left
from chatbot.store.part_checks import PartChecks, StorePart
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
    "open_additions",
]

if TYPE_CHECKING:
    from chatbot.store.library import Library

log = logging.getLogger(__name__)

# Seconds before making vectors is tried again after a failure.
RETRY_SECONDS = 60.0
# Seconds after which a file that is read, or of which images are, lets others begin beside it; how many such
# files there may be; and how many of them one owner may have.
LONG_SECONDS, MOST_LONG, MOST_LONG_OF_OWNER = 2.0, 6, 3
# Seconds of a phase before its speed and time left are estimated, as the first pages say little.
TELLING_SECONDS = 1.0
# Seconds between two looks whether something has become long.
TURN_SECONDS = 0.5
# A version's images are read first where more than 300 times as many passages wait for vectors as it has
# itself. An image takes thirty times as long as a page's vectors.
FIRST_BEFORE = 300
# How long closing waits for the page or batch in progress.
CLOSE_SECONDS = 10.0
# Seconds between two looks of one who waits for a job.
LOOK_SECONDS = 0.05
INSTALL_HINT = "Install it: make setup-served, or by pip the extra `served`."


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
    """A job with what only the process that works at it knows.

    started: when its reading began here, by time.monotonic(); 0.0 if that was elsewhere.
    begun: when its reading, or that of its images, began; 0.0 while neither is under way.
    chunks: of its version, as far as that is known.
    phases: those in which it is worked at here; another queue has it done further elsewhere.
    """

    job: Job
    started: float = 0.0
    begun: float = 0.0
    phase_started: float = 0.0
    phase_from: int = 0
    chunks: int = 0
    phases: Container[Phase] = frozenset(Phase)

    @property
    def here(self) -> bool:
        """Whether its next step is done here."""
        return self.job.phase in self.phases

    @property
    def is_long(self) -> bool:
        """Whether its reading, or that of its images, takes so long that others begin beside it."""
        return self.begun > 0 and time.monotonic() - self.begun > LONG_SECONDS

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
        self.job = job if job.phase in UNREAD else replace(job, password=None)

    def advance(self, phase: Phase, done: int, total: int) -> None:
        """Notes progress, and estimates the time left from it. What is told too late changes nothing."""
        if not self.job.goes_to(phase):
            return
        now = time.monotonic()
        if phase != self.job.phase or done < self.job.done:
            self.phase_started, self.phase_from = now, done
        spent, made = now - self.phase_started, done - self.phase_from
        speed = made / spent if made > 0 and spent >= TELLING_SECONDS else None
        left = (total - done) / speed if speed else None
        if phase == Phase.EMBEDDING:
            self.chunks = total
        self.become(phase=phase, done=done, total=total, per_second=speed, seconds_left=left)


class Additions:
    """Reads files, makes vectors and completes documents, all in threads of its own.

    `readers` files are read at a time. Vectors are made when no file waits to be read, and images that were
    left for later are read when no vectors are to be made. What takes long keeps nobody waiting: further
    files begin beside it, the version that lacks fewest vectors gets them first, and owners take turns. What
    an earlier process left unread, without vectors or incomplete comes first. Any thread may call it.

    stops: where servers that share a store tell each other which answers to stop; None for one server.
    """

    stops: SharedJobs | None = None

    def __init__(self, library: Library, *, readers: int = 2, older: bool = True) -> None:
        """Starts the threads. older: whether what an earlier process left is continued."""
        self._library, self._readers, self._older = library, max(1, readers), older
        self._changed = threading.Condition()
        self._tasks: list[QueuedFile] = []
        # Of files that could not be taken: whoever kept an id when the server ended finds no other file under
        # it later.
        self._ids = itertools.count(time.time_ns() // 1_000_000)
        self._closing = False
        # Whether vectors may be missing, from when on they are made, whether that is done now, and when the
        # last of them were.
        self._due, self._not_before, self._making, self._made_at = older, 0.0, False, 0.0
        self._erasing = set[str]()
        # Versions that could not be completed, or are read anew: not again before the next start.
        self._given_up = set[int]()
        # The time left covers the jobs added from this time on, since the queue was last idle.
        self._batch, self._batch_started = 0.0, time.time()
        library.watch(self.wake)
        if older:
            for job in library.catalog.waiting():
                phase = job.phase if job.phase == Phase.PASSWORD else Phase.WAITING
                self._tasks.append(QueuedFile(replace(job, phase=phase)))
            self._find_left()
        # As many as there can be steps at a time, and one that cancels what only waits.
        count = self._readers + 2 * MOST_LONG + 3
        self._threads = [
            threading.Thread(target=self._work, name=f"additions-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    # --- what the pages call
    # ----------------------------------------------------------------------------------------------------

    def enqueue(self, files: Sequence[NewFile], *, awaited: bool = False) -> list[int]:
        """Keeps the bytes and queues the files. Returns a job id for each. Raises StoreError.

        A file that cannot be added becomes a failed job; the others go on.

        awaited: whether the caller waits for the jobs, and calls `release`. Until then they are not
            forgotten, and a file that needs a password fails.
        """
        digests = dict[str, tuple[str, object]]()
        return [self._queue(self._take(file, digests, awaited)) for file in files]

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
        return self._queue(self._library.take_again(name, languages))

    def seconds_left(self) -> float | None:
        """Estimates the seconds until everything queued is done; None if unknown."""
        jobs = [job for job in self.jobs() if job.added_at >= self._batch]
        return time_left(jobs, time.time() - self._batch_started)

    def jobs(self) -> tuple[Job, ...]:
        """Returns all jobs as they stand, in the order they were queued."""
        with self._changed:
            return tuple(task.job for task in self._tasks)

    def wait(self, job: int, looked: Callable[[Sequence[Job]], None] = lambda jobs: None) -> Job:
        """Waits for a job until it is finished, or has a problem and nothing else left to do. One that is
        gone was erased, and counts as cancelled.

        looked: called now and then with all jobs.
        """
        last = Job(job, "", Phase.CANCELLED)
        while True:
            jobs = self.jobs()
            looked(jobs)
            found = next((one for one in jobs if one.id == job), None)
            if found is None:
                return replace(last, phase=Phase.CANCELLED, problem=None)
            if found.settled:
                return found
            last = found
            with self._changed:
                self._changed.wait(LOOK_SECONDS)

    def unlock(self, job: int, password: str) -> None:
        """Tries a file again that waits for its password."""
        with self._changed:
            for task in self._tasks:
                if task.job.id == job and task.job.phase == Phase.PASSWORD:
                    task.become(phase=Phase.WAITING, problem=None, password=password)
            self._changed.notify_all()

    def wake(self) -> None:
        """Looks for missing vectors again, after a document was restored."""
        with self._changed:
            self._due, self._not_before = True, 0.0
            self._changed.notify_all()

    def cancel(self, job: int) -> None:
        """Stops a job and undoes what it has done so far. Finished and unknown jobs are left alone."""
        self._cancel([one.id for one in self.jobs() if one.id == job and one.cancellable])

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
            for task in self._tasks:
                if task.job.id in jobs:
                    task.become(awaited=False)
        self._cancel([job.id for job in self.jobs() if job.id in jobs and job.phase in UNREAD])

    def erase(self, name: str) -> list[Path]:
        """Gives a document up beyond restoring, with anything being added under its name.

        What it leaves is erased shortly after. Returns what Library.retire does.
        """
        self._cancel([job.id for job in self.jobs() if job.name == name and not job.finished])
        left = self._library.retire(name)
        with self._changed:
            self._erasing.add(name)
            self._changed.notify_all()
        return left

    def erasing(self) -> frozenset[str]:
        """The names of documents that are about to be erased."""
        with self._changed:
            return frozenset(self._erasing)

    def close(self, seconds: float | None = CLOSE_SECONDS) -> None:
        """Stops after the page or batch in progress.

        What was read is kept, and what waits is continued at the next start.

        seconds: to wait for the page or batch at most; the caller closes the store next.
        """
        self._library.watch(None)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        end = time.monotonic() + (seconds or 0.0)
        for thread in self._threads:
            thread.join(None if seconds is None else max(0.0, end - time.monotonic()))

    # --- what is queued
    # -------------------------------------------------------------------------------------------------

    def _take(self, file: NewFile, digests: dict[str, tuple[str, object]], awaited: bool) -> Job:
        """Keeps the bytes of a file. digests: of the files of this call, by name, with their paths."""
        adding = self._library.adding
        try:
            taken = adding.take(
                file.data,
                file.name,
                file.password,
                languages=file.languages,
                owner=file.owner,
                awaited=awaited,
            )
            digest, first = digests.setdefault(taken.name, (taken.digest, file.data))
            if digest != taken.digest:
                adding.give_up(taken)
                raise different_files(taken.name, first, file.data)
        except ProjectError as error:
            hint = error.hint
            if "--name" in hint and not isinstance(file.data, Path):
                hint = "Rename the file and add it again."
            failure = ProjectError(error.message, hint=hint, retryable=error.retryable)
            result = failed_upload(file.name, failure)
            failed = Job(next(self._ids), result.document, Phase.FAILED, result=result, added_at=time.time())
            return replace(failed, owner=file.owner, awaited=awaited)
        return taken

    def _queue(self, job: Job) -> int:
        """Queues a job and returns its id. Forgets the oldest finished ones."""
        with self._changed:
            finished = [task for task in self._tasks if task.job.finished and not task.job.awaited]
            for task in finished[:-MOST_FINISHED]:
                self._tasks.remove(task)
            if not any(task.job.busy for task in self._tasks):
                self._batch, self._batch_started = job.added_at, time.time()
            self._tasks.append(QueuedFile(job))
            self._changed.notify_all()
        return job.id

    def _cancel(self, jobs: Collection[int]) -> None:
        """Has jobs undone that are not finished."""
        with self._changed:
            for task in self._tasks:
                if task.job.id in jobs and not task.job.finished:
                    task.become(cancelling=True)
            self._changed.notify_all()

    def _left(self) -> list[Job]:
        """Returns a job for each version that is not fully read, then for each that lacks vectors: the one
        that an earlier process left, or a new one.
        """
        rows = {job.version: job for job in self._library.catalog.under_way() if job.phase in STORED}
        incomplete = [version for version in self._library.incomplete() if version.id not in self._given_up]
        return [
            replace(
                rows.get(version.id)
                or Job(
                    *(next(self._ids), version.document, Phase.EMBEDDING),
                    added_at=time.time(),
                    digest=version.sha256,
                    version=version.id,
                ),
                phase=Phase.EMBEDDING,
                total=version.chunks,
                lacks=versions is incomplete,
            )
            for versions in (incomplete, self._library.without_vectors())
            for version in versions
        ]

    def _find_left(self) -> None:
        """Queues versions that lack something and have no job here, as after the embedding model changed."""
        # Asked first: what is stored meanwhile has a job already.
        left = self._left()
        with self._changed:
            names = {task.job.name for task in self._tasks if not task.job.finished}
            known = {task.job.version for task in self._tasks if not task.job.finished}
            for job in left:
                if job.version not in known and job.name not in names:
                    known.add(job.version)
                    # One that had ended here, but not in its row, goes on.
                    self._tasks = [task for task in self._tasks if task.job.id != job.id]
                    self._tasks.append(QueuedFile(job, chunks=job.total))

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

    # --- what is done next
    # -----------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (step := self._next()) is not None:
            _try(step)

    def _next(self) -> Callable[[], None] | None:
        """Waits for something to do, and returns it; None to end."""
        with self._changed:
            while True:
                step = self._undoing()
                if step is None and not self._closing:
                    step = self._reading() or self._vectors() or self._images()
                if step is not None or self._closing:
                    return step
                polls = self._due or any(task.job.busy for task in self._tasks)
                self._changed.wait(TURN_SECONDS if polls else None)

    def _undoing(self) -> Callable[[], None] | None:
        """The end of a job that is cancelled while it waits."""
        for task in self._tasks:
            if task.job.cancelling and task.job.phase in {Phase.WAITING, Phase.PASSWORD}:
                task.become(phase=Phase.READING)
                return partial(self._read, task)
        return None

    def _reading(self) -> Callable[[], None] | None:
        """The reading of a file whose turn it is.

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
        for task in _in_turn(free, reading, self._readers):
            task.become(phase=Phase.READING, done=0, total=0)
            task.phase_started = task.started = task.begun = time.monotonic()
            return partial(self._read, task)
        return None

    def _vectors(self) -> Callable[[], None] | None:
        """The making of vectors, with the erasing of what was given up, which does not wait for texts."""
        due = self._vectors_are_due() and not self._text_waits()
        if self._making or not (due or self._erasing or self._is_cancelled()):
            return None
        self._making = True
        return self._make_vectors

    def _images(self) -> Callable[[], None] | None:
        """The reading of the images of a version whose turn it is.

        While vectors are made, or about to be, that is only one that takes far less time than they do.
        """
        if self._erasing or self._is_cancelled():
            return None
        stored = [task for task in self._stored() if task.here]
        turns = [task for task in stored if task.job.lacks and not task.begun]
        if self._making or self._vectors_are_due():
            unmade = (task.job.total - task.job.done for task in stored if task.job.phase == Phase.EMBEDDING)
            most = min(unmade, default=0) / FIRST_BEFORE
            turns = [task for task in turns if task.job.phase == Phase.IMAGES and task.chunks < most]
        turns.sort(key=lambda task: task.chunks)
        for task in _in_turn(turns, [task for task in stored if task.begun], 1):
            task.begun = time.monotonic()
            return partial(self._complete, task)
        return None

    def _text_waits(self) -> bool:
        """Tells whether a file could soon be searchable. Neither long reading or OCR nor what is read again
        delays anybody's vectors.
        """
        return any(
            task.job.phase == Phase.READING and not task.job.again and not task.is_long
            for task in self._tasks
        )

    def _vectors_are_due(self) -> bool:
        return self._due and self._not_before <= time.monotonic()

    def _stored(self) -> list[QueuedFile]:
        return [task for task in self._tasks if task.job.phase in STORED]

    def _embedding(self) -> list[QueuedFile]:
        return [task for task in self._stored() if task.job.phase == Phase.EMBEDDING and task.here]

    def _is_cancelled(self) -> bool:
        """Tells whether something stored is to be undone."""
        return any(task.job.cancelling for task in self._stored())

    # --- reading
    # --------------------------------------------------------------------------------------------------------

    def _read(self, task: QueuedFile) -> None:
        """Reads one file until its words are searchable."""
        job, stops = task.job, partial(self._stops, task)
        try:
            if job.cancelling:
                raise CancelledError("Cancelled.")
            report, alone = partial(self._report, task), partial(self._is_alone, task)
            result = self._library.read_taken(job, progress=report, cancelled=stops, alone=alone)
        except Exception as error:
            self._not_read(task, error)
            return
        with suppress(ProjectError):  # what is not queued now is found at the next start
            for number in result.attached:
                if carried := self._library.catalog.get(number):  # its user may have no other copy at hand
                    self._queue(replace(carried, left=True))
        with self._changed:
            # The bytes may belong to another document that still lacks its vectors.
            self._due, self._not_before, task.begun = True, 0.0, 0.0
            if result.status in {"added", "replaced"} and not result.linked:
                task.advance(Phase.EMBEDDING, 0, result.chunks)
                task.become(result=result, lacks=result.lacks, version=result.version)
                self._changed.notify_all()
            else:
                self._settle(task, phase=Phase.DONE, result=result)

    def _not_read(self, task: QueuedFile, error: Exception) -> None:
        """Ends the reading of a file that was cancelled or failed."""
        job, give_up = task.job, self._library.adding.give_up
        with self._changed:
            self._due = self._due or self._older
        if job.cancelling:
            _try(partial(give_up, job))
            self._settle(task, phase=Phase.CANCELLED)
        elif isinstance(error, CancelledError):
            return  # the queue is closing, and the next one reads it
        elif self._tries_again(task, error):
            self._settle(task, phase=Phase.WAITING, done=0, total=0)
        else:
            failure = _explained(error)
            locked = isinstance(error, EncryptedError) and not job.awaited
            _try(partial(give_up, job, failure, keep=locked))
            if locked:
                self._settle(task, phase=Phase.PASSWORD, problem=failure.message)
            else:
                self._settle(task, phase=Phase.FAILED, result=failed_upload(job.name, failure))

    def _tries_again(self, task: QueuedFile, error: Exception) -> bool:
        """Tells whether a file that could not be read is to be read once more."""
        return False

    def _is_alone(self, task: QueuedFile) -> bool:
        with self._changed:
            return not self._making and not any(
                other.job.phase in UNREAD for other in self._tasks if other is not task
            )

    def _stops(self, task: QueuedFile) -> bool:
        return self._closing or task.job.cancelling

    def _report(self, task: QueuedFile, phase: str, done: int, total: int) -> None:
        with self._changed:
            task.advance(Phase(phase), done, total)

    def _settle(self, task: QueuedFile, **changes: object) -> None:
        """Notes where a job is after a step that does not go on by itself."""
        with self._changed:
            task.begun = 0.0
            task.become(seconds_left=None, per_second=None, **changes)
            if task.job.finished:
                task.become(cancelling=False)
            self._changed.notify_all()

    # --- vectors and erasing
    # ----------------------------------------------------------------------------------------------------

    def _make_vectors(self) -> None:
        """Undoes and erases what was given up, then makes vectors until something is more urgent."""
        library = self._library
        with self._changed:
            cancelled = [task for task in self._stored() if task.job.cancelling]
            erasing = set(self._erasing)
            # What is read from here on is due again.
            self._due = False
        for task in cancelled:
            if task.job.result is not None and not task.job.result.linked:
                _try(partial(library.discard, task.job.result.version, task.job.name))
            self._finish(task, Phase.CANCELLED)
        if not library.indexes.words_whole:
            _try(library.align_words)
        if erasing:
            _try(library.sweep)
            with self._changed:
                self._erasing -= erasing
        if self._older:
            _try(self._find_left)
        problem = _try(self._embed)
        with self._changed:
            self._making = False
            if problem:
                self._due, self._not_before = True, time.monotonic() + RETRY_SECONDS
                for task in self._embedding():
                    task.become(problem=problem, seconds_left=None)
            self._changed.notify_all()
        if self._older and not problem:
            _try(partial(self._begin_older, self.jobs()))

    def _embed(self) -> None:
        """Makes vectors until all are there, or something is more urgent; then they are due again."""
        self._note_whole()
        with self._changed:
            own = {task.job.version: task.job.owner for task in self._embedding()}
        self._made_at = time.monotonic()
        self._library.resume_vectors(
            only=own,
            owner_of=lambda version: own.get(version, ""),
            progress=self._embedded,
            cancelled=lambda: self._is_urgent(own),
        )
        if self._is_urgent(own):
            self.wake()
        else:
            self._library.sweep()
            if self._note_whole():
                self.wake()

    def _is_urgent(self, own: Container[int]) -> bool:
        """Tells whether something must be done before more vectors are made of these versions.

        Asked between batches, when documents that were complete before are live.
        """
        with self._changed:
            for task in self._embedding():
                if 0 < task.job.total <= task.job.done:
                    self._is_whole(task)
            return (
                self._closing
                or bool(self._erasing)
                or self._is_cancelled()
                or self._text_waits()
                # What has just been read may lack fewer vectors than what gets them.
                or any(task.job.version not in own for task in self._embedding())
            )

    def _embedded(self, name: str, phase: str, done: int, total: int) -> None:
        """Notes a batch of vectors."""
        with self._changed:
            before, self._made_at = self._made_at, time.monotonic()
            for task in self._embedding():  # none if it is about to learn that its text is stored
                if task.job.name == name:
                    task.advance(Phase.EMBEDDING, done, total)
                    result = task.job.result
                    spent = self._made_at - before
                    task.become(
                        problem=None, result=result and replace(result, seconds=result.seconds + spent)
                    )

    def _note_whole(self) -> bool:
        """Notes which versions have all vectors. Returns whether others lack some."""
        with self._changed:
            tasks = self._embedding()
        lacking = {version.id for version in self._library.without_vectors()}
        with self._changed:
            for task in tasks:
                if task.job.phase == Phase.EMBEDDING and task.job.version not in lacking:
                    self._is_whole(task)
            return any(task.job.version in lacking for task in tasks)

    def _is_whole(self, task: QueuedFile) -> None:
        """Notes that a version has all vectors: it is done, or its images are read next."""
        if task.job.cancelling:
            return
        if task.job.lacks:
            task.advance(Phase.IMAGES, 0, 0)
        else:
            self._finish(task, Phase.DONE)

    def _finish(self, task: QueuedFile, phase: Phase) -> None:
        """Ends a job whose document is stored."""
        result, now = task.job.result, time.monotonic()
        if phase == Phase.DONE and result is None and task.job.version not in self._given_up:
            # What an earlier process left is now complete.
            result = self._result_of(task, AddResult(task.job.name, "completed"))
        if result is not None and task.started:
            result = replace(result, complete_seconds=round(now - task.started, 3))
        self._settle(task, phase=phase, problem=None, lacks=False, result=result)

    def _result_of(self, task: QueuedFile, result: AddResult) -> AddResult:
        """Returns the result as its version is now, or unchanged if that cannot be read."""
        with suppress(ProjectError):
            return self._library.adding.result_of(task.job.version, result)
        return result

    # --- images left for later
    # ----------------------------------------------------------------------------------------------------

    def _complete(self, task: QueuedFile) -> None:
        """Reads the images of a version, which may need other vectors then."""
        stops, report, version = partial(self._stops, task), partial(self._report, task), task.job.version
        problem = _try(partial(self._library.complete, version, progress=report, cancelled=stops))
        with self._changed:
            task.begun = 0.0
            if stops() or task.job.finished:  # it was given up
                return
            result = task.job.result
            if problem:
                self._given_up.add(version)
                result = result and replace(result, warning=NOT_COMPLETE.format(problem))
            elif result:
                result = self._result_of(task, result)
            task.become(phase=Phase.EMBEDDING, done=0, total=0, lacks=False, seconds_left=None, result=result)
            self.wake()


def _in_turn(waiting: Iterable[QueuedFile], working: Sequence[QueuedFile], at_once: int) -> list[QueuedFile]:
    """Returns those that may begin, first those of owners of whom least is worked at.

    at_once: how many may be worked at, beside those that take long and the first ones of other owners.
    """
    long = sum(task.is_long for task in working)
    owners = Counter(task.job.owner for task in working)
    free = len(working) < at_once + min(long, MOST_LONG)
    may_begin = [
        task
        for task in waiting
        if (free and owners[task.job.owner] < at_once + MOST_LONG_OF_OWNER)
        or (not owners[task.job.owner] and len(working) < at_once + MOST_LONG)
    ]
    return sorted(may_begin, key=lambda task: owners[task.job.owner])


def open_additions(
    library: Library,
    settings: Settings,
    *,
    readers: int,
    leads: bool = True,
    parts: PartChecks | None = None,
) -> Additions:
    """Opens the queue of a server over its store: an embedded one, or that of all who share a Postgres.

    readers: files that are read at a time.
    leads: whether the vectors of a shared store are to be of this process's embedder.
    parts: the checks that a shared queue joins.

    Raises StoreError if a shared queue cannot be used.
    """
    if not settings.database:
        return Additions(library, readers=readers)
    if importlib.util.find_spec("procrastinate") is None:
        raise StoreError("The queue (procrastinate) is not installed.", hint=INSTALL_HINT)
    from chatbot.store.shared_additions import SharedAdditions

    additions = SharedAdditions(
        library, settings.database, readers=readers, works=settings.server_adds, leads=leads
    )
    if parts is not None:
        parts.add(StorePart("workers", "procrastinate", additions.ping))
    return additions


def add_files(
    library: Library,
    uploads: Sequence[Upload],
    *,
    readers: int,
    progress: Callable[[str, str, int, int], None],
    started: float | None = None,
    through: Additions | None = None,
) -> Iterator[AddResult]:
    """Queues files, waits, and yields one result for each in their order.

    A result comes when the whole file is read and has its vectors, or when it failed, which does not affect
    the others. Leaving the iterator stops the reading and undoes what was not read yet.

    progress(document, phase, done, total): called on this thread with the phase of a job.
    started: time.perf_counter() from which the first file's seconds count.
    through: a queue that is at work already.
    """
    began = time.time() - (time.perf_counter() - started if started is not None else 0.0)
    files = [
        NewFile(upload.name or upload.path.name, upload.path, upload.password, languages=upload.languages)
        for upload in uploads
    ]
    additions = through or Additions(library, readers=readers, older=False)
    jobs = list[int]()
    told = dict[int, tuple[str, str, int, int]]()

    def looked(found: Sequence[Job]) -> None:
        for job in found:
            how = (job.name, str(job.phase), job.done, job.total)
            # Of the one that is waited for it is told each time: that shows whether anybody still listens.
            if job.id == number or (job.id in jobs and job.total and told.get(job.id) != how):
                told[job.id] = how
                progress(*how)

    try:
        jobs = additions.enqueue(files, awaited=True)
        if through is None:
            prepare()
        before: float | None = None
        for number in jobs:
            job = additions.wait(number, looked)
            jobs += job.result.attached if job.result else ()
            before = max(0.0, job.added_at - began) if before is None else 0.0
            yield _outcome(job, before)
    finally:
        if jobs:
            additions.release(jobs)
        if through is None:
            additions.close(None)


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
