"""Appends cases to the operator's file of rated answers, and tells when that has changed.

It knows its own lines by the mark of who rated the answer; what others wrote is left as it is.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from chatbot.memory.cases.records import DEFAULT_FIELDS, Case, case_line, read_case

__all__ = ["FollowedFile"]


class FollowedFile:
    """A file of JSON lines that several processes may append to."""

    def __init__(self, path: Path, fields: tuple[str, str] = DEFAULT_FIELDS) -> None:
        """fields: what question and answer are called in it."""
        self.path, self._fields = path, fields
        self._seen: object = None

    def is_new(self) -> bool:
        """Whether it has changed since this was last asked; False if it cannot be looked at."""
        with suppress(OSError):
            status = self.path.stat()
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            changed, self._seen = seen != self._seen, seen
            return changed
        return False

    def append(self, case: Case) -> None:
        """Add a case as the last line, marked with `case.by`. Raises OSError."""
        record = json.loads(case_line(case))
        for field, default in zip(self._fields, DEFAULT_FIELDS, strict=True):
            record[field] = record.pop(default)
        line = json.dumps(record, ensure_ascii=False).encode("utf-8") + b"\n"
        with self._locked() as file:
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a line that another program left unfinished
                    line = b"\n" + line
            file.write(line)

    def remove(self, is_gone: Callable[[Case], bool]) -> None:
        """Erase the lines of marked cases for which is_gone(case) holds. Raises OSError."""
        if not self.path.exists():
            return
        with self._locked() as file:
            lines = file.readlines()
            kept = [line for line in lines if not self._is(line, is_gone)]
            if len(kept) < len(lines):
                new = self.path.with_name(f".{self.path.name}.{os.getpid()}")
                with new.open("wb") as written:
                    os.fchmod(written.fileno(), os.fstat(file.fileno()).st_mode & 0o777)
                    written.writelines(kept)
                    written.flush()
                    os.fsync(written.fileno())
                new.replace(self.path)

    def _is(self, line: bytes, is_gone: Callable[[Case], bool]) -> bool:
        with suppress(ValueError):
            case = read_case(line, fields=self._fields)
            return bool(case.by) and is_gone(case)
        return False

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, which nobody else changes meanwhile; it is made if it is not there."""
        while True:
            opened = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600)
            with os.fdopen(opened, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):
                    # Otherwise another process has put a new one in its place.
                    if os.fstat(file.fileno()).st_ino == self.path.stat().st_ino:
                        yield file
                        return
