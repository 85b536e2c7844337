"""Keeps a hash of each part of a version, by which damage is noticed that leaves the database sound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from chatbot.store.database import Stored, Transaction
from chatbot.store.migration.table_shapes import summary_of

__all__ = ["LEXICON", "SEAL_SCHEMA", "TEXT", "Seals", "forget_vectors", "seal", "seal_vectors"]

SEAL_SCHEMA = """
create table seal (version integer not null references version(id), part text not null, digest text not null,
    primary key (version, part)) without rowid;
"""
# The parts: the text with its tables, and the lexicon. Vectors are a part by the name of their fingerprint.
TEXT, LEXICON = "text", "lexicon"
PAGE = "number, text, label, label_source, method, confidence, words, tables, problem, running, kinds"
SEALED = {
    TEXT: [
        "select sha256, title, period, status, protected, pages, chunks from version where id = ?",
        f"select {PAGE}, instructions from page where version = ? order by number",
        "select number, remarks from remark where version = ? order by number",
        'select ordinal, page, start, "end", context from chunk where version = ? order by ordinal',
        "select ordinal, key from chunk_key where version = ? order by ordinal",
    ],
    LEXICON: ["select data from lexicon where version = ?"],
}
VECTORS = ["select ordinal, data from vector where version = ? and fingerprint = ? order by ordinal"]
KEEP = "insert into seal values (?, ?, ?) on conflict (version, part) do update set digest = excluded.digest"
Ask: TypeAlias = Callable[[str, Sequence[Any]], Iterable[Sequence[Any]]]


class Seals(Stored):
    """The hashes of one store, by version and part."""

    def damaged(self, version: int, fingerprint: str) -> list[str]:
        """Returns the parts of a version that are not as they were stored: TEXT, LEXICON, `fingerprint`."""
        sealed = dict(self.read("select part, digest from seal where version = ?", (version,)))
        now = {part: _digest(self.read, queries, version) for part, queries in SEALED.items()}
        now[fingerprint] = _digest(self.read, VECTORS, version, fingerprint)
        return [part for part, digest in now.items() if sealed.get(part, digest) != digest]


def seal(connection: Transaction, version: int, *parts: str) -> None:
    """Notes the hashes of parts of a version, by default of all but its vectors."""
    for part in parts or SEALED:
        connection.execute(KEEP, (version, part, _digest(connection.execute, SEALED[part], version)))


def seal_vectors(connection: Transaction, version: int, fingerprint: str) -> None:
    """Notes the hash of a version's vectors, in place of that of earlier ones."""
    forget_vectors(connection, version)
    digest = _digest(connection.execute, VECTORS, version, fingerprint)
    connection.execute(KEEP, (version, fingerprint, digest))


def forget_vectors(connection: Transaction, version: int) -> None:
    """Forgets the hash of a version's vectors, which are about to change."""
    connection.execute("delete from seal where version = ? and part not in (?, ?)", (version, TEXT, LEXICON))


def _digest(ask: Ask, queries: Iterable[str], *arguments: object) -> str:
    return " ".join(summary_of(ask(query, arguments)).digest for query in queries)
