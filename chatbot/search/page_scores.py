"""Scores pages from what their chunks, words, table rows and kinds score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.store.joint_lexicon import JointRows
from chatbot.store.term_scores import BESIDE, LABEL

__all__ = [
    "BEST_COSINE",
    "WEIGHTS",
    "WORST_COSINE",
    "PageScores",
    "ScoreInputs",
    "Weights",
    "measure_rows",
    "rows_about",
    "score_pages",
]

Floats = NDArray[np.float32]
# Cosines of MiniLM between a question and a passage: unrelated ones lie around 0.1, the best around 0.8.
# Those of other embedded models are mapped to these.
WORST_COSINE = 0.1
BEST_COSINE = 0.8
# What the row of a measure keeps of its score where the year asked for heads none of its columns, though
# other years do.
OTHER_YEARS = 0.6
# What a row keeps that shares words with the question only through its caption, sections and heads: it is
# about something else in the same table.
UNLABELLED = 0.4
# The kinds of evidence that are of whole pages.
OF_PAGES = ("page_words", "rows", "measures", "periods", "kinds")
SHARES = ("contents", "boilerplate")


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of evidence adds to a page's score.

    Each is scaled to about 0-1 by fixed bounds, so that a score does not depend on what else was found.
    contents, boilerplate: the share of its score that such a page keeps.
    """

    vector: float = 1.0
    chunk_words: float = 1.0
    page_words: float = 0.5
    rows: float = 0.5
    measures: float = 1.5
    periods: float = 0.2
    kinds: float = 0.6
    neighbours: float = 0.05
    document: float = 1.0
    period_of_document: float = 0.4
    contents: float = 0.5
    boilerplate: float = 0.7

    def only(self, *names: str) -> Weights:
        """These parts alone, and the shares."""
        kept = {}
        for field in fields(self):
            if field.name in names or field.name in SHARES:
                kept[field.name] = getattr(self, field.name)
            else:
                kept[field.name] = 0.0
        return Weights(**kept)


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class ScoreInputs:
    """What speaks for the pages of one document, or of several, whose pages are counted on with an empty one
    after each document.

    chunk_pages: (chunks,) page of each chunk, 1-based.
    cosines: (chunks,) in [-1, 1], -1 where there is no vector.
    chunk_words: (chunks,) BM25 as a share of the most the query could score.
    page_words: (pages,) the same.
    rows, measures, periods, kinds: (pages,), 0-1.
    kept: (pages,) the share of its score that a page of contents or boilerplate keeps.
    """

    chunk_pages: NDArray[np.int64]
    cosines: Floats
    chunk_words: Floats
    page_words: Floats
    rows: Floats
    measures: Floats
    periods: Floats
    kinds: Floats
    kept: Floats


@dataclass(frozen=True, slots=True)
class PageScores:
    """One row for each page that has chunks.

    pages: (n,) counted as in ScoreInputs.
    total: (n,) scores.
    best: (n,) index of the best chunk.
    parts: name -> (n,) what each kind of evidence scores.
    """

    pages: NDArray[np.int64]
    total: Floats
    best: NDArray[np.int64]
    parts: Mapping[str, Floats]


def score_pages(evidence: ScoreInputs, weights: Weights) -> PageScores:
    """Scores of the pages that have chunks: the best chunk, its page's words, rows and kinds, and a little
    of the pages beside it.
    """
    scaled = (evidence.cosines - WORST_COSINE) / (BEST_COSINE - WORST_COSINE)
    vector = np.clip(scaled, 0.0, 1.0).astype(np.float32)
    chunk = weights.vector * vector + weights.chunk_words * evidence.chunk_words
    order = np.lexsort((-chunk, evidence.chunk_pages))
    pages, first = np.unique(evidence.chunk_pages[order], return_index=True)
    of_page = pages - 1
    parts = {
        "vector": _highest(vector, evidence.chunk_pages, pages),
        "chunk_words": _highest(evidence.chunk_words, evidence.chunk_pages, pages),
    }
    total: NDArray[np.floating[Any]] = np.zeros(len(pages), np.float32)
    # What is known of every page, whether its chunks are among those scored or not.
    of_all: Floats = np.zeros(len(evidence.page_words), np.float32)
    for name in OF_PAGES:
        values: Floats = getattr(evidence, name)
        parts[name] = values[of_page]
        of_all = of_all + getattr(weights, name) * values
    for name, part in parts.items():
        total = total + getattr(weights, name) * part
    # Page n stands at n, so that the first and the last have an empty page beside them.
    beside = np.concatenate(([0], of_all, [0]), dtype=np.float32)
    total = total + weights.neighbours * (beside[pages - 1] + beside[pages + 1]) / 2
    kept = (total * evidence.kept[of_page]).astype(np.float32)
    return PageScores(pages, kept, order[first], parts)


