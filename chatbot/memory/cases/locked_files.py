"""A file of lines that several processes append to and rewrite, under the operating system's lock on it; knows nothing of what the lines say."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from chatbot.errors import StoreError
from chatbot.store.reserve import FULL, disk_is_full, is_full

__all__ = ["LockedFile"]

# Seconds to wait for another process that holds the file, and between two looks.
BUSY_SECONDS, LOOK_SECONDS = 5.0, 0.01
# What the system says where there is no room for more.


class LockedFile:
    """One file. what: as errors call it. Nothing is kept open between calls, so that a file that was put in its place is the one that is used. A link is
    followed by all calls alike; what is no file (a folder, a pipe) is refused and not waited for."""

    def __init__(self, path: Path, *, what: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path, self._what, self._busy_seconds = path, what, busy_seconds

    def stamp(self) -> tuple[int, int, int]:
        """(inode, bytes, nanoseconds of the last change): another one where the file is another; zeros where there is none. Raises StoreError."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return 0, 0, 0
        except OSError as error:
            raise self._unusable(error) from error
        return found.st_ino, found.st_size, found.st_mtime_ns

    def read(self) -> bytes:
        """Its bytes; none where there is no file. Raises StoreError."""
        with self.opened() as file:
            return file.read() if file else b""

    @contextmanager
    def opened(self) -> Iterator[BinaryIO | None]:
        """The file to be read, None where there is none. What the system refuses while it is read is a StoreError too."""
        try:
            try:
                opened = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
            except FileNotFoundError:
                yield None
                return
            with os.fdopen(_sound(opened), "rb") as file:
                yield file
        except OSError as error:
            raise self._unusable(error) from error

    def append(self, data: bytes, *, whole: int = 0) -> None:
        """Write at the end, all or nothing, on disk before this returns. Raises StoreError.

        whole: 0 for lines: one that was left without its end gets it first, so that nothing is glued to it. Else bytes of a record: part of one that
        was left at the end is cut off.
        """
        with self._locked() as file:
            size = os.fstat(file).st_size
            end = size - size % whole if whole else size
            try:
                if end < size:
                    os.ftruncate(file, end)
                elif not whole and size and os.pread(file, 1, size - 1) != b"\n":
                    data = b"\n" + data
                _write_all(file, data)
                os.fsync(file)
            except OSError as error:
                with suppress(OSError):
                    os.ftruncate(file, end)
                raise self._unusable(error) from error

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Put change(what it holds) in its place at once; what is the same already is left. Raises StoreError, and what `change` raises."""
        with self._locked() as file:
            held = _read_all(file)
            data = change(held)
            if data == held:
                return
            temporary = ""
            try:
                place = self.path.resolve()  # of a link the file that it leads to
                made, temporary = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
                with os.fdopen(made, "wb") as new:
                    new.write(data)
                    new.flush()
                    os.fsync(new.fileno())
                os.replace(temporary, place)
                _keep_name(place.parent)
            except OSError as error:
                if temporary:
                    Path(temporary).unlink(missing_ok=True)
                raise self._unusable(error) from error

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, made if need be and held by this process alone."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self._hold(time.monotonic() + self._busy_seconds)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            yield file
        finally:
            os.close(file)

    def _hold(self, until: float) -> int:
        while True:
            # Appending by the system's own rule: what a program writes that knows of no lock is not written over.
            file = _sound(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o600))
            try:
                with suppress(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    # Whoever held it before may have put another file in its place.
                    if os.fstat(file).st_ino == self.stamp()[0]:
                        return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)
            if time.monotonic() > until:
                message = f"Another program holds {self._what} ({self.path.name})."
                raise StoreError(message, hint="Close it and try again; nothing stored is lost.", retryable=True)
            time.sleep(LOOK_SECONDS)

    def _unusable(self, error: OSError) -> StoreError:
        if error.errno in FULL or is_full(self.path.parent):
            return disk_is_full(self.path.parent)
        hint = "Set FINPOLICY_HOME to a folder you may write."
        if error.errno in {errno.EISDIR, errno.ENXIO} or (self.path.exists() and not self.path.is_file()):
            hint = "Move away what stands in the place of the file."
        return StoreError(f"{self._what.capitalize()} ({self.path.name}) cannot be used: {error.strerror or error}.", hint=hint)


def _sound(file: int) -> int:
    """An open file, where it is one. Raises OSError for a folder, a pipe or a device, which would be waited for without end."""
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    kind = errno.EISDIR if stat.S_ISDIR(mode) else errno.ENXIO
    raise OSError(kind, os.strerror(kind) if kind == errno.EISDIR else "It is not a file")


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _read_all(file: int) -> bytes:
    with os.fdopen(os.dup(file), "rb") as held:
        held.seek(0)
        return held.read()


def _keep_name(folder: Path) -> None:
    """Have the folder know on disk which file has the name."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
