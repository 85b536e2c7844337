"""Finds the one figure of sentences that some words mean: all of them belong to it, nothing narrower or
broader does; works nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from chatbot.answer.derive.qualifiers import LEAST
from chatbot.answer.derive.requested_operation import Slot
from chatbot.answer.derive.stated_figures import StatedFigure, content
from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.numbers import Figure, magnitude
from ingestion.language.terms import terms

__all__ = ["DoubtError", "Pages", "alike", "check_alike", "distance", "in_slot", "pick", "years_of"]

# Words that name the same thing in budgets and central banks' papers, so that a figure of the one is a figure
# of the other. What search takes for related is not enough: borrowing is no debt, and electricity not all
# energy.
_ALIKE = [
    frozenset(terms(group))
    for group in (
        "spending expenditure outlay",
        "total overall aggregate",
        "new fresh",
        "used spent disbursed utilised utilized drawn paid",
        "treasuries treasury securities",
        "debt indebtedness",
        "receipts receipt",
        "loan loans lending",
        "defence defense military",
        "rise rose increase",
        "fall fell decline decrease drop",
        "fertiliser fertilizer",
        "labour labor",
        "salary wage pay",
        "pension retirement",
        "budget allocation appropriation",
        "allocate allocation earmark",
        "spend spent spending",
        "buy purchase",
    )
]
# Beside the words asked for, these make a figure that of something narrower or else.
_NARROWER = frozenset(
    terms(
        "capital current operating development recurrent net gross primary core direct indirect nominal "
        "real structural adjusted excluding "
        "except interest capita median effective outstanding additional supplementary"
    )
)
# Beside the words asked for, these change nothing.
_PLAIN = frozenset(
    terms(
        "total overall weighted amount amounts estimate estimates estimated revised budget budgeted "
        "projected expected forecast actual "
        "provisional figure level value stood stands reached amounted recorded rise rose risen rises "
        "increase increased increases decline "
        "declined declines decrease decreased fall fell dropped drop grew grow grown expanded contracted "
        "lowered raised reduced cut spending "
        "expenditure outlay allocation allocated government federal central union state country year "
        "fiscal financial budget "
        "holdings range month quarter GDP economy sum cumulative disbursed received collected contributed "
        "agency backed plans number " + " ".join(CURRENCY_TERMS)
    )
)
_TARGET = frozenset(terms("target"))
_ARTICLES = frozenset("the a an our its their this that these those".split())
_PREPOSITIONS = frozenset("of on from for in to by".split())
_WEIGHTED = frozenset(terms("weighted average"))
_WORD = re.compile(r"[^\W\d_]+|[^\w\s-]")
# What a word of the question costs that a phrase has by another one: the very word is preferred.
OTHER_WORD = 1
# Words of questions whose equivalents are kept at hand.
MOST_TERMS = 4096
# Where that many words of the question agree, one beside them makes it no other figure: "domestic term
# deposit rates on fresh deposits".
MANY_WORDS, MOST_BESIDE = 4, 1
# And where that many agree, whose it is goes without saying: "rates on fresh loans of commercial banks".
SOME_WORDS = 3


class DoubtError(Exception):
    """No operand, or more than one that it may be."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Figures of one document's pages, with what its name says."""

    stated: Sequence[StatedFigure]
    known: frozenset[str]


def pick(topic: Sequence[str], pages: Pages, fits: Callable[[StatedFigure], bool]) -> StatedFigure:
    """The figure whose words are those of the topic, among those that fit. Raises DoubtError."""
    costs = [(cost, one) for one in pages.stated if fits(one) and (cost := distance(one, topic, pages)) >= 0]
    least = min((cost for cost, _ in costs), default=0)
    best = [one for cost, one in costs if cost == least]
    if not best or any(not _same(one.figure, best[0].figure) or one.base != best[0].base for one in best):
        raise DoubtError
    return best[0]


def _same(one: Figure, other: Figure) -> bool:
    return one.unit == other.unit and one.percent == other.percent and magnitude(one) == magnitude(other)


