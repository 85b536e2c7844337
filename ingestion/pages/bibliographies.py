"""Recognises lists of references, bibliographies and endnotes by how works are cited."""

from __future__ import annotations

import re

from ingestion.language.months import MONTH_NAME
from ingestion.language.periods import YEAR
from ingestion.pages.features import Look

__all__ = ["is_reference_list"]

# Marks of an entry in folded text: a date in brackets after the author, an address, a place in a journal, or
# a word used in citations.
MARKS = re.compile(
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
SIGNS = (
    "(19",
    "(20",
    "(n.d",
    "(n. d",
    "http",
    "www.",
    "doi",
    "et al",
    "ibid",
    "pp.",
    "vol.",
    "journal of",
    "retrieved",
    "isbn",
    "university press",
)
FEWEST_SIGNS = 6
TITLE = re.compile(
    r"(?:(?:[a-z]|\d{1,2}|[ivx]+|annex|appendix)[.:)]? )?(?:list of )?(?:references?(?: list| cited)?"
    r"|bibliography|works cited|literature(?: cited)?|end ?notes|"
    r"bibliographie|literaturverzeichnis|quellenverzeichnis|bibliografia|referencias(?: bibliograficas)?"
    r"|references bibliographiques)"
)
# About one in two lines of a list of references has a mark, as entries run over two to four lines. On a page
# with footnotes it is one in ten.
SHARE_OF_LINES = 0.3
SHARE_UNDER_TITLE = 0.15
FEWEST = 6


def is_reference_list(look: Look) -> bool:
    """Whether most of the page is a list of works cited."""
    if sum(map(look.text.count, SIGNS)) < FEWEST_SIGNS:
        return False
    marked = set[int]()
    number = 0
    at = 0
    for mark in MARKS.finditer(look.text):
        number += look.text.count("\n", at, mark.start())
        at = mark.start()
        marked.add(number)
    if len(marked) < FEWEST:
        return False
    titled = any(map(TITLE.fullmatch, look.folded[: look.head]))
    share = SHARE_UNDER_TITLE if titled else SHARE_OF_LINES
    return len(marked) >= share * len(look.lines)
