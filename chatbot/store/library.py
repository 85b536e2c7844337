"""The library of documents: adds, replaces, removes, restores and lists them, and keeps catalogue and indexes in step."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import DocumentError, NotFoundError, ProjectError, StoreError
from chatbot.records import DocumentRow
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog, Version
from chatbot.store.embedders import Embedder, passage_windows
from chatbot.store.keywords import KeywordIndex
from chatbot.store.lexicon import Lexicon, pack_lexicons, unpack_lexicons
from chatbot.store.lock import StoreLock
from chatbot.store.names import display_name
from chatbot.store.vectors import ChromaIndex, LeastRecentlyUsed, Matrix, matrix_of
from chatbot.terms import terms
from ingestion.chunks import chunk_pages, prepare
from ingestion.document import Circumstances, Reading, read_document
from ingestion.records import Chunk

__all__ = ["AddResult", "Library", "Upload"]

# Days a removed document can be brought back.
UNDO_DAYS = 7
# Chunks embedded between two commits: about two seconds of work, which is what a crash can cost.
EMBED_BATCH = 64
# Bytes of vectors and term counts held ready: some 200 filings.
CACHE_BYTES = 512 * 2**20
COPY_BYTES = 1 << 20
PARTIAL_COPY = re.compile(r"[0-9a-f]{64}\.\d+\.partial")
# Remembered in the catalogue: the fingerprint for which Chroma was last seen to hold what the catalogue holds.
ALIGNED = "vectors_aligned"
Progress = Callable[[str, str, int, int], None]


def _no_progress(document: str, phase: str, done: int, total: int) -> None:
    return


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to add. name: what it will be called (default: the file's own name). password: for this reading only, never stored."""

    path: Path
    name: str = ""
    password: str | None = None


