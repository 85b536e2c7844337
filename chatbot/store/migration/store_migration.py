"""Moves a store to where other settings say, and compares the two. The source is never changed.

Each step looks at what is there already, so a migration that was broken off goes on when it is begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.settings import Settings
from chatbot.store.catalog import NAME, Catalog
from chatbot.store.chroma_server import ChromaServer
from chatbot.store.database import Database, open_database, place_of
from chatbot.store.engines import engines_of
from chatbot.store.indexing import Indexes
from chatbot.store.kept_copies import copy_name, files_of
from chatbot.store.migration.copy_moving import compare_copies, kept_names, move_copies
from chatbot.store.migration.index_comparison import compare_vectors, compare_words
from chatbot.store.migration.migration_claims import claimed
from chatbot.store.migration.migration_mark import MigrationMark, refuse_unfinished, shown_parts
from chatbot.store.migration.moved_parts import MovedPart, store_parts
from chatbot.store.migration.row_values import TableSum
from chatbot.store.migration.table_copying import MovedTable, counted

__all__ = ["ComparedPart", "StoreMigration"]

# (what, "moving" or "comparing", done, all).
Progress = Callable[[str, str, int, int], None]
# Tables in which a store that nobody has used yet has rows.
NEVER_EMPTY = frozenset({"meta"})
EMPTY = "Name an empty place, or empty this one."


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """A table, the copies or an index, before and after. what: such as "catalog page"."""

    what: str
    before: TableSum
    after: TableSum

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return self.before == self.after


class StoreMigration:
    """One move of a store, from begin to end or on from where it was broken off."""

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
        self.moves_tables, self.moves_vectors, self.moves_copies = (not one for one in same)
        self._parts = [*others, *store_parts(same_vectors=not self.moves_vectors and bool(source.chroma_url))]
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
            opened.enter_context(claimed([self._source, self._target]))
            sources = self._open_sources(opened)
            mark = opened.enter_context(closing(MigrationMark(self._source, self._target)))
            self.was_finished = mark.finished
            if not mark.begun:
                self._refuse_what_is_there(mark)
                mark.begin()
            tables = self._open_tables(opened, sources)
            if not self.was_finished:
                self._move(tables)
            equal = True
            for compared in self._compare(tables):
                equal = equal and compared.equal
                yield compared
            if equal and not self.was_finished:
                mark.finish()

    # --- opening
    # --------------------------------------------------------------------------------------------------------

    def _open_sources(self, opened: ExitStack) -> dict[str, Database]:
        """Opens the databases of the source that exist, to be read. The catalogue comes first."""
        found: dict[str, Database] = {}
        for part in reversed(self._parts):
            place = place_of(self._source, part.name)
            if isinstance(place, Path):
                exists = place.exists()
            else:
                look = "select to_regnamespace(?) is not null"
                exists = not found or found[NAME].read(look, (f"finpolicy_{part.name}",))[0][0]
            if exists:
                database = open_database(place, part.schema, read_only=True)
                found[part.name] = opened.enter_context(closing(database))
        if NAME not in found:
            raise StoreError(
                f"There is no store in {shown_parts(self._source)[0]}.",
                hint="Set FINPOLICY_HOME or FINPOLICY_DATABASE_URL to the store that is to be moved.",
            )
        refuse_unfinished(self._source, found[NAME], moving=True)
        return found

    def _open_tables(
        self, opened: ExitStack, sources: dict[str, Database]
    ) -> list[tuple[str, MovedTable, int]]:
        """Opens the databases of the target, and returns (what, table, rows of the source) of all tables."""
        found: list[tuple[str, MovedTable, int]] = []
        if not self.moves_tables:
            return found
        for part in self._parts:
            if part.name not in sources:
                continue
            source, place = sources[part.name], place_of(self._target, part.name)
            shapes = part.shapes(source)
            target = opened.enter_context(closing(open_database(place, part.schema)))
            part.prepare(place, source)
            for shape in shapes:
                table = MovedTable(shape, source, target, only=part.only.get(shape.name, "true"))
                found.append((f"{part.name} {shape.name}", table, counted(source, shape)))
        return found

    def _refuse_what_is_there(self, mark: MigrationMark) -> None:
        """Raises StoreError if the target is not empty, but for what a migration of this store brought, or if
        its Chroma server does not answer.
        """
        databases, _, copies = shown_parts(self._target)
        if self.moves_vectors and self._target.chroma_url:
            with closing(ChromaServer(self._target.chroma_url, self._target.chroma_token)) as server:
                server.ping()
        left_in = mark.left_in
        there = list[str]()
        for part in self._parts if self.moves_tables and databases not in left_in else ():
            place = place_of(self._target, part.name)
            if isinstance(place, Path) and not place.exists():
                continue
            with closing(open_database(place, part.schema)) as database:
                rows = {shape.name: counted(database, shape) for shape in part.shapes(database)}
            there += [
                f"{count:,} rows of {name}"
                for name, count in rows.items()
                if count and name not in NEVER_EMPTY
            ]
        if there:
            begun = (
                f" of an unfinished migration from {mark.unfinished_source}" if mark.unfinished_source else ""
            )
            raise StoreError(f"{databases} already holds a store{begun}: {', '.join(there)}.", hint=EMPTY)
        is_new = self.moves_copies and copies not in left_in
        if is_new and (count := len(kept_names(files_of(self._target)))):
            raise StoreError(f"{copies} already holds {count:,} kept files.", hint=EMPTY)

    # --- moving
    # --------------------------------------------------------------------------------------------------------

    def _move(self, tables: Sequence[tuple[str, MovedTable, int]]) -> None:
        with closing(Catalog(place_of(self._target, NAME))) as catalog:
            former = catalog.hashes()
        surplus = sum(table.delete_surplus() for _, table, _ in reversed(tables))
        for what, table, rows in tables:
            table.copy(self._telling(what, "moving", rows))
        if surplus:  # deleting rows of one table may have made some of another
            for _, table, _ in reversed(tables):
                table.delete_surplus()
        if self.moves_copies:
            source, target = files_of(self._source), files_of(self._target)
            told = self._telling("copies", "moving", len(kept_names(source)))
            move_copies(source, target, told, former=former)
        with (
            closing(Catalog(place_of(self._target, NAME))) as catalog,
            closing(self._indexes(catalog)) as own,
        ):
            self._fill(catalog, own)

    def _fill(self, catalog: Catalog, indexes: Indexes) -> None:
        """Makes the indexes that are moved from the catalogue, which has all vectors too."""
        if self.moves_tables:
            told = partial(self._progress, "words", "moving")
            indexes.fill_words(told)
            if not _equal(compare_words(catalog, indexes)):
                indexes.keywords.remove(list(indexes.keywords.counts()))
                indexes.fill_words(told)
        if self.moves_vectors:
            indexes.fill_vectors(partial(self._progress, "vectors", "moving"))

    def _indexes(self, catalog: Catalog) -> Indexes:
        return Indexes(catalog, engines_of(self._target, catalog), self._embedder)

    def _telling(self, what: str, phase: str, total: int) -> Callable[[int], None]:
        return partial(_tell, self._progress, what, phase, total)

    # --- comparing
    # --------------------------------------------------------------------------------------------------------

    def _compare(self, tables: Sequence[tuple[str, MovedTable, int]]) -> Iterator[ComparedPart]:
        for what, table, rows in tables:
            yield ComparedPart(what, *table.compared(self._telling(what, "comparing", rows)))
        if self.moves_copies:
            source, target = files_of(self._source), files_of(self._target)
            told = self._telling("copies", "comparing", len(kept_names(source)))
            yield ComparedPart("kept files", *compare_copies(source, target, told))
        with (
            closing(Catalog(place_of(self._target, NAME))) as catalog,
            closing(self._indexes(catalog)) as own,
        ):
            digests = catalog.hashes()
            kept = set(kept_names(files_of(self._target)))
            self.files = len(digests)
            self.without_copy = sum(copy_name(digest) not in kept for digest in digests)
            if self.moves_tables:
                yield ComparedPart("index of words", *compare_words(catalog, own))
            if self.moves_vectors:
                yield self._compare_vectors_or_renew(catalog, own)

    def _compare_vectors_or_renew(self, catalog: Catalog, indexes: Indexes) -> ComparedPart:
        """Compares the index of vectors, which is made anew if it holds the right number of wrong ones."""
        compared = self._compare_vectors(catalog, indexes)
        if not _equal(compared) and not self.was_finished:
            indexes.give_up_vectors()
            indexes.fill_vectors(partial(self._progress, "vectors", "moving"))
            compared = self._compare_vectors(catalog, indexes)
        if _equal(compared):
            indexes.found_equal()
        return ComparedPart("index of vectors", *compared)

    def _compare_vectors(self, catalog: Catalog, indexes: Indexes) -> tuple[TableSum, TableSum]:
        counts = catalog.window_counts(self._embedder.fingerprint, self._embedder.dimension)
        told = self._telling("vectors", "comparing", sum(counts.values()))
        return compare_vectors(catalog, indexes, self._embedder, told)


def _equal(compared: tuple[TableSum, TableSum]) -> bool:
    before, after = compared
    return before == after


def _tell(progress: Progress, what: str, phase: str, total: int, done: int) -> None:
    progress(what, phase, done, max(done, total))
