"""Finds the one figure in sentences that some words mean: all of them are its words, and none narrows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from chatbot.answer.derive.requested_operation import Slot
from chatbot.answer.derive.stated_figures import StatedFigure, content
from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.numbers import Figure, magnitude
from ingestion.language.terms import terms

__all__ = ["DoubtError", "Pages", "alike", "check_alike", "distance", "in_slot", "pick", "years_of"]

# Words that name the same thing in budgets and central banks' papers: a figure of one is a figure of the
# other. The words that search takes for related are too loose: borrowing is no debt, and electricity not all
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
# Beside the words of the question, these make a figure that of something narrower or different.
_NARROWER = frozenset(
    terms(
        "capital current operating development recurrent net gross primary core direct indirect nominal "
        "real structural adjusted excluding "
        "except interest capita median effective outstanding additional supplementary"
    )
)
# Beside the words of the question, these change nothing.
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
# The cost of a word that the phrase has only in another form: the word itself is preferred.
OTHER_WORD = 1
# The words of questions whose equivalents are cached.
MOST_TERMS = 4096
# Where that many words of the question agree, one more beside them does not make it another figure: "domestic
# term deposit rates on fresh deposits".
MANY_WORDS, MOST_BESIDE = 4, 1
# Where that many agree, whose figure it is goes without saying: "rates on fresh loans of commercial banks".
SOME_WORDS = 3


class DoubtError(Exception):
    """No operand, or more than one that it may be."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Figures of one document's pages, with the words that its name says of them all."""

    stated: Sequence[StatedFigure]
    known: frozenset[str]


def pick(topic: Sequence[str], pages: Pages, fits: Callable[[StatedFigure], bool]) -> StatedFigure:
    """The figure whose words are those of the topic, among those that fit. Raises DoubtError."""
    nearest: list[StatedFigure] = []
    least = -1
    for candidate in pages.stated:
        if not fits(candidate):
            continue
        cost = distance(candidate, topic, pages)
        if cost < 0:
            continue
        if not nearest or cost < least:
            nearest, least = [], cost
        if cost == least:
            nearest.append(candidate)
    if not nearest:
        raise DoubtError
    first = nearest[0]
    for candidate in nearest:
        if candidate.base != first.base or not _is_same(candidate.figure, first.figure):
            raise DoubtError
    return first


def _is_same(left: Figure, right: Figure) -> bool:
    """Whether two figures have the same value and unit."""
    if left.unit != right.unit or left.percent != right.percent:
        return False
    return magnitude(left) == magnitude(right)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The words of a figure's phrase. marks: the term of each word, "" where it has none."""

    words: Sequence[str]
    marks: Sequence[str]


def _phrase(text: str) -> _Phrase:
    words = _WORD.findall(text)
    return _Phrase(words, [next(iter(terms(word)), "") for word in words])


def distance(one: StatedFigure, topic: Sequence[str], pages: Pages) -> int:
    """How far a figure's words are from the topic's, -1 where they are not its words."""
    phrase = _phrase(one.phrase)
    asked = {term for term in topic if term not in pages.known} or set(topic)
    own = set(phrase.marks) - {""}
    if not asked or any(own.isdisjoint(alike(term)) for term in asked):
        return -1
    said = pages.known.union(*map(alike, topic))
    if own & (_NARROWER - said) or not _joins_only(one.phrase, said):
        return -1
    leading = said | _TARGET if "rate" in topic else said
    if not _leads(phrase, leading):
        return -1
    beside = _beside(phrase.marks, said)
    if one.trail != one.phrase and not one.figure.percent:
        beside.update(content(one.trail))
    if len(asked) < SOME_WORDS:
        beside |= _after(phrase, said)
    beside -= said | _PLAIN
    if own >= _WEIGHTED:
        beside -= _WEIGHTED
    most = MOST_BESIDE if len(asked) >= MANY_WORDS else 0
    if len(beside) > most:
        return -1
    return OTHER_WORD * (len(asked - own) + len(beside))


