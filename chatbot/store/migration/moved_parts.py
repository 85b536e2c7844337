"""Says which databases a store has, and which tables of them are moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chatbot.store import api_keys, catalog
from chatbot.store.database import Database, Place, Schema
from chatbot.store.migration.table_shapes import TableShape, shapes_of

__all__ = ["MovedPart", "store_parts"]


def _prepare_nothing(place: Place, source: Database) -> None:
    return


@dataclass(frozen=True, slots=True)
class MovedPart:
    """One database of a store.

    name: of it, as place_of takes it.
    scripts: returns the statements that made the tables of one.
    prepare: makes those tables in another place, beyond what opening it makes.
    only: name of a table -> a condition for those of its rows that belong to the store.
    """

    name: str
    schema: Schema
    scripts: Callable[[Database], Sequence[str]]
    prepare: Callable[[Place, Database], None] = _prepare_nothing
    only: Mapping[str, str] = field(default_factory=dict)

    def shapes(self, database: Database) -> list[TableShape]:
        """Returns the tables that are in a database, each after those that it refers to. Raises StoreError
        if they are of another version.
        """
        return shapes_of(self.scripts(database))


def store_parts(*, same_vectors: bool) -> list[MovedPart]:
    """Returns the catalogue and the keys.

    same_vectors: whether the index of vectors stays where it is, and so the name that the store has there.
    """
    of_the_place = ["vectors_aligned"] if same_vectors else ["vectors_aligned", "owner"]
    kept = f"key not in ({', '.join(map(repr, of_the_place))})"
    return [
        MovedPart("api_keys", api_keys.SCHEMA, lambda _: [api_keys.SCHEMA.tables]),
        MovedPart(catalog.NAME, catalog.SCHEMA, lambda _: [catalog.SCHEMA.tables], only={"meta": kept}),
    ]
