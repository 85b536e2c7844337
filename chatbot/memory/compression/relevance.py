"""PURE: how much each sentence and each message of a conversation has to do with a question, or has to
tell without one; knows no budget.
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

# What a message gets of its neighbours' match: an answer seldom repeats the words of its question.
NEIGHBOUR = 0.5
# Weights beside the match of words, all in standard deviations over the conversation. Who is named in the
# question mostly said it.
SPEAKER = 4.0
VECTOR = 1.0
FACTS = 0.25
# What a message has to tell: rare words of its statements, beside them dates and figures, names, and words of
# who tells of himself.
FIGURES = 0.5
NAMES = 0.4
FIRST_PERSON = 0.3
CITED = 1.0
# Beyond so many standard deviations over the mean, more facts do not make a message more worth keeping.
MOST_DEVIATIONS = 2.0
# A label before a colon is a speaker where so many messages have it.
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
# A capital inside a sentence, or what is quoted.
NAME = re.compile(r"(?<=[\w,;:'\"(] )[\"“(]?+[A-Z][\w&'’-]*+|[\"“][A-Z][\w'’-]*+")
FIRST_PERSON_WORD = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|our|us)\b", re.I)
PAGE = re.compile(r"\b(?:pages?|pp?\.) ?\d|\[S\d", re.I)
NUMBER = re.compile(r"\d[\d.,]*+")


@dataclass(frozen=True, slots=True)
class Scores:
    """messages: one a message. sentences: one a sentence, all messages' in order. Comparable within each,
    any numbers.
    """

    messages: Array
    sentences: Array


class Relevance:
    """A conversation read once, for any number of questions. Reads nothing else, and remembers no
    question.
    """

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
        said = [
            self._body(sentence, at, one)
            for at, sentences in enumerate(messages)
            for one, sentence in enumerate(sentences)
        ]
        found = [terms(sentence) for sentence in said]
        self._lengths = np.bincount(self._of, [len(some) for some in found], len(messages))
        # Of each term the sentences that hold it, ascending, each with how often it does, and how many
        # messages hold it.
        self._sentences: dict[str, dict[int, int]] = defaultdict(dict)
        for at, some in enumerate(found):
            for term in some:
                self._sentences[term][at] = self._sentences[term].get(at, 0) + 1
        of = self._of.tolist()
        self._holding = {
            term: len({of[at] for at in sentences}) for term, sentences in self._sentences.items()
        }
        self._facts(said, found)

    def score(self, query: str, similarity: Array | None = None) -> Scores:
        """With a question; similarity: of its vector to each message's, any scale. An empty query scores
        what each has to tell.
        """
        if not query.strip():
            return Scores(self._message_facts + FIRST_PERSON * self._tells, self._sentence_facts)
        named = {
            label
            for label in self._speakers
            if re.search(rf"(?<!\w){re.escape(label)}(?!\w)", query.casefold())
        }
        names = {term for label in self._speakers for term in terms(label)}
        wanted = [term for term in content_terms(query) if term not in names and term in self._holding]
        sentences = np.zeros(len(self._of))
        messages = np.zeros(len(self._labels))
        for term in wanted:
            at = list(self._sentences[term])
            sentences[at] += inverse_frequency(len(self._of), len(at))
            messages += self._match(term)
        total = _standard(_smooth(messages)) + FACTS * self._message_facts
        if similarity is not None:
            total = total + VECTOR * _standard(np.asarray(similarity, float))
        if named:
            total = total + SPEAKER * np.array([label in named for label in self._labels], float)
        return Scores(total, _standard(_smooth(sentences)) + FACTS * self._sentence_facts)

    def _match(self, term: str) -> Array:
        """One term's part of BM25 for every message."""
        often = self._sentences[term]
        found = np.bincount(self._of[list(often)], list(often.values()), len(self._labels))
        long = 1 - B + B * self._lengths / max(self._lengths.mean(), 1)
        matched: Array = (
            inverse_frequency(len(self._labels), self._holding[term]) * found * (K1 + 1) / (found + K1 * long)
        )
        return matched

    def _body(self, sentence: str, at: int, one: int) -> str:
        """The sentence without its speaker's label, which every message of theirs has."""
        if not one and self._labels[at] in self._speakers:
            label = SPEAKER_LABEL.match(sentence)
        else:
            label = None
        if label:
            return sentence[label.end() :]
        return sentence

    def _facts(self, said: Sequence[str], found: Sequence[Sequence[str]]) -> None:
        """What sentences and messages have to tell. said: every sentence. found: its terms."""
        count = len(self._labels)
        sentences = len(said)
        # In a single message every term is equally common: what counts there is how many of its sentences
        # hold it.
        rarity = {
            term: inverse_frequency(count, holding)
            if count > 1
            else inverse_frequency(sentences, len(self._sentences[term]))
            for term, holding in self._holding.items()
        }
        states = np.array(["?" not in sentence and "？" not in sentence for sentence in said], float)
        rare = states * np.array([sum(rarity[term] for term in dict.fromkeys(some)) for some in found])
        figures = states * np.array([len(FIGURE.findall(sentence)) for sentence in said])
        names = np.array([self._names(sentence) for sentence in said], float)
        cited = np.array([holds_cited_figure(sentence) for sentence in said], float)
        tells = np.array([bool(FIRST_PERSON_WORD.search(sentence)) for sentence in said], float)

        def each(values: Array) -> Array:
            return np.bincount(self._of, values, count).astype(float)

        self._tells = np.minimum(each(tells), 1)
        self._message_facts = _told(each(rare), each(figures), each(names)) + CITED * np.minimum(
            each(cited), 1
        )
        self._sentence_facts = _told(rare, figures, names) + CITED * cited

    def _names(self, sentence: str) -> int:
        found = {
            name.strip('"“(').casefold().removesuffix("'s").removesuffix("’s")
            for name in NAME.findall(sentence)
        }
        return sum(name not in self._speakers and not FIRST_PERSON_WORD.fullmatch(name) for name in found)


def holds_cited_figure(sentence: str) -> bool:
    """Whether the sentence holds a figure and the page it stands on."""
    return bool(PAGE.search(sentence)) and len(NUMBER.findall(sentence)) > 1


def _label(sentence: str) -> str:
    found = SPEAKER_LABEL.match(sentence)
    if found:
        return found[1].casefold()
    return ""


def _told(rare: Array, figures: Array, names: Array) -> Array:
    return _standard(_capped(rare) + FIGURES * _capped(figures) + NAMES * _capped(names))


def _capped(values: Array) -> Array:
    if len(values):
        return _standard(np.minimum(values, values.mean() + MOST_DEVIATIONS * values.std()))
    return values


def _standard(values: Array) -> Array:
    """Mean 0 and deviation 1; all 0 where nothing differs."""
    if len(values):
        spread = values.std()
    else:
        spread = 0.0
    standard: Array
    if spread > 1e-9:
        standard = (values - values.mean()) / spread
    else:
        standard = np.zeros(len(values))
    return standard


def _smooth(values: Array) -> Array:
    smoothed = values.copy()
    smoothed[1:] += NEIGHBOUR * values[:-1]
    smoothed[:-1] += NEIGHBOUR * values[1:]
    return smoothed
