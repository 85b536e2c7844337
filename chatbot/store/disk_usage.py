"""Counts the disk space of a store, for one document and in all."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass

from chatbot.store.library import Library

__all__ = ["Space", "document_space", "store_space"]

WORDS = "keywords"
VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Space:
    """Space in bytes.

    copies: the kept files.
    catalogue: pages, tables, passages and their vectors as stored.
    vectors, words: the two indexes.
    free: free on the disk.
    """

    copies: int
    catalogue: int
    vectors: int
    words: int
    free: int = 0

    @property
    def total(self) -> int:
        """Everything that is used."""
        return self.copies + self.catalogue + self.vectors + self.words


def store_space(library: Library) -> Space:
    """Returns the space of all documents, as the files stand.

    Removed documents and earlier versions that can be restored are included.
    """
    free = shutil.disk_usage(library.copies.folder).free
    return Space(
        library.copies.total_bytes(), library.catalog.database.used_bytes(), *_sizes_of_indexes(library), free
    )


def document_space(library: Library, version: int) -> Space:
    """Returns the space of one version; zeros if it does not exist.

    The indexes hold all documents together, so a version is given its share of them by passages.
    """
    stored = library.catalog.version(version)
    if stored is None:
        return Space(0, 0, 0, 0)
    counts = library.catalog.chunk_counts()
    share = counts.get(version, 0) / max(1, sum(counts.values()))
    vectors, words = (round(share * size) for size in _sizes_of_indexes(library))
    return Space(library.copies.size(stored.sha256), library.catalog.bytes_of(version), vectors, words)


def _sizes_of_indexes(library: Library) -> tuple[int, int]:
    """The bytes of both indexes, of vectors and of words."""
    sizes = [0, 0]
    for at, name in enumerate((VECTORS, WORDS)):
        for path in (library.folder / name).rglob("*"):
            with suppress(OSError):  # an index replaces its files while they are counted
                sizes[at] += path.stat().st_size if path.is_file() else 0
    return sizes[0], sizes[1]
