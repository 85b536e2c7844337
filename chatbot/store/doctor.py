"""Checks the store (catalogue, copies, indexes, space), says how to repair it, and repairs it if asked."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from chatbot.errors import DocumentError, ProjectError, StoreError
from chatbot.settings import PROGRAM
from chatbot.store import api_keys
from chatbot.store.catalog import Version
from chatbot.store.database import open_database
from chatbot.store.disk_reserve import MAKE_ROOM, RESERVE_BYTES, free_bytes, is_full
from chatbot.store.index_errors import IndexDamagedError
from chatbot.store.jobs import Phase
from chatbot.store.kept_copies import KeptName
from chatbot.store.library import Library, Progress, no_progress
from chatbot.store.migration import migration_mark
from chatbot.store.plain_files import strange_in
from chatbot.store.seals import LEXICON, TEXT
from ingestion.reading.formats import is_opened

__all__ = ["DAMAGED", "LITTLE_SPACE", "Finding", "examine", "glance"]

# With fewer free bytes additions will soon fail: a 600-page volume takes about 30 MB with vectors and
# indexes, and as much again for its copy.
LITTLE_SPACE = 500 * 2**20
# What the name of a file ends in that could not be read whole and was set aside, before the time.
DAMAGED = "damaged"
REPAIR = f"Run `{PROGRAM} doctor --repair`."
READ_ANEW = (
    f"The server reads it again when it has nothing else to do. To do it now, {REPAIR[0].lower()}{REPAIR[1:]}"
)
NO_FILE = ("its file is missing: it can be searched, but its pages cannot be shown", "Add the file again.")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of the store.

    document: its name, None for the store as a whole.
    fix: what to do, or what was done if `mended`.
    """

    document: str | None
    problem: str
    fix: str
    mended: bool = False


def _made_again(document: str | None, problem: str, done: str, repair: bool) -> Finding:
    """Returns a fault that was mended if that was asked for. done: what was done then."""
    return Finding(document, problem, done if repair else REPAIR, repair)


def examine(library: Library, *, repair: bool = False, progress: Progress = no_progress) -> Iterator[Finding]:
    """Finishes interrupted work, then checks everything. A sound store yields nothing.

    With `repair`, what can be repaired is.
    """
    yield from _files(library)
    yield from _unfinished(library, progress)
    yield from _catalogue(library)
    yield from _databases(library)
    for check in (_versions, _copies, _indexes, _readings):
        found = list(check(library, repair))
        if repair and any(finding.mended for finding in found):
            library.resume(progress=progress)
        yield from found
    yield from _lying(library)
    yield from _space(library)
    yield from _scans(library)


def _scans(library: Library) -> Iterator[Finding]:
    """Finds that scans cannot be read in the languages of the setting."""
    try:
        library.adding.check_languages("")
    except DocumentError as error:
        yield Finding(None, f"FINPOLICY_OCR_LANGUAGES: {error.message.removesuffix('.')}", error.hint)


def glance(library: Library) -> list[Finding]:
    """Finds faults that can be seen at once, without reading any document, for a page that is opened often.

    Not to be called while anything is being added.
    """
    live = library.scope(())
    kept = set(library.copies.all())
    found = [
        Finding(live[row.id], *NO_FILE)
        for row in library.catalog.stored()
        if row.id in live and row.sha256 not in kept
    ]
    with suppress(ProjectError):  # `examine` says what is wrong with it
        there = library.indexes.keywords.count()
        expected = sum(library.catalog.chunk_counts().values())
        if there != expected:
            found.append(Finding(None, f"the keyword index has {there:,} of {expected:,} passages", REPAIR))
    return found


def _files(library: Library) -> Iterator[Finding]:
    """Finds links and pipes where the store has files, and files that were damaged and set aside."""
    folder = library.folder
    strange = {*strange_in(folder), *library.copies.strange()} - {folder}
    for path in sorted(strange):
        yield Finding(None, f"{path} is a link, or no plain file, and is not opened", f"Delete it. {REPAIR}")
    for path in sorted([*folder.glob(f"*.{DAMAGED}-*"), *folder.glob(f"*/*.{DAMAGED}-*")]):
        if not path.name.endswith(("-wal", "-shm")):
            yield Finding(
                None,
                f"{path.name} was damaged and set aside; what could be read of it was saved",
                f"Put a backup in its place, or delete {path} when you do not need it.",
            )


