"""Stores one shelf of cases with their vectors in the memory database.

Rows are read again only where they have changed. The shelf does not know whose it is.
"""

from __future__ import annotations

import json
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
from chatbot.store.database import Transaction
from chatbot.store.vector_index import Vectors

__all__ = ["TABLES", "CaseFile", "CaseFileView", "own_case", "question_vectors", "unknown_case"]

# A row holds a case as its line of JSON. Every change gives the row a new revision and raises its shelf's
# count of changes. Both tell what has been read already.
TABLES = Tables(
    "cases",
    """create table rated_answer (number integer primary key autoincrement, shelf text not null,
            id text not null, line blob not null,
    revision integer not null default 0, fingerprint text, vector blob, unique (shelf, id));
create index rated_answer_of on rated_answer(shelf, number, revision);
create table rated_shelf (shelf text primary key, changes integer not null) without rowid;
"""
    + "".join(
        f"create trigger rated_{event} after {event} on rated_answer begin insert into rated_shelf "
        f"values ({row}.shelf, 1)"
        " on conflict (shelf) do update set changes = rated_shelf.changes + 1; end;\n"
        for event, row in (("insert", "new"), ("update", "new"), ("delete", "old"))
    ),
)
# The cast makes a value that a damaged disk turned into text an unreadable line like any other.
LINE = "cast(line as blob)"
ORDER = "select number, revision from rated_answer where shelf = ? order by number"
ROWS = f"""select number, revision, {LINE}, case when fingerprint = ? then vector end from rated_answer
    where number in (select cast(value as integer) from json_each(?))"""
# Questions that are embedded in one call and stored together. So progress shows, an endpoint's batch is used,
# and a stop loses only seconds of work.
BATCH = 256
# The sharer of a shared case that names nobody: it is no real owner, and so not the reader either.
SOMEBODY = "somebody"
# How far from 1 the squared length of a unit row may be. A row further off was not made by an embedder.
UNIT = 1e-2
# A row of the table: (number, revision).
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CaseFileView:
    """What a shelf held at one time.

    cases: one for each question, in the order they came.
    keys: the key of each case's row.
    problems: rows that cannot be read.
    ids: id -> place among the cases.
    rows: (cases, dimension) unit vectors.
    embedded: (cases,) whether each has a vector.
    positive: (cases,) whether each is rated helpful.
    """

    cases: tuple[Case, ...]
    keys: tuple[Key, ...]
    problems: tuple[LineProblem, ...]
    ids: Mapping[str, int]
    rows: Vectors
    embedded: NDArray[np.bool_]
    positive: NDArray[np.bool_]

    def case(self, key: str) -> Case | None:
        """The case with this id, or None."""
        if key in self.ids:
            return self.cases[self.ids[key]]
        return None


def own_case(case: Case, *, shared: bool) -> Case:
    """The case as its shelf has it, whatever its line says.

    A shared case always names somebody as its sharer, an owner's own case nobody.
    """
    by = (case.by or SOMEBODY) if shared else ""
    if by == case.by:
        return case
    return replace(case, by=by, id=case_id(case.question, by, case.asked_of))


def unknown_case(key: str) -> NotFoundError:
    """The error for an id that an owner has no case of."""
    return NotFoundError(
        f"You have no rated answer {key[:40]!r}.", hint="List them to check; it may have been deleted."
    )


def question_vectors(embedder: Embedder, questions: Sequence[str]) -> Vectors:
    """Unit rows (n, dimension), each made as for a question that is asked.

    Its subject is embedded; for a long one, the row is the mean over its pieces. Raises ModelError.
    """
    subjects = [subject_of(question) for question in questions]
    rows = np.zeros((len(subjects), embedder.dimension), np.float32)
    short = [at for at, text in enumerate(subjects) if len(embedder.split(text)) <= 1]
    if short:
        short_subjects = [subjects[at] for at in short]
        rows[short] = embedder.embed(short_subjects, query=True)
    for at in sorted(set(range(len(subjects))).difference(short)):
        query = embed_query(embedder, subjects[at])
        rows[at] = mean_vector(worth_searching(query.chunks))
    return rows


