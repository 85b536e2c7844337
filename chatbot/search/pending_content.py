"""What of the documents that are searched is still to be read or indexed, in a sentence; reads nothing and
finds nothing.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from chatbot.records import Notice
from chatbot.settings import PROGRAM
from chatbot.store.document_names import listed
from chatbot.store.library import Library
from ingestion.document import TABLES

__all__ = ["pending_content", "without_vectors"]

HINT = f"It is read while the server runs, and by `{PROGRAM} doctor`."


def pending_content(library: Library, names: Sequence[str], without: Container[int] = ()) -> Notice | None:
    """What of the documents that are asked, () for all, is still to be read, where that is anything.
    without: versions that are spoken of elsewhere.
    """
    to_come = {
        version: lacking for version, lacking in library.catalog.to_come().items() if version not in without
    }
    if not to_come:
        return None
    scope = library.scope(names)
    tables = [
        scope[version] for version, (lacks, _) in to_come.items() if lacks == TABLES and version in scope
    ]
    images = [
        f"{_pages(count)} of {scope[version]}"
        for version, (_, count) in to_come.items()
        if count and version in scope
    ]
    said = [f"searched by their text alone so far: {listed(tables)}"] if tables else []
    said += [f"to be read from their images: {listed(images)}"] if images else []
    if said:
        return Notice(f"Still {', and still '.join(said)}.", HINT)
    return None


def without_vectors(library: Library, names: Sequence[str]) -> Notice | None:
    """Which of the documents that are asked, () for all, have no vectors yet, where there are any."""
    unfinished = {version.document for version in library.without_vectors()}
    if unfinished:
        waiting = sorted(unfinished.intersection(library.scope(names).values()))
    else:
        waiting = []
    if waiting:
        return Notice(
            f"Still being indexed, found by words alone so far: {listed(waiting)}.",
            f"{HINT} Ask again then for the best pages.",
        )
    return None


def _pages(count: int) -> str:
    return "one page" if count == 1 else f"{count:,} pages"
