"""Recalls earlier exchanges of conversations by meaning and by words; writes nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.conversations.conversation_store import Conversations, StoredExchange
from chatbot.memory.conversations.topic_return import goes_back
from chatbot.models.cosine_scale import as_minilms
from chatbot.models.embedders import Embedder
from chatbot.records import Note, Recall
from chatbot.store.vector_index import Vectors
from ingestion.invisible_characters import one_line
from ingestion.language.terms import content_terms, terms

__all__ = ["HistoryLayer", "RecalledExchange", "likeness_of", "rank_exchanges"]

# A text scores by its meaning and by the share of the question's words that it holds, rare ones more. Words
# matter because an embedder blurs names and years.
WORDS_WEIGHT = 0.5
# The score from which an exchange is recalled unasked, and the one if the question refers back to what was
# said. Of question pairs on one subject in the development conversations, nine in ten above the first score
# are about the same thing. The best match of unrelated questions has a median of 0.57.
UNASKED, CALLED = 0.8, 0.35
# The beginning of an answer that says there is none. Recalled unasked it would only mislead, because new
# documents may have come since.
REFUSAL = "not in these documents"
# Characters of a question and of an answer that are compared: as many as are embedded, so that long answers
# do not make long conversations slow.
COMPARED_CHARACTERS = 1_200
# Other conversations that are searched, the latest first.
MOST_OTHERS = 50
# Characters that a note shows of an exchange's question and of its answer.
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 300, 900


@dataclass(frozen=True, slots=True)
class RecalledExchange:
    """An exchange that was found.

    said: the exchange.
    score: cosine plus weighted share of words, 0 to 1 + WORDS_WEIGHT.
    """

    said: StoredExchange
    score: float


def likeness_of(query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """The weighted share of the query's terms that each text holds, in [0, 1].

    A term weighs log(1 + texts / texts that hold it).
    """
    query_terms = content_terms(query)
    if not query_terms:
        return np.zeros(len(texts))
    held = [set(terms(text)).intersection(query_terms) for text in texts]
    counts = Counter(chain.from_iterable(held))
    weights = {term: math.log(1 + len(texts) / max(1, counts[term])) for term in query_terms}
    sums = [sum(map(weights.__getitem__, found)) for found in held]
    return np.array(sums) / sum(weights.values())


def rank_exchanges(
    recall: Recall,
    said: Sequence[StoredExchange],
    vectors: Mapping[tuple[str, int], Vectors],
    *,
    fingerprint: str = "",
) -> list[RecalledExchange]:
    """The exchanges by how much they have to do with the question, best first; of equals, the later first.

    vectors: of the exchanges that have one, made by the embedder with that fingerprint.
    """
    scores = WORDS_WEIGHT * likeness_of(recall.question, list(map(_compared_text, said)))
    if recall.vector is not None:
        found = (vectors.get((exchange.conversation, exchange.number)) for exchange in said)
        cosines = [_cosine(vector, recall.vector) for vector in found]
        scores = scores + np.maximum(0.0, as_minilms(fingerprint, np.array(cosines)))
    order = sorted(range(len(said)), key=lambda at: (-scores[at], -said[at].at))
    return [RecalledExchange(said[at], float(scores[at])) for at in order]


def _compared_text(exchange: StoredExchange) -> str:
    """The text of an exchange that is compared with a question."""
    return f"{exchange.user[:COMPARED_CHARACTERS]}\n{exchange.cited[:COMPARED_CHARACTERS]}"


def _cosine(vector: Vectors | None, query: Vectors) -> float:
    """The cosine of two unit vectors; -1 if there is no vector of this embedder."""
    if vector is None or vector.shape != query.shape:
        return -1.0
    return float(vector @ query)


class HistoryLayer:
    """Recalls exchanges that the prompt does not hold.

    They come from this conversation and, if it allows that, from the owner's other conversations.
    """

    name = "history"

    def __init__(self, conversations: Conversations, embedder: Embedder) -> None:
        """embedder: the one whose vectors are used."""
        self._conversations, self._embedder = conversations, embedder

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall."""
        floor = CALLED if goes_back(recall.question) else UNASKED
        helpful = (
            found.said
            for found in self.find(recall)
            if found.score >= floor and not found.said.assistant.casefold().startswith(REFUSAL)
        )
        return [self._note(said, recall) for said in islice(helpful, n)]

    def find(self, recall: Recall) -> list[RecalledExchange]:
        """Every exchange that may be recalled, best first, whatever its score."""
        store = self._conversations
        said = store.complete(recall.conversation, recall.owner, before=recall.before)
        others = list[str]()
        if store.get(recall.conversation, recall.owner).recalls_others:
            rows = (row for row in store.listed(recall.owner) if not row.private)
            others = [row.id for row in rows if row.id != recall.conversation][:MOST_OTHERS]
            for other in others:
                said += store.complete(other, recall.owner)
        vectors = self.vectors(recall, [recall.conversation, *others])
        return rank_exchanges(recall, said, vectors, fingerprint=self._embedder.fingerprint)

    def vectors(self, recall: Recall, conversations: Sequence[str]) -> Mapping[tuple[str, int], Vectors]:
        """The vectors of the exchanges of these conversations; none if the question has no vector."""
        if recall.vector is None:
            return {}
        return self._conversations.vectors(conversations, self._embedder.fingerprint)

    def _note(self, said: StoredExchange, recall: Recall) -> Note:
        day = time.strftime("%d %B %Y", time.localtime(said.at))
        is_this = said.conversation == recall.conversation
        where = "this conversation" if is_this else "another of your conversations"
        question = one_line(said.user, QUESTION_CHARACTERS)
        answer = one_line(said.cited, ANSWER_CHARACTERS)
        source = f"{where}, exchange {said.number}, {day}"
        return Note(self.name, source, f"Asked: {question} Answered: {answer}")
