"""Stores users' corrections of a document's period and status.

They are kept by the file's hash, so that they survive re-reading.
"""

from __future__ import annotations

from chatbot.store.database import Stored
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = [
    "CORRECTION_SCHEMA",
    "FORGET_TITLES",
    "PERIOD",
    "STATUS",
    "Corrections",
    "correction_from",
    "correction_to",
]

# null: as the document says. "": none, whatever the document says.
CORRECTION_SCHEMA = """
create table correction (sha256 text primary key, period text, status text) without rowid;
"""
# Titles have the period in them.
FORGET_TITLES = "delete from found_title where version in (select id from version where sha256 = ?)"
# The value of a version v that counts.
PERIOD = "nullif(coalesce((select c.period from correction c where c.sha256 = v.sha256), v.period, ''), '')"
STATUS = "nullif(coalesce((select c.status from correction c where c.sha256 = v.sha256), v.status, ''), '')"


class Corrections(Stored):
    """The corrections of one store, by SHA-256 of the file.

    A new version of a document therefore begins with what it says itself.
    """

    def correction(self, sha256: str) -> DocumentFacts:
        """Returns the correction of these bytes: None for "as the document says", "" for "none"."""
        rows = self.read("select period, status from correction where sha256 = ?", (sha256,))
        if rows:
            return DocumentFacts(*rows[0])
        return NO_FACTS

    def correct(self, sha256: str, said: DocumentFacts) -> None:
        """Makes this count instead of what the document says. said: as in `correction`."""
        with self.write() as connection:
            if said == NO_FACTS:
                connection.execute("delete from correction where sha256 = ?", (sha256,))
            else:
                connection.execute(
                    "insert into correction values (?, ?, ?) on conflict (sha256)"
                    " do update set period = excluded.period, status = excluded.status",
                    (sha256, said.period, said.status),
                )
            connection.execute(FORGET_TITLES, (sha256,))

    def own_facts(self, version: int) -> DocumentFacts:
        """Returns what a version says of itself; empty facts if it does not exist."""
        rows = self.read("select period, status from version where id = ?", (version,))
        if rows:
            return DocumentFacts(*rows[0])
        return NO_FACTS


def correction_to(said: DocumentFacts) -> dict[str, str]:
    """Returns a correction as JSON values, without parts that are as the document says."""
    return {
        name: value for name, value in (("period", said.period), ("status", said.status)) if value is not None
    }


def correction_from(values: object) -> DocumentFacts:
    """Returns the correction of such values. What is not text counts as the document says."""
    if isinstance(values, dict):
        given = values
    else:
        given = {}
    period = given.get("period")
    status = given.get("status")
    return DocumentFacts(
        period if isinstance(period, str) else None, status if isinstance(status, str) else None
    )
