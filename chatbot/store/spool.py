"""Uploaded bytes while they wait to be read: files of our own naming that only we can read; knows no queue."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chatbot.errors import DocumentError
from chatbot.store.names import display_name

__all__ = ["NewFile", "Spool", "Spooled"]

COPY_BYTES = 1 << 20
LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to add. name: display text, never a path. data: open at its start. password: for this reading only, never stored."""

    name: str
    data: BinaryIO
    password: str | None = None


@dataclass(frozen=True, slots=True)
class Spooled:
    """A file taken in, or the reason why not. name: as it will be called; path: its bytes, None where there is an error."""

    name: str
    path: Path | None = None
    password: str | None = None
    error: str | None = None


class Spool:
    """A folder of waiting files, emptied when it is opened: whoever opens it is the store's only owner."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in folder.iterdir():
            left.unlink()

    def take(self, files: Sequence[NewFile]) -> Iterator[Spooled]:
        """Each file in turn. One with an impossible name, or with the name of a different file before it, is an error and costs the others nothing."""
        digests: dict[str, str] = {}
        for file in files:
            try:
                name = _name(file.name)
                path, digest = self._copy(file.data)
            except DocumentError as failure:
                yield Spooled(_short(file.name), error=str(failure))
                continue
            if digests.setdefault(name, digest) == digest:
                yield Spooled(name, path, file.password)
            else:
                path.unlink()
                yield Spooled(name, error=f"Two different files are called {name}. Rename this one and add it again.")

    def _copy(self, data: BinaryIO) -> tuple[Path, str]:
        """The copy (mode 0600) and its SHA-256."""
        digest = hashlib.sha256()
        try:
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".pdf")
            with os.fdopen(handle, "wb") as target:
                while part := data.read(COPY_BYTES):
                    digest.update(part)
                    target.write(part)
        except OSError as error:
            raise DocumentError(f"The file cannot be kept: {error.strerror}.", hint="Free disk space, or set FINPOLICY_HOME elsewhere.") from error
        return Path(name), digest.hexdigest()


def _name(given: str) -> str:
    try:
        return display_name(given)
    except DocumentError as error:
        raise DocumentError(error.message, hint="Rename the file and add it again.") from error


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_SHOWN else name[:LONGEST_SHOWN] + "…"
