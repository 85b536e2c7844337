"""Does the work of the tools that look things up in documents; it reads, and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic import BaseModel

from chatbot.calculator import Calculation, calculate
from chatbot.comparison.key_figures import KeyFigureSheet
from chatbot.errors import NotFoundError, ProjectError
from chatbot.lookup.key_figure_sheets import KeyFigureSheets
from chatbot.lookup.lookup_forms import (
    Calculate,
    FindText,
    GetOutline,
    GetPage,
    KeyFigures,
    SearchDocuments,
)
from chatbot.records import Hit, document_id
from chatbot.search.page_search import Find, Finder
from chatbot.search.sections import Section, document_sections
from chatbot.store.document_names import listed
from chatbot.store.library import Library
from chatbot.store.reader_pool import Readers
from ingestion.invisible_characters import one_line
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["FoundText", "Heading", "Lookups", "Outline", "TextPlace"]

MOST_HEADINGS, MOST_TABLES, MOST_PLACES = 120, 80, 10
# Characters of the text around what was found, on each side.
AROUND = 150
# Characters of a page, half of a usual one: more say what a chart beside them shows.
MOST_BESIDE_CHART = 2_000


class Heading(BaseModel):
    """A heading, or the caption of a table. page: physical, 1-based."""

    title: str
    page: int


class Outline(BaseModel):
    """The result of `get_outline`: what stands where in a document. pages: how many it has."""

    document: str
    pages: int
    headings: list[Heading]
    tables: list[Heading]


class TextPlace(BaseModel):
    """A place of words. page: physical, 1-based. text: what stands around them, on one line."""

    page: int
    page_label: str | None
    text: str


class FoundText(BaseModel):
    """The result of `find_text`: the first places, and on how many pages the words stand."""

    document: str
    count: int
    places: list[TextPlace]


# (version, name, title, id) of a document.
_Known = tuple[int, str, str, str]


class Lookups:
    """Looks things up in the documents of a library. Safe to use from several threads."""

    def __init__(self, library: Library, finder: Finder, sheets: KeyFigureSheets, readers: Readers) -> None:
        self._library, self._finder, self._sheets, self._readers = library, finder, sheets, readers

    def document(self, called: str, names: Sequence[str] = ()) -> tuple[int, str]:
        """(version, name) of the document that is called so: by its name or id, by its title, or by a part of
        only one's name or title. names: of those in reach, () for all. Raises NotFoundError.
        """
        return self._documents([called], names)[0]

    def _documents(self, called: Sequence[str], names: Sequence[str]) -> list[tuple[int, str]]:
        scope = self._library.scope(names)
        titles = self._library.catalog.titles()
        known = [(version, name, titles.get(name, ""), document_id(name)) for version, name in scope.items()]
        return [_called(one, known) for one in dict.fromkeys(called)]

    def wanted(self, given: SearchDocuments, names: Sequence[str] = ()) -> Find:
        """What is searched for. Raises NotFoundError."""
        named = self._documents(given.documents, names) if given.documents else []
        within = [name for _, name in named] or names
        return Find(given.query, tuple(dict.fromkeys(within)), k=given.k, years=tuple(given.years))

    def search(self, given: SearchDocuments, names: Sequence[str] = ()) -> list[Hit]:
        """The best pages for a query, in the search's own order. Raises NotFoundError, ModelError."""
        find = self.wanted(given, names)
        return self._finder.find(find, None, progress=lambda *_: None, tell=lambda _: None)

    def page(self, given: GetPage, names: Sequence[str] = ()) -> Hit:
        """A page. Raises NotFoundError."""
        version, name = self.document(given.document, names)
        count = self._pages(version)
        if given.page > count:
            raise NotFoundError(f"There is no page {given.page:,} in {name}.", hint=f"It has {count:,}.")
        found = self._finder.pages_of(version, name, [given.page])
        if not found:
            raise NotFoundError(f"Page {given.page:,} of {name} has no text.", hint="Read another page.")
        return found[0]

    def chart(self, hit: Hit) -> bytes:
        """The page as a JPEG if it has a chart or a picture with little text around it; else, and where its
        file cannot be read, b"".
        """
        if hit.external or len(hit.page_text) > MOST_BESIDE_CHART:
            return b""
        tables = [table.box for table in hit.tables]
        try:
            with self._readers.reading(self._library.file_to_read(hit.version)) as reader:
                return reader.chart(hit.page, tables, scanned=hit.extraction_method == "ocr")
        except ProjectError:
            return b""

    def outline(self, given: GetOutline, names: Sequence[str] = ()) -> Outline:
        """The headings of a document and the captions of its tables. Raises NotFoundError."""
        version, name = self.document(given.document, names)
        parts = document_sections(self._library, version)
        tables = [
            Section(table.caption, page, page)
            for page, on_page in sorted(self._library.catalog.tables(version).items())
            for table in on_page
            if table.caption
        ]
        return Outline(
            document=name,
            pages=self._pages(version),
            headings=_headings(parts, MOST_HEADINGS),
            tables=_headings(tables, MOST_TABLES),
        )

    def find_text(self, given: FindText, names: Sequence[str] = ()) -> FoundText:
        """Where words stand in a document, whatever their case and the blanks between them.

        Raises NotFoundError.
        """
        version, name = self.document(given.document, names)
        words = _as_printed(given.words)
        found = []
        for page, text in enumerate(self._library.catalog.page_texts(version), 1):
            if around := _around(words, text):
                found.append((page, " ".join(around.split())))
        shown = dict(found[:MOST_PLACES])
        pages = self._library.catalog.pages(version, list(shown))
        places = [
            TextPlace(page=page, page_label=pages[page].label, text=text)
            for page, text in shown.items()
            if page in pages
        ]
        return FoundText(document=name, count=len(found), places=places)

    def key_figures(self, given: KeyFigures, names: Sequence[str] = ()) -> KeyFigureSheet:
        """The key figures of a document. Raises NotFoundError."""
        return self._sheets.sheet([self.document(given.document, names)[1]])

    def calculate(self, given: Calculate) -> Calculation:
        """What an expression comes to. Raises CalculationError."""
        return calculate(given.expression)

    def titled(self, names: Sequence[str] = ()) -> list[tuple[str, str, int]]:
        """(name, title, pages) of the documents in reach, by name."""
        titles = self._library.catalog.titles()
        scope = self._library.scope(names)
        return sorted((name, titles.get(name, name), self._pages(version)) for version, name in scope.items())

    def pages_at(self, given: FindText, found: FoundText, names: Sequence[str] = ()) -> list[Hit]:
        """The pages of the places where words were found, each with the text around them as its passage."""
        hits = self.pages_of(found.document, [place.page for place in found.places], names)
        words = _as_printed(given.words)
        return [replace(hit, text=_around(words, hit.page_text)) for hit in hits]

    def pages_of(self, document: str, pages: Sequence[int], names: Sequence[str] = ()) -> list[Hit]:
        """These pages of a document, without those that have no text. document: its name.

        Raises NotFoundError.
        """
        version, name = self.document(document, names)
        return self._finder.pages_of(version, name, pages)

    def _pages(self, version: int) -> int:
        stored = self._library.catalog.version(version)
        return stored.pages if stored else 0


