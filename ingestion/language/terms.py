"""Turns text into search terms, the same way for indexing and for queries; knows words and numbers, not
documents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from hashlib import sha256
from threading import Lock

import Stemmer

from ingestion.language.months import MONTH_WORDS, MONTHS, month_number
from ingestion.language.periods import FISCAL, YEAR
from ingestion.language.vocabulary import either

__all__ = ["STOP_WORDS", "content_terms", "initials_behind", "spelled_out", "terms", "terms_version"]

TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*")
# FY2018, FY18, CY2019: the year is what is searched; 2024-25 and 2024/25 stand for both years.
YEAR_PREFIX = re.compile(rf"\b(?=[fc]){FISCAL}\s?'?(\d{{2}}(?:\d{{2}})?)\b", re.I)
MONTH_BEGINS = f"(?=[{''.join(sorted({word[0] for word in MONTH_WORDS}))}])"
YEAR_RANGE = re.compile(rf"\b({YEAR})\s?[-/–]\s?(\d{{2}})\b")
# "Mar-26", "Sept '25": the month of a year, as tables have it.
# The letters that months begin with, looked at first, take a third of the time.
MONTH_OF_YEAR = re.compile(
    rf"\b{MONTH_BEGINS}({either(MONTH_WORDS)})\.?[-–'’ ]{{1,2}}['’]?(\d\d)\b(?![-.,/]\d)", re.I
)
INITIALS = re.compile(r"\(([A-Z][A-Z&]{1,9})\)")
LONGEST_TERM = 40
# Snowball's C library keeps its state in the object, so one word goes through at a time; each word does so
# once.
_stemmer = Stemmer.Stemmer("english")
_stemming = Lock()
# Words that carry no subject, so that a question's own phrasing does not search; kept out of the index too.
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
# Not what would become a word that is not searched: the "Mai" of a name is kept.
SHORT_MONTH = re.compile(
    rf"\b{MONTH_BEGINS}({either(word for word in MONTH_WORDS - frozenset(MONTHS) if MONTHS[month_number(word) - 1] not in STOP_WORDS)})\b\.?",
    re.I,
)


def terms(text: str) -> list[str]:
    """The search terms of `text` in order, stop words left out: numbers whole without grouping commas,
    words case-folded and stemmed.
    """
    found = (_term(token) for token in TOKEN.findall(spelled_out(text)))
    return [term for term in found if term]


def spelled_out(text: str) -> str:
    """The text with years and months in full, as they are searched: "FY18" as 2018, "2024-25" as both
    years, "Sept" as september.
    """
    text = unicodedata.normalize("NFKC", text)
    text = YEAR_RANGE.sub(lambda m: f" {m.group(1)} {m.group(1)[:2]}{m.group(2)} ", text)
    text = YEAR_PREFIX.sub(lambda m: f" {m.group(1) if len(m.group(1)) == 4 else '20' + m.group(1)} ", text)
    text = MONTH_OF_YEAR.sub(
        lambda m: f" {_month(m.group(1))} 20{m.group(2)} " if _may_be_year(m) else m.group(0), text
    )
    text = SHORT_MONTH.sub(lambda m: f"{_month(m.group(1))} ", text)
    return text


@cache
def terms_version() -> str:
    """Tells an index whether its terms are today's: a digest of what becomes of all words that the tables
    of language change.
    """
    months = (f"{word} {word.capitalize()}-24" for word in sorted(MONTH_WORDS))
    probe = " ".join(
        [*months, *sorted(STOP_WORDS), "FY18 CY2019 2024-25 1,577 deficits policies the Treasury's"]
    )
    return sha256(" ".join(terms(probe)).encode()).hexdigest()[:16]


def content_terms(text: str) -> list[str]:
    """The distinct search terms of a question, in order."""
    return list(dict.fromkeys(terms(text)))


def initials_behind(label: str) -> list[str]:
    """What a row is also called: "VAT" of "Value Added Tax (VAT)"."""
    return INITIALS.findall(label)


def _month(name: str) -> str:
    return MONTHS[month_number(name) - 1]


def _may_be_year(match: re.Match[str]) -> bool:
    """A day after a blank is more likely than a year: "Mar 26" is a date, "Mar-26" and "Mar '26" are a
    month.
    """
    return any(mark in match[0] for mark in "-–'’")


@lru_cache(maxsize=200_000)
def _term(token: str) -> str:
    """The term of one token, "" for a stop word."""
    if token[0].isdigit():
        return token.replace(",", "")[:LONGEST_TERM]
    word = re.sub(r"['’]s?$|['’]", "", token.casefold())
    if word in STOP_WORDS or (len(word) < 2 and word.isascii()):
        return ""
    return _stem(word[:LONGEST_TERM])


def _stem(word: str) -> str:
    """The word without its endings (Porter's English stemmer as Snowball has it); words of other scripts
    pass as they are.
    """
    with _stemming:
        stem: str = _stemmer.stemWord(word)
    return stem or word
