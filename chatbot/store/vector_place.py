"""Says what a place of vectors does for the index, whether it is a folder or a server."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Place", "Vectors", "Wanted"]

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The collection that an index wants to use.

    metadata: what it is created with, and what one that exists must have.
    """

    name: str
    metadata: dict[str, str | int]


class Place(Protocol):
    """Where an index keeps its collection. Opened at first use; several threads may use it.

    upserted: records that are stored in one call.
    """

    upserted: int

    def exists(self) -> bool:
        """Tells whether there may be an index at all, without opening it."""
        ...

    def using(self, wanted: Wanted) -> AbstractContextManager[tuple[Any, Any]]:
        """Provides Chroma's client and the open collection.

        Raises IndexDamagedError for one that must be rebuilt, StoreError for what passes or can be mended.
        """
        ...

    def scrub(self) -> None:
        """Removes the text of deleted rows from this program's own files. Raises StoreError."""

    def faults(self) -> list[str]:
        """Returns what is wrong with files of this machine. Raises StoreError."""
        ...

    def close(self) -> None:
        """Closes what is open; the next use opens it again."""

    def clear(self, wanted: Wanted) -> None:
        """Deletes the index, whatever its state, so that the next use makes an empty one."""