def _leads(phrase: _Phrase, said: frozenset[str]) -> bool:
    """Whether a phrase is of what the question names, not of something about it.

    "Gain on sale", "proceeds from debt" and "price of oil" are of something about it.
    """
    marks = phrase.marks
    start = _first(marks, said) or 0
    while start > 0 and marks[start - 1]:
        start -= 1
    before = [at for at in range(start) if phrase.words[at].casefold() not in _ARTICLES]
    if not before or phrase.words[before[-1]].casefold() not in _PREPOSITIONS:
        return True
    before.pop()
    heads = [marks[at] for at in before if marks[at]]
    return not heads or heads[-1] in said | _PLAIN


def _first(marks: Sequence[str], said: frozenset[str]) -> int | None:
    """The place of the first word that the question names."""
    for at, mark in enumerate(marks):
        if mark in said:
            return at
    return None


def _beside(marks: Sequence[str], said: frozenset[str]) -> set[str]:
    """Words right beside those that the question names: "defence expenditure", "debt service"."""

    def is_other(mark: str) -> bool:
        return bool(mark) and mark not in said

    found: set[str] = set()
    for at, mark in enumerate(marks):
        if mark in said:
            found.update(takewhile(is_other, reversed(marks[:at])))
            found.update(takewhile(is_other, marks[at + 1 :]))
    return found


def _after(phrase: _Phrase, said: frozenset[str]) -> set[str]:
    """All words after the first that the question names, for they narrow it: "spending on schools".

    What "other than" leaves out does not.
    """
    first = _first(phrase.marks, said)
    if first is None:
        return set()
    last = first
    while last < len(phrase.words) and phrase.words[last].casefold() != "other":
        last += 1
    return set(phrase.marks[first + 1 : last]) - {""}


def _joins_only(phrase: str, said: frozenset[str]) -> bool:
    """Whether "and" joins nothing else to what the question names."""
    parts = [content(part) for part in re.split(r"\band\b|&|\bplus\b", phrase)]
    for left, right in pairwise(parts):
        if left and right and (left[-1] in said) != (right[0] in said):
            return False
    return True


@lru_cache(maxsize=MOST_TERMS)
def alike(term: str) -> frozenset[str]:
    """The term and those that may stand for it."""
    return frozenset({term}).union(*(group for group in _ALIKE if term in group))


def in_slot(one: StatedFigure, slot: Slot, *, named: bool) -> bool:
    """Whether a figure is of this time and version.

    named: its time must be stated, and be exactly this one.
    """
    if slot.version and not _is_of_version(one, slot.version):
        return False
    if slot.period is None:
        return True
    if not one.periods and not named:
        return True
    least = SAME_PERIOD if named else 1
    return agreement([slot.period], one.periods) >= least


def _is_of_version(stated: StatedFigure, version: str) -> bool:
    if version in stated.versions:
        return True
    return version == "budget" and not stated.versions


def _can_be_added(left: StatedFigure, right: StatedFigure) -> bool:
    """Whether two figures agree in unit, scale, base, rate and movement."""
    if left.figure.scale != right.figure.scale or left.figure.percent != right.figure.percent:
        return False
    if left.figure.unit != right.figure.unit and not _goes_without_unit(left, right):
        return False
    return (left.rate, left.base, left.moves) == (right.rate, right.base, right.moves)


def _goes_without_unit(left: StatedFigure, right: StatedFigure) -> bool:
    """Whether the unit of one goes without saying: "5 million crowns and 6 million"."""
    if left.sentence != right.sentence or left.figure.scale <= 1:
        return False
    return left.figure.unit is None or right.figure.unit is None


def check_alike(operands: Sequence[StatedFigure], said: frozenset[str]) -> None:
    """Raises DoubtError unless all figures go together in a sum.

    They do not where two are the same figure, or differ in unit, scale, base, rate or movement; where one is
    a bound; or where other words narrow one than another.

    said: words of the question or of the document's name, which may narrow just one of them.
    """
    for operand in operands:
        if operand.bound:
            raise DoubtError
    if len({operand.narrowed - said for operand in operands}) > 1:
        raise DoubtError
    places = {(operand.sentence, operand.figure.start) for operand in operands}
    if len(places) < len(operands):
        raise DoubtError
    if not all(_can_be_added(operands[0], other) for other in operands[1:]):
        raise DoubtError


def years_of(one: StatedFigure) -> frozenset[tuple[int, int]]:
    """First and last year of each of its periods."""
    return frozenset((period.start_year, period.end_year) for period in one.periods)
