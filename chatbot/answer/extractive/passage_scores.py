"""Scores how likely a passage answers a question, from its words, meaning, figures and form."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from chatbot.evidence.passages import Passage
from chatbot.evidence.text_blocks import ROW_FIGURE, YEAR_SAID
from chatbot.question_reading import read_question
from chatbot.records import Understanding
from ingestion.language.measures import related_words
from ingestion.language.numbers.spelled import find_spelled
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms, terms

__all__ = [
    "WEIGHTS",
    "QuestionProfile",
    "ScoredPassage",
    "score_passages",
    "shared_words",
    "signs_of",
]

# What a related word counts, as a share of the question's word itself.
RELATED_WEIGHT = 0.6
# What a word of the earlier question counts where a follow-up stands behind it.
CARRIED = 0.3
# What a word counts that only a footnote of the passage has.
NOTED = 0.5
# Letters from which a name is not in a file's name by chance.
SHORTEST_CALLED = 4
# Fewer different terms make a fragment of a layout, such as a footer or a chart's legend.
FEWEST_TERMS = 4
# A passage of more words is likely to share some with any question.
MANY_WORDS = 100
# What each sign adds to a passage's log-odds of holding the answer. These values give the greatest likelihood
# over the development and the sample questions. benchmarks/calibrate_passages.py found them; it also leaves
# out one document after the other.
WEIGHTS: Mapping[str, float] = {
    "words": 3.6,
    "head": 0.5,
    "related": 6.5,
    "likeness": 5.5,
    "page": 6.5,
    "no_figure": -2.6,
    "percentage": 1.2,
    "years_in_head": 1.7,
    "other_years": -1.6,
    "label": 3.4,
    "question": -3.7,
    "asks": -2.0,
    "fragment": -2.0,
    "length": -1.0,
    # Set by hand, for hardly any of those questions asks for conditions or reasons. A condition counts as
    # much as most of the words. Likelihood over 142 questions on 14 documents, drawn towards -4, -2 and -1,
    # gives the last three -3.7, -1.9 and -1.1; -5 in place of -4 ranks one more right passage first.
    "condition": 3.5,
    "row_for_reason": -5.0,
    "row_for_prose": -2.0,
    "row_for_list": -1.0,
}
_CONDITION = re.compile(
    r"\b(?:if|unless|provided that|subject to|only (?:where|when|after|for)|in the event|at least one of)\b",
    re.IGNORECASE,
)
# Forms of a question that a sentence answers better than a row.
_FORMS_OF_SENTENCES = ("list", "yes_no", "definition")
_PERCENTAGE = re.compile(r"\d ?(?:%|per ?cent|basis points?|bps|pps|percentage points?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage that may answer.

    passage: its text and place.
    page: its page's score as a share of the best one's, 0-1.
    likeness: its cosine to the question, 0 where there is no measure of it.
    """

    passage: Passage
    page: float
    likeness: float


class QuestionProfile:
    """A question as passages are compared with it.

    weights: how well each of its words tells these passages apart, shares of 1 in all.
    """

    def __init__(
        self,
        asked: Understanding,
        passages: Sequence[Passage],
        follow_up: str = "",
        documents: Collection[str] = (),
    ) -> None:
        """follow_up: the question itself, where the query has an earlier question before it.

        documents: the names of the documents that the passages are of. The name of one does not tell its
        passages apart.
        """
        self.asked = asked
        words = asked.reading.terms_of_answer or read_question(asked.query).terms
        called = _words_of_documents(asked.names, documents)
        self.words = [word for word in words if word not in called] or list(words)
        related = frozenset(other for word in self.words for other in related_words(word))
        self.related = related.difference(self.words)
        self.periods = asked.periods
        self.wants_condition = asked.reading.asks("condition")
        self.wants_reason = asked.form == "reason"
        self.wants_sentence = not self.wants_reason and asked.reading.asks("sentence")
        self.wants_share = asked.reading.asks("share")
        own = set(content_terms(follow_up)) or set(self.words)
        rarity = _rarity(self.words, passages)
        raw = {word: value if word in own else value * CARRIED for word, value in rarity.items()}
        total = sum(raw.values()) or 1.0
        self.weights = {word: weight / total for word, weight in raw.items()}

    def weight_of(self, words: Collection[str]) -> float:
        """The weight of those of the question's words that are among some words."""
        return sum(weight for word, weight in self.weights.items() if word in words)


def _words_of_documents(names: Sequence[str], documents: Collection[str]) -> set[str]:
    """The words of those names of a question that are in a document's name."""
    called: set[str] = set()
    for name in names:
        if any(_is_called(document, name) for document in documents):
            called.update(content_terms(name))
    return called


def _rarity(words: Sequence[str], passages: Sequence[Passage]) -> dict[str, float]:
    """The inverse document frequency of each of some words that a passage has."""
    having: Counter[str] = Counter()
    for passage in passages:
        having.update({*terms(passage.text), *terms(passage.head)})
    return {word: math.log(1 + len(passages) / (0.5 + having[word])) for word in words if having[word]}


