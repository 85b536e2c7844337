"""Turns a file into a searchable version: keeps its copy, reads and stores it, then what only images show.

Vectors are made elsewhere.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from chatbot.errors import (
    CancelledError,
    DocumentError,
    EncryptedError,
    MissingProgramError,
    ProjectError,
    StoreError,
)
from chatbot.records import document_id
from chatbot.store.catalog import Catalog, Version
from chatbot.store.contents import StoredPage
from chatbot.store.document_names import display_name, free_name, looks_like
from chatbot.store.indexing import Indexes
from chatbot.store.jobs import AddResult, Job, Phase
from chatbot.store.kept_copies import Copies, KeptName
from chatbot.store.term_scores import lexicon_of, terms_of
from ingestion.chunks import chunk_pages
from ingestion.document import Circumstances, DocumentReading, read_document
from ingestion.ocr.scan_languages import ENGLISH, ScanLanguages, language_data
from ingestion.precedence import giving_way
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.formats import ATTACHED, is_omission
from ingestion.reading.reader import Reader
from ingestion.records import NO_FACTS, Chunk, Page

__all__ = [
    "NOT_COMPLETE",
    "NO_VECTORS",
    "AddResult",
    "Upload",
    "VersionBuilder",
    "cut_up",
    "different_files",
    "failed_upload",
]

log = logging.getLogger(__name__)
Elsewhere: TypeAlias = Callable[[Path, Circumstances], DocumentReading]
# Shown for a document whose vectors could not be made.
NO_VECTORS = "Searched by words only, because its vectors could not be created: {}"
# Shown for a document whose images could not be read.
NOT_COMPLETE = "Its text can be searched, but its pictures could not be read: {}"
LOOKS_LIKE = "Its name looks like that of another document, {}, but has other letters. Rename one of them."
NO_TEXT = "No text was found on any page."
# The remarks that a warning has itself.
MOST_SAID = 5
# Passages whose vectors are indexed before others may change the store.
INDEXED_AT_ONCE = 128
# What stands between the names of a file and of one that it carries, and how often it may in one name.
WITHIN, MOST_WITHIN = " › ", 3
PATH_END = re.compile(r".*[\\/]", re.DOTALL)
# What of a result changes when the rest of a version is read.
CHANGING = ("pages", "chunks", "ocr_pages", "failed_pages", "lacks")
# The most characters of a name. No file system has longer ones, but --name may be given anything.
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to add.

    name: what it will be called (default: the file's own name).
    password: for this reading only, never stored.
    languages: see Job.
    """

    path: Path
    name: str = ""
    password: str | None = None
    languages: str = ""


@dataclass(frozen=True, slots=True)
class CutReading:
    """A reading as it is stored. words: the terms of each chunk. lexicon: of all of them."""

    reading: DocumentReading
    chunks: list[Chunk]
    words: list[list[str]]
    lexicon: bytes


