"""A store made anew: every document read again from its kept copy, or, where the catalogue is lost, from
the copies and their names alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from chatbot.errors import EncryptedError, ProjectError, StoreError
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.library import Library
from chatbot.store.lock import StoreLock
from chatbot.store.sqlite_file import NewerStoreError
from chatbot.store.version_building import AddResult

__all__ = ["rebuild"]

Progress = Callable[[str, str, int, int], None]


def rebuild(
    settings: Settings,
    passwords: Mapping[str, str],
    *,
    embedder: Embedder | None = None,
    progress: Progress = lambda document, phase, done, total: None,
) -> Iterator[AddResult]:
    """Read every document again and make vectors and indexes anew; a new version takes the old one's place
    when it is ready. One result a document, when it is finished.

    passwords: by document name; a protected document without one keeps what was read of it. A catalogue that
    is damaged or of an earlier version is set aside, and documents are found by the names beside their
    copies. Raises StoreError where another process has the store, and where it is of a later version.
    """
    fresh = _set_aside_catalogue(settings)
    library = Library(settings, embedder or make_embedder(settings))
    try:
        for taken, _ in [*((taken, "") for taken in library.adding.left()), *library.adding.stuck()]:
            yield library.read_left(replace(taken, password=passwords.get(taken.name)), progress)
        if not fresh:
            yield from _read_again(library, passwords, progress)
        library.resume(progress=progress)
        library.indexes.rebuild()
    finally:
        library.close()


def _read_again(library: Library, passwords: Mapping[str, str], progress: Progress) -> Iterator[AddResult]:
    """Every document of the catalogue, one that has several names once."""
    seen: set[str] = set()
    for row in [row for row in library.catalog.documents() if row.removed_at is None]:
        if row.id in seen:
            continue
        seen.add(row.id)
        try:
            yield library.read_again(row.name, passwords.get(row.name), progress=progress)
        except EncryptedError:
            warning = "It needs its password to be read again (--passwords); it keeps the text it has."
            yield AddResult(row.name, "unchanged", row.id, row.pages, row.chunks, warning=warning)
        except ProjectError as error:
            yield AddResult(row.name, "failed", row.id, error=f"{error} It keeps the text it has.")


def _set_aside_catalogue(settings: Settings) -> bool:
    """Whether the catalogue was of no use, or not there, and is out of the way now."""
    path = settings.store / "catalog.sqlite3"
    lock = StoreLock(settings.store / "store.lock")
    try:
        if not path.exists():
            return True
        try:
            catalog = Catalog(path)
            complaints = catalog.complaints()
            catalog.close()
            if not complaints:
                return False
        except StoreError as error:
            if error.retryable or isinstance(error, NewerStoreError):
                raise
        _rename(path)
        return True
    finally:
        lock.close()


def _rename(path: Path) -> None:
    """Out of the way, with what SQLite keeps beside it; that first, for SQLite would take it to belong to
    the new file.
    """
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for part in sorted(path.parent.glob(f"{path.name}*"), reverse=True):
        if not part.name.startswith(f"{path.name}.before"):
            try:
                part.rename(part.with_name(f"{path.name}.before-{stamp}{part.name[len(path.name) :]}"))
            except OSError as error:
                raise ProjectError(
                    f"{part} cannot be set aside: {error.strerror}.",
                    hint="Set FINPOLICY_HOME to a folder you may write.",
                ) from error
