"""The terms of one document's chunks, pages and table rows, packed small, and scores over them; knows
numbers of terms, not their text's place.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.store.contents import StoredChunk
from ingestion.language.terms import terms
from ingestion.records import Chunk, Table

__all__ = [
    "DocumentTerms",
    "Lexicon",
    "RowTerms",
    "Rows",
    "inverse_frequency",
    "lexicon_of",
    "pack_terms",
    "row_terms",
    "terms_of",
    "unpack_terms",
]

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.2: usual
# values.
K1 = 1.2
B = 0.75
# What a term counts by where it stands of a row: a label says what a row is, heads and sections narrow it, a
# caption is of all rows.
LABEL = 1.0
BESIDE = 0.7
CAPTION = 0.5


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Counts of terms over units: chunks, pages or rows.

    hashes: of the terms, ascending, as this process hashes strings, which takes an eighth of what the terms
    themselves take; rows: (terms,) place of each in starts: (terms + 1,); units, counts: (postings,);
    lengths: (units,) terms of each; norms: (units,) BM25's, by them.
    """

    hashes: array[int]
    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    units: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.float32]
    norms: NDArray[np.float32]

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The units that have `term`, ascending, and how often; both empty where none has."""
        at = self._at(term)
        return self.units[at], self.counts[at]

    def frequency(self, term: str) -> int:
        """How many units have `term`."""
        return len(self.postings(term)[0])

    def has(self, term: str, unit: int) -> bool:
        """Whether the unit has `term`."""
        units = self.units[self._at(term)]
        at = int(np.searchsorted(units, unit))
        return at < len(units) and int(units[at]) == unit

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """BM25 of each unit, shape (units,), for query terms with their inverse document frequencies."""
        out = np.zeros(len(self.lengths), np.float32)
        for term, weight in weights.items():
            units, counts = self.postings(term)
            if len(units):
                out[units] += weight * counts * (K1 + 1) / (counts + self.norms[units])
        return out

    @property
    def size(self) -> int:
        """Bytes."""
        arrays = (self.rows, self.starts, self.units, self.counts, self.lengths, self.norms)
        return self.hashes.itemsize * len(self.hashes) + sum(part.nbytes for part in arrays)

    def _at(self, term: str) -> slice:
        """Where the postings of `term` stand; an empty slice where there are none."""
        key = hash(term)
        at = bisect_left(self.hashes, key)
        if at == len(self.hashes) or self.hashes[at] != key:
            return slice(0, 0)
        row = self.rows[at]
        return slice(int(self.starts[row]), int(self.starts[row + 1]))


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The terms of one table row. page: physical, 1-based; beside: of the sections above it and of the
    column heads.
    """

    page: int
    label: Sequence[str]
    beside: Sequence[str]
    caption: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rows:
    """A document's table rows. lexicon: its counts are LABEL, BESIDE or CAPTION, the most that a term has;
    pages: (rows,) physical page of each; labels: (rows,) how many distinct terms a label has; dated: (rows,)
    whether a year stands over or beside it."""

    lexicon: Lexicon
    pages: NDArray[np.int32]
    labels: NDArray[np.int32]
    dated: NDArray[np.bool_]

    def having(self, term: str, least: float) -> NDArray[np.int32]:
        """The rows, ascending, that have `term` with at least this count."""
        units, counts = self.lexicon.postings(term)
        return units[counts >= least]


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """All terms of a document by what has them."""

    chunks: Lexicon
    pages: Lexicon
    rows: Rows

    @property
    def size(self) -> int:
        """Bytes, about."""
        return self.chunks.size + self.pages.size + self.rows.lexicon.size


