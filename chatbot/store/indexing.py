"""The two derived indexes, words in tantivy and vectors in Chroma, kept in step with the catalogue; what is damaged is made anew from it."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from chatbot.errors import StoreError
from chatbot.store.catalog import Catalog
from chatbot.store.embedders import Embedder
from chatbot.store.keywords import KeywordIndex
from chatbot.store.vectors import ChromaIndex, IndexDamagedError, Vectors
from ingestion.language.terms import terms

__all__ = ["Indexes"]

log = logging.getLogger(__name__)
# Remembered in the catalogue: the fingerprint for which Chroma was last seen to hold what the catalogue holds.
ALIGNED = "vectors_aligned"
Result = TypeVar("Result")


class Indexes:
    """Keyword and vector index of one store. Changes one at a time (the library sees to that); searches from any thread."""

    def __init__(self, catalog: Catalog, folder: Path, embedder: Embedder) -> None:
        """folder: the store's; the indexes stand in keywords/ and vectors/. Raises StoreError where they cannot be written."""
        self._catalog, self._folder, self._embedder = catalog, folder, embedder
        try:
            self.keywords = KeywordIndex(folder / "keywords")
        except IndexDamagedError as error:
            self._new_keywords(error)
        self.vectors = self._open_vectors()

    def close(self) -> None:
        """Stop Chroma's background work."""
        self.vectors.close()

    def add_words(self, version: int, words: Iterable[Sequence[str]]) -> None:
        """Index the terms of a version's chunks, by ordinal from 0."""
        rows = list(words)
        self._mending_keywords(lambda: self.keywords.add(version, rows))

    def add_vectors(self, version: int, rows: Sequence[tuple[int, Vectors]]) -> None:
        """Index vectors that stand in the catalogue already, as (ordinal, windows of shape (w, dimension))."""
        self._mending_vectors(lambda: self.vectors.upsert(version, rows))

    def unaligned(self) -> None:
        """Vectors are about to change: until `align` has looked, the two may differ."""
        if self._catalog.meta(ALIGNED):
            self._catalog.set_meta(ALIGNED, "")

    def remove(self, versions: Sequence[int]) -> None:
        """Delete all rows of these versions, whatever embedder they are of."""
        self._mending_keywords(lambda: self.keywords.remove(versions))
        if self.vectors.exists():
            self._mending_vectors(lambda: self.vectors.remove(versions))
            self._mending_vectors(lambda: self.vectors.drop_others())

    def align(self) -> None:
        """Give both indexes the rows they lack and take those they should not have, from the catalogue alone."""
        self._mending_keywords(self._align_keywords)
        if self._catalog.meta(ALIGNED) != self._embedder.fingerprint or not self.vectors.exists():
            self._mending_vectors(self._align_vectors)
            if not self._catalog.unfinished(self._embedder.fingerprint):
                self._mending_vectors(lambda: self.vectors.drop_others())
                self._catalog.set_meta(ALIGNED, self._embedder.fingerprint)

    def rebuild(self) -> None:
        """Make both anew from the catalogue."""
        self._new_keywords(None)
        self._new_vectors(None)
        self._catalog.set_meta(ALIGNED, self._embedder.fingerprint)

    def give_up_vectors(self) -> None:
        """Give the disk what the index of vectors takes; `align` makes it anew. Until then each chunk is scored."""
        self.vectors.close()
        self._discard("vectors", None)
        self.unaligned()
        self.vectors = self._open_vectors()

    def differences(self) -> list[str]:
        """What the indexes hold otherwise than the catalogue says, in words; none where they agree. Raises IndexDamagedError."""
        words, expected = self.keywords.counts(), self._catalog.chunk_counts()
        found = [
            f"the keyword index has {words.get(version, 0)} of {count} chunks of version {version}"
            for version, count in expected.items()
            if words.get(version, 0) != count
        ]
        found += [f"the keyword index has chunks of version {version}, which is not there" for version in words if version not in expected]
        known = self._catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        held = self.vectors.counts() if self.vectors.exists() else {}
        found += [
            f"the vector index has {held.get(version, 0)} of {count} vectors of version {version}"
            for version, count in known.items()
            if held.get(version, 0) != count
        ]
        return found + [f"the vector index has vectors of version {version}, which is not there" for version in held if version not in known]

    def _align_keywords(self) -> None:
        expected = self._catalog.chunk_counts()
        if self.keywords.count() == sum(expected.values()):  # `differences` looks closer
            return
        held = self.keywords.counts()
        if gone := set(held) - set(expected):
            self.keywords.remove(sorted(gone))
        for version, count in expected.items():
            if held.get(version, 0) != count:
                self.keywords.add(version, [terms(f"{chunk.context}\n{chunk.text}") for chunk in self._catalog.chunks(version)])

    def _align_vectors(self) -> None:
        known = self._catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        if self.vectors.count() == sum(known.values()):
            return
        held = self.vectors.counts()
        self.vectors.remove(sorted(set(held) - set(known)))
        for version, windows in known.items():
            if held.get(version, 0) != windows:
                stored = self._catalog.vectors(version, self._embedder.fingerprint)
                rows = [(ordinal, np.frombuffer(data, np.float32).reshape(-1, self._embedder.dimension)) for ordinal, data in stored]
                self.vectors.remove([version])
                self.vectors.upsert(version, rows)

    def _mending_keywords(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except IndexDamagedError as error:
            self._new_keywords(error)
            return step()

    def _mending_vectors(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except IndexDamagedError as error:
            self._new_vectors(error)
            return step()

    def _new_keywords(self, error: StoreError | None) -> None:
        self._discard("keywords", error)
        self.keywords = KeywordIndex(self._folder / "keywords")
        self._align_keywords()

    def _new_vectors(self, error: StoreError | None) -> None:
        self.unaligned()
        self.vectors.close()
        self._discard("vectors", error)
        self.vectors = self._open_vectors()
        self._align_vectors()

    def _discard(self, name: str, error: StoreError | None) -> None:
        if error is not None:
            log.warning("The index %s is made anew from the catalogue: %s", name, error.message)
        shutil.rmtree(self._folder / name, ignore_errors=True)

    def _open_vectors(self) -> ChromaIndex:
        return ChromaIndex(self._folder / "vectors", fingerprint=self._embedder.fingerprint, dimension=self._embedder.dimension)