def _databases(library: Library) -> Iterator[Finding]:
    """Finds damage of the small databases beside the catalogue."""
    for name, schema in (("api_keys", api_keys.SCHEMA), ("migration", migration_mark.SCHEMA)):
        path = library.folder / f"{name}.sqlite3"
        if not (path.exists() or path.is_symlink()):
            continue
        try:
            with closing(open_database(path, schema, read_only=True)) as database:
                found = database.complaints()
        except StoreError as error:
            found = [error.message.removesuffix(".")]
        for line in found:
            yield Finding(
                None,
                f"{path.name} is damaged: {line}",
                f"Put a backup of {path} in its place, or move it away.",
            )


def _unfinished(library: Library, progress: Progress) -> Iterator[Finding]:
    """Finds what cannot be finished: files that need the user, vectors that cannot be made."""
    try:
        for result in library.resume(progress=progress):
            if result.status == "failed":
                yield Finding(
                    result.document,
                    f"it was not read, and reading it failed: {result.error}",
                    "Add it again.",
                )
    except ProjectError as error:
        waiting = sorted({version.document for version in library.without_vectors()})
        if waiting or not is_full(library.folder):  # reported by `_space`
            yield Finding(
                waiting[0] if waiting else None,
                f"{len(waiting)} documents have no vectors yet: {error.whole_message}",
                error.hint,
            )
    for job in library.catalog.waiting():
        if job.phase == Phase.PASSWORD:
            yield Finding(
                job.name,
                f"it is not added yet: {(job.problem or '').rstrip('.')}",
                "Add it again (with `--passwords` if protected), or erase it with `remove NAME --purge`.",
            )


def _catalogue(library: Library) -> Iterator[Finding]:
    wrong = [
        f"{named!r} stands where the SHA-256 of a file should be" for named in library.catalog.no_digests()
    ]
    for line in [*library.catalog.database.complaints(), *wrong]:
        yield Finding(None, f"the catalogue is damaged: {line}", f"Run `{PROGRAM} rebuild`.")


def _versions(library: Library, repair: bool) -> Iterator[Finding]:
    """Finds versions that lack some of what they should have, or have it otherwise."""
    fingerprint = library.embedder.fingerprint
    held = library.catalog.held()
    vectors = library.catalog.vector_counts(fingerprint)
    for row in library.catalog.stored():
        pages, chunks, lexicon = held.get(row.id, (0, 0, False))
        if (pages, chunks) != (row.pages, row.chunks) or not lexicon:
            problem = f"{pages} of {row.pages} pages and {chunks} of {row.chunks} passages are there"
            finding = Finding(next(iter(library.catalog.holders(row.id)), None), problem, REPAIR)
            yield _read_again(library, finding, row.id) if repair else finding
        elif row.state == "ready" and row.fingerprint == fingerprint and vectors.get(row.id, 0) != row.chunks:
            if repair:
                library.catalog.restart_vectors(row.id, fingerprint)
            problem = f"{vectors.get(row.id, 0)} of {row.chunks} vectors are there"
            yield _made_again(row.document, problem, "They were created again.", repair)
        else:
            yield from _changed(library, row, repair)


def _changed(library: Library, row: Version, repair: bool) -> Iterator[Finding]:
    """Finds what of a version is not as it was stored."""
    fingerprint = library.embedder.fingerprint
    changed = library.catalog.damaged(row.id, fingerprint)
    if TEXT in changed or LEXICON in changed:
        finding = Finding(row.document, "what was read of it has changed in the catalogue", REPAIR)
        yield _read_again(library, finding, row.id) if repair else finding
    elif fingerprint in changed:
        if repair:
            library.catalog.restart_vectors(row.id, fingerprint, anew=True)
            library.indexes.unaligned()
        problem = "its vectors have changed in the catalogue"
        yield _made_again(row.document, problem, "They were created again.", repair)


def _read_again(library: Library, finding: Finding, version: int) -> Finding:
    """Repairs a version and returns the finding.

    A version of a document is read again; one that could only be restored is given up.
    """
    if finding.document is None:
        library.discard(version)
        return replace(
            finding, fix="It was an older version, kept only for restoring, and was removed.", mended=True
        )
    try:
        library.read_again(finding.document)
    except ProjectError as error:
        return replace(finding, fix=f"Reading its copy failed: {error}")
    return replace(finding, fix="It was read from its copy again.", mended=True)


