"""Runs Chroma's embedded engine without its Python client, whose import takes longer than a whole search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.store.vector_engine import CONFIGURATION, DATABASE, TENANT, Record, Scalar, Vectors
from ingestion.precedence import giving_way

__all__ = ["EmbeddedCollection", "EmbeddedEngine"]

# The number of collections kept in memory; there is one for each embedder.
OPEN_COLLECTIONS = 8
# Records stored in one call, which blocks all threads of the interpreter: 0.01 s. More are no quicker.
UNINTERRUPTED = 16


class EmbeddedEngine:
    """Chroma over one folder, in this process.

    It reads no environment, sends no telemetry, and imports in 0.1 s where `chromadb` takes 1.5.
    """

    def __init__(self, folder: Path) -> None:
        """folder: created if missing. Raises what Chroma raises."""
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

    def collection(self, name: str, metadata: dict[str, Scalar]) -> EmbeddedCollection:
        """Returns the collection of this name; creates it in cosine space with this metadata if missing."""
        made = json.dumps(CONFIGURATION)
        found = self._bindings.create_collection(name, made, None, metadata, True, TENANT, DATABASE)
        return EmbeddedCollection(self._bindings, str(found.id), dict(found.metadata or {}))

    def names(self) -> list[str]:
        """Returns the names of all collections."""
        return [found.name for found in self._bindings.list_collections(None, None, TENANT, DATABASE)]

    def drop(self, name: str) -> None:
        """Deletes a collection with all its records."""
        self._bindings.delete_collection(name, TENANT, DATABASE)


class EmbeddedCollection:
    """Records by id: a vector, a text, and metadata. Several threads may use it."""

    def __init__(self, bindings: Any, identity: str, metadata: dict[str, Scalar]) -> None:
        self._bindings, self._identity, self.metadata = bindings, identity, metadata

    def upsert(self, records: Sequence[Record]) -> None:
        """Stores records, at most 5,461 a call, replacing those with the same id."""
        for at in giving_way(range(0, len(records), UNINTERRUPTED)):
            ids, vectors, texts, metadata = map(list, zip(*records[at : at + UNINTERRUPTED], strict=True))
            numbers = [vector.tolist() for vector in vectors]
            self._bindings.upsert(self._identity, ids, numbers, metadata, texts, None, TENANT, DATABASE)

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Returns (id, cosine) of at most `limit` records, best first. vector: (dimension,)."""
        found = self._bindings.query(
            self._identity, None, [vector.tolist()], limit, None, None, ["distances"], TENANT, DATABASE
        )
        return [
            (key, 1.0 - float(distance))
            for key, distance in zip(found.ids[0], found.distances[0], strict=True)
        ]

    def ids(self, *, limit: int, offset: int) -> list[str]:
        """Returns some of the ids, in the order in which they are stored."""
        return list(
            self._bindings.get(self._identity, None, None, limit, offset, None, [], TENANT, DATABASE).ids
        )

    def metadata_of(self, ids: Sequence[str]) -> dict[str, dict[str, Scalar]]:
        """Returns id -> metadata, for those ids that exist."""
        found = self._bindings.get(
            self._identity, list(ids), None, None, 0, None, ["metadatas"], TENANT, DATABASE
        )
        return {key: dict(metadata) for key, metadata in zip(found.ids, found.metadatas, strict=True)}

    def vectors_of(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Returns id -> vector, for those ids that exist."""
        found = self._bindings.get(
            self._identity, list(ids), None, None, 0, None, ["embeddings"], TENANT, DATABASE
        )
        return {
            key: np.array(vector, np.float32) for key, vector in zip(found.ids, found.embeddings, strict=True)
        }

    def delete(self, **where: Scalar) -> None:
        """Deletes the records whose metadata has these values."""
        self._bindings.delete(self._identity, None, json.dumps(where), None, None, TENANT, DATABASE)

    def discard(self, ids: Sequence[str]) -> None:
        """Deletes these records. Missing ones are ignored."""
        self._bindings.delete(self._identity, list(ids), None, None, None, TENANT, DATABASE)

    def count(self) -> int:
        """Returns the number of records."""
        return int(self._bindings.count(self._identity, TENANT, DATABASE))
