"""Situations with their recommendations in SQLite, each with its owner and scope: the truth that the index is derived from; makes no vector."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from chatbot.errors import StoreError, UsageError
from chatbot.store.database import Database
from chatbot.tokens import encodable

__all__ = ["LONGEST_RECOMMENDATION", "LONGEST_SITUATION", "Situation", "SituationFile", "new_situation", "plain_scope", "shelf_of", "situation_key"]

VERSION = 1
SCHEMA = """
create table situation (key text primary key, owner text not null, scope text not null, situation text not null) without rowid;
create index situation_of on situation(owner, scope);
create table advice (key text not null references situation(key) on delete cascade, recommendation text not null, at real not null,
    primary key (key, recommendation)) without rowid;
"""
# Characters of a situation, and of a recommendation: a report of forty pages; more is a document.
LONGEST_SITUATION, LONGEST_RECOMMENDATION = 100_000, 10_000
# Keys named in one statement; SQLite takes 32,766 values.
MOST_KEYS = 10_000


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

    @property
    def shelf(self) -> str:
        return shelf_of(self.owner, self.scope)


def plain_scope(scope: str) -> str:
    """A scope as it is compared, whatever its case and blanks."""
    return " ".join(scope.casefold().split())


def situation_key(owner: str, scope: str, situation: str) -> str:
    """32 hexadecimal digits."""
    return _digest([owner, plain_scope(scope), " ".join(situation.split())])


def shelf_of(owner: str, scope: str) -> str:
    """What stands for an owner's scope in the index: 32 hexadecimal digits that do not tell whose or which."""
    return _digest([owner, plain_scope(scope)])


def _digest(parts: list[str]) -> str:
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
    situation = encodable(situation).replace("\x00", " ")
    return Situation(
        situation_key(owner, scope, situation),
        owner,
        plain_scope(encodable(scope)),
        situation,
        (encodable(recommendation).replace("\x00", " "),),
        now,
    )


class SituationFile(Database):
    """The file of all owners. Reads from any thread, writes one at a time."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError where it cannot be used."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"The situations cannot be written: {error.strerror}.", hint="Set FINPOLICY_HOME to a folder you may write.") from error
        super().__init__(path, SCHEMA, VERSION)

    def add(self, situations: Iterable[Situation]) -> None:
        """Keep them; a recommendation that is there already becomes the newest again."""
        with self._write() as connection:
            for one in situations:
                connection.execute("insert into situation values (?, ?, ?, ?) on conflict do nothing", (one.key, one.owner, one.scope, one.situation))
                # What is read from a file may be older than what is here.
                connection.executemany(
                    "insert into advice values (?, ?, ?) on conflict (key, recommendation) do update set at = max(at, excluded.at)",
                    [(one.key, text, one.at) for text in one.recommendations],
                )

    def replace(self, key: str, one: Situation) -> bool:
        """Put a situation in the place of its owner's one of that key; whether that was there. What was advised before keeps its time."""
        with self._write() as connection:
            before = connection.execute(
                "select recommendation, at from advice join situation using (key) where key = ? and owner = ?", (key, one.owner)
            ).fetchall()
            if not before:
                return False
            connection.execute("delete from situation where key = ?", (key,))
            connection.execute("insert into situation values (?, ?, ?, ?) on conflict do nothing", (one.key, one.owner, one.scope, one.situation))
            times = dict(before)
            connection.executemany(
                "insert into advice values (?, ?, ?) on conflict (key, recommendation) do update set at = max(at, excluded.at)",
                [(one.key, text, times.get(text, one.at - later / 1_000)) for later, text in enumerate(one.recommendations)],
            )
            return True

    def remove(self, key: str, owner: str) -> bool:
        """Erase a situation with its recommendations; whether this owner had it."""
        with self._write() as connection:
            return bool(connection.execute("delete from situation where key = ? and owner = ?", (key, owner)).rowcount)

    def listed(self, owner: str) -> list[Situation]:
        """An owner's situations, the latest first."""
        found = self._situations("where owner = ?", (owner,))
        return sorted(found, key=lambda one: (-one.at, one.key))

    def get(self, keys: Collection[str]) -> dict[str, Situation]:
        """Those of the keys that are there."""
        named, found = sorted(keys), dict[str, Situation]()
        for at in range(0, len(named), MOST_KEYS):
            part = tuple(named[at : at + MOST_KEYS])
            found |= {one.key: one for one in self._situations(f"where key in ({','.join('?' * len(part))})", part)}
        return found

    def scopes(self, owner: str) -> list[str]:
        """An owner's scopes, in order."""
        return [row[0] for row in self._read("select distinct scope from situation where owner = ? order by scope", (owner,))]

    def count(self, owner: str, scope: str) -> int:
        """How many situations an owner has in a scope."""
        ((count,),) = self._read("select count(*) from situation where owner = ? and scope = ?", (owner, plain_scope(scope)))
        return int(count)

    def shelves(self) -> dict[str, str]:
        """key -> its shelf, of all situations of all owners."""
        return {key: shelf_of(owner, scope) for key, owner, scope in self._read("select key, owner, scope from situation")}

    def _situations(self, where: str, arguments: tuple[str, ...]) -> list[Situation]:
        rows = self._read(
            f"select key, owner, scope, situation, recommendation, at from situation join advice using (key) {where} order by key, at desc, recommendation",
            arguments,
        )
        grouped: dict[str, list[tuple[str, str, str, str, str, float]]] = {}
        for row in rows:
            grouped.setdefault(row[0], []).append((row[0], row[1], row[2], row[3], row[4], row[5]))
        return [Situation(*of[0][:4], tuple(row[4] for row in of), of[0][5]) for of in grouped.values()]

    def _unusable(self, error: sqlite3.Error) -> StoreError:
        found = super()._unusable(error)
        if found.retryable:
            return found
        if "locked" in str(error) or "busy" in str(error):
            held = f"Another program holds the situations ({self._path.name})."
            return StoreError(held, hint="Close it and try again; nothing stored is lost.", retryable=True)
        hint = "Set FINPOLICY_HOME to a folder you may write, or move the file away; documents and conversations are not touched by that."
        return StoreError(f"The situations ({self._path.name}) cannot be used: {error}.", hint=hint)
