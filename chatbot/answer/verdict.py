"""Whether a question is answered by yes or no, and by which: by two figures of which it asks whether one is
higher, by one and the bound it names, or by a sentence that says, or denies, what it asks; knows no page.

What is in doubt is neither. Of the 200 questions of benchmarks/yes_no.py yes or no is said to 52.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import DENIALS, DOUBTS, HOLDINGS, MOVES, OPPOSITES, QUALIFIERS, TOLD_LESS
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms, terms

__all__ = [
    "AGAINST_PLAN",
    "NO",
    "UNSAID",
    "YES",
    "Amount",
    "asks_move",
    "asks_yes_or_no",
    "bound_of",
    "by_bound",
    "by_move",
    "by_plan",
    "by_sentence",
    "is_other",
]

YES, NO = "Yes.", "No."
# Said before what comes nearest.
UNSAID = "I could not settle this as yes or no; these words come nearest."
# The share of a question's words that a sentence must have to be a yes or a no to it, and that one with a
# figure must have for it to be the one meant.
LEAST_SAID, LEAST_OF_A_BOUND = 0.65, 0.6
# An amount that is printed in full, where no scale is stated.
IN_FULL = 1e9
_DENIED = DENIALS | {"none"}
_HOLDING = frozenset[str]().union(*(side for pair in HOLDINGS for side in pair))
# Which of what says more or less is no name of anything.
_MORE = frozenset({"more", "bigger", "larger", "greater"})
_LESS = frozenset({"less", "fewer", "smaller"})
_COMPARING = _MORE | _LESS | frozenset({"higher", "lower"})

_ASKS = re.compile(
    (
        r"\W*(?:and |so |but )?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may"
        r"|might|must)(?:n['’]t)? \w"
    ),
    re.IGNORECASE,
)
# "Can you tell me", "do you know what", "is it higher or lower": asked for more than yes or no.
_ASKS_MORE = re.compile(
    (
        r"\b(?:can|could|would|will|do|did) (?:you|we|i)\b|\b(?:what|which|who|whom|whose|how|when|where|why"
        r"|or)\b"
    ),
    re.IGNORECASE,
)
_ABOVE = (
    r"(?:above|over|more than|higher than|greater than|larger than|bigger than|exceed(?:s|ed|ing)?"
    r"|surpass(?:es|ed)?|top(?:s|ped)?)"
)
_BELOW = r"(?:below|under|less than|lower than|smaller than|fewer than)"
_BOUND = re.compile(
    (
        rf"(?:(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<least>at least)|(?P<most>at most|no more than"
        rf"|up to)) (?:the |about |some )?$"
    ),
    re.IGNORECASE,
)
# "By more than 10%" is of the change, "rose above 10%" of what came of it.
_BY = re.compile(r"\bby (?:\w+ ){1,3}$", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
# What a figure is held against, whatever follows.
_BOUND_WORDS = re.compile(
    (
        rf"\b(?:{_ABOVE}|{_BELOW}|at least|at most|no more than|up to)(?= (?:the |about "
        rf"|some )?[^\W\d_]{{0,3}}\s?\W?\d)"
    ),
    re.IGNORECASE,
)
# "Above its budget": of another column.
_OVER = (
    r"over|above|exceed\w*|overshoot\w*|overshot|overspen\w+|overr[ua]n|beat|more than|higher than"
    r"|larger than"
)
_SHORT = r"below|under(?:sp\w+|shoot\w*|shot)?|miss(?:ed)?|short of|less than|lower than|smaller than"
_PLANNED = r"\s+(?:\S+\s+){0,4}?(?:budget|plan|target)\b"
AGAINST_PLAN = re.compile(
    rf"\b(?:{_OVER}|{_SHORT}|against|versus|vs\.?|compared? (?:with|to)|meet|met){_PLANNED}", re.IGNORECASE
)
_AGAINST = re.compile(rf"{AGAINST_PLAN.pattern}|\bthan (?:\w+ )?(?:forecast|estimate|expect)", re.IGNORECASE)
# What was meant to be is no answer to what was.
_PAST = re.compile(r"\W*(?:and |so |but )?(?:was|were|did|has|have|had)\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(?:Q[1-4]|[1-4]Q|H[12])\b")
_BEFORE = re.compile(r"\bthan\b.{0,20}\b(?:year|before|earlier|previous|last|prior)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure of a table. value: as printed; scale: of its table or its own, 1 where none is stated. unit:
    currency code, None where none is printed. percent: it is a percentage. planned: it is what was meant to
    be, of a budget or a forecast."""

    value: float
    scale: float = 1.0
    percent: bool = False
    unit: str | None = None
    planned: bool = False


