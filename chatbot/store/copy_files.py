"""Says where the files of kept copies are, and keeps them in a folder of this machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chatbot.store.plain_files import is_plain, open_plain

__all__ = ["CopyFiles", "FolderFiles", "prepared"]

READ_BYTES = 1 << 20


@contextmanager
def prepared(folder: Path, parts: Iterable[bytes]) -> Iterator[Path]:
    """Provides a new file with this content, complete and on the disk. It is deleted unless it was moved.

    Raises OSError, and what `parts` raises.
    """
    handle, name = tempfile.mkstemp(dir=folder, prefix="incoming-", suffix=".partial")
    path = Path(name)
    try:
        # Closing a buffer would fail once more on a full disk.
        with os.fdopen(handle, "wb", buffering=0) as file:
            for part in parts:
                left = memoryview(part)
                while left:  # one call may write less if a disk is nearly full
                    left = left[file.write(left) or 0 :]
            os.fsync(handle)
        yield path
    finally:
        path.unlink(missing_ok=True)


class CopyFiles(ABC):
    """Files by name, each visible only when it is complete.

    incoming: the folder of this machine in which a file is prepared; on the same disk as what holds it, if
        that is a folder.
    alone: whether no other process changes them.

    Methods raise OSError, FileNotFoundError for a missing file, and StoreError for what a server refuses.
    """

    incoming: Path
    alone = False

    @abstractmethod
    def put(self, prepared: Path, name: str) -> None:
        """Makes a prepared file permanent under a name, in place of a former one. It is moved."""

    @abstractmethod
    def parts(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file, wherever it is kept."""

    @abstractmethod
    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing file."""

    @abstractmethod
    def local(self, name: str) -> Path | None:
        """Returns a path on this machine with the file's content, None for a missing file."""

    @abstractmethod
    def delete(self, name: str) -> None:
        """Deletes a file. A missing one is ignored."""

    @abstractmethod
    def listed(self) -> Iterator[tuple[str, float, int]]:
        """Yields (name, when it was put, size in bytes) of every file."""

    def strange(self) -> list[str]:
        """Returns the names of what is no plain file, such as a link or a pipe. It counts as missing."""
        return []

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        return b"".join(self.parts(name))

    def sha256(self, name: str) -> str:
        """Reads a whole file and returns its SHA-256."""
        digest = hashlib.sha256()
        for part in self.parts(name):
            digest.update(part)
        return digest.hexdigest()


class FolderFiles(CopyFiles):
    """The files of one folder; other files may be in it. No link is followed."""

    def __init__(self, folder: Path, *, alone: bool = True) -> None:
        """Raises OSError if the folder is missing and cannot be created."""
        self.incoming, self.alone = folder, alone
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, prepared: Path, name: str) -> None:
        """Puts a file in place so that a power cut leaves either the former one or this one."""
        os.replace(prepared, self.incoming / name)
        folder = os.open(self.incoming, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def parts(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file."""
        with open_plain(self.incoming / name) as file:
            while part := file.read(READ_BYTES):
                yield part

    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing file."""
        with suppress(FileNotFoundError):
            if path := self.local(name):
                return path.lstat().st_size
        return None

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
