"""Finds what the program has cut from a page, or read out of a row, at its place on that page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from chatbot.answer.verification.located import fills_lines, locate_quotation, places_of
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, comparable_words, longest_run
from ingestion.language.sentences import sentence_spans

__all__ = ["Cut", "find_cut"]

# Of what stands before a key: starts that are tried, and brackets that may be read out behind a row.
MOST_STARTS, MOST_BRACKETS = 30, 10
# Characters from the first to the last of a quotation with something left out between.
LONGEST_WITH_GAPS = 1_000
_HEAD_END = re.compile(r":\s+")
_READ_OUT = re.compile(r"\s\((?=[^()]*(?:\([^()]*\)[^()]*)*\)\s*\Z)")
_BRACKET = re.compile(r"\s\(")


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a text stands on a page.

    start, end: of that part in the text.
    spans: (start, end) of its pieces on the page, in order.
    """

    start: int
    end: int
    spans: tuple[tuple[int, int], ...]

    @property
    def around(self) -> tuple[int, int]:
        """The stretch of the page with all pieces, or the longest where they stand far apart."""
        start, end = self.spans[0][0], self.spans[-1][1]
        if end - start <= LONGEST_WITH_GAPS or len(self.spans) == 1:
            return start, end
        return max(self.spans, key=lambda span: span[1] - span[0])


def find_cut(said: str, view: PageEvidence) -> Cut | None:
    """The most of a text that a page has word for word; None where it has nothing of it.

    That is all of it, or what is left without the words that lead it in and the brackets in which a row's
    heads are read out. Fewer than four words count if they are all of it, or fill lines with a figure.
    """
    brackets = _read_out(said)
    if spans := _quotation(said, 0, len(said), view):
        return Cut(0, len(said), spans)
    ends = [len(said), *brackets]
    starts = [*_starts(said, min(ends))]
    for find in (_row, _quotation):
        for end in ends:
            for start in starts:
                if spans := find(said, start, end, view):
                    return Cut(start, end, spans)
    return None


def _read_out(said: str) -> list[int]:
    """Where the last brackets open behind which nothing but brackets closes the text."""
    starts = [bracket.start() for bracket in _BRACKET.finditer(said)]
    return [start for start in starts[-MOST_BRACKETS:] if _READ_OUT.match(said, start)]


def _starts(said: str, end: int) -> Iterator[int]:
    """Where the text, its sentences and what stands behind its colons begin."""
    colons = (colon.end() for colon in _HEAD_END.finditer(said, 0, end))
    starts = {0, *colons, *(start for start, _ in sentence_spans(said[:end]))}
    yield from sorted(starts)[:MOST_STARTS]


def _row(said: str, start: int, end: int, view: PageEvidence) -> tuple[tuple[int, int], ...]:
    """A stretch of a text that fills lines of a page and has a word and a figure."""
    part = said[start:end]
    words = comparable_words(part).texts
    if not any(word[0].isdigit() for word in words):
        return ()
    if len(words) < MIN_QUOTE_WORDS and not any(word[0].isalpha() for word in words):
        return ()
    rows = [place for place in places_of(part, view) if fills_lines(*place, view)]
    return _with_outer_marks(part, (_below(said[:start], rows, view),), view) if rows else ()


def _quotation(said: str, start: int, end: int, view: PageEvidence) -> tuple[tuple[int, int], ...]:
    """A stretch of a text, of enough words unless it is the whole, or its last lines."""
    part = said[start:end]
    words = comparable_words(part).texts
    is_whole = end == len(said) and said[:start].rstrip(" \t")[-1:] in {"", "\n"}
    if not words or (len(words) < MIN_QUOTE_WORDS and not is_whole):
        return ()
    if spans := _row(said, start, end, view):
        return spans
    spans = locate_quotation(part, view)
    if is_whole and not spans:  # "In" at the end of a page
        spans = tuple(places_of(part, view))[:1]
    return _with_outer_marks(part, spans, view) if spans else ()


def _below(head: str, rows: list[tuple[int, int]], view: PageEvidence) -> tuple[int, int]:
    """The first of several equal rows below a head, else the first of all."""
    if len(rows) == 1:
        return rows[0]
    above = longest_run(comparable_words(head), view.words) or (0, 0)
    at = bisect_right(rows, (above[1], 0))
    return rows[at] if at < len(rows) else rows[0]


def _with_outer_marks(
    part: str, spans: tuple[tuple[int, int], ...], view: PageEvidence
) -> tuple[tuple[int, int], ...]:
    """The spans with the marks that stand at the part's ends, where the page has them too."""
    words = comparable_words(part)
    lead, tail = part[: words.starts[0]].strip(), part[words.ends[-1] :].strip()
    (start, end), *others = spans
    if view.text.endswith(lead, 0, start):
        start -= len(lead)
    first, last = ((start, end), *others)[-1]
    if view.text.startswith(tail, last):
        last += len(tail)
    return (*((start, end), *others)[:-1], (first, last))
