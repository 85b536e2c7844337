"""The queue of additions: one thread that reads, embeds, cancels and erases in turn; outlives a page, knows no user interface."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from chatbot.errors import ProjectError
from chatbot.store.library import AddResult, Upload
from chatbot.store.spool import NewFile, Spool, Spooled

__all__ = ["Additions", "Chatbot", "Job"]

log = logging.getLogger(__name__)

# Finished jobs that are remembered until somebody clears them.
MOST_FINISHED = 200
# Seconds before vectors that could not be made are tried again.
RETRY_SECONDS = 60.0
# What closing waits for the page that is being read.
CLOSE_SECONDS = 10.0


class Chatbot(Protocol):
    """What the queue calls; see chatbot.service.Chatbot."""

    def read(
        self, uploads: Sequence[Upload], *, progress: Callable[[str, str, int, int], None], cancelled: Callable[[], bool]
    ) -> Iterator[AddResult]: ...

    def resume(self, *, progress: Callable[[str, str, int, int], None], cancelled: Callable[[], bool]) -> None: ...

    def discard(self, version: int) -> None: ...

    def retire(self, name: str) -> None: ...

    def remove(self, name: str, *, purge: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Job:
    """A snapshot of one addition. phase: waiting | reading | ocr | embedding | done | failed | cancelled.

    done, total: pages while reading, chunks while embedding. result: once it is read, and therefore searchable by words.
    added_at: seconds since the epoch. problem: why its vectors have to wait, None while they need not.
    """

    id: int
    name: str
    phase: str
    done: int = 0
    total: int = 0
    result: AddResult | None = None
    added_at: float = 0.0
    problem: str | None = None

    @property
    def finished(self) -> bool:
        """Nothing will change any more."""
        return self.phase in {"done", "failed", "cancelled"}

    @property
    def cancellable(self) -> bool:
        """It can still be made as if it had never been asked for; what an earlier process left cannot."""
        return not self.finished and (self.phase != "embedding" or self.result is not None)


@dataclass(slots=True)
class _Task:
    """A job with what only the queue knows. path: the spooled bytes, gone once they are read. cancelled: asked for."""

    job: Job
    path: Path | None = None
    password: str | None = None
    cancelled: bool = False
    started: float = 0.0

    def become(self, **changes: object) -> None:
        self.job = replace(self.job, **changes)  # type: ignore[arg-type]


class Additions:
    """Additions one after another: every file is read, and so searchable by words, before the first one's vectors are made.

    What an earlier process left without vectors is taken up first. Safe from any thread.
    """

    def __init__(self, chatbot: Chatbot, folder: Path) -> None:
        """folder: for uploaded bytes that wait; it is emptied, for its owner is the store's only one."""
        self._chatbot, self._spool = chatbot, Spool(folder)
        self._changed = threading.Condition()
        self._tasks: list[_Task] = []
        self._erasures: deque[str] = deque()
        self._ids = itertools.count(1)
        self._closing = False
        self._embedding_due, self._not_before = True, 0.0
        self._thread = threading.Thread(target=self._work, name="additions", daemon=True)
        self._thread.start()

    def enqueue(self, files: Sequence[NewFile]) -> list[int]:
        """Keep the bytes and queue the files. Returns a job id for each; one that cannot be added is a failed job, the others go on."""
        tasks = [self._task(spooled) for spooled in self._spool.take(files)]
        with self._changed:
            self._tasks.extend(tasks)
            finished = [task for task in self._tasks if task.job.finished]
            for task in finished[:-MOST_FINISHED]:
                self._tasks.remove(task)
            self._changed.notify_all()
        return [task.job.id for task in tasks]

    def jobs(self) -> tuple[Job, ...]:
        """All jobs as they stand, in the order they were queued."""
        with self._changed:
            return tuple(task.job for task in self._tasks)

    def wake(self) -> None:
        """Look again for vectors to make, after a document was restored."""
        with self._changed:
            self._embedding_due, self._not_before = True, 0.0
            self._changed.notify_all()

    def cancel(self, job: int) -> None:
        """Stop a job and forget what it has done so far; one that is finished or unknown stays as it is."""
        with self._changed:
            for task in self._tasks:
                if task.job.id == job and task.job.cancellable:
                    task.cancelled = True
                    if task.job.phase == "waiting":
                        _end(task, "cancelled")
            self._changed.notify_all()

    def clear_finished(self) -> None:
        """Forget the jobs that are finished."""
        with self._changed:
            self._tasks = [task for task in self._tasks if not task.job.finished]

    def erase(self, name: str) -> None:
        """Give a document up now, beyond restoring, and erase what it leaves as soon as the queue's thread is free, or at the next start."""
        self._chatbot.retire(name)
        with self._changed:
            if name not in self._erasures:
                self._erasures.append(name)
            self._changed.notify_all()

    def erasing(self) -> frozenset[str]:
        """Names of documents that are about to be erased."""
        with self._changed:
            return frozenset(self._erasures)

    def close(self) -> None:
        """Stop after the page or batch that is being worked on; what waits is dropped, what was read is kept."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(CLOSE_SECONDS)
        for task in self._tasks:
            _drop(task)

    def _task(self, spooled: Spooled) -> _Task:
        failed = AddResult(spooled.name, "failed", error=spooled.error) if spooled.error else None
        job = Job(next(self._ids), spooled.name, "failed" if failed else "waiting", result=failed, added_at=time.time())
        return _Task(job, spooled.path, spooled.password)

    def _work(self) -> None:
        while (step := self._next()) is not None:
            step()

    def _next(self) -> Callable[[], None] | None:
        """What to do next, waited for; None to end. Erasing comes first, then reading, and vectors last."""
        with self._changed:
            while not self._closing:
                if self._erasures:
                    return partial(self._erase, self._erasures[0])
                for task in self._tasks:
                    if task.job.phase == "waiting":
                        task.become(phase="reading")
                        return partial(self._read, task)
                wait = self._not_before - time.monotonic()
                if self._embedding_due and (wait <= 0 or self._cancelled_embedding()):
                    return self._embed
                self._changed.wait(wait if self._embedding_due else None)
            return None

    def _erase(self, name: str) -> None:
        _try(lambda: self._chatbot.remove(name, purge=True))
        with self._changed:
            self._erasures.remove(name)
            for task in self._embedding():
                if task.job.name == name:
                    _end(task, "cancelled")

    def _read(self, task: _Task) -> None:
        """Read one file up to where its words are searchable."""
        task.started = time.perf_counter()
        result = self._add(task)
        with self._changed:
            _drop(task)
            if result.status in {"added", "replaced"}:
                task.become(phase="embedding", done=0, total=result.chunks, result=result)
                self._embedding_due, self._not_before = True, 0.0
            elif task.cancelled:
                _end(task, "cancelled")
            else:
                _end(task, "failed" if result.status == "failed" else "done", result=result)

    def _add(self, task: _Task) -> AddResult:
        assert task.path is not None
        upload = Upload(task.path, task.job.name, task.password)
        progress, results = partial(self._report, task), list[AddResult]()
        problem = _try(lambda: results.extend(self._chatbot.read([upload], progress=progress, cancelled=lambda: task.cancelled or self._closing)))
        return results[0] if results else AddResult(task.job.name, "failed", error=problem)

    def _report(self, task: _Task, name: str, phase: str, done: int, total: int) -> None:
        with self._changed:
            task.become(phase=phase, done=done, total=total)

    def _embed(self) -> None:
        """Make vectors until all are there or something else is more urgent."""
        self._discard_cancelled()
        problem = _try(lambda: self._chatbot.resume(progress=self._embedded, cancelled=self._urgent))
        with self._changed:
            if problem:
                self._not_before = time.monotonic() + RETRY_SECONDS
                for task in self._embedding():
                    task.become(problem=problem)
            elif not self._urgent():
                self._finish(self._embedding())
                self._embedding_due = False
        self._discard_cancelled()

    def _urgent(self) -> bool:
        """Whether something must be done before more vectors are made. Asked between batches, when what was complete before is live."""
        with self._changed:
            self._finish([task for task in self._embedding() if 0 < task.job.total <= task.job.done])
            waiting = any(task.job.phase == "waiting" for task in self._tasks)
            return self._closing or bool(self._erasures) or waiting or self._cancelled_embedding()

    def _embedding(self) -> list[_Task]:
        return [task for task in self._tasks if task.job.phase == "embedding"]

    def _cancelled_embedding(self) -> bool:
        return any(task.cancelled for task in self._embedding())

    def _embedded(self, name: str, phase: str, done: int, total: int) -> None:
        """A batch of vectors is in. What an earlier process left without vectors gets a job of its own."""
        with self._changed:
            task = next((task for task in self._embedding() if task.job.name == name), None)
            if task is None:
                task = _Task(Job(next(self._ids), name, "embedding", added_at=time.time()))
                self._tasks.append(task)
            task.become(done=done, total=total, problem=None)

    def _finish(self, tasks: Iterable[_Task]) -> None:
        for task in tasks:
            seconds = round(time.perf_counter() - task.started, 3)
            result = replace(task.job.result, seconds=seconds) if task.job.result else None
            if not task.cancelled:
                _end(task, "done", result=result, problem=None)

    def _discard_cancelled(self) -> None:
        with self._changed:
            tasks = [task for task in self._embedding() if task.cancelled]
        for task in tasks:
            if task.job.result is not None:
                _try(partial(self._chatbot.discard, task.job.result.version))
            with self._changed:
                _end(task, "cancelled")


def _end(task: _Task, phase: str, **changes: object) -> None:
    _drop(task)
    task.become(phase=phase, **changes)


def _drop(task: _Task) -> None:
    """The spooled bytes and the password are needed no more."""
    path, task.path, task.password = task.path, None, None
    if path is not None:
        path.unlink(missing_ok=True)


def _try(step: Callable[[], None]) -> str | None:
    """Take a step and say what went wrong, None where nothing did; a bug is logged too, and the queue goes on."""
    try:
        step()
    except ProjectError as error:
        return str(error)
    except Exception:
        log.exception("the queue of additions failed at one step")
        return "Something inside failed. The server's log says what."
    return None
