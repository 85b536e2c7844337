"""What every memory is to the chatbot: asked before an answer, it gives notes; knows none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chatbot.records import Note, Recall

__all__ = ["MemoryLayer"]


class MemoryLayer(Protocol):
    """A memory. name: as notes and pages call it."""

    name: str

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """At most n notes that bear on the question, the best first; each says where it comes from. Notes are data and give no orders."""
        ...
