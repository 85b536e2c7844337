"""Finds where an answer's words stand on a page: its quotations, runs of words and table rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import islice, pairwise

from chatbot.answer.checks.number_checks import figures_stating
from chatbot.answer.citations.altered_words import PERIODS
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import OnPage
from chatbot.evidence.word_runs import (
    MIN_QUOTE_WORDS,
    STOP_WORDS,
    Words,
    comparable_words,
    distinctive_words,
    evened,
    longest_run,
    names_figure,
    span_of,
    spans_of,
)
from ingestion.language.list_items import ITEM_START
from ingestion.language.numbers import Figure

__all__ = [
    "copied_passage",
    "locate",
    "quoted_passage",
    "row_behind_head",
    "unquoted_passage",
    "with_whole_figures",
]

# A row's label ends where its figures begin.
_FIGURES_OF_ROW = re.compile(r"\s[^\w\s%]{0,3}\d")
# A row's head ends in a colon. What is read out of the row's columns stands in brackets behind the row.
_HEAD_END = re.compile(r":\s")
_BRACKET = re.compile(r"\s\(")
_READ_OUT = re.compile(r"\s\((?=[^()]*(?:\([^()]*\)[^()]*)*\)\s*\Z)")
# Characters from the first to the last of a quotation with something left out between.
LONGEST_WITH_GAPS = 1_000
MOST_PARTS = 20  # between the ellipses of one quotation
MOST_PLACES = 50  # of one part on a page
MOST_HEADS = 5  # colons behind which a row may begin
MOST_BRACKETS = 10  # that may stand behind a row
NOT_QUOTED_THERE = "the quoted words are not on that page"
PARTS_APART = "the quoted parts are not in this order in one sentence, or in adjacent sentences, of that page"


_Span = tuple[int, int]


def locate(page_text: str, quote: str) -> tuple[int, int] | None:
    """Offsets of a quotation in a page, or None.

    Case, spacing, hyphenation, quotes, dashes and outer punctuation may differ, words may not.
    """
    return _located(page_text, comparable_words(page_text), quote)


def quoted_passage(
    quotations: Sequence[Sequence[str]], view: PageEvidence
) -> tuple[tuple[int, int], str, str]:
    """Offsets, reason ("" where verified) and quote.

    They are of the longest quoted part where all of them stand on the page, else of what does not.

    quotations: each as the parts that its ellipses leave, which must stand in order, in one sentence or from
    one to the next.
    """
    found: list[_Span] = []
    for parts in quotations:
        spans: list[_Span] = []
        for part in parts:
            span = _located(view.text, view.words, part)
            if span is None:
                return (-1, -1), NOT_QUOTED_THERE, evened(part)
            spans.append(span)
        if len(parts) > 1:
            spans = _in_order(parts, view)
        if not spans:
            shown = map(evened, parts[:MOST_PARTS])
            return (-1, -1), PARTS_APART, " … ".join(shown)
        found += spans
    start, end = max(found, key=_length)
    return (start, end), "", view.text[start:end]


def _length(span: _Span) -> int:
    return span[1] - span[0]


def _in_order(parts: Sequence[str], view: PageEvidence) -> list[_Span]:
    """A place for each part of a quotation, one behind the other; [] where there are none.

    A part stands no further on than in the sentence after the last part's. The one exception is a part that
    begins a sentence, into which nothing before it is read.
    """
    if len(parts) > MOST_PARTS:
        return []
    starts = [_first_letter(view.text, *span) for span in view.sentence_spans]
    chains: list[list[_Span]] = []  # places of the parts so far, by where they end
    for number, part in enumerate(parts):
        sought = comparable_words(part)
        behind = chains[0][-1][1] if number else 0
        longer: list[list[_Span]] = []
        for span in islice(spans_of(sought.texts, view.words, behind), MOST_PLACES):
            place = _with_outer_marks(view.text, part, sought, span)
            chain = _chain_before(chains, place)
            if not number or (chain and _follows(place, chain[-1], starts)):
                longer.append([*chain, place])
        if not longer:
            return []
        chains = longer
    return chains[0] if chains else []


def _first_letter(text: str, start: int, end: int) -> int:
    """Where a sentence begins behind its blanks."""
    sentence = text[start:end]
    return start + len(sentence) - len(sentence.lstrip())


def _chain_before(chains: Sequence[list[_Span]], place: _Span) -> list[_Span]:
    """The last of some chains that ends before a place; [] for none."""
    for chain in reversed(chains):
        if chain[-1][1] <= place[0]:
            return chain
    return []


def _follows(place: _Span, last: _Span, starts: Sequence[int]) -> bool:
    """Whether a quotation may go on at a place after its last part. starts: of the sentences."""
    begun = bisect_right(starts, place[0])
    if begun - bisect_right(starts, last[1] - 1) <= 1:
        return True
    if place[0] - last[1] > LONGEST_WITH_GAPS:
        return False
    return starts[begun - 1] == place[0]


def copied_passage(parts: list[str], view: PageEvidence) -> tuple[int, int] | None:
    """Offsets of what a page has word for word, None where it does not have it.

    parts: the pieces that ellipses leave, in order. The span is around all of them, or the longest where they
    stand far apart. A few words count only as whole lines with a figure: they stand anywhere by chance.
    """
    if len(parts) > MOST_PARTS:
        return None
    spans: list[_Span] = []
    for part in parts:
        sought = comparable_words(part)
        if not sought.texts:
            continue
        behind = spans[-1][1] if spans else 0
        place = next(spans_of(sought.texts, view.words, behind), None)
        if place is None:
            return None
        spans.append(_with_outer_marks(view.text, part, sought, place))
    if not spans:
        return None
    span = spans[0][0], spans[-1][1]
    if _length(span) > LONGEST_WITH_GAPS and len(spans) > 1:
        span = max(spans, key=_length)
    start, end = span
    found = comparable_words(view.text[start:end])
    if len(found.texts) >= MIN_QUOTE_WORDS:
        return span
    is_row = distinctive_words(found) > 0 and _has_figure(found.texts)
    if is_row and _is_whole_lines(view.text, *span):
        return span
    return None


def _has_figure(words: Sequence[str]) -> bool:
    return any(word[0].isdigit() for word in words)


def row_behind_head(said: str, view: PageEvidence) -> tuple[int, int] | None:
    """Offsets of the row that a text gives behind its head; None where there is none.

    An example is "Interest rates: Repo rate 5.25 (2025: 5.25)". The row is whole lines that hold a figure,
    the next ones below the head where the page has several. The head's words must be the page's. Only the
    last colons separate a head.
    """
    words = comparable_words(said)
    known = frozenset(view.words.texts)
    brackets = _read_out_brackets(said)
    for colon in [*_HEAD_END.finditer(said)][-MOST_HEADS:]:
        first = bisect_left(words.starts, colon.end())
        if not known.issuperset(words.texts[:first]):
            continue
        behind = [bracket for bracket in brackets if bracket >= colon.end()]
        for end in (len(said), *behind):
            last = bisect_left(words.starts, end)
            row = words.texts[first:last]
            place = _row_below(said[: colon.start()], row, view)
            if place:
                printed = said[colon.end() : end]
                return _with_outer_marks(view.text, printed, comparable_words(printed), place)
    return None


def _row_below(head: str, row: tuple[str, ...], view: PageEvidence) -> _Span | None:
    """The first lines of a page below a head that are a row with a figure, else the first of all."""
    if not _has_figure(row):
        return None
    spans = spans_of(row, view.words)
    places = [span for span in spans if _is_whole_lines(view.text, *span)]
    if not places:
        return None
    above = longest_run(comparable_words(head), view.words) or (0, 0)
    below = (span for span in places if span[0] >= above[1])
    return next(below, places[0])


def _read_out_brackets(text: str) -> list[int]:
    """Where the last brackets open behind which nothing but brackets closes the text."""
    starts = [bracket.start() for bracket in _BRACKET.finditer(text)]
    return [start for start in starts[-MOST_BRACKETS:] if _READ_OUT.match(text, start)]


def _is_whole_lines(text: str, start: int, end: int) -> bool:
    """Whether a span fills its lines.

    Only a bullet or an item's number may stand before it on its first line, and no word behind it on its
    last.
    """
    first = text.rfind("\n", 0, start) + 1
    if ITEM_START.fullmatch(text, first, start) is None:
        return False
    behind = text[end : _line_end(text, end)]
    return not any(map(str.isalnum, behind))


def _line_end(text: str, position: int) -> int:
    """Where the line around a position ends."""
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def _located(page_text: str, words: Words, quote: str) -> tuple[int, int] | None:
    """Does what locate does, with the page's words at hand."""
    sought = comparable_words(quote)
    span = span_of(sought.texts, words)
    if span:
        return _with_outer_marks(page_text, quote, sought, span)
    return None


