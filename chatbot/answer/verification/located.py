"""Finds a reader's quotations on their pages: every word, digit, sign and negation must stand there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import OnPage
from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, comparable_words, evened, spans_of, tells
from ingestion.language.list_items import ITEM_START
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import DENIALS
from ingestion.language.sentences import is_finished, sentence_spans
from ingestion.language.vocabulary import words

__all__ = ["LocatedQuote", "fills_lines", "is_passage", "locate_quotation", "locate_quotations", "places_of"]

# Where a quotation may leave something out, or goes on in another cell or line.
_PARTS = re.compile(r"\s*(?:\[?(?:\.\.\.+|…)\]?|\n+)\s*")
MOST_PARTS = 30
LIMITS = DENIALS | words("except excepting unless only if other than excluding exempt subject provided")
# Places of one part on a page that are tried.
MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """A quotation that stands on a page.

    key: of the page.
    spans: (start, end) of its parts in the page's text, in order.
    """

    key: str
    spans: tuple[tuple[int, int], ...]

    def figures(self, view: PageEvidence) -> list[OnPage]:
        """The page's figures within it, with their readings. view: of its page."""
        return [placed for placed in view.figures.all if self._touches(placed.figure)]

    def _touches(self, figure: Figure) -> bool:
        return any(start < figure.end and figure.start < end for start, end in self.spans)


def locate_quotations(
    quotes: Iterable[tuple[str, str]], views: Mapping[str, PageEvidence]
) -> list[LocatedQuote | None]:
    """Where each quotation stands, in order; None for one that does not stand on the page that is named.

    quotes: (key of the page, text).
    """
    found = list[LocatedQuote | None]()
    for key, text in quotes:
        spans = locate_quotation(text, views[key]) if key in views else ()
        found.append(LocatedQuote(key, spans) if spans else None)
    return found


def locate_quotation(text: str, view: PageEvidence) -> tuple[tuple[int, int], ...]:
    """(start, end) of a quotation's parts on a page, in order; () where one of them is not there.

    Case, blanks, hyphens, quotation marks, ligatures and bars of tables may differ; words, digits and signs
    may not. A part that ellipses or line ends separate may stand further down.
    """
    whole = _located([text], view)
    parts = [part for part in _PARTS.split(text) if part.strip()]
    if whole or not 1 < len(parts) <= MOST_PARTS:
        return whole
    return _located(parts, view)


def _located(parts: Sequence[str], view: PageEvidence) -> tuple[tuple[int, int], ...]:
    spans = list[tuple[int, int]]()
    telling = False
    for part in parts:
        behind = spans[-1][1] if spans else 0
        words = comparable_words(part)
        if not words.texts:
            continue
        telling = telling or any(tells(word) or word[0].isdigit() for word in words.texts)
        span = next(places_of(part, view, behind), None)
        if span is None or (spans and _is_broken(view.text[behind : span[0]])):
            return ()
        spans.append(span)
    # A head such as "Per cent" says nothing by itself, and is quoted with its rows.
    return tuple(spans) if telling or (spans and fills_lines(spans[0][0], spans[-1][1], view)) else ()


def _is_broken(gap: str) -> bool:
    """Whether what a quotation leaves out ends its sentence, or denies or limits what it says."""
    *ended, _ = [gap[start:end].rstrip() for start, end in sentence_spans(gap)] or [""]
    return any(map(is_finished, ended)) or not LIMITS.isdisjoint(comparable_words(gap).texts)


def places_of(part: str, view: PageEvidence, behind: int = 0) -> Iterator[tuple[int, int]]:
    """Where the words of a part stand in a row on a page, with the same signs, from a position on."""
    for span in islice(spans_of(comparable_words(part).texts, view.words, behind), MOST_PLACES):
        whole = _with_whole_figures(*span, view)
        if _same_signs(part, whole, view):
            yield whole


def _same_signs(part: str, span: tuple[int, int], view: PageEvidence) -> bool:
    """Whether the same figures of a quotation are below zero as on the page."""
    printed = view.text[slice(*span)]
    return evened(printed) == evened(part) or _below_zero(printed, view) == _below_zero(part, view)


def _below_zero(text: str, view: PageEvidence) -> list[float]:
    return [figure.value for figure in find_figures(text, view.style) if figure.value < 0]


def _with_whole_figures(start: int, end: int, view: PageEvidence) -> tuple[int, int]:
    """The span, grown so that no figure at its edges loses sign, currency, scale or unit."""
    figures = view.figures.all
    for placed in figures[bisect_right(figures, start, key=lambda placed: placed.figure.end) :]:
        if placed.figure.start >= end:
            break
        start = min(start, placed.figure.start)
        end = max(end, placed.figure.end)
    return start, end


def is_passage(start: int, end: int, view: PageEvidence) -> bool:
    """Whether a stretch of a page stands there by no chance: it has enough words, or fills lines with a word
    and a figure."""
    words = comparable_words(view.text[start:end]).texts
    if len(words) >= MIN_QUOTE_WORDS:
        return True
    is_row = any(map(tells, words)) and any(word[0].isdigit() for word in words)
    return is_row and fills_lines(start, end, view)


def fills_lines(start: int, end: int, view: PageEvidence) -> bool:
    """Whether a stretch of a page fills its lines, but for a bullet or an item's number before it."""
    first = view.text.rfind("\n", 0, start) + 1
    behind = view.text[end:].partition("\n")[0]
    return ITEM_START.fullmatch(view.text, first, start) is not None and not any(map(str.isalnum, behind))
