"""Decides whether yes or no answers a question, and which.

Two figures decide whether one is higher, and a figure and a bound whether it is kept. Where that is in doubt,
or where what a sentence means would decide, the answer is neither: it is the passage alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from ingestion.language.figure_words import ABOUT, AGAINST
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import DENIALS, HOLDINGS, MOVES, QUALIFIERS
from ingestion.language.periods import PART_CODE, find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms, terms

__all__ = [
    "AGAINST_PLAN",
    "NO",
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
# The share of a question's words that a sentence with a figure must have for that figure to be the one meant.
LEAST_OF_A_BOUND = 0.6
# An amount this large is printed in full where no scale is stated.
IN_FULL = 1e9
_DENIED = DENIALS | {"none"}
_HOLDING = frozenset[str]().union(*(side for pair in HOLDINGS for side in pair))
# Words for more or less that are no name of a move.
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
# "Can you tell me", "do you know what" and "is it higher or lower" ask for more than yes or no.
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
        rf"|up to)) (?:(?:the|{ABOUT}) )?$"
    ),
    re.IGNORECASE,
)
# "By more than 10%" is about the change, "rose above 10%" about the level it led to.
_BY = re.compile(r"\bby (?:\w+ ){1,3}$", re.IGNORECASE)
# Words that hold a figure against an amount, with the amount behind them.
_BOUND_WORDS = re.compile(
    (
        rf"\b(?:{_ABOVE}|{_BELOW}|at least|at most|no more than|up to)(?= (?:(?:the|{ABOUT}) )?"
        rf"[^\W\d_]{{0,3}}\s?\W?\d)"
    ),
    re.IGNORECASE,
)
# "Above its budget" is about another column.
_OVER = (
    r"over|above|exceed\w*|overshoot\w*|overshot|overspen\w+|overr[ua]n|beat|more than|higher than"
    r"|larger than"
)
_SHORT = r"below|under(?:sp\w+|shoot\w*|shot)?|miss(?:ed)?|short of|less than|lower than|smaller than"
_PLANNED = r"\s+(?:\S+\s+){0,4}?(?:budget|plan|target)\b"
AGAINST_PLAN = re.compile(rf"\b(?:{_OVER}|{_SHORT}|{AGAINST}|meet|met){_PLANNED}", re.IGNORECASE)
_AGAINST = re.compile(rf"{AGAINST_PLAN.pattern}|\bthan (?:\w+ )?(?:forecast|estimate|expect)", re.IGNORECASE)
# A plan is no answer to what happened.
_PAST = re.compile(r"\W*(?:and |so |but )?(?:was|were|did|has|have|had)\b", re.IGNORECASE)
_QUARTER = re.compile(rf"\b{PART_CODE}\b")
_BEFORE = re.compile(r"\bthan\b.{0,20}\b(?:year|before|earlier|previous|last|prior)\b", re.IGNORECASE)
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure of a table.

    value: as printed.
    scale: of its table or its own, 1 where none is stated.
    percent: it is a percentage.
    unit: currency code, None where none is printed.
    planned: it is what was meant to be, of a budget or a forecast.
    """

    value: float
    scale: float = 1.0
    percent: bool = False
    unit: str | None = None
    planned: bool = False


def asks_yes_or_no(question: str) -> bool:
    """Whether yes or no would answer a question.

    Neither answers "Is it higher or lower?" and "Can you list them?".
    """
    return bool(_ASKS.match(question)) and not _ASKS_MORE.search(question)


def asks_move(question: str) -> bool:
    """Whether a yes-or-no question is about a rise or fall, or about more or less than before."""
    if not asks_yes_or_no(question):
        return False
    return not _words(question).isdisjoint(MOVES[0] | MOVES[1])


