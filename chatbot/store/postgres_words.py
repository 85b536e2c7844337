"""Keeps the index of words in a Postgres, for any number of servers.

A full text index (GIN) names the chunks that have a word but cannot score them: at 100,000 chunks that takes
170 ms. So what a score needs is kept by word, and read in the order of words from one index.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from chatbot.store.database import Database, Schema, Transaction
from chatbot.store.word_postings import POSTING_BYTES, FoundWord, best_chunks, pack_words, word_number

__all__ = ["WORDS", "PostgresWords"]

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
