"""Finds candidate chunks by terms, over all documents, with tantivy.

The scores used for ranking come from the lexicons.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import tantivy

from chatbot.store.index_errors import REPAIR, IndexDamagedError, explaining
from chatbot.store.plain_files import strange_in
from chatbot.store.word_index import MOST_TERMS, ORDINAL_BITS

__all__ = ["KeywordIndex"]

# One thread and 64 MB hold a 2,000-page document in one segment. More threads would only make more segments.
HEAP_BYTES = 64_000_000
# The checksums of a smaller index are looked at whenever it is opened, in a tenth of a second at most:
# tantivy takes what it reads for sound, and ends in a panic where it is not.
CHECKED_BYTES = 64 * 2**20
# What ends a file: {"crc": its checksum, …} in JSON, the length of that, and a number by which it is known.
FOOTER, KNOWN = struct.Struct("<II"), 1337
# The lists of segments and of files, and what reading one raises that tantivy has not written.
META, MANAGED = "meta.json", ".managed.json"
NOT_WRITTEN = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class KeywordIndex:
    """Chunks by their terms. One writer; searches from any thread see the last commit."""

    def __init__(self, folder: Path) -> None:
        """Opens or creates the index in `folder`. Raises IndexDamagedError, and StoreError if it is not
        writable.
        """
        self.folder = folder
        self._schema = _schema()
        with self._explaining():
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_strange(folder)
            if sum(path.stat().st_size for path in folder.iterdir()) < CHECKED_BYTES:
                for fault in self.faults():
                    raise ValueError(fault)
            self._index = tantivy.Index(self._schema, str(folder))
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
        with self._explaining():
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
        with self._explaining():
            searcher = self._index.searcher()
            return {word: int(searcher.doc_freq("terms", word)) for word in words}

    def close(self) -> None:
        """Does nothing: files are opened for each search."""

    def has_deleted(self) -> bool:
        """Tells whether the files still hold words of deleted chunks.

        tantivy only marks rows as deleted until it merges their segment with others.
        """
        try:
            segments = self._segments()
        except NOT_WRITTEN as error:
            raise IndexDamagedError(f"The keyword index cannot be used: {error}", hint=REPAIR) from error
        return any(segment.get("deletes") for segment in segments)

    def faults(self) -> list[str]:
        """Returns what is wrong with the files of the last commit; each has a checksum at its end."""
        try:
            _refuse_strange(self.folder)
            if not (self.folder / META).exists():
                return []
            segments = {segment["segment_id"].replace("-", "") for segment in self._segments()}
            held = json.loads((self.folder / MANAGED).read_bytes())
            there = [path for path in self.folder.iterdir() if path.name.partition(".")[0] in segments]
            wrong = [path.name for path in there if path.name not in held or not _is_whole(path.read_bytes())]
        except NOT_WRITTEN as error:
            wrong = [str(error)]
        return [f"the keyword index is damaged: {what}" for what in sorted(wrong)]

    def _segments(self) -> list[dict[str, Any]]:
        return list(json.loads((self.folder / META).read_bytes())["segments"])

    def count(self) -> int:
        """Returns the number of chunks."""
        with self._explaining():
            return int(self._index.searcher().num_docs)

    def counts(self) -> dict[int, int]:
        """Returns version -> number of its chunks. Raises IndexDamagedError."""
        with self._explaining():
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
        with self._explaining():
            writer: Any = self._index.writer(HEAP_BYTES, 1)
            # An interrupted commit leaves files with the names that the next one will use.
            writer.garbage_collect_files()
            yield writer
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()

    def _explaining(self) -> AbstractContextManager[None]:
        return explaining("The keyword index", self.folder)


def _refuse_strange(folder: Path) -> None:
    """Raises ValueError for a link or a pipe, which would be waited for, and for a list of files that leads
    out of the folder: tantivy deletes what is in it and in no segment. Raises NOT_WRITTEN.
    """
    for path in strange_in(folder):
        raise ValueError(f"{path.name} is no plain file")
    if (folder / MANAGED).exists():
        for name in json.loads((folder / MANAGED).read_bytes()):
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no name of a file in it")


def _is_whole(data: bytes) -> bool:
    """Whether a file's checksum is that of its content. Raises NOT_WRITTEN."""
    if len(data) < FOOTER.size:
        return False
    length, known = FOOTER.unpack(data[-FOOTER.size :])
    end = len(data) - FOOTER.size - length
    if known != KNOWN or end < 0:
        return False
    return bool(json.loads(data[end : -FOOTER.size])["crc"] == zlib.crc32(data[:end]))


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("version", indexed=True)
    builder.add_unsigned_field("key", fast=True)
    builder.add_text_field("terms", tokenizer_name="terms", index_option="freq")
    return builder.build()
