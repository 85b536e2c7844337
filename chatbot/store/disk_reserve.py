"""Keeps a reserve file that is freed when the disk is full.

The store can then still be opened and documents erased.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM
from chatbot.store.plain_files import descriptor_of

__all__ = [
    "FULL",
    "LITTLE_SPACE",
    "MAKE_ROOM",
    "RESERVE_BYTES",
    "DiskFullError",
    "Reserve",
    "disk_is_full",
    "free_bytes",
    "is_full",
]

MAKE_ROOM = f"Free space on that disk, or erase a document (`{PROGRAM} remove NAME --purge`). Then try again."
# With fewer free bytes a failed write is attributed to a full disk, which SQLite and the index libraries do
# not always report.
LITTLE_SPACE = 2**20
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Opening a store on a full disk takes 0.4 MB, for what SQLite shares between connections. Erasing a document
# step by step takes about 3 MB.
RESERVE_BYTES = 8 * 2**20
STEP_BYTES = 2**20
# The reserve never takes the last of a disk, which the open store needs for its logs, nor more than this
# fraction of a small disk.
LEFT_BYTES = 2 * 2**20
LARGEST_SHARE = 8


class DiskFullError(StoreError):
    """There was no space for a write."""


class Reserve:
    """The reserve of one store, for the holder of the store's lock."""

    def __init__(self, folder: Path) -> None:
        """folder: the store's. Changes nothing."""
        self._path = folder / "reserve"
        self._lock, self._borrowers = threading.Lock(), 0

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Frees the reserve inside the context if the disk is nearly full.

        At the end it takes back what it can get. It never fails by itself.
        """
        with self._lock, suppress(OSError):
            self._borrowers += 1
            if free_bytes(self._path.parent) < RESERVE_BYTES:
                file = descriptor_of(self._path, os.O_WRONLY)
                try:
                    os.ftruncate(file, 0)
                finally:
                    os.close(file)
        try:
            yield
        finally:
            with self._lock:
                self._borrowers -= 1
                if not self._borrowers:
                    self._keep()

    def _keep(self) -> None:
        """Takes as much of the disk as is wanted and available.

        A disk that is full or read-only is no reason to fail.
        """
        with suppress(OSError):
            file = descriptor_of(self._path, os.O_RDWR | os.O_CREAT)
            try:
                size = os.fstat(file).st_size
                wanted = min(RESERVE_BYTES, shutil.disk_usage(self._path.parent).total // LARGEST_SHARE)
                while size < wanted and free_bytes(self._path.parent) >= STEP_BYTES + LEFT_BYTES:
                    os.posix_fallocate(file, size, STEP_BYTES)
                    size += STEP_BYTES
            finally:
                os.close(file)


def free_bytes(folder: Path) -> int:
    """Returns the free bytes on the disk of a folder, or of its nearest existing parent."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    return shutil.disk_usage(there).free


def is_full(folder: Path) -> bool:
    """Tells whether a write in this folder will probably fail for want of space."""
    return free_bytes(folder) < LITTLE_SPACE


def disk_is_full(folder: Path) -> DiskFullError:
    """Returns the error for a write that found no space. folder: where the file was to be."""
    return DiskFullError(
        f"The disk is full, so {folder} cannot be written. Nothing stored is lost.",
        hint=MAKE_ROOM,
        retryable=True,
    )
