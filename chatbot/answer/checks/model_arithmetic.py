"""Compares a chat model's figures with what the program worked out and put into the prompt.

The program works them out from the same pages; nothing is calculated here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.checks.claims import Claim
from chatbot.answer.formulas import find_formulas, is_constant
from chatbot.evidence.figure_names import label_words
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import digits_of
from chatbot.records import FINE, NumberCheck
from ingestion.language.numbers import Figure, find_figures, same_value
from ingestion.language.periods import YEAR
from ingestion.language.sentences import sentence_spans

__all__ = ["against_calculation"]

_YEAR = re.compile(YEAR)
_KEYS = re.compile(r"\[[0-9]{1,2}\]")


@dataclass(frozen=True, slots=True)
class _Result:
    """What a line of the calculation comes to.

    figure: the result.
    formula: the arithmetic as written.
    words: those by which the line names its measure.
    years: those it gives for the measure.
    """

    figure: Figure
    formula: str
    words: frozenset[str]
    years: frozenset[str]


def against_calculation(
    checks: Sequence[NumberCheck], claims: Sequence[Claim], worked_out: str, views: Collection[PageEvidence]
) -> list[NumberCheck]:
    """The checks, with figures that the calculation comes to marked as derived. Where the answer has only one
    figure of a measure, and none that the calculation comes to, that figure is contradicted.

    worked_out: the program's lines, such as "Operating margin (2024) = 100 × 300 / 2,000 = 15.0%.", "" for
    none. Only those count that hold, from operands that stand on the pages.
    """
    results = list(_results(worked_out, views))
    checked = list(checks)
    for index, claim in enumerate(claims):
        if checked[index].status in FINE:
            continue
        found = next((result for result in results if _states(claim, result)), None)
        if found:
            reason = "the program calculates the same figure"
            checked[index] = replace(
                checked[index], status="derived", citation=None, formula=found.formula, reason=reason
            )
    for result in results:
        measured = [index for index, claim in enumerate(claims) if _is_of(claim, result)]
        if len(measured) != 1 or checked[measured[0]].status != "unsupported":
            continue
        if any(_comes_to(claim, result) for claim in claims):
            continue
        index = measured[0]
        reason = f"the program calculates {result.figure.text}: {result.formula}"
        checked[index] = replace(checked[index], status="contradicted", reason=reason)
    return checked


def _results(worked_out: str, views: Collection[PageEvidence]) -> Iterator[_Result]:
    """The results of the lines that hold, from operands that stand on the pages."""
    text = _KEYS.sub(_blank, worked_out)
    for start, end in sentence_spans(text):
        line = text[start:end]
        figures = find_figures(line)
        for formula in find_formulas(line, figures):
            operands = [figures[at] for at in formula.operands if not is_constant(figures[at])]
            if not operands or not all(_stands_on(views, operand) for operand in operands):
                continue
            left_side = line[: figures[formula.operands[0]].start]
            name = left_side.partition(" = ")[0].partition(" was ")[0]
            years = frozenset(_YEAR.findall(name))
            yield _Result(figures[formula.result], formula.text, label_words(name), years)


def _blank(found: re.Match[str]) -> str:
    """Spaces in the length of a match."""
    return " " * len(found[0])


def _stands_on(views: Collection[PageEvidence], figure: Figure) -> bool:
    """Whether one of the pages has a figure's digits."""
    digits = digits_of(figure)
    return any(digits in view.figures.by_digits for view in views)


def _states(claim: Claim, result: _Result) -> bool:
    """Whether a figure is the result, and may be of its measure and year."""
    return _comes_to(claim, result) and _may_be_of(claim, result)


def _comes_to(claim: Claim, result: _Result) -> bool:
    """Whether a figure is the result, as exact or rounded; a fall may be told without its minus."""
    mine = claim.figure
    other = result.figure
    if mine.percent != other.percent or mine.decimals + other.decimals == 0:
        return False
    if same_value(mine, other, rounding=True):
        return True
    if not claim.outflow:
        return False
    return same_value(_unsigned(mine), _unsigned(other), rounding=True)


def _unsigned(figure: Figure) -> Figure:
    return replace(figure, value=abs(figure.value))


def _may_be_of(claim: Claim, result: _Result) -> bool:
    """Whether a figure's sentence names the result's measure, or nothing at all: "It was 15%"."""
    nearby = claim.mention.nearby
    sentence = nearby[-2] if len(nearby) > 1 else frozenset[str]()
    if sentence and not result.words <= sentence:
        return False
    return _is_of_year(claim, result)


def _is_of_year(claim: Claim, result: _Result) -> bool:
    """Whether a figure may be of the result's year: one of the two names none, or both name the same."""
    years = {str(period.end_year) for period in claim.mention.periods}
    if not years or not result.years:
        return True
    return not years.isdisjoint(result.years)


def _is_of(claim: Claim, result: _Result) -> bool:
    """Whether a figure is said to be of the result's measure and year, in its kind."""
    kind = claim.figure.percent
    if kind != result.figure.percent or kind is None or not result.words:
        return False
    # The question may name the measure: "It was 15%".
    nearby = claim.mention.nearby
    words = nearby[-1] if nearby else frozenset[str]()
    return result.words <= words and _is_of_year(claim, result)
