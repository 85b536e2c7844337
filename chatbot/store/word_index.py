"""Says what an index of words does for the search, whether it is in files or in a database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

__all__ = ["MOST_TERMS", "ORDINAL_BITS", "WordIndex"]

# A chunk's key: its version above this many bits, its ordinal below. That allows 16 million chunks a
# document.
ORDINAL_BITS = 24
# Longer queries are cut to their rarest terms. Beyond this the common ones add time but no page.
MOST_TERMS = 64


class WordIndex(Protocol):
    """Chunks by their terms. One change at a time for each version; any thread may search."""

    def add(self, version: int, chunks: Iterable[Sequence[str]]) -> None:
        """Indexes the terms of a version's chunks, by ordinal from 0, and commits.

        Rows of an earlier attempt are replaced.
        """

    def remove(self, versions: Iterable[int]) -> None:
        """Deletes all rows of these versions and commits."""

    def search(self, words: Sequence[str], limit: int) -> list[tuple[int, int, float]]:
        """Returns (version, ordinal, BM25 over all documents) of the `limit` best chunks for the terms
        `words`.
        """
        ...

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Returns term -> how many chunks of all documents have it."""
        ...

    def close(self) -> None:
        """Ends all use."""

    def has_deleted(self) -> bool:
        """Tells whether files of this program still hold words of deleted chunks."""
        ...

    def faults(self) -> list[str]:
        """Returns what is wrong with files of this program."""
        ...

    def count(self) -> int:
        """Returns the number of chunks."""
        ...

    def counts(self) -> dict[int, int]:
        """Returns version -> number of its chunks."""
        ...
