"""Scores how likely a passage of a page answers a question, from words, meaning, figures and form; picks
nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from chatbot.evidence.figure_names import agreement
from chatbot.evidence.passages import Passage
from chatbot.evidence.text_blocks import ROW_FIGURE, YEAR_SAID
from chatbot.records import Understanding
from ingestion.language.measures import related_words
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms, terms

__all__ = [
    "WEIGHTS",
    "QuestionProfile",
    "ScoredPassage",
    "asks_share",
    "score_passages",
    "shared_words",
    "signs_of",
]

# What a word of the question's relatives counts of the word itself.
RELATED_WEIGHT = 0.6
# What a word of the earlier question counts where a follow-up was put behind it.
CARRIED = 0.3
# Letters of a name from which it is not in a file's name by chance.
SHORTEST_CALLED = 4
# Fewer different terms make a fragment of a layout, such as a footer or a chart's legend.
FEWEST_TERMS = 4
# A passage of more words is likely to share some with any question.
MANY_WORDS = 100
# What each sign adds to a passage's log-odds of being the one that holds the answer: the greatest likelihood
# over the development and the sample questions, found by benchmarks/calibrate_passages.py, which also leaves
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
    # Set by hand, for hardly any of those questions asks for conditions or reasons: as much as most of its
    # words. Likelihood over 142 questions on 14 documents, drawn towards -4, -2 and -1, gives the last three
    # -3.7, -1.9 and -1.1; -5 in place of -4 ranks one more right passage first.
    "condition": 3.5,
    "row_for_reason": -5.0,
    "row_for_prose": -2.0,
    "row_for_list": -1.0,
}
# "How long" asks for a time: what answers is not called long.
_HOW = re.compile(r"\bhow (?:long|often|soon)\b", re.IGNORECASE)
# "Under what conditions" is answered by a sentence that names one.
_ASKS_CONDITION = re.compile(
    r"\b(?:under|on|in) (?:what|which) (?:conditions?|circumstances|cases?|terms)\b|\bconditions\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|provided that|subject to|only (?:where|when|after|for)|in the event|at least one of)\b",
    re.IGNORECASE,
)
# Questions that a sentence answers rather than a row: worth 2 of 185 questions, costs none.
_ASKS_SENTENCE = re.compile(
    (
        r"\b(?:who|whom|where|how (?:do|does|did|can|could|should|will|would)|under what|any"
        r"|what (?:sentence|label|happens?|must|has to|did))\b"
    ),
    re.IGNORECASE,
)
# Worth 2 of 220 questions, costs 1.
_SHARES = re.compile(
    r"percent|per cent|%|share|rate|ratio|slice|fraction|proportion|margin|yield", re.IGNORECASE
)
_PERCENTAGE = re.compile(r"\d ?(?:%|per ?cent|basis points?|bps|pps|percentage points?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage that may answer. page: its page's score as a share of the best one's, 0-1; likeness: its
    cosine to the question, 0 where there is no measure of it."""

    passage: Passage
    page: float
    likeness: float


class QuestionProfile:
    """A question as passages are compared with it. weights: how much each of its words tells these
    passages apart, shares of 1 in all.
    """

    def __init__(
        self,
        asked: Understanding,
        passages: Sequence[Passage],
        follow_up: str = "",
        documents: Collection[str] = (),
    ) -> None:
        """follow_up: what was asked, where the query has an earlier question before it. documents: the names
        of those the passages are of; whom a document is called by tells its passages not apart."""
        self.asked = asked
        words = content_terms(_HOW.sub("how", asked.subject)) or content_terms(asked.query)
        called = {
            word
            for name in asked.names
            if any(_is_called(document, name) for document in documents)
            for word in content_terms(name)
        }
        self.words = [word for word in words if word not in called] or words
        self.related = frozenset(other for word in self.words for other in related_words(word)) - set(
            self.words
        )
        self.periods = asked.periods
        self.wants_condition = bool(_ASKS_CONDITION.search(asked.subject))
        self.wants_reason = asked.form == "reason"
        self.wants_sentence = not self.wants_reason and bool(_ASKS_SENTENCE.search(asked.subject))
        self.wants_share = asks_share(asked.subject)
        having = Counter(
            word for passage in passages for word in {*terms(passage.text), *terms(passage.head)}
        )
        own = set(content_terms(follow_up)) or set(self.words)
        rarity = {
            word: math.log(1 + len(passages) / (0.5 + having[word])) for word in self.words if having[word]
        }
        raw = {word: value * (1.0 if word in own else CARRIED) for word, value in rarity.items()}
        total = sum(raw.values()) or 1.0
        self.weights = {word: weight / total for word, weight in raw.items()}


