"""Adds, replaces, removes, restores and lists documents, and keeps catalogue and indexes in step."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import starmap
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import CancelledError, DocumentError, NotFoundError, ProjectError, StoreError, UsageError
from chatbot.models.embedders import LOCAL_FINGERPRINTS, Embedder
from chatbot.settings import PROGRAM, Settings
from chatbot.store.catalog import NAME, Catalog, Stamps, Version, bytes_of, rest_of, vectors_of
from chatbot.store.damage import as_damage
from chatbot.store.database import place_of
from chatbot.store.discarding import delete
from chatbot.store.disk_reserve import Reserve, is_full
from chatbot.store.document_names import known_as
from chatbot.store.documents_folder import BROKEN_OFF, UnaddedFile, note_copies_of, unread
from chatbot.store.indexing import Indexes
from chatbot.store.jobs import AddResult, Job, Phase
from chatbot.store.kept_copies import CopyMetadata, KeptName, copies_of
from chatbot.store.lock import StoreLock
from chatbot.store.mapped_terms import mapped
from chatbot.store.migration.migration_mark import unless_unfinished
from chatbot.store.missing_vectors import EarlyVectors, in_turns, make_vectors
from chatbot.store.store_clock import DAY
from chatbot.store.term_scores import DocumentTerms, unpack_terms
from chatbot.store.vector_index import LeastRecentlyUsed, Matrix, matrix_of
from chatbot.store.version_building import NO_VECTORS, Upload, VersionBuilder, cut_up
from ingestion.invisible_characters import visible
from ingestion.pages.document_facts import STATUSES, as_period
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = ["UNDO_DAYS", "AddResult", "Library", "Progress", "Upload", "no_progress"]

log = logging.getLogger(__name__)
# Days during which a removed document or replaced version can be restored.
UNDO_DAYS = 7
# Bytes of vectors and term counts kept in memory: those of some 200 filings.
CACHE_BYTES = 512 * 2**20
# Bytes of term counts kept on the disk instead, for a store that servers share; and what each document counts
# at least, since a process can map some 60,000 files.
DISK_BYTES, LEAST_TERMS = 16 * 2**30, 2**19
# How often vectors are made for what was read while others were made.
MOST_ROUNDS = 3
# The number of vectors given to Chroma at once.
INDEXED_AT_ONCE = 128
# Seconds between two checks for what another thread or process works at.
LOOK_SECONDS = 0.1
# The most versions whose vectors a process keeps from others at a time.
MOST_CLAIMED = 200
Progress = Callable[[str, str, int, int], None]


def no_progress(document: str, phase: str, done: int, total: int) -> None:
    return


def _never() -> bool:
    return False


def _no_document(name: str, hint: str = f"See `{PROGRAM} list`.") -> NotFoundError:
    return NotFoundError(f"There is no document named {name[:200]!r}.", hint=hint)


class Library:
    """The store, opened by its only owner. Any thread may read; changes happen one at a time."""

    def __init__(
        self, settings: Settings, embedder: Embedder, *, erasing: Callable[[], None] = lambda: None
    ) -> None:
        """Opens the store.

        erasing: called just before the text of files is erased, whoever asked for it. The catalogue's
            `quoted` lists these files until it is told otherwise.

        Raises StoreError if the store is held by another process, damaged, of another version or not
        writable.
        """
        self._settings, self.embedder, self._erasing = settings, embedder, erasing
        self._changing = threading.RLock()
        self._watching: Callable[[], None] | None = None
        self._stamps: dict[int, tuple[str, ...]] = {}
        self._lock = StoreLock(settings.store / "store.lock")
        self.reserve = Reserve(settings.store)
        try:
            with self.reserve.lent():
                self._open()
        except OSError as error:
            self._lock.close()
            raise StoreError(
                f"The store cannot be written: {error}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            ) from error
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        """Opens everything but the lock, which is already held."""
        settings = self._settings
        embedder = self.embedder
        self.copies = copies_of(settings)
        self.catalog = unless_unfinished(settings, Catalog(place_of(settings, NAME)))
        self.indexes = Indexes(self.catalog, settings, embedder)
        self._early = EarlyVectors(self.catalog, embedder)
        self.adding = VersionBuilder(
            self.catalog,
            self.copies,
            self.indexes,
            self._changing,
            most_pages=settings.max_pages,
            languages=settings.scan_languages,
        )
        self._matrices: LeastRecentlyUsed[Matrix] = LeastRecentlyUsed(
            CACHE_BYTES // 2, size=attrgetter("size")
        )
        self._terms: LeastRecentlyUsed[DocumentTerms] = LeastRecentlyUsed(
            DISK_BYTES if self._shared else CACHE_BYTES // 2,
            size=lambda kept: max(LEAST_TERMS, kept.size),
        )
        self._kinds: LeastRecentlyUsed[dict[int, tuple[str, ...]]] = LeastRecentlyUsed(
            CACHE_BYTES // 8, size=lambda kinds: 200 * (len(kinds) + 1)
        )
        self._facts: LeastRecentlyUsed[DocumentFacts] = LeastRecentlyUsed(
            CACHE_BYTES // 64, size=lambda facts: 200
        )
        self._chunk_pages: LeastRecentlyUsed[NDArray[np.int64]] = LeastRecentlyUsed(
            CACHE_BYTES // 8, size=attrgetter("nbytes")
        )
        try:
            self._recover()
        except StoreError as error:
            if not is_full(settings.store):
                raise
            log.warning("Unfinished work will continue when there is disk space: %s", error)
        if not settings.database:  # there what another process adds is in one of the two for a moment
            self.indexes.look_at_words()

    def close(self) -> None:
        """Closes the store."""
        self._early.end()
        self.indexes.close()
        self.catalog.close()
        self._lock.close(settled=not self.adding.names_due)

    @property
    def _shared(self) -> bool:
        """Whether the store is on servers, and may be larger than what one machine has room for."""
        return bool(self._settings.chroma_url or self._settings.database)

    @property
    def folder(self) -> Path:
        """The store's folder."""
        return self._settings.store

    # --- what is in it
    # ------------------------------------------------------------------------------------------------------

    def scope(self, names: Sequence[str]) -> dict[int, str]:
        """Returns version id -> name of the live documents in `names` (all if it is empty).

        Raises NotFoundError naming an unknown one.
        """
        there = sorted(self.catalog.names()) if names else []
        names = [name if name in there else known_as(name) for name in names]
        if self._settings.database:
            active, stamps = self.catalog.active_stamps(names)
            self._follow_others(stamps)
        else:
            active = self.catalog.active(names)
        for name in names:
            if name not in there:
                more = f" and {len(there) - 5} more" if len(there) > 5 else ""
                known = (", ".join(there[:5]) or "none yet") + more
                raise _no_document(name, f"Documents: {known}. See `{PROGRAM} list`.")
        return active

    def matrix(self, version: int) -> Matrix:
        """Returns the vectors of a version, cached. During embedding they are partial and not cached."""
        fingerprint = self.embedder.fingerprint

        def complete() -> bool:
            stored = self.catalog.version(version)
            return stored is not None and stored.state == "ready" and stored.fingerprint == fingerprint

        with as_damage("A vector of a document"):
            return self._matrices.get(
                version,
                lambda: matrix_of(self.catalog.vectors(version, fingerprint), self.embedder.dimension),
                keep=complete,
            )

    def some_vectors(self, chunks: Mapping[int, NDArray[np.int64]]) -> Mapping[int, Matrix]:
        """Returns version -> the vectors of these chunks, for the versions whose `matrix` is not to be used.

        A process keeps whole versions in memory if the vectors of all of them fit there. Otherwise, and where
        several processes share a store, only what is asked for is read.

        chunks: version -> ordinals, ascending.
        """
        dimension = self.embedder.dimension
        if not self._shared and self.indexes.keywords.count() * 4 * dimension <= CACHE_BYTES // 2:
            return {}
        wanted = ((version, int(ordinal)) for version, ordinals in chunks.items() for ordinal in ordinals)
        found = dict[int, list[tuple[int, bytes]]]({version: [] for version in chunks})
        for version, ordinal, data in self.catalog.vectors_at(wanted, self.embedder.fingerprint):
            found[version].append((ordinal, data))
        with as_damage("A vector of a document"):
            return {version: matrix_of(rows, dimension) for version, rows in found.items()}

    def terms(self, version: int) -> DocumentTerms:
        """Returns the terms of a version, cached."""

        def read() -> DocumentTerms:
            terms = unpack_terms(self.catalog.lexicon(version))
            return mapped(terms, self.folder) if self._shared else terms

        with as_damage("The list of a document's words"):
            return self._terms.get(version, read)

    def chunk_pages(self, version: int) -> NDArray[np.int64]:
        """Returns the physical page of each chunk of a version, (chunks,), cached."""
        return self._chunk_pages.get(version, lambda: np.array(self.catalog.chunk_pages(version), np.int64))

    def page_kinds(self, version: int) -> dict[int, tuple[str, ...]]:
        """Returns page number -> the kinds of the page, for pages of some kind, cached."""
        return self._kinds.get(version, lambda: self.catalog.page_kinds(version))

    def facts(self, version: int) -> DocumentFacts:
        """Returns what the document says of itself, cached."""
        return self._facts.get(
            version, lambda: stored.facts if (stored := self.catalog.version(version)) else NO_FACTS
        )

    def correct(self, name: str, said: DocumentFacts) -> None:
        """Makes a user's word count instead of what a document says of itself.

        said: its period is None for "as the document says", "" for "none", or years as in DocumentFacts; its
            status likewise.

        Raises NotFoundError, and UsageError for an invalid period or status.
        """
        checked = replace(said, period=said.period and as_period(said.period))
        if (said.period and not checked.period) or (said.status and said.status not in STATUSES):
            raise UsageError(
                "That is not a period.", hint="Write a year, such as 2025, or a span, such as 2025-26."
            )
        found = self.catalog.find(name)
        if found is None:
            raise _no_document(name, "It has been removed.")
        with self._changing:
            self.catalog.correct(found.sha256, checked)
            for version in self.catalog.stored():
                if version.sha256 == found.sha256:
                    self._facts.drop(version.id)
            try:
                self.copies.write_beside(found.sha256, said=checked)
            except DocumentError as error:
                # It counts already; only a store rebuilt from the copies would not know it.
                log.warning("A document's details could not be saved next to its copy: %s", error)

    def without_vectors(self) -> list[Version]:
        """Returns live or coming versions that keyword search finds but vector search does not yet."""
        return self.catalog.unfinished(self.embedder.fingerprint)

    def file(self, version: int) -> Path:
        """Returns the kept copy of a version. Raises NotFoundError if it is gone."""
        return self._there(version, self.copies.path)

    def file_to_read(self, version: int) -> Path:
        """Returns the same, or the PDF that was made of it. Raises NotFoundError."""
        return self._there(version, self.copies.readable)

    def _there(self, version: int, path_of: Callable[[str], Path | None]) -> Path:
        stored = self.catalog.version(version)
        path = path_of(stored.sha256) if stored else None
        if path is None:
            raise NotFoundError("The document's file is no longer kept.", hint="Add the document again.")
        return path

    def unread(self, *, wait: bool = False) -> list[UnaddedFile]:
        """Returns files in the folder of documents that are not added; see documents_folder.unread."""
        return unread(self.catalog, self.copies.folder, most_megabytes=self.copies.most_megabytes, wait=wait)

    def try_unread(self, one: UnaddedFile) -> None:
        """Notes that such a file is being added.

        If that is interrupted, as when the server is killed, it is tried once more.
        """
        before = self.catalog.seen().get(one.digest)
        self.catalog.see(one.digest, BROKEN_OFF[before == BROKEN_OFF[0]])

    def tried(self, one: UnaddedFile, result: AddResult) -> None:
        """Notes the outcome for such a file."""
        self.catalog.tried(one.digest, result.error or "", again=result.retryable)

    # --- adding
    # --------------------------------------------------------------------------------------------------------

    def resume(
        self, *, progress: Progress = no_progress, cancelled: Callable[[], bool] = _never
    ) -> list[AddResult]:
        """Finishes interrupted work: unread files, missing vectors, rows that nobody needs.

        Yields the results of the files that were not, or not completely, read.
        """
        results = []
        for job in self.catalog.left():
            if cancelled():
                break
            if job.phase != Phase.PASSWORD:
                results.append(self.read_left(job, progress, cancelled))
        for version in self.incomplete():  # before their vectors are made, since reading changes some chunks
            if not cancelled() and self._complete_left(version.id, version.document, progress, cancelled):
                results.append(self.adding.result_of(version.id, AddResult(version.document, "completed")))
        self.resume_vectors(progress=progress, cancelled=cancelled)
        self.sweep()
        lacking = {version.id for version in (*self.without_vectors(), *self.incomplete())}
        self.catalog.end_complete(lacking)
        return results

    def resume_vectors(
        self,
        *,
        only: Container[int] | None = None,
        owner_of: Callable[[int], str] = lambda version: "",
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = _never,
    ) -> None:
        """Makes the missing vectors of these versions, or of all.

        They are made in batches, each stored before the next is asked for. A version that has all goes live.

        owner_of: a version's owner. Owners take turns, and of each the version that lacks fewest is first.
        """
        rounds = 0
        while rounds < MOST_ROUNDS:
            wanted = (version for version in self.without_vectors() if only is None or version.id in only)
            lacking = in_turns(wanted, owner_of)
            if not lacking:
                return
            claimed = {
                version.id
                for version in lacking[:MOST_CLAIMED]
                if self.catalog.database.claim(vectors_of(version.id))
            }
            try:
                # Another process may have made some until just now.
                versions = [version for version in self.without_vectors() if version.id in claimed]
                for version in versions:
                    if version.fingerprint not in (None, self.embedder.fingerprint):
                        self.catalog.restart_vectors(version.id, self.embedder.fingerprint)
                again = bool(versions) and self._make_vectors(
                    in_turns(versions, owner_of), owner_of, progress, cancelled
                )
            finally:
                for number in claimed:
                    self.catalog.database.release(vectors_of(number))
            rounds += again
            if (len(claimed) == len(lacking) and not again) or cancelled():
                return
            if not versions:
                time.sleep(LOOK_SECONDS)

    def _make_vectors(
        self,
        versions: Sequence[Version],
        owner_of: Callable[[int], str],
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> bool:
        """Makes vectors. Returns whether a version was read further meanwhile and so lacks some again."""
        own = {version.id for version in versions if version.fingerprint == self.embedder.fingerprint}
        done = {version.id: version.embedded if version.id in own else 0 for version in versions}
        waiting = dict[int, list[int]]({version.id: [] for version in versions})
        at_once = 1  # Chroma is opened while most are still to be made
        batches = make_vectors(self.catalog, self.embedder, versions, self._early, owner_of)
        try:
            with closing(batches):
                for made in batches:
                    if cancelled():
                        return False
                    version = made.version
                    with self._changing:
                        self.indexes.unaligned()
                        kept = self.catalog.add_vectors(version.id, self.embedder.fingerprint, made.rows)
                        waiting[version.id] += kept
                        if made.last or len(waiting[version.id]) >= at_once:
                            self._index_vectors(version.id, waiting[version.id])
                            at_once = INDEXED_AT_ONCE
                        if made.last:
                            self._ready(version)
                    done[version.id] += len(kept)
                    progress(version.document, "embedding", done[version.id], version.chunks)
        finally:
            for number, ordinals in waiting.items():
                self._index_vectors(number, ordinals)
        return bool({version.id for version in versions} & {version.id for version in self.without_vectors()})

    def _index_vectors(self, version: int, ordinals: list[int]) -> None:
        """Gives vectors to Chroma, many at a time.

        That is faster. `ordinals` is emptied.
        """
        if ordinals:
            with self._changing:
                given, ordinals[:] = list(ordinals), []
                self.indexes.add_vectors(version, given)

    def _ready(self, version: Version) -> None:
        """Makes a version live if it still exists and has all vectors."""
        before = self.catalog.find(version.document)
        if self.catalog.ready(version.id, self.embedder.fingerprint, keep=LOCAL_FINGERPRINTS):
            self.adding.write_names({version.sha256, *([before.sha256] if before else [])})

    def incomplete(self) -> list[Version]:
        """Returns live or coming versions that are not fully read, oldest first."""
        return self.catalog.incomplete()

    def read_by_older(self) -> list[Version]:
        """Returns live versions that an earlier version of the program has read; see Catalog."""
        return self.catalog.read_by_older()

    def complete(
        self,
        version: int,
        *,
        progress: Callable[[str, int, int], None] = lambda phase, done, total: None,
        cancelled: Callable[[], bool] = _never,
    ) -> None:
        """Reads what a version lacks, see VersionBuilder.complete, or waits for another thread that reads it.

        Afterwards, chunks that are new or have other contexts lack vectors.
        """
        self._claim(rest_of(version), cancelled)
        stored = self.catalog.version(version)
        try:
            how = partial(self.adding.complete, version, processes=self._settings.threads)
            how(progress=progress, cancelled=cancelled, changed=self._forget)
        finally:
            self.catalog.database.release(rest_of(version))
            if self._watching is not None:
                self._watching()
        if (
            self._watching is None and stored is not None and stored.state == "ready"
        ):  # nobody else makes it so again
            self.resume_vectors(only={version}, cancelled=cancelled)

    def _claim(self, work: str, cancelled: Callable[[], bool]) -> None:
        """Keeps other threads and processes from some work, and waits while one of them does it."""
        while not self.catalog.database.claim(work):
            if cancelled():
                raise CancelledError("Cancelled.")
            time.sleep(LOOK_SECONDS)

    def watch(self, changed: Callable[[], None] | None) -> None:
        """Sets the callback for versions that were read further and may need other vectors.

        changed: called whoever read the version; None if nobody listens.
        """
        self._watching = changed

    def _complete_left(
        self, version: int, name: str, progress: Progress, cancelled: Callable[[], bool]
    ) -> bool:
        """Tells whether everything is read.

        What cannot be read now is tried again at the next start, and what the document already has stays.
        """
        try:
            self.complete(version, progress=partial(progress, name), cancelled=cancelled)
        except CancelledError:
            return False
        except DocumentError as error:
            log.warning("The rest of %s could not be read: %s", visible(name), error)
            return False
        return True

    def _forget(self, version: int) -> None:
        for cache in (self._matrices, self._terms, self._chunk_pages, self._kinds, self._facts):
            cache.drop(version)

    def _follow_others(self, rows: Stamps) -> None:
        """Forgets of versions what another server has changed, which reads further and corrects too."""
        stamps = {row[0]: row[2:] for row in rows}
        before, self._stamps = self._stamps, stamps
        for version in stamps.keys() & before.keys():
            if stamps[version] != before[version]:
                self._forget(version)

    def read_again(
        self, name: str, password: str | None = None, *, progress: Progress = no_progress
    ) -> AddResult:
        """Reads a document again from its kept copy.

        When it is ready, the new reading takes the place of the old one under all its names. Raises
        NotFoundError, DocumentError and its subclasses.
        """
        self.resume_vectors(progress=progress)
        taken = replace(self.take_again(name), password=password)
        try:
            result = self.read_taken(taken, progress=partial(progress, name), cancelled=_never)
        except ProjectError as error:
            self.adding.give_up(taken, error)
            raise
        start = time.perf_counter()
        try:
            self.resume_vectors(only={result.version}, progress=progress)
        except ProjectError as error:
            result = replace(result, warning=NO_VECTORS.format(error))
        return replace(result, seconds=round(result.seconds + time.perf_counter() - start, 3))

    # The steps of a queue, with those of VersionBuilder.

    def take_again(self, name: str, languages: str = "") -> Job:
        """Notes that a document waits to be read again from its kept copy; see Additions.read_again.

        Raises NotFoundError, StoreError if it is not complete yet, and DocumentError.
        """
        found = self.catalog.find(name)
        newest = self.catalog.newest(name)
        if found is None or newest is None:
            raise _no_document(name, "It has been removed.")
        if newest.id != found.id or found.state != "ready":
            raise StoreError(
                f"{name[:200]!r} is still being indexed for search by meaning.",
                hint="Try again when that is finished.",
                retryable=True,
            )
        self.file(found.id)
        self.adding.check_languages(languages)
        return self.catalog.wait(name, found.sha256, again=True, languages=languages or found.languages)

    def read_taken(
        self,
        taken: Job,
        *,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
        alone: Callable[[], bool] = _never,
    ) -> AddResult:
        """Reads one taken file until keyword search finds it.

        If this raises StoreError, DocumentError or one of its subclasses, the file still waits.

        alone: whether nothing else is read and no vectors are made, so that its first vectors can be made
            while it is stored.
        """
        start = time.perf_counter()
        # Other processes do not read these bytes meanwhile.
        self._claim(bytes_of(taken.digest), cancelled)
        try:
            known = self.adding.known(taken)
            if known is None:
                reading = self.adding.read(
                    taken, processes=self._settings.threads, progress=progress, cancelled=cancelled
                )
                try:
                    cut = cut_up(taken.name, reading, *([self._early.begin] if alone() else []))
                    with self._changing:  # the same file may be stored just now, under this or another name
                        known = self.adding.known(taken) or self.adding.store(taken, cut)
                finally:
                    self._early.end()
                if not taken.again:
                    known = self.adding.take_attached(known, taken, reading)
        finally:
            self.catalog.database.release(bytes_of(taken.digest))
        seconds = round(time.perf_counter() - start, 3)
        searchable = seconds if known.status != "unchanged" else None
        return replace(known, seconds=seconds, searchable_seconds=searchable)

    def read_left(
        self, taken: Job, progress: Progress = no_progress, cancelled: Callable[[], bool] = _never
    ) -> AddResult:
        """Reads all of a file that an earlier process left.

        If it cannot be read, it waits for what its user must do.
        """
        told = partial(progress, taken.name)
        try:
            result = self.read_taken(taken, progress=told, cancelled=cancelled)
        except CancelledError:
            return AddResult(taken.name, "failed", error="Stopped. It will continue at the next start.")
        except ProjectError as error:
            return self.adding.give_up(taken, error, keep=True)
        self._complete_left(result.version, result.document, progress, cancelled)
        return self.adding.result_of(result.version, result)

    # --- removing
    # --------------------------------------------------------------------------------------------------------

    def remove(self, name: str, *, purge: bool = False) -> list[Path]:
        """Hides a document at once. It can be restored for UNDO_DAYS unless `purge` erases it now.

        Returns the files with its bytes that users copied into the folder of documents. These belong to the
        users and stay. Raises NotFoundError.
        """
        with self.reserve.lent():
            if purge:
                left = self.retire(name)
                self.sweep()
                for before in self.folder.glob(
                    "catalog.sqlite3.before-*"
                ):  # the file that a rebuild set aside holds its text too
                    delete(before)
                if self.indexes.scrub_is_due():
                    message = (
                        f"{name[:200]!r} was erased, but another program is reading the catalogue, so "
                        "its text is still in the log."
                    )
                    hint = f"Close that program, such as a backup, then run `{PROGRAM} doctor`."
                    raise StoreError(message, hint=hint, retryable=True)
                return left
            found = self.catalog.find(name)
            if found is None or not self.catalog.remove(name):
                raise _no_document(name)
            with self._changing:
                self.adding.write_names({found.sha256})
                return self._keep_away({found.sha256})

    def retire(self, name: str) -> list[Path]:
        """Gives a document up at once and beyond restoring.

        What it leaves is erased by `sweep`, or at the next start. Returns what `remove` returns. Raises
        NotFoundError.
        """
        hashes = self.catalog.hashes_of(name)
        kept = self._unlisted_named(name)
        for digest in kept:
            self.copies.drop(digest)
        with self.reserve.lent():
            left = self._keep_away(hashes)
            if is_full(
                self.folder
            ):  # the reserve is used up by others, so room is made before anything is noted
                for digest in hashes - self.catalog.hashes_beside(name):
                    self.copies.drop(digest)
            if is_full(self.folder):
                self.indexes.give_up_vectors()
            if not self.catalog.retire(name) and not kept:
                raise _no_document(name)
            with self._changing:
                self.adding.write_names(hashes)
        return left

    def _keep_away(self, hashes: Set[str]) -> list[Path]:
        """Returns the files in the folder of documents with these bytes, and keeps them from being added
        again.
        """
        sizes = set(map(self.copies.size, hashes))
        return note_copies_of(self.catalog, self.copies.folder, sizes, hashes)

    def restore(self, name: str) -> None:
        """Restores a removed document; for a live one, the version before it was replaced.

        Raises NotFoundError.
        """
        before = self.catalog.hashes_of(name)
        kept = self._unlisted_named(name)
        for digest in kept:
            self.catalog.wait(name, digest, recovered=True, languages=self.copies.beside(digest).languages)
        if kept:
            self.resume()
        with self.reserve.lent():
            if not kept and not self.catalog.restore(name):
                raise NotFoundError(
                    f"There is no removed or replaced document named {name[:200]!r}.",
                    hint=f"See `{PROGRAM} list`; add erased documents again.",
                )
            with self._changing:
                self.adding.write_names(before)

    def discard(self, version: int, name: str = "") -> None:
        """Gives up a version that is not wanted after all.

        The document is deleted with it if it has no other version.

        name: the document that gives it up; another document with the same file keeps it. "" if nobody keeps
            it.
        """
        with self._changing:
            if not (name and self.catalog.release(version, name)):
                self._erase([version])

    def sweep(self) -> None:
        """Erases what nothing needs any more.

        That is half-read and retired versions, removals past their undo, and rows and copies without a
        version.
        """
        with self._changing, self.reserve.lent():
            erased = self._erase(self.catalog.left_over(self.catalog.clock.agreed() - UNDO_DAYS * DAY))
            try:
                self.indexes.align(self._terms.drop)
            except StoreError:
                if not (
                    erased and is_full(self.folder)
                ):  # erased rows are found by nobody; the next sweep removes them
                    raise
            self.indexes.scrub()

    def align_words(self) -> None:
        """Makes the index of words whole again, where it was found not to be."""
        with self._changing, self.reserve.lent():
            self.indexes.align_words()

    def _recover(self) -> None:
        """Undoes what a stopped process left half done, or notes it to be done.

        Cheap, and does nothing if nothing was left.
        """
        self.copies.drop_partials()
        self.copies.mend_modes()
        if self._lock.left_behind:
            known = {version.sha256 for version in self.catalog.stored()}
            nameless = {digest for digest in known if not self.catalog.names_of(digest)}
            # Their names would count as removed, which a damaged catalogue is no reason for.
            if nameless and self.catalog.database.complaints():
                known -= nameless
            self.adding.write_names(known)
        left = self.catalog.left_over(self.catalog.clock.agreed() - UNDO_DAYS * DAY)
        if left or self.catalog.to_erase():
            self._erase(left)
        self.indexes.mend_refilled()
        # Documents that are here get the names that an imported archive has for them.
        self.catalog.forget_removed(self.catalog.clock.agreed() - UNDO_DAYS * DAY)
        for digest in self.catalog.remembered():
            held = self.catalog.holding(digest)
            if held is not None and self.catalog.recall_names(held):
                self.adding.write_names({digest})
        unlisted = self._unlisted()
        times = self.copies.times() if unlisted else {}
        for digest in unlisted:
            beside = self._beside(digest)
            for name in beside.names:
                # What came before the document's latest change was refused, or is no longer wanted.
                if name.removed_at is None and self.catalog.changed_at(name.name) < times.get(digest, 0.0):
                    self.catalog.wait(name.name, digest, recovered=True, languages=beside.languages)

    def _unlisted(self) -> list[str]:
        """Returns the kept copies that the catalogue does not know, in the order in which they were taken.

        If the catalogue was lost, these are all copies.
        """
        known = self.catalog.hashes()
        return [digest for digest in self.copies.all() if digest not in known]

    def _unlisted_named(self, name: str) -> list[str]:
        """Returns the kept copies under this name that the catalogue does not know."""
        return [
            digest
            for digest in self._unlisted()
            if name in map(attrgetter("name"), self._beside(digest).names)
        ]

    def _beside(self, digest: str) -> CopyMetadata:
        """What lies beside a copy. One without names has those of an imported archive."""
        beside = self.copies.beside(digest)
        names = beside.names or tuple(starmap(KeptName, self.catalog.remembered_names(digest)))
        return beside._replace(names=names)

    def _erase(self, versions: Sequence[int]) -> bool:
        """Erases versions. Returns whether there was anything to erase."""
        if versions:
            # First, so that an interruption leaves them to the next start.
            self.catalog.note_quoted(self.catalog.only_of(versions))
            self._erasing()
            try:
                self.indexes.remove(versions)
            except StoreError as error:
                if not is_full(self.folder):
                    raise
                log.warning("The indexes will be updated when there is disk space: %s", error)
                self.indexes.unaligned()
            self.catalog.erase(versions)
            for version in versions:
                self._forget(version)
        self.adding.drop_unneeded()
        return bool(versions)