def asks_yes_or_no(question: str) -> bool:
    """Whether yes or no would answer it: of "Is it higher or lower?" and "Can you list them?" neither
    would.
    """
    return bool(_ASKS.match(question)) and not _ASKS_MORE.search(question)


def asks_move(question: str) -> bool:
    """Whether it is asked if something rose or fell, or is more or less than before."""
    words = _words(question)
    return asks_yes_or_no(question) and not words.isdisjoint(MOVES[0] | MOVES[1])


def bound_of(question: str) -> tuple[Figure, str] | None:
    """The amount that a question holds a figure against, and how: "above", "below", "least" or "most";
    None where it names none, or several.
    """
    found = [
        (figure, match.lastgroup or "")
        for figure in find_figures(question)
        if (match := _BOUND.search(question[: figure.start]))
    ]
    if len(found) == 1:
        return found[0]
    return None


def by_sentence(question: str, names: Collection[str], sentence: str, *, fits: bool) -> str:
    """YES or NO where a sentence says or denies what is asked, or all its figures of the kind of a bound are
    on one side of it; "" where that is in doubt: it lacks a year or a figure of the question, names another
    year, or says it of a plan, on a condition, with an exception.

    names: words of the question that the sentence may lack: whom its document is about. fits: subject,
    measure and period stand there."""
    asked = {term for term in content_terms(question) if not term[0].isdigit()} - set(names)
    own, said = _words(question), _words(_IN_BRACKETS.sub(" ", sentence))  # where a row's heads are read out
    if not _is_plain(question) or not asked or not is_finished(sentence.strip()):
        return ""
    if (
        said & DOUBTS - own
        or any(said & {f"un{word}", f"non{word}", f"dis{word}"} for word in own)
        or ";" in sentence
        or _years(sentence) - _years(question)
    ):
        return ""
    there = asked & set(terms(sentence))
    if bound_of(question) is not None:
        fit = len(there) >= LEAST_OF_A_BOUND * len(asked) and (fits or _years(question) <= _years(sentence))
        if fit and not _denies(sentence):
            return _all_by_bound(question, sentence)
        return ""
    figures = {(figure.value, figure.scale, figure.percent) for figure in find_figures(question)}
    if (
        _THAN.search(question)
        or len(there) < LEAST_SAID * len(asked)
        or not figures <= {(one.value, one.scale, one.percent) for one in find_figures(sentence)}
    ):
        return ""
    if denials := said & _DENIED:
        if len(denials) == 1 or denials == {"neither", "nor"}:
            return NO
        return ""
    if not fits or any(
        own & one and said & other and not own & other
        for pair in OPPOSITES
        for one, other in (pair, pair[::-1])
    ):
        moves = asks_move(question) and any(
            own & one and said & other and not said & one and not own & other
            for one, other in (MOVES, MOVES[::-1])
        )
        return NO if moves else ""
    if said.isdisjoint(TOLD_LESS - own):
        return YES
    return ""


def _all_by_bound(question: str, sentence: str) -> str:
    """What all figures of a sentence say that are of a bound's kind; "" where they do not say the same, or
    one is about as large as the bound.
    """
    (bound, _) = bound_of(question) or (None, "")
    if bound is None or _words(question) & (_HOLDING - _words(sentence)):
        return ""
    of_kind = [
        figure
        for figure in find_figures(sentence)
        if (figure.percent, figure.scale == 1) == (bound.percent, bound.scale == 1)
    ]
    if any(figure.value * figure.scale == bound.value * bound.scale for figure in of_kind):
        return ""
    said = {
        by_bound(
            question,
            Amount(one.value, one.scale, one.percent == "percent", None if one.percent else one.unit),
        )
        for one in of_kind
    }
    if len(said) == 1:
        return said.pop()
    return ""


def by_bound(question: str, stated: Amount) -> str:
    """YES or NO where a figure is held against an amount of its own kind; "" where that is in doubt."""
    bound = bound_of(question)
    if (
        bound is None
        or not _is_plain(question)
        or stated.value < 0
        or (stated.planned and _PAST.match(question))
    ):
        return ""
    figure, how = bound
    whole = stated.scale == 1 and stated.value >= IN_FULL
    scaled = (figure.scale == 1) == (stated.scale == 1) or whole
    alike = (figure.percent == "percent") == stated.percent and figure.percent != "points" and scaled
    if not alike or (stated.unit and figure.unit and stated.unit != figure.unit):
        return ""
    return _holds(stated.value * stated.scale, how, figure.value * figure.scale)


