"""Makes the vectors that versions lack. Reading texts, embedding and storing overlap."""

from __future__ import annotations

import threading
from collections import ChainMap, Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from chatbot.errors import ModelError, StoreError
from chatbot.models.embedders import Embedder, passage_windows, step_back
from chatbot.store.catalog import Catalog, Version
from chatbot.store.contents import StoredChunk, chunk_key
from ingestion.records import Chunk

__all__ = ["EMBED_BATCH", "EarlyVectors", "Made", "in_turns", "make_vectors"]

# Chunks embedded between two commits: about half a second of work, which a crash can cost. The first batches
# are smaller, so that storing begins early.
FIRST_BATCH, EMBED_BATCH = 16, 64
# Chunks that are made early at once. The next batch waits for the last of them.
EARLY_BATCH = 4
# Batches made but not yet written: one waits, one is being made, one is being written.
BATCHES_AHEAD = 3
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors of some chunks of a version, by ordinal: (ordinal, key of the chunk, float32 bytes of windows).

    last: whether the version now has all vectors.
    """

    version: Version
    rows: list[tuple[int, bytes, bytes]]
    last: bool


@dataclass(frozen=True, slots=True)
class _Texts:
    """Chunks as (ordinal, key), the windows of keys without vectors, and the vectors of the other keys."""

    version: Version
    chunks: list[tuple[int, bytes]]
    windows: dict[bytes, list[str]]
    kept: dict[bytes, bytes]
    last: bool


class EarlyVectors:
    """Makes the first vectors of chunks while they are stored. Storing takes one core, this another."""

    def __init__(self, catalog: Catalog, embedder: Embedder) -> None:
        self._catalog, self._embedder = catalog, embedder
        self._thread, self._ended, self._made = threading.Thread(), threading.Event(), dict[bytes, bytes]()

    def begin(self, chunks: Sequence[Chunk]) -> None:
        """Makes the vectors of these chunks, in order, until `end`. Earlier ones are forgotten."""
        self.end()
        self._ended, self._made = threading.Event(), {}
        self._thread = threading.Thread(
            target=self._make, args=(chunks, self._ended, self._made), name="early-vectors", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Begins no further vector."""
        self._ended.set()

    def of(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Returns the vectors made for these keys, after waiting for the one in progress."""
        if self._thread.ident is not None:
            self._thread.join()
        return {key: self._made[key] for key in keys if key in self._made}

    def _make(self, chunks: Sequence[Chunk], ended: threading.Event, made: dict[bytes, bytes]) -> None:
        step_back()
        with suppress(ModelError, StoreError):  # the thread that makes the others gets the error
            for start in range(0, len(chunks), EARLY_BATCH):
                if ended.is_set():
                    return
                batch = {_key(chunk): chunk for chunk in chunks[start : start + EARLY_BATCH]}
                kept = self._catalog.vectors_of(list(batch), self._embedder.fingerprint)
                lacking = {key: chunk for key, chunk in batch.items() if key not in kept and key not in made}
                made.update(_embedded(self._embedder, _windows(self._embedder, lacking)))


def in_turns(versions: Iterable[Version], owner_of: Callable[[int], str]) -> list[Version]:
    """Returns versions in an order in which owners take turns, of each the one that lacks fewest vectors
    first.
    """
    turns = Counter[str]()
    found = list[tuple[int, Version]]()
    for version in sorted(versions, key=lambda version: version.chunks - version.embedded):
        owner = owner_of(version.id)
        found.append((turns[owner], version))
        turns[owner] += 1
    return [version for _, version in sorted(found, key=lambda pair: pair[0])]


def make_vectors(
    catalog: Catalog,
    embedder: Embedder,
    versions: Iterable[Version],
    early: EarlyVectors,
    owner_of: Callable[[int], str] = lambda version: "",
) -> Generator[Made, None, None]:
    """Yields the vectors that these versions lack, in batches by ordinal: of each owner in turn a batch, and
    of an owner one version after another.

    While one batch is used, the next is made. A chunk that equals one with vectors gets those. Closing the
    generator waits for what is being made. Raises ModelError, StoreError.
    """
    owned = dict[str, deque[Version]]()
    for version in versions:
        owned.setdefault(owner_of(version.id), deque()).append(version)
    return _ahead(_vectors(embedder, _ahead(_texts(catalog, embedder, owned, early))))


def _texts(
    catalog: Catalog, embedder: Embedder, owned: dict[str, deque[Version]], early: EarlyVectors
) -> Generator[_Texts, None, None]:
    size = FIRST_BATCH
    reached = dict[int, int]()
    while owned:
        for owner, versions in list(owned.items()):
            version = versions[0]
            after = reached.get(version.id, -1)
            chunks = catalog.chunks_without_vectors(version.id, embedder.fingerprint, after=after, limit=size)
            reached[version.id] = max([after, *(chunk.ordinal for chunk in chunks)])
            last = len(chunks) < size
            if last:
                versions.popleft()
            if not versions:
                del owned[owner]
            size = min(2 * size, EMBED_BATCH)
            keys = [_key(chunk) for chunk in chunks]
            kept = {**early.of(keys), **catalog.vectors_of(keys, embedder.fingerprint)}
            windows = _windows(
                embedder, {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in kept}
            )
            ordinals = [chunk.ordinal for chunk in chunks]
            yield _Texts(version, list(zip(ordinals, keys, strict=True)), windows, kept, last)


def _vectors(embedder: Embedder, batches: Generator[_Texts, None, None]) -> Generator[Made, None, None]:
    # Vectors that were made and may not be written yet.
    before: deque[dict[bytes, bytes]] = deque(maxlen=BATCHES_AHEAD)
    with closing(batches):
        for batch in batches:
            made = ChainMap(*before)
            missing = {key: windows for key, windows in batch.windows.items() if key not in made}
            new = _embedded(embedder, missing)
            before.append(new)
            known = ChainMap(new, batch.kept, made)
            yield Made(
                batch.version, [(ordinal, key, known[key]) for ordinal, key in batch.chunks], batch.last
            )


def _key(chunk: Chunk | StoredChunk) -> bytes:
    return chunk_key(chunk.context, chunk.text)


def _windows(embedder: Embedder, chunks: Mapping[bytes, Chunk | StoredChunk]) -> dict[bytes, list[str]]:
    return {key: passage_windows(embedder, chunk.context, chunk.text) for key, chunk in chunks.items()}


def _embedded(embedder: Embedder, windows: Mapping[bytes, Sequence[str]]) -> dict[bytes, bytes]:
    """Returns the vectors of each key's windows."""
    rows = embedder.embed([window for of_key in windows.values() for window in of_key])
    ends = np.cumsum([0, *map(len, windows.values())])
    return {key: rows[start:end].tobytes() for key, start, end in zip(windows, ends, ends[1:], strict=False)}


def _ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """Yields the same items, making each while the one before is used."""
    end = object()
    with closing(items), ThreadPoolExecutor(1, initializer=step_back) as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]
