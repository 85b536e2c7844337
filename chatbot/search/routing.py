"""Tells which documents a question means, by the names and years in it; reads no page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from chatbot.records import Understanding
from ingestion.language.periods import find_periods
from ingestion.records import DocumentFacts

__all__ = ["document_parts", "name_share", "named_share", "route", "years_of"]

# Letters and digits of a file's name, apart from each other: "ACME_2021_10K", "AcmeCorp-2021", "budget speech
# 2025-26".
_PART = re.compile(r"[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+(?:['’&][^\W_]+)*")
# Parts of a name that do not say whom or what it is about: kinds of files, and of reports.
_COMMON = frozenset(
    """
        pdf doc final draft copy version the of and for a an in on report annual quarterly k q earnings
        results dated file document documents statement statements financial budget policy inc corp plc
        ltd co group company economic economy outlook monetary fiscal review plan strategy presentation
        conference press minutes bulletin speech chapter ch part volume ch vol medium term update
        framework government public
    """.split()
)
_FEWEST_LETTERS = 3
# Documents whose names are kept as they are understood: each question looks at all of them.
_MOST_KEPT = 200_000
_SURE_INITIALS = 4
# "Indian" is of India, "Japanese" of Japan, "Malaysian" of Malaysia: worth 1 of 220 questions.
_OF_COUNTRIES = ("n", "an", "ian", "ese", "ish")
# Up to this many words initials are made of, and small words that may stand between them.
MOST_INITIALS = 7
_LINKS = frozenset("of the and for on in to".split())
# What a document's initials count for, as a share of its whole name.
BY_INITIALS = 0.9


@lru_cache(maxsize=_MOST_KEPT)
def document_parts(name: str) -> tuple[str, ...]:
    """The parts of a document's name that may name whom or what it is about, case-folded, in order."""
    parts = map(str.casefold, _PART.findall(name.rsplit(".", 1)[0]))
    return tuple(part for part in parts if part not in _COMMON and not part.isdigit())


def named_share(parts: Sequence[str], question: str) -> float:
    """0-1: the share of a document's name that the question uses, whole ("Best Buy" for "bestbuy") or by
    initials ("JnJ" for "johnson johnson", and "Reserve Bank of India" for "rbi").
    """
    if not parts:
        return 0.0
    spoken = _spoken(question)
    if "".join(parts) in spoken.words:
        return 1.0
    letters = sum(map(len, parts))
    named = sum(len(part) for part in parts if part in spoken.words or _begins(part, spoken.initials))
    share = named / max(letters, 1)
    own = "".join(part[0] for part in parts)
    if len(own) > 1 and own in spoken.short:
        return max(share, BY_INITIALS)
    return share


def name_share(parts: Sequence[str], name: str) -> float:
    """0-1: the share of a name that a document's name has, 1 where it has all of it in one word or by
    initials.
    """
    words = [word for word in map(str.casefold, _WORD.findall(name)) if word not in _LINKS]
    spoken = _spoken(name)
    if "".join(words) in parts:
        return 1.0
    if "".join(part[0] for part in parts) in spoken.short:
        return 1.0
    if any(_begins(part, spoken.initials) for part in parts):
        return 1.0
    if not spoken.words:
        return 0.0
    return sum(word in parts for word in words) / max(len(words), 1)


def _begins(part: str, initials: frozenset[str]) -> bool:
    """Whether a part consists of such initials, or begins with some that are too long for chance:
    "fomcpresconf".
    """
    return part in initials or any(
        len(short) >= _SURE_INITIALS and part.startswith(short) for short in initials
    )


class _Spoken(NamedTuple):
    """What a question says that may be names.

    words: its words, and two or three of them as one.
    short: its short forms, "JnJ" as "jj".
    initials: of what it writes in capitals, "Bank of England" as "boe".
    """

    words: frozenset[str]
    short: frozenset[str]
    initials: frozenset[str]


@lru_cache(maxsize=16)  # the same for every document in reach
def _spoken(question: str) -> _Spoken:
    """What a question says that may be names."""
    found = _WORD.findall(question)
    words = [word.casefold().replace("'s", "").replace("’s", "") for word in found]
    spoken = set[str]()
    short = set[str]()
    initials = set(_initials(found))
    for word, written in zip(words, found, strict=True):
        if len(word) >= _FEWEST_LETTERS or (len(word) > 1 and written.isupper()):
            spoken.add(word)
        if written[0].isupper():
            spoken.update(_countries_of(word))
        # As files are named: "McDonald's" as "mcdonalds", "PG&E" as "pge".
        folded = written.casefold()
        bare = re.sub(r"['’&]", "", folded)
        if bare != folded and len(bare) >= _FEWEST_LETTERS:
            spoken.add(bare)
        # Capitals alone need three letters: "AI" and "US" are words.
        capitals = re.sub(r"[^A-Z]", "", written)
        if len(capitals) > (1 if capitals != written else 2):
            short.add(capitals.casefold())
        if written.isupper() and len(written) >= _FEWEST_LETTERS:
            initials.add(folded)
    for size in (2, 3):
        for at in range(len(words) - size + 1):
            spoken.add("".join(words[at : at + size]))
    return _Spoken(frozenset(spoken), frozenset(short), frozenset(initials))


def _countries_of(word: str) -> Iterator[str]:
    """The countries that a word may belong to: "india" of "indian"."""
    for ending in _OF_COUNTRIES:
        if _is_of(word, ending):
            yield word[: -len(ending)]


def _is_of(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= _SURE_INITIALS


def _initials(words: Sequence[str]) -> Iterator[str]:
    """Initials of runs of capitalised words, with and without the small words between them, of three letters
    and more.
    """
    for first, word in enumerate(words):
        if not word[:1].isupper():
            continue
        letters = [word[0]]
        for following in words[first + 1 : first + MOST_INITIALS]:
            if following.casefold() in _LINKS:
                letters.append(following[0].lower())
            elif following[:1].isupper():
                letters.append(following[0])
                capitals = filter(str.isupper, letters)
                for run in ("".join(letters), "".join(capitals)):
                    if len(run) >= _FEWEST_LETTERS:
                        yield run.casefold()
            else:
                break


@lru_cache(maxsize=_MOST_KEPT)
def years_of(name: str, facts: DocumentFacts) -> tuple[int, ...]:
    """The years a document is about, as it states or its name has them."""
    text = facts.period or re.sub(r"[_\s]+", " ", name)
    years = set[int]()
    for period in find_periods(text):
        years.update(range(period.start_year, min(period.end_year, period.start_year + 5) + 1))
    return tuple(sorted(years))


def route(
    understanding: Understanding, documents: Mapping[int, tuple[str, DocumentFacts]]
) -> dict[int, tuple[float, float]]:
    """version -> (how much the question names it, how well its years are those asked for), each 0-1; all 0
    for a single document.
    """
    if len(documents) < 2:
        return dict.fromkeys(documents, (0.0, 0.0))
    return {
        version: (
            named_share(document_parts(name), understanding.query),
            _period_share(understanding.years, years_of(name, facts)),
        )
        for version, (name, facts) in documents.items()
    }


def _period_share(asked: Sequence[int], years: Sequence[int]) -> float:
    """0-1: how well a document's years are those asked for."""
    if not asked or not years:
        return 0.0
    wanted = max(asked)
    latest = max(years)
    if wanted == latest:
        return 1.0
    if wanted in years:
        return 0.6
    if wanted == latest - 1:
        return 0.3
    return 0.0
