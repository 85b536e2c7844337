"""Tells apart whom a question names and what it asks about them.

Names that are put beside each other ("Acme and Beta", "Acme compared with Beta") stand for one another: for a
question that compares two, pages about one are of use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from chatbot.records import Understanding
from chatbot.search.question_terms import measures_of, terms_of
from ingestion.language.measures import spelled_out
from ingestion.language.periods import without_periods
from ingestion.language.terms import content_terms, terms

__all__ = ["name_words", "named_together", "names_of", "topic_of"]

_BESIDE = re.compile(r",? (?:and|or|vs\.?|versus) ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b")
_ENDS = " .,;:'’-&"
# "RM2.3", "GBP250": an amount in capitals.
_AMOUNT = re.compile(r"[A-Za-z]{1,3}\d[\d.,]*")
_WORD = re.compile(r"[^\W_]+")
# What puts two names beside each other, and what else may stand between them, but for years and measures.
_JOINING = frozenset("and or vs versus compare compares compared comparison than against".split())
_BETWEEN = _JOINING | frozenset(
    "with to that those of in at for the s its does do is larger smaller higher lower more less".split()
)


def named_together(asked: Understanding) -> list[list[str]]:
    """The question's names without periods and measures, in groups of those that are put beside each
    other, in order.
    """
    of_measures = terms_of(measures_of(asked))
    groups: list[list[str]] = []
    end = -1
    for written in asked.names:
        start = max(asked.subject.find(written, max(end, 0)), 0)
        beside = 0 <= end <= start and _joins(asked.subject[end:start], of_measures)
        end = start + len(written)
        parts = map(_bare, _BESIDE.split(written))
        names = [name for name in parts if not of_measures.issuperset(name_words(name))]
        if names and beside and groups:
            groups[-1] += names
        elif names:
            groups.append(names)
    return groups


def names_of(asked: Understanding) -> list[str]:
    """The question's names without periods and measures, in order."""
    return [name for group in named_together(asked) for name in group]


@lru_cache(maxsize=1_000)  # asked for each document
def name_words(name: str) -> tuple[str, ...]:
    """The terms of a name, without numbers."""
    return tuple(word for word in content_terms(spelled_out(name)) if not word.isdecimal())


def topic_of(asked: Understanding, common: Callable[[str], bool]) -> str:
    """The question's subject without periods and without common names, which say nothing because they are
    everywhere.

    common: whether a name stands on many pages of the documents. The whole subject where nothing else is
    left.
    """
    text = asked.subject
    for name in sorted(filter(common, asked.names), key=len, reverse=True):
        text = re.sub(rf"{re.escape(name)}(?:['’]s)?", " ", text)
    text = " ".join(without_periods(text).split())
    if terms(text):
        return text
    return asked.subject


def _joins(between: str, of_measures: frozenset[str]) -> bool:
    """Whether what stands between two names puts them beside each other: "'s revenue compared with that
    of".
    """
    words = []
    for word in _WORD.findall(without_periods(between).casefold()):
        parts = set(terms(word))
        if not parts or not parts <= of_measures:
            words.append(word)
    return _BETWEEN.issuperset(words) and (not _JOINING.isdisjoint(words) or between.strip() == ",")


def _bare(name: str) -> str:
    """A name without periods and possessives; "" for an amount."""
    bare = _POSSESSIVE.sub("", without_periods(name)).strip(_ENDS)
    if _AMOUNT.fullmatch(bare):
        return ""
    return re.sub(r"^(?:and|the|of) | (?:and|the|of)$", "", bare)