def distance(one: StatedFigure, topic: Sequence[str], pages: Pages) -> int:
    """How far a figure's words are from the topic's, -1 where they are not its words."""
    raw = _WORD.findall(one.phrase)
    marks = [next(iter(terms(word)), "") for word in raw]
    words = set(marks) - {""}
    asked = {term for term in topic if term not in pages.known} or set(topic)
    if not asked or any(words.isdisjoint(alike(term)) for term in asked):
        return -1
    said = frozenset().union(*(alike(term) for term in topic)) | pages.known
    if (
        words & _NARROWER - said
        or not _joins_only(one.phrase, said)
        or not _leads(raw, marks, said | (_TARGET if "rate" in topic else set()))
    ):
        return -1
    if one.trail != one.phrase and not one.figure.percent:
        goes_on = set(content(one.trail))
    else:
        goes_on = set()
    beside = _beside(marks, said) | goes_on | (_after(raw, marks, said) if len(asked) < SOME_WORDS else set())
    beside -= said | _PLAIN | (_WEIGHTED if words >= _WEIGHTED else set())
    if len(asked) >= MANY_WORDS:
        most = MOST_BESIDE
    else:
        most = 0
    if len(beside) > most:
        return -1
    return OTHER_WORD * (len(asked - words) + len(beside))


def _leads(raw: Sequence[str], marks: Sequence[str], said: frozenset[str]) -> bool:
    """Whether the phrase is of what was asked for, not of something about it: "gain on sale", "proceeds
    from debt", "price of oil".
    """
    at = next((at for at, mark in enumerate(marks) if mark in said), 0)
    while at > 0 and marks[at - 1]:
        at -= 1
    before = [index for index in range(at) if raw[index].casefold() not in _ARTICLES]
    if not before or raw[before[-1]].casefold() not in _PREPOSITIONS:
        return True
    head = next((marks[index] for index in before[:-1][::-1] if marks[index]), "")
    return not head or head in said | _PLAIN


def _beside(marks: Sequence[str], said: frozenset[str]) -> set[str]:
    """Words that stand next to those asked for, with nothing between: "defence expenditure", "debt
    service".
    """

    def is_other(mark: str) -> bool:
        return bool(mark) and mark not in said

    found: set[str] = set()
    for at, mark in enumerate(marks):
        if mark in said:
            found.update(takewhile(is_other, reversed(marks[:at])), takewhile(is_other, marks[at + 1 :]))
    return found


def _after(raw: Sequence[str], marks: Sequence[str], said: frozenset[str]) -> set[str]:
    """All words after the first that was asked for, which narrow it: "spending on schools"; what "other
    than" leaves out does not.
    """
    first = next((at for at, mark in enumerate(marks) if mark in said), len(marks))
    last = next((at for at in range(first, len(raw)) if raw[at].casefold() == "other"), len(raw))
    return set(marks[first + 1 : last]) - {""}


def _joins_only(phrase: str, said: frozenset[str]) -> bool:
    """Whether "and" joins no other thing to what was asked for."""
    parts = [content(part) for part in re.split(r"\band\b|&|\bplus\b", phrase)]
    pairs = [(left[-1] in said, right[0] in said) for left, right in pairwise(parts) if left and right]
    return all(left == right for left, right in pairs)


@lru_cache(maxsize=MOST_TERMS)
def alike(term: str) -> frozenset[str]:
    """The term and those that may stand for it."""
    return frozenset({term}).union(*(group for group in _ALIKE if term in group))


def in_slot(one: StatedFigure, slot: Slot, *, named: bool) -> bool:
    """Whether a figure is of this time and version. named: its time must be stated, and be the very one."""
    if slot.version and not (slot.version in one.versions or (slot.version == "budget" and not one.versions)):
        return False
    if slot.period is None or (not one.periods and not named):
        return True
    return agreement([slot.period], one.periods) >= (SAME_PERIOD if named else 1)


def _like(one: StatedFigure, other: StatedFigure) -> bool:
    """Whether two figures can be added."""
    left = one.figure
    right = other.figure
    # "5 million crowns and 6 million": the second one's unit goes without saying.
    unsaid = one.sentence == other.sentence and left.scale > 1 and None in (left.unit, right.unit)
    same = (left.scale, left.percent) == (right.scale, right.percent) and (unsaid or left.unit == right.unit)
    return same and (one.rate, one.base, one.moves) == (other.rate, other.base, other.moves)


def check_alike(operands: Sequence[StatedFigure], said: frozenset[str], *, least: bool = False) -> None:
    """Raises DoubtError where two are the same figure, or unlike in unit, scale, base, rate or movement,
    where one is a bound, and where other words narrow one than another, but for those that the question or
    the document's name says. least: "at least" may be."""
    if (
        any(one.bound and not (least and one.bound == LEAST) for one in operands)
        or len({one.narrowed - said for one in operands}) > 1
    ):
        raise DoubtError
    places = {(one.sentence, one.figure.start) for one in operands}
    if len(places) < len(operands) or not all(_like(operands[0], other) for other in operands[1:]):
        raise DoubtError


def years_of(one: StatedFigure) -> frozenset[tuple[int, int]]:
    """First and last year of each of its periods."""
    return frozenset((period.start_year, period.end_year) for period in one.periods)
