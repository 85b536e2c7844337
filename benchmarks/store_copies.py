"""Makes a store larger by copies of its documents, faster than reading as many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import islice

from chatbot.models.embedders import Embedder
from chatbot.settings import Settings
from chatbot.store import catalog
from chatbot.store.database import Database, Transaction, open_database, place_of
from chatbot.store.indexing import ALIGNED
from chatbot.store.migration.table_shapes import TableShape, quoted, shapes_of

__all__ = ["multiply"]

ROWS_AT_ONCE = 1_000


def multiply(settings: Settings, passages: Embedder, times: int) -> None:
    """Copies all documents until each is there `times` times, in the catalogue alone: the next sweep adds
    what the indexes then lack.

    passages: makes the vectors of the copies, which differ from those of the originals.
    """
    with closing(open_database(place_of(settings, catalog.NAME), catalog.SCHEMA)) as database:
        originals = Originals(database, passages)
        for number in range(1, times):
            with database.write() as changes:
                originals.copy(changes, number)
        with database.write() as changes:
            changes.execute("delete from meta where key = ?", (ALIGNED,))
        for name in originals.numbered:
            ((highest,),) = database.read(f"select max(id) from {name}")
            database.number_from(name, "id", highest)


class Originals:
    """The documents that are copied."""

    def __init__(self, database: Database, passages: Embedder) -> None:
        shapes = shapes_of([catalog.SCHEMA.tables])
        self._tables = [
            shape
            for shape in shapes
            if shape.name in ("document", "version")
            or ("version" in shape.columns and shape.name != "vector")
        ]
        self._passages = passages
        # Table -> its highest number.
        self.numbered: dict[str, int] = {
            name: database.read(f"select max(id) from {name}")[0][0] for name in ("document", "version")
        }
        self._vectors: list[tuple[int, str, int, int]] = database.read(
            "select version, fingerprint, ordinal, length(data) from vector"
        )

    def copy(self, changes: Transaction, number: int) -> None:
        """Adds one copy of all. number: which, from 1."""
        for shape in self._tables:
            columns = [self._copied(shape, name, number) for name in shape.columns]
            own = "id" if shape.name in self.numbered else "version"
            changes.execute(
                f"insert into {shape.name} ({quoted(shape.columns)}) "
                f"select {', '.join(columns)} from {shape.name} where {own} <= ?",
                (self.numbered["document" if shape.name == "document" else "version"],),
            )
        vectors = self._vectors_of(number)
        while rows := list(islice(vectors, ROWS_AT_ONCE)):
            changes.executemany("insert into vector values (?, ?, ?, ?)", rows)

    def _copied(self, shape: TableShape, column: str, number: int) -> str:
        """What a column of a copy has, as SQL."""
        if column in ("name", "sha256"):
            return f"'{number}_' || substr({column}, 1, 60)"
        refers = {"id": shape.name, "document": "document"}.get(column, "version")
        if column in ("id", "document", "version", "active_version"):
            return f"{column} + {self.numbered[refers] * number}"
        return f'"{column}"'

    def _vectors_of(self, number: int) -> Iterator[tuple[int, str, int, bytes]]:
        moved = self.numbered["version"] * number
        bytes_a_window = 4 * self._passages.dimension
        for version, fingerprint, ordinal, size in self._vectors:
            made = self._passages.embed([""] * (size // bytes_a_window))
            yield version + moved, fingerprint, ordinal, made.tobytes()
