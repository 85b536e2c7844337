"""Computes how sure a share, a mean or a difference is that was measured on a few questions."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["mean_cell", "percentile", "share_cell", "sign_test", "wilson"]

# 95 % of a normal distribution lies within that many deviations.
DEVIATIONS = 1.959964


def wilson(right: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, in [0, 1]; (0, 1) where n is 0. E. B. Wilson, JASA 22 (1927), 209-212:
    sound for few and for extreme ones.

    right: of n; where parts are right in part, their sum, and the interval is then wider than it needs to be.
    """
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} is no share")
    if n == 0:
        return 0.0, 1.0
    share, square = right / n, DEVIATIONS**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = DEVIATIONS / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def sign_test(better: int, worse: int) -> float:
    """The chance of a split at least this uneven were both equally likely, both sides counted; 1.0 where
    nothing differs.
    """
    n, few = better + worse, min(better, worse)
    return min(1.0, 2 * sum(math.comb(n, count) for count in range(few + 1)) / math.ldexp(1.0, n))


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that at least `share` of the values do not exceed. Raises ValueError where there are
    none.
    """
    if not values:
        raise ValueError("there are no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def share_cell(right: float, n: int) -> str:
    """A share with its interval as printed: ".543 (.382–.695)"; a dash where n is 0."""
    if not n:
        return "–"
    low, high = wilson(right, n)
    return f"{_short(right / n)} ({_short(low)}–{_short(high)})"


def mean_cell(values: Sequence[float]) -> str:
    """A mean of values in [0, 1] with its interval as printed, on the safe side; a dash where there are
    none.
    """
    return share_cell(min(math.fsum(values), len(values)), len(values))


def _short(value: float) -> str:
    """Three decimals without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")
