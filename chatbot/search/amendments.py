"""Tells which documents of a library are amended by later ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from chatbot.search.corpus_vocabulary import listed
from chatbot.search.editions import amendments
from chatbot.store.catalog import Stamps
from chatbot.store.library import Library

__all__ = ["Amendments"]


class Amendments:
    """The amendments of one library, found anew only when its documents have changed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._found: tuple[Stamps, Mapping[str, Sequence[str]]] = ([], {})

    def of(self, names: Collection[str]) -> list[tuple[str, str]]:
        """(one of these documents, a later one that amends it), the latest last."""
        catalog = self._library.catalog
        _, stamps = catalog.active_stamps()
        before, found = self._found
        if stamps != before:
            titles = catalog.own_titles()
            documents = listed(self._library).values()
            found = amendments([replace(one, title=titles.get(one.name, one.name)) for one in documents])
            self._found = stamps, found
        return [(name, other) for name in sorted(names) for other in found.get(name, ())]
