"""Vectors of chunks: a Chroma collection for searching all documents, exact matrices for scoring few; makes no vector itself."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import StoreError
from chatbot.store.damage import REPAIR, IndexDamagedError, explaining

__all__ = ["ChromaIndex", "IndexDamagedError", "LeastRecentlyUsed", "Matrix", "Vectors", "matrix_of", "open_chroma"]

Vectors = NDArray[np.float32]
Value = TypeVar("Value")
# Chroma takes at most 5,461 rows a call; 1,000 is where its insert rate levels off.
BATCH = 1_000
# Ids looked at in one call when all are counted.
PAGE = 20_000


def open_chroma(folder: Path) -> Any:
    """A client of Chroma over `folder`, which is made where it is missing. chromadb is imported here, at first use."""
    import chromadb

    folder.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(str(folder), settings=_chroma_settings()(anonymized_telemetry=False))


@cache
def _chroma_settings() -> Any:
    """Chroma's settings without those of the environment and of a `.env` file, which may name another host to keep vectors at, or to tell of them.

    One class for all: Chroma compares the settings that a folder is opened with, and those of two classes are never the same.
    """
    from chromadb.config import Settings

    class Here(Settings):
        @classmethod
        def settings_customise_sources(cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any) -> tuple[Any, ...]:
            return (init_settings,)

    return Here


class ChromaIndex:
    """A persistent Chroma collection in cosine space, one for each embedder; vectors are unit float32 rows. Opened at first use."""

    def __init__(self, folder: Path, *, fingerprint: str, dimension: int) -> None:
        self._folder, self._fingerprint, self._dimension = folder, fingerprint, dimension
        self._name = "chunks-" + hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self._lock = threading.Lock()
        self._preloading = False
        self._client: Any = None
        self._found: Any = None

    def exists(self) -> bool:
        """Whether there is an index at all; does not open it."""
        return self._folder.exists()

    def preload(self) -> None:
        """Import chromadb and open the collection in the background, once; the first search waits for what is left of it."""
        if self._preloading:
            return
        self._preloading = True
        threading.Thread(target=self._try_open, name="chroma-import", daemon=True).start()

    def upsert(self, version: int, rows: Sequence[tuple[int, Vectors]]) -> None:
        """Store (ordinal, windows of shape (w, dimension)); rows of the same ordinal are replaced. Raises IndexDamagedError, StoreError."""
        flat = [(f"{version}:{ordinal}:{window}", vector, ordinal) for ordinal, windows in rows for window, vector in enumerate(windows)]
        for at in range(0, len(flat), BATCH):
            part = flat[at : at + BATCH]
            metadatas = [{"version": version, "ordinal": ordinal} for _, _, ordinal in part]
            ids, vectors = [row[0] for row in part], np.stack([row[1] for row in part])
            with self._using() as collection:
                collection.upsert(ids=ids, embeddings=vectors, metadatas=metadatas)

    def search(self, vector: Vectors, limit: int) -> list[tuple[int, int, float]]:
        """(version, ordinal, cosine) of the chunks among the `limit` nearest windows, best first, each once. Raises IndexDamagedError."""
        with self._using() as collection:
            if not collection.count():
                return []
            found = collection.query(query_embeddings=vector[None, :], n_results=limit, include=["distances"])
        best: dict[tuple[int, int], float] = {}
        for key, distance in zip(found["ids"][0], found["distances"][0], strict=True):
            version, ordinal, _ = map(int, key.split(":"))
            best.setdefault((version, ordinal), 1.0 - float(distance))
        return [(version, ordinal, score) for (version, ordinal), score in best.items()]

    def remove(self, versions: Iterable[int]) -> None:
        """Delete all rows of these versions."""
        for version in versions:
            with self._using() as collection:
                collection.delete(where={"version": version})

    def count(self) -> int:
        """How many windows there are."""
        with self._using() as collection:
            return int(collection.count())

    def counts(self) -> dict[int, int]:
        """version -> how many windows of it there are."""
        counts: Counter[int] = Counter()
        with self._using() as collection:
            for offset in range(0, collection.count(), PAGE):
                counts.update(int(key.split(":")[0]) for key in collection.get(include=[], limit=PAGE, offset=offset)["ids"])
        return dict(counts)

    def drop_others(self) -> None:
        """Delete the collections of other embedders."""
        with self._using():
            for collection in self._client.list_collections():
                if collection.name != self._name:
                    self._client.delete_collection(collection.name)

    def close(self) -> None:
        """Stop Chroma's background work; the object is not usable afterwards."""
        with self._lock:
            client, self._client, self._found = self._client, None, None
        if client is not None:
            client.close()
            # Chroma keeps one system for a path, which would go on with the files of a folder that is gone.
            client.clear_system_cache()

    def _try_open(self) -> None:
        with suppress(StoreError), self._using():
            return  # whoever needs the index first gets the error, with its hint

    @contextmanager
    def _using(self) -> Iterator[Any]:
        """The open collection; what goes wrong in using it is told apart into damage and a full disk."""
        with explaining("The vector index", self._folder):
            with self._lock:
                if self._found is None:
                    self._found = self._open()
                found = self._found
            yield found

    def _open(self) -> Any:
        self._client = open_chroma(self._folder)
        # Chroma keeps a collection's first space and says nothing when asked for another: what it was made with is checked.
        wanted = {"fingerprint": self._fingerprint, "dimension": self._dimension, "space": "cosine"}
        collection = self._client.get_or_create_collection(
            self._name, configuration={"hnsw": {"space": "cosine"}}, metadata=wanted, embedding_function=None
        )
        if dict(collection.metadata or {}) != wanted:
            raise IndexDamagedError(f"The vector index was made by {collection.metadata}, not {wanted}.", hint=REPAIR)
        return collection


