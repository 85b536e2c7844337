"""One owner of the store at a time, by an operating-system lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from chatbot.errors import StoreError

__all__ = ["StoreLock"]


class StoreLock:
    """Holds the store until closed or until the process ends. The file names the holder's pid for whoever is refused."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError naming the holder where another process has the store, or where the folder cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(
                f"The store {path.parent} cannot be written: {error.strerror}.", hint="Set FINPOLICY_HOME to a folder you may write."
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, 20).decode("ascii", "replace").strip()
            os.close(self._file)
            hint = "Use the chat that is open, or stop that process and try again."
            raise StoreError(f"The store is in use by process {holder or 'unknown'}.", hint=hint, retryable=True) from error
        os.ftruncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def close(self) -> None:
        """Give the store free; safe to call again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
