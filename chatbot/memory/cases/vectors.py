"""The vectors that questions are compared by; keeps none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chatbot.search.fusion import embed_query, mean_vector, worth_searching
from chatbot.search.questions import subject_of
from chatbot.store.embedders import Embedder

__all__ = ["BATCH", "question_vectors"]

Vectors = NDArray[np.float32]
# Questions embedded in one call and kept together, so that progress is seen, an endpoint's batch is used, and a stop loses seconds of work.
BATCH = 256


def question_vectors(embedder: Embedder, questions: Sequence[str]) -> Vectors:
    """Unit rows (n, dimension), each as a question is embedded when it is asked: its subject, of a long one the mean over its pieces. Raises ModelError."""
    subjects = [subject_of(question) for question in questions]
    rows = np.zeros((len(subjects), embedder.dimension), np.float32)
    short = [at for at, text in enumerate(subjects) if len(embedder.split(text)) <= 1]
    if short:
        rows[short] = embedder.embed([subjects[one] for one in short])
    for one in sorted(set(range(len(subjects))).difference(short)):
        rows[one] = mean_vector(worth_searching(embed_query(embedder, subjects[one]).chunks))
    return rows
