"""Reads how the months are written: in full, in short and in other languages."""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.language.vocabulary import either, table

__all__ = ["DATED_MONTH", "MONTH", "MONTHS", "MONTH_NAME", "MONTH_WORDS", "SHORT_MONTHS", "month_number"]

_ROWS = table("months.tsv")  # of each month the English name, short forms, other languages, in dates only
# In English, in lower case, in order.
MONTHS: tuple[str, ...] = tuple(name for name, *_ in _ROWS)
SHORT_MONTHS = frozenset(word for _, short, *_ in _ROWS for word in short.split())
_FORMS = [(name, *short.split(), *others.split()) for name, short, others, _ in _ROWS]
_NUMBERS: Mapping[str, int] = {word: number for number, forms in enumerate(_FORMS, 1) for word in forms}
_DATED = {word: number for number, (*_, dated) in enumerate(_ROWS, 1) for word in dated.split()}
# Every word that is read as a month in any text.
MONTH_WORDS = frozenset(_NUMBERS)

# Pattern fragments. In lower case, for patterns that ignore case: an English name in full.
MONTH_NAME = f"(?:{either(MONTHS)})"
# As a sentence has it, with a capital.
MONTH = rf"(?:{either(word.capitalize() for word in _NUMBERS)})(?![a-z])"
# In the date of a document, in any language of the table.
DATED_MONTH = rf"(?:{either([*_NUMBERS, *_DATED])})\b\.?"


def month_number(word: str) -> int:
    """The number, 1 to 12, of a month in any case and form. Raises KeyError for other words."""
    written = word.casefold().rstrip(".")
    return _NUMBERS.get(written) or _DATED[written]
