"""Finds passages by their vectors: a Chroma collection names the nearest, matrices score them exactly."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import StoreError
from chatbot.store.index_errors import REPAIR, IndexDamagedError
from ingestion.precedence import giving_way

if TYPE_CHECKING:
    from chatbot.store.chroma_folder import ChromaFolder
    from chatbot.store.chroma_server import ChromaServer

__all__ = [
    "NOBODYS",
    "ChromaIndex",
    "CollectionSpec",
    "IndexDamagedError",
    "IndexedPassage",
    "LeastRecentlyUsed",
    "Matrix",
    "Place",
    "Vectors",
    "matrix_of",
]

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CollectionSpec:
    """The collection that an index wants to use.

    metadata: what it is created with, and what one that exists must have.
    """

    name: str
    metadata: dict[str, str | int]


# Where an index keeps its collection. Opened at first use; several threads may use it.
Place: TypeAlias = "ChromaFolder | ChromaServer"
Value = TypeVar("Value")
# (id, vector, text, metadata).
Record = tuple[str, Vectors, str, dict[str, str | int]]
# Chroma takes at most 5,461 rows a call. At 1,000 its insert rate levels off.
BATCH = 1_000
# How the names of collections begin.
PREFIX = "passages-"
# Of a window: version, ordinal and number. Others who use the same server may have put in anything else.
OWN_ID = re.compile(r"\d{1,18}:\d{1,18}:\d{1,9}", re.ASCII)
NOBODYS = -1
# Ids read in one call when all are counted.
PAGE = 20_000


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A chunk as stored in Chroma.

    windows: (w, dimension) unit rows.
    document: a name it is stored under.
    page: physical, 1-based.
    page_label: the printed page number, "" for none.
    method: how its page was read.
    """

    version: int
    ordinal: int
    windows: Vectors
    text: str
    document: str
    page: int
    page_label: str
    method: str

    def records(self) -> Iterator[Record]:
        """Returns one record for each window. Only the first has the text; the others name the chunk.

        So whatever is found can be read and cited by any client of Chroma.
        """
        chunk = f"{self.version}:{self.ordinal}"
        told: dict[str, str | int] = {
            "document": self.document,
            "page": self.page,
            "page_label": self.page_label,
            "method": self.method,
            "chunk_id": chunk,
            "version": self.version,
            "ordinal": self.ordinal,
        }
        for window, vector in enumerate(self.windows):
            yield f"{chunk}:{window}", vector, "" if window else self.text, told


