"""Tells which documents a question means, by the names and years it has; knows names of documents and
facts of them, no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from chatbot.records import Understanding
from ingestion.language.periods import find_periods
from ingestion.records import DocumentFacts

__all__ = ["document_parts", "name_share", "named_share", "route", "years_of"]

# Letters and digits that stand together in a file's name: "ACME_2021_10K", "AcmeCorp-2021", "budget speech
# 2025-26".
_PART = re.compile(r"[^\W\d_]+|\d+")
_WORD = re.compile(r"[^\W_]+(?:['’&][^\W_]+)*")
# A name's part that says nothing of whom or what: of kinds of files, and of reports.
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
_SURE_INITIALS = 4
# "Indian" is of India, "Japanese" of Japan, "Malaysian" of Malaysia: worth 1 of 220 questions.
_OF_COUNTRIES = ("n", "an", "ian", "ese", "ish")
# Words of which initials are made, at most, and small ones that may stand between them.
MOST_INITIALS = 7
_LINKS = frozenset("of the and for on in to".split())
# What a document's initials count of its whole name.
BY_INITIALS = 0.9


def document_parts(name: str) -> tuple[str, ...]:
    """The parts of a document's name that may name whom or what it is about, case-folded, in order."""
    stem = name.rsplit(".", 1)[0]
    return tuple(
        part
        for part in (match[0].casefold() for match in _PART.finditer(stem))
        if part not in _COMMON and not part.isdigit()
    )


def named_share(parts: Sequence[str], question: str) -> float:
    """0-1: the share of a document's name that the question says, whole ("Best Buy" for "bestbuy") or by
    initials ("JnJ" for "johnson johnson", and "Reserve Bank of India" for "rbi")."""
    if not parts:
        return 0.0
    said, short, initials = _said(question)
    if "".join(parts) in said:
        return 1.0
    letters = sum(len(part) for part in parts)
    share = sum(len(part) for part in parts if part in said or _begins(part, initials)) / max(letters, 1)
    return max(
        share, BY_INITIALS if len(own := "".join(part[0] for part in parts)) > 1 and own in short else 0.0
    )


def name_share(parts: Sequence[str], name: str) -> float:
    """0-1: the share of a name that a document's name says, 1 where it says all of it in one word or by
    initials.
    """
    words = [word.casefold() for word in _WORD.findall(name) if word.casefold() not in _LINKS]
    said, short, initials = _said(name)
    if (
        "".join(words) in parts
        or "".join(part[0] for part in parts) in short
        or any(_begins(part, initials) for part in parts)
    ):
        return 1.0
    if said:
        return sum(word in parts for word in words) / max(len(words), 1)
    return 0.0


def _begins(part: str, initials: frozenset[str]) -> bool:
    """Whether a part is such initials, or begins with some that are too long to be met by chance:
    "fomcpresconf".
    """
    return part in initials or any(
        len(short) >= _SURE_INITIALS and part.startswith(short) for short in initials
    )


@lru_cache(maxsize=16)  # the same for every document in reach
def _said(question: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What a question says that may be names: its words, and two or three of them as one; its short forms,
    "JnJ" as "jj"; and the initials of what it writes in capitals, "Bank of England" as "boe"."""
    found = _WORD.findall(question)
    words = [word.casefold().replace("'s", "").replace("’s", "") for word in found]
    said = {
        word
        for word, written in zip(words, found, strict=True)
        if len(word) >= _FEWEST_LETTERS or (len(word) > 1 and written.isupper())
    }
    said |= {
        word[: -len(ending)]
        for word, written in zip(words, found, strict=True)
        for ending in _OF_COUNTRIES
        if written[0].isupper() and _is_of(word, ending)
    }
    # As files are named: "McDonald's" as "mcdonalds", "PG&E" as "pge".
    said |= {
        bare
        for word in found
        if (bare := re.sub(r"['’&]", "", word.casefold())) != word.casefold() and len(bare) >= _FEWEST_LETTERS
    }
    said |= {"".join(words[at : at + size]) for size in (2, 3) for at in range(len(words) - size + 1)}
    # Capitals alone need three letters: "AI" and "US" are words.
    short = {
        capitals.casefold()
        for word in found
        if len(capitals := re.sub(r"[^A-Z]", "", word)) > (1 if capitals != word else 2)
    }
    initials = {
        *_initials(found),
        *(word.casefold() for word in found if word.isupper() and len(word) >= _FEWEST_LETTERS),
    }
    return frozenset(said), frozenset(short), frozenset(initials)


def _is_of(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= _SURE_INITIALS


def _initials(words: Sequence[str]) -> Iterator[str]:
    """Of runs of words in capitals, with and without the small words between them, of three letters and
    more.
    """
    for first, word in enumerate(words):
        if word[:1].isupper():
            letters = [word[0]]
        else:
            letters = []
        for following in words[first + 1 : first + MOST_INITIALS] if letters else ():
            if following.casefold() in _LINKS:
                letters.append(following[0].lower())
            elif following[:1].isupper():
                letters.append(following[0])
                yield from (
                    "".join(one).casefold()
                    for one in (letters, [letter for letter in letters if letter.isupper()])
                    if len(one) >= _FEWEST_LETTERS
                )
            else:
                break


def years_of(name: str, facts: DocumentFacts) -> tuple[int, ...]:
    """The years a document is about, as it states or its name has them."""
    text = facts.period or re.sub(r"[_\s]+", " ", name)
    years = {
        year
        for period in find_periods(text)
        for year in range(period.start_year, min(period.end_year, period.start_year + 5) + 1)
    }
    return tuple(sorted(years))


def route(
    understanding: Understanding, documents: Mapping[int, tuple[str, DocumentFacts]]
) -> dict[int, tuple[float, float]]:
    """version -> (how much the question names it, how well its years are those asked for), each 0-1; all 0
    for a single document.
    """
    if len(documents) < 2:
        return dict.fromkeys(documents, (0.0, 0.0))
    found = {}
    for version, (name, facts) in documents.items():
        years = years_of(name, facts)
        period = 0.0
        if understanding.years and years:
            wanted = max(understanding.years)
            if wanted == max(years):
                period = 1.0
            else:
                if wanted in years:
                    period = 0.6
                else:
                    if wanted == max(years) - 1:
                        period = 0.3
                    else:
                        period = 0.0
        found[version] = (named_share(document_parts(name), understanding.query), period)
    return found
