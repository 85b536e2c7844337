"""Moves a store to where other settings say, and compares the two. The source is never changed.

A migration that was broken off begins anew: what it had brought is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.settings import PROGRAM, Settings
from chatbot.store import api_keys
from chatbot.store.catalog import NAME, SCHEMA, Catalog
from chatbot.store.chroma_server import ChromaServer
from chatbot.store.copy_files import CopyFiles, prepared
from chatbot.store.database import Database, PostgresPlace, open_database, place_of
from chatbot.store.indexing import Indexes
from chatbot.store.kept_copies import copy_name, files_of, is_copy, is_kept
from chatbot.store.lock import StoreLock, release
from chatbot.store.migration.migration_mark import (
    CLAIMING,
    WORK,
    MigrationMark,
    refuse_unfinished,
    shown_parts,
)
from chatbot.store.migration.table_copying import ComparedPart, MovedDatabase, MovedPart, Progress
from chatbot.store.migration.table_shapes import TableSum, summary_of
from chatbot.store.postgres_faults import shown_address

__all__ = ["ComparedPart", "StoreMigration", "compare_copies", "kept_names", "move_copies"]

# A table in which a store that nobody has used yet has rows.
NEVER_EMPTY = "meta"
EMPTY = "Name an empty place, or empty this one."
# Connections of servers and commands; one of them is this process's own, which holds the claim.
OTHERS = """select count(*) from pg_stat_activity where application_name like 'finpolicy%'
    and datname = current_database() and pid != pg_backend_pid()"""
OWN = 1
# Seconds to wait for the end of connections whose processes were killed just now.
END_SECONDS, LOOK_SECONDS = 6.0, 0.1


class StoreMigration:
    """One move of a store."""

    def __init__(
        self,
        source: Settings,
        target: Settings,
        others: Sequence[MovedPart],
        progress: Progress,
        *,
        embedder: Embedder | None = None,
    ) -> None:
        """source, target: where the store is, and where it goes; what is the same in both is not moved.

        others: databases beside the catalogue and the keys. embedder: by default the one of the settings.
        """
        self._source, self._target, self._progress = source, target, progress
        self._embedder = embedder or make_embedder(source)
        same = [before == after for before, after in zip(*map(shown_parts, (source, target)), strict=True)]
        self._moves_tables, self._moves_vectors, self._moves_copies = (not one for one in same)
        # The store's name on a Chroma server goes with it only if its vectors stay there.
        of_the_place = "'vectors_aligned'"
        if self._moves_vectors or not source.chroma_url:
            of_the_place += ", 'owner'"
        meta = {"meta": f"key not in ({of_the_place})"}
        # The catalogue comes first.
        self._parts = [
            MovedPart(NAME, SCHEMA, lambda _: [SCHEMA.tables], only=meta),
            MovedPart("api_keys", api_keys.SCHEMA, lambda _: [api_keys.SCHEMA.tables]),
            *others,
        ]
        # Whether it had been finished before, so that it is only compared now.
        self.was_finished = False
        # How many files the catalogue has, and how many of them have no copy in the target.
        self.files = self.without_copy = 0

    def run(self) -> Iterator[ComparedPart]:
        """Moves everything, then yields what is compared.

        Raises StoreError if somebody uses the store or its target, if the target holds anything else, or for
        what an engine refuses.
        """
        with ExitStack() as opened:
            opened.enter_context(_claimed([self._source, self._target]))
            sources = self._open_sources(opened)
            mark = opened.enter_context(closing(MigrationMark(self._source, self._target)))
            self.was_finished = mark.finished
            if not mark.finished:
                self._refuse_what_is_there(mark)
                mark.note()
            databases = self._open_targets(opened, sources)
            if not mark.finished:
                self._move(databases)
            catalog = opened.enter_context(closing(Catalog(place_of(self._target, NAME))))
            indexes = opened.enter_context(closing(Indexes(catalog, self._target, self._embedder)))
            if not mark.finished:
                self._fill(indexes)
            equal = True
            for compared in self._compare(databases, catalog, indexes):
                equal = equal and compared.equal
                yield compared
            if equal and not mark.finished:
                mark.note(time.time())

    # --- opening
    # --------------------------------------------------------------------------------------------------------

    def _open_sources(self, opened: ExitStack) -> dict[str, Database]:
        """Opens the databases of the source that exist, to be read."""
        found: dict[str, Database] = {}
        for part in self._parts:
            place = place_of(self._source, part.name)
            if isinstance(place, Path):
                exists = place.exists()
            else:
                look = "select to_regnamespace(?) is not null"
                exists = not found or found[NAME].read(look, (f"finpolicy_{part.name}",))[0][0]
            if exists:
                database = open_database(place, part.schema, read_only=True)
                found[part.name] = opened.enter_context(closing(database))
            elif not found:
                raise StoreError(
                    f"There is no store in {shown_parts(self._source)[0]}.",
                    hint="Set FINPOLICY_HOME or FINPOLICY_DATABASE_URL to the store that is to be moved.",
                )
        refuse_unfinished(self._source, found[NAME], moving=True)
        return found

    def _open_targets(self, opened: ExitStack, sources: dict[str, Database]) -> list[MovedDatabase]:
        found: list[MovedDatabase] = []
        for part in self._parts if self._moves_tables else ():
            if source := sources.get(part.name):
                place = place_of(self._target, part.name)
                target = opened.enter_context(closing(open_database(place, part.schema)))
                part.prepare(place, source)
                found.append(MovedDatabase(part, source, target, self._progress))
        return found

    def _refuse_what_is_there(self, mark: MigrationMark) -> None:
        """Raises StoreError if the target is not empty, but for what a migration of this store brought, or if
        its Chroma server does not answer.
        """
        databases, _, copies = shown_parts(self._target)
        if self._moves_vectors and self._target.chroma_url:
            with closing(ChromaServer(self._target.chroma_url, self._target.chroma_token)) as server:
                server.ping()
        there = list[str]()
        for part in self._parts if self._moves_tables and databases not in mark.left_in else ():
            place = place_of(self._target, part.name)
            if not isinstance(place, Path) or place.exists():
                with closing(open_database(place, part.schema)) as database:
                    counts = part.counts(database)
                there += [
                    f"{count:,} rows of {name}"
                    for name, count in counts.items()
                    if count and name != NEVER_EMPTY
                ]
        if there:
            raise StoreError(f"{databases} already holds a store: {', '.join(there)}.", hint=EMPTY)
        is_new = self._moves_copies and copies not in mark.left_in
        if is_new and (count := len(kept_names(files_of(self._target)))):
            raise StoreError(f"{copies} already holds {count:,} kept files.", hint=EMPTY)

    # --- moving and comparing
    # --------------------------------------------------------------------------------------------------------

    def _move(self, databases: Sequence[MovedDatabase]) -> None:
        source, target = files_of(self._source), files_of(self._target)
        if self._moves_copies:
            # What an earlier attempt brought and the source does not have any more, while the target's
            # catalogue still tells: other files of the target are somebody else's.
            with closing(Catalog(place_of(self._target, NAME))) as catalog:
                former = catalog.hashes()
            for name in set(kept_names(target)) - set(kept_names(source)):
                if name.partition(".")[0] in former:
                    target.delete(name)
        for database in databases:
            database.copy()
        if self._moves_copies:
            move_copies(source, target, partial(self._progress, "copies", "moving"))

    def _fill(self, indexes: Indexes) -> None:
        """Makes the indexes that are moved anew from the catalogue, which has all vectors too."""
        if self._moves_tables:
            indexes.keywords.remove(list(indexes.keywords.counts()))
            indexes.align_words(partial(self._progress, "words", "moving"))
        if self._moves_vectors:
            indexes.give_up_vectors()
            indexes.fill_vectors(partial(self._progress, "vectors", "moving"))

    def _compare(
        self, databases: Sequence[MovedDatabase], catalog: Catalog, indexes: Indexes
    ) -> Iterator[ComparedPart]:
        for database in databases:
            yield from database.compared()
        target = files_of(self._target)
        if self._moves_copies:
            told = partial(self._progress, "copies", "comparing")
            yield ComparedPart("kept files", *compare_copies(files_of(self._source), target, told))
        digests, kept = catalog.hashes(), set(kept_names(target))
        self.files = len(digests)
        self.without_copy = sum(copy_name(digest) not in kept for digest in digests)
        if self._moves_tables:
            yield ComparedPart("index of words", *indexes.compare_words())
        if self._moves_vectors:
            compared = ComparedPart(
                "index of vectors", *indexes.compare_vectors(partial(self._progress, "vectors", "comparing"))
            )
            if compared.equal:
                indexes.found_equal()
            yield compared


@contextmanager
def _claimed(stores: Sequence[Settings]) -> Iterator[None]:
    """Holds the folders and databases of these stores, so that nobody else uses them.

    Raises StoreError if a server, a command or another migration uses one of them.
    """
    with ExitStack() as held:
        for folder in sorted({store.store for store in stores}):
            held.callback(release, StoreLock(folder / "store.lock"))
        for address in sorted({store.database for store in stores} - {""}):
            database = open_database(PostgresPlace(address, CLAIMING), SCHEMA)
            held.enter_context(closing(database))
            _claim(database, address)
        yield


def _claim(database: Database, address: str) -> None:
    end, claimed = time.monotonic() + END_SECONDS, False
    while time.monotonic() < end:
        claimed = claimed or database.claim(WORK)
        if claimed and database.read(OTHERS)[0][0] <= OWN:
            return
        time.sleep(LOOK_SECONDS)
    who, wait = "A server or a command", "Stop all that use it"
    if not claimed:
        who, wait = "Another migration", "Wait until it has ended"
    hint = f"{wait}, then try again."
    raise StoreError(f"{who} uses the database {shown_address(address)}.", hint=hint, retryable=True)


# (done, all).
Told = Callable[[int, int], None]


def kept_names(files: CopyFiles) -> list[str]:
    """Returns the names of all copies and of what is beside them, each copy after its names. Raises
    StoreError.
    """
    return sorted(name for name, _, _ in files.listed() if is_kept(name))


def move_copies(source: CopyFiles, target: CopyFiles, told: Told) -> None:
    """Copies what the target lacks or has otherwise.

    A file becomes visible in the target when it is complete. Raises StoreError, also for what is no plain
    file; OSError.
    """
    if strange := sorted(filter(is_kept, source.strange())):
        raise _damaged(strange[0], "is a link, or no plain file")
    names = kept_names(source)
    for done, name in enumerate(names, 1):
        if not (is_copy(name) and target.size(name) == source.size(name)):
            with prepared(target.incoming, source.parts(name)) as file:
                target.put(file, name)
        told(done, len(names))


def compare_copies(source: CopyFiles, target: CopyFiles, told: Told) -> tuple[TableSum, TableSum]:
    """Reads all files of both, and sums up their names and SHA-256.

    Raises StoreError, also for a copy with other bytes than those that it is named by; OSError.
    """
    return summary_of(_hashes(source, told)), summary_of(_hashes(target, told))


def _hashes(files: CopyFiles, told: Told) -> Iterator[tuple[str, str]]:
    """Yields (name, SHA-256) of every file."""
    names = kept_names(files)
    for done, name in enumerate(names, 1):
        digest = files.sha256(name)
        if is_copy(name) and name != copy_name(digest):
            raise _damaged(name, "has other bytes than those that it is named by")
        yield name, digest
        told(done, len(names))


def _damaged(name: str, how: str) -> StoreError:
    return StoreError(f"The kept file {name} {how}.", hint=f"Run `{PROGRAM} doctor --repair` first.")
