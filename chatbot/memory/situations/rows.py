"""Situations with their recommendations as rows of the memories' file, each with its owner, its scope and its vectors; makes no vector."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from chatbot.errors import StoreError, UsageError
from chatbot.memory.database import MemoryDatabase, Tables
from chatbot.tokens import encodable

__all__ = ["LONGEST_RECOMMENDATION", "LONGEST_SITUATION", "TABLES", "Situation", "SituationRows", "new_situation", "plain_scope", "situation_key"]

TABLES = Tables(
    "situations",
    (
        """create table situation (key text primary key, owner text not null, scope text not null, situation text not null,
    fingerprint text, windows blob) without rowid;
create index situation_of on situation(owner, scope);
create table advice (key text not null references situation(key) on delete cascade, recommendation text not null, at real not null,
    primary key (key, recommendation)) without rowid;
""",
    ),
)
# Characters of a situation, and of a recommendation: a report of forty pages; more is a document.
LONGEST_SITUATION, LONGEST_RECOMMENDATION = 100_000, 10_000
SELECT = "select key, owner, scope, situation, recommendation, at from situation join advice using (key)"
ADVISE = "insert into advice values (?, ?, ?) on conflict (key, recommendation) do update set at = max(at, excluded.at)"


@dataclass(frozen=True, slots=True)
class Situation:
    """One situation as kept. key: from its content, so that it is the same wherever and whenever it is added. scope: "" for what is of no subject.

    recommendations: the newest first. at: when that was added, in seconds since the epoch.
    """

    key: str
    owner: str
    scope: str
    situation: str
    recommendations: tuple[str, ...]
    at: float


def plain_scope(scope: str) -> str:
    """A scope as it is compared, whatever its case and blanks."""
    return " ".join(scope.casefold().split())


def situation_key(owner: str, scope: str, situation: str) -> str:
    """32 hexadecimal digits."""
    parts = [owner, plain_scope(scope), " ".join(situation.split())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def new_situation(owner: str, scope: str, pair: object, now: float) -> Situation:
    """A pair of a situation and a recommendation as it is kept. Raises UsageError for what is none, or too long."""
    match pair:
        case (str(situation), str(recommendation)) if situation.strip() and recommendation.strip():
            pass
        case _:
            raise UsageError(f"{repr(pair)[:80]} is no pair of a situation and a recommendation.", hint="Give two texts, neither of them empty.")
    for what, text, most in (("situation", situation, LONGEST_SITUATION), ("recommendation", recommendation, LONGEST_RECOMMENDATION)):
        if len(text) > most:
            raise UsageError(f"The {what} has {len(text):,} characters, at most {most:,} are kept.", hint="Shorten it, or add it as a document.")
    situation, recommendation = (encodable(text).replace("\x00", " ") for text in (situation, recommendation))
    return Situation(situation_key(owner, scope, situation), owner, plain_scope(encodable(scope)), situation, (recommendation,), now)


class SituationRows:
    """The rows of all owners. Reads from any thread, writes one at a time."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Tables of a later version keep nobody from the documents: that is told at each use."""
        self._shared = database
        with suppress(StoreError):
            database.prepare(TABLES)

    @property
    def _database(self) -> MemoryDatabase:
        self._shared.prepare(TABLES)
        return self._shared

    def add(self, situations: Iterable[Situation]) -> None:
        """Keep them; a recommendation that is there already becomes the newest again."""
        with self._database.write() as connection:
            for one in situations:
                _insert(connection, one)
                # What is read from a file may be older than what is here.
                connection.executemany(ADVISE, [(one.key, text, one.at) for text in one.recommendations])

    def replace(self, key: str, one: Situation) -> bool:
        """Put a situation in the place of its owner's one of that key; whether that was there. What was advised before keeps its time."""
        with self._database.write() as connection:
            found = "select recommendation, at from advice join situation using (key) where key = ? and owner = ?"
            times = dict(connection.execute(found, (key, one.owner)).fetchall())
            if not times:
                return False
            # Of the same text the vectors stay.
            connection.execute("delete from situation where key = ? and key != ?", (key, one.key))
            connection.execute("delete from advice where key = ?", (key,))
            _insert(connection, one)
            advice = [(one.key, text, times.get(text, one.at - later / 1_000)) for later, text in enumerate(one.recommendations)]
            connection.executemany(ADVISE, advice)
        self._shared.compact()
        return True

    def remove(self, key: str, owner: str) -> bool:
        """Erase a situation with its recommendations; whether this owner had it."""
        with self._database.write() as connection:
            found = bool(connection.execute("delete from situation where key = ? and owner = ?", (key, owner)).rowcount)
        if found:
            self._shared.erased()
        return found

    def listed(self, owner: str) -> list[Situation]:
        """An owner's situations, the latest first."""
        found = _grouped(self._database.read(f"{SELECT} where owner = ? order by key, at desc, recommendation", (owner,)))
        return sorted(found, key=lambda one: (-one.at, one.key))

    def get(self, keys: Collection[str]) -> dict[str, Situation]:
        """Those of the keys that are there."""
        named = f"{SELECT} where key in (select value from json_each(?)) order by key, at desc, recommendation"
        return {one.key: one for one in _grouped(self._database.read(named, (json.dumps(sorted(keys)),)))}

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order."""
        return [row[0] for row in self._database.read("select distinct scope from situation where owner = ? order by scope", (owner,))]

    def count(self, owner: str, scope: str) -> int:
        """How many situations an owner has in a scope."""
        ((count,),) = self._database.read("select count(*) from situation where owner = ? and scope = ?", (owner, plain_scope(scope)))
        return int(count)

    # --- vectors ------------------------------------------------------------------------------------------------------------

    def waiting(self, fingerprint: str) -> list[str]:
        """Keys of the situations, of all owners, that have no vectors of this embedder."""
        return [str(key) for (key,) in self._database.read("select key from situation where fingerprint is not ? order by key", (fingerprint,))]

    def keep_windows(self, fingerprint: str, windows: Iterable[tuple[str, bytes]]) -> None:
        """Keep the vectors of situations that are still there. windows: (key, float32 bytes of its windows, one after the other)."""
        with self._database.write() as connection:
            connection.executemany(
                "update situation set fingerprint = ?, windows = ? where key = ?", [(fingerprint, data, key) for key, data in windows]
            )

    def windows(self, owner: str, scopes: Collection[str], fingerprint: str) -> list[tuple[str, bytes]]:
        """(key, float32 bytes of its windows) of an owner's situations of these scopes that this embedder made vectors of, by key."""
        statement = """select key, windows from situation where owner = ? and fingerprint = ? and typeof(windows) = 'blob'
            and scope in (select value from json_each(?)) order by key"""
        return [(key, data) for key, data in self._database.read(statement, (owner, fingerprint, json.dumps(sorted(map(plain_scope, scopes)))))]


def _insert(connection: sqlite3.Connection, one: Situation) -> None:
    statement = "insert into situation (key, owner, scope, situation) values (?, ?, ?, ?) on conflict do nothing"
    connection.execute(statement, (one.key, one.owner, one.scope, one.situation))


def _grouped(rows: Iterable[tuple[Any, ...]]) -> list[Situation]:
    """The situations of (key, owner, scope, situation, recommendation, at), the newest recommendation of each first."""
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        grouped.setdefault(row[0], []).append(row)
    return [Situation(key, of[0][1], of[0][2], of[0][3], tuple(row[4] for row in of), of[0][5]) for key, of in grouped.items()]
