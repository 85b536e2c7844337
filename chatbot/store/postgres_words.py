"""Keeps the index of words in a Postgres, for any number of servers, and scores chunks by BM25.

A full text index (GIN) names the chunks that have a word but cannot score them: at 100,000 chunks that takes
170 ms. So what a score needs is kept by word, and read in the order of words from one index.

A chunk's key is version << ORDINAL_BITS | ordinal. A block is 256 chunks of a version: their keys without the
last eight bits.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from chatbot.store.database import Database, Schema, Transaction
from chatbot.store.term_scores import K1, B, inverse_frequency
from chatbot.store.word_index import MOST_TERMS, ORDINAL_BITS

__all__ = [
    "POSTING_BYTES",
    "WORDS",
    "FoundWord",
    "PackedWords",
    "PostgresWords",
    "best_chunks",
    "pack_words",
    "word_number",
]

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


# All that a search reads of a word is in the primary key, and stands together.
# stamp: of the transaction, so that a change of the index can be noticed.
TABLES = """
create table word_version (version bigint primary key, chunks bigint not null, words bigint not null,
    numbers blob not null, stamp bigint not null);
create table posting (word bigint not null, block bigint not null, counts blob not null,
    primary key (word, block) include (counts))
    with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_insert_threshold = 100000);
"""
WORDS = Schema(TABLES, 1)
# Rows in one statement.
ROWS_AT_ONCE = 20_000
# Words whose frequencies are remembered.
MOST_REMEMBERED = 100_000


class PostgresWords:
    """Chunks by their terms; see WordIndex. A change is seen by all servers when it is committed."""

    def __init__(self, database: Database) -> None:
        """database: of the schema WORDS."""
        self._database = database
        self._lock = threading.Lock()
        # Of which state of the index, and word -> number of chunks.
        self._remembered: tuple[object, dict[str, int]] = (None, {})

    def add(self, version: int, chunks: Iterable[Sequence[str]]) -> None:
        """Indexes the terms of a version's chunks, by ordinal from 0, and commits.

        Rows of an earlier attempt are replaced. Raises StoreError.
        """
        packed = pack_words(version, chunks)
        numbers = np.unique(np.array([word for word, _ in packed.postings], np.int64))
        rows = iter(sorted((word, block, bytes(counts)) for (word, block), counts in packed.postings.items()))
        with self._database.write() as changes:
            _delete(changes, version)
            changes.execute(
                "insert into word_version values (?, ?, ?, ?, txid_current())",
                (version, packed.chunks, packed.words, numbers.tobytes()),
            )
            while part := list(islice(rows, ROWS_AT_ONCE)):
                changes.execute(
                    "insert into posting select * from unnest(?::bigint[], ?::bigint[], ?::bytea[])",
                    list(map(list, zip(*part, strict=True))),
                )

    def remove(self, versions: Iterable[int]) -> None:
        """Deletes all rows of these versions and commits. Raises StoreError."""
        for version in versions:
            with self._database.write() as changes:
                _delete(changes, version)

    def search(self, words: Sequence[str], limit: int) -> list[tuple[int, int, float]]:
        """Returns (version, ordinal, BM25 over all documents) of the `limit` best chunks for the terms
        `words`. Raises StoreError.
        """
        _, chunks, length, _ = self._state()
        mean = max(1.0, length / max(1, chunks))
        frequencies = self.frequencies(words)
        return best_chunks(words, frequencies, self._postings, chunks=chunks, length=mean, limit=limit)

    def _postings(self, words: Sequence[str], blocks: Sequence[int] | None) -> dict[str, FoundWord]:
        by_number = {word_number(word): word for word in words}
        if blocks is None:
            where, arguments = "", [list(by_number)]
        else:
            where, arguments = " and block = any(?::bigint[])", [list(by_number), list(blocks)]
        rows = self._database.read(
            "select word, string_agg(int8send(block) || int4send(octet_length(counts)), ''), "
            f"string_agg(counts, '') from posting where word = any(?::bigint[]){where} group by word",
            arguments,
        )
        return {by_number[number]: FoundWord(heads, postings) for number, heads, postings in rows}

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Returns word -> how many chunks of all documents have it. Raises StoreError."""
        state = self._state()
        with self._lock:
            of, known = self._remembered
            if of != state or len(known) > MOST_REMEMBERED:
                known = {}
                self._remembered = state, known
        wanted = set(words)
        by_number = {word_number(word): word for word in wanted - known.keys()}
        if by_number:
            rows = self._database.read(
                "select word, sum(octet_length(counts))::bigint from posting where word = any(?::bigint[]) "
                "group by word",
                (list(by_number),),
            )
            sizes: dict[int, int] = dict(rows)
            known |= {word: sizes.get(number, 0) // POSTING_BYTES for number, word in by_number.items()}
        return {word: known[word] for word in wanted}

    def faults(self) -> list[str]:
        """Returns nothing: the files are the server's."""
        return []

    def close(self) -> None:
        """Closes the database, after the longest running statement."""
        self._database.close()

    def has_deleted(self) -> bool:
        """False: the files are the database's, whose vacuum removes what was deleted."""
        return False

    def count(self) -> int:
        """Returns the number of chunks. Raises StoreError."""
        return self._state()[1]

    def counts(self) -> dict[int, int]:
        """Returns version -> number of its chunks. Raises StoreError."""
        return dict(self._database.read("select version, chunks from word_version where chunks > 0"))

    def _state(self) -> tuple[int, int, int, int]:
        """(versions, chunks, words, latest change) of the whole index."""
        ((versions, chunks, words, stamp),) = self._database.read(
            "select count(*), coalesce(sum(chunks), 0)::bigint, coalesce(sum(words), 0)::bigint, "
            "coalesce(max(stamp), 0) from word_version"
        )
        return versions, chunks, words, stamp


def _delete(changes: Transaction, version: int) -> None:
    """Deletes the rows of a version, found by the words that it has."""
    for (numbers,) in changes.execute(
        "delete from word_version where version = ? returning numbers", (version,)
    ).fetchall():
        words = np.frombuffer(numbers, np.int64)
        for at in range(0, len(words), ROWS_AT_ONCE):
            changes.execute(
                "delete from posting where word = any(?::bigint[]) and block >= ? and block < ?",
                (words[at : at + ROWS_AT_ONCE].tolist(), version << 16, (version + 1) << 16),
            )
