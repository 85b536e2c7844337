"""Knows how the words and periods that name a figure are compared, in an answer and in the heads of a
table alike; knows neither.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ingestion.language.currencies import CURRENCY_MARKS, CURRENCY_NAME
from ingestion.language.months import MONTH
from ingestion.language.numbers import Figure
from ingestion.language.periods import FISCAL, YEAR, Period, find_periods, periods_agree, without_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import terms
from ingestion.language.units import UNIT_TERMS

__all__ = [
    "SAME_PERIOD",
    "Mention",
    "agreement",
    "label_words",
    "may_be_one",
    "orders_in",
    "period_beside",
    "periods_in",
]

# Words for one thing in one table or the other; each stands for the first of its line.
_SYNONYMS = (
    ("revenue", "sales", "turnover"),
    ("profit", "earnings", "income"),
    ("expenditure", "spending", "outlay", "expense"),
    ("staff", "employees", "employed"),
)
_SAME = {terms(word)[0]: terms(words[0])[0] for words in _SYNONYMS for word in words if terms(word)}
_TOKEN = re.compile(
    r"(?<![0-9.,])[0-9]{1,2}(?:\.[0-9]{1,3})?(?![0-9]|[.,][0-9])|[^\W\d_]++(?:['’][^\W\d_]++)*+"
)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)\s[a-z]{3,}", re.IGNORECASE
)
_KEPT = frozenset(
    {"other", "before", "after", "under", "over", "more", "below", "above", "not"}
)  # stop words of a search that tell rows apart
_SHORT = {
    "capex": ("capital", "expenditure", "purchase", "property", "plant", "equipment"),
    "pp&e": ("property", "plant", "equipment"),
    "r&d": ("research", "development"),
    "sg&a": ("selling", "general", "administrative"),
    "cogs": ("cost", "revenue"),
    "gdp": ("gross", "domestic", "product"),
    "eps": ("per", "share"),
}
_SHORT_WORD = re.compile(r"\b(?:capex|PP&E|R&D|SG&A|COGS|GDP|EPS)(?![A-Za-z])", re.IGNORECASE)
# Units, and words that say when and whose figures they are, tell no row from another; the names of currencies
# do, "yen" and "euro".
_TELLS_NOTHING = frozenset(
    terms(f"{' '.join((*SCALE_TERMS, *UNIT_TERMS, *CURRENCY_MARKS))} ended year fiscal fy note")
)
SAME_PERIOD = 2  # of periods_agree
TIE_REACH = 70  # characters between a figure and the period that a sentence ties to it
# " million in 2023", " (2023)", " percent of GDP at 30 June 2023": one noun and what it is of, then a word
# that ties.
_TIED_AFTER = re.compile(
    r"(?:\s[a-z]{3,15}(?:s|ed))?(?:\sof\s[A-Za-z]{1,15})?"
    rf"(?:\s?\(|,?\s(?:in|for|at|on|during|as\s(?:of|at))\s(?:(?:the|year|years|fiscal|financial|end|ended"
    rf"|ending|of|[0-9]{{1,2}}|{MONTH}),?\s(?:[0-9]{{1,2}},\s)?){{0,5}})"
)
_TIED_BEFORE = re.compile(
    r":\s|\s[-–—]\s(?=\W)|\s(?:was|were|is|are|will\sbe|stood\sat|came\sto|amounted\sto|reached"
    r"|totall?ed)\s|\)\s?:?\s(?:(?:was|were)\s)?"
)
_NO_TIE = re.compile(  # "in 2015 prices", "in 2022 and 2023"
    (
        rf"\s(?:constant\s)?(?:prices|{CURRENCY_NAME}|terms|levels)\b|\s?(?:[-–,/&]|to\b|and\b|or\b"
        rf"|through\b)\s?(?:fiscal\s|{FISCAL}\s?)?"
    )
    + YEAR
)


@dataclass(frozen=True, slots=True)
class Mention:
    """What an answer says a figure is of.

    nearby: label words around it, widening: its clause, its sentence, the answer with the question. periods:
    those it may be of. own: its sentence says them. run: the digits of the figures read out in a row with it,
    like cells; place: the how-maniest it is of them. beside: the one period, if any, that the sentence ties
    to it: period_beside. named: all that the sentence names. figures: the digits of all figures of its
    sentence. behind: label words that follow it, "5 million of rents". years: all that answer and question
    name. base: it is where a move began, "from 5 to 6". order: the ordinal that goes with it, "first year",
    "" where the sentence does not give each of its figures one. lead: label words right before it, of its
    clause. asked: those of the question. head: what a cell is read out under, "2023" of "(2024: 5; 2023: 4)",
    whitespace collapsed; "" where none is.
    """

    nearby: tuple[frozenset[str], ...]
    periods: tuple[Period, ...] = ()
    own: bool = False
    run: tuple[str, ...] = ()
    place: int = 0
    beside: tuple[Period, ...] = ()
    named: tuple[Period, ...] = ()
    head: str = ""
    order: str = ""
    figures: frozenset[str] = frozenset()
    behind: frozenset[str] = frozenset()
    lead: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    base: bool = False
    years: frozenset[int] = frozenset()

    @property
    def together(self) -> int:
        """How many figures are read out in a row with it."""
        return max(1, len(self.run))


@lru_cache(maxsize=2_048)
def label_words(text: str) -> frozenset[str]:
    """The words that name a row or column: as search terms, synonyms made one; periods, long numbers and
    units left out.
    """
    text = _SHORT_WORD.sub(lambda match: " ".join(_SHORT[match[0].lower()]), without_periods(text))
    return frozenset(word for token in _TOKEN.findall(text) if (word := _label_word(token)))


@lru_cache(maxsize=50_000)
def _label_word(token: str) -> str:
    """The word as it is compared, "" for one that names nothing."""
    if token[0].isdigit():
        return token
    found = terms(token) or [word for word in (token.casefold(),) if word in _KEPT]
    if not found or found[0] in _TELLS_NOTHING:
        return ""
    return _SAME.get(found[0], found[0])


def orders_in(text: str, starts: Sequence[int]) -> list[str]:
    """The ordinal of each figure where they alternate, "4 in the first year, 8 in the second year"; []
    where they do not. starts: of the figures.
    """
    found = list(_ORDINAL.finditer(text))
    if len(found) != len(starts) or len(found) < 2:
        return []
    places = sorted([(one.start(), 0) for one in found] + [(start, 1) for start in starts])
    if all(one[1] != other[1] for one, other in pairwise(places)):
        return [" ".join(one[0].casefold().split()) for one in found]
    return []


def agreement(some: Iterable[Period], others: Collection[Period]) -> int:
    """How well the best two of these periods agree, as periods_agree has it; 0 where one side has none."""
    return max((periods_agree(one, other) for one in some for other in others), default=0)


def periods_in(text: str) -> tuple[Period, ...]:
    """The periods that a text names, each once."""
    return tuple(
        {
            (period.start_year, period.end_year, period.kind, period.text): period
            for period in find_periods(text)
        }.values()
    )


def period_beside(text: str, figure: Figure) -> tuple[Period, ...]:
    """The period that a text ties to one of its figures by the words between them, "45.1 million at 30 June
    2024"; empty where it ties none.

    Empty too where it ties two that differ, a span ("in 2022 and 2023") or a year of prices.
    """
    behind = text[max(0, figure.start - TIE_REACH) : figure.start]
    ahead = text[figure.end : figure.end + TIE_REACH]
    after = [
        one
        for one in find_periods(ahead)[:1]
        if _TIED_AFTER.fullmatch(ahead, 0, one.start) and not _NO_TIE.match(ahead, one.end)
    ]
    before = [one for one in find_periods(behind)[-1:] if _TIED_BEFORE.fullmatch(behind, one.end)]
    tied = (*after, *before)
    if len(tied) < 2 or periods_agree(tied[0], tied[1]):
        return tied[:1]
    return ()


def may_be_one(stated: Period, other: Period) -> bool:
    """Whether two periods may be one: a fiscal year may be called by the year before or after the
    calendar's.
    """
    near = stated.kind != other.kind and abs(stated.end_year - other.end_year) <= 1
    return near or periods_agree(stated, other) > 0
