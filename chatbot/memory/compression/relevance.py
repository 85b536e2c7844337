"""Scores how much each sentence and message of a conversation has to do with a question.

Without a question it scores how informative each is. It has no notion of a budget.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.store.term_scores import K1, B, inverse_frequency
from ingestion.language.months import MONTH_NAME
from ingestion.language.scales import SCALE_WORD
from ingestion.language.terms import content_terms, terms

__all__ = ["Relevance", "Scores", "holds_cited_figure"]

Array = NDArray[np.float64]

# The part of its neighbours' match that a message gets: an answer seldom repeats the words of its question.
NEIGHBOUR = 0.5
# Weights beside the match of words, all in standard deviations over the conversation. A speaker whom the
# question names has mostly said what it asks for.
SPEAKER = 4.0
VECTOR = 1.0
FACTS = 0.25
# What makes a message informative: rare words in its statements, then dates and figures, names, and words in
# the first person.
FIGURES = 0.5
NAMES = 0.4
FIRST_PERSON = 0.3
CITED = 1.0
# Beyond this many standard deviations over the mean, more facts do not make a message more worth keeping.
MOST_DEVIATIONS = 2.0
# A label before a colon is a speaker if at least this many messages have it.
FEWEST_TURNS = 2

SPEAKER_LABEL = re.compile(r"\s*+([^\W\d_][\w.'’-]*+(?: [\w.'’-]++){0,3}+):\s")
FIGURE = re.compile(
    r"\d[\d.,]*+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|once|twice|half"
    r"|last|next|yesterday|today|tomorrow|"
    r"tonight|ago|since|week(?:end)?s?|months?|years?|days?|quarter|morning|(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)day|"
    rf"{SCALE_WORD}|(?!may){MONTH_NAME})\b",
    re.I,
)
# A capital inside a sentence, or a quoted word.
NAME = re.compile(r"(?<=[\w,;:'\"(] )[\"“(]?+[A-Z][\w&'’-]*+|[\"“][A-Z][\w'’-]*+")
FIRST_PERSON_WORD = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|our|us)\b", re.I)
PAGE = re.compile(r"\b(?:pages?|pp?\.) ?\d|\[S\d", re.I)
NUMBER = re.compile(r"\d[\d.,]*+")


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores that are comparable within each array; any numbers.

    messages: one for each message.
    sentences: one for each sentence, all messages' in order.
    """

    messages: Array
    sentences: Array


