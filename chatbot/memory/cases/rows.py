"""What case memory is asked with and answers with; records alone."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass

from chatbot.memory.cases.records import Case
from chatbot.memory.import_files import LineProblem

__all__ = ["NEAREST", "NO_DOCUMENTS", "CaseHealth", "CaseRow", "Documents", "Wanted"]

# Cases that a recall gives.
NEIGHBOURS = 8


class _All:
    def __contains__(self, digest: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Documents:
    """What cases must know of documents. digest_of(version): SHA-256 of its file, "" where it is gone. live(): SHA-256 of the files that answers rest on now."""

    digest_of: Callable[[int], str] = lambda version: ""
    live: Callable[[], Container[str]] = _All


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a recall asks for. reward: 1 or 0, None for both. least: cosine, None for the embedder's own threshold. stale: whether cases too whose documents
    changed or went."""

    k: int = NEIGHBOURS
    reward: int | None = None
    least: float | None = None
    stale: bool = False


NO_DOCUMENTS, NEAREST = Documents(), Wanted()


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as listed. stale: a document it rests on was changed or removed, so that it is not recalled. shared: it is among those that all have."""

    case: Case
    stale: bool
    shared: bool


@dataclass(frozen=True, slots=True)
class CaseHealth:
    """How an owner's cases fare. waiting: cases without a vector yet, which are not recalled. shared: of all owners; problems: of the owner's, shared_problems:
    of what is shared, that cannot be read."""

    cases: int
    positive: int
    negative: int
    stale: int
    waiting: int
    shared: int
    problems: tuple[LineProblem, ...]
    shared_problems: tuple[LineProblem, ...] = ()