def _copies(library: Library, repair: bool) -> Iterator[Finding]:
    """Finds copies that are missing, damaged or belong to nothing."""
    needed = {row.sha256: row for row in library.catalog.stored()}
    for digest, row in needed.items():
        name = row.document
        if not library.copies.has(digest):
            yield Finding(name, *NO_FILE)
        elif not library.copies.sound(digest):
            if repair:
                library.copies.drop_damaged(digest)
            yield Finding(
                name,
                "its file is damaged",
                "Add the file again." if repair else f"{REPAIR} Then add the file again.",
            )
        elif (path := library.copies.readable(digest)) is not None and not is_opened(path):
            finding = Finding(name, "the PDF made of it is missing", REPAIR)
            yield _read_again(library, finding, row.id) if repair else finding
        else:
            yield from _names(library, digest, name, repair)
    for digest in sorted(set(library.copies.all()) - library.catalog.hashes()):
        names = ", ".join(name.name for name in library.copies.beside(digest).names) or None
        yield Finding(
            names,
            f"the copy {digest}.pdf belongs to no document",
            "Run `restore` or `remove --purge` with its name, or delete the file.",
        )


def _names(library: Library, digest: str, name: str, repair: bool) -> Iterator[Finding]:
    """Finds names and corrections beside a copy that are damaged, or not those of the catalogue."""
    catalog, copies = library.catalog, library.copies
    wanted = tuple(KeptName(*name) for name in catalog.names_of(digest))
    said = catalog.correction(digest)
    names, there, _ = copies.beside(digest)
    if names and (names == wanted or not wanted) and there == said:
        return
    if repair:
        copies.write_beside(digest, names=wanted or names or (KeptName(name, time.time()),), said=said)
    problem = "the names beside its copy are damaged or not those of the catalogue"
    yield _made_again(name, problem, "They were written again.", repair)


def _readings(library: Library, repair: bool) -> Iterator[Finding]:
    """Finds documents that an earlier version of the program has read."""
    for row in library.catalog.read_by_older():
        finding = Finding(row.document, "an earlier version of the program has read it", READ_ANEW)
        if not library.copies.has(row.sha256):
            yield replace(finding, fix="Its file is missing. Add it again.")
        elif row.protected:
            yield replace(finding, fix=f"Run `{PROGRAM} rebuild --passwords FILE.tsv` with its password.")
        else:
            yield _read_again(library, finding, row.id) if repair else finding


def _indexes(library: Library, repair: bool) -> Iterator[Finding]:
    """Finds indexes that differ from the catalogue."""
    while library.indexes.rebuilt:
        line = library.indexes.rebuilt.pop(0)
        yield Finding(None, line, "It was rebuilt from the catalogue.", repair)
    try:
        found = library.indexes.differences() or _vectors(library)
    except IndexDamagedError as error:
        found = [error.message]
    except StoreError as error:
        if not is_full(library.folder):
            yield Finding(None, error.whole_message, error.hint)
        return
    if found and repair:
        library.indexes.rebuild()
    for line in found:
        yield _made_again(None, line, "Both indexes were rebuilt from the catalogue.", repair)


def _vectors(library: Library) -> list[str]:
    """Says whether the index has other vectors than the catalogue. It is asked only on this machine."""
    if not (library.indexes.on_this_machine and library.indexes.vectors.exists()):
        return []
    before, after = library.indexes.compare_vectors(lambda *_: None)
    if before.count != after.count or before == after:  # a number is told by `differences`
        return []
    return ["the vector index has other vectors than the catalogue"]


def _lying(library: Library) -> Iterator[Finding]:
    """Finds files that users copied into the folder of documents and nobody added."""
    for one in library.unread():
        if one.problem:
            again = f"`{PROGRAM} add {shlex.quote(str(one.path))}`; with `--passwords` if protected."
            fix = f"Replace it with a readable file, or add it by path: {again}"
            yield Finding(
                one.name,
                f"{one.path} was copied there but could not be added: {one.problem.rstrip('.')}",
                fix,
            )
        else:
            fix = f"Run `{PROGRAM} add`, or start the server."
            yield Finding(one.name, f"{one.path} was copied there but has not been read yet", fix)


def _space(library: Library) -> Iterator[Finding]:
    for folder in (library.folder, library.copies.folder):
        free = free_bytes(folder)
        if free < LITTLE_SPACE:
            left = f"only {free / 2**20:.1f} MiB are free on the disk of {folder}"
            full = f"the disk is full, {left}: you can read and erase documents, but not add any"
            yield Finding(None, full if free < RESERVE_BYTES else left, MAKE_ROOM)
            return