def inverse_frequency(units: int, having: int) -> float:
    """BM25's weight of a term, above 0: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return float(np.log1p((units - having + 0.5) / (having + 0.5)))


def terms_of(chunk: Chunk | StoredChunk) -> list[str]:
    """The terms by which a chunk is found."""
    return terms(f"{chunk.context}\n{chunk.text}")


def row_terms(tables: Mapping[int, Sequence[Table]]) -> list[RowTerms]:
    """The terms of every table row that has a value, in order. tables: by physical page."""
    found = []
    for page, on_page in tables.items():
        for table in on_page:
            heads = terms(" ".join(table.heads))
            caption = terms(f"{table.caption} {table.unit}")
            valued = (row for row in table.rows if any(row.cells))
            found += [
                RowTerms(page, terms(row.label), [*terms(row.section), *heads], caption) for row in valued
            ]
    return found


def pack_terms(
    chunks: Sequence[Sequence[str]], pages: Sequence[Sequence[str]], rows: Sequence[RowTerms]
) -> bytes:
    """The terms of chunks, of pages and of table rows, as bytes."""
    counted = [_counts(row) for row in rows]
    numbers = np.array(
        [
            [row.page, len(set(row.label)), any(map(_is_year, counts))]
            for row, counts in zip(rows, counted, strict=True)
        ],
        np.int32,
    )
    parts = [
        _pack([Counter(unit) for unit in chunks]),
        _pack([Counter(unit) for unit in pages]),
        _pack(counted),
        zlib.compress(numbers.tobytes(), 1),
    ]
    return struct.pack(">4I", *map(len, parts)) + b"".join(parts)


def lexicon_of(
    words: Sequence[Sequence[str]], pages: Sequence[str], tables: Mapping[int, Sequence[Table]]
) -> bytes:
    """A document's lexicon as pack_terms packs it. words: see terms_of, by chunk; pages: their texts, in
    order; tables: by physical page.
    """
    return pack_terms(words, [terms(page) for page in pages], row_terms(tables))


def unpack_terms(data: bytes) -> DocumentTerms:
    """What pack_terms packed."""
    sizes = struct.unpack(">4I", data[:16])
    parts, at = [], 16
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    numbers = np.frombuffer(zlib.decompress(parts[3]), np.int32).reshape(-1, 3)
    rows = Rows(_unpack(parts[2]), numbers[:, 0], numbers[:, 1], numbers[:, 2] > 0)
    return DocumentTerms(_unpack(parts[0]), _unpack(parts[1]), rows)


def _counts(row: RowTerms) -> dict[str, float]:
    fields = ((row.caption, CAPTION), (row.beside, BESIDE), (row.label, LABEL))
    return {term: count for of, count in fields for term in of}


def _is_year(term: str) -> bool:
    return len(term) == 4 and term.isdecimal() and term[:2] in {"19", "20"}


def _pack(units: Sequence[Mapping[str, float]]) -> bytes:
    postings: dict[str, list[tuple[int, float]]] = {}
    for number, unit in enumerate(units):
        for term, count in unit.items():
            postings.setdefault(term, []).append((number, count))
    words = sorted(postings)
    starts = np.cumsum([0, *(len(postings[word]) for word in words)], dtype=np.int64)
    flat = np.array([pair for word in words for pair in postings[word]], np.float64).reshape(-1, 2)
    lengths = np.array([sum(unit.values()) for unit in units], np.float32)
    parts = [
        "\n".join(words).encode(),
        starts.tobytes(),
        flat[:, 0].astype(np.int32).tobytes(),
        flat[:, 1].astype(np.float32).tobytes(),
        lengths.tobytes(),
    ]
    return zlib.compress(struct.pack(">5I", *map(len, parts)) + b"".join(parts), 1)


def _unpack(data: bytes) -> Lexicon:
    raw = zlib.decompress(data)
    sizes = struct.unpack(">5I", raw[:20])
    parts, at = [], 20
    for size in sizes:
        parts.append(raw[at : at + size])
        at += size
    if parts[0]:
        words = parts[0].decode().split("\n")
    else:
        words = []
    starts = np.frombuffer(parts[1], np.int64)
    lengths = np.frombuffer(parts[4], np.float32)
    units = np.frombuffer(parts[2], np.int32)
    counts = np.frombuffer(parts[3], np.float32)
    norms = K1 * (1 - B + B * lengths / np.float32(max(1.0, lengths.mean() if len(lengths) else 1.0)))
    hashes = np.fromiter(map(hash, words), np.int64, len(words))
    order = np.argsort(hashes)
    return Lexicon(
        array("q", hashes[order].tobytes()), order.astype(np.int32), starts, units, counts, lengths, norms
    )
