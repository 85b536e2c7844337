"""Rebuilds a store by reading every document again from its kept copy.

If the catalogue is lost, copies and their names are enough.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from chatbot.errors import EncryptedError, ProjectError, StoreError
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.settings import PROGRAM, Settings
from chatbot.store.catalog import NAME, Catalog
from chatbot.store.database import NewerStoreError, place_of
from chatbot.store.jobs import AddResult
from chatbot.store.kept_copies import copy_name
from chatbot.store.library import Library, Progress, no_progress
from chatbot.store.lock import StoreLock
from chatbot.store.sqlite_file import set_aside

__all__ = ["rebuild"]


def rebuild(
    settings: Settings,
    passwords: Mapping[str, str],
    *,
    embedder: Embedder | None = None,
    progress: Progress = no_progress,
) -> Iterator[AddResult]:
    """Reads every document again and rebuilds vectors and indexes. Yields a result for each document.

    A new version takes the old one's place when it is ready. A catalogue that is damaged or of an earlier
    version is set aside, and documents are found by the names beside their copies. Raises StoreError if
    another process has the store, or if it is of a later version.

    passwords: by document name. A protected document without one keeps what was read of it.
    """
    fresh = _set_aside_catalogue(settings)
    library = Library(settings, embedder or make_embedder(settings))
    try:
        for job in library.catalog.left():
            yield library.read_left(replace(job, password=passwords.get(job.name)), progress)
        if not fresh:
            yield from _read_again(library, passwords, progress)
        yield from _nameless(library)
        library.resume(progress=progress)
        library.indexes.rebuild()
    finally:
        library.close()


def _read_again(library: Library, passwords: Mapping[str, str], progress: Progress) -> Iterator[AddResult]:
    """Yields every document of the catalogue, once if it has several names."""
    seen: set[str] = set()
    for row in [row for row in library.catalog.documents() if row.removed_at is None]:
        if row.digest in seen:
            continue
        seen.add(row.digest)
        try:
            yield library.read_again(row.name, passwords.get(row.name), progress=progress)
        except EncryptedError:
            warning = "Reading it again needs its password (--passwords). Its current text is kept."
            yield AddResult(row.name, "unchanged", row.id, row.pages, row.chunks, warning=warning)
        except ProjectError as error:
            yield AddResult(row.name, "failed", row.id, error=f"{error} Its current text is kept.")


def _nameless(library: Library) -> Iterator[AddResult]:
    """Yields the kept copies that belong to no document, and whose names cannot be read."""
    for digest in sorted(set(library.copies.all()) - library.catalog.hashes()):
        if not library.copies.beside(digest).names:
            path = library.copies.folder / copy_name(digest)
            again = f"Add it again with its name: {PROGRAM} add {shlex.quote(str(path))} --name NAME"
            error = f"The names beside this kept copy are missing or damaged. {again}"
            yield AddResult(path.name, "failed", error=error)


def _set_aside_catalogue(settings: Settings) -> bool:
    """Tells whether the catalogue was useless or missing, and is now out of the way.

    One in a Postgres stays where it is: whoever runs that has its backups.
    """
    path = place_of(settings, NAME)
    if not isinstance(path, Path):
        return False
    lock = StoreLock(settings.store / "store.lock")
    try:
        if not (path.exists() or path.is_symlink()):
            return True
        try:
            catalog = Catalog(path)
            complaints = catalog.database.complaints()
            catalog.close()
            if not complaints:
                return False
        except StoreError as error:
            if error.retryable or isinstance(error, NewerStoreError):
                raise
        try:
            set_aside(path, f"before-{time.strftime('%Y%m%d-%H%M%S')}")
        except OSError as error:
            raise ProjectError(
                f"Cannot move {path}: {error.strerror}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            ) from error
        return True
    finally:
        lock.close()
