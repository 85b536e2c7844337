"""PURE: which cases bear on a question, and what that says of pages; numbers and texts in, no store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.cases.records import Case
from chatbot.models.cosine_scale import by_embedder
from chatbot.store.vector_index import Vectors

__all__ = [
    "PAGE_BOUND",
    "PageWeight",
    "Recalled",
    "Thresholds",
    "cosines_of",
    "nearest",
    "share_notes",
    "thresholds_of",
    "weigh_pages",
]

# What a page's score gets at most from ratings: as much as the right period over a column, a fifth of what
# the best passage brings.
PAGE_BOUND = 0.2
MOST_POSITIVE, MOST_NEGATIVE = 4, 2
# Of the notes that may be shown, the share that is kept for what to avoid.
NEGATIVE_SHARE = 3


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines, in [-1, 1]. similar: from which a case is worth showing; same: from which two questions may
    be one.
    """

    similar: float
    same: float


# By what the fingerprint begins with. MiniLM, from 106 development questions on policies and filings and 45
# written pairs: the nearest question on another document has a median of .50 and 1 in 10 reaches .70; of 20
# questions in other words all reach .80 and 17 .89. The cosine does not tell other years or names apart (up
# to .99), nor what is whose, which is left to `asks_the_same`. e5, of the same: the nearest on another
# document .85 and 1 in 20 .91, the pairs in other words .957 to .997.
CALIBRATED = {"minilm-": Thresholds(0.7, 0.89), "e5-": Thresholds(0.92, 0.965)}
# Of a model that was not measured: so high that nothing misleads.
UNKNOWN = Thresholds(0.9, 0.97)


def thresholds_of(fingerprint: str) -> Thresholds:
    """Those that were measured for an embedder, else careful ones."""
    return by_embedder(CALIBRATED, fingerprint, UNKNOWN)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A case that was found. rank: from 1. score: cosine of the questions, in [-1, 1]."""

    rank: int
    score: float
    case: Case

    @property
    def fields(self) -> dict[str, Any]:
        """{rank, score, question, plan, reward, line_index}."""
        case = self.case
        return {
            "rank": self.rank,
            "score": self.score,
            "question": case.question,
            "plan": case.plan,
            "reward": case.reward,
            "line_index": case.line_index,
        }


def cosines_of(rows: Vectors, vector: Vectors) -> Vectors:
    """Cosines of unit rows (n, dimension) to a unit vector (dimension,), in [-1, 1], worked out on the
    caller's thread alone.

    BLAS, which `@` calls, cuts the product up for all cores and waits for each: beside others that work, ten
    times as long as one core takes.
    """
    found: Vectors = np.einsum("ij,j->i", rows, vector)
    return np.clip(found, -1, 1, out=found)


def nearest(scores: Vectors, wanted: NDArray[np.bool_], least: float) -> Sequence[int]:
    """Places of the scores that are wanted and not below `least`, the highest first, of equals the later.
    NaN is never among them.
    """
    places = np.flatnonzero(wanted & (scores >= least))[::-1]
    found: list[int] = places[np.argsort(-scores[places], kind="stable")].tolist()
    return found


def share_notes(
    positive: Sequence[Recalled], negative: Sequence[Recalled], n: int
) -> tuple[Sequence[Recalled], Sequence[Recalled]]:
    """What is shown of both where at most n may be: up to MOST_POSITIVE to follow and MOST_NEGATIVE to
    avoid; one in NEGATIVE_SHARE is to avoid if there is any.
    """
    few = min(len(negative), MOST_NEGATIVE, max(n // NEGATIVE_SHARE, n - len(positive)))
    return positive[: max(0, min(MOST_POSITIVE, n - few))], negative[: max(0, few)]


@dataclass(frozen=True, slots=True)
class PageWeight:
    """What ratings say of a page for a question. weight: in [-PAGE_BOUND, PAGE_BOUND], to be added to its
    score. cases: those it comes from, the most alike first; taking them away takes it away."""

    document_id: str
    page: int
    weight: float
    cases: tuple[Case, ...]


def weigh_pages(found: Iterable[Recalled], floor: float) -> list[PageWeight]:
    """The pages that similar cases stood on, the highest first: each case says more the more its question is
    like this one, from 0 at `floor` to PAGE_BOUND for the same; what several say adds up, within the bound.
    """
    sums: dict[tuple[str, int], float] = defaultdict(float)
    cases: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for one in found:
        likeness = (one.score - floor) / max(1 - floor, 1e-6)
        for page in sorted({(page.document_id, page.page) for page in one.case.pages}):
            sums[page] += likeness if one.case.reward else -likeness
            cases[page].append(one.case)
    weights = [
        PageWeight(*page, PAGE_BOUND * max(-1.0, min(1.0, total)), tuple(cases[page]))
        for page, total in sums.items()
        if total
    ]
    return sorted(weights, key=lambda one: (-one.weight, one.document_id, one.page))