@dataclass(frozen=True, slots=True)
class AddResult:
    """How one file fared. status: added | unchanged | replaced | failed. failed_pages: (page, reason), physical, 1-based.

    searchable_seconds: from when its turn came until keyword search found it; seconds: that and the making of its vectors.
    """

    document: str
    status: str
    id: str | None = None
    pages: int = 0
    chunks: int = 0
    ocr_pages: int = 0
    failed_pages: tuple[tuple[int, str], ...] = ()
    seconds: float = 0.0
    searchable_seconds: float | None = None
    error: str | None = None
    warning: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An upload with the name it will have and its SHA-256, or with why it cannot be added."""

    upload: Upload
    name: str
    digest: str
    error: ProjectError | None = None
    repeated: bool = False


class Library:
    """The store, opened by its one owner. Reads from any thread; additions and removals one at a time."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        """Raises StoreError where the store is held by another process, damaged, newer or not writable."""
        self._settings, self.embedder = settings, embedder
        self._lock = StoreLock(settings.store / "store.lock")
        try:
            settings.documents.mkdir(parents=True, exist_ok=True)
            self.catalog = Catalog(settings.store / "catalog.sqlite3")
            self.keywords = KeywordIndex(settings.store / "keywords")
        except OSError as error:
            self._lock.close()
            raise StoreError(f"The store cannot be written: {error}.", hint="Set FINPOLICY_HOME to a folder you may write.") from error
        except BaseException:
            self._lock.close()
            raise
        self.vectors = ChromaIndex(settings.store / "vectors", fingerprint=embedder.fingerprint, dimension=embedder.dimension)
        self._matrices: LeastRecentlyUsed[Matrix] = LeastRecentlyUsed(CACHE_BYTES // 2, size=lambda matrix: matrix.size)
        self._lexicons: LeastRecentlyUsed[tuple[Lexicon, Lexicon]] = LeastRecentlyUsed(CACHE_BYTES // 2, size=_lexicon_bytes)

        self._contents: LeastRecentlyUsed[NDArray[np.int64]] = LeastRecentlyUsed(CACHE_BYTES // 8, size=lambda pages: pages.nbytes + 100)
        self._chunk_pages: LeastRecentlyUsed[NDArray[np.int64]] = LeastRecentlyUsed(CACHE_BYTES // 8, size=lambda pages: pages.nbytes)

    def close(self) -> None:
        """Give the store free."""
        self.vectors.close()
        self.catalog.close()
        self._lock.close()

    # --- what is in it ------------------------------------------------------------------------------------------------------

    def documents(self) -> list[DocumentRow]:
        """All documents, removed ones that can still be restored among them."""
        return self.catalog.documents()

    def scope(self, names: Sequence[str]) -> dict[int, str]:
        """version id -> name of the live documents in `names` (all where it is empty). Raises NotFoundError naming an unknown one."""
        active = self.catalog.active(names)
        missing = [name for name in names if name not in active.values()]
        if missing:
            there = sorted(self.catalog.active().values())
            known = (", ".join(there[:5]) or "none yet") + (f" and {len(there) - 5} more" if len(there) > 5 else "")
            raise NotFoundError(f"There is no document {missing[0][:200]!r}.", hint=f"Documents: {known}. See `python -m chatbot list`.")
        return active

    def matrix(self, version: int) -> Matrix:
        """The vectors of a version, kept ready. Partial while it is being embedded, and then not kept."""
        fingerprint, dimension = self.embedder.fingerprint, self.embedder.dimension
        stored = self.catalog.version(version)
        if stored is None or stored.state != "ready" or stored.fingerprint != fingerprint:
            return matrix_of(self.catalog.vectors(version, fingerprint), dimension)
        return self._matrices.get(version, lambda: matrix_of(self.catalog.vectors(version, fingerprint), dimension))

    def lexicons(self, version: int) -> tuple[Lexicon, Lexicon]:
        """(over chunks, over pages) of a version, kept ready."""
        try:
            return self._lexicons.get(version, lambda: unpack_lexicons(self.catalog.lexicon(version)))
        except (zlib.error, struct.error, UnicodeDecodeError) as error:
            raise StoreError("The stored terms of a document are damaged.", hint="Remove that document and add it again.") from error

    def chunk_pages(self, version: int) -> NDArray[np.int64]:
        """(chunks,) physical page of each chunk of a version, kept ready."""
        return self._chunk_pages.get(version, lambda: np.array(self.catalog.chunk_pages(version), np.int64))

    def contents_pages(self, version: int) -> NDArray[np.int64]:
        """Numbers of a version's pages of contents, kept ready."""
        return self._contents.get(version, lambda: np.array(self.catalog.contents_pages(version), np.int64))

    def without_vectors(self) -> list[Version]:
        """Live or coming versions that keyword search finds and vector search does not yet."""
        return self.catalog.unfinished(self.embedder.fingerprint)

    def file(self, version: int) -> Path:
        """The kept copy of a version. Raises NotFoundError where it is gone."""
        stored = self.catalog.version(version)
        path = self._settings.documents / f"{stored.sha256}.pdf" if stored else None
        if path is None or not path.exists():
            raise NotFoundError("The document's file is not kept any more.", hint="Add the document again.")
        return path

    # --- adding -------------------------------------------------------------------------------------------------------------

    def add(
        self, uploads: Sequence[Upload], *, progress: Progress = _no_progress, cancelled: Callable[[], bool] = _never, started: float | None = None
    ) -> Iterator[AddResult]:
        """Add files: all become searchable by keyword first, then vectors are made. One result a file, when it is finished.

        started: time.perf_counter() from which the first file's seconds count. A file that fails costs the others nothing.
        """
        read: list[AddResult] = []
        for result in self.read(uploads, progress=progress, cancelled=cancelled, started=started):
            if result.status in {"failed", "unchanged"}:
                yield result
            else:
                read.append(result)
        for result in read:
            yield self._finish(result, progress, cancelled)

    def read(
        self, uploads: Sequence[Upload], *, progress: Progress = _no_progress, cancelled: Callable[[], bool] = _never, started: float | None = None
    ) -> Iterator[AddResult]:
        """Read files up to where keyword search finds them; `resume` makes their vectors. Arguments as in `add`.

        Files are read ahead in as many threads as there are cores and stored in order; leaving the iterator stops the reading.
        """
        start = started if started is not None else time.perf_counter()
        left = threading.Event()
        ahead: deque[tuple[_Candidate, Future[Reading] | AddResult]] = deque()
        pool = ThreadPoolExecutor(self._settings.threads)
        try:
            pool.submit(prepare)
            for candidate in self._candidates(uploads):
                ahead.append((candidate, self._begin(pool, candidate, progress, lambda: left.is_set() or cancelled())))
                if len(ahead) > self._settings.threads:
                    yield self._settle(*ahead.popleft(), start=start)
                    start = time.perf_counter()
            while ahead:
                yield self._settle(*ahead.popleft(), start=start)
                start = time.perf_counter()
        finally:
            left.set()
            pool.shutdown(cancel_futures=True)

    def _finish(self, result: AddResult, progress: Progress, cancelled: Callable[[], bool]) -> AddResult:
        """The result with its vectors made, or with a warning why they are not; the document is found by its words either way."""
        start = time.perf_counter()
        try:
            self._embed(result.version, lambda done, total: progress(result.document, "embedding", done, total), cancelled)
        except ProjectError as error:
            result = replace(result, warning=f"Found by its words only, its vectors could not be made: {error}")
        return replace(result, seconds=round(result.seconds + time.perf_counter() - start, 3))

    def resume(self, *, progress: Progress = _no_progress, cancelled: Callable[[], bool] = _never) -> None:
        """Make the vectors that are missing, whatever stopped them before."""
        for version in self.without_vectors():
            if cancelled():
                return
            self._embed(version.id, lambda done, total, name=version.document: progress(name, "embedding", done, total), cancelled)  # type: ignore[misc]

    def _candidates(self, uploads: Sequence[Upload]) -> Iterator[_Candidate]:
        """Each upload with its name and hash, or with the reason why it cannot be added."""
        seen: dict[str, tuple[Path, str]] = {}
        for upload in uploads:
            name = (upload.name or upload.path.name)[:60]
            try:
                name = display_name(upload.name or upload.path.name)
                digest = self._hash(upload.path)
                repeated = name in seen
                other = seen.setdefault(name, (upload.path, digest))
                if other[1] != digest:
                    message = f"{upload.path} and {other[0]} are different files of one name, {name}."
                    raise DocumentError(message, hint="Add the second with --name.")
            except ProjectError as error:
                yield _Candidate(upload, name, "", error)
            else:
                yield _Candidate(upload, name, digest, repeated=repeated)

    def _hash(self, path: Path) -> str:
        """SHA-256 of the file. Raises DocumentError where it cannot be read or is too large."""
        try:
            if path.is_dir():
                raise DocumentError(f"There is no PDF in {path}.", hint="Name a folder that has some.")
            if path.exists() and not path.is_file():
                raise DocumentError(f"{path} is not a file.", hint="Add PDF files only.")
            size = path.stat().st_size
            if size > self._settings.max_upload_mb * 2**20:
                limit = f"the limit of {self._settings.max_upload_mb} MiB"
                raise DocumentError(f"The file has {size / 2**20:.0f} MiB, over {limit}.", hint="Split it, or raise FINPOLICY_MAX_UPLOAD_MB.")
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DocumentError(f"The file cannot be read: {error.strerror}.", hint="Check the path and that you may read it.") from error

    def _begin(
        self, pool: ThreadPoolExecutor, candidate: _Candidate, progress: Progress, cancelled: Callable[[], bool]
    ) -> Future[Reading] | AddResult:
        """The reading under way, or the result where there is nothing to read."""
        name = candidate.name
        try:
            if candidate.error is not None:
                raise candidate.error
            newest = self.catalog.newest(name)
            if candidate.repeated or (newest is not None and newest.sha256 == candidate.digest):
                return AddResult(name, "unchanged")
            copy = self._keep(candidate.upload.path, candidate.digest)
        except ProjectError as error:
            return AddResult(name, "failed", error=str(error))
        return pool.submit(
            read_document,
            copy,
            Circumstances(
                password=candidate.upload.password,
                processes=self._settings.threads,
                progress=lambda phase, done, total: progress(name, phase, done, total),
                cancelled=cancelled,
            ),
        )

    def _settle(self, candidate: _Candidate, reading: Future[Reading] | AddResult, *, start: float) -> AddResult:
        """The result once the reading is done and stored."""
        if isinstance(reading, AddResult):
            newest = self.catalog.newest(candidate.name) if reading.status == "unchanged" else None
            known = self._result(newest, "unchanged") if newest else reading
            return replace(known, seconds=round(time.perf_counter() - start, 3))
        try:
            read = reading.result()
            replaced = self.catalog.find(candidate.name) is not None
            version = self._store(candidate.name, candidate.digest, read)
            self.vectors.preload()  # not before: its import would slow down what people wait for
        except ProjectError as error:
            self._drop_copies({candidate.digest})
            return AddResult(candidate.name, "failed", seconds=round(time.perf_counter() - start, 3), error=str(error))
        stored = self.catalog.version(version)
        assert stored is not None
        result = self._result(stored, "replaced" if replaced else "added")
        warning = None if result.chunks else "No text was found on any page."
        seconds = round(time.perf_counter() - start, 3)
        return replace(result, seconds=seconds, searchable_seconds=seconds, warning=warning)

    def _store(self, name: str, digest: str, reading: Reading) -> int:
        """Pages, chunks and terms of a reading into the catalogue and the keyword index. Returns the version's id."""
        title = Path(name).stem.replace("_", " ").strip()
        chunks = list(chunk_pages(reading.pages, title))
        chunk_terms = [terms(_searched(chunk)) for chunk in chunks]
        version = self.catalog.begin(name, digest, reading.info.title)
        self.catalog.fill(version, reading.pages, chunks, pack_lexicons(chunk_terms, [terms(page.text) for page in reading.pages]))
        self.keywords.add(version, chunk_terms)
        self.catalog.searchable(version)
        return version

    def _keep(self, path: Path, digest: str) -> Path:
        """A copy named by its hash; nothing of it is seen before it is whole and on the disk."""
        kept = self._settings.documents / f"{digest}.pdf"
        if kept.exists():
            return kept
        partial = kept.with_suffix(f".{os.getpid()}.partial")
        copied = hashlib.sha256()
        try:
            with path.open("rb") as source, partial.open("wb") as target:
                while data := source.read(COPY_BYTES):
                    copied.update(data)
                    target.write(data)
                target.flush()
                os.fsync(target.fileno())
            if copied.hexdigest() != digest:
                raise DocumentError("The file changed while it was read.", hint="Add it again when it is complete.", retryable=True)
            os.replace(partial, kept)
        except OSError as error:
            raise DocumentError(f"The file cannot be kept: {error.strerror}.", hint="Free disk space, or set FINPOLICY_HOME elsewhere.") from error
        finally:
            partial.unlink(missing_ok=True)
        return kept

    def _embed(self, version: int, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> None:
        """Make a version's missing vectors in batches, each kept before the next is begun; then make it live."""
        stored = self.catalog.version(version)
        if stored is None or stored.state == "retired":
            return
        fingerprint = self.embedder.fingerprint
        if stored.fingerprint not in (None, fingerprint):
            self.catalog.restart_vectors(version)
            stored = replace(stored, embedded_upto=0)
        for at in range(stored.embedded_upto, stored.chunks, EMBED_BATCH):
            if cancelled():
                return
            chunks = self.catalog.chunks(version, start=at, limit=EMBED_BATCH)
            windows = [passage_windows(self.embedder, chunk.context, chunk.text) for chunk in chunks]
            made = self.embedder.embed([window for texts in windows for window in texts])
            parts = np.split(made, np.cumsum([len(texts) for texts in windows])[:-1])
            rows = [(chunk.ordinal, part) for chunk, part in zip(chunks, parts, strict=True)]
            self.catalog.set_meta(ALIGNED, "")
            self.catalog.add_vectors(version, fingerprint, [(ordinal, part.tobytes()) for ordinal, part in rows], at + len(chunks))
            self.vectors.upsert(version, rows)
            progress(at + len(chunks), stored.chunks)
        self.catalog.ready(version, fingerprint)

    def _result(self, version: Version, status: str) -> AddResult:
        pages = self.catalog.report(version.id)
        failed = tuple((page.number, page.problem) for page in pages if page.problem is not None)
        ocr = sum(page.method == "ocr" for page in pages)
        return AddResult(version.document, status, version.sha256[:16], len(pages), version.chunks, ocr, failed, version=version.id)

    # --- removing -----------------------------------------------------------------------------------------------------------

    def remove(self, name: str, *, purge: bool = False) -> None:
        """Hide a document at once; it can be restored for UNDO_DAYS unless `purge` erases it now. Raises NotFoundError."""
        if purge:
            if not self.catalog.retire(name):
                raise NotFoundError(f"There is no document {name[:200]!r}.", hint="See `python -m chatbot list`.")
            self.sweep()
            self.catalog.compact()
        elif not self.catalog.remove(name, time.time()):
            raise NotFoundError(f"There is no document {name[:200]!r}.", hint="See `python -m chatbot list`.")

    def restore(self, name: str) -> None:
        """Bring a removed document back. Raises NotFoundError where it was not removed or has been erased."""
        if not self.catalog.remove(name, None):
            raise NotFoundError(
                f"There is no removed document {name[:200]!r}.", hint="See `python -m chatbot list`; erased ones must be added again."
            )

    def discard(self, version: int) -> None:
        """Erase one version that is not wanted after all; the document goes with it where it has no other."""
        self._erase([version])

    def sweep(self) -> None:
        """Erase what nothing needs any more: half-read and retired versions, removals past their undo, rows and copies without a version."""
        self._erase(self.catalog.left_over(time.time() - UNDO_DAYS * 86_400))
        self._align_keywords()
        if self.catalog.meta(ALIGNED) != self.embedder.fingerprint or not self.vectors.exists():
            self._align_vectors()
            if not self.without_vectors():
                self.vectors.drop_others()
                self.catalog.set_meta(ALIGNED, self.embedder.fingerprint)

    def _erase(self, versions: Sequence[int]) -> None:
        if versions:
            self.keywords.remove(versions)
            self.vectors.remove(versions)
            self.vectors.drop_others()
            erased = self.catalog.hashes(versions)
            self.catalog.erase(versions)
            self._drop_copies(erased)
            for version in versions:
                self._matrices.drop(version)
                self._lexicons.drop(version)
                self._chunk_pages.drop(version)
                self._contents.drop(version)
        for path in self._settings.documents.glob("*.partial"):
            if PARTIAL_COPY.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def _drop_copies(self, hashes: set[str]) -> None:
        """Delete kept copies that no version needs any more. Others in the folder are never touched: the store can be made anew from them."""
        for digest in hashes - self.catalog.hashes():
            (self._settings.documents / f"{digest}.pdf").unlink(missing_ok=True)

    def _align_keywords(self) -> None:
        """Give the keyword index the chunks it lacks, from the stored text."""
        expected = self.catalog.chunk_counts()
        if self.keywords.count() != sum(expected.values()):
            for version in expected:
                self.keywords.add(version, [terms(f"{chunk.context}\n{chunk.text}") for chunk in self.catalog.chunks(version)])

    def _align_vectors(self) -> None:
        """Give Chroma the rows it lacks and take those it should not have; the vectors themselves are in the catalogue."""
        known = self.catalog.window_counts(self.embedder.fingerprint, self.embedder.dimension)
        if self.vectors.count() == sum(known.values()):
            return
        self.vectors.remove(self.vectors.versions() - set(known))
        for version, windows in known.items():
            if len(self.vectors.ids(version)) != windows:
                stored = self.catalog.vectors(version, self.embedder.fingerprint)
                self.vectors.upsert(
                    version, [(ordinal, np.frombuffer(data, np.float32).reshape(-1, self.embedder.dimension)) for ordinal, data in stored]
                )


def _searched(chunk: Chunk) -> str:
    return f"{chunk.context}\n{chunk.text}"


def _lexicon_bytes(lexicons: tuple[Lexicon, Lexicon]) -> int:
    return sum(part.units.nbytes + part.counts.nbytes + 100 * len(part.index) for part in lexicons)
