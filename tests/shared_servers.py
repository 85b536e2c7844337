"""Servers and workers over one Postgres, within a test's process: each has a store opened for itself and a
home of its own, and all keep copies in one folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chatbot.models.embedders import Embedder
from chatbot.settings import Settings
from chatbot.store.addition_queue import open_additions
from chatbot.store.jobs import Job
from chatbot.store.library import Library
from chatbot.store.shared_additions import SharedAdditions
from tests.fakes import HashEmbedder

__all__ = ["Machine", "machine", "until"]

T = TypeVar("T")


@dataclass(frozen=True)
class Machine:
    library: Library
    additions: SharedAdditions

    def job(self, number: int) -> Job:
        return next(job for job in self.additions.jobs() if job.id == number)

    def done(self, number: int, seconds: float = 20.0) -> Job:
        """The job once it has ended."""
        until(lambda: self.job(number).finished, seconds)
        return self.job(number)


def until(found: Callable[[], T], seconds: float = 20.0) -> T:
    """What this finds, once it finds anything."""
    end = time.monotonic() + seconds
    while not (what := found()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return what


@contextmanager
def machine(
    folder: Path, database: str, name: str, *, works: bool = True, embedder: Embedder | None = None
) -> Iterator[Machine]:
    """One of them. works: whether it reads documents."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    documents = folder / "documents"
    documents.mkdir(exist_ok=True)
    settings = Settings(home=home, database=database, files=str(documents), server_adds=works)
    library = Library(settings, embedder or HashEmbedder())
    try:
        additions = open_additions(library, settings, readers=2)
        assert isinstance(additions, SharedAdditions)
        try:
            yield Machine(library, additions)
        finally:
            additions.close()
    finally:
        library.close()
