"""Tells whether a row, a sentence or a column head is about the measure and the year of a table's entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from chatbot.records import Understanding
from ingestion.language.figure_words import TOTALS
from ingestion.language.measures import Measure, find_measures, spelled_out
from ingestion.language.periods import Period, find_periods, periods_agree
from ingestion.language.terms import terms

__all__ = ["EXACT", "MeasureQuery", "asks_per_share", "fits", "is_own", "label_names", "names", "speaks_of"]

# Exactly the year of the question. A quarter of it, or 2025-26, may be close enough elsewhere, but in a table
# nobody would see which is meant.
EXACT = SAME_PERIOD
# The share of a row's label that must be the measure's own words: "Segment operating revenue, other" is no
# "revenue".
LEAST_SHARE = 0.5
# The share of a question's words that a text must have to be about the same, where the question names no
# known measure.
LEAST_COVERAGE = 0.65
# Words that make neither a row nor a question narrower.
GENERAL = TOTALS | frozenset(
    terms("net annual note amount value figure number level size year fiscal financial")
)
# Two figures of one name: a question about one is not answered by the other.
EITHER = frozenset(terms("basic diluted"))
# What a label says of its unit: "Overall balance, per cent of GDP".
IN_UNITS = re.compile(
    r",? \(?(?:as )?(?:in |a )?(?:per ?cent|%|percentage)(?: of [\w ]{1,20})?\)?\s*$", re.IGNORECASE
)
# The most terms between the name of a measure and its figure, and the terms before the name that may make it
# another measure: "core inflation".
REACH, NARROWING = 12, 3


@dataclass(frozen=True, slots=True)
class MeasureQuery:
    """What a table's entry is for.

    understanding: of the question.
    measures: those that the question names, most specific first.
    period: the year of the entry, None for none.
    own: the period that the document is of, None where it does not say.
    """

    understanding: Understanding
    measures: tuple[Measure, ...]
    period: Period | None
    own: Period | None


def label_names(label: str, wanted: MeasureQuery) -> bool:
    """Whether a row's label is the measure's own, not that of a part of it."""
    label = IN_UNITS.sub("", label)
    words = set(terms(label)) - GENERAL
    if not EITHER & set(wanted.understanding.reading.terms) <= words:
        return False
    if not wanted.measures:
        return names(label, wanted)
    own = set(terms(label))
    for phrase in _phrases(wanted.measures[0]):
        name = set(phrase) - GENERAL or set(phrase)
        if name <= own and len(name) >= LEAST_SHARE * len(words | name):
            return True
    return False


def names(text: str, wanted: MeasureQuery) -> bool:
    """Whether the text names what the question asks for.

    It has one of the measure's names, or enough of the question's words where the measure is not known.
    """
    own = terms(spelled_out(text))
    if wanted.measures:
        return any(_places(own, phrase) for phrase in _phrases(wanted.measures[0]))
    asked = wanted.understanding.reading.terms
    words = [word for word in asked if not word.isdecimal() and word not in GENERAL]
    if not words:
        return False
    return sum(word in own for word in words) >= LEAST_COVERAGE * len(words)


def speaks_of(before: str, wanted: MeasureQuery) -> bool:
    """Whether the words before a figure are about the measure and no other; True where none is known."""
    if not wanted.measures:
        return True
    words = terms(spelled_out(before))
    measure = wanted.measures[0]
    ends = [at + len(phrase) for phrase in _phrases(measure) for at in _places(words, phrase)]
    if not ends:
        return False
    last = max(ends)
    if len(words) - last > REACH:
        return False
    near = tuple(words[max(0, last - NARROWING) :])
    return all(found.name == measure.name for found in find_measures(near))


def _places(words: Sequence[str], phrase: Sequence[str]) -> list[int]:
    """Where the phrase begins among the words."""
    length = len(phrase)
    starts = range(len(words) - length + 1)
    return [at for at in starts if tuple(words[at : at + length]) == tuple(phrase)]


def _phrases(measure: Measure) -> tuple[tuple[str, ...], ...]:
    """What the measure is called; for a ratio, only what questions call it."""
    if measure.formula:
        return measure.asked
    return (*measure.asked, *measure.printed)


def fits(text: str, wanted: MeasureQuery) -> int:
    """How well the periods of a text agree with the year, as in periods_agree; EXACT where there is none."""
    if wanted.period is None:
        return EXACT
    return agreement([wanted.period], find_periods(text))


def is_own(wanted: MeasureQuery) -> bool:
    """Whether the year is the document's own."""
    return (
        wanted.period is not None
        and wanted.own is not None
        and periods_agree(wanted.period, wanted.own) == EXACT
    )


def asks_per_share(wanted: MeasureQuery) -> bool:
    """Whether the measure is an amount for each share, which no heading scales."""
    return bool(wanted.measures) and "per share" in wanted.measures[0].name
