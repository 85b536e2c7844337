"""The term counts of one document's chunks and pages, packed small, and BM25 over them; knows numbers of terms, not their text's place."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lexicon", "inverse_frequency", "pack_lexicons", "unpack_lexicons"]

# Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.2: usual values.
K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Counts of terms over units (chunks or pages). index: term -> row; starts: (terms + 1,); units, counts: (postings,)."""

    index: Mapping[str, int]
    starts: NDArray[np.int64]
    units: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.float32]

    def frequency(self, term: str) -> int:
        """How many units have `term`."""
        row = self.index.get(term)
        return 0 if row is None else int(self.starts[row + 1] - self.starts[row])

    def has(self, term: str, unit: int) -> bool:
        """Whether the unit has `term`."""
        row = self.index.get(term)
        return row is not None and bool((self.units[self.starts[row] : self.starts[row + 1]] == unit).any())

    def scores(self, weights: Mapping[str, float]) -> NDArray[np.float32]:
        """BM25 of each unit, shape (units,), for query terms with their inverse document frequencies."""
        out = np.zeros(len(self.lengths), np.float32)
        norm = K1 * (1 - B + B * self.lengths / max(1.0, float(self.lengths.mean()))) if len(self.lengths) else self.lengths
        for term, weight in weights.items():
            row = self.index.get(term)
            if row is not None:
                at = slice(self.starts[row], self.starts[row + 1])
                units, counts = self.units[at], self.counts[at]
                out[units] += weight * counts * (K1 + 1) / (counts + norm[units])
        return out


def inverse_frequency(units: int, having: int) -> float:
    """BM25's weight of a term, above 0: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return float(np.log1p((units - having + 0.5) / (having + 0.5)))


def pack_lexicons(chunks: Sequence[Sequence[str]], pages: Sequence[Sequence[str]]) -> bytes:
    """Two lexicons, over the terms of chunks and of pages, as bytes."""
    packed = [_pack(units) for units in (chunks, pages)]
    return struct.pack(">I", len(packed[0])) + packed[0] + packed[1]


def unpack_lexicons(data: bytes) -> tuple[Lexicon, Lexicon]:
    """(over chunks, over pages) from pack_lexicons."""
    (size,) = struct.unpack(">I", data[:4])
    return _unpack(data[4 : 4 + size]), _unpack(data[4 + size :])


def _pack(units: Sequence[Sequence[str]]) -> bytes:
    postings: dict[str, list[tuple[int, int]]] = {}
    for number, unit in enumerate(units):
        for term, count in Counter(unit).items():
            postings.setdefault(term, []).append((number, count))
    words = sorted(postings)
    starts = np.cumsum([0, *(len(postings[word]) for word in words)], dtype=np.int64)
    flat = np.array([pair for word in words for pair in postings[word]], np.int32).reshape(-1, 2)
    lengths = np.array([len(unit) for unit in units], np.float32)
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
    words = parts[0].decode().split("\n") if parts[0] else []
    arrays = (
        np.frombuffer(parts[1], np.int64),
        np.frombuffer(parts[2], np.int32),
        np.frombuffer(parts[3], np.float32),
        np.frombuffer(parts[4], np.float32),
    )
    return Lexicon({word: row for row, word in enumerate(words)}, *arrays)