@dataclass(frozen=True, slots=True)
class Matrix:
    """One document's vectors. rows: (windows, dimension) float32; ordinals: (windows,) the chunk of each row."""

    rows: Vectors
    ordinals: NDArray[np.int64]

    def cosines(self, vector: Vectors, chunks: int) -> Vectors:
        """Exact cosine of each chunk, shape (chunks,), its best window counting; -1 where a chunk has no vector yet."""
        out = np.full(chunks, -1.0, np.float32)
        if len(self.ordinals):
            np.maximum.at(out, self.ordinals, self.rows @ vector)
        return out

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.rows.nbytes + self.ordinals.nbytes)


def matrix_of(stored: Sequence[tuple[int, bytes]], dimension: int) -> Matrix:
    """A matrix from (ordinal, float32 bytes of its windows)."""
    if not stored:
        return Matrix(np.zeros((0, dimension), np.float32), np.zeros(0, np.int64))
    rows = np.frombuffer(b"".join(data for _, data in stored), np.float32).reshape(-1, dimension)
    windows = [len(data) // (4 * dimension) for _, data in stored]
    return Matrix(rows, np.repeat(np.array([ordinal for ordinal, _ in stored], np.int64), windows))


class LeastRecentlyUsed(Generic[Value]):
    """Values by key up to a number of bytes; the one not used for longest goes first. For use from several threads."""

    def __init__(self, capacity: int, *, size: Callable[[Value], int]) -> None:
        self._capacity, self._size = capacity, size
        self._values: OrderedDict[Any, Value] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Value]) -> Value:
        """The value of `key`, made if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._used += self._size(value)
            while self._used > self._capacity and len(self._values) > 1:
                self._used -= self._size(self._values.popitem(last=False)[1])
        return value

    def drop(self, key: Any) -> None:
        """Forget a key; one that is not there is fine."""
        with self._lock:
            if key in self._values:
                self._used -= self._size(self._values.pop(key))
