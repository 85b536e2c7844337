"""Compares words and finds runs of them in a text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.figure_words import ROUNDERS
from ingestion.language.months import MONTHS
from ingestion.language.scales import SCALE_TERMS, UNIT_TERMS
from ingestion.language.vocabulary import words

__all__ = [
    "MIN_QUOTE_WORDS",
    "STOP_WORDS",
    "Words",
    "common_end",
    "comparable_words",
    "distinctive_words",
    "evened",
    "longest_run",
    "span_of",
    "spans_of",
    "tells",
]

MIN_QUOTE_WORDS = 4  # fewer words in a row may be on a page by chance
CONTENT_WORDS = 2  # a run of "at the end of the" says nothing; this many words must not be stop words
STOP_WORDS = frozenset(
    """
        a an and are as at be been but by for from had has have in is it its of on or that the their there
        these this those to was were which will with would not no than then so such into over under more
        most other some any all also can may end during year years per cent
    """.split()
)

# Words that go with any figure and do not say what it is.
_OF_ANY_FIGURE = (
    SCALE_TERMS
    | UNIT_TERMS
    | CURRENCY_TERMS
    | (frozenset(MONTHS) - {"may"})
    | ROUNDERS
    | words("us quarter fiscal fy")
)

# hyphens of all kinds, those of broken lines included
_JOINERS = "-\u2010\u2011\u2013\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\x02"
# Numbers and words are separated where they touch: "RM86" is "RM 86", and a footnote mark does not change the
# word before it.
_WORD = re.compile(
    rf"\d++(?:[.,]\d++)*+|[^\W\d_]++(?:(?:['’]|[{_JOINERS}]{{1,3}}(?:[ \t]{{0,3}}\r?\n[ \t]{{0,3}})?)"
    rf"[^\W\d_]++)*+"
)
_DROPPED = re.compile(rf"[{_JOINERS}'’\s⁰¹²³⁴⁵⁶⁷⁸⁹]")


@dataclass(frozen=True, slots=True)
class Words:
    """Words as they are compared.

    texts: the words.
    starts, ends: of each in the text.
    joined: all of them as " a b c ".
    offsets: of each in joined.
    """

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    joined: str
    offsets: tuple[int, ...]


def evened(text: str) -> str:
    """A text on one line, with single blanks."""
    return " ".join(text.split())


def comparable_words(text: str) -> Words:
    """The words of a text: NFKC, case-folded, without hyphens, apostrophes and footnote marks.

    Numbers keep their points and commas. A word broken over two lines is one word, as is a hyphenated one;
    punctuation, quotation marks and dashes are not compared.
    """
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    offsets: list[int] = []
    position = 1
    for match in _WORD.finditer(text):
        word = _comparable(match[0])
        if word:
            texts.append(word)
            starts.append(match.start())
            ends.append(match.end())
            offsets.append(position)
            position += len(word) + 1
    return Words(tuple(texts), tuple(starts), tuple(ends), f" {' '.join(texts)} ", tuple(offsets))


def distinctive_words(words: Words) -> int:
    """How many of the words carry meaning: no stop words, numbers, scales, currencies or months."""
    return sum(map(tells, words.texts))


def tells(word: str) -> bool:
    """Whether one of comparable_words carries meaning: no stop word, number, scale, currency or month."""
    return word.isalpha() and word not in STOP_WORDS and word not in _OF_ANY_FIGURE


def span_of(sought: tuple[str, ...], words: Words) -> tuple[int, int] | None:
    """Offsets in the text of the first place that has these words in a row, or None."""
    return next(spans_of(sought, words), None)


def spans_of(sought: tuple[str, ...], words: Words, behind: int = 0) -> Iterator[tuple[int, int]]:
    """Offsets of every place that has these words in a row, in order.

    behind: an offset in the text before which none begins.
    """
    opening = bisect_left(words.starts, behind)
    if not sought or opening >= len(words.starts):
        return
    run = f" {' '.join(sought)} "
    at = words.joined.find(run, words.offsets[opening] - 1)
    while at >= 0:
        first = bisect_left(words.offsets, at + 1)
        yield words.starts[first], words.ends[first + len(sought) - 1]
        at = words.joined.find(run, at + 1)


def common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both end with."""
    count = 0
    for word, other_word in zip(reversed(one), reversed(other), strict=False):
        if word != other_word:
            break
        count += 1
    return count


def _quotable(run: tuple[str, ...]) -> bool:
    """Whether words in a row are enough to be quoted."""
    return len(run) >= MIN_QUOTE_WORDS and sum(word not in STOP_WORDS for word in run) >= CONTENT_WORDS


def longest_run(statement: Words, page: Words) -> tuple[int, int] | None:
    """Offsets in the page of the statement's longest run of words that is there and is enough, or None."""
    runs = [statement.texts[start:end] for start, end in _runs(statement, page)]
    return span_of(max(filter(_quotable, runs), key=_weight, default=()), page)


def _weight(run: tuple[str, ...]) -> tuple[int, int]:
    """The words of a run, and those of them that are no stop words."""
    return len(run), sum(word not in STOP_WORDS for word in run)


def _runs(words: Words, page: Words) -> Iterator[tuple[int, int]]:
    """Runs that are on the page and cannot be made longer to the right, as positions.

    Each word is added and removed once.
    """
    end = 0
    for start in range(len(words.texts)):
        end = max(end, start)
        before = end
        while end < len(words.texts) and f" {' '.join(words.texts[start : end + 1])} " in page.joined:
            end += 1
        if end > before:
            yield start, end


def _comparable(word: str) -> str:
    if word.isascii() and word.isalnum():
        return word.lower()
    return unicodedata.normalize("NFKC", _DROPPED.sub("", word)).casefold().replace(" ", "")
