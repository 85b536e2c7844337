"""What cosines mean by their embedder: of one unrelated texts have .1, of another .78; knows fingerprints,
no text and no threshold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["EMBEDDED", "MULTILINGUAL", "as_minilms", "by_embedder"]

Value = TypeVar("Value")

# What the fingerprints of the embedded models begin with: they cost no request, so sentences, stretches and
# small pieces are embedded too.
EMBEDDED = ("minilm-", "e5-")
# Of these, those that read texts of languages other than English.
MULTILINGUAL = ("e5-",)
# (slope, offset) of the lines that lay an embedder's cosines on MiniLM's, for which weights and bounds were
# found: of a question to passages, and to single sentences. e5: through the quantiles of 100 development
# questions to all passages of their documents and to those that answer, median of the former .81 to .27
# (MiniLM .25), of the latter .854 to .50 (.50); and to the nearest sentences of the pages found, in their own
# and in other documents.
LINES = {"e5-": ((5.08, -3.84), (4.06, -2.93))}


def by_embedder(measured: Mapping[str, Value], fingerprint: str, unknown: Value) -> Value:
    """What was measured for an embedder, by what its fingerprint begins with; else what holds for an
    unknown one.
    """
    return next((found for start, found in measured.items() if fingerprint.startswith(start)), unknown)


def as_minilms(
    fingerprint: str, cosines: NDArray[np.float32], *, sentences: bool = False
) -> NDArray[np.float32]:
    """Cosines of an embedder as MiniLM's would be, in [-1, 1]; those of one that was not measured stay as
    they are. -1, which stands for no vector, stays. sentences: whether they are to single sentences rather
    than passages."""
    lines = by_embedder(LINES, fingerprint, None)
    if lines is None:
        return cosines
    slope, offset = lines[sentences]
    laid: NDArray[np.float32] = np.clip(slope * cosines + offset, -1.0, 1.0).astype(np.float32)
    return laid
