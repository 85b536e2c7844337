"""Compares vectors with those of a memory, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chatbot.store.vector_index import Vectors

__all__ = ["cosines_of", "nearest"]


def cosines_of(rows: Vectors, vector: Vectors) -> Vectors:
    """Cosines, in [-1, 1], of unit rows (n, dimension) to a unit vector (dimension,).

    They are computed on this thread alone. BLAS, which `@` calls, splits the product over all cores and waits
    for each. Beside other work, that takes ten times as long as one core does.
    """
    found: Vectors = np.einsum("ij,j->i", rows, vector)
    return np.clip(found, -1, 1, out=found)


def nearest(scores: Vectors, wanted: NDArray[np.bool_], least: float) -> Sequence[int]:
    """Places of the scores that are wanted and at least `least`, the highest first.

    Of equals, the later comes first. NaN is never among them.
    """
    places = np.flatnonzero(wanted & (scores >= least))[::-1]
    found: list[int] = places[np.argsort(-scores[places], kind="stable")].tolist()
    return found
