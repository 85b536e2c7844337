"""Finds the cases that bear on a question and works out how their ratings move pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chatbot.memory.cases.records import Case
from chatbot.models.cosine_scale import by_embedder

__all__ = ["NEIGHBOURS", "PAGE_BOUND", "PageWeight", "Recalled", "share_notes", "similar_from", "weigh_pages"]

# The most that ratings add to a page's score: as much as the right period over a column, and a fifth of what
# the best passage brings.
PAGE_BOUND = 0.2
MOST_POSITIVE, MOST_NEGATIVE = 4, 2
# Of the notes that may be shown, the share that is kept for what to avoid.
NEGATIVE_SHARE = 3


# Cosine from which a case is worth showing, by the beginning of the fingerprint. Measured with 106
# development questions on policies and filings. MiniLM: the nearest question on another document has a
# median of .50, and 1 in 10 reaches .70; of 20 questions in other words all reach .80. e5: the nearest
# question on another document has .85, and 1 in 20 reaches .91; pairs in other words have .957 to .997.
CALIBRATED = {"minilm-": 0.7, "e5-": 0.92}
# For a model that was not measured: so high that nothing misleads.
UNKNOWN = 0.9
# Cases that a recall returns at most.
NEIGHBOURS = 8


def similar_from(fingerprint: str) -> float:
    """The cosine measured for an embedder, or else a cautious one."""
    return by_embedder(CALIBRATED, fingerprint, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A case that was found.

    rank: from 1.
    score: cosine of the questions, in [-1, 1].
    case: the case.
    """

    rank: int
    score: float
    case: Case


def share_notes(positive: Sequence[Recalled], negative: Sequence[Recalled], n: int) -> list[Recalled]:
    """Choose which notes to show where at most n may be shown, those to follow first.

    Up to MOST_POSITIVE are examples to follow and up to MOST_NEGATIVE are to be avoided. One in
    NEGATIVE_SHARE is reserved for those to be avoided, if there are any.
    """
    few = min(len(negative), MOST_NEGATIVE, max(n // NEGATIVE_SHARE, n - len(positive)))
    return [*positive[: max(0, min(MOST_POSITIVE, n - few))], *negative[: max(0, few)]]


@dataclass(frozen=True, slots=True)
class PageWeight:
    """What ratings say of a page for a question.

    document_id: SHA-256 of its file.
    page: physical, 1-based.
    weight: in [-PAGE_BOUND, PAGE_BOUND], added to the page's score.
    cases: the cases it comes from, the most alike first. Without them there is no weight.
    """

    document_id: str
    page: int
    weight: float
    cases: tuple[Case, ...]


def weigh_pages(found: Iterable[Recalled], floor: float) -> list[PageWeight]:
    """The pages that similar cases used, the highest weight first.

    A case counts the more, the more its question is like this one: from 0 at `floor` to PAGE_BOUND for the
    same question. The weights of several cases add up, within the bound.
    """
    sums: dict[tuple[str, int], float] = defaultdict(float)
    cases: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for recalled in found:
        case = recalled.case
        likeness = (recalled.score - floor) / max(1 - floor, 1e-6)
        for page in sorted({(page.document_id, page.page) for page in case.pages}):
            sums[page] += likeness if case.reward else -likeness
            cases[page].append(case)
    weights = [
        PageWeight(*page, PAGE_BOUND * max(-1.0, min(1.0, total)), tuple(cases[page]))
        for page, total in sums.items()
        if total
    ]
    return sorted(weights, key=lambda page: (-page.weight, page.document_id, page.page))
