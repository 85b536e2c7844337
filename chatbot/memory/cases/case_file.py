"""The cases of one owner with their vectors, as rows of the memories' file, read again only where they
have changed; knows one shelf, not whose it is.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import NotFoundError
from chatbot.memory.cases.records import Case, case_id, case_line, edited_line, read_case
from chatbot.memory.import_files import LineProblem, Progress, no_progress
from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.models.embedders import Embedder
from chatbot.search.fusion import embed_query, mean_vector, worth_searching
from chatbot.search.question_terms import subject_of
from chatbot.store.vector_index import Vectors

__all__ = ["TABLES", "CaseFile", "CaseFileView", "own_case", "question_vectors", "unknown_case"]

# A row is a case as its line of JSON. Whatever changes one gives it another revision, and counts on its
# shelf: what was read once is known by both.
TABLES = Tables(
    "cases",
    (
        """create table rated_answer (number integer primary key autoincrement, shelf text not null,
            id text not null, line blob not null,
    revision integer not null default 0, fingerprint text, vector blob, unique (shelf, id));
create index rated_answer_of on rated_answer(shelf, number, revision);
create table rated_shelf (shelf text primary key, changes integer not null) without rowid;
"""
        + "".join(
            f"create trigger rated_{event} after {event} on rated_answer begin insert into rated_shelf "
            f"values ({row}.shelf, 1)"
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
# Questions embedded in one call and kept together, so that progress is seen, an endpoint's batch is used, and
# a stop loses seconds of work.
BATCH = 256
# Who shares a case that names nobody: no owner, but not the one who looks at it either.
SOMEBODY = "somebody"
# How far from 1 the length of a unit row may be: what is further is no vector that an embedder made.
UNIT = 1e-2
# A row of the table by its number, and which revision of it.
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CaseFileView:
    """What a shelf held at a time. cases: one of each question, in the order they came, each with the key of
    its row; problems: rows that cannot be read. ids: id -> place among the cases. rows: (cases, dimension)
    unit vectors; embedded: (cases,) which have one; positive: (cases,)."""

    cases: tuple[Case, ...]
    keys: tuple[Key, ...]
    problems: tuple[LineProblem, ...]
    ids: Mapping[str, int]
    rows: Vectors
    embedded: NDArray[np.bool_]
    positive: NDArray[np.bool_]

    def case(self, key: str) -> Case | None:
        """The case with this id; None where it is not there."""
        if key in self.ids:
            return self.cases[self.ids[key]]
        return None


def own_case(case: Case, *, shared: bool) -> Case:
    """The case as its shelf has it: among what is shared it is somebody's, in one's own nobody is named,
    whatever a line says.
    """
    by = (case.by or SOMEBODY) if shared else ""
    if by == case.by:
        return case
    return replace(case, by=by, id=case_id(case.question, by, case.asked_of))


def unknown_case(key: str) -> NotFoundError:
    """What is raised for an id that an owner has no case of."""
    return NotFoundError(f"You have no case {key[:40]!r}.", hint="List them; it may have been deleted.")


def question_vectors(embedder: Embedder, questions: Sequence[str]) -> Vectors:
    """Unit rows (n, dimension), each as a question is embedded when it is asked: its subject, of a long
    one the mean over its pieces. Raises ModelError.
    """
    subjects = [subject_of(question) for question in questions]
    rows = np.zeros((len(subjects), embedder.dimension), np.float32)
    short = [at for at, text in enumerate(subjects) if len(embedder.split(text)) <= 1]
    if short:
        rows[short] = embedder.embed([subjects[one] for one in short], query=True)
    for one in sorted(set(range(len(subjects))).difference(short)):
        rows[one] = mean_vector(worth_searching(embed_query(embedder, subjects[one]).chunks))
    return rows


class CaseFile:
    """The cases under one name. Safe from several threads, and beside other processes that use it."""

    def __init__(
        self, database: MemoryDatabase, name: str, embedder: Embedder, *, shared: bool = False
    ) -> None:
        self._database, self._name, self._embedder, self._shared = database, name, embedder, shared
        self._lock = threading.RLock()
        # Of the rows as they were read last: how many changes there were before, what each row holds with its
        # vector, and bytes of their lines.
        self._changes, self._known, self._bytes = -1, dict[Key, tuple[Case | LineProblem, Vectors, int]](), 0
        self._view: CaseFileView

    @property
    def size(self) -> int:
        """Bytes that it keeps ready, about: of the lines, and of the vectors."""
        return self._bytes + 4 * self._embedder.dimension * len(self._known)

    def view(self) -> CaseFileView:
        """What the shelf holds now. Raises StoreError."""
        with self._lock:
            changes = sum(
                row[0]
                for row in self._database.read(
                    "select changes from rated_shelf where shelf = ?", (self._name,)
                )
            )
            if changes != self._changes:
                self._view, self._changes = self._reread(), changes
            return self._view

    def put(self, cases: Sequence[Case]) -> None:
        """Keep cases, each in the place of what stands on its question. Raises StoreError, UsageError."""
        with self._database.write() as connection:
            for case in cases:
                self._put(connection, case)

    def embed(self, *, only: str = "", most: int | None = None, progress: Progress = no_progress) -> int:
        """Make and keep the vectors that are missing; how many are missing still. only: of the case with this
        id; most: of so many cases, the newest first.

        Raises ModelError, StoreError.
        """
        view = self.view()
        missing: list[int] = np.flatnonzero(~view.embedded)[::-1].tolist()
        part = [at for at in missing if only in ("", view.cases[at].id)][:most]
        for start in range(
            0, len(part), BATCH
        ):  # kept as they are made, so that what was made outlives a stop
            some = part[start : start + BATCH]
            rows = question_vectors(self._embedder, [view.cases[at].question for at in some])
            self._keep_vectors([view.keys[at] for at in some], rows)
            progress(start + len(some), len(part))
        return len(missing) - len(part)

    def change(self, key: str, change: Callable[[Case], Case]) -> Case:
        """Put change(the case with this id) in its place, in one step: what others write meanwhile is seen or
        waits. What stands on the question that it has then goes. Raises NotFoundError, StoreError,
        UsageError, and what `change` raises."""
        with self._database.write() as connection:
            number, old, line = self._found(connection, key)
            new = change(old)
            if new.id != key:
                connection.execute(
                    "delete from rated_answer where shelf = ? and id = ?", (self._name, new.id)
                )
            if new.question == old.question:
                vectors = ""
            else:
                vectors = ", fingerprint = null, vector = null"
            connection.execute(
                (
                    f"update rated_answer set id = ?, line = ?, revision = revision + 1{vectors} where "
                    f"number = ?"
                ),
                (new.id, edited_line(line, new), number),
            )
        self._database.compact()
        return new

    def move(self, key: str, to: CaseFile, change: Callable[[Case], Case]) -> Case:
        """Put change(the case with this id) on another shelf, and take it from this one, in one step.
        Raises as `change` does.
        """
        with self._database.write() as connection:
            number, old, _ = self._found(connection, key)
            new = change(old)
            to._put(connection, new, of=number)
            connection.execute("delete from rated_answer where number = ?", (number,))
        return new

    def remove(self, is_gone: Callable[[Case], bool]) -> list[Case]:
        """Erase all cases of the kind; those that were there. Raises StoreError."""
        with self._database.write() as connection:
            rows = connection.execute(
                f"select number, {LINE} from rated_answer where shelf = ?", (self._name,)
            ).fetchall()
            found = {
                number: case
                for number, line in rows
                if isinstance(case := self._case(line, 0), Case) and is_gone(case)
            }
            connection.executemany(
                "delete from rated_answer where number = ?", [(number,) for number in found]
            )
        if found:
            self._database.erased()
        return list(found.values())

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _case(self, line: bytes, place: int) -> Case | LineProblem:
        try:
            return own_case(read_case(line, place), shared=self._shared)
        except ValueError as error:
            return LineProblem(place + 1, str(error))

    def _found(self, connection: sqlite3.Connection, key: str) -> tuple[int, Case, bytes]:
        for number, line in connection.execute(
            f"select number, {LINE} from rated_answer where shelf = ? and id = ?", (self._name, key)
        ):
            case = self._case(line, 0)
            if isinstance(case, Case):
                return number, case, line
        raise unknown_case(key)

    def _put(self, connection: sqlite3.Connection, case: Case, *, of: int = 0) -> None:
        """of: the number of the row whose vector it has; 0 for what stands on its question, if that is
        written alike.
        """
        line = case_line(case)
        own = case_id(case.question, case.by, case.asked_of)
        where, given = ("number = ?", (of,)) if of else ("shelf = ? and id = ?", (self._name, own))
        before = connection.execute(
            f"select {LINE}, fingerprint, vector from rated_answer where {where}", given
        ).fetchone()
        if before:
            old = self._case(before[0], 0)
        else:
            old = None
        if isinstance(old, Case) and old.question == case.question:
            vector = before[1:]
        else:
            vector = (None, None)
        connection.execute(
            (
                "insert or replace into rated_answer (shelf, id, line, fingerprint, vector) values (?, ?, "
                "?, ?, ?)"
            ),
            (self._name, own, line, *vector),
        )

    def _keep_vectors(self, keys: Sequence[Key], rows: Vectors) -> None:
        """Keep the unit vectors (n, dimension) of rows that nobody changed meanwhile."""
        given = [
            (self._embedder.fingerprint, row.tobytes(), *key) for key, row in zip(keys, rows, strict=True)
        ]
        self._database.change_each(
            (
                "update rated_answer set fingerprint = ?, vector = ?, revision = revision + 1 where number "
                "= ? and revision = ?"
            ),
            given,
        )

    def _reread(self) -> CaseFileView:
        """Read the rows that came or changed; the others are known."""
        keys = self._database.read(ORDER, (self._name,))
        lacking = [key[0] for key in keys if key not in self._known]
        if lacking:
            found = self._database.read(ROWS, (self._embedder.fingerprint, json.dumps(lacking)))
        else:
            found = []
        known = self._known | {
            (number, revision): (self._case(line, 0), self._row(vector), len(line))
            for number, revision, line, vector in found
        }
        keys = [key for key in keys if key in known]
        read = [_placed(known[key][0], at) for at, key in enumerate(keys)]
        rows = np.array([known[key][1] for key in keys], np.float32).reshape(
            len(keys), self._embedder.dimension
        )
        with np.errstate(over="ignore", invalid="ignore"):
            embedded = np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < UNIT
        rows[~embedded] = 0
        self._known = {key: (one, row, known[key][2]) for key, one, row in zip(keys, read, rows, strict=True)}
        self._bytes = sum(size for _, _, size in self._known.values())
        cases = {at: one for at, one in enumerate(read) if isinstance(one, Case)}
        problems = tuple(one for one in read if isinstance(one, LineProblem))
        places = list(cases) if problems else slice(None)
        positive = np.array([case.reward == 1 for case in cases.values()], np.bool_)
        ids = {case.id: at for at, case in enumerate(cases.values())}
        return CaseFileView(
            tuple(cases.values()),
            tuple(keys[at] for at in cases),
            problems,
            ids,
            rows[places],
            embedded[places],
            positive,
        )

    def _row(self, vector: Any) -> Vectors:
        """A vector as it was kept; zeros for what is none."""
        sound = isinstance(vector, bytes) and len(vector) == 4 * self._embedder.dimension
        if sound:
            return np.frombuffer(vector, np.float32)
        return np.zeros(self._embedder.dimension, np.float32)


def _placed(one: Case | LineProblem, at: int) -> Case | LineProblem:
    """What a row holds, at its place, from 0, among those of its shelf."""
    if isinstance(one, LineProblem):
        return replace(one, line=at + 1)
    if one.line_index == at:
        return one
    return replace(one, line_index=at)