class ChromaIndex:
    """A Chroma collection of passages in cosine space, one for each embedder, in a folder or on a server.

    Opened at first use. Several threads may use it.
    """

    def __init__(self, place: Place, *, fingerprint: str, dimension: int, owner: str = "") -> None:
        """owner: whose index it is, where several stores may share a place; "" where there is only one."""
        self._place, self._owner = place, owner
        digest = hashlib.sha256(fingerprint.encode()).hexdigest()[:16]
        self.name = f"{PREFIX}{digest}{owner and '-'}{owner}"
        self._wanted = CollectionSpec(
            self.name, {"fingerprint": fingerprint, "dimension": dimension, "space": "cosine"}
        )

    def exists(self) -> bool:
        """Tells whether there is an index at all, without opening it."""
        return self._place.exists()

    def upsert(self, passages: Iterable[IndexedPassage]) -> None:
        """Stores passages, replacing those of the same version and ordinal. Raises IndexDamagedError,
        StoreError.
        """
        records = (record for passage in passages for record in passage.records())
        # Chroma refuses a call that names a record twice.
        while batch := list({record[0]: record for record in islice(records, BATCH)}.values()):
            with self._place.using(self._wanted) as (_, collection):
                for at in giving_way(range(0, len(batch), self._place.upserted)):
                    part = zip(*batch[at : at + self._place.upserted], strict=True)
                    ids, vectors, texts, metadata = map(list, part)
                    collection.upsert(ids=ids, embeddings=vectors, documents=texts, metadatas=metadata)

    def search(self, vector: Vectors, limit: int) -> list[tuple[int, int, float]]:
        """Returns (version, ordinal, cosine) of the chunks among the `limit` nearest windows, best first.

        Each chunk appears once. Raises IndexDamagedError, StoreError.
        """
        with self._place.using(self._wanted) as (_, collection):
            found = collection.query(query_embeddings=[vector], n_results=limit, include=["distances"])
            ((keys,), (distances,)) = found["ids"], found["distances"]
            # The graph may not lead to all rows. Counting takes as long as searching.
            if len(keys) < limit and len(keys) < (wanted := min(limit, collection.count())):
                raise StoreError(
                    f"The vector index finds only {len(keys)} of {wanted} passages.",
                    hint=REPAIR,
                    retryable=True,
                )
        best: dict[tuple[int, int], float] = {}
        for key, distance in zip(keys, distances, strict=True):
            if OWN_ID.fullmatch(key):
                version, ordinal, _ = map(int, key.split(":"))
                best.setdefault((version, ordinal), 1.0 - float(distance))
        return [(version, ordinal, score) for (version, ordinal), score in best.items()]

    def remove(self, versions: Iterable[int]) -> None:
        """Deletes all rows of these versions. `scrub` removes their text from the files."""
        for version in versions:
            with self._place.using(self._wanted) as (_, collection):
                collection.delete(where={"version": version})

    def trim(self, version: int, kept: Container[str]) -> None:
        """Deletes the records of a version but for these."""
        with self._place.using(self._wanted) as (_, collection):
            there = collection.get(where={"version": version}, include=[])["ids"]
            gone = iter([key for key in there if key not in kept])
            while batch := list(islice(gone, BATCH)):
                collection.delete(ids=batch)

    def ping(self) -> None:
        """Asks for one record, to learn whether the index answers. Raises IndexDamagedError, StoreError."""
        if self.exists():
            with self._place.using(self._wanted) as (_, collection):
                collection.get(ids=["0:0:0"], include=[])

    def count(self) -> int:
        """Returns the number of windows."""
        with self._place.using(self._wanted) as (_, collection):
            return int(collection.count())

    def held(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Returns id -> vector of those of these records that exist. ids: at most 5,461."""
        with self._place.using(self._wanted) as (_, collection):
            found = collection.get(ids=list(ids), include=["embeddings"])
        return dict(zip(found["ids"], np.asarray(found["embeddings"], np.float32), strict=True))

    def counts(self) -> dict[int, int]:
        """Returns version -> number of its windows; NOBODYS -> of records that this program did not make."""
        counts: Counter[int] = Counter()
        with self._place.using(self._wanted) as (_, collection):
            for offset in range(0, collection.count(), PAGE):
                ids = collection.get(limit=PAGE, offset=offset, include=[])["ids"]
                counts.update(int(key.split(":")[0]) if OWN_ID.fullmatch(key) else NOBODYS for key in ids)
        return dict(counts)

    def names(self, versions: Iterable[int]) -> dict[int, str]:
        """Returns version -> the document name of its first passage, if it has one."""
        found = dict[int, str]()
        keys = (f"{version}:0:0" for version in versions)
        while batch := list(islice(keys, BATCH)):
            with self._place.using(self._wanted) as (_, collection):
                for told in collection.get(ids=batch, include=["metadatas"])["metadatas"]:
                    found[int(told["version"])] = str(told["document"])
        return found

    def drop_others(self) -> None:
        """Deletes the collections of other embedders."""
        with self._place.using(self._wanted) as (client, _):
            for name in [found.name for found in client.list_collections()]:
                if name != self.name and self._is_ours(name):
                    client.delete_collection(name)

    def _is_ours(self, name: str) -> bool:
        return not self._owner or (name.startswith(PREFIX) and name.endswith(f"-{self._owner}"))

    def scrub(self) -> None:
        """Removes the text of deleted rows from the engine's files; see ChromaFolder. Raises StoreError."""
        self._place.scrub()

    def faults(self) -> list[str]:
        """Returns what is wrong with the engine's files; see ChromaFolder. Raises StoreError."""
        return self._place.faults() if self.exists() else []

    def clear(self) -> None:
        """Deletes the whole index, whatever its state."""
        self._place.clear(self._wanted)

    def close(self) -> None:
        """Closes the files; the next use opens them again."""
        self._place.close()


@dataclass(frozen=True, slots=True)
class Matrix:
    """One document's vectors.

    rows: (windows, dimension) float32.
    ordinals: (windows,) the chunk of each row.
    """

    rows: Vectors
    ordinals: NDArray[np.int64]

    def cosines(self, vector: Vectors, chunks: int, only: NDArray[np.int64] | None = None) -> Vectors:
        """Returns the exact cosine of each chunk, shape (chunks,), or of the ordinals `only`, shape
        (len(only),).

        The best window counts. -1 stands for a chunk without vectors so far.
        """
        if only is None:
            out = np.full(chunks, -1.0, np.float32)
            np.maximum.at(out, self.ordinals, self.rows @ vector)
            return out
        out = np.full(len(only), -1.0, np.float32)
        first, last = (np.searchsorted(self.ordinals, only, side) for side in ("left", "right"))
        for window in range(int((last - first).max(initial=0))):
            there = np.flatnonzero(first + window < last)
            out[there] = np.maximum(out[there], self.rows[first[there] + window] @ vector)
        return out

    @property
    def size(self) -> int:
        """The size in bytes."""
        return int(self.rows.nbytes + self.ordinals.nbytes)


def matrix_of(stored: Sequence[tuple[int, bytes]], dimension: int) -> Matrix:
    """Builds a matrix from (ordinal, float32 bytes of its windows)."""
    if not stored:
        return Matrix(np.zeros((0, dimension), np.float32), np.zeros(0, np.int64))
    rows = np.frombuffer(b"".join(data for _, data in stored), np.float32).reshape(-1, dimension)
    windows = [len(data) // (4 * dimension) for _, data in stored]
    return Matrix(rows, np.repeat(np.array([ordinal for ordinal, _ in stored], np.int64), windows))


class LeastRecentlyUsed(Generic[Value]):
    """Caches values up to a number of bytes; the least recently used goes first. Thread-safe."""

    def __init__(self, capacity: int, *, size: Callable[[Value], int]) -> None:
        self._capacity, self._size = capacity, size
        self._values: OrderedDict[Any, Value] = OrderedDict()
        self._used = self._drops = 0
        self._lock = threading.Lock()

    def get(self, key: Any, make: Callable[[], Value], *, keep: Callable[[], bool] = lambda: True) -> Value:
        """Returns the value of `key`, made if missing. It stays unless something is dropped meanwhile.

        keep: asked before a value is made, whether it is to stay.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            drops = self._drops
        lasting = keep()
        value = make()
        with self._lock:
            if key not in self._values and lasting and drops == self._drops:
                self._values[key] = value
                self._used += self._size(value)
            while self._used > self._capacity and len(self._values) > 1:
                self._used -= self._size(self._values.popitem(last=False)[1])
        return value

    def drop(self, key: Any) -> None:
        """Forgets a key. A missing one is ignored."""
        with self._lock:
            self._drops += 1
            if key in self._values:
                self._used -= self._size(self._values.pop(key))
