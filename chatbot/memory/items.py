"""Keeps what is recalled by likeness, texts with their vectors, in one table for all memories of that kind.

What differs between memories is a small class each, see Kind.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from chatbot.errors import NotFoundError
from chatbot.memory.import_files import LineProblem, Progress, no_progress
from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.models.embedders import Embedder
from chatbot.store.database import Transaction
from chatbot.store.vector_index import Matrix, Vectors, matrix_of

__all__ = ["SHARED", "TABLES", "Item", "Items", "Kind", "View", "cosines_of", "nearest", "put", "unknown"]

Value = TypeVar("Value")
# Each write counts as a change of its kind: that tells whether what was read still holds.
TABLES = Tables(
    "items",
    """create table item (number integer primary key autoincrement, kind text not null, owner text not null,
    key text not null, text text not null, payload text not null, shared integer not null, fingerprint text,
    vectors blob, unique (kind, owner, key));
create index item_of on item(kind, owner, number);
create index item_shared on item(kind, shared, number);
create table item_changes (kind text primary key, changes integer not null) without rowid;
""",
)
# What all owners share of a kind, in place of an owner.
SHARED = "shared"
# Casts make a value that a damaged disk changed an unreadable item like any other.
ITEM = "cast(key as text), cast(text as text), cast(payload as text), cast(shared as integer)"
ONE = "from item where kind = ? and owner = ? and key = ?"
WAITING = "kind = ? and coalesce(fingerprint, '') <> ? order by number desc"
CHANGED = """insert into item_changes values (?, 1)
    on conflict (kind) do update set changes = item_changes.changes + 1"""
# Items that are embedded and stored together. So progress shows, an endpoint's batch is used, and a stop
# loses only seconds of work.
BATCH = 100
# Owners, and their vectors, that are kept in memory: a thousand take 1.5 MB. The last owner always stays.
MOST_OWNERS, MOST_VECTORS = 50, 300_000
# How far from 1 the squared length of a unit row may be. A row further off was not made by an embedder.
UNIT = 1e-2


@dataclass(frozen=True, slots=True)
class Item:
    """What a row holds of a value.

    key: names it among those of its owner.
    text: what is embedded.
    payload: all of the value, or all else.
    shared: whether everybody has it.
    """

    key: str
    text: str
    payload: str
    shared: bool = False


class Kind(Protocol[Value]):
    """What one memory's items are. name: of the kind, as rows have it. noun: what a user calls one."""

    name: str
    noun: str

    def item(self, value: Value) -> Item:
        """What is stored of a value. Raises UsageError."""
        ...

    def value(self, item: Item, owner: str) -> Value:
        """The value of an item. owner: whose it is, "" where that is the reader's. Raises ValueError."""
        ...

    def joined(self, old: Value, new: Value) -> Value:
        """What is stored where a value of the same key is there already."""
        ...

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> Sequence[Vectors]:
        """The unit rows of each text, (windows, dimension) or (dimension,). Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class View(Generic[Value]):
    """What an owner had at one time.

    values: in the order they came, by key; what is shared, by owner and key.
    problems: rows that cannot be read.
    matrix: the vectors; its ordinals are places among the values.
    changes: of the kind until then.
    """

    values: dict[str, Value]
    problems: tuple[LineProblem, ...]
    matrix: Matrix
    changes: int


def cosines_of(rows: Vectors, vector: Vectors) -> Vectors:
    """Cosines, in [-1, 1], of unit rows (n, dimension) to a unit vector (dimension,).

    They are computed on this thread alone. BLAS, which `@` calls, splits the product over all cores and waits
    for each. Beside other work, that takes ten times as long as one core does.
    """
    found: Vectors = np.einsum("ij,j->i", rows, vector)
    return np.clip(found, -1, 1, out=found)


def nearest(scores: Vectors, least: float) -> Sequence[int]:
    """Places of the scores that are at least `least`, the highest first.

    Of equals, the later comes first. NaN is never among them.
    """
    places = np.flatnonzero(scores >= least)[::-1]
    found: list[int] = places[np.argsort(-scores[places], kind="stable")].tolist()
    return found


def unknown(kind: Kind[Any], key: str) -> NotFoundError:
    """The error for a key that an owner has nothing of."""
    return NotFoundError(
        f"You have no {kind.noun} {key[:40]!r}.", hint="List them to check; it may have been deleted."
    )


def put(changes: Transaction, kind: Kind[Value], owner: str, values: Sequence[Value]) -> None:
    """Store values, each joined with the one of its key and after all others.

    Vectors stay while the text does. Raises UsageError.
    """
    for value in values:
        item = kind.item(value)
        found = (kind.name, owner, item.key)
        row = changes.execute(f"select {ITEM}, fingerprint, vectors {ONE}", found).fetchone()
        if row:
            with suppress(ValueError):
                item = kind.item(kind.joined(kind.value(Item(*row[:4]), ""), value))
        vectors = row[4:] if row and row[1] == item.text else (None, None)
        changes.execute(f"delete {ONE}", found)
        changes.execute(
            "insert into item (kind, owner, key, text, payload, shared, fingerprint, vectors)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (*found, item.text, item.payload, int(item.shared), *vectors),
        )
    changes.execute(CHANGED, (kind.name,))


class Items(Generic[Value]):
    """The items of one kind, of all owners. Safe to use from several threads and beside other processes."""

    def __init__(self, database: MemoryDatabase, embedder: Embedder, kind: Kind[Value]) -> None:
        """Raises StoreError where the tables cannot be made."""
        database.prepare(TABLES)
        self._database, self._embedder, self._kind = database, embedder, kind
        self._value = lru_cache(MOST_VECTORS)(kind.value)
        self._lock = threading.RLock()
        self._views = OrderedDict[str, View[Value]]()
        # Numbers of rows whose vectors are damaged: they are made again.
        self._spoiled = set[int]()

    # --- looking
    # --------------------------------------------------------------------------------------------------------

    def view(self, owner: str) -> View[Value]:
        """What an owner has now; for SHARED what all share. Raises StoreError."""
        with self._lock:
            statement = "select changes from item_changes where kind = ?"
            changes = sum(row[0] for row in self._database.read(statement, (self._kind.name,)))
            view = self._views.pop(owner, None)
            if view is None or view.changes != changes:
                view = self._read(owner, changes)
            self._views[owner] = view
            while len(self._views) > MOST_OWNERS or (
                len(self._views) > 1
                and sum(len(one.matrix.rows) for one in self._views.values()) > MOST_VECTORS
            ):
                self._views.popitem(last=False)
            return view

    def _read(self, owner: str, changes: int) -> View[Value]:
        where, arguments = ("shared = 1", ()) if owner == SHARED else ("owner = ?", (owner,))
        rows = self._database.read(
            f"select number, cast(owner as text), coalesce(fingerprint, '') = ?, vectors, {ITEM} from item"
            f" where kind = ? and {where} order by number",
            (self._embedder.fingerprint, self._kind.name, *arguments),
        )
        values, problems, stored = dict[str, Value](), list[LineProblem](), list[tuple[int, bytes]]()
        for at, (number, own, embedded, vectors, key, *others) in enumerate(rows, 1):
            try:
                value = self._value(Item(key, *others), own if owner == SHARED else "")
            except ValueError as error:
                problems.append(LineProblem(at, str(error)))
                continue
            if embedded and self._is_sound(vectors):
                stored.append((len(values), vectors))
            elif embedded:
                self._spoiled.add(number)
            values[f"{own} {key}" if owner == SHARED else key] = value
        return View(values, tuple(problems), matrix_of(stored, self._embedder.dimension), changes)

    def _is_sound(self, vectors: object) -> bool:
        """Whether a row has unit vectors of this embedder's dimension."""
        width = 4 * self._embedder.dimension
        if not isinstance(vectors, bytes) or not vectors or len(vectors) % width:
            return False
        rows = np.frombuffer(vectors, np.float32).reshape(-1, self._embedder.dimension)
        with np.errstate(over="ignore", invalid="ignore"):
            return bool((np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < UNIT).all())

    def recall(
        self,
        owner: str,
        vectors: Sequence[Vectors],
        n: int,
        *,
        least: float = -1.0,
        wanted: Callable[[Value], bool] = lambda value: True,
    ) -> list[tuple[float, Value]]:
        """(cosine, value) of the n that are most like any of the unit vectors by any window, best first.

        All filters apply before the first n are taken. least: lowest cosine, in [-1, 1].
        """
        view = self.view(owner)
        values, scores = list(view.values.values()), np.full(len(view.values), -2.0, np.float32)
        for vector in vectors:
            np.maximum.at(scores, view.matrix.ordinals, cosines_of(view.matrix.rows, vector))
        places = (at for at in nearest(scores, least) if wanted(values[at]))
        return [(float(scores[at]), values[at]) for at in islice(places, n)]

    def waiting(self, owner: str = "", key: str = "") -> list[tuple[int, str]]:
        """(number, text) of the items without vectors of this embedder, the newest first.

        owner, key: just of the one with this key of this owner.
        """
        one, arguments = ("owner = ? and key = ? and ", (owner, key)) if key else ("", ())
        wanted = (*arguments, self._kind.name, self._embedder.fingerprint)
        rows = self._database.read(f"select number, text from item where {one}{WAITING}", wanted)
        return [(number, text) for number, text in rows]

    # --- writing
    # --------------------------------------------------------------------------------------------------------

    def put(self, owner: str, values: Sequence[Value]) -> None:
        """See `put`. Raises StoreError, UsageError."""
        with self._database.write() as changes:
            put(changes, self._kind, owner, values)

    def change(self, owner: str, key: str, change: Callable[[Value], Value], to: str = "") -> Value:
        """Replace the value of this key by change(value), in its place and in one step.

        to: the owner whose it is from then on, "" for the same. One that is there under the new key goes.
        Raises NotFoundError, StoreError, UsageError, and what `change` raises.
        """
        with self._changing() as changes:
            found = changes.execute(f"select number, {ITEM} {ONE}", (self._kind.name, owner, key))
            for number, *row in found.fetchall():
                new = change(self._kind.value(Item(*row), ""))
                item = self._kind.item(new)
                at = (to or owner, item.key)
                changes.execute(f"delete {ONE} and number <> ?", (self._kind.name, *at, number))
                changes.execute(
                    "update item set owner = ?1, key = ?2, fingerprint = case when text = ?3 then"
                    " fingerprint end, text = ?3, payload = ?4, shared = ?5 where number = ?6",
                    (*at, item.text, item.payload, int(item.shared), number),
                )
                break
            else:
                raise unknown(self._kind, key)
        self._database.database.compact()
        return new

    def remove(
        self, is_gone: Callable[[Value], bool], among: str = "1 = 1", arguments: Sequence[Any] = ()
    ) -> int:
        """Erase all values for which is_gone(value) holds. Returns how many. Raises StoreError.

        among: a condition of their rows, with its arguments.
        """
        gone = list[tuple[int]]()
        with self._database.write() as changes:
            rows = changes.execute(
                f"select number, {ITEM} from item where kind = ? and {among}", (self._kind.name, *arguments)
            )
            for number, *row in rows.fetchall():
                with suppress(ValueError):
                    if is_gone(self._value(Item(*row), "")):
                        gone.append((number,))
            if not gone:
                return 0
            changes.executemany("delete from item where number = ?", gone)
            changes.execute(CHANGED, (self._kind.name,))
        self._database.erased()
        return len(gone)

    def embed(
        self, owner: str = "", key: str = "", *, most: int | None = None, progress: Progress = no_progress
    ) -> int:
        """Make and store the vectors that are missing, and return how many are still missing.

        owner, key: just of the item with this key of this owner. most: of at most so many items, the newest
        first. Raises ModelError, StoreError.
        """
        with self._lock:
            spoiled, self._spoiled = self._spoiled, set()
        if spoiled:
            statement = "update item set fingerprint = null where number = ?"
            self._database.change_each(statement, [(number,) for number in spoiled])
        waiting = self.waiting(owner, key)
        due = waiting[:most]
        for start in range(0, len(due), BATCH):
            batch = due[start : start + BATCH]
            self.keep_vectors(batch, self._kind.vectors(self._embedder, [text for _, text in batch]))
            progress(start + len(batch), len(due))
        return len(waiting) - len(due)

    def keep_vectors(self, items: Sequence[tuple[int, str]], vectors: Sequence[Vectors]) -> None:
        """Store the vectors of items, (number, text), whose text nobody has changed meanwhile."""
        updates = [
            (self._embedder.fingerprint, rows.astype(np.float32).tobytes(), *item)
            for item, rows in zip(items, vectors, strict=True)
        ]
        with self._changing() as changes:
            statement = "update item set fingerprint = ?, vectors = ? where number = ? and text = ?"
            changes.executemany(statement, updates)

    @contextmanager
    def _changing(self) -> Iterator[Transaction]:
        with self._database.write() as changes:
            yield changes
            changes.execute(CHANGED, (self._kind.name,))
