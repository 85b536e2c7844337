"""Corrects typing slips where the documents have the word that was meant.

As in Norvig's "How to write a spelling corrector" (2007): of all words one edit away it takes the one that
the documents have most often. A word that is common in English, or that a document has, is left as it is, and
so is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from chatbot.models.tokens import count_tokens
from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["corrected_spelling"]

WORD = re.compile(r"[^\W\d_]+")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Shorter words are near too many others, longer ones are no words. Up to MOST words of a question are
# corrected: a question with more slips is in another language.
SHORTEST = 6
LONGEST = 24
MOST = 2


def corrected_spelling(query: str, frequency: Callable[[str], int]) -> str:
    """The query with slips corrected, else as it is. frequency: on how many pages a term stands."""
    found = (match for match in WORD.finditer(query) if _is_slip(match, frequency))
    slips = list(islice(found, MOST + 1))
    if not 0 < len(slips) <= MOST:
        return query
    for match in reversed(slips):
        meant = _meant(match[0].casefold(), frequency)
        if meant:
            query = f"{query[: match.start()]}{meant}{query[match.end() :]}"
    return query


def _meant(slip: str, frequency: Callable[[str], int]) -> str:
    """The word that a slip stands for, "" where there is none."""
    often = {}
    for word in set(_near(slip)):
        count = _frequency(word, frequency)
        if count:
            often[word] = count
    # All forms of a stem are equally frequent; only those that are words count.
    words = sorted(word for word in often if count_tokens(f" {word}") == 1)
    return max(words, key=often.__getitem__, default="")


def _is_slip(match: re.Match[str], frequency: Callable[[str], int]) -> bool:
    """Whether neither the documents nor the two hundred thousand most common pieces of words have a word; a
    capital begins a name.
    """
    word = match[0]
    if not SHORTEST <= len(word) <= LONGEST:
        return False
    if not word.isascii() or not word.islower() or word.casefold() in STOP_WORDS:
        return False
    if match.string[match.end() :].startswith(("'", "’")):
        return False
    if count_tokens(f" {word.capitalize()}") == 1:  # a name without its capital
        return False
    return not _frequency(word, frequency) and count_tokens(f" {word}") > 1


def _frequency(word: str, frequency: Callable[[str], int]) -> int:
    return max(map(frequency, terms(word)), default=0)


def _near(word: str) -> Iterator[str]:
    """All words that differ by one letter left out, changed or added, or two letters swapped."""
    for at in range(len(word) + 1):
        before = word[:at]
        after = word[at:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in LETTERS)
