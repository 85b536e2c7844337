"""Says, in a sentence, what of the documents that are searched is still to be read or indexed."""

from __future__ import annotations

from collections.abc import Container, Sequence

from chatbot.records import Notice
from chatbot.settings import PROGRAM
from chatbot.store.document_names import listed
from chatbot.store.library import Library
from ingestion.document import TABLES

__all__ = ["pending_content", "without_vectors"]

HINT = "This is done while the server runs."
COMMAND = f"Or run: {PROGRAM} doctor"


def pending_content(library: Library, names: Sequence[str], without: Container[int] = ()) -> Notice | None:
    """What of the documents that are asked, () for all, is still to be read; None where that is nothing.
    without: versions that are spoken of elsewhere.
    """
    to_come = {
        version: lacking for version, lacking in library.catalog.to_come().items() if version not in without
    }
    if not to_come:
        return None
    scope = library.scope(names)
    tables = []
    images = []
    for version, (lacks, count) in to_come.items():
        if version not in scope:
            continue
        name = scope[version]
        if lacks == TABLES:
            tables.append(name)
        if count:
            images.append(f"{_pages(count)} of {name}")
    pending = []
    if tables:
        pending.append(f"searched without their tables: {listed(tables)}")
    if images:
        pending.append(f"waiting for OCR: {listed(images)}")
    if pending:
        return Notice(f"Still {', and still '.join(pending)}.", HINT, COMMAND)
    return None


def without_vectors(library: Library, names: Sequence[str]) -> Notice | None:
    """Which of the documents that are asked, () for all, have no vectors yet; None where all have.

    A new version that is still to come is none of them: the one before is searched whole.
    """
    unfinished = {version.id for version in library.without_vectors()}
    if not unfinished:
        return None
    waiting = sorted(name for version, name in library.scope(names).items() if version in unfinished)
    if waiting:
        return Notice(
            f"Still being indexed, so searched by words only: {listed(waiting)}.",
            f"{HINT} Ask again afterwards for the best pages.",
            COMMAND,
        )
    return None


def _pages(count: int) -> str:
    return "one page" if count == 1 else f"{count:,} pages"
