"""Finds moves that a sentence tells the other way than its own figures go, "fell to 28.7 from 26.6"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from chatbot.answer.checks.claims import Scope
from chatbot.answer.formulas import amount_of
from ingestion.language.numbers import Figure, units_agree
from ingestion.language.opposites import MOVES, VERBS_OF_MOVES

__all__ = ["reversed_moves"]

# Characters before the first of two figures in which their move is told, and between the two.
MOVE_REACH, LONGEST_GAP = 120, 80
_TO, _FROM = (re.compile(rf"\b{word}\b[^.;,()\d]{{0,20}}\Z", re.IGNORECASE) for word in ("to", "from"))
_MOVES = VERBS_OF_MOVES[0] | VERBS_OF_MOVES[1]
_APART = re.compile(r"[,;]|\b(?:and|while|but)\b", re.IGNORECASE)  # something else follows
_WORD = re.compile(r"[^\W\d_]+")


def reversed_moves(
    text: str, figures: Sequence[Figure], scopes: Sequence[Scope]
) -> Iterator[tuple[int, str]]:
    """(position of the newer figure, why it is wrong) of each two figures in succession that are told as a
    move "to" one "from" the other, and go the other way.
    """
    for at, (first, second) in enumerate(pairwise(figures)):
        scope = scopes[at]
        gap = text[first.end : second.start]
        if len(gap) > LONGEST_GAP or _APART.search(gap) or second.start >= scope.end:
            continue
        if first.percent != second.percent or not units_agree(first, second):
            continue
        lead = text[max(scope.start, first.start - MOVE_REACH) : first.start]
        if _TO.search(lead) and _FROM.search(gap):
            new, old, place = first, second, at
        elif _FROM.search(lead) and _TO.search(gap):
            new, old, place = second, first, at + 1
        else:
            continue
        verb = _move_in(lead)
        if not verb or min(new.value, old.value) < 0:
            continue
        change = amount_of(new) - amount_of(old)
        if change and (change > 0) != (verb in MOVES[0]):
            actual = "rises" if change > 0 else "falls"
            yield place, f"the answer says “{verb}”, and from {old.text} to {new.text} it {actual}"


def _move_in(lead: str) -> str:
    """The last verb of a move in the words before a figure; "" for none, or where they tell both ways."""
    words = map(str.casefold, _WORD.findall(lead))
    verbs = [word for word in words if word in _MOVES]
    if len({verb in MOVES[0] for verb in verbs}) != 1:
        return ""
    return verbs[-1]
