"""Vectors of situations in Chroma, each in as many windows as its text takes; derived from the situations' own file, and made anew from it at any time."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.store.damage import explaining
from chatbot.store.vectors import open_chroma

__all__ = ["SituationIndex"]

Vectors = NDArray[np.float32]
# Chroma takes at most 5,461 rows a call.
BATCH, PAGE = 1_000, 20_000
# Windows that are looked at for each situation that is wanted, at first; most situations are one window.
WINDOWS_EACH = 3


class SituationIndex:
    """Chroma collections in cosine space, one for each shelf (an owner's scope) and embedder: a search that is filtered within a larger one loses what is
    nearest. A row: one window of a situation, named "<key>:<window>".

    chromadb is imported at first use. Safe from several threads of one process.
    """

    def __init__(self, folder: Path, *, fingerprint: str, dimension: int) -> None:
        self._folder, self._fingerprint, self._dimension = folder, fingerprint, dimension
        self._lock = threading.RLock()
        self._client: Any = None
        self._shelves: dict[str, Any] = {}
        self._opened = False

    def put(self, rows: Sequence[tuple[str, str, Vectors]]) -> None:
        """Store (key, shelf, windows of shape (w, dimension)). Raises StoreError."""
        for shelf in {row[1] for row in rows}:
            flat = [
                (f"{key}:{window}", vector, {"key": key, "windows": len(windows)})
                for key, of, windows in rows
                if of == shelf
                for window, vector in enumerate(windows)
            ]
            for at in range(0, len(flat), BATCH):
                part = flat[at : at + BATCH]
                with self._using() as client:
                    self._shelf(client, shelf).upsert(
                        ids=[row[0] for row in part], embeddings=np.stack([row[1] for row in part]), metadatas=[row[2] for row in part]
                    )

    def nearest(self, vectors: Vectors, shelves: Collection[str], n: int) -> list[tuple[str, float]]:
        """(key, cosine in [-1, 1]) of the n situations of these shelves that are nearest to any of the vectors (m, dimension), each once with its best window,
        best first. Raises StoreError."""
        with self._using():
            found = [one for shelf in shelves if shelf in self._shelves for one in _nearest(self._shelves[shelf], vectors, n)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:n]

    def held(self) -> dict[tuple[str, str], bool]:
        """(shelf, key) -> whether all its windows are there, or it was left half written. Raises StoreError."""
        missing = dict[tuple[str, str], int]()
        with self._using():
            for shelf, collection in list(self._shelves.items()):
                for offset in range(0, collection.count(), PAGE):
                    for metadata in collection.get(include=["metadatas"], limit=PAGE, offset=offset)["metadatas"]:
                        at = shelf, str(metadata["key"])
                        missing[at] = missing.get(at, int(metadata["windows"])) - 1
        return {at: not count for at, count in missing.items()}

    def remove(self, shelf: str, key: str) -> None:
        """Delete all rows of a situation. Raises StoreError."""
        with self._using():
            if shelf in self._shelves:
                self._shelves[shelf].delete(where={"key": key})

    def drop_others(self) -> None:
        """Delete what other embedders made. Raises StoreError."""
        with self._using() as client:
            for collection in client.list_collections():
                if (collection.metadata or {}).get("fingerprint") != self._fingerprint:
                    client.delete_collection(collection.name)

    def clear(self) -> None:
        """Delete the whole folder; it is made anew at the next use."""
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Stop Chroma's background work; the next use opens it again."""
        with self._lock:
            client, self._client, self._shelves = self._client, None, {}
            if client is not None:
                client.close()
            if self._opened:
                self._forget()

    def _forget(self) -> None:
        """Chroma keeps what it opened by its path, also what failed to open, and would go on with files that are gone. Its own way to forget forgets all
        paths at once, those of the documents too, which then are never closed."""
        from chromadb.api.shared_system_client import SharedSystemClient

        for kept in (SharedSystemClient._identifier_to_system, SharedSystemClient._identifier_to_refcount):
            kept.pop(str(self._folder), None)

    @contextmanager
    def _using(self) -> Iterator[Any]:
        """The open client; what goes wrong in using it is told apart into damage and a full disk."""
        with explaining("The index of situations", self._folder):
            with self._lock:
                if self._client is None:
                    self._client = self._open()
            yield self._client

    def _open(self) -> Any:
        self._opened = True
        client = open_chroma(self._folder)
        made_so = self._made_so("")
        for collection in client.list_collections():
            metadata = dict(collection.metadata or {})
            if metadata.get("fingerprint") != self._fingerprint:
                continue
            # Chroma keeps a collection's first space and says nothing when asked for another: what it was made with is checked.
            opened = client.get_collection(collection.name, embedding_function=None)
            if metadata | {"shelf": ""} == made_so and (opened.configuration_json.get("hnsw") or {}).get("space") == "cosine":
                self._shelves[metadata["shelf"]] = opened
            else:
                client.delete_collection(collection.name)
        return client

    def _shelf(self, client: Any, shelf: str) -> Any:
        with self._lock:
            if shelf not in self._shelves:
                name = "situations-" + hashlib.sha256(f"{self._fingerprint}\n{shelf}".encode()).hexdigest()[:32]
                self._shelves[shelf] = client.create_collection(
                    name, configuration={"hnsw": {"space": "cosine"}}, metadata=self._made_so(shelf), embedding_function=None
                )
            return self._shelves[shelf]

    def _made_so(self, shelf: str) -> dict[str, str | int]:
        return {"fingerprint": self._fingerprint, "dimension": self._dimension, "space": "cosine", "shelf": shelf}


def _nearest(collection: Any, vectors: Vectors, n: int) -> list[tuple[str, float]]:
    there = collection.count()
    windows = min(there, WINDOWS_EACH * n)
    while windows:
        found = collection.query(query_embeddings=vectors, n_results=windows, include=["distances"])
        rows = [_best_windows(*row) for row in zip(found["ids"], found["distances"], strict=True)]
        # One long situation may fill the nearest windows with its own.
        if windows == there or min(map(len, rows)) >= n:
            return _best_of(rows)
        windows = min(there, 4 * windows)
    return []


def _best_windows(names: Sequence[str], distances: Sequence[float]) -> dict[str, float]:
    """Key -> cosine of its nearest window, of rows "<key>:<window>" that come nearest first."""
    best: dict[str, float] = {}
    for name, distance in zip(names, distances, strict=True):
        best.setdefault(name.partition(":")[0], min(1.0, max(-1.0, 1.0 - float(distance))))
    return best


def _best_of(rows: Sequence[Mapping[str, float]]) -> list[tuple[str, float]]:
    best: dict[str, float] = {}
    for row in rows:
        for key, score in row.items():
            best[key] = max(score, best.get(key, score))
    return list(best.items())
