"""Compares the words and periods that name a figure, in an answer and in the heads of a table alike."""

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

# Words that tables use for the same thing. Each stands for the first of its line.
_SYNONYMS = (
    ("revenue", "sales", "turnover"),
    ("profit", "earnings", "income"),
    ("expenditure", "spending", "outlay", "expense"),
    ("staff", "employees", "employed"),
)


def _same_terms() -> dict[str, str]:
    """The term of each synonym -> the term that it stands for."""
    found = {}
    for synonyms in _SYNONYMS:
        (first, *_) = terms(synonyms[0])
        for word in filter(terms, synonyms):
            found[terms(word)[0]] = first
    return found


_SAME = _same_terms()
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
# Units, and words that say when a figure is of, do not tell rows apart. The names of currencies do, "yen" and
# "euro".
_TELLS_NOTHING = frozenset(
    terms(f"{' '.join((*SCALE_TERMS, *UNIT_TERMS, *CURRENCY_MARKS))} ended year fiscal fy note")
)
SAME_PERIOD = 2  # of periods_agree
TIE_REACH = 70  # characters between a figure and the period that a sentence ties to it
# " million in 2023", " (2023)", " percent of GDP at 30 June 2023": a noun and what it is of, then a word that
# ties the period to it.
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

    nearby: label words around it, widening: its clause, its sentence, the answer with the question.
    periods: those it may be of.
    own: whether its sentence names them.
    run: the digits of the figures listed in a row with it, like cells.
    place: its position among them.
    beside: the one period, if any, that the sentence ties to it; see period_beside.
    named: all periods that the sentence names.
    head: the heading it is listed under, "2023" of "(2024: 5; 2023: 4)", with single blanks; "" for none.
    order: the ordinal that goes with it, "first year"; "" if the sentence does not give each of its figures
        one.
    figures: the digits of all figures of its sentence.
    behind: label words that follow it, "5 million of rents".
    lead: label words right before it, of its clause.
    asked: label words of the question.
    base: whether a change began there, "from 5 to 6".
    years: all that answer and question name.
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
        """How many figures are listed in a row with it."""
        return max(1, len(self.run))


@lru_cache(maxsize=2_048)
def label_words(text: str) -> frozenset[str]:
    """The words that name a row or column, as search terms with synonyms unified.

    Periods, long numbers and units are left out.
    """
    text = _SHORT_WORD.sub(_written_out, without_periods(text))
    words = map(_label_word, _TOKEN.findall(text))
    return frozenset(filter(None, words))


def _written_out(match: re.Match[str]) -> str:
    return " ".join(_SHORT[match[0].lower()])


@lru_cache(maxsize=50_000)
def _label_word(token: str) -> str:
    """The word as it is compared, "" for one that names nothing."""
    if token[0].isdigit():
        return token
    found = terms(token)
    if found:
        word = found[0]
    elif token.casefold() in _KEPT:
        word = token.casefold()
    else:
        return ""
    if word in _TELLS_NOTHING:
        return ""
    return _SAME.get(word, word)


def orders_in(text: str, starts: Sequence[int]) -> list[str]:
    """The ordinal of each figure if they alternate, "4 in the first year, 8 in the second year"; else [].

    starts: of the figures.
    """
    found = list(_ORDINAL.finditer(text))
    if len(found) != len(starts) or len(found) < 2:
        return []
    places = [(match.start(), 0) for match in found] + [(start, 1) for start in starts]
    kinds = [kind for _, kind in sorted(places)]
    if any(kind == following for kind, following in pairwise(kinds)):
        return []
    return [" ".join(match[0].casefold().split()) for match in found]


def agreement(some: Iterable[Period], others: Collection[Period]) -> int:
    """How well the best two of these periods agree, as periods_agree has it; 0 if one side has none."""
    return max((periods_agree(one, other) for one in some for other in others), default=0)


def periods_in(text: str) -> tuple[Period, ...]:
    """The periods that a text names, each once."""
    found = {}
    for period in find_periods(text):
        found[period.start_year, period.end_year, period.kind, period.text] = period
    return tuple(found.values())


def period_beside(text: str, figure: Figure) -> tuple[Period, ...]:
    """The period that a text ties to one of its figures by the words between them; empty for none.

    For example, "45.1 million at 30 June 2024". Empty too if the text ties two that differ, a span ("in 2022
    and 2023") or a year of prices.
    """
    behind = text[max(0, figure.start - TIE_REACH) : figure.start]
    ahead = text[figure.end : figure.end + TIE_REACH]
    tied: list[Period] = []
    for period in find_periods(ahead)[:1]:
        if _TIED_AFTER.fullmatch(ahead, 0, period.start) and not _NO_TIE.match(ahead, period.end):
            tied.append(period)
    for period in find_periods(behind)[-1:]:
        if _TIED_BEFORE.fullmatch(behind, period.end):
            tied.append(period)
    if len(tied) == 2 and not periods_agree(tied[0], tied[1]):
        return ()
    return tuple(tied[:1])


def may_be_one(stated: Period, other: Period) -> bool:
    """Whether two periods may be the same.

    A fiscal year may have the name of the calendar year before or after it.
    """
    near = stated.kind != other.kind and abs(stated.end_year - other.end_year) <= 1
    return near or periods_agree(stated, other) > 0
