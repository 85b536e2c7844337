"""Chroma's embedded engine without its Python client, whose import takes longer than a whole search; opens
collections, knows no document.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Collection", "Engine", "Record", "Scalar", "blank", "written_at"]

Vectors = NDArray[np.float32]
Scalar = str | int | float | bool
Record = tuple[str, Vectors, str, dict[str, Scalar]]
# What every client of Chroma uses where it is told nothing else.
TENANT, DATABASE = "default_tenant", "default_database"
# Collections that are kept in memory at once: there is one an embedder.
OPEN_COLLECTIONS = 8
# How the header of a graph of vectors begins: its version, a place, the elements there is room for, those
# there are, and bytes an element.
GRAPH_HEADER = struct.Struct("<iQQQQ")
LENGTH_BYTES = 4


class Engine:
    """Chroma over one folder, in this process. It reads no environment, tells nobody anything, and imports
    in 0.1 s where `chromadb` takes 1.5.
    """

    def __init__(self, folder: Path) -> None:
        """folder: made where it is missing. Raises what Chroma raises."""
        from chromadb_rust_bindings import Bindings, MigrationHash, MigrationMode, SqliteDBConfig

        folder.mkdir(parents=True, exist_ok=True)
        database = SqliteDBConfig(
            hash_type=MigrationHash.MD5,
            migration_mode=MigrationMode.Apply,
            url=str(folder / "chroma.sqlite3"),
        )
        self._bindings: Any = Bindings(
            allow_reset=False,
            sqlite_db_config=database,
            persist_path=str(folder),
            hnsw_cache_size=OPEN_COLLECTIONS,
        )

    def collection(self, name: str, metadata: dict[str, Scalar]) -> Collection:
        """The collection of this name, made in cosine space with this metadata where there is none."""
        configuration = json.dumps({"hnsw": {"space": "cosine"}})
        found = self._bindings.create_collection(name, configuration, None, metadata, True, TENANT, DATABASE)
        return Collection(self._bindings, str(found.id), dict(found.metadata or {}))

    def names(self) -> list[str]:
        """The names of all collections."""
        return [found.name for found in self._bindings.list_collections(None, None, TENANT, DATABASE)]

    def drop(self, name: str) -> None:
        """Delete a collection with all that is in it."""
        self._bindings.delete_collection(name, TENANT, DATABASE)


class Collection:
    """Records by id: a vector, a text, and metadata. Safe from several threads."""

    def __init__(self, bindings: Any, identity: str, metadata: dict[str, Scalar]) -> None:
        self._bindings, self._identity, self.metadata = bindings, identity, metadata

    def upsert(self, records: Sequence[Record]) -> None:
        """Store records, at most 5,461 a call, in place of those of the same id."""
        ids, vectors, texts, metadata = map(list, zip(*records, strict=True))
        self._bindings.upsert(
            self._identity,
            ids,
            [vector.tolist() for vector in vectors],
            metadata,
            texts,
            None,
            TENANT,
            DATABASE,
        )

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """(id, cosine) of at most `limit` records, best first. vector: (dimension,)."""
        found = self._bindings.query(
            self._identity, None, [vector.tolist()], limit, None, None, ["distances"], TENANT, DATABASE
        )
        return [
            (key, 1.0 - float(distance))
            for key, distance in zip(found.ids[0], found.distances[0], strict=True)
        ]

    def ids(self, *, limit: int, offset: int) -> list[str]:
        """Ids of a part of all records, in the order in which they are stored."""
        return list(
            self._bindings.get(self._identity, None, None, limit, offset, None, [], TENANT, DATABASE).ids
        )

    def metadata_of(self, ids: Sequence[str]) -> dict[str, dict[str, Scalar]]:
        """id -> metadata, of those ids that there are."""
        found = self._bindings.get(
            self._identity, list(ids), None, None, 0, None, ["metadatas"], TENANT, DATABASE
        )
        return {key: dict(metadata) for key, metadata in zip(found.ids, found.metadatas, strict=True)}

    def delete(self, **where: Scalar) -> None:
        """Delete the records whose metadata has these values."""
        self._bindings.delete(self._identity, None, json.dumps(where), None, None, TENANT, DATABASE)

    def discard(self, ids: Sequence[str]) -> None:
        """Delete these records; what is not there is fine."""
        self._bindings.delete(self._identity, list(ids), None, None, None, TENANT, DATABASE)

    def count(self) -> int:
        """How many records there are."""
        return int(self._bindings.count(self._identity, TENANT, DATABASE))


def written_at(folder: Path) -> dict[Path, int]:
    """When each graph of vectors was written, in nanoseconds since the epoch."""
    return {path: path.stat().st_mtime_ns for path in folder.glob("*/data_level0.bin")}


def blank(folder: Path) -> None:
    """Fill the room for coming vectors with zeros in the files of a folder that nobody writes to: Chroma
    leaves there what the memory last held, which may be the text of a document."""
    for header in folder.glob("*/header.bin"):
        _, _, room, used, size = GRAPH_HEADER.unpack(header.read_bytes()[: GRAPH_HEADER.size])
        for name, width in (("data_level0.bin", size), ("length.bin", LENGTH_BYTES)):
            with header.with_name(name).open("r+b") as file:
                file.seek(used * width)
                file.write(bytes((room - used) * width))