def _is_called(document: str, name: str) -> bool:
    """Whether a file's name has a name in it: "Best Buy" in "BESTBUY_2017_10K.pdf"."""
    letters = _letters(name)
    return len(letters) >= SHORTEST_CALLED and letters in _letters(document)


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.casefold()))


def score_passages(question: QuestionProfile, found: Sequence[ScoredPassage]) -> list[float]:
    """The log-odds of each passage but for a common constant: only their differences count."""
    return [_score(signs_of(question, passage)) for passage in found]


def _score(signs: Mapping[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in signs.items())


def signs_of(question: QuestionProfile, found: ScoredPassage) -> dict[str, float]:
    """What speaks for and against a passage, by the names of WEIGHTS; each within 0-1."""
    passage = found.passage
    words = set(terms(passage.text))
    noted = set(terms(" ".join(passage.notes)))
    related = question.related & words
    misses_figure = question.asked.form == "figure" and not _has_figure(question, passage.text, words)
    signs: dict[str, float] = {}
    signs["words"] = question.weight_of(words) + NOTED * question.weight_of(noted - words)
    signs["head"] = question.weight_of(_head_words(passage) - words)
    signs["related"] = min(1.0, len(related) / max(1, len(question.words)))
    signs["likeness"] = min(1.0, max(0.0, found.likeness))
    signs["page"] = found.page
    signs["no_figure"] = float(misses_figure)
    signs["percentage"] = float(question.wants_share and bool(_PERCENTAGE.search(passage.text)))
    signs["years_in_head"] = _years_in_head(question, passage)
    signs["other_years"] = float(_has_other_years(question, passage))
    signs["label"] = _share_of_label(question, passage)
    signs["question"] = float(passage.text.endswith("?"))
    signs["asks"] = float(passage.asks)
    signs["fragment"] = float(_is_fragment(passage, words))
    signs["length"] = min(1.0, len(passage.text.split()) / MANY_WORDS)
    signs["condition"] = 0.0
    if question.wants_condition and _CONDITION.search(passage.text):
        signs["condition"] = min(1.0, 2 * signs["words"])
    signs["row_for_reason"] = float(passage.is_row and question.wants_reason)
    signs["row_for_prose"] = float(passage.is_row and question.wants_sentence)
    signs["row_for_list"] = float(passage.is_row and question.asked.form in _FORMS_OF_SENTENCES)
    return signs


def _head_words(passage: Passage) -> set[str]:
    """The words above a passage and of the heads of its table's columns."""
    words = set(terms(passage.head))
    if passage.table is not None:
        words.update(terms(" ".join(passage.table.heads)))
    return words


def _has_figure(question: QuestionProfile, text: str, words: Collection[str]) -> bool:
    """Whether a passage has a figure that the question has not, or an amount or a time in words."""
    return any(word[0].isdigit() and word not in question.weights for word in words) or any(
        find_spelled(text)
    )


def _years_in_head(question: QuestionProfile, passage: Passage) -> float:
    """How well the periods above a passage fit those asked for, 0-1."""
    heads = [passage.head]
    if passage.table is not None:
        heads += passage.table.heads
    return agreement(question.periods, find_periods(" ".join(heads))) / SAME_PERIOD


def _has_other_years(question: QuestionProfile, passage: Passage) -> bool:
    """Whether a passage is of periods, and of none that the question asks for."""
    if not question.periods:
        return False
    periods = find_periods(passage.text)
    if not periods and not passage.is_row:
        # A sentence that names no period of its own is of its heading's.
        periods = find_periods(passage.head)
    return bool(periods) and not agreement(question.periods, periods)


def _share_of_label(question: QuestionProfile, passage: Passage) -> float:
    """The share of a row's label that the question has; 0 for what is no row."""
    if not passage.is_row:
        return 0.0
    label = passage.row.label if passage.row else ROW_FIGURE.sub(" ", YEAR_SAID.sub(" ", passage.text))
    words = set(terms(label))
    return len(words & question.weights.keys()) / max(1, len(words))


def _is_fragment(passage: Passage, words: Collection[str]) -> bool:
    """Whether a passage is neither a row nor a whole sentence."""
    if passage.is_row:
        return False
    return len(words) < FEWEST_TERMS or not is_finished(passage.text, also=";")


def shared_words(words: Sequence[str], head: str) -> float:
    """How many of the question's words a head has, those that may stand for one of them counted less."""
    own = set(terms(head))
    return sum(_shared_word(word, own) for word in words)


def _shared_word(word: str, own: set[str]) -> float:
    """What a question's word counts in a head with some words: 1, or less where only a related word is."""
    if word in own:
        return 1.0
    return 0.0 if own.isdisjoint(related_words(word)) else RELATED_WEIGHT
