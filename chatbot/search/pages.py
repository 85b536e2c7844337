"""Scores pages from what their chunks and words score; numbers in, numbers out, no store and no text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEST_COSINE", "CHUNK_WORDS_WEIGHT", "CONTENTS_SHARE", "PAGE_WORDS_WEIGHT", "VECTOR_WEIGHT", "WORST_COSINE", "PageScores", "score_pages"]

Floats = NDArray[np.float32]
# Weights of the three parts, each scaled to about 0-1 by fixed bounds so that a score does not depend on what else was found.
# Vectors weigh most because questions rarely use a document's own words.
VECTOR_WEIGHT = 2.0
CHUNK_WORDS_WEIGHT = 0.5
PAGE_WORDS_WEIGHT = 0.5
# What a page of contents keeps of its score: it names the subject of the question as well as the page that answers, and answers nothing.
CONTENTS_SHARE = 0.5
# Cosines of MiniLM between a question and a passage: unrelated ones lie around 0.1, the best around 0.8.
WORST_COSINE = 0.1
BEST_COSINE = 0.8


@dataclass(frozen=True, slots=True)
class PageScores:
    """One row a page. pages: physical numbers (n,); total, vector, chunk_words, page_words: (n,); best: (n,) ordinal of the best chunk."""

    pages: NDArray[np.int64]
    total: Floats
    vector: Floats
    chunk_words: Floats
    page_words: Floats
    best: NDArray[np.int64]


def score_pages(
    cosines: Floats, chunk_words: Floats, page_words: Floats, chunk_pages: NDArray[np.int64], *, weights: tuple[float, float, float]
) -> PageScores:
    """Scores of the pages that have chunks.

    cosines: (chunks,) in [-1, 1], -1 where there is no vector. chunk_words: (chunks,), page_words: (pages of the document,), both BM25
    as a share of the most the query could score, 0-1. chunk_pages: (chunks,) physical page of each. weights: of the three, in that order.
    """
    vector = np.clip((cosines - WORST_COSINE) / (BEST_COSINE - WORST_COSINE), 0.0, 1.0).astype(np.float32)
    chunk = weights[0] * vector + weights[1] * chunk_words
    order = np.lexsort((-chunk, chunk_pages))
    pages, first = np.unique(chunk_pages[order], return_index=True)
    best = order[first]
    highest_words = np.zeros(len(pages), np.float32)
    np.maximum.at(highest_words, np.searchsorted(pages, chunk_pages), chunk_words)
    highest_vector = np.zeros(len(pages), np.float32)
    np.maximum.at(highest_vector, np.searchsorted(pages, chunk_pages), vector)
    of_page = page_words[pages - 1]
    total = weights[0] * highest_vector + weights[1] * highest_words + weights[2] * of_page
    return PageScores(pages, total.astype(np.float32), highest_vector, highest_words, of_page, best)