def _highest(values: Floats, chunk_pages: NDArray[np.int64], pages: NDArray[np.int64]) -> Floats:
    """(pages,) the highest value of each page's chunks."""
    out = np.zeros(len(pages), np.float32)
    np.maximum.at(out, np.searchsorted(pages, chunk_pages), values)
    return out


def rows_about(rows: JointRows, weights: Mapping[str, float], related: Sequence[str], pages: int) -> Floats:
    """(pages,) 0-1: the best table row of each page by the question's words in its label, which count less
    in its sections, heads and caption.

    weights: term -> its inverse document frequency; related: terms that may stand for one of them in a label.
    """
    count = len(rows.pages)
    shared = np.zeros(count, np.float32)
    labelled = np.zeros(count, bool)
    for term, weight in weights.items():
        units, counts = rows.lexicon.postings(term)
        shared[units] += weight * counts
        labelled[units] |= counts >= LABEL
    for term in related:
        labelled[rows.having(term, LABEL)] = True
    most = np.float32(max(sum(weights.values()), 1e-9))
    scores = np.where(labelled, shared, UNLABELLED * shared) / most
    return _best_of_page(scores.astype(np.float32), rows.pages, pages)


def measure_rows(
    rows: JointRows, wanted: Sequence[Sequence[Sequence[str]]], years: Sequence[str], pages: int
) -> Floats:
    """(pages,) 0-1: how well a page's rows are those of the measures that are wanted, on average over them.

    wanted: for each measure the phrases, as terms, by which rows are labelled; a label that says more than
    its phrase is about something narrower.
    """
    total = np.zeros(pages, np.float32)
    in_year = _share_for_years(rows, years)
    for phrases in wanted:
        scores = np.zeros(len(rows.pages), np.float32)
        for phrase in phrases:
            terms = sorted(set(phrase))
            found = _rows_with(rows, terms)
            fit = np.minimum(1.0, len(terms) / np.maximum(rows.labels[found], 1)) * in_year[found]
            scores[found] = np.maximum(scores[found], fit)
        total += _best_of_page(scores.astype(np.float32), rows.pages, pages)
    return total / np.float32(max(len(wanted), 1))


def _share_for_years(rows: JointRows, years: Sequence[str]) -> NDArray[np.float64]:
    """(rows,) what each row keeps of its score: less where it has columns of years, and none of these."""
    shares = np.ones(len(rows.pages))
    if not years:
        return shares
    in_year = np.zeros(len(rows.pages), bool)
    for year in years:
        in_year[rows.having(year, BESIDE)] = True
    shares[rows.dated & ~in_year] = OTHER_YEARS
    return shares


def _rows_with(rows: JointRows, phrase: Sequence[str]) -> NDArray[np.int64]:
    """The rows whose labels have every term."""
    found = rows.having(phrase[0], LABEL)
    for term in phrase[1:]:
        found = np.intersect1d(found, rows.having(term, LABEL), assume_unique=True)
    return found


def _best_of_page(scores: Floats, row_pages: NDArray[np.int32], pages: int) -> Floats:
    out = np.zeros(pages, np.float32)
    np.maximum.at(out, row_pages - 1, scores)
    return out
