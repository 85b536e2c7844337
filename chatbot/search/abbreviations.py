"""Matches a name and its initials, "CEO" and "Chief Executive Officer", by letters and capitals alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["other_spellings"]

_SHORT = re.compile(r"\b[A-Z][A-Za-z]{0,4}[A-Z]s?\b|\b(?:[A-Z]\.){2,6}")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = re.compile(r"[\s,&/’'()-]{1,3}|['’]s\s")
# Fewer words are no name. Initials of too few letters count only where small words give them more.
FEWEST_WORDS, FEWEST_LETTERS = 2, 3
LONGEST = 6


def other_spellings(names: Sequence[str], text: str) -> frozenset[str]:
    """The terms of these names that a text does not print and yet says: of initials that it spells out,
    and of words whose initials it prints.
    """
    words = (
        [(match[0], *match.span()) for match in _WORD.finditer(text)]
        if any(map(_SHORT.search, names))
        else []
    )
    found: set[str] = set()
    for name in names:
        short = _SHORT.findall(name)
        for written in short:
            if _is_spelled(_letters(written), words, text):
                found.update(terms(written))
        if not short and _has_initials(text, name):
            found.update(terms(name))
    return frozenset(found)


def _has_initials(text: str, name: str) -> bool:
    """Whether a text prints the initials of a name."""
    return any(re.search(rf"\b{initials}\b", text) for initials in _initials_of(name))


def _letters(short: str) -> str:
    """ "CEOs" and "C.E.O." are "ceo"."""
    return re.sub(r"[^A-Za-z]|s\Z", "", short).lower()


def _initials_of(name: str) -> set[str]:
    """Initials of a name's words with and without the small ones: "BoE"; "BE" alone is too short."""
    words = _WORD.findall(name)
    bare = [word for word in words if word.lower() not in STOP_WORDS]
    of_bare = "".join(word[0] for word in bare)
    if len(bare) < FEWEST_WORDS or not all(map(str.isupper, of_bare)):
        return set()
    of_all = "".join(word[0] for word in words)
    found = {of_bare, of_all, of_all.upper()}

    def is_usual(initials: str) -> bool:
        return FEWEST_LETTERS <= len(initials) <= LONGEST or len(bare) == len(words) == len(initials)

    return set(filter(is_usual, found))


def _is_spelled(letters: str, words: Sequence[tuple[str, int, int]], text: str) -> bool:
    """Whether neighbouring words of a text begin with these letters; small words among them may count or be
    passed over. words: (word, start, end) of the text.
    """
    for at, word in enumerate(words):
        if word[0][0].lower() == letters[0] and _goes_through(letters, words, at, text):
            return True
    return False


def _goes_through(letters: str, words: Sequence[tuple[str, int, int]], at: int, text: str) -> bool:
    """Whether the words from this one on begin with these letters."""
    first, _, end = words[at]
    rest = letters[1:]
    if len(first) == 1 or first[0].islower():
        return False
    for word, start, stop in islice(words, at + 1, None):
        if not rest or not _BETWEEN.fullmatch(text, end, start):
            break
        end = stop
        is_small = word.lower() in STOP_WORDS
        if word[0].lower() == rest[0] and (is_small or word[0].isupper()):
            rest = rest[1:]
        elif not is_small:
            break
    return not rest
