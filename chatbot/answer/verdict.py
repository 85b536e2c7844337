"""Decides whether yes or no answers a question, and which.

Two figures decide whether one is higher, and a figure and a bound whether it is kept. Where that is in doubt,
or where what a sentence means would decide, the answer is neither: it is the passage alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from chatbot.question_reading import QuestionReading, denies, words_in
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import HOLDINGS
from ingestion.language.periods import Period, find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import terms

__all__ = [
    "NO",
    "YES",
    "Amount",
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
_HOLDING = frozenset[str]().union(*(side for pair in HOLDINGS for side in pair))


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


def by_sentence(asked: QuestionReading, names: Collection[str], sentence: str) -> str:
    """YES or NO where the figures of a sentence are on one side of the amount that a question names.

    "" where there is doubt: the sentence lacks a year or most words of the question, names another year, or
    denies something.

    names: words of the question that the sentence may lack: whom its document is about.
    """
    wanted = {term for term in asked.terms if not term[0].isdigit()} - set(names)
    if asked.bound is None or not wanted or not asked.is_plain or denies(sentence):
        return ""
    if ";" in sentence or not is_finished(sentence.strip()):
        return ""
    if _years(find_periods(sentence)) != _years(asked.periods):
        return ""
    present = len(wanted & set(terms(sentence)))
    return _all_by_bound(asked, asked.bound[0], sentence) if present >= LEAST_OF_A_BOUND * len(wanted) else ""


def _all_by_bound(asked: QuestionReading, bound: Figure, sentence: str) -> str:
    """What all figures of a sentence say that are of a bound's kind.

    "" where they do not say the same, or one is just the bound.
    """
    if asked.words & (_HOLDING - words_in(sentence)):
        return ""
    verdicts = set()
    for figure in find_figures(sentence):
        if figure.percent != bound.percent or (figure.scale == 1) != (bound.scale == 1):
            continue
        if figure.value * figure.scale == bound.value * bound.scale:
            return ""
        unit = None if figure.percent else figure.unit
        amount = Amount(figure.value, figure.scale, figure.percent == "percent", unit)
        verdicts.add(by_bound(asked, amount))
    return verdicts.pop() if len(verdicts) == 1 else ""


def by_bound(asked: QuestionReading, stated: Amount) -> str:
    """YES or NO where a figure is held against an amount of its own kind; "" where that is in doubt."""
    if asked.bound is None or stated.value < 0 or not asked.is_plain:
        return ""
    if stated.planned and asked.is_past:
        return ""
    figure, how = asked.bound
    if figure.percent == "points" or (figure.percent == "percent") != stated.percent:
        return ""
    in_full = stated.scale == 1 and stated.value >= IN_FULL
    if not in_full and (figure.scale == 1) != (stated.scale == 1):
        return ""
    if stated.unit and figure.unit and stated.unit != figure.unit:
        return ""
    return _holds(stated.value * stated.scale, how, figure.value * figure.scale)


def by_move(asked: QuestionReading, before: tuple[int, Amount], after: tuple[int, Amount]) -> str:
    """YES or NO where a question asks whether a figure rose or fell, or is above or below another year's.

    It may also ask by how much. "" where that is in doubt. before, after: the two years in order, each with
    its figure.
    """
    bound = asked.bound
    if bound is not None and not asked.bounds_change:
        return _by_level(asked, bound[1], before, after)
    (first, start), (last, end) = before, after
    direction = asked.direction
    if not direction or min(start.value, end.value) < 0 or not asked.is_plain:
        return ""
    if (start.planned or end.planned) and asked.is_past:
        return ""
    if bound is None:
        base = asked.base_year
        if asked.figures or base not in (None, first, last):
            return ""
        if base is not None and first == last:  # two days of one year: which is held against which?
            return ""
        if base is None and asked.than_something_else:
            return ""
        if base == last:
            start, end = end, start
    change = (end.value - start.value) * direction
    if change <= 0:
        return NO
    return YES if bound is None else _by_size(asked, bound, start, change)


def _by_level(asked: QuestionReading, how: str, before: tuple[int, Amount], after: tuple[int, Amount]) -> str:
    """YES or NO to "fell below 5 billion": the level, if the figure moved that way.

    "Rose at least 2%" may be about the level or the change, and gets neither.
    """
    if how not in ("above", "below") or by_move(asked.unbounded, before, after) != YES:
        return ""
    return by_bound(asked, after[1])


def _by_size(asked: QuestionReading, bound: tuple[Figure, str], start: Amount, change: float) -> str:
    """YES or NO where the size of a change is held against an amount.

    start: what changed. change: in the direction of the question.
    """
    figure, how = bound
    if figure.percent == "percent" and not start.percent:
        return _holds(100 * change / start.value, how, figure.value) if start.value else ""
    if figure.percent == "points":
        in_points = start.percent and figure.unit == "percentage points"
        return _holds(change, how, figure.value) if in_points else ""
    return "" if start.percent else by_bound(asked, replace(start, value=change))


def is_other(label: str, asked: QuestionReading) -> bool:
    """Whether a row is about something else than the question.

    The row says "not", as in "declared and not paid", and the question does not; or the row is a balance,
    and the question asks for a loss or a deficit.
    """
    if denies(label) and not asked.denies:
        return True
    return bool(asked.words & _HOLDING - words_in(label))


def by_plan(asked: QuestionReading, planned: float, actual: float) -> str:
    """YES or NO where a question asks whether a figure is above or below its budget.

    "" where it asks neither, and for a cost in brackets or a loss.
    """
    side = asked.side_of_plan
    if not side or min(planned, actual) < 0:
        return ""
    return YES if (actual - planned) * side > 0 else NO


def _holds(value: float, how: str, bound: float) -> str:
    comparisons = {
        "above": value > bound,
        "below": value < bound,
        "least": value >= bound,
        "most": value <= bound,
    }
    return YES if comparisons[how] else NO


def _years(periods: Iterable[Period]) -> set[int]:
    years: set[int] = set()
    for period in periods:
        years.update((period.start_year, period.end_year))
    return years
