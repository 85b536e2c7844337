"""Says where the files of kept copies are, and keeps them in a folder of this machine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from chatbot.store.plain_files import is_plain, open_plain

__all__ = ["CopyFiles", "FolderFiles"]


class CopyFiles(Protocol):
    """Files by name, each visible only when it is complete.

    incoming: the folder of this machine in which a file is prepared; on the same disk as what holds it, if
        that is a folder.

    Methods raise OSError, FileNotFoundError for a missing file, and StoreError for what a server refuses.
    """

    incoming: Path

    def alone(self) -> bool:
        """Tells whether no other process changes them."""
        ...

    def put(self, prepared: Path, name: str) -> None:
        """Makes a prepared file permanent under a name, in place of a former one. It is moved."""

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        ...

    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing file."""
        ...

    def open(self, name: str) -> BufferedReader:
        """Opens a copy to be read."""
        ...

    def sha256(self, name: str) -> str:
        """Reads a whole file and returns its SHA-256."""
        ...

    def local(self, name: str) -> Path | None:
        """Returns a path on this machine with the file's content, None for a missing file."""
        ...

    def delete(self, name: str) -> None:
        """Deletes a file. A missing one is ignored."""

    def listed(self) -> Iterator[tuple[str, float, int]]:
        """Yields (name, when it was put, size in bytes) of every file."""
        ...

    def strange(self) -> list[str]:
        """Returns the names of what is no plain file, such as a link or a pipe. It counts as missing."""
        ...


class FolderFiles:
    """The files of one folder; other files may be in it. No link is followed."""

    def __init__(self, folder: Path, *, alone: bool = True) -> None:
        """alone: whether no other process changes them.

        Raises OSError if the folder is missing and cannot be created.
        """
        self.incoming, self._alone = folder, alone
        folder.mkdir(parents=True, exist_ok=True)

    def alone(self) -> bool:
        """Tells whether no other process changes them."""
        return self._alone

    def put(self, prepared: Path, name: str) -> None:
        """Puts a file in place so that a power cut leaves either the former one or this one."""
        os.replace(prepared, self.incoming / name)
        folder = os.open(self.incoming, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        with self.open(name) as file:
            return file.read()

    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing file."""
        path = self.incoming / name
        with suppress(FileNotFoundError):
            return path.lstat().st_size if is_plain(path) else None
        return None

    def open(self, name: str) -> BufferedReader:
        """Opens a file to be read."""
        return open_plain(self.incoming / name)

    def sha256(self, name: str) -> str:
        """Reads a whole file and returns its SHA-256."""
        with self.open(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def local(self, name: str) -> Path | None:
        """Returns the file's own path, None for a missing file."""
        path = self.incoming / name
        return path if is_plain(path) else None

    def delete(self, name: str) -> None:
        """Deletes a file. A missing one is ignored."""
        (self.incoming / name).unlink(missing_ok=True)

    def listed(self) -> Iterator[tuple[str, float, int]]:
        """Yields (name, when it was put, size in bytes) of every file."""
        for entry in os.scandir(self.incoming):
            with suppress(FileNotFoundError):  # deleted meanwhile
                if entry.is_file(follow_symlinks=False):
                    found = entry.stat(follow_symlinks=False)
                    yield entry.name, found.st_mtime, found.st_size

    def strange(self) -> list[str]:
        """Returns the names of what is no plain file."""
        return [entry.name for entry in os.scandir(self.incoming) if not entry.is_file(follow_symlinks=False)]
