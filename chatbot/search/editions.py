"""Tells which of several documents is the newest of its series, by their names, titles and facts.

It reads no page.
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
    "amended_notice",
    "amendments",
    "is_older",
    "newer_bonus",
    "newer_notice",
    "newer_of",
    "series_of",
    "superseded",
]

# What the pages of the newest of a series gain. Pages of two editions of one policy that state the same rule
# score 0.01-0.02 apart, either way; pages on another subject 0.1 and more below.
NEWER_BONUS = 0.05
# Ranks of statuses within one period, the weaker below the stronger; a document without one is taken as it
# is.
RANKS = {"superseded": -1, "draft": 0, "proposed": 1, None: 2, "adopted": 3, "revised": 4, "amendment": 4}
UNSETTLED = frozenset({"draft", "proposed", "superseded"})
# Words of names and titles that tell editions of one series apart, and words that go with them.
EDITION = (
    frozenset(
        "draft proposed proposal recommended adopted approved enacted revised amended superseded final "
        "finalised updated update new old current previous "
        "archived version ver rev revision edition ed copy fy fiscal year dated date as of the in "
        "effective from consultation".split()
    )
    | MONTH_WORDS
)
# Kinds of documents. Alone they name no series: any two publishers have an annual report.
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
# What a document calls itself that changes another one, and words beside these that name no document.
AMENDMENT = re.compile(r"\b(?:amendments?|amending|to amend|addendum|corrigendum)\b", re.I)
BESIDE_AMENDMENT = frozenset(
    "amendment amendments amending amend addendum corrigendum to a an and on for by no number first second "
    "third fourth fifth section article".split()
)
WORD = re.compile(r"[^\W\d_]+|\d+")
# Equal titles of at least this many words are of one series, whatever the files are called.
TELLING_TITLE = 4
# (last year, (month, day), rank of the status), see `_age`.
_Age = tuple[int, tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Listed:
    """A document in reach.

    name: of the file.
    title: the file's own.
    facts: what it says of itself.
    """

    name: str
    title: str | None = None
    facts: DocumentFacts = NO_FACTS


def newer_of(name: str, documents: Sequence[Listed]) -> str | None:
    """The name of the newest document of the series of `name` that is newer than it, None where it is the
    newest or the only one.

    Documents are of one series if their names, or titles, are equal but for year, date, status and version.
    The document of the later period is newer, within one period that of the later date, and of one date that
    of the better status; one that calls itself superseded is never newer.
    """
    own = _named(name, documents)
    if own is None:
        return None
    others = [one for one in documents if one.name != name and _same_series(own, one) and not _amends(one)]
    newer = [other for other in others if _is_newer(other, own)]
    if newer:
        return max(newer, key=_by_age).name
    return None


def amendments(documents: Sequence[Listed]) -> dict[str, list[str]]:
    """Name -> names of the later documents that call themselves amendments of this one, the latest last.

    Their title has all words of the other's title but years and kinds of edition. It may lack those of the
    issuer if there is no other document that it could mean. documents: with their titles as they are shown.
    """
    found: dict[str, list[str]] = defaultdict(list)
    others = [document for document in documents if not _amends(document)]
    for later in sorted(filter(_amends, documents), key=_by_age):
        meant = [one for one in others if _is_of(later, one)]
        if not meant:
            meant = [one for one in others if _is_of(one, later)]
            if len(meant) > 1:
                continue
        age = _age(later)[:2]
        for one in meant:
            if not age[0] or age >= _age(one)[:2]:
                found[one.name].append(later.name)
    return dict(found)


def _amends(document: Listed) -> bool:
    """Whether a document calls itself an amendment, on its cover, in its title or its file's name."""
    return (
        document.facts.status == "amendment"
        or AMENDMENT.search(re.sub("[_-]", " ", f"{document.title} {document.name}")) is not None
    )


def _is_of(whole: Listed, part: Listed) -> bool:
    """Whether a title has all words of another's, which tell what it is about."""
    words = _words(part.title or "") - BESIDE_AMENDMENT
    return len(words) > 1 and _tells(words) and words <= _words(whole.title or "")


def _named(name: str, documents: Sequence[Listed]) -> Listed | None:
    return next((document for document in documents if document.name == name), None)


def _by_age(document: Listed) -> tuple[_Age, str]:
    """Sorts documents by age, the oldest first, ties by name."""
    return _age(document), document.name


def is_older(listed: Mapping[str, Listed], hit: Hit, other: Hit) -> bool:
    """Whether a page's document is of the same series as another's and older. listed: the documents that are
    there, by name.
    """
    compared = [listed[name] for name in {hit.document, other.document} if name in listed]
    return len(compared) == 2 and newer_of(hit.document, compared) is not None


def superseded(
    listed: Mapping[str, Listed], cited: Collection[str], years: Collection[int] = ()
) -> tuple[str, ...]:
    """A sentence for each cited document that has a newer one of its series, itself not cited. listed: the
    documents that are there, by name.

    years: asked for by the question; whoever asks for a document's own year gets no notice of later years'.
    """
    notices = []
    for name in sorted(cited):
        newer = newer_of(name, list(listed.values())) if name in listed else None
        if newer and newer not in cited:
            year, later = _age(listed[name])[0], _age(listed[newer])[0]
            if year not in years or year == later:
                notices.append(newer_notice(listed[name], listed[newer]))
    return tuple(notices)