def by_move(question: str, before: tuple[int, Amount], after: tuple[int, Amount]) -> str:
    """YES or NO where it is asked whether a figure rose or fell, or is higher or lower than another year's,
    if so by how much; "" where that is in doubt.

    before, after: the two years in order, each with its figure."""
    bound, words = bound_of(question), _words(question)
    (first, one), (last, other) = before, after
    if bound is not None and not _BY.search(question[: bound[0].start]):
        # "Fell below 5 billion": what came of it, if it moved that way; "rose at least 2%" is of either.
        moved = (
            by_move(_BOUND_WORDS.sub(" ", question).replace(bound[0].text, " "), before, after)
            if bound[1] in ("above", "below")
            else NO
        )
        return by_bound(question, other) if moved == YES else ""
    base = None if bound else _year_after_than(question)
    # "More than 10%" says no direction; "a loss" is none.
    words = _words(_THAN.split(question)[0]) - _COMPARING if bound else words
    ups, downs = (
        not words.isdisjoint(moves | told) for moves, told in zip(MOVES, (_MORE, _LESS), strict=True)
    )
    doubted = (
        ups == downs
        or not _is_plain(question)
        or min(one.value, other.value) < 0
        or ((one.planned or other.planned) and bool(_PAST.match(question)))
    )
    if doubted or (
        bound is None
        and (
            find_figures(question)
            or (_THAN.search(question) and base is None and not _BEFORE.search(question))
        )
    ):
        return ""
    if base == last:
        one, other = other, one
    elif base not in (None, first):
        return ""
    change = (other.value - one.value) * (1 if ups else -1)
    if change <= 0 or bound is None:
        return YES if change > 0 else NO
    figure, how = bound
    if figure.percent == "percent" and not one.percent:
        return _holds(100 * change / one.value, how, figure.value) if one.value else ""
    if figure.percent == "points":
        return _holds(change, how, figure.value) if one.percent and figure.unit == "percentage points" else ""
    return "" if one.percent else by_bound(question, replace(one, value=change))


def is_other(label: str, question: str) -> bool:
    """Whether a row is of what is not, "declared and not paid", and the question is not, or of a balance,
    and the question of a loss or a deficit.
    """
    return (_denies(label) and not _denies(question)) or bool(_words(question) & _HOLDING - _words(label))


def by_plan(question: str, planned: float, actual: float) -> str:
    """YES or NO where it is asked whether a figure is above or below what was budgeted; "" where neither is
    asked, or it is a cost in brackets or a loss."""
    above, below = (
        re.search(rf"(?i)\b(?:{words}){_PLANNED}", question) is not None for words in (_OVER, _SHORT)
    )
    if above == below or min(planned, actual) < 0 or _denies(question) or not asks_yes_or_no(question):
        return ""
    if actual > planned if above else actual < planned:
        return YES
    return NO


def _holds(value: float, how: str, bound: float) -> str:
    holds = {"above": value > bound, "below": value < bound, "least": value >= bound, "most": value <= bound}[
        how
    ]
    return YES if holds else NO


def _year_after_than(question: str) -> int | None:
    """The year that another is compared with."""
    _, than, behind = question.partition(" than ")
    if than:
        return next((period.end_year for period in find_periods(behind)), None)
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.casefold().replace("'", "").replace("’", "")))


def _denies(text: str) -> bool:
    return not _words(text).isdisjoint(_DENIED)


def _is_plain(question: str) -> bool:
    """Whether yes or no to one figure or sentence answers a question: it denies nothing, holds against one
    amount at most, and asks for no all, always or why.
    """
    words = _words(_BOUND_WORDS.sub(" ", question.replace("per cent", "percent"), count=1))
    return (
        asks_yes_or_no(question)
        and not (_denies(question) or _AGAINST.search(question) or _QUARTER.search(question))
        and words.isdisjoint(QUALIFIERS)
        and not _BOUND_WORDS.search(_BOUND_WORDS.sub(" ", question, count=1))
    )


def _years(text: str) -> set[int]:
    return {year for period in find_periods(text) for year in (period.start_year, period.end_year)}