class VersionBuilder:
    """The steps of an addition.

    `read` may run in several threads at once; the other steps take turns by `lock`.

    names_due: whether the names beside some copy could not be written.
    elsewhere: reads files in place of this machine, if given; see read_document.
    """

    def __init__(
        self,
        catalog: Catalog,
        copies: Copies,
        indexes: Indexes,
        lock: threading.RLock,
        *,
        most_pages: int = 0,
        languages: ScanLanguages = ENGLISH,
    ) -> None:
        """most_pages, languages: as in Circumstances; the latter for jobs that have none of their own."""
        self.names_due = False
        self._most_pages, self._languages = most_pages, languages
        self.elsewhere: Elsewhere | None = None
        self._catalog, self._copies, self._indexes, self._lock = catalog, copies, indexes, lock

    def take(self, source: Path | BinaryIO, name: str, password: str | None = None, **details: Any) -> Job:
        """Keeps a copy of a file and notes that it waits. details: of its job.

        Raises DocumentError for an impossible name, languages that cannot be read, or if the copy cannot be
        kept.
        """
        name = display_name(name)
        self.check_languages(details.get("languages", ""))
        waiting = list[Job]()

        def note(digest: str) -> None:
            with self._lock:
                size = self._copies.size(digest)
                waiting.append(self._catalog.wait(name, digest, size=size, **details))
                if not self._copies.has(digest):  # erased with a document of these bytes at this very moment
                    self._catalog.end(waiting[0].id, Phase.FAILED)
                    raise DocumentError(
                        "The file was erased while it was being added.", hint="Add it again.", retryable=True
                    )

        if isinstance(source, Path):
            self._copies.take_file(source, name, noted=note)
        else:
            self._copies.take(source, name, noted=note)
        return replace(waiting[0], password=password)

    def check_languages(self, codes: str) -> None:
        """Raises DocumentError if images cannot be read in these languages, or for "" in the setting's."""
        if (languages := self._spoken(codes)) != ENGLISH:
            language_data(languages)

    def _spoken(self, codes: str) -> ScanLanguages:
        return self._languages._replace(codes=codes or self._languages.codes)

    def known(self, taken: Job) -> AddResult | None:
        """Returns the result if these bytes are stored already, in these languages, under this or another
        name; else None.
        """
        if taken.again:
            return None
        with self._lock:
            holding = self._catalog.holding(taken.digest)
            if holding is None or taken.languages not in ("", holding.languages):
                return None
            newest = self._catalog.newest(taken.name)
            if newest is not None and newest.sha256 == taken.digest:
                result = self._result(newest, taken.name, "unchanged")
                self._catalog.end(taken.id, Phase.DONE, result)
                self.write_names({taken.digest})
                return result
            status = "added" if self._catalog.find(taken.name) is None else "replaced"
            self._catalog.link(taken.name, holding.id)
            result = replace(self._result(holding, taken.name, status), linked=True)
            self._catalog.end(taken.id, Phase.DONE, result)
            self.write_names({taken.digest, *([newest.sha256] if newest else [])})
            for name, removed_at in self._catalog.names_of(taken.digest):
                if name != taken.name and removed_at is None:
                    warning = f"The same file as {name}; it is kept once, under both names."
                    return replace(result, warning=warning)
            return result

    def read(
        self,
        taken: Job,
        *,
        processes: int,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> DocumentReading:
        """Reads a file. Its images may be left for later, but not if a password opens it, which is not kept,
        or if it is read again.

        Raises DocumentError and its subclasses.
        """
        how = self._circumstances(taken, processes, progress, cancelled)
        how = replace(how, password=taken.password, images_later=not (taken.password or taken.again))
        path = self._copies.path_to_read(taken.digest, taken.name, taken.password, cancelled)
        return (self.elsewhere or read_document)(path, how)

    def store(self, taken: Job, cut: CutReading) -> AddResult:
        """Stores pages, chunks and terms in the catalogue and the keyword index. Raises StoreError.

        From here on the file is found by its words.
        """
        reading = cut.reading
        with self._lock:
            before = self._catalog.find(taken.name)
            version = self._catalog.begin(
                taken.name,
                taken.digest,
                reading.info.title,
                protected=bool(taken.password) and reading.info.encrypted,
                facts=reading.facts,
            )
            if (
                self._catalog.correction(taken.digest) == NO_FACTS
                and (said := self._copies.beside(taken.digest).said) != NO_FACTS
            ):
                self._catalog.correct(
                    taken.digest, said
                )  # the catalogue was lost, and is rebuilt from the copies
            self._catalog.fill(version, reading, cut.chunks, cut.lexicon)
            self._indexes.add_words(version, cut.words)
            self._catalog.searchable(version, taken.id)
            stored = self._catalog.version(version)
            if stored is None:
                # The database went away and the claim with it, so another process took the version for one
                # that nobody is adding. The file waits on.
                raise StoreError(
                    f"{taken.name} was dropped while it was being added.",
                    hint="Add it again.",
                    retryable=True,
                )
            self._catalog.forget_drafts()
            self._catalog.recall_names(stored)
            self.write_names({taken.digest, *([before.sha256] if before else [])})
            result = self._result(stored, taken.name, "replaced" if before else "added")
            return replace(result, warning=self._left_out(stored.id, result))

    def take_attached(self, result: AddResult, taken: Job, reading: DocumentReading) -> AddResult:
        """Keeps the documents that a file carries, and notes that they wait. Returns the result with their
        jobs, or with a warning if they cannot be kept.
        """
        numbers = [page.number for page in reading.pages if _carries(page)]
        path = self._copies.readable(taken.digest) if numbers else None
        if path is None or taken.name.count(WITHIN) == MOST_WITHIN:
            return result
        jobs = dict[str, int]()
        try:
            with Reader(path, password=taken.password) as reader:
                for name, file in reader.attached(numbers):
                    own = f"{taken.name}{WITHIN}{PATH_END.sub('', name)}"
                    own = free_name(own, jobs) if own in jobs else own
                    jobs[own] = self.take(file, own, owner=taken.owner, awaited=taken.awaited).id
        except (DocumentError, StoreError) as error:
            result = replace(result, warning=f"What it carries could not be added: {error}")
        return replace(result, attached=tuple(jobs.values()))

    def complete(
        self,
        version: int,
        *,
        processes: int,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
        changed: Callable[[int], None],
    ) -> None:
        """Reads what only images show, where that was left for later.

        If the version is erased meanwhile, reading stops. Raises DocumentError and its subclasses,
        CancelledError, StoreError.

        changed: called as soon as what is stored has changed.
        progress: its phase is "images".
        """
        stored = self._catalog.version(version)
        if stored is None or not stored.lacks:
            return

        def told(phase: str, done: int, total: int) -> None:
            if phase == "ocr":  # the pages are read in a moment beside their images
                progress("images", done, total)

        def stops() -> bool:
            return cancelled() or self._catalog.version(version) is None

        how = self._circumstances(stored, processes, told, stops)
        try:
            path = self._copies.path_to_read(stored.sha256, stored.document or "", cancelled=stops)
            reading = read_document(path, how)
        except CancelledError:
            if cancelled():
                raise
        else:
            self._refill(stored, reading, changed)

    def _refill(self, version: Version, reading: DocumentReading, changed: Callable[[int], None]) -> None:
        numbers = [page.number for page in reading.pages if page.problem is not None]
        before = self._catalog.pages(version.id, numbers)
        # A page that cannot be read now, but could be before, keeps its text.
        pages = tuple(
            _as_before(page, before[page.number])
            if page.number in before and before[page.number].text
            else page
            for page in reading.pages
        )
        reading = replace(reading, pages=pages)
        cut = cut_up(version.document or self._catalog.name_of(version.id), reading)
        with self._lock:
            if self._catalog.version(version.id) is None:
                return
            self._indexes.refilling(version.id)
            try:
                self._catalog.refill(version.id, reading, cut.chunks, cut.lexicon)
            finally:
                changed(version.id)
            self._indexes.follow(version.id, cut.words)
            self._catalog.forget_drafts()
        ordinals = range(len(cut.chunks) if self._indexes.vectors.exists() else 0)
        for at in range(0, len(ordinals), INDEXED_AT_ONCE):
            with self._lock:  # others change the store in between
                if self._catalog.version(version.id) is not None:
                    self._indexes.add_vectors(version.id, ordinals[at : at + INDEXED_AT_ONCE])
        with self._lock:
            self._indexes.settled(version.id)

    def result_of(self, version: int, result: AddResult) -> AddResult:
        """Returns the result of an addition as its version is now."""
        stored = self._catalog.version(version)
        if stored is None:
            return result
        now = self._result(stored, result.document, result.status)
        warning = self._left_out(version, now) or result.warning
        changed = {name: getattr(now, name) for name in CHANGING}
        return replace(result, warning=warning, **changed)

    def _left_out(self, version: int, result: AddResult) -> str | None:
        """Says what of a version's file is not in its text, None where all is."""
        if not (result.chunks or result.lacks):
            return NO_TEXT
        if other := looks_like(result.document, self._catalog.names()):
            return LOOKS_LIKE.format(other)
        remarks = self._catalog.remarks(version)
        if not remarks:
            return None
        said = [
            f"page {page}, {remark}"
            for page, of_page in remarks.items()
            for remark in of_page
            if is_omission(remark)
        ]
        if not said:
            return None
        more = len(said) - MOST_SAID
        rest = f"; and {more:,} more, which GET /api/v1/documents/ID/report lists" if more > 0 else ""
        return f"Not read: {'; '.join(said[:MOST_SAID])}{rest}"

    def _circumstances(
        self,
        file: Job | Version,
        processes: int,
        progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> Circumstances:
        """Returns how to read the file.

        Pages that are read from images are kept as they come, so that an interrupted reading can continue.
        """
        digest = file.digest if isinstance(file, Job) else file.sha256
        languages = self._spoken(file.languages)
        return Circumstances(
            processes=processes,
            progress=progress,
            cancelled=cancelled,
            images=self._catalog.drafts(digest, languages.codes),
            keep=lambda page: self._catalog.keep_draft(digest, page, languages.codes),
            most_pages=self._most_pages,
            languages=languages,
        )

    def give_up(self, taken: Job, error: ProjectError | None = None, *, keep: bool = False) -> AddResult:
        """Gives up a file that is not added after all: its copy is deleted unless something else needs it.

        keep: it goes on waiting for what `error` asks of the user, as a recovered file always does.
        """
        if isinstance(error, MissingProgramError):  # it is tried again at the next start
            return failed_upload(taken.name, error)
        result = AddResult(taken.name, "failed", error="Cancelled.")
        with self._lock:
            if error is None:
                if taken.recovered:
                    return result
                self._catalog.end(taken.id, Phase.CANCELLED)
            else:
                result = failed_upload(taken.name, error)
                if error.retryable and taken.left:
                    return result
                if keep or taken.recovered:
                    self._catalog.hold(taken.id, str(error))
                else:
                    self._catalog.end(taken.id, Phase.FAILED, result)
            if taken.digest in self._catalog.seen():
                again = error is not None and error.retryable
                self._catalog.tried(taken.digest, str(error or ""), again=again)
            self.drop_unneeded()
        return result

    def drop_unneeded(self) -> None:
        """Deletes the copies that nothing needs any more. Other files in the folder are never touched."""
        gone = self._catalog.to_erase()
        for digest in gone:
            self._copies.drop(digest)
        self._catalog.erased(gone)

    def write_names(self, hashes: set[str]) -> None:
        """Writes changed names, and languages that are not the setting's, from the catalogue beside the
        copies of these files.

        The indexes follow at the next sweep.
        """
        for digest in hashes:
            if not self._copies.has(digest):
                continue
            there = self._copies.beside(digest)
            held = self._catalog.holding(digest) or there
            languages = held.languages if held.languages != self._languages.codes else ""
            kept = tuple(KeptName(*name) for name in self._catalog.names_of(digest))
            # What was replaced must not come back when a store is rebuilt.
            now = self._catalog.clock.now()
            replaced = tuple(KeptName(name.name, name.removed_at or now) for name in there.names)
            if there == (kept or replaced, there.said, languages):
                continue
            try:
                self._indexes.renamed()
                self._copies.write_beside(digest, names=kept or replaced, languages=languages)
            except (
                DocumentError,
                StoreError,
            ) as error:  # the change itself is stored already and must not fail for the names
                log.warning(
                    "The names next to a copy will be saved when the store is opened again: %s", error
                )
                self.names_due = True

    def _result(self, version: Version, name: str, status: str) -> AddResult:
        pages = self._catalog.report(version.id)
        failed = tuple((page.number, page.problem) for page in pages if page.problem is not None)
        ocr = sum(page.method in {"ocr", "text+ocr"} for page in pages)
        counts = (len(pages), version.chunks, ocr)
        lacks = bool(version.lacks)
        return AddResult(name, status, document_id(name), *counts, failed, version=version.id, lacks=lacks)


def _as_before(page: Page, before: StoredPage) -> Page:
    """Returns a page that could not be read with the text it already has."""
    return replace(
        page,
        text=before.text,
        label=before.label,
        label_source=before.label_source,
        method=before.method,
        confidence=before.confidence,
        running=before.running,
        instructions=find_instructions(before.text),
        problem=None,
    )


def _carries(page: Page) -> bool:
    """Tells whether files are attached to a page."""
    return any(said.startswith(ATTACHED) for said in page.remarks)


def cut_up(
    name: str,
    reading: DocumentReading,
    chunked: Callable[[Sequence[Chunk]], None] = lambda chunks: None,
) -> CutReading:
    """Returns a reading with its chunks and terms. This takes long for a long file, and needs no lock.

    name: the document's, with which every chunk's context begins.
    chunked: called with the chunks as soon as they are known.
    """
    chunks = list(chunk_pages(reading.pages, Path(name).stem.replace("_", " ").strip()))
    chunked(chunks)
    words = [terms_of(chunk) for chunk in giving_way(chunks)]
    lexicon = lexicon_of(
        words, [page.text for page in reading.pages], {page.number: page.tables for page in reading.pages}
    )
    return CutReading(reading, chunks, words, lexicon)


def failed_upload(name: str, error: ProjectError) -> AddResult:
    """Returns the result of a file that could not be taken, or read."""
    result = AddResult(name[:LONGEST_NAME], "failed", error=str(error), retryable=error.retryable)
    return replace(result, needs_password=isinstance(error, EncryptedError))


def different_files(name: str, first: object, second: object) -> DocumentError:
    """Returns the error for two different files of one name in one call.

    first, second: their paths, or something else if they have none.
    """
    if not (isinstance(first, Path) and isinstance(second, Path)):
        return DocumentError(
            f"Two different files are called {name}.", hint="Rename this one and add it again."
        )
    return DocumentError(
        f"{second} and {first} are different files with the same name, {name}.",
        hint="Add the second with --name.",
    )