def bound_of(question: str) -> tuple[Figure, str] | None:
    """The amount that a question holds a figure against, and how: "above", "below", "least" or "most".

    None where it names no such amount, or several.
    """
    found = []
    for figure in find_figures(question):
        match = _BOUND.search(question[: figure.start])
        if match:
            found.append((figure, match.lastgroup or ""))
    return found[0] if len(found) == 1 else None


def by_sentence(question: str, names: Collection[str], sentence: str) -> str:
    """YES or NO where the figures of a sentence are on one side of the amount that a question names.

    "" where there is doubt: the sentence lacks a year or most words of the question, names another year, or
    denies something.

    names: words of the question that the sentence may lack: whom its document is about.
    """
    asked = {term for term in content_terms(question) if not term[0].isdigit()} - set(names)
    if bound_of(question) is None or not asked or not _is_plain(question) or _denies(sentence):
        return ""
    if ";" in sentence or not is_finished(sentence.strip()) or _years(sentence) != _years(question):
        return ""
    present = len(asked & set(terms(sentence)))
    return _all_by_bound(question, sentence) if present >= LEAST_OF_A_BOUND * len(asked) else ""


def _all_by_bound(question: str, sentence: str) -> str:
    """What all figures of a sentence say that are of a bound's kind.

    "" where they do not say the same, or one is just the bound.
    """
    bound, _ = bound_of(question) or (None, "")
    if bound is None or _words(question) & (_HOLDING - _words(sentence)):
        return ""
    verdicts = set()
    for figure in find_figures(sentence):
        if figure.percent != bound.percent or (figure.scale == 1) != (bound.scale == 1):
            continue
        if figure.value * figure.scale == bound.value * bound.scale:
            return ""
        unit = None if figure.percent else figure.unit
        amount = Amount(figure.value, figure.scale, figure.percent == "percent", unit)
        verdicts.add(by_bound(question, amount))
    return verdicts.pop() if len(verdicts) == 1 else ""


def by_bound(question: str, stated: Amount) -> str:
    """YES or NO where a figure is held against an amount of its own kind; "" where that is in doubt."""
    bound = bound_of(question)
    if bound is None or stated.value < 0 or not _is_plain(question):
        return ""
    if stated.planned and _PAST.match(question):
        return ""
    figure, how = bound
    if figure.percent == "points" or (figure.percent == "percent") != stated.percent:
        return ""
    in_full = stated.scale == 1 and stated.value >= IN_FULL
    if not in_full and (figure.scale == 1) != (stated.scale == 1):
        return ""
    if stated.unit and figure.unit and stated.unit != figure.unit:
        return ""
    return _holds(stated.value * stated.scale, how, figure.value * figure.scale)


def by_move(question: str, before: tuple[int, Amount], after: tuple[int, Amount]) -> str:
    """YES or NO where a question asks whether a figure rose or fell, or is above or below another year's.

    It may also ask by how much. "" where that is in doubt. before, after: the two years in order, each with
    its figure.
    """
    bound = bound_of(question)
    if bound is not None and not _BY.search(question[: bound[0].start]):
        return _by_level(question, bound, before, after)
    (first, start), (last, end) = before, after
    direction = _direction(question, bounded=bound is not None)
    if not direction or min(start.value, end.value) < 0 or not _is_plain(question):
        return ""
    if (start.planned or end.planned) and _PAST.match(question):
        return ""
    if bound is None:
        base = _year_after_than(question)
        if find_figures(question) or base not in (None, first, last):
            return ""
        if base is not None and first == last:  # two days of one year: which is held against which?
            return ""
        if base is None and _THAN.search(question) and not _BEFORE.search(question):
            return ""
        if base == last:
            start, end = end, start
    change = (end.value - start.value) * direction
    if change <= 0:
        return NO
    return YES if bound is None else _by_size(question, bound, start, change)


