"""Puts a slip of the keyboard right where the documents have the word that was meant; knows words, no pages.

As in Norvig's "How to write a spelling corrector" (2007): of all words one edit away the one that the
documents have most often. A word that is common in English, or that a document has, is left as it is, and so
is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from chatbot.models.tokens import count_tokens
from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["spelled"]

WORD = re.compile(r"[^\W\d_]+")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Shorter words are near too many others, longer ones are none. Of a question's words those that are put right
# at most: one with more is in another language.
SHORTEST = 6
LONGEST = 24
MOST = 2


def spelled(query: str, frequency: Callable[[str], int]) -> str:
    """The query with slips put right, else as it is. frequency: on how many pages a term stands."""
    slips = list(islice((match for match in WORD.finditer(query) if _is_slip(match, frequency)), MOST + 1))
    if not 0 < len(slips) <= MOST:
        return query
    for match in reversed(slips):
        there = {
            word: often for word in set(_near(match[0].casefold())) if (often := _frequency(word, frequency))
        }
        # Of one stem that which is a word.
        if meant := max(
            sorted(word for word in there if count_tokens(f" {word}") == 1), key=there.__getitem__, default=""
        ):
            query = f"{query[: match.start()]}{meant}{query[match.end() :]}"
    return query


def _is_slip(match: re.Match[str], frequency: Callable[[str], int]) -> bool:
    """A word that neither the documents nor the most common two hundred thousand pieces of words have; a
    capital begins a name.
    """
    word = match[0]
    if (
        not SHORTEST <= len(word) <= LONGEST
        or not word.isascii()
        or not word.islower()
        or word.casefold() in STOP_WORDS
    ):
        return False
    if (
        match.string[match.end() :].startswith(("'", "’")) or count_tokens(f" {word.capitalize()}") == 1
    ):  # a name without its capital
        return False
    return not _frequency(word, frequency) and count_tokens(f" {word}") > 1


def _frequency(word: str, frequency: Callable[[str], int]) -> int:
    return max(map(frequency, terms(word)), default=0)


def _near(word: str) -> Iterator[str]:
    """All that is one letter left out, swapped, changed or put in away."""
    for at in range(len(word) + 1):
        before = word[:at]
        after = word[at:]
        if after:
            yield before + after[1:]
            yield from (before + letter + after[1:] for letter in LETTERS)
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        yield from (before + letter + after for letter in LETTERS)
