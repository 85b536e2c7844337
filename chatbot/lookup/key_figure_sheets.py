"""Makes the sheet of key figures for documents of the store, and keeps what was found in each version."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from chatbot.answer.compare.key_figure_lookup import document_figures
from chatbot.comparison.fiscal_years import COVER_PAGES, fiscal_month
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.comparison.key_figures import KeyFigureSheet, key_figure_sheet
from chatbot.records import Hit
from chatbot.store.library import Library

__all__ = ["KeyFigureSheets"]

# Versions whose figures are kept, those looked at last: some 30 KB each.
MOST_KEPT = 500
# Behind the names of one document or of many.
NO_TEXT = "no text found"
NO_TABLES = "no tables found"
NO_FIGURES = "none of these figures in the tables"


class KeyFigureSheets:
    """Key figures of a library's documents. Several threads may use it."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._kept: OrderedDict[int, DocumentFigures] = OrderedDict()
        self._lock = threading.Lock()

    def sheet(self, names: Sequence[str] = ()) -> KeyFigureSheet:
        """The sheet of these documents in their order, of all by name where there are none.

        Raises NotFoundError.
        """
        return key_figure_sheet(list(self.each(names)))

    def each(
        self,
        names: Sequence[str] = (),
        *,
        progress: Callable[[str, int, int], None] = lambda document, done, total: None,
    ) -> Iterator[DocumentFigures]:
        """Yields the figures of each of these documents, in the order of a sheet. Raises NotFoundError.

        progress(document, done, total): called before each document.
        """
        scope = self._library.scope(names)
        order = {name: at for at, name in enumerate(names)}
        wanted = sorted(scope.items(), key=lambda item: (order.get(item[1], len(order)), item[1]))
        for done, (version, name) in enumerate(wanted):
            progress(name, done, len(wanted))
            yield self._figures(version, name)

    def forget(self) -> None:
        """Drops what is kept, as it holds text of documents."""
        with self._lock:
            self._kept.clear()

    def _figures(self, version: int, name: str) -> DocumentFigures:
        with self._lock:
            kept = self._kept.pop(version, None)
            if kept is not None and kept.document == name:
                self._kept[version] = kept
                return kept
        stored = self._library.catalog.version(version)
        found = self._read(version, name)
        if stored and not stored.lacks:
            with self._lock:
                self._kept[version] = found
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        return found

    def _read(self, version: int, name: str) -> DocumentFigures:
        pages = self._pages(version, name)
        if not any(hit.page_text.strip() for hit in pages):
            return DocumentFigures(name, version, remark=NO_TEXT)
        if not any(hit.tables for hit in pages):
            return DocumentFigures(name, version, remark=NO_TABLES)
        found = document_figures(name, version, pages)
        if found.figures:
            own = self._library.facts(version).period or ""
            covers = [hit.page_text for hit in pages[:COVER_PAGES]]
            return replace(found, own=own, year_end=found.year_end or fiscal_month(covers))
        return DocumentFigures(name, version, families=found.families, remark=found.remark or NO_FIGURES)

    def _pages(self, version: int, name: str) -> list[Hit]:
        """All pages of a version with their tables and kinds, in order."""
        catalog = self._library.catalog
        stored = catalog.version(version)
        tables = catalog.tables(version)
        kinds = self._library.page_kinds(version)
        numbers = range(1, (stored.pages if stored else 0) + 1)
        found = []
        for number, page in sorted(catalog.pages(version, numbers).items()):
            hit = Hit(
                name,
                version,
                number,
                page.label,
                page.label_source,
                page.method,
                page.confidence,
                "",
                page.text,
                page_text=page.text,
                tables=tables.get(number, ()),
                kinds=kinds.get(number, ()),
            )
            found.append(hit)
        return found
