"""Says where the files of kept copies are, and keeps them in a folder of this machine."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chatbot.store.plain_files import is_plain, open_plain

__all__ = ["CopyFiles", "prepared"]

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


class CopyFiles:
    """Files by name, each visible only when it is complete: those of one folder, or what a subclass has.

    Other files may be in the folder. No link is followed.

    incoming: the folder of this machine in which a file is prepared; on the same disk as what holds it, if
        that is a folder.
    alone: whether no other process changes them.

    Methods raise OSError, FileNotFoundError for a missing file, and StoreError for what a server refuses.
    """

    def __init__(self, folder: Path, *, alone: bool = True) -> None:
        """Raises OSError if the folder is missing and cannot be created."""
        self.incoming, self.alone = folder, alone
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, prepared: Path, name: str) -> None:
        """Makes a prepared file permanent under a name; a power cut leaves either the former one or this one.

        It is moved.
        """
        os.replace(prepared, self.incoming / name)
        folder = os.open(self.incoming, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def parts(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file, wherever it is kept."""
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
        """Returns a path on this machine with the file's content, None for a missing file."""
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
        """Returns the names of what is no plain file, such as a link or a pipe. It counts as missing."""
        return [entry.name for entry in os.scandir(self.incoming) if not entry.is_file(follow_symlinks=False)]

    def read(self, name: str) -> bytes:
        """Returns the content of a small file."""
        return b"".join(self.parts(name))

    def sha256(self, name: str) -> str:
        """Reads a whole file and returns its SHA-256."""
        digest = hashlib.sha256()
        for part in self.parts(name):
            digest.update(part)
        return digest.hexdigest()
