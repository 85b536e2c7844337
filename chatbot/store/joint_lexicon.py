"""Reads the lexicons of several documents as one, with a few operations for all of them together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from chatbot.store.term_scores import K1, Lexicon, Rows

__all__ = ["JointLexicon", "JointRows", "starts_of", "total_frequencies"]

Numbers = NDArray[np.int64]
Floats = NDArray[np.float32]


def starts_of(sizes: Sequence[int]) -> list[int]:
    """Where each of several parts begins that follow each other, and at last where they end."""
    return [0, *accumulate(sizes)]


def total_frequencies(lexicons: Sequence[Lexicon], terms: Collection[str]) -> dict[str, int]:
    """Term -> how many units of all lexicons have it."""
    wanted = list(dict.fromkeys(terms))
    keys = _hashes_of(wanted)
    totals = [0] * len(wanted)
    for lexicon in lexicons:
        for at, first, last in lexicon.places(keys):
            totals[at] += last - first
    return dict(zip(wanted, totals, strict=True))


class JointLexicon:
    """The lexicons of several documents as one, over the terms that it is made for.

    The numbers of a document's units come after those of the documents before it, and may leave room between.
    """

    def __init__(self, lexicons: Sequence[Lexicon], starts: Sequence[int], terms: Collection[str]) -> None:
        """starts: of each lexicon's units, and at last how many there are in all."""
        self._lexicons, self._starts = lexicons, np.array(starts, np.int64)
        wanted = list(dict.fromkeys(terms))
        keys = _hashes_of(wanted)
        # Term -> (lexicon, first posting, past the last).
        self._places: dict[str, list[tuple[int, int, int]]] = {term: [] for term in wanted}
        for number, lexicon in enumerate(lexicons):
            for at, first, last in lexicon.places(keys):
                self._places[wanted[at]].append((number, first, last))
        self._joined: dict[str, tuple[Numbers, Floats]] = {}

    def postings(self, term: str) -> tuple[Numbers, Floats]:
        """The units that have `term`, ascending, and how often; both empty if none has it. Raises KeyError
        for a term that this was not made for.
        """
        if term not in self._joined:
            self._joined[term] = self._join(self._places[term])
        return self._joined[term]

    def frequencies(self, term: str) -> Numbers:
        """(lexicons,) how many units of each have `term`. Raises KeyError as `postings` does."""
        out = np.zeros(len(self._lexicons), np.int64)
        for number, first, last in self._places[term]:
            out[number] = last - first
        return out

    def scores(self, weights: Mapping[str, float]) -> Floats:
        """BM25 of each unit, (units,), for query terms with their inverse document frequencies."""
        size = int(self._starts[-1])
        norms = np.ones(size, np.float32)
        for first, lexicon in zip(self._starts[:-1].tolist(), self._lexicons, strict=True):
            norms[first : first + len(lexicon.norms)] = lexicon.norms
        out = np.zeros(size, np.float32)
        for term, weight in weights.items():
            units, counts = self.postings(term)
            out[units] += weight * counts * (K1 + 1) / (counts + norms[units])
        return out

    def _join(self, places: Sequence[tuple[int, int, int]]) -> tuple[Numbers, Floats]:
        if not places:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        numbers = [number for number, _, _ in places]
        sizes = [last - first for _, first, last in places]
        units = [self._lexicons[number].units[first:last] for number, first, last in places]
        counts = [self._lexicons[number].counts[first:last] for number, first, last in places]
        moved = np.repeat(self._starts[numbers], sizes)
        return np.concatenate(units) + moved, np.concatenate(counts)


class JointRows:
    """The table rows of several documents as one.

    lexicon: see Rows, as are labels and dated.
    pages: (rows,) the page of each row, counted on from one document to the next.
    """

    def __init__(self, rows: Sequence[Rows], first_pages: Sequence[int], terms: Collection[str]) -> None:
        """first_pages: for each document, what is added to the numbers of its pages. terms: see
        JointLexicon.
        """
        starts = starts_of([len(of_one.pages) for of_one in rows])
        self.lexicon = JointLexicon([of_one.lexicon for of_one in rows], starts, terms)
        before = zip(rows, first_pages, strict=True)
        self.pages = np.concatenate([of_one.pages + first for of_one, first in before])
        self.labels = np.concatenate([of_one.labels for of_one in rows])
        self.dated = np.concatenate([of_one.dated for of_one in rows])

    def having(self, term: str, least: float) -> Numbers:
        """The rows, ascending, that have `term` with at least this count."""
        units, counts = self.lexicon.postings(term)
        return units[counts >= least]


def _hashes_of(terms: Sequence[str]) -> Numbers:
    return np.fromiter(map(hash, terms), np.int64, len(terms))
