"""Chooses which sentences stay within a budget of tokens, first by chunks and then by sentences.

It works on sizes and importances and sees no text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Segment", "choose"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A chunk, which is dropped or kept as a whole first.

    importance: above 0.
    sizes: tokens of its sentences.
    importances: of its sentences, any numbers.
    """

    importance: float
    sizes: Sequence[int]
    importances: Sequence[float]


def choose(chunks: Sequence[Segment], goal: float, *, rho: float, gamma: float) -> list[list[bool]]:
    """For each chunk, which of its sentences stay.

    The tokens kept are at most `goal` and less than one sentence below it. Whole chunks, the least important
    first, take at most rho of what has to go. The rest is shared among the other chunks in proportion to
    importance ** -gamma, and each keeps at least a sentence. What a chunk cannot give is passed on; the least
    important chunk gives last what is left. Where a sentence of each chunk is more than the goal, further
    chunks go, the least important first, until the others need to give no more than 1 - rho of what they
    can. One sentence stays in any case. Sentences of no tokens stay. Of equal importance, the earlier goes
    first.

    rho: 0 to 1. gamma: 0 or more.
    """
    chunk_sizes = [sum(chunk.sizes) for chunk in chunks]
    filled = (at for at, size in enumerate(chunk_sizes) if size)
    order = sorted(filled, key=lambda at: chunks[at].importance)
    kept = [[True] * len(chunk.sizes) for chunk in chunks]
    left = sum(chunk_sizes)
    budget = rho * max(left - goal, 0)
    dropped = 0
    floors = [chunks[at].sizes[_by_importance(chunks[at])[-1]] for at in order]
    last = sum(floors)
    lacks_room = last > goal
    for at, floor in zip(order[:-1], floors, strict=False):
        chunk_size = chunk_sizes[at]
        # Where a sentence of each chunk is too much, sentences alone cannot give the rest.
        needed = lacks_room and left - goal > (1 - rho) * (left - last)
        if chunk_size > budget and not (needed and left - chunk_size >= goal):
            break
        kept[at] = [not size for size in chunks[at].sizes]
        budget -= chunk_size
        left -= chunk_size
        last -= floor
        dropped += 1
    if left > goal:
        _thin(chunks, order[dropped:], kept, (left, goal, gamma))
    return kept


def _thin(
    chunks: Sequence[Segment], order: Sequence[int], kept: list[list[bool]], given: tuple[float, float, float]
) -> None:
    """Drop single sentences, in place.

    order: the chunks that are left, least important first. given: their tokens, the goal and gamma.
    """
    left, goal, gamma = given
    leaving = {at: _by_importance(chunks[at]) for at in order}
    last = {at: leaving[at].pop() for at in order}
    room = [sum(map(chunks[at].sizes.__getitem__, leaving[at])) for at in order]
    least = min(chunks[at].importance for at in order)
    weights = [(least / chunks[at].importance) ** gamma for at in order]
    shares = _shares(weights, room, left - goal)
    carried = 0.0
    for at, share in zip(reversed(order), reversed(shares), strict=True):
        carried += share
        sizes = chunks[at].sizes
        # What does not fit is passed on to the less important chunks, so that rounding never costs the more
        # important ones a sentence.
        while leaving[at] and sizes[leaving[at][0]] <= min(carried, left - goal):
            sentence = leaving[at].pop(0)
            carried -= sizes[sentence]
            left -= sizes[sentence]
            kept[at][sentence] = False
    rest = [(at, sentence) for at in order for sentence in leaving[at]]
    rest += [(at, last[at]) for at in order[:-1]]
    for at, sentence in rest:
        if left <= goal:
            return
        left -= chunks[at].sizes[sentence]
        kept[at][sentence] = False


def _by_importance(chunk: Segment) -> list[int]:
    """The chunk's sentences in the order they are dropped, the most important one last."""
    filled = (sentence for sentence, size in enumerate(chunk.sizes) if size)
    return sorted(filled, key=chunk.importances.__getitem__)


def _shares(weights: Sequence[float], room: Sequence[float], total: float) -> list[float]:
    """`total` shared in proportion to the weights, no share above its room.

    What one cannot take is shared among the others in the same way.
    """
    shares = [0.0] * len(room)
    # Those that fill up first come first: after them every share is in proportion.
    order = sorted(range(len(room)), key=lambda at: room[at] / weights[at] if weights[at] else math.inf)
    # Sums from the end: subtracting from one sum would leave nothing of weights of very different size.
    sums = list(accumulate(weights[at] for at in reversed(order)))[::-1]
    for at, weight in zip(order, sums, strict=True):
        shares[at] = min(room[at], total * weights[at] / weight) if weight else 0.0
        total -= shares[at]
    return shares
