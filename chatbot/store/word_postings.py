"""Packs how often words stand in a version's chunks, and scores chunks by BM25 as tantivy does.

A chunk's key is version << ORDINAL_BITS | ordinal. A block is 256 chunks of a version: their keys without the
last eight bits.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.store.term_scores import K1, B, inverse_frequency
from chatbot.store.word_index import MOST_TERMS, ORDINAL_BITS

__all__ = ["POSTING_BYTES", "FoundWord", "PackedWords", "best_chunks", "pack_words", "word_number"]

BLOCK_BITS = 8
# place: of the chunk in its block. length: of the chunk in words, rounded.
POSTING = np.dtype([("place", "u1"), ("count", "u1"), ("length", "<u2")])
POSTING_BYTES = POSTING.itemsize
# A block, and the bytes of its postings.
HEAD = np.dtype([("block", ">i8"), ("size", ">i4")])
MOST_COUNT, MOST_LENGTH = 255, 65_535
# tantivy knows lengths up to 40 exactly, and of longer ones four bits: these are counted from here.
EXACT_LENGTH = 24
# Words in more chunks than this are read for the blocks that matter alone.
COMMON = 20_000


@dataclass(frozen=True, slots=True)
class PackedWords:
    """The words of a version's chunks.

    postings: (number of the word, block) -> postings.
    chunks: their number.
    words: the number of words in all of them.
    """

    postings: Mapping[tuple[int, int], bytearray]
    chunks: int
    words: int


@dataclass(frozen=True, slots=True)
class FoundWord:
    """The postings of a word, all or those of some blocks.

    heads: bytes of HEAD, one for each block.
    postings: bytes of POSTING, in the order of the blocks.
    """

    heads: bytes
    postings: bytes


# (words, blocks) -> the postings of those that have any, in these blocks, in all for None.
Read = Callable[[Sequence[str], Sequence[int] | None], Mapping[str, FoundWord]]


def word_number(word: str) -> int:
    """Returns the signed 64-bit number that stands for a word."""
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def pack_words(version: int, chunks: Iterable[Sequence[str]]) -> PackedWords:
    """Packs the words of a version's chunks, by ordinal from 0."""
    numbers = dict[str, int]()
    postings = dict[tuple[int, int], bytearray]()
    ordinal, total = -1, 0
    for ordinal, words in enumerate(chunks):
        total += len(words)
        key = version << ORDINAL_BITS | ordinal
        block, place = key >> BLOCK_BITS, ordinal & ((1 << BLOCK_BITS) - 1)
        length = _rounded(len(words)).to_bytes(2, "little")
        for word, count in Counter(words).items():
            number = numbers.get(word)
            if number is None:
                number = numbers[word] = word_number(word)
            packed = bytes((place, min(count, MOST_COUNT))) + length
            postings.setdefault((number, block), bytearray()).extend(packed)
    return PackedWords(postings, ordinal + 1, total)


def best_chunks(
    words: Sequence[str],
    frequencies: Mapping[str, int],
    read: Read,
    *,
    chunks: int,
    length: float,
    limit: int,
) -> list[tuple[int, int, float]]:
    """Returns (version, ordinal, BM25) of the `limit` best chunks for these words, the best first.

    Of a common word only the blocks are read where it can still lift a chunk among the best: MaxScore, Turtle
    and Flood, "Query Evaluation: Strategies and Optimizations" (1995).

    frequencies: word -> the number of chunks that have it. read: gives the postings of words.
    chunks: the number of all chunks. length: of a chunk in words, on average.
    """
    rare = sorted((word for word in words if frequencies[word]), key=frequencies.__getitem__)
    counted = Counter(rare[:MOST_TERMS])
    if not counted:
        return []
    weights = {}
    for word, times in counted.items():
        weights[word] = times * inverse_frequency(chunks, frequencies[word]) * (K1 + 1)
    common = [word for word in list(counted)[1:] if frequencies[word] > COMMON]
    scored = _Scored(weights, length)
    scored.add(read([word for word in counted if word not in common], None))
    for at, word in enumerate(common):
        # A word adds less than its weight.
        scored.keep(limit, sum(weights[left] for left in common[at:]))
        scored.add(read([word], scored.kept))
    return scored.best(limit)


class _Scored:
    """The scores of chunks, word by word.

    kept: the only blocks that count, None for all.
    """

    def __init__(self, weights: Mapping[str, float], length: float) -> None:
        self._weights, self._length = weights, length
        self._blocks = np.zeros(0, np.int64)
        self._scores = np.zeros((0, 1 << BLOCK_BITS))
        self.kept: list[int] | None = None

    def add(self, found: Mapping[str, FoundWord]) -> None:
        """Adds what words give, in the order of the weights."""
        heads = {word: np.frombuffer(found[word].heads, HEAD) for word in self._weights if word in found}
        blocks = np.unique(np.concatenate([self._blocks, *(head["block"] for head in heads.values())]))
        scores = np.zeros((len(blocks), 1 << BLOCK_BITS))
        scores[np.searchsorted(blocks, self._blocks)] = self._scores
        self._blocks, self._scores = blocks, scores
        flat = scores.reshape(-1)
        for word, head in heads.items():
            postings = np.frombuffer(found[word].postings, POSTING)
            starts = np.searchsorted(blocks, head["block"].astype(np.int64)) << BLOCK_BITS
            places = np.repeat(starts, head["size"] // POSTING_BYTES) + postings["place"]
            counts = postings["count"].astype(np.float32)
            lengths = postings["length"].astype(np.float32)
            norms = np.float32(K1) * (1 - B + B * lengths / np.float32(self._length))
            flat[places] += self._weights[word] * counts / (counts + norms)

    def keep(self, limit: int, more: float) -> None:
        """Drops the blocks none of whose chunks can be among the `limit` best, where each chunk can gain less
        than `more`; none if a chunk that has no score yet could.
        """
        there = self._scores[self._scores > 0]
        if len(there) < limit:
            return
        least = np.partition(there, len(there) - limit)[len(there) - limit]
        if more < least:
            kept = self._scores.max(axis=1) >= least - more
            self._blocks, self._scores = self._blocks[kept], self._scores[kept]
            self.kept = self._blocks.tolist()

    def best(self, limit: int) -> list[tuple[int, int, float]]:
        """(version, ordinal, score) of the best chunks."""
        scores = self._scores.reshape(-1)
        at = _highest(scores, limit)
        keys = (self._blocks[at >> BLOCK_BITS] << BLOCK_BITS) | (at & ((1 << BLOCK_BITS) - 1))
        return [
            (key >> ORDINAL_BITS, key & ((1 << ORDINAL_BITS) - 1), score)
            for key, score in zip(keys.tolist(), scores[at].tolist(), strict=True)
        ]


def _highest(scores: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """The places of the `limit` highest scores above 0, the highest first, ties by place."""
    at = np.flatnonzero(scores)
    if len(at) > limit:
        least = np.partition(scores[at], len(at) - limit)[len(at) - limit]
        at = at[scores[at] >= least]
    return at[np.lexsort((at, -scores[at].astype(np.float32)))][:limit]


def _rounded(length: int) -> int:
    """A chunk's length as tantivy keeps it, in one byte."""
    over = min(length, MOST_LENGTH) - EXACT_LENGTH
    lost = max(0, over.bit_length() - 4) if over > 0 else 0
    return EXACT_LENGTH + (over >> lost << lost)
