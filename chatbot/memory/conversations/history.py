"""The semantic memory of conversations: finds earlier exchanges by meaning and by words; writes nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.memory.conversations.conversation_store import Conversations, Said
from chatbot.memory.conversations.topic_return import goes_back
from chatbot.models.cosine_scale import as_minilms
from chatbot.models.embedders import Embedder
from chatbot.records import Note, Recall
from chatbot.store.vector_index import Vectors
from ingestion.invisible_characters import one_line
from ingestion.language.terms import content_terms, terms

__all__ = ["HistoryLayer", "RecalledExchange", "likeness_of", "rank_exchanges"]

# Beside its meaning a text counts by the share of the question's words that it holds, rare ones more: names
# and years are what an embedder blurs.
WORDS_WEIGHT = 0.5
# Score from which an exchange is recalled unasked, and where the question itself goes back to what was said.
# Of questions on one subject in the development conversations nine in ten pairs above the first are about the
# same thing; the best match of unrelated ones has a median of 0.57.
UNASKED, CALLED = 0.8, 0.35
# How an answer begins that says there is none; recalled unasked it would only mislead, for documents may have
# come since.
REFUSAL = "not in these documents"
# What is compared of a question and of an answer: as much as is embedded, so that long answers do not make
# long conversations slow.
COMPARED_CHARACTERS = 1_200
# Other conversations that are looked through, the latest first.
MOST_OTHERS = 50
# What a note may take of an exchange's question and of its answer.
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 300, 900


@dataclass(frozen=True, slots=True)
class RecalledExchange:
    """An exchange that was found. score: cosine plus weighed share of words, 0 to 1 + WORDS_WEIGHT."""

    said: Said
    score: float


def likeness_of(query: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Share of the query's terms that each text holds, in [0, 1], each weighed by log(1 + texts / texts
    that hold it).
    """
    wanted = content_terms(query)
    if not wanted:
        return np.zeros(len(texts))
    held = [set(terms(text)).intersection(wanted) for text in texts]
    counts = Counter(term for one in held for term in one)
    weights = {term: math.log(1 + len(texts) / max(1, counts[term])) for term in wanted}
    return np.array([sum(weights[term] for term in one) for one in held]) / sum(weights.values())


def rank_exchanges(
    recall: Recall, said: Sequence[Said], vectors: Mapping[tuple[str, int], Vectors], *, fingerprint: str = ""
) -> list[RecalledExchange]:
    """The exchanges by what they have to do with the question, best first; of equals the later. vectors: of
    those that have one, of the embedder of that fingerprint."""
    words = likeness_of(
        recall.question,
        [f"{one.user[:COMPARED_CHARACTERS]}\n{one.cited[:COMPARED_CHARACTERS]}" for one in said],
    )
    scores = WORDS_WEIGHT * words
    if recall.vector is not None:
        near = [vectors.get((one.conversation, one.number)) for one in said]
        cosines = [
            float(one @ recall.vector) if one is not None and one.shape == recall.vector.shape else -1.0
            for one in near
        ]
        scores = scores + np.maximum(0.0, as_minilms(fingerprint, np.array(cosines)))
    order = sorted(range(len(said)), key=lambda at: (-scores[at], -said[at].at))
    return [RecalledExchange(said[at], float(scores[at])) for at in order]


class HistoryLayer:
    """Recalls exchanges of the conversation that its prompt does not hold, and of the owner's other
    conversations where that is allowed in it.
    """

    name = "history"

    def __init__(self, conversations: Conversations, embedder: Embedder) -> None:
        """embedder: whose vectors count."""
        self._conversations, self._embedder = conversations, embedder

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall."""
        if goes_back(recall.question):
            floor = CALLED
        else:
            floor = UNASKED
        found = [
            one
            for one in self.find(recall)
            if one.score >= floor and not one.said.assistant.casefold().startswith(REFUSAL)
        ]
        return [self._note(one.said, recall) for one in found[:n]]

    def find(self, recall: Recall) -> list[RecalledExchange]:
        """All that may be recalled, best first, whatever its score."""
        said = self._conversations.complete(recall.conversation, recall.owner, before=recall.before)
        others = list[str]()
        if self._conversations.get(recall.conversation, recall.owner).recalls_others:
            rows = [
                row
                for row in self._conversations.listed(recall.owner)
                if row.id != recall.conversation and not row.private
            ]
            others = [row.id for row in rows[:MOST_OTHERS]]
            said += [one for other in others for one in self._conversations.complete(other, recall.owner)]
        return rank_exchanges(
            recall,
            said,
            self.vectors(recall, [recall.conversation, *others]),
            fingerprint=self._embedder.fingerprint,
        )

    def vectors(self, recall: Recall, conversations: Sequence[str]) -> Mapping[tuple[str, int], Vectors]:
        """Those of the exchanges of these conversations; none where the question has none."""
        if recall.vector is not None:
            return self._conversations.vectors(conversations, self._embedder.fingerprint)
        return {}

    def _note(self, said: Said, recall: Recall) -> Note:
        day = time.strftime("%d %B %Y", time.localtime(said.at))
        if said.conversation == recall.conversation:
            where = "this conversation"
        else:
            where = "another of your conversations"
        text = (
            f"Asked: {one_line(said.user, QUESTION_CHARACTERS)} Answered: "
            f"{one_line(said.cited, ANSWER_CHARACTERS)}"
        )
        return Note(self.name, f"{where}, exchange {said.number}, {day}", text)
