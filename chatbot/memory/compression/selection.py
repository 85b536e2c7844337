"""PURE: which sentences stay within a budget of tokens, on two levels, chunks and sentences; knows sizes
and importances, no text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Segment", "choose"]


@dataclass(frozen=True, slots=True)
class Segment:
    """What goes or stays as a whole first. importance: above 0. sizes: tokens of its sentences.
    importances: of its sentences, any numbers.
    """

    importance: float
    sizes: Sequence[int]
    importances: Sequence[float]


def choose(chunks: Sequence[Segment], goal: float, *, rho: float, gamma: float) -> list[list[bool]]:
    """For each chunk, which of its sentences stay, so that the tokens kept are at most `goal` and less than
    one sentence below it.

    Whole chunks, least important first, take at most rho of what is to go; the rest is shared over the others
    in proportion to importance ** -gamma, at least a sentence of each staying, and what a chunk cannot give
    is handed on, the least important giving last what is left. Where those sentences alone exceed the goal,
    chunks go, least important first. One sentence stays in any case. rho: 0 to 1. gamma: 0 or more. Pieces of
    no tokens stay. Equal importance: the earlier goes first.
    """
    order = sorted(
        (at for at, chunk in enumerate(chunks) if sum(chunk.sizes)), key=lambda at: chunks[at].importance
    )
    kept = [[True] * len(chunk.sizes) for chunk in chunks]
    left = sum(sum(chunk.sizes) for chunk in chunks)
    budget = rho * max(left - goal, 0)
    dropped = 0
    for at in order[:-1]:
        size = sum(chunks[at].sizes)
        if size > budget:
            break
        kept[at], budget, left, dropped = (
            [not one for one in chunks[at].sizes],
            budget - size,
            left - size,
            dropped + 1,
        )
    if left > goal:
        _thin(chunks, order[dropped:], kept, (left, goal, gamma))
    return kept


def _thin(
    chunks: Sequence[Segment], order: Sequence[int], kept: list[list[bool]], given: tuple[float, float, float]
) -> None:
    """The sentence level, in place. order: the chunks that are left, least important first. given: their
    tokens, goal and gamma.
    """
    left, goal, gamma = given
    leaving = {at: _by_importance(chunks[at]) for at in order}
    last = {at: leaving[at].pop() for at in order}
    room = [sum(chunks[at].sizes[one] for one in leaving[at]) for at in order]
    least = min(chunks[at].importance for at in order)
    shares = _shares([(least / chunks[at].importance) ** gamma for at in order], room, left - goal)
    carried = 0.0
    for at, share in zip(reversed(order), reversed(shares), strict=True):
        carried += share
        # What does not fit is handed on to the less important, so that rounding never costs the more
        # important a sentence.
        while leaving[at] and chunks[at].sizes[leaving[at][0]] <= min(carried, left - goal):
            one = leaving[at].pop(0)
            carried, left, kept[at][one] = (
                carried - chunks[at].sizes[one],
                left - chunks[at].sizes[one],
                False,
            )
    rest = [(at, one) for at in order for one in leaving[at]] + [(at, last[at]) for at in order[:-1]]
    for at, one in rest:
        if left <= goal:
            return
        left, kept[at][one] = left - chunks[at].sizes[one], False


def _by_importance(chunk: Segment) -> list[int]:
    """The chunk's sentences in the order they go, the most important one last."""
    return sorted((one for one, size in enumerate(chunk.sizes) if size), key=chunk.importances.__getitem__)


def _shares(weights: Sequence[float], room: Sequence[float], total: float) -> list[float]:
    """`total` shared in proportion to the weights, no share above its room; what one cannot take is shared
    among the others in the same way.
    """
    shares = [0.0] * len(room)
    # Those that fill up first come first: after them every share is in proportion.
    order = sorted(range(len(room)), key=lambda at: room[at] / weights[at] if weights[at] else math.inf)
    # Sums from the end: subtracting from one sum would leave nothing of weights of very different size.
    sums = list(accumulate(weights[at] for at in reversed(order)))[::-1]
    for at, weight in zip(order, sums, strict=True):
        if weight:
            shares[at] = min(room[at], total * weights[at] / weight)
        else:
            shares[at] = 0.0
        total -= shares[at]
    return shares
