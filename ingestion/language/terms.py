"""Turns text into search terms, the same way for indexing and for queries."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from threading import Lock

import Stemmer

from ingestion.language.months import MONTH_WORDS, MONTHS, month_number
from ingestion.language.periods import FISCAL, Period, find_periods
from ingestion.language.sentences import RAISED
from ingestion.language.vocabulary import either

__all__ = ["STOP_WORDS", "content_terms", "initials_behind", "spelled_out", "terms"]

TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*")
# Of FY2018 the year is searched, and of 2024-25, 9M24 and 31.12.24 the years in full.
YEAR_PREFIX = re.compile(rf"(?i)\b{FISCAL}\s{{0,3}}'?(?=\d)")
SHORT_YEAR = re.compile(r"(?<!\d)\d\d(?!\d)")
# Checking first for the letters that months begin with takes a third of the time.
MONTH_BEGINS = f"(?=[{''.join(sorted({word[0] for word in MONTH_WORDS}))}])"
# Marks of notes are no digits of a figure: "45³".
WITHOUT_MARKS = dict.fromkeys(map(ord, RAISED), " ")
INITIALS = re.compile(r"\(([A-Z][A-Z&]{1,9})\)")
LONGEST_TERM = 40
# Snowball's C library keeps its state in the object, so only one word at a time may be stemmed; the results
# are cached.
_stemmer = Stemmer.Stemmer("english")
_stemming = Lock()
# Words without a subject of their own, left out of the index and of queries, so that a question's phrasing is
# not searched for.
STOP_WORDS = frozenset(
    """
        a about above according after again all also am an and any are as asked at be because been before
        being below between both but by can cannot could did do does doing don done down during each
        either else ever every few for from further get give given gives go had has have having he her
        here hers him his how i if in into is it its itself just kindly know let like list made make many
        may me might more most much must my no nor not now of off on once only or other our out over own
        please same say says shall she should show so some such tell than that the their them then there
        these they this those through to too under until up upon us use using very want was we were what
        when where whether which while who whom whose why will with within without would you your
    """.split()
)
# Without words whose month is a stop word: the "Mai" of a name is kept.
_SHORT_MONTHS = [
    word for word in MONTH_WORDS - frozenset(MONTHS) if MONTHS[month_number(word) - 1] not in STOP_WORDS
]
SHORT_MONTH = re.compile(rf"(?i)\b{MONTH_BEGINS}({either(_SHORT_MONTHS)})\b\.?")


def terms(text: str) -> list[str]:
    """The search terms of `text` in order, without stop words.

    Numbers stay whole but lose their grouping commas; words are case-folded and stemmed.
    """
    found = (_term(token) for token in TOKEN.findall(spelled_out(text)))
    return [term for term in found if term]


@lru_cache(maxsize=4_096)  # a document is indexed when it is read and again with its images
def spelled_out(text: str) -> str:
    """The text with years and months in full, as they are searched.

    "FY18" becomes 2018, "2024-25" both years, "Sept" september.
    """
    text = unicodedata.normalize("NFKC", text.translate(WITHOUT_MARKS))
    if SHORT_YEAR.search(text):
        for period in reversed(find_periods(text)):
            text = f"{text[: period.start]}{_in_full(period)}{text[period.end :]}"
    return SHORT_MONTH.sub(lambda m: f"{MONTHS[month_number(m[1]) - 1]} ", YEAR_PREFIX.sub(" ", text))


def content_terms(text: str) -> list[str]:
    """The distinct search terms of a question, in order."""
    return list(dict.fromkeys(terms(text)))


def initials_behind(label: str) -> list[str]:
    """The initials that a label gives in brackets: "VAT" of "Value Added Tax (VAT)"."""
    return INITIALS.findall(label)


def _in_full(period: Period) -> str:
    """A period with its years in four digits."""
    short = list(SHORT_YEAR.finditer(period.text))
    if not short or str(period.end_year) in period.text:
        return period.text
    *others, last = short
    before, behind = period.text[: last.start()], period.text[last.end() :]
    if others and period.start_year < period.end_year:  # "FY 23/24"
        before = f"{period.text[: others[-1].start()]} {period.start_year} "
    return f" {before} {period.end_year} {behind} "


@lru_cache(maxsize=200_000)
def _term(token: str) -> str:
    """The term of one token, "" for a stop word.

    A word loses its endings by Snowball's version of Porter's English stemmer; those of other scripts stay.
    """
    if token[0].isdigit():
        return token.replace(",", "")[:LONGEST_TERM]
    word = re.sub(r"['’]s?$|['’]", "", token.casefold())
    if word in STOP_WORDS or (len(word) < 2 and word.isascii()):
        return ""
    word = word[:LONGEST_TERM]
    with _stemming:
        stem: str = _stemmer.stemWord(word)
    return stem or word
