"""Reads how currencies are written: as signs, letters, codes and words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ingestion.language.vocabulary import either, table

__all__ = [
    "CODE",
    "CODES",
    "CURRENCY",
    "CURRENCY_MARKS",
    "CURRENCY_NAME",
    "CURRENCY_TERMS",
    "CURRENCY_WORD",
    "DRAWN_SIGNS",
    "LETTERS",
    "LETTER_SIGNS",
    "LOCAL",
    "MONEY",
    "SIGNS",
    "currency_of",
    "family_of",
    "short_sign",
    "sign_of_family",
]

_COLUMNS = 7
_EMPTY = [""] * _COLUMNS  # a line of the table may end before its last columns
_ROWS = [[*cells, *_EMPTY][:_COLUMNS] for cells in table("currencies.tsv")]
_KEYS = [cells[0] for cells in _ROWS]


def _codes_by(column: int) -> dict[str, str]:
    """Each word in a column of the table -> the code of its line."""
    return {word.replace("_", " "): cells[0] for cells in _ROWS for word in cells[column].split()}


def _and_plurals(words: Iterable[str]) -> set[str]:
    return {form for word in words for form in (word, f"{word}s")}


SIGNS: Mapping[str, str] = _codes_by(1)
_WORDS = _codes_by(3)
_CODES = {key: key for key in _KEYS if key.isupper()}
_FAMILIES = {cells[0]: cells[4] for cells in _ROWS if cells[4]}
# Letters that are a currency only where they touch an amount: "R50.3 billion", "N1,200", "R560 a month";
# "R50" alone is a name.
LETTERS: Mapping[str, str] = _codes_by(2)
# Letters and local names that are a currency only beside a scale: "Dh. 000's", "RO Mn"; "" for a shared one.
_LOCAL_WORDS = " ".join(cells[6] for cells in _ROWS).split()
LOCAL: Mapping[str, str] = {
    word: code * (_LOCAL_WORDS.count(word) < 2) for word, code in _codes_by(6).items()
}
_WRITTEN = {**LOCAL, **SIGNS, **_CODES, **LETTERS}
# All codes that a figure may have as its unit.
MONEY = frozenset(_KEYS)

# Signs that are no letters, each one character, for classes of characters: "$€£…". A backtick and a stop mean
# other things too.
DRAWN_SIGNS = "".join(dict.fromkeys(re.sub(r"[^\W\d_]|[.`]", "", "".join(SIGNS))))
# The backtick is how a rupee's sign comes out of some fonts.
_MARKS = [sign for sign in SIGNS if not sign[0].isalpha()]
CODES = tuple(_CODES)
# Signs that begin with a letter and touch the digits: "RM2.3".
LETTER_SIGNS = tuple(sign for sign in SIGNS if sign[0].isalpha())

# Pattern fragments; without groups but for the word's.
CODE = f"(?:{either(_CODES)})"
CURRENCY = rf"(?:(?<![A-Za-z])(?:{either([*LETTER_SIGNS, *_CODES])})|{either(_MARKS)})"
_NATION = f"(?:{either(_codes_by(5))})"
# A currency in words, for patterns that ignore case; the group is the word in the singular.
CURRENCY_WORD = rf"(?:{_NATION} )?(?P<money_word>{either(_WORDS)})(?:e?s)?"
# The same without a group.
CURRENCY_NAME = CURRENCY_WORD.replace("?P<money_word>", "?:")
_SPOKEN = re.compile(either(_WORDS), re.IGNORECASE)
# As words of a text, in lower case. Marks are codes, signs made of letters, and words such as "dollars" that
# name a currency only together with a nation. Terms are the marks and the words of all currencies.
_UNDOTTED = {sign.rstrip(".").lower() for sign in LETTER_SIGNS}
_SHORT_SIGNS = set(filter(str.isalpha, _UNDOTTED))
_SHARED = " ".join(cells[3] for cells in _ROWS if cells[4] or cells[5])
_OF_NATIONS = _and_plurals(_SHARED.split())
CURRENCY_MARKS = frozenset({*map(str.lower, _CODES), *_SHORT_SIGNS, *_OF_NATIONS})
CURRENCY_TERMS = CURRENCY_MARKS | _and_plurals(_WORDS)


def currency_of(written: str) -> str:
    """The code of a currency as written: "USD" for "US$" and "U.S. dollars"; "" for one that several share.

    Raises KeyError for others.
    """
    if written in _WRITTEN:
        return _WRITTEN[written]
    word = _SPOKEN.search(written)
    return _WORDS[word[0].lower() if word else written]


def short_sign(code: str) -> str:
    """The shortest sign of a currency, such as "$"; the code itself where it has none."""
    signs = (sign for cells in _ROWS if cells[0] == code for sign in cells[1].split())
    return min(signs, key=len, default=code)


def sign_of_family(code: str) -> str:
    """The sign of a currency whose word several share, such as "$" for "USD"; "" for none."""
    sign = short_sign(code)
    return sign if family_of(code) and sign in DRAWN_SIGNS else ""


def family_of(code: str) -> str:
    """The family whose sign or word a currency shares, such as "dollars" for "AUD"; "" for none."""
    return _FAMILIES.get(code, "")