def series_of(name: str, documents: Sequence[Listed]) -> list[str]:
    """The names of all documents of the series of `name`, itself among them, the oldest first; [] for a
    name that is not there.
    """
    own = _named(name, documents)
    if own is None:
        return []
    found = [document for document in documents if document.name == name or _same_series(own, document)]
    return [document.name for document in sorted(found, key=_by_age)]


def newer_notice(older: Listed, newer: Listed) -> str:
    """A sentence that says that an answer rests on the older of two documents."""
    return f"There is a newer document in this series, {_called(newer)}. This answer uses {_called(older)}."


def amended_notice(name: str, amendment: str) -> str:
    """A sentence that says that an answer rests on a document which another one amends."""
    return f"A later document, {amendment}, amends {name}."


@lru_cache(maxsize=4)  # asked anew at each question
def newer_bonus(documents: tuple[tuple[str, DocumentFacts], ...]) -> Mapping[str, float]:
    """Name -> NEWER_BONUS for the newest of each series of two or more in reach, unless it is a draft or a
    proposal. documents: (name, facts).
    """
    series: dict[frozenset[str], list[Listed]] = defaultdict(list)
    for name, facts in documents:
        series[_words(name)].append(Listed(name, None, facts))
    found = {}
    for words, group in series.items():
        if len(group) < 2 or not any(map(str.isalpha, words)):
            continue
        newest = _newest(group)
        if newest and _status(newest) not in UNSETTLED:
            found[newest.name] = NEWER_BONUS
    return found


def _newest(group: Sequence[Listed]) -> Listed | None:
    """The newest document of a series, None where no other with a date is older. Superseded documents and
    those without a date do not count.
    """
    dated = []
    for document in group:
        age = _age(document)
        if age[0] and _status(document) != "superseded":
            dated.append((age, document.name, document))
    if not dated:
        return None
    newest_age, _, newest = max(dated, key=lambda row: row[:2])
    if any(age < newest_age for age, _, _ in dated):
        return newest
    return None


def _called(document: Listed) -> str:
    facts = [part for part in (_period(document), document.facts.status) if part]
    if not facts:
        return document.name
    return f"{document.name} ({', '.join(facts)})"


def _is_newer(other: Listed, own: Listed) -> bool:
    if _status(other) == "superseded":
        return False
    other_age = _age(other)
    own_age = _age(own)
    known = bool(other_age[0]) and bool(own_age[0])
    if _status(own) == "superseded":
        return not known or other_age[0] >= own_age[0]
    return known and other_age > own_age


def _age(document: Listed) -> _Age:
    """(last year of its period or 0, month and day or quarter in it or zeros, rank of its status)."""
    period = _period(document)
    if len(period) == 7:
        last = int(period[:2] + period[-2:])
    elif period:
        last = int(period[-4:])
    else:
        last = 0
    return last, _day(document, last), RANKS[_status(document)]


def _period(document: Listed) -> str:
    return document.facts.period or period_in(document.name)


def _status(document: Listed) -> str | None:
    if document.facts.status:
        return document.facts.status
    return status_in([re.sub(r"[_.-]", " ", document.name)])


def _day(document: Listed, year: int) -> tuple[int, int]:
    """Month and day of a date of that year in name or title, or the last month of a quarter; zeros without
    any.
    """
    for text in (document.name, document.title or ""):
        for match in (*DATE.finditer(text), *WRITTEN_DATE.finditer(text)):
            if int(match["year"]) == year:
                return _month(match["month"]), int(match["day"] or 0)
        if found := QUARTER.search(text):
            return 3 * int(found["quarter"] or found["before"]), 0
    return 0, 0


def _month(written: str) -> int:
    if written.isdigit():
        return int(written)
    return month_number(written)


def _same_series(one: Listed, other: Listed) -> bool:
    if _is_of_event(one) or _is_of_event(other):
        return False
    names = _words(one.name), _words(other.name)
    titles = _words(one.title or ""), _words(other.title or "")
    title = titles[0]
    if names[0] == names[1] and any(map(str.isalpha, names[0])):
        # Files called "annual report" are of one publisher unless their titles name two.
        return _tells(names[0]) or _agree(*titles)
    if title != titles[1] or len(title) < 2 or not _tells(title):
        return False
    return len(title) >= TELLING_TITLE or _agree(*names)


def _is_of_event(document: Listed) -> bool:
    """Whether a document reports a single event."""
    return EVENTS.search(f"{document.name} {document.title}") is not None


def _agree(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two names or titles do not name two series."""
    return not _tells(words) or not _tells(others) or _tells(words & others)


@lru_cache(maxsize=200_000)  # each of the names and titles in reach is compared with every other
def _words(name: str) -> frozenset[str]:
    """The words of a name or title that are the same in all editions: with figures ("10" of a form) but
    without years, dates and versions.
    """
    stem = PurePath(name).stem if is_named_like_a_document(name) else name
    for pattern in (DATE, WRITTEN_DATE, YEARS, VERSION, QUARTER):
        stem = pattern.sub(" ", stem)
    return frozenset(WORD.findall(stem.casefold())) - EDITION


def _tells(words: frozenset[str]) -> bool:
    """Whether such words name a series: they hold a publisher or a subject, not only a kind of document and
    figures.
    """
    return any(len(word) > 1 and not word.isdigit() for word in words - KINDS)
