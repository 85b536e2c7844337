"""Counts how often news of a source was in an answer that a reader found helpful."""

from __future__ import annotations

from collections.abc import Iterable

from chatbot.memory.memory_database import MemoryDatabase, Tables
from chatbot.memory.signals.records import SourceRow

__all__ = ["SourceRatings"]

TABLES = Tables(
    "signal_sources",
    (
        """create table source_rating (owner text not null, conversation text not null,
number integer not null, source text not null, helpful integer not null,
primary key (owner, conversation, number, source)) without rowid;
""",
    ),
)


class SourceRatings:
    """The ratings of answers by the sources of the news in them. Safe to use from several threads."""

    def __init__(self, database: MemoryDatabase) -> None:
        """Raises StoreError."""
        database.prepare(TABLES)
        self._database = database

    def rate(
        self, owner: str, conversation: str, number: int, sources: Iterable[str], *, helpful: bool
    ) -> None:
        """Notes a rating of the answer of this number; a later one takes its place. Raises StoreError."""
        with self._database.write() as connection:
            connection.executemany(
                "insert into source_rating values (?, ?, ?, ?, ?) on conflict (owner, conversation, number,"
                " source) do update set helpful = excluded.helpful",
                [(owner, conversation, number, source, helpful) for source in set(sources)],
            )

    def listed(self) -> list[SourceRow]:
        """Returns every source that was rated, the one with the most ratings first. Raises StoreError."""
        rows = self._database.read(
            "select source, sum(helpful), sum(1 - helpful) from source_rating group by source"
            " order by count(*) desc, source"
        )
        return [SourceRow(*row) for row in rows]
