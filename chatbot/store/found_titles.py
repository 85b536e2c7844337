"""Keeps the titles that were found in the documents, and finds those that are not kept yet.

A title is found when a document is read, for only then it is known how large its lines are set. Where the
rules or the period have changed since, it is found anew in the stored pages, the first time that it is asked
for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from chatbot.errors import StoreError
from chatbot.store.contents import LACKS, Contents
from chatbot.store.corrections import PERIOD
from chatbot.store.database import Transaction
from chatbot.store.document_names import told_apart
from ingestion.document import DocumentReading
from ingestion.pages.document_titles import TITLE_RULES, document_title
from ingestion.pages.title_text import READ_PAGES, name_title
from ingestion.records import Chunk

__all__ = ["TITLE_SCHEMA", "FoundTitles"]

TITLE_SCHEMA = """
create table found_title (version integer primary key references version(id), title text not null,
rules integer not null);
"""


class _Titled(NamedTuple):
    """What a document's title is made of. found: "" where its pages have none, None where none was sought."""

    name: str
    version: int
    found: str | None
    own: str | None
    period: str
    lacks: str


class FoundTitles(Contents):
    """The titles of one store."""

    def titles(self) -> dict[str, str]:
        """Returns name -> title of all documents, removed ones too; no two titles are alike.

        A document without a title has its name, tidied.
        """
        rows = self._titled()
        return told_apart(self._own_titles(rows), {row.name: row.period for row in rows})

    def own_titles(self) -> dict[str, str]:
        """The same as documents have them: those of two documents may be alike."""
        return self._own_titles(self._titled())

    def _own_titles(self, rows: Sequence[_Titled]) -> dict[str, str]:
        found = {row.version: row.found for row in rows if row.found is not None}
        missing = {row.version: row for row in rows if row.version not in found}
        sought = {version: self._find(row) for version, row in missing.items()}
        self._keep(missing.values(), sought)
        found.update(sought)
        return {row.name: found[row.version] or name_title(row.name) for row in rows}

    def _fill(
        self,
        connection: Transaction,
        version: int,
        reading: DocumentReading,
        chunks: Sequence[Chunk],
        lexicon: bytes,
    ) -> None:
        super()._fill(connection, version, reading, chunks, lexicon)
        said = connection.execute(f"select coalesce({PERIOD}, '') from version v where v.id = ?", (version,))
        title = document_title(reading.pages[:READ_PAGES], reading.info.title, said.fetchall()[0][0])
        connection.execute("insert into found_title values (?, ?, ?)", (version, title, TITLE_RULES))

    def _titled(self) -> Sequence[_Titled]:
        rows = self.read(
            f"select d.name, v.id, t.title, v.title, coalesce({PERIOD}, ''), {LACKS} from document d"
            " join version v on v.id = d.active_version"
            " left join found_title t on t.version = v.id and t.rules = ? order by d.id",
            (TITLE_RULES,),
        )
        return [_Titled(*row) for row in rows]

    def _find(self, row: _Titled) -> str:
        """Finds a title in the stored pages, "" for none."""
        pages = self.pages(row.version, range(1, READ_PAGES + 1))
        return document_title([pages[number] for number in sorted(pages)], row.own, row.period)

    def _keep(self, rows: Iterable[_Titled], found: Mapping[int, str]) -> None:
        """Keeps titles, but for versions that were read anew meanwhile."""
        kept = [(found[row.version], TITLE_RULES, row.version, row.lacks) for row in rows]
        if not kept or self.database.read_only:
            return
        with suppress(StoreError), self.write() as connection:  # on a full disk they are found again
            connection.executemany(
                f"insert into found_title select v.id, ?, ? from version v where v.id = ? and {LACKS} = ?"
                " on conflict (version) do update set title = excluded.title, rules = excluded.rules",
                kept,
            )
