"""Tells what a word of a table may be by how it is written: a figure, a sign, a unit or a period."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ingestion.language.currencies import CODES, DRAWN_SIGNS, LETTER_SIGNS
from ingestion.language.months import DATED_MONTH
from ingestion.language.numbers import cell_figure
from ingestion.language.numbers.number_styles import CLOSING, NUMERAL, OPENING, SIDES, TRIANGLES, UNDECIDED
from ingestion.language.periods import FISCAL, PERIOD, YEAR, YEAR_PART, YEARLESS, find_periods
from ingestion.language.scales import MINUS, SCALE_TERMS, UNIT_TERMS
from ingestion.language.sentences import RAISED
from ingestion.language.vocabulary import either, words
from ingestion.records import Word

__all__ = [
    "BROKEN",
    "FIGURE",
    "GROUP",
    "LONGEST_FIGURE",
    "MARK",
    "OPEN_GROUP",
    "SIGNS",
    "are_periods",
    "count_values",
    "is_period",
    "is_value",
    "stacked",
    "text_of",
    "words_kind",
]

# Longer words are no figures. Their kinds are not cached.
LONGEST_FIGURE = 32
_NUMBER = rf"(?:{re.sub('[?]P<[a-z]+>', '?:', NUMERAL)}\.?|(?<![A-Za-z])\.[0-9]+)"
_CURRENCY = rf"(?:[A-Z]{{0,3}}[{DRAWN_SIGNS}]|{either((*LETTER_SIGNS, *CODES))})"
# Raised marks of notes: "¹", "²,³".
_RAISED = rf"[{RAISED}]{{1,2}}(?:,[{RAISED}]{{1,2}})*"
FIGURE = re.compile(
    rf"[(\[]?[{MINUS}+~>≤≥{OPENING}{TRIANGLES}]?{_CURRENCY}?[(\[]?[{MINUS}+]?{_NUMBER}"
    rf"(?:[-–]{_NUMBER}(?<=[\d][.]\d)|[-–]{_NUMBER}%)?"
    rf"(?:[%)\]]|bps?|pp|\)?pts?|[xX](?!\w)|[a-zA-Z](?![a-zA-Z]))?[%)\]{CLOSING}]*"
    rf"(?:\*{{1,3}}|[†‡§#]{{1,2}}|{_RAISED}"
    rf"|\([a-z\d]\)|/\d|\[\d\])?(?:/[-–=]|[{MINUS}]|,[-–—]{{1,2}})?[,;]?"
)
_PLAIN = re.compile(rf"[(-]?{_NUMBER}[)%]?")
_NOTHING = re.compile(
    r"(?a)-{1,3}%?|[–—―−‒]{1,2}%?|\.{2,3}|…|[nN][./]?[aA]\.?|NA|[nN]il|NIL|[nN]\.?[mM]\.?|\*"
)
_CURRENCY_ALONE = re.compile(rf"[(\[]?[-−–]?(?:{_CURRENCY}|[kK]r\.?)[(\[]?")
# "000s" and "$000" scale figures and are none.
_ZEROS = re.compile(rf"[(\[]?(?:{_CURRENCY}['’‘]?000s?|['’‘]?000['’]?s|['’‘]000)[)\]]?")
_AFTER = re.compile(rf"(?:%|[)\]{CLOSING}]{{1,2}}%?|%[)\]])(?:{_RAISED})?|pp|bps?|\)?pts?\.?|{SIDES}")
_BEFORE = re.compile(rf"[(\[{OPENING}{TRIANGLES}]|[{MINUS}+]\(?|\(-")
_LEADER = re.compile(r"[.…·_]{4,}|[….·]\s?[….·]{3,}")
GROUP = re.compile(rf"\d{{3}}(?:[.,]\d{{1,3}})?[)%\]{CLOSING}]*(?:[{MINUS}]|\*{{1,2}}|,[-–—]{{1,2}})?")
# What a group may follow: "12", "$ 1 234".
OPEN_GROUP = re.compile(
    rf"(?:.* )?[(\[{OPENING}{TRIANGLES}]?[{MINUS}+]?(?:[A-Z]{{0,2}}[{DRAWN_SIGNS}])?[(]?[{MINUS}]?\d{{1,3}}"
    r"(?: \d{3})*"
)
_PERIOD = re.compile(
    rf"(?:{PERIOD}|{YEAR}(?:[-–/](?:\d\d|{YEAR}))?)(?:[a-zA-Z]|\([A-Za-z\d]{{1,3}}\)|[*†‡¹²³]|RE|BE)?"
    rf"|[1-4](?:st|nd|rd|th)|(?i:{YEAR_PART}|{FISCAL})"
)
_YEARLESS = re.compile(rf"(?i)\b{YEARLESS}(?!\w)")
_NAMED_MONTH = re.compile(rf"(?i)\b{DATED_MONTH}")
BROKEN = re.compile("[\ufffe\u0002\u00ad]")
MARK = re.compile(r"\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})\)?(?:[,(]\(?(?:\d{1,2}|[a-z])\)?){0,2}|[*†‡§]{1,3}")
# A whole cell that gives its value in words: "Nil", "As applicable".
_IN_WORDS = re.compile(
    r"(?i)(?:nil|none|exempt(?:ed)?|free|not applicable|as applicable|no change|unchanged|not available"
    r"|not specified)\.?",
)
# Rates for several cases: "15/10", "10/5/2.5".
_BY_CASE = re.compile(r"(?a)\d{1,6}(?:\.\d{1,4})?(?:/\d{1,6}(?:\.\d{1,4})?){1,3}")
# Words that go with a figure: "5 per cent", "4 to 8 lakh", "25 basis points".
_MEASURES = UNIT_TERMS | SCALE_TERMS | words("day days month months year years")
_BETWEEN = frozenset(("to", "or", "and", "/", "+"))
# Dashes that may be a minus. The long dash never is.
SIGNS = frozenset(MINUS)


@lru_cache(maxsize=4096)
def _kind(text: str) -> str:
    """Returns the kind of a short word, as `words_kind` does."""
    if _ZEROS.fullmatch(text):
        return "w"
    if GROUP.fullmatch(text):
        return "v"
    if FIGURE.fullmatch(text):
        # Just digits with their marks are always read as a figure.
        is_read = _PLAIN.fullmatch(text) or is_period(text) or cell_figure(text, UNDECIDED)
        return "v" if text[-1] not in ",;" and is_read else "w"
    if _NOTHING.fullmatch(text):
        return "d"
    if _CURRENCY_ALONE.fullmatch(text):
        return "c"
    if _AFTER.fullmatch(text):
        return "u"
    if _BEFORE.fullmatch(text):
        return "s"
    if _LEADER.fullmatch(text):
        return "l"
    return "w"


def words_kind(text: str) -> str:
    """Returns what a word may be in a table.

    "v": a value.
    "d": a sign that there is no value.
    "c": a currency.
    "u": a unit that follows a value.
    "s": a sign that precedes a value.
    "l": a leader.
    "w": any other word.
    """
    if len(text) <= LONGEST_FIGURE:
        return _kind(text)
    if not text.strip(".…·_"):
        return "l"
    return "w"


def count_values(words: Iterable[Word]) -> int:
    """Counts the words that are values each for itself."""
    return sum(words_kind(word.text) == "v" for word in words)


def is_value(text: str) -> bool:
    """Whether a text is the value of a cell: a figure with its unit, or a sign or word that there is none.

    A sentence is no value.
    """
    if len(text) <= LONGEST_FIGURE and (_IN_WORDS.fullmatch(text) or _BY_CASE.fullmatch(text)):
        return True
    words = text.split()
    kinds = [words_kind(word) for word in words]
    if not {"v", "d"}.intersection(kinds) or words[-1] in _BETWEEN:
        return False
    others = [word for kind, word in zip(kinds, words, strict=True) if kind == "w"]
    if "c" in kinds and others and find_periods(text):  # "2024 TZS billion" is a head
        return False
    return all(word.lower() in _MEASURES or word in _BETWEEN for word in others)


def text_of(words: Iterable[Word]) -> str:
    """Returns words as printed, with a hyphen where one was broken at a line's end."""
    return BROKEN.sub("-", " ".join(word.text for word in words))


def stacked(texts: Iterable[str]) -> str:
    """Joins what is not empty of the heads or headings over each other, outermost first."""
    return " > ".join(filter(None, texts))


@lru_cache(maxsize=4096)
def is_period(text: str) -> bool:
    """Whether a text names a period in figures: 2024, 2024-25, FY2019, Q3, 2025e, 31.12.2024, 9M24."""
    if len(text) > LONGEST_FIGURE or (" " in text and _NAMED_MONTH.search(text)):
        return False
    return bool(_PERIOD.fullmatch(text.rstrip(",;")))


def are_periods(words: Iterable[Word]) -> bool:
    """Whether words name nothing but periods: "31 December 2024 31 December 2023", "Q4 2024"."""
    undated = _YEARLESS.sub(" ", " ".join(word.text for word in words))
    return all(map(is_period, undated.split()))