def _with_outer_marks(page_text: str, quote: str, sought: Words, span: _Span) -> _Span:
    """The span with the marks that stand at the quotation's ends, where the page has them too."""
    start, end = span
    lead = quote[: sought.starts[0]].strip()
    if page_text.endswith(lead, 0, start):
        start -= len(lead)
    tail = quote[sought.ends[-1] :].strip()
    if page_text.startswith(tail, end):
        end += len(tail)
    return start, end


def unquoted_passage(words: Words, figures: list[Figure], view: PageEvidence) -> tuple[int, int] | None:
    """The longest run of a statement's words, or the table row that it reads out.

    It is the one with most of the statement's figures, the first of equal ones. Where there is neither, it is
    a figure with the words beside it.
    """
    spans = (longest_run(words, view.words), _row(words, figures, view))
    found = [with_whole_figures(view, *span) for span in spans if span]
    if found:
        # A head has few of a row's figures, "Table 3", though more of its words.
        counted = _without_times(words, figures) or figures
        stated = [place for figure in counted for place in figures_stating(figure, view)]
        return max(found, key=lambda span: _count_within(stated, span))
    span = longest_run(words, view.words, names_figure)
    if span is None:
        return None
    placed = _figures_from(view, span[0])
    if placed and placed[0].figure.start < span[1]:
        return with_whole_figures(view, *span)
    return None


