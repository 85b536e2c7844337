"""Knows how words are compared and where a run of them stands in a text; knows no figures, pages or
citations.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.months import MONTHS
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.units import UNIT_TERMS
from ingestion.language.vocabulary import words

__all__ = [
    "MIN_QUOTE_WORDS",
    "STOP_WORDS",
    "TELLING_WORDS",
    "Words",
    "common_end",
    "comparable_words",
    "longest_run",
    "names_figure",
    "span_of",
    "spans_of",
    "telling_words",
    "tells",
]

MIN_QUOTE_WORDS = 4  # fewer words in a row stand on a page by chance
FIGURE_RUN_WORDS = 2  # … but a figure with a word beside it does not
CONTENT_WORDS = 2  # a run of "at the end of the" says nothing; this many words must not be of that kind
STOP_WORDS = frozenset(
    """
        a an and are as at be been but by for from had has have in is it its of on or that the their there
        these this those to was were which will with would not no than then so such into over under more
        most other some any all also can may end during year years per cent
    """.split()
)

# a figure with its scale and currency, or a date, may stand on a page for anything: so many words must say
# what it is
TELLING_WORDS = 2
# Words that go with any figure and tell nothing of what it is.
_OF_ANY_FIGURE = (
    SCALE_TERMS
    | UNIT_TERMS
    | CURRENCY_TERMS
    | (frozenset(MONTHS) - {"may"})
    | words("us quarter fiscal fy about around approximately nearly almost")
)

# hyphens of all kinds, those of broken lines included
_JOINERS = "-\u2010\u2011\u2013\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\x02"
# Numbers and words are parted where they touch: "RM86" is "RM 86", and a footnote mark does not change the
# word before it.
_WORD = re.compile(
    rf"\d++(?:[.,]\d++)*+|[^\W\d_]++(?:(?:['’]|[{_JOINERS}]{{1,3}}(?:[ \t]{{0,3}}\r?\n[ \t]{{0,3}})?)"
    rf"[^\W\d_]++)*+"
)
_DROPPED = re.compile(rf"[{_JOINERS}'’\s⁰¹²³⁴⁵⁶⁷⁸⁹]")


@dataclass(frozen=True, slots=True)
class Words:
    """Words as they are compared. starts, ends: of each in the text; joined: all of them as " a b c ";
    offsets: of each in joined.
    """

    texts: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    joined: str
    offsets: tuple[int, ...]


def comparable_words(text: str) -> Words:
    """The words of a text: NFKC, case-folded, without hyphens, apostrophes and footnote marks; numbers keep
    their points and commas.

    A word broken over two lines is one word, as is a hyphenated one; punctuation, quotation marks and dashes
    are not compared.
    """
    found = [(_comparable(match[0]), match.start(), match.end()) for match in _WORD.finditer(text)]
    found = [word for word in found if word[0]]
    offsets, position = [], 1
    for word, _, _ in found:
        offsets.append(position)
        position += len(word) + 1
    texts = tuple(word[0] for word in found)
    return Words(
        texts,
        tuple(word[1] for word in found),
        tuple(word[2] for word in found),
        f" {' '.join(texts)} ",
        tuple(offsets),
    )


def telling_words(words: Words) -> int:
    """How many of the words say something: no stop words, numbers, scales, currencies or months."""
    return sum(map(tells, words.texts))


def tells(word: str) -> bool:
    """Whether one of comparable_words says something: no stop word, number, scale, currency or month."""
    return word.isalpha() and word not in STOP_WORDS and word not in _OF_ANY_FIGURE


def span_of(sought: tuple[str, ...], words: Words) -> tuple[int, int] | None:
    """Offsets in the text of the first place where these words stand in a row, or None."""
    return next(spans_of(sought, words), None)


def spans_of(sought: tuple[str, ...], words: Words, behind: int = 0) -> Iterator[tuple[int, int]]:
    """The same for every place, in order. behind: an offset in the text before which none begins."""
    opening = bisect_left(words.starts, behind)
    if sought and opening < len(words.starts):
        at = words.joined.find(f" {' '.join(sought)} ", words.offsets[opening] - 1)
    else:
        at = -1
    while at >= 0:
        first = bisect_left(words.offsets, at + 1)
        yield words.starts[first], words.ends[first + len(sought) - 1]
        at = words.joined.find(f" {' '.join(sought)} ", at + 1)


def common_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both end with."""
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


def quotable(run: tuple[str, ...]) -> bool:
    """Whether words in a row say enough to be quoted."""
    return len(run) >= MIN_QUOTE_WORDS and sum(word not in STOP_WORDS for word in run) >= CONTENT_WORDS


def names_figure(run: tuple[str, ...]) -> bool:
    """Whether words too few to be quoted have a number among them, such as "5.25 per cent"."""
    return len(run) >= FIGURE_RUN_WORDS and 0 < sum(word[0].isdigit() for word in run) < len(run)


def longest_run(
    statement: Words, page: Words, enough: Callable[[tuple[str, ...]], bool] = quotable
) -> tuple[int, int] | None:
    """Offsets in the page of the statement's longest run of words that stands there and says enough, or
    None.
    """
    runs = [statement.texts[start:end] for start, end in _runs(statement, page)]
    best = max(
        filter(enough, runs),
        key=lambda run: (len(run), sum(word not in STOP_WORDS for word in run)),
        default=(),
    )
    return span_of(best, page)


def _runs(words: Words, page: Words) -> Iterator[tuple[int, int]]:
    """Runs that stand on the page and cannot be made longer to the right, as positions; each word is added
    and removed once.
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
