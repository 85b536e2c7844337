"""Finds documents by the SHA-256 of their bytes, among the kept copies and in a folder.

The names of the files do not matter, and no name is followed as a path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from chatbot.store.digests import is_digest
from chatbot.store.kept_copies import Copies
from ingestion.reading.formats import is_document

__all__ = ["LocatedDocument", "find_documents"]

# The most files of a folder that are examined, and the most bytes of one of them.
MOST_FILES, LARGEST = 20_000, 2**31


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document that was found.

    known_as: the names it is kept under, or the name of its file.
    titles: the titles that the context of its chunks may use.
    """

    path: Path
    known_as: tuple[str, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        # As adding a document and building a chunk's context make them.
        return tuple(Path(name).stem.replace("_", " ").strip()[:80] for name in self.known_as)


def find_documents(wanted: Collection[str], store: Path, folder: Path | None) -> dict[str, LocatedDocument]:
    """Returns the documents that were found, by SHA-256.

    store: the folder of kept copies. It need not exist and is not changed.

    Every file is hashed, whatever its name is.
    """
    left = {digest for digest in wanted if is_digest(digest)}
    found: dict[str, LocatedDocument] = {}
    for digest in sorted(left) if store.is_dir() else ():
        path = store / f"{digest}.pdf"
        if path.is_file() and not path.is_symlink() and _hash(path) == digest:
            copies = Copies(store, 0)
            names = tuple(kept.name for kept in copies.beside(digest).names)
            found[digest] = LocatedDocument(copies.readable(digest) or path, names)
    for path in _files(folder) if folder is not None else ():
        if left <= found.keys():
            break
        digest = _hash(path)
        if digest in left and digest not in found:
            found[digest] = LocatedDocument(path, (path.name,))
    return found


def _files(folder: Path) -> Iterator[Path]:
    looked = 0
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            if looked >= MOST_FILES:
                return
            if path.is_file() and not path.is_symlink():
                looked += 1
                yield path


def _hash(path: Path) -> str:
    """Returns the SHA-256 of a document, "" for anything else and for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            if path.stat().st_size > LARGEST or not is_document(path):
                return ""
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
