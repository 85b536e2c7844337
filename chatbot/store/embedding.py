"""Makes the vectors that versions lack: texts, vectors and what is done with them go on beside each other; writes nothing itself."""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from chatbot.store.catalog import Catalog, Version
from chatbot.store.contents import chunk_key
from chatbot.store.embedders import Embedder, passage_windows, step_back

__all__ = ["EMBED_BATCH", "Made", "make_vectors"]

# Chunks embedded between two commits: about half a second of work, which is what a crash can cost; the first batches are smaller, so that what is done
# with them begins early.
FIRST_BATCH, EMBED_BATCH = 16, 64
# Batches that may have been made and not written: one waits, one is made, one is written.
BATCHES_AHEAD = 3
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors of some chunks of a version, by ordinal: (ordinal, key of the chunk, float32 bytes of its windows). last: the version lacks no more."""

    version: Version
    rows: list[tuple[int, bytes, bytes]]
    last: bool


@dataclass(frozen=True, slots=True)
class _Texts:
    """Chunks as (ordinal, key), the windows of each key that has no vectors yet, and the vectors of the others."""

    version: Version
    chunks: list[tuple[int, bytes]]
    windows: dict[bytes, list[str]]
    kept: dict[bytes, bytes]
    last: bool


def make_vectors(catalog: Catalog, embedder: Embedder, versions: Iterable[Version]) -> Generator[Made, None, None]:
    """The vectors that these versions lack, in batches by ordinal. While one batch is used, the next is made.

    A chunk that is equal to one that has vectors gets those. Closing it waits for what is being made. Raises ModelError, StoreError.
    """
    return _ahead(_vectors(embedder, _ahead(_texts(catalog, embedder, versions))))


def _texts(catalog: Catalog, embedder: Embedder, versions: Iterable[Version]) -> Generator[_Texts, None, None]:
    size = FIRST_BATCH
    for version in versions:
        after, last = -1, False
        while not last:
            chunks = catalog.chunks_without_vectors(version.id, embedder.fingerprint, after=after, limit=size)
            after, last = max([after, *(chunk.ordinal for chunk in chunks)]), len(chunks) < size
            size = min(2 * size, EMBED_BATCH)
            keys = [chunk_key(chunk.context, chunk.text) for chunk in chunks]
            kept = catalog.vectors_of(keys, embedder.fingerprint)
            lacking = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in kept}
            windows = {key: passage_windows(embedder, chunk.context, chunk.text) for key, chunk in lacking.items()}
            ordinals = [chunk.ordinal for chunk in chunks]
            yield _Texts(version, list(zip(ordinals, keys, strict=True)), windows, kept, last)


def _vectors(embedder: Embedder, batches: Generator[_Texts, None, None]) -> Generator[Made, None, None]:
    # What was made and may not be written yet.
    before: deque[dict[bytes, bytes]] = deque(maxlen=BATCHES_AHEAD)
    with closing(batches):
        for batch in batches:
            made = ChainMap(*before)
            missing = {key: windows for key, windows in batch.windows.items() if key not in made}
            rows = embedder.embed([window for windows in missing.values() for window in windows])
            ends = np.cumsum([0, *map(len, missing.values())])
            new = {key: rows[start:end].tobytes() for key, start, end in zip(missing, ends, ends[1:], strict=False)}
            before.append(new)
            known = ChainMap(new, batch.kept, made)
            yield Made(batch.version, [(ordinal, key, known[key]) for ordinal, key in batch.chunks], batch.last)


def _ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
    """The same, each made while the one before is used."""
    end = object()
    with closing(items), ThreadPoolExecutor(1, initializer=step_back) as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]
