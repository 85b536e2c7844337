"""Knows whether a row, a sentence or a head speaks of the measure and the year that an entry of a table is
for; finds no figure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from chatbot.records import Understanding
from ingestion.language.measures import Measure, find_measures, spelled_out
from ingestion.language.periods import Period, find_periods, periods_agree
from ingestion.language.terms import content_terms, terms

__all__ = ["EXACT", "MeasureQuery", "asks_per_share", "fits", "is_own", "label_names", "names", "speaks_of"]

# The very year asked for. A year may be meant by one of its quarters or by 2025-26; in a table nobody would
# see which.
EXACT = SAME_PERIOD
# Share of a row's label that the measure's own words must be: "Segment operating revenue, other" is no
# "revenue".
LEAST_SHARE = 0.5
# Share of a question's words that a text must have to speak of the same, where the question names no known
# measure.
LEAST_COVERAGE = 0.65
# Words of rows and questions that make neither narrower.
GENERAL = frozenset(
    terms("total net consolidated note amount value figure number level size year fiscal financial annual")
)
# Two figures of one name: a question for the one is not answered by the other.
EITHER = frozenset(terms("basic diluted"))
# What a label says of its unit: "Overall balance, per cent of GDP".
IN_UNITS = re.compile(
    r",? \(?(?:as )?(?:in |a )?(?:per ?cent|%|percentage)(?: of [\w ]{1,20})?\)?\s*$", re.IGNORECASE
)
# Terms from the name of a measure to its figure, and those before the name that may make it another measure:
# "core inflation".
REACH, NARROWING = 12, 3


@dataclass(frozen=True, slots=True)
class MeasureQuery:
    """What is looked for. period: the year asked for, None for none; own: what the document is of, None
    where it does not say.
    """

    understanding: Understanding
    measures: tuple[Measure, ...]
    period: Period | None
    own: Period | None


def label_names(label: str, wanted: MeasureQuery) -> bool:
    """Whether a row's label is the measure's own, not that of a part of it."""
    label = IN_UNITS.sub("", label)
    words = set(terms(label)) - GENERAL
    if not EITHER & set(terms(wanted.understanding.subject)) <= words:
        return False
    if not wanted.measures:
        return names(label, wanted)
    phrases = [set(phrase) - GENERAL or set(phrase) for phrase in _phrases(wanted.measures[0])]
    return any(
        phrase <= set(terms(label)) and len(phrase) >= LEAST_SHARE * len(words | phrase) for phrase in phrases
    )


def names(text: str, wanted: MeasureQuery) -> bool:
    """Whether the text names what is asked for: a measure by one of its names, else that share of the
    question's words.
    """
    own = terms(spelled_out(text))
    if wanted.measures:
        return any(_places(own, phrase) for phrase in _phrases(wanted.measures[0]))
    words = [
        word
        for word in content_terms(wanted.understanding.subject)
        if not word.isdecimal() and word not in GENERAL
    ]
    return bool(words) and sum(word in own for word in words) >= LEAST_COVERAGE * len(words)


def speaks_of(before: str, wanted: MeasureQuery) -> bool:
    """Whether the words before a figure, up to it, are about the measure that is asked for and no other;
    always, where none is known.
    """
    if not wanted.measures:
        return True
    words = terms(spelled_out(before))
    ends = [at + len(phrase) for phrase in _phrases(wanted.measures[0]) for at in _places(words, phrase)]
    if not ends or len(words) - max(ends) > REACH:
        return False
    near = tuple(words[max(0, max(ends) - NARROWING) :])
    return {measure.name for measure in find_measures(near)} <= {wanted.measures[0].name}


def _places(words: Sequence[str], phrase: Sequence[str]) -> list[int]:
    """Where the phrase begins among the words."""
    return [
        at
        for at in range(len(words) - len(phrase) + 1)
        if tuple(words[at : at + len(phrase)]) == tuple(phrase)
    ]


def _phrases(measure: Measure) -> tuple[tuple[str, ...], ...]:
    """What the measure is called; of a ratio not the names of what it is worked out from."""
    if measure.formula:
        return measure.asked
    return (*measure.asked, *measure.printed)


def fits(text: str, wanted: MeasureQuery) -> int:
    """How well the periods of a text agree with the year asked for: as periods_agree, EXACT where none is
    asked for.
    """
    if wanted.period is None:
        return EXACT
    return agreement([wanted.period], find_periods(text))


def is_own(wanted: MeasureQuery) -> bool:
    """Whether the year asked for is the document's own."""
    return (
        wanted.period is not None
        and wanted.own is not None
        and periods_agree(wanted.period, wanted.own) == EXACT
    )


def asks_per_share(wanted: MeasureQuery) -> bool:
    """Whether the measure is an amount for each share, which no heading scales."""
    return bool(wanted.measures) and "per share" in wanted.measures[0].name
