"""Finds PDFs that users copied into the folder of documents, and which of them are not added yet."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.store.catalog import Catalog
from chatbot.store.document_names import free_name, known_as
from chatbot.store.kept_copies import is_copy
from ingestion.reading.formats import is_named_like_a_document

__all__ = ["BROKEN_OFF", "UnaddedFile", "note_copies_of", "unadded_files", "unread"]

# Why a file was not added whose reading was interrupted, and why one that was tried again.
BROKEN_OFF = ("reading it was interrupted", "reading it was interrupted twice")
# A file that changed less than this many seconds ago may still be growing. This is also how long to wait for
# it.
SETTLED_SECONDS = 2.0
LONGEST_WAIT = 30.0
LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class UnaddedFile:
    """A PDF in the folder.

    digest: its SHA-256; for a file that is too large, its size and path.
    name: what it will be called.
    problem: why it could not be read when that was tried, "" if it was not tried yet.
    """

    path: Path
    digest: str
    name: str
    problem: str


def unadded_files(folder: Path) -> Iterator[Path]:
    """Returns the PDFs in the folder and its sub-folders, in name order.

    Kept copies, hidden files and links that lead out of the folder are left out.
    """
    for place, inside, files in os.walk(folder):
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            hidden = (
                name.startswith(".")
                or not is_named_like_a_document(name)
                or (path.parent == folder and is_copy(name))
            )
            if not hidden and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                yield path


def unread(catalog: Catalog, folder: Path, *, most_megabytes: float, wait: bool = False) -> list[UnaddedFile]:
    """Returns files in the folder that are not documents: not tried yet, or tried without success.

    A document that was added and later removed is neither.

    most_megabytes: the largest file that is taken, in MiB. A larger one is not read to identify it.
    wait: whether to wait for files that still grow, half a minute for all of them, and note what is already
        added, so that it stays away when it is removed.
    """
    known = catalog.hashes()
    seen = catalog.seen()
    found = list[UnaddedFile]()
    there: dict[str, str] = {}
    until = time.monotonic() + LONGEST_WAIT
    for path in unadded_files(folder):
        with suppress(OSError):  # gone meanwhile, or not ours to read
            if wait and not _settled(path, until):
                continue
            size = path.stat().st_size
            if size <= most_megabytes * 2**20:
                digest = _digest(path)
            else:
                digest = f"{size} bytes: {path.relative_to(folder)}"
            if digest in there:
                continue
            there[digest] = path.name
            if digest not in known and (problem := seen.get(digest)) != "":
                found.append(
                    UnaddedFile(
                        path, digest, path.name, "" if problem in (None, BROKEN_OFF[0]) else problem or ""
                    )
                )
    if wait:
        catalog.see_only(there)
        for digest in (there.keys() & known) - seen.keys():
            catalog.see(digest)
    return _named(found, catalog, there)


def note_copies_of(
    catalog: Catalog, folder: Path, sizes: Collection[int], digests: Collection[str]
) -> list[Path]:
    """Notes the files with these SHA-256, which must not be added again. sizes: their sizes in bytes."""
    found: list[Path] = []
    for path in unadded_files(folder):
        with suppress(OSError):
            if path.stat().st_size in sizes and (digest := _digest(path)) in digests:
                found.append(path)
                with suppress(StoreError):  # on a full disk, where it is erased all the same
                    catalog.see(digest)
    return found


def _named(found: Sequence[UnaddedFile], catalog: Catalog, there: Mapping[str, str]) -> list[UnaddedFile]:
    """Gives files unique names.

    If the folder holds two files of one name, they are not versions of one document, but for example reports
    of two years.
    """
    taken = {row.name for row in catalog.waiting()}
    named = list[UnaddedFile]()
    for one in found:
        name = known_as(one.path.name)
        holder = catalog.newest(name)
        if name in taken or (holder is not None and holder.sha256 in there):
            name = free_name(name, {*catalog.names(), *taken})
        taken.add(name)
        named.append(replace(one, name=name))
    return named


def _settled(path: Path, until: float) -> bool:
    """Waits until nobody writes to a file any more, and tells whether that is so.

    The wait ends at the given time of the monotonic clock.
    """
    while -SETTLED_SECONDS < time.time() - path.stat().st_mtime < SETTLED_SECONDS:
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