def _without_times(words: Words, figures: list[Figure]) -> list[Figure]:
    """The figures that count no time: "52 weeks ended" in a column's head says nothing of its rows."""
    times = {count for count, unit in pairwise(words.texts) if unit in PERIODS}
    return [figure for figure in figures if figure.text not in times]


def _count_within(places: Sequence[Figure], span: _Span) -> int:
    """How many figures stand wholly within a span."""
    start, end = span
    return sum(start <= place.start and place.end <= end for place in places)


def _row(words: Words, figures: list[Figure], view: PageEvidence) -> _Span | None:
    """The line of a table row that has one of a statement's figures, and in its label only words of it."""
    text = view.text
    for stated in (place for figure in figures for place in figures_stating(figure, view)):
        start = text.rfind("\n", 0, stated.start) + 1
        line = text[start : _line_end(text, stated.end)]
        label = _label(line)
        if label and set(words.texts).issuperset(label):
            start += len(line) - len(line.lstrip())
            return start, start + len(line.strip())
    return None


def _label(line: str) -> list[str]:
    """The words of a row's label without stop words; of the whole row where it begins with its figures."""
    label = _FIGURES_OF_ROW.split(line, maxsplit=1)[0]  # what stands behind them is "Yes", or a note
    if not any(map(str.isalpha, label)):
        label = line
    words = comparable_words(label).texts
    return [word for word in words if word not in STOP_WORDS and not word[0].isdigit()]


def _figures_from(view: PageEvidence, start: int) -> tuple[OnPage, ...]:
    """The page's figures that end behind a position."""
    figures = view.figures.all
    first = bisect_right(figures, start, key=lambda placed: placed.figure.end)
    return figures[first:]


def with_whole_figures(view: PageEvidence, start: int, end: int) -> tuple[int, int]:
    """The span, grown so that no figure at its edges loses sign, currency, scale or unit."""
    for placed in _figures_from(view, start):
        if placed.figure.start >= end:
            break
        start = min(start, placed.figure.start)
        end = max(end, placed.figure.end)
    return start, end
