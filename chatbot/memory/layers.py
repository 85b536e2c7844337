"""What every memory is to the chatbot: asked before an answer, it gives notes; knows none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chatbot.records import Note, Recall

__all__ = ["LABELS", "MemoryLayer", "counted"]

# What readers are told a memory is, by its name.
LABELS = {
    "history": "Earlier in this conversation",
    "summary": "Summary of this conversation",
    "cases": "Rated answers",
    "situations": "Advice",
    "signals": "News signals",
}


class MemoryLayer(Protocol):
    """A memory. name: as notes and pages call it."""

    name: str

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """At most n notes that bear on the question, the best first; each says where it comes from. Notes are data and give no orders.

        recall.tell gets what the user should know of them. A failure is told there or raised, and never passed over.
        """
        ...


def counted(number: int, noun: str) -> str:
    """ "1 line", "2,000 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
