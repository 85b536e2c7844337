"""Knows whether a sentence tells a move the other way than its own figures go, "fell to 28.7 from 26.6";
knows no pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chatbot.answer.checks.claims import Scope
from chatbot.answer.checks.formulas import amount_of
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES, VERBS_OF_MOVES

__all__ = ["turned_moves"]

# Characters before the first of two figures in which their move is told, and between the two.
MOVE_REACH, LONGEST_GAP = 120, 80
_TO, _FROM = (re.compile(rf"\b{word}\b[^.;,()\d]{{0,20}}\Z", re.IGNORECASE) for word in ("to", "from"))
_MOVES = VERBS_OF_MOVES[0] | VERBS_OF_MOVES[1]
_APART = re.compile(r"[,;]|\b(?:and|while|but)\b", re.IGNORECASE)  # what follows is of something else
_WORD = re.compile(r"[^\W\d_]+")


def turned_moves(text: str, figures: Sequence[Figure], scopes: Sequence[Scope]) -> Iterator[tuple[int, str]]:
    """(position of the newer figure, why it is wrong) of each two figures that stand behind one another as
    "to" and "from".
    """
    for at, (one, other) in enumerate(pairwise(figures)):
        gap = text[one.end : other.start]
        scope = scopes[at]
        if (
            len(gap) > LONGEST_GAP
            or _APART.search(gap)
            or other.start >= scope.end
            or one.percent != other.percent
            or not units_agree(one, other)
        ):
            continue
        lead = text[max(scope.start, one.start - MOVE_REACH) : one.start]
        if _TO.search(lead) and _FROM.search(gap):
            new = one
            old = other
            place = at
        elif _FROM.search(lead) and _TO.search(gap):
            new = other
            old = one
            place = at + 1
        else:
            continue
        told = [word for word in map(str.casefold, _WORD.findall(lead)) if word in _MOVES]
        change = amount_of(new) - amount_of(old)
        if not told or min(new.value, old.value) < 0 or len({word in MOVES[0] for word in told}) > 1:
            continue
        if change and (change > 0) != (told[0] in MOVES[0]):
            yield (
                place,
                (
                    f"the answer says “{told[-1]}”, and from {old.text} to {new.text} it "
                    f"{'rises' if change > 0 else 'falls'}"
                ),
            )