def _called(called: str, known: Sequence[_Known]) -> tuple[int, str]:
    """The document that is called so. What is only said in a document gives way to its name and id, so that
    none can pass for another.
    """
    wanted = called.strip()
    folded = wanted.casefold()
    ways: list[Callable[[_Known], bool]] = [
        lambda one: called == one[1] or wanted in (one[1], one[3]),
        lambda one: folded == one[1].casefold(),
        lambda one: folded == one[2].casefold(),
        lambda one: any(folded in own.casefold() for own in (one[1], one[1].replace("_", " "), one[2])),
    ]
    there: list[str] = []
    for is_called in ways if wanted else []:
        found = [(version, name) for version, name, *_ in filter(is_called, known)]
        if len(found) == 1:
            return found[0]
        there = [name for _, name in found]
        if found:
            break
    there = there or sorted(name for _, name, *_ in known)
    raise NotFoundError(
        f"There is no document called “{one_line(called, 100)}”.",
        hint=f"There are: {listed(there[:20], len(there))}." if there else "There are none.",
    )


def _as_printed(words: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)


def _around(words: re.Pattern[str], text: str) -> str:
    """The text around the first place of words, from a line's begin on; "" where they do not stand."""
    place = words.search(text)
    if place is None:
        return ""
    return text[text.rfind("\n", 0, max(0, place.start() - AROUND)) + 1 : place.end() + AROUND]


def _headings(parts: Sequence[Section], most: int) -> list[Heading]:
    """The titles that do not address their reader as a machine, each on one line."""
    fine = [part for part in parts[:most] if not find_instructions(part.title)]
    return [Heading(title=one_line(part.title, 200), page=part.page) for part in fine]
