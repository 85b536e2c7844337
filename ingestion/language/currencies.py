"""Knows how currencies are written: signs, letters, codes and words; knows no amount."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ingestion.language.vocabulary import either, table

__all__ = [
    "CODE",
    "CODES",
    "CURRENCY",
    "CURRENCY_MARKS",
    "CURRENCY_NAME",
    "CURRENCY_SIGNS",
    "CURRENCY_TERMS",
    "CURRENCY_WORD",
    "CURRENCY_WORDS",
    "DRAWN_SIGNS",
    "LETTERS",
    "LETTER_SIGNS",
    "MONEY",
    "currency_of",
    "family_of",
    "sign_of",
]

_COLUMNS = 6
_ROWS = [[*cells, *[""] * (_COLUMNS - len(cells))] for cells in table("currencies.tsv")]


def _by(column: int) -> dict[str, str]:
    """What stands in a column of the table -> the code of its line."""
    return {word: cells[0] for cells in _ROWS for word in cells[column].split()}


_SIGNS = _by(1)
_WORDS = _by(3)
_CODES = {cells[0]: cells[0] for cells in _ROWS if cells[0].isupper()}
_WRITTEN = _SIGNS | _CODES | _by(2)
_FAMILIES = {cells[0]: cells[4] for cells in _ROWS if cells[4]}
# Letters that are a currency only where they touch an amount: "R50.3 billion", "N1,200", "R560 a month";
# "R50" alone is a name.
LETTERS: Mapping[str, str] = _by(2)
# All codes that a figure may have as its unit.
MONEY = frozenset(cells[0] for cells in _ROWS)

# Signs that are no letters, each one character, for classes of characters: "$€£…".
DRAWN_SIGNS = "".join(
    dict.fromkeys(mark for sign in _SIGNS for mark in sign if not (mark.isalpha() or mark in ".`"))
)
# The backtick is how a rupee's sign comes out of some fonts.
_MARKS = [sign for sign in _SIGNS if not sign[0].isalpha()]
CODES = tuple(_CODES)
CURRENCY_SIGNS = tuple(_SIGNS)
CURRENCY_WORDS = tuple(_WORDS)
# Signs that begin with a letter and touch the digits: "RM2.3".
LETTER_SIGNS = tuple(sign for sign in _SIGNS if sign[0].isalpha())

# Pattern fragments; without groups but for the word's.
CODE = f"(?:{either(_CODES)})"
CURRENCY = rf"(?:(?<![A-Za-z])(?:{either([*LETTER_SIGNS, *_CODES])})|{either(_MARKS)})"
_NATION = f"(?:{either(name.replace('_', ' ') for cells in _ROWS for name in cells[5].split())})"
# A currency in words, for patterns that ignore case; the group is the word in the singular.
CURRENCY_WORD = rf"(?:{_NATION} )?(?P<money_word>{either(_WORDS)})(?:e?s)?"
# The same without a group.
CURRENCY_NAME = CURRENCY_WORD.replace("?P<money_word>", "?:")
_SPOKEN = re.compile(either(_WORDS), re.IGNORECASE)
# As words of a text, in lower case: codes and signs of letters, with words that tell a currency with a nation
# only, "dollars"; then words of all currencies.
_SHORT = {
    *map(str.lower, _CODES),
    *(sign.rstrip(".").lower() for sign in LETTER_SIGNS if sign.rstrip(".").isalpha()),
}
_OF_NATIONS = {word for cells in _ROWS if cells[4] or cells[5] for word in cells[3].split()}
CURRENCY_MARKS = frozenset({*_SHORT, *_OF_NATIONS, *(f"{word}s" for word in _OF_NATIONS)})
CURRENCY_TERMS = frozenset({*CURRENCY_MARKS, *_WORDS, *(f"{word}s" for word in _WORDS)})


def currency_of(written: str) -> str:
    """The code of a currency as it is written: "US$" and "U.S. dollars" are "USD". Raises KeyError for
    what is none.
    """
    if written in _WRITTEN:
        return _WRITTEN[written]
    word = _SPOKEN.search(written)
    return _WORDS[word[0].lower() if word else written]


def sign_of(code: str) -> str:
    """The sign a currency is mostly written with, the code itself where it has none."""
    return next((cells[1].split()[0] for cells in _ROWS if cells[0] == code and cells[1]), code)


def family_of(code: str) -> str:
    """The family that a currency shares a sign or a word with, "dollars" for "AUD"; "" for one without."""
    return _FAMILIES.get(code, "")
