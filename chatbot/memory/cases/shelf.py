"""The cases of one owner with their vectors, as rows of the memories' file, read again only where they have changed; knows one shelf, not whose it is."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import NotFoundError
from chatbot.memory.cases.records import Case, case_id, case_line, edited_line, read_case
from chatbot.memory.cases.vectors import BATCH, question_vectors
from chatbot.memory.database import MemoryDatabase, Tables
from chatbot.memory.import_files import LineProblem
from chatbot.store.embedders import Embedder

__all__ = ["TABLES", "Shelf", "ShelfView", "own_case"]

# A row is a case as its line of JSON. Whatever changes one gives it another revision, and counts on its shelf: what was read once is known by both.
TABLES = Tables(
    "cases",
    (
        """create table rated_answer (number integer primary key autoincrement, shelf text not null, id text not null, line blob not null,
    revision integer not null default 0, fingerprint text, vector blob, unique (shelf, id));
create index rated_answer_of on rated_answer(shelf, number, revision);
create table rated_shelf (shelf text primary key, changes integer not null) without rowid;
"""
        + "".join(
            f"create trigger rated_{event} after {event} on rated_answer begin insert into rated_shelf values ({row}.shelf, 1)"
            " on conflict (shelf) do update set changes = changes + 1; end;\n"
            for event, row in (("insert", "new"), ("update", "new"), ("delete", "old"))
        ),
    ),
)
# A value that a disk turned into text is a line that cannot be read, as any other.
LINE = "cast(line as blob)"
ORDER = "select number, revision from rated_answer where shelf = ? order by number"
ROWS = f"""select number, revision, {LINE}, case when fingerprint = ? then vector end from rated_answer
    where number in (select value from json_each(?))"""
# Who shares a case that names nobody: no owner, but not the one who looks at it either.
SOMEBODY = "somebody"
# How far from 1 the length of a unit row may be: what is further is no vector that an embedder made.
UNIT = 1e-2
# A row of the table by its number, and which revision of it.
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ShelfView:
    """What a shelf held at a time. cases: one of each question, in the order they came, each with the key of its row; problems: rows that cannot be read.
    ids: id -> place among the cases. rows: (cases, dimension) unit vectors; embedded: (cases,) which have one; positive: (cases,)."""

    cases: tuple[Case, ...]
    keys: tuple[Key, ...]
    problems: tuple[LineProblem, ...]
    ids: Mapping[str, int]
    rows: NDArray[np.float32]
    embedded: NDArray[np.bool_]
    positive: NDArray[np.bool_]


def own_case(case: Case, *, shared: bool) -> Case:
    """The case as its shelf has it: among what is shared it is somebody's, in one's own nobody is named, whatever a line says."""
    by = (case.by or SOMEBODY) if shared else ""
    return case if by == case.by else replace(case, by=by, id=case_id(case.question, by, case.asked_of))


class Shelf:
    """The cases under one name. Safe from several threads, and beside other processes that use it."""

    def __init__(self, database: MemoryDatabase, name: str, embedder: Embedder, *, shared: bool = False) -> None:
        self._database, self._name, self._embedder, self._shared = database, name, embedder, shared
        self._lock = threading.RLock()
        self._changes = -1
        # The rows as they were read last: their keys, what each holds, and its vector.
        self._keys: list[Key] = []
        self._read: list[Case | LineProblem] = []
        self._bytes = 0
        nothing = np.zeros(0, np.bool_)
        self._rows = np.zeros((0, embedder.dimension), np.float32)
        self._view = ShelfView((), (), (), {}, self._rows, nothing, nothing)

    @property
    def size(self) -> int:
        """Bytes that it keeps ready, about: of the lines, and of the vectors."""
        return self._bytes + int(self._rows.nbytes)

    def view(self) -> ShelfView:
        """What the shelf holds now. Raises StoreError."""
        with self._lock:
            counted = self._database.read("select changes from rated_shelf where shelf = ?", (self._name,))
            changes = int(counted[0][0]) if counted else 0
            if changes != self._changes:
                self._reread()
                self._view, self._changes = self._look(), changes
            return self._view

    def put(self, cases: Sequence[Case]) -> None:
        """Keep cases, each in the place of what stands on its question. Raises StoreError, UsageError."""
        lines = [(case, case_line(case)) for case in cases]
        with self._database.write() as connection:
            for case, line in lines:
                self._put(connection, case, line)

    def embed(self, *, only: str = "", most: int | None = None, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Make and keep the vectors that are missing; how many are missing still. only: of the case with this id; most: of so many cases, the newest first.

        Raises ModelError, StoreError.
        """
        view = self.view()
        missing: list[int] = np.flatnonzero(~view.embedded)[::-1].tolist()
        part = [at for at in missing if only in ("", view.cases[at].id)][:most]
        for start in range(0, len(part), BATCH):  # kept as they are made, so that what was made outlives a stop
            some = part[start : start + BATCH]
            rows = question_vectors(self._embedder, [view.cases[at].question for at in some])
            self._keep_vectors([view.keys[at] for at in some], rows)
            progress(start + len(some), len(part))
        return len(missing) - len(part)

    def change(self, key: str, change: Callable[[Case], Case]) -> Case:
        """Put change(the case with this id) in its place, in one step: what others write meanwhile is seen or waits. What stands on the question that it has
        then goes. Raises NotFoundError, StoreError, UsageError, and what `change` raises."""
        with self._database.write() as connection:
            number, old, line = self._found(connection, key)
            new = change(old)
            if new.id != key:
                connection.execute("delete from rated_answer where shelf = ? and id = ?", (self._name, new.id))
            vectors = "" if new.question == old.question else ", fingerprint = null, vector = null"
            connection.execute(
                f"update rated_answer set id = ?, line = ?, revision = revision + 1{vectors} where number = ?",
                (new.id, edited_line(line, new), number),
            )
        self._database.compact()
        return new

    def move(self, key: str, to: Shelf, change: Callable[[Case], Case]) -> Case:
        """Put change(the case with this id) on another shelf, and take it from this one, in one step. Raises as `change` does."""
        with self._database.write() as connection:
            number, old, _ = self._found(connection, key)
            new = change(old)
            to._put(connection, new, case_line(new), of=number)
            connection.execute("delete from rated_answer where number = ?", (number,))
        return new

    def remove(self, is_gone: Callable[[Case], bool]) -> list[Case]:
        """Erase all cases of the kind; those that were there. Raises StoreError."""
        gone: list[Case] = []
        with self._database.write() as connection:
            for number, line in connection.execute(f"select number, {LINE} from rated_answer where shelf = ?", (self._name,)).fetchall():
                case = self._case(line, 0)
                if isinstance(case, Case) and is_gone(case):
                    gone.append(case)
                    connection.execute("delete from rated_answer where number = ?", (number,))
        if gone:
            self._database.compact()
        return gone

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _case(self, line: bytes, place: int) -> Case | LineProblem:
        try:
            return own_case(read_case(line, place), shared=self._shared)
        except ValueError as error:
            return LineProblem(place + 1, str(error))

    def _found(self, connection: sqlite3.Connection, key: str) -> tuple[int, Case, bytes]:
        for number, line in connection.execute(f"select number, {LINE} from rated_answer where shelf = ? and id = ?", (self._name, key)):
            case = self._case(line, 0)
            if isinstance(case, Case):
                return number, case, line
        raise NotFoundError(f"You have no case {key[:40]!r}.", hint="List them; it may have been deleted.")

    def _put(self, connection: sqlite3.Connection, case: Case, line: bytes, *, of: int = 0) -> None:
        """of: the number of the row whose vector it has; 0 for what stands on its question, if that is written alike."""
        own = case_id(case.question, case.by, case.asked_of)
        where, given = ("number = ?", (of,)) if of else ("shelf = ? and id = ?", (self._name, own))
        before = connection.execute(f"select {LINE}, fingerprint, vector from rated_answer where {where}", given).fetchone()
        old = self._case(before[0], 0) if before else None
        vector = before[1:] if isinstance(old, Case) and old.question == case.question else (None, None)
        connection.execute(
            "insert or replace into rated_answer (shelf, id, line, fingerprint, vector) values (?, ?, ?, ?, ?)", (self._name, own, line, *vector)
        )

    def _keep_vectors(self, keys: Sequence[Key], rows: NDArray[np.float32]) -> None:
        """Keep the unit vectors (n, dimension) of rows that nobody changed meanwhile."""
        given = [(self._embedder.fingerprint, np.asarray(row, np.float32).tobytes(), *key) for key, row in zip(keys, rows, strict=True)]
        with self._database.write() as connection:
            connection.executemany(
                "update rated_answer set fingerprint = ?, vector = ?, revision = revision + 1 where number = ? and revision = ?", given
            )

    def _reread(self) -> None:
        """Read the rows that came or changed; the others are known, and those before the first change stay where they are."""
        keys = [(int(number), int(revision)) for number, revision in self._database.read(ORDER, (self._name,))]
        pairs = enumerate(zip(self._keys, keys, strict=False))
        same = next((at for at, (old, new) in pairs if old != new), min(len(self._keys), len(keys)))
        known = {key: at for at, key in enumerate(self._keys[same:], same)}
        lacking = [number for number, revision in keys[same:] if (number, revision) not in known]
        found = self._database.read(ROWS, (self._embedder.fingerprint, json.dumps(lacking))) if lacking else []
        fresh = {(number, revision): (line, vector) for number, revision, line, vector in found}
        keys[same:] = [key for key in keys[same:] if key in known or key in fresh]
        read, rows = self._read[:same], np.zeros((len(keys), self._embedder.dimension), np.float32)
        rows[:same] = self._rows[:same]
        for at, key in enumerate(keys[same:], same):
            if key in known:
                read.append(_placed(self._read[known[key]], at))
                rows[at] = self._rows[known[key]]
                continue
            line, vector = fresh[key]
            read.append(self._case(line, at))
            self._bytes += len(line)
            if isinstance(vector, bytes) and len(vector) == rows[at].nbytes:
                rows[at] = np.frombuffer(vector, np.float32)
        self._keys, self._read, self._rows = keys, read, rows

    def _look(self) -> ShelfView:
        places = [at for at, one in enumerate(self._read) if isinstance(one, Case)]
        cases = tuple(one for one in self._read if isinstance(one, Case))
        problems = tuple(one for one in self._read if isinstance(one, LineProblem))
        rows = self._rows[places] if problems else self._rows
        with np.errstate(over="ignore", invalid="ignore"):
            embedded = np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < UNIT
        rows[~embedded] = 0
        positive = np.array([case.reward == 1 for case in cases], np.bool_)
        ids = {case.id: at for at, case in enumerate(cases)}
        return ShelfView(cases, tuple(self._keys[at] for at in places), problems, ids, rows, embedded, positive)


def _placed(one: Case | LineProblem, at: int) -> Case | LineProblem:
    """What a row holds, at its place, from 0, among those of its shelf."""
    if isinstance(one, LineProblem):
        return replace(one, line=at + 1)
    return one if one.line_index == at else replace(one, line_index=at)
