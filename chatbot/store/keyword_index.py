"""Finds candidate chunks by terms, over all documents, with tantivy.

The scores used for ranking come from the lexicons.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tantivy

from chatbot.store.index_errors import REPAIR, IndexDamagedError, explained, explaining
from chatbot.store.word_index import MOST_TERMS, ORDINAL_BITS

__all__ = ["KeywordIndex"]

# One thread and 64 MB hold a 2,000-page document in one segment. More threads would only make more segments.
HEAP_BYTES = 64_000_000


class KeywordIndex:
    """Chunks by their terms. One writer; searches from any thread see the last commit."""

    def __init__(self, folder: Path) -> None:
        """Opens or creates the index in `folder`. Raises IndexDamagedError, and StoreError if it is not
        writable.
        """
        self.folder = folder
        self._schema = _schema()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, str(folder))
        except (ValueError, OSError) as error:
            raise explained(error, "The keyword index", folder) from error
        self._index.register_tokenizer(
            "terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        )
        self._index.config_reader("manual")

    def add(self, version: int, chunks: Iterable[Sequence[str]]) -> None:
        """Indexes the terms of a version's chunks, by ordinal from 0, and commits.

        Rows of an earlier attempt are replaced.
        """
        with self._writer() as writer:
            self._delete(writer, version)
            for ordinal, words in enumerate(chunks):
                document = tantivy.Document()
                document.add_unsigned("version", version)
                document.add_unsigned("key", version << ORDINAL_BITS | ordinal)
                document.add_text("terms", " ".join(words))
                writer.add_document(document)

    def remove(self, versions: Iterable[int]) -> None:
        """Deletes all rows of these versions and commits."""
        with self._writer() as writer:
            for version in versions:
                self._delete(writer, version)

    def search(self, words: Sequence[str], limit: int) -> list[tuple[int, int, float]]:
        """Returns (version, ordinal, BM25 over all documents) of the `limit` best chunks for the terms
        `words`.

        Raises IndexDamagedError.
        """
        with explaining("The keyword index", self.folder):
            searcher = self._index.searcher()
            rare = sorted(
                (word for word in words if searcher.doc_freq("terms", word)),
                key=lambda word: int(searcher.doc_freq("terms", word)),
            )[:MOST_TERMS]
            if not rare:
                return []
            queries = [
                (tantivy.Occur.Should, tantivy.Query.term_query(self._schema, "terms", word, "freq"))
                for word in rare
            ]
            found = searcher.search(tantivy.Query.boolean_query(queries), limit, count=False)
            keys: list[Any] = searcher.fast_field_values("key", [address for _, address in found.hits])
        return [
            (key >> ORDINAL_BITS, key & ((1 << ORDINAL_BITS) - 1), float(score))
            for key, (score, _) in zip(keys, found.hits, strict=True)
        ]

    def frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Returns term -> how many chunks of all documents have it."""
        searcher = self._index.searcher()
        return {word: int(searcher.doc_freq("terms", word)) for word in words}

    def close(self) -> None:
        """Does nothing: files are opened for each search."""

    def has_deleted(self) -> bool:
        """Tells whether the files still hold words of deleted chunks.

        tantivy only marks rows as deleted until it merges their segment with others.
        """
        try:
            segments = json.loads((self.folder / "meta.json").read_text("utf-8"))["segments"]
        except (OSError, ValueError, KeyError) as error:
            raise IndexDamagedError(f"The keyword index cannot be used: {error}", hint=REPAIR) from error
        return any(segment.get("deletes") for segment in segments)

    def count(self) -> int:
        """Returns the number of chunks."""
        return int(self._index.searcher().num_docs)

    def counts(self) -> dict[int, int]:
        """Returns version -> number of its chunks. Raises IndexDamagedError."""
        with explaining("The keyword index", self.folder):
            searcher = self._index.searcher()
            found = searcher.search(
                tantivy.Query.all_query(), max(1, self.count()), count=False, order_by_field="key"
            )
            keys: list[Any] = searcher.fast_field_values("key", [address for _, address in found.hits])
        return dict(Counter(key >> ORDINAL_BITS for key in keys))

    def _delete(self, writer: Any, version: int) -> None:
        # Deletes by query: delete_documents_by_term makes a signed term of a Python int, and so deletes
        # nothing from an unsigned field.
        writer.delete_documents_by_query(tantivy.Query.term_query(self._schema, "version", version))

    @contextmanager
    def _writer(self) -> Iterator[Any]:
        """Opens a writer and commits its work at the end. Raises IndexDamagedError, StoreError."""
        try:
            writer: Any = self._index.writer(HEAP_BYTES, 1)
            # An interrupted commit leaves files with the names that the next one will use.
            writer.garbage_collect_files()
            yield writer
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()
        except (ValueError, OSError) as error:
            raise explained(error, "The keyword index", self.folder) from error


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("version", indexed=True)
    builder.add_unsigned_field("key", fast=True)
    builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
    return builder.build()
