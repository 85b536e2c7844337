"""Queues PDFs attached to a question as documents, and waits until they can be asked."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO

from chatbot.errors import DocumentError
from chatbot.records import Stage
from chatbot.store.addition_queue import Additions, NewFile
from chatbot.store.document_names import display_name, free_name
from chatbot.store.jobs import Job
from chatbot.store.library import Library

__all__ = ["Attached", "attach"]

# How long a question waits for vectors once its document can be found by words. A long document is searched
# by words meanwhile.
VECTOR_SECONDS = 20.0
TICK = 0.1
# The name of a file whose own name cannot be a document's.
UNNAMED = "attached.pdf"


@dataclass(frozen=True, slots=True)
class Attached:
    """What was attached to one question.

    names: documents that existed already, byte for byte.
    jobs: jobs of those that are being added.
    """

    names: tuple[str, ...]
    jobs: tuple[int, ...]

    def wait(
        self, additions: Additions, tell: Callable[[Stage], None], stopped: Callable[[], bool]
    ) -> tuple[str, ...]:
        """Waits until all can be asked, or until stopped, and returns their names.

        Raises DocumentError if one could not be added, or needs its password.
        """
        searchable: dict[int, float] = {}
        while not stopped():
            jobs = [job for job in additions.jobs() if job.id in self.jobs]
            for job in jobs:
                _check(job)
                if job.result is not None:
                    searchable.setdefault(job.id, time.monotonic())
            waited = [job for job in jobs if not _can_be_asked(job, searchable)]
            if not waited:
                return self.added(additions)
            tell(Stage("reading", waited[0].done, waited[0].total))
            time.sleep(TICK)
        return ()

    def added(self, additions: Additions) -> tuple[str, ...]:
        """Returns the names of those that can be asked now."""
        return (
            *self.names,
            *(
                job.result.document
                for job in additions.jobs()
                if job.id in self.jobs and job.result is not None and job.result.id
            ),
        )


def attach(
    files: Sequence[BytesIO], given: Sequence[str], library: Library, additions: Additions, *, owner: str = ""
) -> Attached:
    """Queues the files under names that no document has, so that none is replaced.

    given: the name of each.
    owner: who attaches them.
    """
    taken = {row.name for row in library.catalog.documents()}
    known: list[str] = []
    new: list[NewFile] = []
    for file, called in zip(files, given, strict=True):
        shown = _shown(called)
        live = library.catalog.find(shown)
        if live is not None and live.sha256 == hashlib.file_digest(file, "sha256").hexdigest():
            known.append(shown)
            continue
        file.seek(0)
        name = free_name(shown, taken) if shown in taken else shown
        taken.add(name)
        new.append(NewFile(name, file, owner=owner))
    return Attached(tuple(known), tuple(additions.enqueue(new)) if new else ())


def _shown(given: str) -> str:
    try:
        return display_name(given)
    except DocumentError:
        return UNNAMED


def _check(job: Job) -> None:
    if job.phase == "password":
        raise DocumentError(
            f"{job.name} needs a password.", hint="Enter it on the Documents page, then ask again."
        )
    if job.phase == "cancelled":
        raise DocumentError(f"Adding {job.name} was cancelled.", hint="Attach it again to ask about it.")
    if job.phase == "failed":
        reason = job.result.error if job.result is not None and job.result.error else job.problem
        raise DocumentError(
            f"{job.name} could not be added: {reason or 'see the Documents page'}",
            hint="Attach another file, or ask about the others.",
        )


def _can_be_asked(job: Job, searchable: dict[int, float]) -> bool:
    return job.finished or (job.id in searchable and time.monotonic() > searchable[job.id] + VECTOR_SECONDS)