def _is_called(document: str, name: str) -> bool:
    """Whether a file's name has a name in it: "Best Buy" in "BESTBUY_2017_10K.pdf"."""
    letters = "".join(filter(str.isalpha, name.casefold()))
    return len(letters) >= SHORTEST_CALLED and letters in "".join(filter(str.isalpha, document.casefold()))


def score_passages(question: QuestionProfile, found: Sequence[ScoredPassage]) -> list[float]:
    """The log-odds of each, without a common constant: differences are what they say."""
    return [sum(WEIGHTS[name] * value for name, value in signs_of(question, one).items()) for one in found]


def signs_of(question: QuestionProfile, found: ScoredPassage) -> dict[str, float]:
    """What speaks for and against a passage, by the names of WEIGHTS; each within 0-1."""
    passage = found.passage
    own = set(terms(passage.text))
    head = set(terms(passage.head))
    if passage.table is not None:
        head |= set(terms(" ".join(passage.table.heads)))
    heads = " ".join([passage.head, *(passage.table.heads if passage.table is not None else ())])
    has_figure = any(term[0].isdigit() and term not in question.weights for term in own)
    # What a sentence says of no period of its own is of its heading's.
    said = find_periods(passage.text) or ([] if passage.is_row else find_periods(passage.head))
    if passage.is_row:
        label = set(
            terms(passage.row.label if passage.row else ROW_FIGURE.sub(" ", YEAR_SAID.sub(" ", passage.text)))
        )
    else:
        label = set()
    shared = sum(weight for word, weight in question.weights.items() if word in own)
    whole = passage.is_row or (len(own) >= FEWEST_TERMS and is_finished(passage.text, also=";"))
    return {
        "words": shared,
        "head": sum(weight for word, weight in question.weights.items() if word in head and word not in own),
        "related": min(1.0, len(question.related & own) / max(1, len(question.words))),
        "likeness": min(1.0, max(0.0, found.likeness)),
        "page": found.page,
        "no_figure": float(question.asked.form == "figure" and not has_figure),
        "percentage": float(question.wants_share and bool(_PERCENTAGE.search(passage.text))),
        "years_in_head": float(agreement(question.periods, find_periods(heads)) > 0),
        "other_years": float(bool(question.periods and said) and not agreement(question.periods, said)),
        "label": len(label & question.weights.keys()) / max(1, len(label)),
        "question": float(passage.text.endswith("?")),
        "asks": float(passage.asks),
        "fragment": float(not whole),
        "length": min(1.0, len(passage.text.split()) / MANY_WORDS),
        "condition": min(1.0, 2 * shared)
        if question.wants_condition and _CONDITION.search(passage.text)
        else 0.0,
        "row_for_reason": float(question.wants_reason and passage.is_row),
        "row_for_prose": float(question.wants_sentence and passage.is_row),
        "row_for_list": float(question.asked.form in ("list", "yes_no", "definition") and passage.is_row),
    }


def asks_share(subject: str) -> bool:
    """Whether a question asks for a share or a rate."""
    return _SHARES.search(subject) is not None


def shared_words(words: Sequence[str], head: str) -> float:
    """How many of the question's words a head has, those that may stand for one of them counted less."""
    own = set(terms(head))
    return sum(
        1.0 if word in own else RELATED_WEIGHT if not own.isdisjoint(related_words(word)) else 0.0
        for word in words
    )
