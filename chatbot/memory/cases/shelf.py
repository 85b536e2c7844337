"""The cases of one file with their vectors, read once and again only where the file has changed; knows one file, not whose it is."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.locked_files import LockedFile
from chatbot.memory.cases.records import LONGEST_LINE, Case, case_id, case_line, edited_line, read_case
from chatbot.memory.cases.vectors import BATCH, VectorFile, question_vectors, vector_key
from chatbot.memory.import_files import LineProblem, open_file
from chatbot.store.embedders import Embedder

__all__ = ["Shelf", "ShelfView", "read_cases"]

NOTHING = (0, 0, 0)
# Who shares a line that names nobody: no owner, but not the one who looks at it either.
SOMEBODY = "somebody"


@dataclass(frozen=True, slots=True)
class ShelfView:
    """What a file held at a time. cases: the newest of each question, in the file's order; lines: of all cases; superseded: cases that a newer one took the
    place of. ids: id -> place among the cases. rows: (cases, dimension) unit vectors; embedded: (cases,) which have one; positive: (cases,)."""

    cases: tuple[Case, ...]
    problems: tuple[LineProblem, ...]
    lines: int
    ids: Mapping[str, int]
    rows: NDArray[np.float32]
    embedded: NDArray[np.bool_]
    positive: NDArray[np.bool_]

    @property
    def superseded(self) -> int:
        return self.lines - len(self.cases)


class Shelf:
    """One file of cases. Safe from several threads, and beside other processes that use it."""

    def __init__(self, path: Path, embedder: Embedder, *, shared: bool = False) -> None:
        """shared: whether its cases are somebody's who shares them; in one's own file nobody is named, whatever a line says."""
        self._shared = shared
        self._embedder, self._file, self._vectors = embedder, LockedFile(path, what="the cases"), VectorFile(path, embedder)
        self._lock = threading.RLock()
        self._stamps = (NOTHING, NOTHING)
        self._live: dict[str, Case] = {}
        self._problems: list[LineProblem] = []
        # Lines that were read, those of them that are cases, and the bytes of all with their SHA-256.
        self._lines = self._read = self._end = 0
        self._digest = b""
        nothing = np.zeros(0, np.bool_)
        self._view = ShelfView((), (), 0, {}, np.zeros((0, embedder.dimension), np.float32), nothing, nothing)

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def size(self) -> int:
        """Bytes that it keeps ready, about: of the lines, and of the vectors."""
        return self._end + int(self._view.rows.nbytes)

    def view(self) -> ShelfView:
        """What the files hold now. Raises StoreError."""
        with self._lock:
            stamps = self._file.stamp(), self._vectors.stamp()
            if stamps != self._stamps:
                if stamps[0] != self._stamps[0]:
                    self._reread()
                self._view, self._stamps = self._look(), stamps
            return self._view

    def append(self, cases: Sequence[Case]) -> None:
        """Keep cases at the end, without their vectors. Raises StoreError, UsageError."""
        lines = b"".join(map(case_line, cases))
        if lines:
            self._file.append(lines)

    def embed(self, *, only: str = "", most: int | None = None, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Make and keep the vectors that are missing; how many are missing still. only: of the case with this id; most: of so many cases, the newest first.

        Raises ModelError, StoreError.
        """
        view = self.view()
        missing = [view.cases[at] for at in np.flatnonzero(~view.embedded)[::-1].tolist()]
        part = [case.question for case in missing if only in ("", case.id)][:most]
        for start in range(0, len(part), BATCH):  # kept as they are made, so that what was made outlives a stop
            some = part[start : start + BATCH]
            self.keep_vectors(some, question_vectors(self._embedder, some))
            progress(start + len(some), len(part))
        return len(missing) - len(part)

    def keep_vectors(self, questions: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Keep the vectors of questions: unit rows of shape (n, dimension). Raises StoreError."""
        self._vectors.append([vector_key(question) for question in questions], rows)

    def change(self, key: str, change: Callable[[Case], Case]) -> Case:
        """Put change(the newest case with this id) in its place, in one step: what others write meanwhile is seen or waits. Older verdicts on its question go,
        and so does what stands on the question that it has then. Raises NotFoundError, StoreError, UsageError, and what `change` raises."""
        made: list[Case] = []

        def written(held: bytes) -> bytes:
            lines = [(line, self._read_line(line, at)) for at, line in enumerate(BytesIO(held))]
            last = max((at for at, (_, case) in enumerate(lines) if case and case.id == key), default=-1)
            old = lines[last][1] if last >= 0 else None
            if old is None:
                raise NotFoundError(f"You have no case {key[:40]!r}.", hint="List them; it may have been deleted.")
            new = change(old)
            gone = {key, new.id}
            kept = [
                edited_line(line, new) if at == last else line
                for at, (line, case) in enumerate(lines)
                if at == last or not case or case.id not in gone
            ]
            made[:] = [new]
            return b"".join(kept)

        self._file.rewrite(written)
        self._forget_vectors()
        return made[0]

    def remove(self, is_gone: Callable[[Case], bool]) -> list[Case]:
        """Take out all cases of the kind, older verdicts on their questions too; the newest of each question that was taken out.

        The file is written anew in one step: what is deleted is gone from it, its older verdicts too, which an appended mark would bring back for every
        program that does not know the mark. Lines that cannot be read stay as they are. Raises StoreError.
        """
        gone: dict[str, Case] = {}

        def written(held: bytes) -> bytes:
            lines = [(line, self._read_line(line, at)) for at, line in enumerate(BytesIO(held))]
            gone.update({case.id: case for _, case in lines if case and is_gone(case)})
            return b"".join(line for line, case in lines if not case or case.id not in gone)

        if self._file.stamp() != NOTHING:
            self._file.rewrite(written)
            if gone:
                self._forget_vectors()
        return list(gone.values())

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _own(self, case: Case) -> Case:
        by = (case.by or SOMEBODY) if self._shared else ""
        return case if by == case.by else replace(case, by=by, id=case_id(case.question, by, case.asked_of))

    def _read_line(self, line: bytes, line_index: int) -> Case | None:
        """The case on a line, None where it is none."""
        try:
            return self._own(read_case(line, line_index))
        except ValueError:
            return None

    def _forget_vectors(self) -> None:
        self._vectors.keep_only(lambda: {vector_key(case.question) for case in self.view().cases})

    def _reread(self) -> None:
        """Read what was added, or everything where more than that has changed."""
        held, start = self._file.read(), self._end
        # What was read last must still be there, and have ended with a line.
        if not (start and held[start - 1 : start] == b"\n" and hashlib.sha256(memoryview(held)[:start]).digest() == self._digest):
            start = 0
            self._live, self._problems, self._lines, self._read = {}, [], 0, 0
        self._take(held[start:])
        self._end, self._digest = len(held), hashlib.sha256(held).digest()

    def _take(self, data: bytes) -> None:
        for line in BytesIO(data):
            self._lines += 1
            if not line.strip():
                continue
            try:
                case = self._own(read_case(line, self._lines - 1))
            except ValueError as error:
                cut = "" if line.endswith(b"\n") else "the file ends within it: "
                self._problems.append(LineProblem(self._lines, cut + str(error)))
                continue
            self._read += 1
            self._live.pop(case.id, None)
            self._live[case.id] = case

    def _look(self) -> ShelfView:
        keys, stored = self._vectors.load()
        cases = tuple(self._live.values())
        at = np.array([keys.get(vector_key(case.question), -1) for case in cases], np.int64)
        embedded = at >= 0
        rows = stored[np.maximum(at, 0)] if len(stored) else np.zeros((len(cases), self._embedder.dimension), np.float32)
        rows[~embedded] = 0
        positive = np.array([case.reward == 1 for case in cases], np.bool_)
        ids = {key: at for at, key in enumerate(self._live)}
        return ShelfView(cases, tuple(self._problems), self._read, ids, rows, embedded, positive)


def read_cases(path: Path) -> tuple[list[Case], list[LineProblem]]:
    """The cases of a JSONL file from elsewhere, which never count as verified or shared, nor as newer than now, and the lines that cannot be read.

    Raises NotFoundError.
    """
    cases, problems, now = list[Case](), list[LineProblem](), time.time()
    try:
        with open_file(path) as file:
            for number, line in enumerate(_cut_lines(file), 1):
                try:
                    if line.strip():
                        cases.append(_from_elsewhere(line, number - 1, now))
                except ValueError as error:
                    if not cases and line.lstrip().startswith(b"[") and "no JSON" in str(error):
                        return [], [LineProblem(number, "the file is one JSON array over several lines; each case needs a line of its own")]
                    problems.append(LineProblem(number, str(error)))
    except OSError as error:
        raise NotFoundError(f"{path.name} cannot be read: {error.strerror}.", hint="Give a file of JSON lines.") from error
    return cases, problems


def _from_elsewhere(line: bytes, line_index: int, now: float) -> Case:
    """Raises ValueError also for a case that would be too long as it is written here."""
    case = read_case(line, line_index)
    case = replace(case, verified=False, by="", at=min(case.at, now), id=case_id(case.question, asked_of=case.asked_of))
    try:
        case_line(case)
    except UsageError as error:
        raise ValueError(error.message) from error
    return case


def _cut_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines; one that is longer than a case may be is cut off behind that, so that it is never held whole."""
    while line := file.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE + 1)
