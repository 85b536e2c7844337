"""Holds a chat model's figures against what the program worked out from the same pages and put into the
prompt; works out nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.checks.claims import Claim
from chatbot.answer.checks.formulas import find_formulas, is_constant
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
    """What a line of the calculation comes to. words: by which it names its measure; years: of it."""

    figure: Figure
    formula: str
    words: frozenset[str]
    years: frozenset[str]


def against_calculation(
    checks: Sequence[NumberCheck], claims: Sequence[Claim], worked_out: str, views: Collection[PageEvidence]
) -> list[NumberCheck]:
    """The checks with figures that the calculation comes to as derived, and the only one of its measure that
    is none as contradicted.

    worked_out: the program's lines, such as "Operating margin (2024) = 100 × 300 / 2,000 = 15.0%.", "" for
    none: of these only what holds, from operands that stand on the pages.
    """
    results = list(_results(worked_out, views))
    checked = list(checks)
    for index, claim in enumerate(claims):
        found = next((one for one in results if _comes_to(claim, one) and _may_be_of(claim, one)), None)
        if found and checked[index].status not in FINE:
            reason = "the program's own calculation comes to it"
            checked[index] = replace(
                checked[index], status="derived", citation=None, formula=found.formula, reason=reason
            )
    for one in results:
        said = [index for index, claim in enumerate(claims) if _is_of(claim, one)]
        if (
            len(said) == 1
            and checked[said[0]].status == "unsupported"
            and not any(_comes_to(claim, one) for claim in claims)
        ):
            reason = f"the program's own calculation comes to {one.figure.text}: {one.formula}"
            checked[said[0]] = replace(checked[said[0]], status="contradicted", reason=reason)
    return checked


def _results(worked_out: str, views: Collection[PageEvidence]) -> Iterator[_Result]:
    text = _KEYS.sub(lambda key: " " * len(key[0]), worked_out)
    for start, end in sentence_spans(text):
        line = text[start:end]
        figures = find_figures(line)
        for formula in find_formulas(line, figures):
            operands = [figures[at] for at in formula.operands if not is_constant(figures[at])]
            if not operands or not all(
                any(digits_of(one) in view.figures.by_digits for view in views) for one in operands
            ):
                continue
            named = line[: figures[formula.operands[0]].start].partition(" = ")[0].partition(" was ")[0]
            yield _Result(
                figures[formula.result], formula.text, label_words(named), frozenset(_YEAR.findall(named))
            )


def _comes_to(claim: Claim, one: _Result) -> bool:
    """Whether a figure is the result, as exact or rounded; a fall may be told without its minus."""
    mine = claim.figure
    other = one.figure
    if mine.percent != other.percent or mine.decimals + other.decimals == 0:
        return False
    sides = (
        ((mine, other), (replace(mine, value=abs(mine.value)), replace(other, value=abs(other.value))))
        if claim.outflow
        else ((mine, other),)
    )
    return any(same_value(*pair, rounding=True) for pair in sides)


def _may_be_of(claim: Claim, one: _Result) -> bool:
    """Whether a figure's sentence names the result's measure, or nothing at all: "It was 15%"."""
    if len(claim.mention.nearby) > 1:
        said = claim.mention.nearby[-2]
    else:
        said = frozenset[str]()
    return (one.words <= said or not said) and _is_of_year(claim, one)


def _is_of_year(claim: Claim, one: _Result) -> bool:
    years = {str(period.end_year) for period in claim.mention.periods}
    return not (years and one.years and years.isdisjoint(one.years))


def _is_of(claim: Claim, one: _Result) -> bool:
    """Whether a figure is said to be of the result's measure and year, in its kind."""
    if claim.figure.percent != one.figure.percent or claim.figure.percent is None or not one.words:
        return False
    said = (
        claim.mention.nearby[-1] if claim.mention.nearby else frozenset[str]()
    )  # the question may name it, "It was 15%"
    return one.words <= said and _is_of_year(claim, one)
