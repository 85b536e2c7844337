"""Knows a name from its initials and the other way round, "CEO" and "Chief Executive Officer", by letters
and capitals alone; knows no list of either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["said_otherwise"]

_SHORT = re.compile(r"\b[A-Z][A-Za-z]{0,4}[A-Z]s?\b|\b(?:[A-Z]\.){2,6}")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\s,&/’'()-]{1,3}|['’]s\s")
# Fewer words are no name; initials of small words too make up for as few letters.
FEWEST_WORDS, FEWEST_LETTERS = 2, 3
LONGEST = 6


def said_otherwise(names: Sequence[str], text: str) -> frozenset[str]:
    """The terms of these names that a text does not print and yet says: of initials that it spells out,
    and of words whose initials it prints.
    """
    if any(map(_SHORT.search, names)):
        words = [(match[0], *match.span()) for match in _WORD.finditer(text)]
    else:
        words = []
    said: set[str] = set()
    for name in names:
        short = {match[0]: _letters(match[0]) for match in _SHORT.finditer(name)}
        said.update(
            term
            for written, letters in short.items()
            if _is_spelled(letters, words, text)
            for term in terms(written)
        )
        if not short and any(re.search(rf"\b{initials}\b", text) for initials in _initials_of(name)):
            said.update(terms(name))
    return frozenset(said)


def _letters(short: str) -> str:
    """ "CEOs" and "C.E.O." are "ceo"."""
    return re.sub(r"[^A-Za-z]|s\Z", "", short).lower()


def _initials_of(name: str) -> set[str]:
    """Of a name's words with and without the small ones: "BoE", "BE" is too short for one."""
    words = _WORD.findall(name)
    bare = [word for word in words if word.lower() not in STOP_WORDS]
    if len(bare) < FEWEST_WORDS or not all(word[0].isupper() for word in bare):
        return set()
    found = {
        "".join(word[0] for word in bare),
        "".join(word[0] for word in words),
        "".join(word[0].upper() for word in words),
    }
    return {
        initials
        for initials in found
        if FEWEST_LETTERS <= len(initials) <= LONGEST or (len(bare) == len(words) == len(initials))
    }


def _is_spelled(letters: str, words: Sequence[tuple[str, int, int]], text: str) -> bool:
    """Whether neighbouring words of a text begin with these letters, small words among them counted or
    passed over.
    """
    return any(
        word[0][0].lower() == letters[0] and _goes_through(letters, words, at, text)
        for at, word in enumerate(words)
    )


def _goes_through(letters: str, words: Sequence[tuple[str, int, int]], at: int, text: str) -> bool:
    first, _, end = words[at]
    rest = letters[1:]
    if len(first) == 1 or first[0].islower():
        return False
    for word, start, stop in islice(words, at + 1, None):
        if not rest or not _BETWEEN.fullmatch(text, end, start):
            break
        end = stop
        if word[0].lower() == rest[0] and (word.lower() in STOP_WORDS or word[0].isupper()):
            rest = rest[1:]
        elif word.lower() not in STOP_WORDS:
            break
    return not rest
