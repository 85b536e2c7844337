"""Packs the terms of a document's chunks, pages and table rows, and scores queries against them."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatbot.store.contents import StoredChunk
from ingestion.language.terms import terms
from ingestion.precedence import giving_way
from ingestion.records import Chunk, Table

__all__ = [
    "DocumentTerms",
    "Lexicon",
    "RowTerms",
    "Rows",
    "inverse_frequencies",
    "inverse_frequency",
    "lexicon_of",
    "pack_terms",
    "row_terms",
    "terms_of",
    "unpack_terms",
]

# Usual values from Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
# section 3.2.
K1 = 1.2
B = 0.75
# The weight of a term by its place in a row: a label says what a row is, headings and sections narrow it, a
# caption belongs to all rows.
LABEL = 1.0
BESIDE = 0.7
CAPTION = 0.5


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Counts of terms over units: chunks, pages or rows.

    hashes: (terms,) of the terms, ascending, as this process hashes strings, which takes an eighth of the
        space of the terms.
    rows: (terms,) index of each term in starts.
    starts: (terms + 1,).
    units, counts: (postings,).
    lengths: (units,) number of terms of each unit.
    norms: (units,) BM25's norms, from the lengths.
    """

    hashes: NDArray[np.int64]
    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    units: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.float32]
    norms: NDArray[np.float32]

    def frequency(self, term: str) -> int:
        """Returns how many units have `term`."""
        at = self._at(term)
        return int(at.stop - at.start)

    def has(self, term: str, unit: int) -> bool:
        """Tells whether the unit has `term`."""
        units = self.units[self._at(term)]
        at = int(np.searchsorted(units, unit))
        return at < len(units) and int(units[at]) == unit

    def places(self, keys: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
        """Yields the terms that there are, as (index in `keys`, first posting, past the last).

        keys: hashes of terms, see `hashes`.
        """
        if not len(self.hashes):
            return
        at = np.minimum(self.hashes.searchsorted(keys), len(self.hashes) - 1)
        (there,) = (self.hashes[at] == keys).nonzero()
        rows = self.rows[at[there]]
        yield from zip(
            there.tolist(), self.starts[rows].tolist(), self.starts[rows + 1].tolist(), strict=True
        )

    @property
    def size(self) -> int:
        """The size in bytes."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    def _at(self, term: str) -> slice:
        """Returns the slice of the postings of `term`, empty if there are none."""
        key = hash(term)
        at = int(self.hashes.searchsorted(key))
        if at == len(self.hashes) or self.hashes[at] != key:
            return slice(0, 0)
        row = self.rows[at]
        return slice(int(self.starts[row]), int(self.starts[row + 1]))


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The terms of one table row.

    page: physical, 1-based.
    beside: terms of the sections above it and of the column headings.
    """

    page: int
    label: Sequence[str]
    beside: Sequence[str]
    caption: Sequence[str]


@dataclass(frozen=True, slots=True)
class Rows:
    """A document's table rows.

    lexicon: its counts are LABEL, BESIDE or CAPTION, the highest that a term has.
    pages: (rows,) physical page of each row.
    labels: (rows,) number of distinct terms of the label.
    dated: (rows,) whether a year stands over or beside the row.
    """

    lexicon: Lexicon
    pages: NDArray[np.int32]
    labels: NDArray[np.int32]
    dated: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DocumentTerms:
    """All terms of a document, by chunks, pages and rows."""

    chunks: Lexicon
    pages: Lexicon
    rows: Rows

    @property
    def size(self) -> int:
        """The approximate size in bytes."""
        return self.chunks.size + self.pages.size + self.rows.lexicon.size


def inverse_frequency(units: int, having: int) -> float:
    """Returns BM25's weight of a term, above 0: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return float(inverse_frequencies(units, having))


def inverse_frequencies(units: Any, having: Any) -> Any:
    """Returns the same for several collections of units, or a term's in each. units, having: (n,) or int."""
    return np.log1p((units - having + 0.5) / (having + 0.5))


def terms_of(chunk: Chunk | StoredChunk) -> list[str]:
    """Returns the terms by which a chunk is found."""
    return terms(f"{chunk.context}\n{chunk.text}")


def row_terms(tables: Mapping[int, Sequence[Table]]) -> list[RowTerms]:
    """Returns the terms of every table row that has a value, in order. tables: by physical page."""
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
    """Packs the terms of chunks, pages and table rows into bytes."""
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
    return _joined(parts)


def lexicon_of(
    words: Sequence[Sequence[str]], pages: Sequence[str], tables: Mapping[int, Sequence[Table]]
) -> bytes:
    """Returns a document's packed lexicon.

    words: terms by chunk, see terms_of.
    pages: the texts of the pages, in order.
    tables: by physical page.
    """
    return pack_terms(words, [terms(page) for page in giving_way(pages)], row_terms(tables))


def unpack_terms(data: bytes) -> DocumentTerms:
    """Unpacks the bytes of pack_terms."""
    chunks, pages, rows, packed = _parts(data, 4)
    numbers = np.frombuffer(zlib.decompress(packed), np.int32).reshape(-1, 3)
    row_pages, labels, dated = np.ascontiguousarray(numbers.T)
    return DocumentTerms(_unpack(chunks), _unpack(pages), Rows(_unpack(rows), row_pages, labels, dated > 0))


def _joined(parts: Sequence[bytes]) -> bytes:
    """Puts parts behind each other, after their sizes."""
    return struct.pack(f">{len(parts)}I", *map(len, parts)) + b"".join(parts)


def _parts(data: bytes, count: int) -> Iterator[bytes]:
    """Takes them apart again."""
    at = 4 * count
    for size in struct.unpack_from(f">{count}I", data):
        yield data[at : at + size]
        at += size


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
    return zlib.compress(_joined(parts), 1)


def _unpack(data: bytes) -> Lexicon:
    joined, starts, units, counts, packed = _parts(zlib.decompress(data), 5)
    words = joined.decode().split("\n") if joined else []
    lengths = np.frombuffer(packed, np.float32)
    norms = K1 * (1 - B + B * lengths / np.float32(max(1.0, lengths.mean() if len(lengths) else 1.0)))
    hashes = np.fromiter(map(hash, words), np.int64, len(words))
    order = np.argsort(hashes)
    return Lexicon(
        hashes[order],
        order.astype(np.int32),
        np.frombuffer(starts, np.int64),
        np.frombuffer(units, np.int32),
        np.frombuffer(counts, np.float32),
        lengths,
        norms,
    )
