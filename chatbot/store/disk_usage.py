"""What a store takes on the disk, of one document and in all; counts bytes and changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chatbot.store.library import Library

__all__ = ["Space", "document_space", "store_space"]

WORDS = "keywords"
VECTORS = "vectors"
CATALOGUE = "catalog.sqlite3"


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes. copies: the kept files; catalogue: pages, tables, passages and their vectors as stored;
    vectors, words: the two indexes. free: on the disk.
    """

    copies: int
    catalogue: int
    vectors: int
    words: int
    free: int = 0

    @property
    def total(self) -> int:
        """All that is used."""
        return self.copies + self.catalogue + self.vectors + self.words


def store_space(library: Library) -> Space:
    """Of all documents, removed ones and earlier versions that can be brought back among them; files are
    read as they stand.
    """
    folder = library.folder
    return Space(
        _sizes(library.copies.folder.glob("*")),
        _sizes(folder.glob(f"{CATALOGUE}*")),
        _sizes((folder / VECTORS).rglob("*")),
        _sizes((folder / WORDS).rglob("*")),
        shutil.disk_usage(library.copies.folder).free,
    )


def document_space(library: Library, version: int) -> Space:
    """Of one version. The indexes hold all documents together: of them its share by passages is told.
    Nothing where there is no such version.
    """
    stored = library.catalog.version(version)
    if stored is None:
        return Space(0, 0, 0, 0)
    copy = library.copies.path(stored.sha256)
    counts = library.catalog.chunk_counts()
    share = counts.get(version, 0) / max(1, sum(counts.values()))
    vectors, words = (_sizes((library.folder / name).rglob("*")) for name in (VECTORS, WORDS))
    return Space(
        _sizes([copy]), library.catalog.bytes_of(version), round(share * vectors), round(share * words)
    )


def _sizes(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        with suppress(OSError):  # an index replaces its files while they are counted
            total += path.stat().st_size if path.is_file() else 0
    return total
