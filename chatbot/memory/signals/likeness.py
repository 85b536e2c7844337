"""PURE: what likeness of vectors means by the embedder that made them; knows their fingerprints, no vector."""

from __future__ import annotations

__all__ = ["own_threshold", "reads_english_only"]

# Least cosine by the beginning of the embedder's fingerprint. 0.40 was found with OpenAI's; with the embedded model 0.37 finds nine in ten of the made
# questions' own news, and nothing for questions on policies (benchmarks/signals.py --thresholds).
THRESHOLDS = {"minilm-": 0.37}
THRESHOLD = 0.40


def own_threshold(fingerprint: str) -> float:
    """The least cosine similarity for vectors of that embedder."""
    return next((value for start, value in THRESHOLDS.items() if fingerprint.startswith(start)), THRESHOLD)


def reads_english_only(fingerprint: str) -> bool:
    """Whether vectors of that embedder mean nothing for texts of other scripts than the Latin."""
    return fingerprint.startswith("minilm-")
