"""Corrects typing slips where the documents have the word that was meant.

As in Norvig's "How to write a spelling corrector" (2007): of all words one edit away it takes the one that
the documents have most often. A word that is common in English, or that a document has, is left as it is, and
so is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain

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
Frequencies = Callable[[Collection[str]], Mapping[str, int]]


def corrected_spelling(query: str, frequencies: Frequencies) -> str:
    """The query with slips corrected, else as it is. frequencies: on how many pages each of some terms
    stands.
    """
    unusual = list(filter(_is_unusual, WORD.finditer(query)))
    if not unusual:
        return query
    often = _often({match[0] for match in unusual}, frequencies)
    slips = [match for match in unusual if not often[match[0]]]
    if not 0 < len(slips) <= MOST:
        return query
    for match in reversed(slips):
        meant = _meant(match[0].casefold(), frequencies)
        if meant:
            query = f"{query[: match.start()]}{meant}{query[match.end() :]}"
    return query


def _meant(slip: str, frequencies: Frequencies) -> str:
    """The word that a slip stands for, "" where there is none."""
    often = _often(set(_near(slip)), frequencies)
    # All forms of a stem are equally frequent; only those that are words count.
    words = sorted(word for word, count in often.items() if count and count_tokens(f" {word}") == 1)
    return max(words, key=often.__getitem__, default="")


def _is_unusual(match: re.Match[str]) -> bool:
    """Whether a word may be a slip: it has lower-case ASCII letters and a medium length, is no possessive,
    and is not a single token of the vocabulary, with a capital or without.
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
    return count_tokens(f" {word}") > 1


def _often(words: Collection[str], frequencies: Frequencies) -> dict[str, int]:
    """On how many pages each word stands, by its most frequent term."""
    found = {word: terms(word) for word in words}
    counts = frequencies(set(chain.from_iterable(found.values())))
    return {word: max(map(counts.__getitem__, of_word), default=0) for word, of_word in found.items()}


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
