"""Holds a page as everything that quotes, checks and counts sees it.

Each part is made on demand and kept with the page, not made when a document is added: a page's parts take
some 10 ms, and of a hundred added pages one is ever cited.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain

from chatbot.evidence.footnotes import begins_note
from chatbot.evidence.page_breaks import body_with_breaks
from chatbot.evidence.page_figures import FiguresOfPage, digits_of, read_figures
from chatbot.evidence.page_sentences import whole_sentences
from chatbot.evidence.passages import Passage, read_passages
from chatbot.evidence.table_cells import TablesOfPage, read_tables
from chatbot.evidence.weak_cache import WeakCache
from chatbot.evidence.word_runs import Words, comparable_words
from chatbot.records import Hit
from ingestion.language.language_detection import is_foreign
from ingestion.language.numbers import Figure, NumberStyle, find_figures, magnitude, own_style, page_style
from ingestion.records import Table

__all__ = ["PageEvidence", "figures_said", "forget_pages", "page_of"]

# Pages of the last few questions; each is looked at once per statement and figure.
MOST_PAGES = 128


class PageEvidence:
    """A page with everything that is read from it.

    text: as printed.
    body: without running heads and feet; see body_with_breaks.
    context: what is above the page in its document.
    named: the document's name with the context.
    """

    def __init__(
        self,
        text: str,
        bodies: tuple[str, str, str],
        context: str,
        document: str,
        printed_tables: tuple[Table, ...],
    ) -> None:
        """bodies: of the page, of the one before it and of the one after it."""
        self.text, self.context, self.printed_tables = text, context, printed_tables
        self.body = body_with_breaks(*bodies)
        self.named = f"{document} {context}"
        self.once = WeakCache()

    @cached_property
    def words(self) -> Words:
        """Its words as they are compared."""
        return comparable_words(self.text)

    @cached_property
    def tables(self) -> TablesOfPage:
        """Its tables, by their cells."""
        return read_tables(self.printed_tables, self.text)

    @cached_property
    def style(self) -> NumberStyle:
        """How its figures are written."""
        return page_style(self.text, self.printed_tables)

    @cached_property
    def passages(self) -> list[Passage]:
        """The passages that can be quoted of it."""
        return read_passages(self.body, self.text, self.printed_tables)

    @cached_property
    def notes(self) -> Mapping[str, str]:
        """Its footnotes, by their marks."""
        return {begins_note(passage.text): passage.text for passage in self.passages if passage.is_note}

    @cached_property
    def whole_sentences(self) -> list[tuple[str, str]]:
        """(sentence, heading above it) of its running text."""
        return whole_sentences(self.body)

    @cached_property
    def figures(self) -> FiguresOfPage:
        """Its figures, each with the readings that its surroundings allow."""
        return read_figures(self.text, self.context, self.words, self.tables, self.style)


def figures_said(text: str, pages: Collection[PageEvidence]) -> list[Figure]:
    """The figures of a text about some pages.

    What the text copies is read as the pages have it. Its other figures have the text's own style. One that
    may be read in two ways is read as the one that the pages have, unless text and pages are English.
    """
    cells = {printed: rewritten for page in pages for printed, rewritten in page.style.cells}
    style = replace(
        own_style(text),
        spaces=any(page.style.spaces for page in pages),
        credits=any(page.style.credits for page in pages),
        cells=tuple(sorted(cells.items(), key=lambda pair: -len(pair[0]))),
    )
    figures = find_figures(text, style)
    if is_foreign(text) or any(page.style.decimal != "." for page in pages):
        return [_as_on_pages(figure, pages) for figure in figures]
    return figures


def _as_on_pages(figure: Figure, pages: Collection[PageEvidence]) -> Figure:
    if figure.other is None:
        return figure
    other = replace(figure, value=figure.other, decimals=0 if figure.decimals else 3, other=None)
    placed = chain.from_iterable(page.figures.by_digits.get(digits_of(other), ()) for page in pages)
    sizes = {_size(reading) for one in placed for reading in one.readings}
    return other if _size(other) in sizes and _size(figure) not in sizes else figure


def _size(figure: Figure) -> str:
    return f"{abs(magnitude(figure)):.12g}"


def page_of(hit: Hit) -> PageEvidence:
    """The hit's page, kept for the next question; made of its chunk if the page's text is missing."""
    text = hit.page_text or hit.text
    tables = hit.tables if hit.page_text else ()
    return _page(text, (hit.body or hit.page_text, *hit.beside), hit.context, hit.document, tables)


def forget_pages() -> None:
    """Drop everything that was kept of pages, after one was erased."""
    _page.cache_clear()


_page = lru_cache(maxsize=MOST_PAGES)(PageEvidence)
