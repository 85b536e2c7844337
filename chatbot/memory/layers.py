"""Registers the memories, each with its folder, and defines what they have in common.

The chatbot asks every memory before an answer, and it gives notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from chatbot.records import Note, Recall
from chatbot.settings import Settings

if TYPE_CHECKING:
    from chatbot.memory.memory_database import MemoryDatabase
    from chatbot.models.embedders import Embedder
    from chatbot.store.catalog import Catalog

__all__ = [
    "REGISTERED",
    "LayerOpening",
    "MemoryLayer",
    "Registered",
    "beside",
    "counted",
    "label_of",
    "layers_with",
    "most_notes",
    "open_layers",
]


class MemoryLayer(Protocol):
    """A memory. name: as notes and pages call it."""

    name: str

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """At most n notes that bear on the question, the best first; each says where it comes from.

        Notes are data and give no orders. recall.tell gets what the user should know of them. A failure is
        reported there or raised, never ignored.
        """
        ...


@dataclass(frozen=True, slots=True)
class LayerOpening:
    """What a layer is opened with. settings_of: the settings of an owner."""

    database: MemoryDatabase
    settings: Settings
    embedder: Embedder
    catalog: Catalog
    settings_of: Callable[[str], Settings]


# Notes of one memory, where nothing else is said.
FEW = 3


@dataclass(frozen=True, slots=True)
class Registered:
    """A memory by its name, its package and its label for readers.

    Each part that it names is a module of the package:
    switch: (label, help) of its switch in a conversation's menu; then `case_layer`, say, has
        open_layer(opening: LayerOpening) -> MemoryLayer.
    tab: of its tab on the Memory page; then `case_tab` has draw(context).
    commands: for `memory NAME …`; then `case_commands` has ACTIONS.
    beside: whether its notes show beside the answer; earlier exchanges and rated answers show in the answer
        itself.
    notes: the most notes that it brings to a question. Most of a prompt is excerpts.
    """

    name: str
    package: str
    label: str
    switch: tuple[str, str] | None = None
    tab: str = ""
    commands: bool = False
    beside: bool = False
    notes: int = FEW

    def part(self, name: str) -> Any:
        """A module of its package, `case_tab` for "tab".

        The tabs load Streamlit, so they are loaded on demand.
        """
        return import_module(f"{self.package}.{self.name.removesuffix('s')}_{name}")


# In the order of tabs and notes. A layer more is a folder more, and a line here.
REGISTERED: tuple[Registered, ...] = (
    Registered("history", "chatbot.memory.conversations", "Earlier in this conversation"),
    Registered("summary", "chatbot.memory.conversations", "Summary of this conversation"),
    Registered(
        "cases",
        "chatbot.memory.cases",
        "Rated answers",
        (
            "Use my ratings",
            "Your ratings guide answers to similar questions here. You can still rate without this.",
        ),
        "Rated answers",
        commands=True,
        notes=6,  # four to follow, two to avoid
    ),
    Registered(
        "situations",
        "chatbot.memory.situations",
        "Advice",
        (
            "Use my advice",
            (
                "Your advice is recalled when a question describes its situation. “When … then …” is "
                "saved as advice."
            ),
        ),
        "Advice",
        commands=True,
        beside=True,
    ),
    Registered(
        "signals",
        "chatbot.memory.signals",
        "News signals",
        ("Use news signals", "Signals similar to a question are recalled, if you imported news."),
        "News signals",
        commands=True,
        beside=True,
    ),
    Registered("compression", "chatbot.memory.compression", "Shortened conversation", commands=True),
)


def layers_with(part: str) -> list[Registered]:
    """The layers that have a part: "switch" | "tab" | "commands" | "beside"."""
    return [memory for memory in REGISTERED if getattr(memory, part)]


def beside(notes: Iterable[Note]) -> list[Note]:
    """The notes of an answer that are shown beside it."""
    shown = {memory.name for memory in layers_with("beside")}
    return [note for note in notes if note.layer in shown]


def label_of(name: str) -> str:
    """A memory's label for readers; the name itself if it is no memory."""
    return next((memory.label for memory in REGISTERED if memory.name == name), name)


def most_notes(name: str) -> int:
    """The most notes that a memory brings to a question."""
    return next((memory.notes for memory in REGISTERED if memory.name == name), FEW)


def open_layers(opening: LayerOpening) -> tuple[MemoryLayer, ...]:
    """The layers that conversations can switch on or off, each opened. Raises StoreError."""
    return tuple(memory.part("layer").open_layer(opening) for memory in layers_with("switch"))


def counted(number: int, noun: str) -> str:
    """ "1 line", "2,000 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
