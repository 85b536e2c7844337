"""Converts cosines of different embedders to one scale.

Unrelated texts have a cosine of .1 with one embedder and .78 with another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["EMBEDDED", "MULTILINGUAL_PREFIXES", "as_minilms", "by_embedder"]

Value = TypeVar("Value")

# How the fingerprints of the embedded models begin. These models cost no request, so sentences, stretches and
# small pieces are embedded too.
EMBEDDED = ("minilm-", "e5-")
# Those that read languages other than English.
MULTILINGUAL_PREFIXES = ("e5-",)
# (slope, offset) of the lines that map an embedder's cosines to MiniLM's, for which weights and bounds were
# tuned: of a question to passages, and to single sentences. The lines for e5 were fitted to the quantiles of
# 100 development questions. Passages: to all passages of their documents, whose median goes from .81 to .27
# (MiniLM .25), and to those that answer, from .854 to .50 (.50). Sentences: to the nearest sentences of the
# pages found, in their own and in other documents.
LINES = {"e5-": ((5.08, -3.84), (4.06, -2.93))}


def by_embedder(measured: Mapping[str, Value], fingerprint: str, unknown: Value) -> Value:
    """Returns what was measured for an embedder, chosen by the start of its fingerprint, else the default."""
    return next((found for start, found in measured.items() if fingerprint.startswith(start)), unknown)


def as_minilms(
    fingerprint: str, cosines: NDArray[np.float32], *, sentences: bool = False
) -> NDArray[np.float32]:
    """Converts cosines of an embedder to MiniLM's scale, in [-1, 1].

    Cosines of an embedder that was not measured stay as they are, and so does -1, which means no vector.

    sentences: whether the cosines are to single sentences rather than passages.
    """
    lines = by_embedder(LINES, fingerprint, None)
    if lines is None:
        return cosines
    slope, offset = lines[sentences]
    laid: NDArray[np.float32] = np.clip(slope * cosines + offset, -1.0, 1.0).astype(np.float32)
    return laid
