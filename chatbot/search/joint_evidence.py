"""Scores the pages of many documents in one go, in a quarter of the time of one document after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chatbot.search.page_scores import PageScores, ScoreInputs, Weights, measure_rows, rows_about
from chatbot.search.scored_question import ScoredQuestion, TermWeights
from chatbot.store.joint_lexicon import JointLexicon, JointRows, starts_of
from chatbot.store.term_scores import DocumentTerms
from ingestion.language.terms import content_terms
from ingestion.pages.kinds import (
    CONTENTS,
    RISK_FACTORS_OR_BOILERPLATE,
)

__all__ = ["JointDocuments", "KeptDocument", "Places"]

# A question with one of these terms wants the pages that list every danger or clause. For other questions
# such pages keep only a share of their score.
ABOUT_RISKS = frozenset(
    content_terms(
        "risk risks legal litigation lawsuit audit auditor exhibit clause contract agreement signed"
    )
)
Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]
# page -> its kinds.
PageKinds = Mapping[int, Sequence[str]]


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """What is known of a document, and its chunks that are scored.

    kinds: of its pages, by physical number.
    ordinals: (chunks,) ascending, of the chunks.
    pages: (chunks,) physical page of each.
    """

    terms: DocumentTerms
    kinds: PageKinds
    ordinals: Numbers
    pages: Numbers


@dataclass(frozen=True, slots=True)
class Places:
    """Where scored pages are.

    owners: (n,) index of the document.
    pages: (n,) physical page in it.
    ordinals: (n,) of the best chunk.
    """

    owners: Numbers
    pages: Numbers
    ordinals: Numbers


class JointDocuments:
    """Documents whose pages are scored together.

    The pages are counted on from one document to the next, with an empty one after each: its last page stands
    beside no other's first.
    """

    def __init__(self, documents: Sequence[KeptDocument]) -> None:
        """Raises IndexError where a document's chunks are not those of its terms: it was read further
        meanwhile.
        """
        self._documents = documents
        self._terms = [document.terms for document in documents]
        self._chunks = np.array([len(terms.chunks.lengths) for terms in self._terms])
        self._room = np.array([len(terms.pages.lengths) + 1 for terms in self._terms])
        self._before = starts_of(self._room.tolist())
        self._ordinals = np.concatenate([document.ordinals for document in documents])
        self._sizes = [len(document.ordinals) for document in documents]
        self._pages = np.concatenate([document.pages for document in documents])
        if np.any(self._ordinals >= np.repeat(self._chunks, self._sizes)):
            raise IndexError("a chunk without terms")
        if np.any(self._pages >= np.repeat(self._room, self._sizes)):
            raise IndexError("a page without terms")

    def evidence(
        self, question: ScoredQuestion, term_weights: TermWeights, weights: Weights, cosines: Floats
    ) -> ScoreInputs:
        """What speaks for the pages. cosines: of the chunks that are scored, on MiniLM's scale."""
        pages = self._before[-1]
        words = {*term_weights.own, *term_weights.meant, *question.related, *question.years}
        labels = chain.from_iterable(chain.from_iterable(question.phrases))
        chunk_starts = starts_of(self._chunks.tolist())
        by_chunk = JointLexicon([terms.chunks for terms in self._terms], chunk_starts, words)
        by_page = JointLexicon([terms.pages for terms in self._terms], self._before, words)
        rows = JointRows([terms.rows for terms in self._terms], self._before[:-1], words.union(labels))
        of_measures = np.repeat(question.shares_of_measures(by_chunk, self._chunks), self._room)
        kinds = self._kinds()
        of_kind = np.zeros(pages, np.float32)
        of_kind[_places_of(kinds, set(question.understanding.kinds))] = 1.0
        if question.of_measures:
            of_kind = of_measures * of_kind
        boilerplate = weights.boilerplate if ABOUT_RISKS.isdisjoint(question.words) else 1.0
        units = np.repeat(chunk_starts[:-1], self._sizes) + self._ordinals
        return ScoreInputs(
            chunk_pages=np.repeat(self._before[:-1], self._sizes) + self._pages,
            cosines=cosines,
            chunk_words=term_weights.share(by_chunk)[units],
            page_words=term_weights.share(by_page),
            rows=rows_about(rows, term_weights.own, question.related, pages),
            measures=of_measures * measure_rows(rows, question.phrases, question.years, pages),
            periods=_having(by_page, question.years, pages),
            kinds=of_kind,
            kept=_kept(kinds, boilerplate, weights.contents, pages),
        )

    def places_of(self, scored: PageScores) -> Places:
        """Where these pages are."""
        owners = np.searchsorted(self._before, scored.pages - 1, side="right") - 1
        before = np.array(self._before)
        return Places(owners, scored.pages - before[owners], self._ordinals[scored.best])

    def _kinds(self) -> PageKinds:
        kinds = dict[int, Sequence[str]]()
        for document, before in zip(self._documents, self._before[:-1], strict=True):
            kinds.update((before + page, of_page) for page, of_page in document.kinds.items())
        return kinds


def _having(lexicon: JointLexicon, words: Sequence[str], pages: int) -> Floats:
    """(pages,) the share of these words that each page has; 0 without words."""
    out = np.zeros(pages, np.float32)
    for word in words:
        units, _ = lexicon.postings(word)
        out[units] += 1.0 / len(words)
    return out


def _places_of(kinds: PageKinds, wanted: set[str]) -> list[int]:
    """0-based places of the pages that are of a wanted kind."""
    return [page - 1 for page, of_page in kinds.items() if not wanted.isdisjoint(of_page)]


def _kept(kinds: PageKinds, boilerplate: float, contents: float, pages: int) -> Floats:
    """(pages,) the share of its score that each page keeps."""
    out = np.ones(pages, np.float32)
    out[_places_of(kinds, {RISK_FACTORS_OR_BOILERPLATE})] = boilerplate
    out[_places_of(kinds, {CONTENTS})] = contents
    return out
