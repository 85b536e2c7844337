"""Tells which kinds a page is of from how such pages are written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from ingestion.language.months import MONTH_NAME
from ingestion.language.periods import YEAR
from ingestion.language.vocabulary import parts
from ingestion.pages.statement_kinds import PageFeatures, look_at, statements
from ingestion.pages.statement_terms import STATEMENTS
from ingestion.records import Page

__all__ = [
    "CONTENTS",
    "PRIMARY_STATEMENTS",
    "RISK_FACTORS_OR_BOILERPLATE",
    "page_kinds",
]

CONTENTS = "contents"
RISK_FACTORS_OR_BOILERPLATE = "risk_factors_or_boilerplate"
PRIMARY_STATEMENTS = tuple(sorted(STATEMENTS))

# The greatest share of lines that end in a figure in prose.
MOST_IN_PROSE = 0.3
# A list of contents has at least this many entries; fewer may stand on any page.
FEWEST_ENTRIES = 4
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}|_{5}")
PAGE_NUMBER = re.compile(r"(?i)[\divxl]{1,5}")
TITLE = re.compile(r"(?i)(table of )?contents\b|index$|list of (tables|figures|charts)")
# Page numbers rise down a list of contents. Figures of a table do so by chance, half of the time.
LAST_NUMBER = re.compile(r"[ -](\d{1,4})$")
SHARE_RISING = 0.8
# phrase -> how much it counts: signatures, certificates, lists of exhibits, contracts, warnings about
# forecasts.
FORM = {
    "/s/": 5,
    "pursuant to the requirements": 5,
    "power of attorney": 4,
    "i have reviewed this": 10,
    "certification pursuant": 8,
    "incorporated by reference": 2,
    "incorporated herein": 2,
    "exhibit": 1,
    "check mark": 5,
    "forward-looking statement": 3,
    " means ": 1,
    " hereof": 1,
    " herein": 1,
    " hereunder": 2,
    "thereof": 1,
}
# The same of risks: what could go wrong, and how badly.
HARM = {"advers": 3, "could ": 1, "harm": 1, "materially": 1, "unable to": 1}
FORM_ENOUGH = 10
HARM_ENOUGH = 16
# Marks of an entry in folded text: a date in brackets after the author, an address, a place in a journal, or
# a word used in citations.
MARKS_OF_WORKS = re.compile(
    rf"\((?:{YEAR}[a-z]?|n\. ?d\.|forthcoming|in press)(?:, [^()\n]{{0,25}}\n?[^()\n]{{0,15}})?\)[.,:;]"
    r"|https?: ?//|\bwww\.|\bdoi[.:]"
    rf"|\b(?:retrieved|accessed) (?:on |from |at |in )?(?:\d|http|www|{MONTH_NAME})"
    r"|\bet al\b|\bibid\b|\bop\. ?cit\b|\bisbn\b|\bissn\b|\bworking papers?,? (?:no|series|wp|n°)"
    r"|\bjournal of\b|\buniversity press\b"
    r"|\bvol\. ?\d|\bpp\. ?\d|\b\d{1,3} ?\(\d{1,2}\)[,:] ?\d|\[(?:press release|online|accessed|internet"
    r"|dataset|data set)"
)
# Nearly every mark contains one of these. They are counted first, as few pages have any and the search for
# marks takes 3 ms.
SIGNS_OF_WORKS = parts(
    "(19; (20; (n.d; (n. d; http; www.; doi; et al; ibid; pp.; vol.; journal of; retrieved; isbn;"
    "university press"
)
FEWEST_SIGNS = 6
# About one in two lines of a list of references has a mark, as entries run over two to four lines. On a page
# with footnotes it is one in ten.
SHARE_OF_LINES = 0.3
FEWEST_MARKED = 6


def page_kinds(page: Page) -> tuple[str, ...]:
    """Returns which kinds the page is of, sorted; none for a page of no special kind."""
    look = look_at(page)
    if _is_contents(page.text, look):
        return (CONTENTS,)
    if found := statements(look):
        return tuple(sorted(found))
    return (RISK_FACTORS_OR_BOILERPLATE,) if _is_boilerplate(look) else ()


def _is_contents(text: str, look: PageFeatures) -> bool:
    """Whether a page is a table of contents or a list of tables, which names every subject and explains none.

    Many of its lines lead by dots to a page number. Or it calls itself contents, most of its lines end in a
    page number, and without leaders these rise from line to line: below a running head "Table of Contents"
    figures do not.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if sum(map(bool, map(LEADER.search, lines))) >= max(FEWEST_ENTRIES, len(lines) / 3):
        return True
    ending = (line for line in lines if " " in line and PAGE_NUMBER.fullmatch(line.rsplit(None, 1)[-1]))
    if not any(map(TITLE.match, lines[:5])) or len([*ending]) < max(FEWEST_ENTRIES, len(lines) / 2):
        return False
    rows = (line for line, figure in zip(look.folded, look.figures, strict=True) if figure)
    numbers = [int(last[1]) for line in rows if (last := LAST_NUMBER.search(line[-6:]))]
    rising = sum(first <= second for first, second in pairwise(numbers))
    return rising >= SHARE_RISING * (len(numbers) - 1)


def _is_boilerplate(look: PageFeatures) -> bool:
    """Whether a page is form, hedging or references, which names everything and answers little."""
    if _is_reference_list(look):
        return True
    if look.density > MOST_IN_PROSE:
        return False
    return _weight(look, FORM) >= FORM_ENOUGH or _weight(look, HARM) >= HARM_ENOUGH


def _weight(look: PageFeatures, phrases: Mapping[str, int]) -> int:
    """Returns how much the phrases of a page count together."""
    return sum(worth * look.text.count(phrase) for phrase, worth in phrases.items())


def _is_reference_list(look: PageFeatures) -> bool:
    """Whether most of the page is a list of works cited."""
    if sum(map(look.text.count, SIGNS_OF_WORKS)) < FEWEST_SIGNS:
        return False
    marked = set[int]()
    number = 0
    at = 0
    for mark in MARKS_OF_WORKS.finditer(look.text):
        number += look.text.count("\n", at, mark.start())
        at = mark.start()
        marked.add(number)
    return len(marked) >= max(FEWEST_MARKED, SHARE_OF_LINES * len(look.lines))
