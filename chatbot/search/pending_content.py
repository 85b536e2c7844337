"""Says, in a sentence, what of the documents that are searched is still to be read or indexed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chatbot.records import Notice
from chatbot.settings import PROGRAM
from chatbot.store.document_names import listed
from chatbot.store.library import Library

__all__ = ["is_in_part", "pending_content", "without_vectors"]

HINT = "This is done while the server runs."
BUILDING = "building the index of words, so some pages may not be found"
WORDS_ONLY = "being indexed, so searched by words only: "
COMMAND = f"Or run: {PROGRAM} doctor"


def is_in_part(library: Library, names: Sequence[str]) -> bool:
    """Tells whether text of the documents that are asked, () for all, is still to be read."""
    return not library.catalog.to_come().keys().isdisjoint(library.scope(names))


def pending_content(
    library: Library, names: Sequence[str], used: Collection[int] | None = None
) -> Notice | None:
    """What of the documents that are asked, () for all, is still to be read or indexed; None where that is
    nothing.

    used: the versions whose pages are used, where a notice is for their answer, and is then of them alone
    unless the documents were chosen.
    """
    to_come = library.catalog.to_come()
    unfinished = set[int]()
    if used is not None:
        unfinished = {version.id for version in library.without_vectors()}
    whole = library.indexes.words_whole
    if not to_come and not unfinished and whole:
        return None
    scope = {
        version: name
        for version, name in library.scope(names).items()
        if names or used is None or version in used
    }
    pending = [] if whole else [BUILDING]
    if waiting := sorted(name for version, name in scope.items() if version in unfinished):
        pending.append(f"{WORDS_ONLY}{listed(waiting)}")
    if images := [
        f"{_pages(to_come[version])} of {scope[version]}" for version in to_come if version in scope
    ]:
        pending.append(f"waiting for OCR: {listed(images)}")
    if pending:
        return Notice(f"Still {', and still '.join(pending)}.", HINT, COMMAND, aside=used is not None)
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
            f"Still {WORDS_ONLY}{listed(waiting)}.",
            f"{HINT} Ask again afterwards for the best pages.",
            COMMAND,
        )
    return None


def _pages(count: int) -> str:
    return "one page" if count == 1 else f"{count:,} pages"
