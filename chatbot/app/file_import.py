"""Imports a file of memories in a thread of its own, as vectors of a thousand take seconds."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from chatbot.errors import ProjectError
from chatbot.memory.import_files import ImportedLines, Progress
from chatbot.store.disk_reserve import FULL, disk_is_full

__all__ = ["FileImport", "Wording", "outcome_lines"]

log = logging.getLogger(__name__)

NAME = "import.jsonl"
# The number of unreadable lines that are listed.
MOST_LINES = 10


@dataclass(frozen=True, slots=True)
class Wording:
    """How an import is described.

    one, many: what a line is called.
    known: what is said of lines that existed already.
    """

    one: str
    many: str
    known: str


class FileImport:
    """One import, begun when it is created. Its own thread writes it, the page reads it.

    imported, error: the outcome, both None until finished.
    """

    def __init__(self, load: Callable[[Path, Progress], ImportedLines], name: str, file: BinaryIO) -> None:
        """load: reads the file into its memory.
        name: the file's name, for its reader.
        file: copied to disk here, piece by piece, so that no thread holds what was uploaded.
        """
        self.name = name
        # Done and total in one value, since they are read together.
        self.progress = (0, 0)
        self.imported: ImportedLines | None = None
        self.error: ProjectError | None = None
        self._folder = TemporaryDirectory(prefix="finpolicy-")
        try:
            with Path(self._folder.name, NAME).open("wb") as copy:
                shutil.copyfileobj(file, copy)
        except OSError as error:
            self._folder.cleanup()
            if error.errno in FULL:
                self.error = disk_is_full(Path(self._folder.name).parent)
            else:
                self.error = ProjectError(f"The file could not be saved: {error.strerror}.")
            return
        self._thread = threading.Thread(target=self._run, args=(load,), name="file-import", daemon=True)
        self._thread.start()

    @property
    def finished(self) -> bool:
        """It has ended, with or without success."""
        return self.imported is not None or self.error is not None

    def wait(self, seconds: float) -> None:
        """Waits until it is finished, at most `seconds`."""
        if not self.finished:
            self._thread.join(seconds)

    def _run(self, load: Callable[[Path, Progress], ImportedLines]) -> None:
        try:
            with self._folder as folder:
                imported = load(Path(folder, NAME), self._tell)
            self.imported = imported
        except ProjectError as error:
            self.error = error
        except Exception:
            log.exception("the import failed")
            self.error = ProjectError("The file could not be imported.", hint="See the server's log.")

    def _tell(self, done: int, total: int) -> None:
        self.progress = (done, total)


def outcome_lines(name: str, imported: ImportedLines, wording: Wording) -> list[str]:
    """Describes the outcome of an import, and each line that could not be read."""
    known = f", {imported.known:,} {wording.known}" if imported.known else ""
    count = len(imported.problems)
    unread = [f"⚠ Line {one.line} was not read: {one.reason}." for one in imported.problems[:MOST_LINES]]
    more = [f"⚠ {count - MOST_LINES:,} more lines were not read."] if count > MOST_LINES else []
    mark = "✓" if imported.added or imported.known or not count else "⚠"
    return [
        (
            f"{mark} {name}: {imported.added:,} {wording.one if imported.added == 1 else wording.many} "
            f"imported{known}."
        ),
        *unread,
        *more,
    ]
