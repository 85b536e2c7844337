"""Keeps the two derived indexes, of words and of passages, in step with the catalogue.

A damaged index is rebuilt from the catalogue.
"""

from __future__ import annotations

import logging
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from chatbot.errors import StoreError
from chatbot.models.embedders import Embedder
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog, rest_of
from chatbot.store.database import PostgresPlace, open_database
from chatbot.store.discarding import discard, finish_discarding, folder_beside, put_in_place
from chatbot.store.disk_reserve import DiskFullError
from chatbot.store.index_errors import explaining
from chatbot.store.migration.table_shapes import TableSum, summary_of
from chatbot.store.term_scores import lexicon_of, terms_of
from chatbot.store.vector_index import BATCH, ChromaIndex, IndexDamagedError, IndexedPassage, Place
from chatbot.store.word_index import WordIndex
from ingestion.language.months import MONTH_WORDS
from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["Indexes"]

log = logging.getLogger(__name__)
# Keys of values in the catalogue: the index of vectors that last matched the catalogue; whether documents
# were renamed since; whether files may still hold erased text; the word list by which everything is indexed;
# and the versions that the indexes may hold in their former state.
ALIGNED = "vectors_aligned"
RENAMED = "renamed"
UNSCRUBBED = "unscrubbed"
TERMS = "terms"
REFILLED = "refilled"
# The number of passages read from the catalogue at once.
PASSAGES_READ = 1_000
# Chroma makes unit rows of unit rows, which may change the last bits.
TOLERANCE = 1e-5
# Key of a value in the catalogue: the name of this store where several share a server.
OWNER = "owner"
OWNER_CHARACTERS = 16
Result = TypeVar("Result")


def _tell_nobody(done: int, total: int) -> None:
    return


@cache
def _terms_version() -> str:
    """A digest by which an index sees whether its terms are still those of this program.

    It covers all words that the tables of language change.
    """
    months = (f"{word} {word.capitalize()}-24" for word in sorted(MONTH_WORDS))
    probe = " ".join(
        [
            *months,
            *sorted(STOP_WORDS),
            "FY18 CY2019 2024-25 1,577 9M24 31.12.24 deficits policies the Treasury's",
        ]
    )
    return sha256(" ".join(terms(probe)).encode()).hexdigest()[:16]


def _place_of_vectors(settings: Settings) -> Place:
    if settings.chroma_url:
        from chatbot.store.chroma_server import ChromaServer

        return ChromaServer(settings.chroma_url, settings.chroma_token)
    from chatbot.store.chroma_folder import ChromaFolder

    return ChromaFolder(settings.store / "vectors")