class Relevance:
    """A conversation that is read once and scored for any number of questions. It remembers no question."""

    def __init__(self, messages: Sequence[Sequence[str]]) -> None:
        """messages: the sentences of each."""
        self._labels = [_label(sentences[0]) if sentences else "" for sentences in messages]
        counts = Counter(label for label in self._labels if label)
        self._speakers = {label for label, count in counts.items() if count >= FEWEST_TURNS}
        self._of = np.repeat(np.arange(len(messages)), [len(sentences) for sentences in messages])
        if len(self._of):
            self._starts = np.flatnonzero(np.diff(self._of, prepend=-1))
        else:
            self._starts = np.zeros(0, int)
        bodies = [
            self._body(sentence, at, place)
            for at, sentences in enumerate(messages)
            for place, sentence in enumerate(sentences)
        ]
        terms_of = [terms(body) for body in bodies]
        self._lengths = np.bincount(self._of, list(map(len, terms_of)), len(messages))
        # For each term the sentences that hold it, ascending, with how often each does, and how many messages
        # hold it.
        self._sentences: dict[str, dict[int, int]] = defaultdict(dict)
        for at, sentence_terms in enumerate(terms_of):
            for term in sentence_terms:
                counts_of_term = self._sentences[term]
                counts_of_term[at] = counts_of_term.get(at, 0) + 1
        message_of = self._of.tolist()
        self._holding = {
            term: len(set(map(message_of.__getitem__, sentences)))
            for term, sentences in self._sentences.items()
        }
        self._facts(bodies, terms_of)

    def score(self, query: str, similarity: Array | None = None) -> Scores:
        """Score all messages and sentences for a question.

        An empty query scores how informative each is. similarity: of the question's vector to each message's,
        on any scale.
        """
        if not query.strip():
            return Scores(self._message_facts + FIRST_PERSON * self._tells, self._sentence_facts)
        folded = query.casefold()
        named = {label for label in self._speakers if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", folded)}
        speaker_terms = {term for label in self._speakers for term in terms(label)}
        sentences = np.zeros(len(self._of))
        messages = np.zeros(len(self._labels))
        for term in content_terms(query):
            if term in speaker_terms or term not in self._holding:
                continue
            at = list(self._sentences[term])
            sentences[at] += inverse_frequency(len(self._of), len(at))
            messages += self._match(term)
        total = _standard(_smooth(messages)) + FACTS * self._message_facts
        if similarity is not None:
            total = total + VECTOR * _standard(np.asarray(similarity, float))
        if named:
            is_named = [label in named for label in self._labels]
            total = total + SPEAKER * np.array(is_named, float)
        of_sentences = _standard(_smooth(sentences)) + FACTS * self._sentence_facts
        return Scores(total, of_sentences)

    def _match(self, term: str) -> Array:
        """One term's part of BM25 for every message."""
        count = len(self._labels)
        occurrences = self._sentences[term]
        frequency = np.bincount(self._of[list(occurrences)], list(occurrences.values()), count)
        mean_length = max(self._lengths.mean(), 1)
        length_norm = 1 - B + B * self._lengths / mean_length
        rarity = inverse_frequency(count, self._holding[term])
        matched: Array = rarity * frequency * (K1 + 1) / (frequency + K1 * length_norm)
        return matched

    def _body(self, sentence: str, at: int, place: int) -> str:
        """The sentence without its speaker's label, which all of the speaker's messages have.

        at: its message. place: among the sentences of that.
        """
        if place or self._labels[at] not in self._speakers:
            return sentence
        label = SPEAKER_LABEL.match(sentence)
        return sentence[label.end() :] if label else sentence

    def _facts(self, bodies: Sequence[str], terms_of: Sequence[Sequence[str]]) -> None:
        """Measure how informative sentences and messages are.

        bodies: every sentence, without labels. terms_of: the terms of each.
        """
        count = len(self._labels)
        rarity = self._rarity(len(bodies))
        states = np.array(["?" not in body and "？" not in body for body in bodies], float)
        rarities = [sum(map(rarity.__getitem__, dict.fromkeys(own_terms))) for own_terms in terms_of]
        rare = states * np.array(rarities)
        figures = states * np.array([len(FIGURE.findall(body)) for body in bodies])
        names = np.array([self._names(body) for body in bodies], float)
        cited = np.array([holds_cited_figure(body) for body in bodies], float)
        tells = np.array([bool(FIRST_PERSON_WORD.search(body)) for body in bodies], float)

        def by_message(values: Array) -> Array:
            return np.bincount(self._of, values, count).astype(float)

        self._tells = np.minimum(by_message(tells), 1)
        facts = _informativeness(by_message(rare), by_message(figures), by_message(names))
        self._message_facts = facts + CITED * np.minimum(by_message(cited), 1)
        self._sentence_facts = _informativeness(rare, figures, names) + CITED * cited

    def _rarity(self, sentence_count: int) -> dict[str, float]:
        """How rare each term is.

        In a single message every term is equally common: what counts there is how many of its sentences hold
        it.
        """
        count = len(self._labels)
        if count > 1:
            return {term: inverse_frequency(count, holding) for term, holding in self._holding.items()}
        return {term: inverse_frequency(sentence_count, len(at)) for term, at in self._sentences.items()}

    def _names(self, sentence: str) -> int:
        found = {
            name.strip('"“(').casefold().removesuffix("'s").removesuffix("’s")
            for name in NAME.findall(sentence)
        }
        return sum(name not in self._speakers and not FIRST_PERSON_WORD.fullmatch(name) for name in found)


def holds_cited_figure(sentence: str) -> bool:
    """Whether the sentence holds a figure and the page that it is on."""
    return bool(PAGE.search(sentence)) and len(NUMBER.findall(sentence)) > 1


def _label(sentence: str) -> str:
    found = SPEAKER_LABEL.match(sentence)
    return found[1].casefold() if found else ""


def _informativeness(rare: Array, figures: Array, names: Array) -> Array:
    return _standard(_capped(rare) + FIGURES * _capped(figures) + NAMES * _capped(names))


def _capped(values: Array) -> Array:
    if not len(values):
        return values
    cap = values.mean() + MOST_DEVIATIONS * values.std()
    return _standard(np.minimum(values, cap))


def _standard(values: Array) -> Array:
    """Mean 0 and deviation 1; all 0 where nothing differs."""
    spread = values.std() if len(values) else 0.0
    standard: Array = (values - values.mean()) / spread if spread > 1e-9 else np.zeros(len(values))
    return standard


def _smooth(values: Array) -> Array:
    smoothed = values.copy()
    smoothed[1:] += NEIGHBOUR * values[:-1]
    smoothed[:-1] += NEIGHBOUR * values[1:]
    return smoothed
