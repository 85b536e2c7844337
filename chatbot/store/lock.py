"""Gives the store one owner at a time, by an operating-system lock that ends with its process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.store.file_permissions import make_private, mend_folder
from chatbot.store.plain_files import descriptor_of, refuse_strange

__all__ = ["StoreLock", "release"]

# Of a pid, and the command if it is one that takes no others in.
HOLDER_BYTES = 40
MCP = " (finpolicy mcp)"
IN_USE = (
    "Wait until it is done, or stop it. A server accepts commands, and FinPolicy(ADDRESS) from Python, "
    "once it is open."
)
IN_USE_BY_MCP = "Close the assistant that started it, then start it again: it works beside a server."


class StoreLock:
    """Holds the store until closed or until the process ends.

    The file names the holder's pid for those who are refused. The store is closed to other accounts.

    left_behind: whether the holder before ended without closing, so that something may be half done.
    """

    def __init__(self, path: Path) -> None:
        """Takes the lock.

        Raises StoreError naming the holder if another process has the store, or if the folder is not
        writable.
        """
        make_private()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            refuse_strange(path)
            self._file = descriptor_of(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise StoreError(
                f"The store {path.parent} cannot be written: {error.strerror}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = self._holder()
            os.close(self._file)
            hint = IN_USE_BY_MCP if holder.endswith(MCP) else IN_USE
            raise StoreError(
                f"The store is in use by process {holder or 'unknown'}.", hint=hint, retryable=True
            ) from error
        mend_folder(path.parent)
        self.left_behind = bool(self._holder())
        self._write(f"{os.getpid()}{MCP if sys.argv[1:2] == ['mcp'] else ''}")

    def close(self, *, settled: bool = False) -> None:
        """Releases the store. May be called again. settled: whether nothing is half done."""
        if self._file >= 0:
            if settled:
                self._write("")
            os.close(self._file)
            self._file = -1

    def _holder(self) -> str:
        return os.pread(self._file, HOLDER_BYTES, 0).decode("ascii", "replace").strip()

    def _write(self, holder: str) -> None:
        """Overwrites the content, which needs no new space.

        A new file on a full disk stays empty, and its holder unknown.
        """
        with contextlib.suppress(OSError):
            os.pwrite(self._file, holder.ljust(HOLDER_BYTES).encode(), 0)


def release(lock: StoreLock) -> None:
    """Releases a store in which nothing of what the holder before left was settled."""
    lock.close(settled=not lock.left_behind)