class Indexes:
    """Keyword and vector index of one store.

    Changes happen one at a time, which the library ensures. Any thread may search.
    """

    def __init__(self, catalog: Catalog, settings: Settings, embedder: Embedder) -> None:
        """Opens them on the servers that the settings name, or else in folders of the store.

        Raises StoreError if a folder is not writable or a server cannot be used.
        """
        self._catalog, self._settings, self._embedder = catalog, settings, embedder
        self._folder = settings.store / "keywords"
        # What was found damaged, and rebuilt, until `doctor` has told it.
        self.rebuilt = list[str]()
        if not settings.database:
            finish_discarding(self._folder)
        try:
            self.keywords = self._open_words(self._folder)
        except IndexDamagedError as error:
            self._new_keywords(error)
        fingerprint, dimension = embedder.fingerprint, embedder.dimension
        # Whose collections there are this store's.
        owner = ""
        if settings.chroma_url:
            owner = catalog.meta(OWNER) or catalog.first_meta(OWNER, uuid.uuid4().hex[:OWNER_CHARACTERS])
        self.vectors = ChromaIndex(
            _place_of_vectors(settings), fingerprint=fingerprint, dimension=dimension, owner=owner
        )
        # Whether the index of words has all that the catalogue has; see `look_at_words`.
        self.words_whole = True
        self._aligned = self.vectors.name
        if settings.database and not settings.chroma_url:  # another server of the same store has its own
            self._aligned += f" on {socket.gethostname()} in {settings.store}"
        self.on_this_machine = not owner  # and so in files
        # Whether the nearest passages of Chroma are the nearest of all vectors in the catalogue.
        known = catalog.window_counts(fingerprint, dimension)
        self.complete = catalog.meta(ALIGNED) == self._aligned or not known

    def _open_words(self, folder: Path) -> WordIndex:
        """Opens the index of words, in a folder if not in a Postgres. Raises StoreError."""
        if self._settings.database:
            from chatbot.store.postgres_words import WORDS, PostgresWords

            return PostgresWords(open_database(PostgresPlace(self._settings.database, "words"), WORDS))
        from chatbot.store.keyword_index import KeywordIndex

        return KeywordIndex(folder)

    def look_at_words(self) -> None:
        """Notes whether the index of words is whole, as it may not be after a crash or a loss of files."""
        expected = sum(self._catalog.chunk_counts().values())
        self.words_whole = self._mending_keywords(lambda: self.keywords.count()) == expected

    def align_words(self, told: Callable[[int, int], None] = _tell_nobody) -> None:
        """Adds missing words and deletes surplus ones, from the catalogue alone.

        told: (versions so far, all).
        """
        self._mending_keywords(lambda: self._fill_keywords(self.keywords, told=told))
        self.words_whole = True

    def close(self) -> None:
        """Closes files and connections."""
        self.vectors.close()
        self.keywords.close()

    def add_words(self, version: int, words: Iterable[Sequence[str]]) -> None:
        """Indexes the terms of a version's chunks, by ordinal from 0."""
        rows = list(words)
        if self._catalog.meta(TERMS) is None and not self.keywords.count():
            self._catalog.set_meta(TERMS, _terms_version())  # the first document
        self._mending_keywords(lambda: self.keywords.add(version, rows))

    def add_vectors(self, version: int, ordinals: Sequence[int]) -> None:
        """Indexes passages whose vectors are already in the catalogue. ordinals: ascending."""
        self._mending_vectors(lambda: self.vectors.upsert(self._passages(version, ordinals)))

    def follow(self, version: int, words: Sequence[Sequence[str]]) -> None:
        """Replaces the words of a version that was refilled. Its vectors stay until `settled`.

        words: the terms of its chunks, by ordinal from 0.
        """
        self._mending_keywords(lambda: self.keywords.add(version, words))

    def settled(self, version: int) -> None:
        """Deletes vectors that a refilled version does not have any more. The indexes then have all of it."""
        if self.vectors.exists():
            self._mending_vectors(partial(self._trim, version))
        self._note_refilled({version}, set())

    def refilling(self, version: int) -> None:
        """Notes that a version is about to be refilled.

        Until `settled` the indexes may hold its former state; they are then updated when the store is opened.
        """
        self._note_refilled(set(), {version})
        self.unaligned()

    def _note_refilled(self, gone: set[int], new: set[int]) -> None:
        def change(noted: str) -> str:
            return " ".join(map(str, sorted({*map(int, noted.split()), *new} - gone)))

        self._catalog.change_meta(REFILLED, change)

    def mend_refilled(self) -> None:
        """Updates the indexes for refills during which the process ended or the indexes failed."""
        for version in sorted(map(int, (self._catalog.meta(REFILLED) or "").split())):
            if not self._catalog.database.claim(rest_of(version)):
                continue  # it is refilled just now
            try:
                if version in self._catalog.chunk_counts():
                    self.follow(version, [terms_of(chunk) for chunk in self._catalog.chunks(version)])
                    if self.vectors.exists():
                        self._mending_vectors(partial(self._replace_vectors, version))
                self.settled(version)
            finally:
                self._catalog.database.release(rest_of(version))

    def _replace_vectors(self, version: int) -> None:
        self.vectors.upsert(self._passages(version))
        self._trim(version)

    def _trim(self, version: int) -> None:
        kept = {key for passage in self._passages(version) for key, *_ in passage.records()}
        self.vectors.trim(version, kept)

    def unaligned(self) -> None:
        """Notes that vectors are about to change. Until `align`, Chroma may differ from the catalogue."""
        if self._catalog.meta(ALIGNED):
            self._catalog.set_meta(ALIGNED, "")

    def remove(self, versions: Sequence[int]) -> None:
        """Deletes all rows of these versions, of every embedder. `scrub` removes the rest from the files."""
        self.unscrubbed()
        self._mending_keywords(lambda: self.keywords.remove(versions))
        if self.vectors.exists():
            self._mending_vectors(lambda: self.vectors.remove(versions))
            self._mending_vectors(lambda: self.vectors.drop_others())

    def align(self, renewed: Callable[[int], None] = lambda version: None) -> None:
        """Adds missing rows to both indexes and deletes surplus ones, from the catalogue alone.

        renewed: called with each version whose terms were made again: all of them if the word list has
            changed.
        """
        self.mend_refilled()
        if self._catalog.meta(TERMS) != _terms_version():
            versions = sorted(self._catalog.chunk_counts())
            if versions:
                log.warning(
                    "The word lists changed since these %s documents were indexed. They are being indexed "
                    "again.",
                    len(versions),
                )
            for version in versions:
                words = [terms_of(chunk) for chunk in self._catalog.chunks(version)]
                texts, tables = self._catalog.page_texts(version), self._catalog.tables(version)
                self._catalog.new_lexicon(version, lexicon_of(words, texts, tables))
                renewed(version)
            if self.keywords.count():
                self._new_keywords(None)
            self._catalog.set_meta(TERMS, _terms_version())
        self.align_words()
        if self._catalog.meta(RENAMED) and self.vectors.exists():
            self._mending_vectors(self._align_names)
        if self._catalog.meta(ALIGNED) != self._aligned or not self.vectors.exists():
            self._mending_vectors(self._align_vectors)
            self.complete = True
            if not self._catalog.unfinished(self._embedder.fingerprint):
                self._mending_vectors(lambda: self.vectors.drop_others())
                self.found_equal()

    def renamed(self) -> None:
        """Notes that documents were renamed. Until `align`, Chroma's passages may have the former names."""
        self._catalog.set_meta(RENAMED, "1")

    def unscrubbed(self) -> None:
        """Notes that something is about to be erased, so `scrub` is due, in this process or a later one."""
        self._catalog.set_meta(UNSCRUBBED, "1")

    def scrub(self) -> None:
        """Removes erased text from the files, if due.

        That is text in Chroma's log and unused space, and words in the segments of tantivy. Scrubbing stays
        due if another program reads the catalogue.
        """
        if not self.scrub_is_due():
            return
        if self.keywords.has_deleted():
            self._new_keywords(None)
        if self.vectors.exists():
            try:
                self._mending_vectors(lambda: self.vectors.scrub())
            # If there is no room to rewrite the file, for example, the whole index is deleted.
            except StoreError as error:
                log.warning("The vector index is being rebuilt: %s", error)
                self.give_up_vectors()
        if self._catalog.database.compact():
            self._catalog.set_meta(UNSCRUBBED, "")
        else:
            log.warning(
                "Another program is reading the catalogue. Erased text leaves its log when that ends."
            )

    def scrub_is_due(self) -> bool:
        """Tells whether a file may still hold something that was erased."""
        return bool(self._catalog.meta(UNSCRUBBED))

    def rebuild(self) -> None:
        """Rebuilds both indexes from the catalogue."""
        self._new_keywords(None)
        self._new_vectors(None)
        self.found_equal()

    def give_up_vectors(self) -> None:
        """Deletes the index of vectors to free its disk space; `align` rebuilds it.

        Until then every chunk is scored.
        """
        self.complete = False
        self.vectors.clear()
        self.unaligned()

    def fill_vectors(self, told: Callable[[int, int], None]) -> None:
        """Does the same as `align_words` with the index of vectors."""
        self._mending_vectors(lambda: self._align_vectors(told))

    def found_equal(self) -> None:
        """Notes that a comparison found the index of vectors as the catalogue says it should be."""
        self._catalog.set_meta(ALIGNED, self._aligned)

    def compare_words(self) -> tuple[TableSum, TableSum]:
        """Sums up (version, passages) of the catalogue and of the index. Both count all passages."""
        expected = {version: count for version, count in self._catalog.chunk_counts().items() if count}
        before, after = (
            TableSum(sum(one.values()), summary_of(one.items()).digest)
            for one in (expected, self.keywords.counts())
        )
        return before, after

    def compare_vectors(self, told: Callable[[int, int], None]) -> tuple[TableSum, TableSum]:
        """Sums up (id, vector) of the catalogue and of the index. Vectors that differ by rounding are equal.

        told: of the vectors so far, and of all.
        """
        before, after = (summary_of(self._vectors(told, held=held)) for held in (False, True))
        return before, TableSum(self.vectors.count(), after.digest)

    def _vectors(self, told: Callable[[int, int], None], *, held: bool) -> Iterator[tuple[str, bytes]]:
        counts = self._catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        done = 0
        for version in counts:
            records = (record for passage in self._passages(version) for record in passage.records())
            while batch := {key: vector for key, vector, _, _ in islice(records, BATCH)}:
                there = self.vectors.held(list(batch)) if held else batch
                for key, vector in batch.items():
                    if key in there:
                        same = not held or np.allclose(there[key], vector, rtol=0, atol=TOLERANCE)
                        yield key, (vector if same else there[key]).tobytes()
                done += len(batch)
                told(done, sum(counts.values()))

    def differences(self) -> list[str]:
        """Describes how the indexes differ from the catalogue; nothing if they agree. Raises
        IndexDamagedError.
        """
        if found := [*self.keywords.faults(), *self.vectors.faults()]:
            return found
        windows = self._catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        held = self.vectors.counts() if self.vectors.exists() else {}
        return [
            *_differing("keyword", "chunks", self._catalog.chunk_counts(), self.keywords.counts()),
            *_differing("vector", "vectors", windows, held),
        ]

    def _fill_keywords(
        self, keywords: WordIndex, *, anew: bool = False, told: Callable[[int, int], None] = _tell_nobody
    ) -> None:
        """Adds what is missing and deletes what is surplus. anew: whether to replace all that is there."""
        expected = self._catalog.chunk_counts()
        if not anew and keywords.count() == sum(expected.values()):  # `differences` looks closer
            return
        held = keywords.counts()
        if gone := set(held) - set(expected):
            keywords.remove(sorted(gone))
        for done, (version, count) in enumerate(expected.items(), 1):
            if anew or held.get(version, 0) != count:
                keywords.add(version, [terms_of(chunk) for chunk in self._catalog.chunks(version)])
            told(done, len(expected))

    def _align_vectors(self, told: Callable[[int, int], None] = _tell_nobody) -> None:
        known = self._catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        if self.vectors.count() == sum(known.values()):
            return
        held = self.vectors.counts()
        self.vectors.remove(sorted(set(held) - set(known)))
        for done, (version, windows) in enumerate(known.items(), 1):
            if held.get(version, 0) != windows:
                self._replace_vectors(version)
            told(done, len(known))

    def _align_names(self) -> None:
        for version, name in self.vectors.names(self._catalog.chunk_counts()).items():
            if name != self._catalog.name_of(version):
                self.unscrubbed()
                self.vectors.upsert(self._passages(version))
        self._catalog.set_meta(RENAMED, "")

    def _passages(self, version: int, ordinals: Sequence[int] | None = None) -> Iterator[IndexedPassage]:
        """Yields passages with vectors from the catalogue: all, or those of `ordinals`, ascending.

        Only some at a time are in memory.
        """
        fingerprint = self._embedder.fingerprint
        dimension = self._embedder.dimension
        name = self._catalog.name_of(version)
        wanted = range(self._catalog.chunk_counts().get(version, 0)) if ordinals is None else ordinals
        for at in range(0, len(wanted), PASSAGES_READ):
            part = wanted[at : at + PASSAGES_READ]
            for chunk, data, label, method in self._catalog.embedded(version, fingerprint, part):
                windows = np.frombuffer(data, np.float32).reshape(-1, dimension)
                yield IndexedPassage(
                    version, chunk.ordinal, windows, chunk.text, name, chunk.page, label, method
                )

    def _mending_keywords(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except IndexDamagedError as error:
            self._new_keywords(error)
            return step()

    def _mending_vectors(self, step: Callable[[], Result]) -> Result:
        try:
            return step()
        except IndexDamagedError as error:
            self._new_vectors(error)
            return step()

    def _new_keywords(self, error: StoreError | None) -> None:
        """Builds the index beside the former one, which searches see until the new one is whole.

        In a Postgres each version can be replaced while the index is used.
        """
        self._warn_of("words", error)
        folder = self._folder
        if self._settings.database:
            self._fill_keywords(self.keywords, anew=True)
        else:
            try:
                self._fill_keywords(self._open_words(folder_beside(folder)), anew=True)
                with explaining("The keyword index", folder):
                    put_in_place(folder)
                self.keywords = self._open_words(folder)
            except DiskFullError as problem:
                log.warning("There is no room for two indexes of words: %s", problem)
                self.words_whole = False
                folder_beside(folder)
                discard(folder)
                self.keywords = self._open_words(folder)
                self._fill_keywords(self.keywords, anew=True)
        self.words_whole = True

    def _new_vectors(self, error: StoreError | None) -> None:
        self.unaligned()
        self.complete = False
        self._warn_of("vectors", error)
        self.vectors.clear()
        self._align_vectors()
        self.complete = True

    def _warn_of(self, what: str, error: StoreError | None) -> None:
        if error is not None:
            self.rebuilt.append(error.message.removesuffix("."))
            log.warning("The index of %s is being rebuilt from the catalogue: %s", what, error.message)


def _differing(index: str, rows: str, expected: Mapping[int, int], held: Mapping[int, int]) -> Iterator[str]:
    """Describes what an index holds otherwise than expected, by version."""
    for version, count in expected.items():
        if held.get(version, 0) != count:
            yield f"the {index} index has {held.get(version, 0)} of {count} {rows} of version {version}"
    for version in held:
        if version not in expected:
            yield f"the {index} index has {rows} of version {version}, which does not exist"