def _by_level(
    question: str, bound: tuple[Figure, str], before: tuple[int, Amount], after: tuple[int, Amount]
) -> str:
    """YES or NO to "fell below 5 billion": the level, if the figure moved that way.

    "Rose at least 2%" may be about the level or the change, and gets neither.
    """
    figure, how = bound
    if how not in ("above", "below"):
        return ""
    unbounded = _BOUND_WORDS.sub(" ", question).replace(figure.text, " ")
    if by_move(unbounded, before, after) != YES:
        return ""
    return by_bound(question, after[1])


def _direction(question: str, *, bounded: bool) -> int:
    """1 where a question asks for a rise or more, -1 for a fall or less, 0 where it asks for neither or both.

    bounded: it holds the change against an amount. Then "more than 10%" gives no direction.
    """
    if bounded:
        words = _words(_THAN.split(question)[0]) - _COMPARING
    else:
        words = _words(question)
    ups = not words.isdisjoint(MOVES[0] | _MORE)
    downs = not words.isdisjoint(MOVES[1] | _LESS)
    return ups - downs


def _by_size(question: str, bound: tuple[Figure, str], start: Amount, change: float) -> str:
    """YES or NO where the size of a change is held against an amount.

    start: what changed. change: in the direction of the question.
    """
    figure, how = bound
    if figure.percent == "percent" and not start.percent:
        return _holds(100 * change / start.value, how, figure.value) if start.value else ""
    if figure.percent == "points":
        in_points = start.percent and figure.unit == "percentage points"
        return _holds(change, how, figure.value) if in_points else ""
    return "" if start.percent else by_bound(question, replace(start, value=change))


def is_other(label: str, question: str) -> bool:
    """Whether a row is about something else than the question.

    The row is of what is not, "declared and not paid", and the question is not; or the row is of a balance,
    and the question of a loss or a deficit.
    """
    if _denies(label) and not _denies(question):
        return True
    return bool(_words(question) & _HOLDING - _words(label))


def by_plan(question: str, planned: float, actual: float) -> str:
    """YES or NO where a question asks whether a figure is above or below its budget.

    "" where it asks neither, and for a cost in brackets or a loss.
    """
    above = _is_against_plan(_OVER, question)
    below = _is_against_plan(_SHORT, question)
    if above == below or min(planned, actual) < 0:
        return ""
    if _denies(question) or not asks_yes_or_no(question):
        return ""
    holds = actual > planned if above else actual < planned
    return YES if holds else NO


def _is_against_plan(words: str, question: str) -> bool:
    """Whether a question has some words before a plan. words: a pattern."""
    return re.search(rf"(?i)\b(?:{words}){_PLANNED}", question) is not None


def _holds(value: float, how: str, bound: float) -> str:
    comparisons = {
        "above": value > bound,
        "below": value < bound,
        "least": value >= bound,
        "most": value <= bound,
    }
    return YES if comparisons[how] else NO


def _year_after_than(question: str) -> int | None:
    """The year that another is compared with."""
    _, than, behind = question.partition(" than ")
    if not than:
        return None
    return next((period.end_year for period in find_periods(behind)), None)


def _words(text: str) -> frozenset[str]:
    unquoted = text.casefold().replace("'", "").replace("’", "")
    return frozenset(re.findall(r"[a-z]+", unquoted))


def _denies(text: str) -> bool:
    return not _words(text).isdisjoint(_DENIED)


def _is_plain(question: str) -> bool:
    """Whether yes or no to one figure or sentence answers a question.

    It denies nothing, holds a figure against one amount at most, and asks for no all, always or why.
    """
    if not asks_yes_or_no(question) or _denies(question):
        return False
    if _AGAINST.search(question) or _QUARTER.search(question):
        return False
    unbounded = _BOUND_WORDS.sub(" ", question.replace("per cent", "percent"), count=1)
    if not _words(unbounded).isdisjoint(QUALIFIERS):
        return False
    return not _BOUND_WORDS.search(_BOUND_WORDS.sub(" ", question, count=1))


def _years(text: str) -> set[int]:
    years: set[int] = set()
    for period in find_periods(text):
        years.update((period.start_year, period.end_year))
    return years
