"""A question in the form in which pages are scored for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chatbot.records import Understanding
from chatbot.search.question_terms import measures_of, operands_of, terms_of
from chatbot.store.joint_lexicon import JointLexicon
from chatbot.store.term_scores import K1, inverse_frequencies
from ingestion.language.measures import related_words

__all__ = ["ScoredQuestion", "TermWeights"]

# From this share of a question's weight on, the question counts as being about its measures and nothing else.
WHOLE = 0.5
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TermWeights:
    """Inverse document frequencies.

    own: of the question's terms.
    meant: a share of that of other terms that may stand for them.
    """

    own: Mapping[str, float]
    meant: Mapping[str, float]

    def share(self, lexicon: JointLexicon) -> Floats:
        """BM25 of each unit as a share of the most that the question's own terms could score."""
        most = max(sum(self.own.values()) * (K1 + 1), 1e-9)
        scores = lexicon.scores({**self.meant, **self.own})
        shares: Floats = scores / np.float32(most)
        return np.minimum(shares, 1.0)


class ScoredQuestion:
    """A question in the form in which pages are scored for it.

    words: its terms.
    printed: terms by which documents print its measures.
    related: relatives of its own terms.
    of_measures: terms by which its measures are asked for and printed.
    phrases: for each measure the labels of its rows.
    years: those asked for, as terms.
    """

    def __init__(
        self, understanding: Understanding, vector: Floats | None, years: tuple[int, ...] | None = None
    ) -> None:
        self.understanding, self.vector = understanding, vector
        measures = measures_of(understanding)
        self.words = understanding.terms
        self.related = tuple(dict.fromkeys(chain.from_iterable(map(related_words, self.words))))
        phrases = chain.from_iterable(measure.printed for measure in measures)
        self.printed = tuple(dict.fromkeys(chain.from_iterable(phrases)))
        self.of_measures = terms_of(measures)
        # A statement's rows are labelled with the measure itself. Rows for a budget's limits, targets and
        # growth stand in tables of many kinds.
        self.phrases = [measure.printed for measure in operands_of(measures) if measure.kinds]
        if years is None:
            years = understanding.years
        self.years = tuple(map(str, years))

    def shares_of_measures(self, lexicon: JointLexicon, units: Numbers) -> Floats:
        """(documents,) 0-1: how much of the question, by the rarity of its words in each document, is its
        measures. From WHOLE on it counts as all.

        "Spending on the motorway" is about a motorway, "Acme's net income" about net income: a name that is
        on every page says nothing. units: (documents,) how many the lexicon has of each.
        """
        in_all, of_measures = np.zeros(len(units)), np.zeros(len(units))
        for word in dict.fromkeys(self.words):
            if word.isdecimal():
                continue
            rarity = inverse_frequencies(units, lexicon.frequencies(word))
            in_all += rarity
            if word in self.of_measures:
                of_measures += rarity
        return np.minimum(1.0, (of_measures / np.maximum(in_all, 1e-9)) / WHOLE).astype(np.float32)

    def years_in(self, own: Sequence[int]) -> tuple[int, ...]:
        """The years asked for, "last year" being counted from the latest of the document's own years."""
        steps = self.understanding.relative_years
        if not own or not steps or self.understanding.years:
            return self.understanding.years
        latest = max(own)
        return tuple(latest + step for step in steps)

    def of_years(self, years: tuple[int, ...]) -> ScoredQuestion:
        """The same question with these years asked for."""
        if years == self.understanding.years:
            return self
        return ScoredQuestion(self.understanding, self.vector, years)
