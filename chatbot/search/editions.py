"""Tells which of several documents is the newest of its series by their names, titles and what they say of
themselves; reads no page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from chatbot.records import Hit
from ingestion.language.months import MONTH, MONTH_WORDS, month_number
from ingestion.language.periods import FISCAL, YEAR
from ingestion.pages.document_facts import period_in, status_in
from ingestion.reading.formats import is_named_like_a_document
from ingestion.records import NO_FACTS, DocumentFacts

__all__ = [
    "NEWER_BONUS",
    "Listed",
    "asks_for_older",
    "is_older",
    "newer_bonus",
    "newer_notice",
    "newer_of",
    "series_of",
    "superseded",
]

# What the pages of the newest of a series gain. Pages of two editions of one policy that say the same rule
# score 0.01-0.02 apart, one way or the other; pages on another subject 0.1 and more below.
NEWER_BONUS = 0.05
# The weaker statuses of one period, and those that stand above them; without any a document counts as it is.
RANKS = {"superseded": -1, "draft": 0, "proposed": 1, None: 2, "adopted": 3, "revised": 4}
UNSETTLED = frozenset({"draft", "proposed", "superseded"})
# Words of names and titles that tell editions of one series apart, and what goes with them.
EDITION = (
    frozenset(
        "draft proposed proposal recommended adopted approved enacted revised amended superseded final "
        "finalised updated update new old current previous "
        "archived version ver rev revision edition ed copy fy fiscal year dated date as of the in "
        "effective from consultation".split()
    )
    | MONTH_WORDS
)
# Kinds of documents, which alone tell no series: any two publishers have an annual report.
KINDS = frozenset(
    "annual report reports form k q budget policy statement document file paper pdf quarterly interim "
    "results earnings release united states securities "
    "and exchange commission government ministry department office plan book speech outlook review minutes "
    "circular notice final scan".split()
)
# Reports of single events: a later one is about something else.
EVENTS = re.compile(
    r"(?<![A-Za-z0-9])(?:8[ _-]?K|6[ _-]?K|current report|press release|news release)(?![A-Za-z0-9])", re.I
)
DATE = re.compile(
    rf"(?<!\d)(?P<year>{YEAR})[-_. ]?(?P<month>0[1-9]|1[0-2])[-_. ]?(?P<day>0[1-9]|[12]\d|3[01])(?!\d)"
)
WRITTEN_DATE = re.compile(
    (
        rf"(?<![a-z])(?P<month>{MONTH})[ _.-]{{1,2}}(?:(?P<day>\d{{1,2}})(?:st|nd|rd"
        rf"|th)?,?[ _-]{{1,2}})?(?P<year>{YEAR})(?!\d)"
    ),
    re.I,
)
QUARTER = re.compile(
    r"(?<![A-Za-z])Q(?P<quarter>[1-4])(?![0-9])|(?<![0-9])(?P<before>[1-4])Q(?![A-Za-z])", re.I
)
YEARS = re.compile(
    rf"(?<!\d){YEAR}(?:[-_/ ]{{1,2}}(?:{YEAR}|\d{{2}}))?(?!\d)|(?<![A-Za-z]){FISCAL} ?\d{{2}}(?!\d)", re.I
)
VERSION = re.compile(
    r"(?<![A-Za-z])(?:v|ver|version|rev|revision|ed|edition)[ _.-]?\d{1,3}(?:\.\d{1,3})?(?!\w)", re.I
)
OLDER = re.compile(
    r"\b(?:old(?:er|est)?|previous(?:ly)?|earlier|former(?:ly)?|prior|preceding|before (?:that|this|then"
    r"|it)|superseded|replaced|original(?:ly)?|used to|"
    r"at the time|history|chang(?:e|es|ed)|compared?|comparison|difference|versus|since)\b",
    re.I,
)
WORD = re.compile(r"[^\W\d_]+|\d+")
# Words of a title from which on equal titles are of one series whatever the files are called.
TELLING_TITLE = 4


@dataclass(frozen=True, slots=True)
class Listed:
    """A document in reach. name: the file's; title: the file's own."""

    name: str
    title: str | None = None
    facts: DocumentFacts = NO_FACTS


def newer_of(name: str, documents: Sequence[Listed]) -> str | None:
    """The name of the newest document of the series of `name` that is newer than it, None where it is the
    newest or the only one.

    Of one series are documents whose names, or titles, are equal but for year, date, status and version.
    Newer is the one of the later period, of one period the later date, of one date the better status; one
    that calls itself superseded is never newer.
    """
    own = next((document for document in documents if document.name == name), None)
    if own is None:
        return None
    newer = [
        other
        for other in documents
        if other.name != name and _same_series(own, other) and _is_newer(other, own)
    ]
    if newer:
        return max(newer, key=lambda other: (_age(other), other.name)).name
    return None


def is_older(listed: Mapping[str, Listed], hit: Hit, other: Hit) -> bool:
    """Whether a page's document is of the series of another's and older. listed: the documents that are
    there, by name.
    """
    there = [listed[name] for name in {hit.document, other.document} if name in listed]
    return len(there) == 2 and newer_of(hit.document, there) is not None


def superseded(
    listed: Mapping[str, Listed], cited: Collection[str], years: Collection[int] = ()
) -> tuple[str, ...]:
    """A sentence for each cited document that has a newer one of its series, itself not cited. listed: the
    documents that are there, by name.

    years: asked for by the question; who asks for a document's own year is not told that there are newer
    ones.
    """
    pairs = [
        (name, newer_of(name, list(listed.values())))
        for name in sorted(cited)
        if name in listed and _age(listed[name])[0] not in years
    ]
    return tuple(
        newer_notice(listed[name], listed[newer]) for name, newer in pairs if newer and newer not in cited
    )


def series_of(name: str, documents: Sequence[Listed]) -> list[str]:
    """The names of all documents of the series of `name`, itself among them, the oldest first; [] for a
    name that is not there.
    """
    own = next((document for document in documents if document.name == name), None)
    if own is None:
        return []
    found = [document for document in documents if document.name == name or _same_series(own, document)]
    return [document.name for document in sorted(found, key=lambda document: (_age(document), document.name))]


def asks_for_older(question: str) -> bool:
    """Whether a question asks for what was before, or for a change, so that the newest of a series is not
    what it wants before others.
    """
    return OLDER.search(question) is not None


def newer_notice(older: Listed, newer: Listed) -> str:
    """One sentence that says that an answer rests on the older of two documents."""
    return (
        f"There is a newer document of this series: {_called(newer)}; this answer rests on {_called(older)}."
    )


def newer_bonus(documents: Sequence[Listed]) -> Mapping[str, float]:
    """Name -> NEWER_BONUS for the newest of each series of two or more in reach, unless it is a draft or a
    proposal.
    """
    series: dict[tuple[bool, frozenset[str]], list[Listed]] = defaultdict(list)
    for document in documents:
        series[False, _words(document.name)].append(document)
        series[True, _words(document.title or "")].append(document)
    several = [
        group for (_, words), group in series.items() if len(group) > 1 and any(map(str.isalpha, words))
    ]
    found = {}
    for group in several:
        ages = [
            (_age(document), document.name, document)
            for document in group
            if _status(document) != "superseded"
        ]
        dated = [row for row in ages if row[0][0]]
        newest = max(dated, key=lambda row: row[:2], default=None)
        if newest and any(row[0] < newest[0] for row in dated) and _status(newest[2]) not in UNSETTLED:
            found[newest[1]] = NEWER_BONUS
    return found


def _called(document: Listed) -> str:
    said = [part for part in (_period(document), document.facts.status) if part]
    return f"{document.name} ({', '.join(said)})" if said else document.name


def _is_newer(other: Listed, own: Listed) -> bool:
    if _status(other) == "superseded":
        return False
    there = _age(other)
    here = _age(own)
    known = bool(there[0]) and bool(here[0])
    if _status(own) == "superseded":
        return not known or there[0] >= here[0]
    return known and there > here


def _age(document: Listed) -> tuple[int, tuple[int, int], int]:
    """(last year of its period or 0, month and day or quarter in it or zeros, rank of its status)."""
    period = _period(document)
    if len(period) == 7:
        last = int(period[:2] + period[-2:])
    else:
        if period:
            last = int(period[-4:])
        else:
            last = 0
    return last, _day(document, last), RANKS[_status(document)]


def _period(document: Listed) -> str:
    return document.facts.period or period_in(document.name)


def _status(document: Listed) -> str | None:
    return document.facts.status or status_in([re.sub(r"[_.-]", " ", document.name)])


def _day(document: Listed, year: int) -> tuple[int, int]:
    """Month and day of a date of that year in name or title, the last month of a quarter; zeros without
    any.
    """
    for text in (document.name, document.title or ""):
        for match in (*DATE.finditer(text), *WRITTEN_DATE.finditer(text)):
            if int(match["year"]) == year:
                month = match["month"]
                return int(month) if month.isdigit() else month_number(month), int(match["day"] or 0)
        if quarter := QUARTER.search(text):
            return 3 * int(quarter["quarter"] or quarter["before"]), 0
    return 0, 0


def _same_series(one: Listed, other: Listed) -> bool:
    if EVENTS.search(f"{one.name} {one.title}") or EVENTS.search(f"{other.name} {other.title}"):
        return False
    names = _words(one.name), _words(other.name)
    titles = _words(one.title or ""), _words(other.title or "")
    if names[0] == names[1] and any(map(str.isalpha, names[0])):
        # Files called "annual report" are of one publisher unless their titles name two.
        return _tells(names[0]) or not all(map(_tells, titles)) or _tells(titles[0] & titles[1])
    if titles[0] != titles[1] or len(titles[0]) < 2 or not _tells(titles[0]):
        return False
    return len(titles[0]) >= TELLING_TITLE or not all(map(_tells, names)) or _tells(names[0] & names[1])


@lru_cache(maxsize=4_096)  # each of the names and titles in reach is compared with every other
def _words(name: str) -> frozenset[str]:
    """The words of a name or title that are the same in all editions; figures among them ("10" of a form)
    but no years, dates, versions.
    """
    if is_named_like_a_document(name):
        stem = PurePath(name).stem
    else:
        stem = name
    for pattern in (DATE, WRITTEN_DATE, YEARS, VERSION, QUARTER):
        stem = pattern.sub(" ", stem)
    return frozenset(word for word in WORD.findall(stem.casefold()) if word not in EDITION)


def _tells(words: frozenset[str]) -> bool:
    """Whether such words name a series: a publisher or a subject is among them, not a kind of document and
    figures only.
    """
    return any(len(word) > 1 and not word.isdigit() for word in words - KINDS)