class CaseFile:
    """The cases under one name. Safe to use from several threads and beside other processes."""

    def __init__(
        self, database: MemoryDatabase, name: str, embedder: Embedder, *, shared: bool = False
    ) -> None:
        self._database, self._name, self._embedder, self._shared = database, name, embedder, shared
        self._lock = threading.RLock()
        # The shelf's count of changes when its rows were last read; -1 before the first time.
        self._changes = -1
        # What each row held when it was last read, its vector, and bytes of its line.
        self._known = dict[Key, tuple[Case | LineProblem, Vectors, int]]()
        self._bytes = 0
        self._view: CaseFileView

    @property
    def size(self) -> int:
        """Bytes that it keeps in memory, roughly: of the lines and of the vectors."""
        return self._bytes + 4 * self._embedder.dimension * len(self._known)

    def view(self) -> CaseFileView:
        """What the shelf holds now. Raises StoreError."""
        with self._lock:
            statement = "select changes from rated_shelf where shelf = ?"
            changes = sum(row[0] for row in self._database.read(statement, (self._name,)))
            if changes != self._changes:
                self._view, self._changes = self._reread(), changes
            return self._view

    def put(self, cases: Sequence[Case]) -> None:
        """Store cases, each in place of the one on the same question. Raises StoreError, UsageError."""
        with self._database.write() as connection:
            for case in cases:
                self._put(connection, case)

    def embed(self, *, only: str = "", most: int | None = None, progress: Progress = no_progress) -> int:
        """Make and store the vectors that are missing, and return how many are still missing.

        only: just of the case with this id. most: of at most this many cases, the newest first. Raises
        ModelError, StoreError.
        """
        view = self.view()
        missing: list[int] = np.flatnonzero(~view.embedded)[::-1].tolist()
        due = [at for at in missing if only in ("", view.cases[at].id)][:most]
        # Each batch is stored at once, so that it outlives a stop.
        for start in range(0, len(due), BATCH):
            batch = due[start : start + BATCH]
            rows = question_vectors(self._embedder, [view.cases[at].question for at in batch])
            self._keep_vectors([view.keys[at] for at in batch], rows)
            progress(start + len(batch), len(due))
        return len(missing) - len(due)

    def change(self, key: str, change: Callable[[Case], Case]) -> Case:
        """Replace the case with this id by change(case), in one step.

        Writes of others happen before or after it. A case that is already stored on the new question goes.
        Raises NotFoundError, StoreError, UsageError, and what `change` raises.
        """
        with self._database.write() as connection:
            number, old, line = self._found(connection, key)
            new = change(old)
            if new.id != key:
                statement = "delete from rated_answer where shelf = ? and id = ?"
                connection.execute(statement, (self._name, new.id))
            if new.question == old.question:
                vectors = ""
            else:
                vectors = ", fingerprint = null, vector = null"
            update = (
                f"update rated_answer set id = ?, line = ?, revision = revision + 1{vectors} where number = ?"
            )
            connection.execute(update, (new.id, edited_line(line, new), number))
        self._database.compact()
        return new

    def move(self, key: str, to: CaseFile, change: Callable[[Case], Case]) -> Case:
        """Put change(the case with this id) on another shelf and take it from this one, in one step.

        Raises as `change` does.
        """
        with self._database.write() as connection:
            number, old, _ = self._found(connection, key)
            new = change(old)
            to._put(connection, new, of=number)
            connection.execute("delete from rated_answer where number = ?", (number,))
        return new

    def remove(self, is_gone: Callable[[Case], bool]) -> list[Case]:
        """Erase all cases for which is_gone(case) holds, and return them. Raises StoreError."""
        found: dict[int, Case] = {}
        with self._database.write() as connection:
            statement = f"select number, {LINE} from rated_answer where shelf = ? order by number"
            for number, line in connection.execute(statement, (self._name,)).fetchall():
                case = self._case(line, 0)
                if isinstance(case, Case) and is_gone(case):
                    found[number] = case
            numbers = [(number,) for number in found]
            connection.executemany("delete from rated_answer where number = ?", numbers)
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

    def _found(self, connection: Transaction, key: str) -> tuple[int, Case, bytes]:
        """(number of the row, case, line) of the case with this id. Raises NotFoundError."""
        statement = f"select number, {LINE} from rated_answer where shelf = ? and id = ?"
        for number, line in connection.execute(statement, (self._name, key)):
            case = self._case(line, 0)
            if isinstance(case, Case):
                return number, case, line
        raise unknown_case(key)

    def _put(self, connection: Transaction, case: Case, *, of: int = 0) -> None:
        """Store a case with the vector of an older row, if that row's question is written the same.

        of: the number of that row; 0 for the row that the case replaces.
        """
        line = case_line(case)
        own = case_id(case.question, case.by, case.asked_of)
        arguments: tuple[object, ...]
        if of:
            where, arguments = "number = ?", (of,)
        else:
            where, arguments = "shelf = ? and id = ?", (self._name, own)
        statement = f"select {LINE}, fingerprint, vector from rated_answer where {where}"
        old_row = connection.execute(statement, arguments).fetchone()
        old = self._case(old_row[0], 0) if old_row else None
        if isinstance(old, Case) and old.question == case.question:
            vector = old_row[1:]
        else:
            vector = (None, None)
        # A case that replaces another comes last, as a new one does.
        connection.execute("delete from rated_answer where shelf = ? and id = ?", (self._name, own))
        connection.execute(
            "insert into rated_answer (shelf, id, line, fingerprint, vector) values (?, ?, ?, ?, ?)",
            (self._name, own, line, *vector),
        )

    def _keep_vectors(self, keys: Sequence[Key], rows: Vectors) -> None:
        """Store the unit vectors (n, dimension) of rows that nobody has changed meanwhile."""
        statement = (
            "update rated_answer set fingerprint = ?, vector = ?, revision = revision + 1 where number "
            "= ? and revision = ?"
        )
        fingerprint = self._embedder.fingerprint
        updates = [(fingerprint, row.tobytes(), *key) for key, row in zip(keys, rows, strict=True)]
        self._database.change_each(statement, updates)

    def _reread(self) -> CaseFileView:
        """Read the rows that are new or changed; the others are known."""
        keys = self._database.read(ORDER, (self._name,))
        known = self._known | self._read_rows([key[0] for key in keys if key not in self._known])
        keys = [key for key in keys if key in known]
        entries = [_placed(known[key][0], at) for at, key in enumerate(keys)]
        vectors = np.array([known[key][1] for key in keys], np.float32)
        rows = vectors.reshape(len(keys), self._embedder.dimension)
        with np.errstate(over="ignore", invalid="ignore"):
            squared_lengths = np.einsum("ij,ij->i", rows, rows)
            embedded = np.abs(squared_lengths - 1) < UNIT
        rows[~embedded] = 0
        self._known = {
            key: (entry, row, known[key][2]) for key, entry, row in zip(keys, entries, rows, strict=True)
        }
        self._bytes = sum(size for _, _, size in self._known.values())
        cases = {at: entry for at, entry in enumerate(entries) if isinstance(entry, Case)}
        problems = tuple(entry for entry in entries if isinstance(entry, LineProblem))
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

    def _read_rows(self, numbers: Sequence[int]) -> dict[Key, tuple[Case | LineProblem, Vectors, int]]:
        """What the rows with these numbers hold, the vector of each, and bytes of its line."""
        if not numbers:
            return {}
        rows = self._database.read(ROWS, (self._embedder.fingerprint, json.dumps(numbers)))
        found: dict[Key, tuple[Case | LineProblem, Vectors, int]] = {}
        for number, revision, line, vector in rows:
            found[number, revision] = (self._case(line, 0), self._row(vector), len(line))
        return found

    def _row(self, vector: Any) -> Vectors:
        """A stored vector; zeros for a value that is none."""
        if isinstance(vector, bytes) and len(vector) == 4 * self._embedder.dimension:
            return np.frombuffer(vector, np.float32)
        return np.zeros(self._embedder.dimension, np.float32)


def _placed(entry: Case | LineProblem, at: int) -> Case | LineProblem:
    """What a row holds, with its place, from 0, among those of its shelf."""
    if isinstance(entry, LineProblem):
        return replace(entry, line=at + 1)
    if entry.line_index == at:
        return entry
    return replace(entry, line_index=at)
