"""Judges whether the pages found can answer at all, and says why not; numbers in, a reason out."""

from __future__ import annotations

from collections.abc import Sequence

from chatbot.records import Hit

__all__ = ["REASONS", "why_not"]

# Share of the question's own weight (by rarity of its words) that the best page must carry where meaning alone is no proof.
LEAST_COVERAGE = 0.3
# Scaled cosine (see pages.py) below which no answerable question of the development set lay, and above which words may differ.
LEAST_LIKENESS = 0.25
ENOUGH_LIKENESS = 0.5
REASONS = {
    "no_documents": "No documents have been added yet.",
    "no_page": "No page of these documents is about this.",
    "not_in_excerpts": "The pages nearest to the question do not answer it.",
}


def why_not(hits: Sequence[Hit], *, calibrated: bool) -> str | None:
    """None where the pages may answer, else a key of REASONS. hits: as found, with their parts "vector" and "coverage", both 0-1.

    calibrated: whether the embedder is the one that the thresholds were taken from; another's cosines lie elsewhere, and words decide.
    """
    if not hits:
        return "no_page"
    coverage = max(hit.scores.get("coverage", 0.0) for hit in hits)
    if not calibrated or "vector" not in hits[0].scores:
        return None if coverage >= LEAST_COVERAGE else "no_page"
    likeness = max(hit.scores["vector"] for hit in hits)
    if likeness < LEAST_LIKENESS or (likeness < ENOUGH_LIKENESS and coverage < LEAST_COVERAGE):
        return "no_page"
    return None
