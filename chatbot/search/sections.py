"""Finds the parts of a document by their headings: in its list of contents, else in its text; reads words
and lines, no store and no question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms
from ingestion.pages.kinds import CONTENTS, INDEX_OF_STATEMENTS

__all__ = ["Section", "part_of", "sections"]

# Characters of a heading, and how much of the page's width it takes at most: a line of running text that is
# broken off begins like one.
SHORTEST = 4
LONGEST = 90
WIDTH = 0.75
# Pages on which a line stands that is a running head, of so many.
MOST_REPEATED = 3
# Of a page's headings; more are the labels of a table or a chart.
MOST_OF_A_PAGE = 6
# "1.2 Debt ..... 17", "Debt 17": a line of a list of contents.
ENTRY = re.compile(
    r"(?P<title>[^\n]{3,110}?)[\s.·…_]{2,}(?P<page>\d{1,3}|[ivxl]{1,6})$"
    r"|(?P<short>[^\n]{3,90}?[^\d\s.,]) (?P<last>\d{1,3})$"
)
FEWEST_ENTRIES, MOST_ENTRIES = 4, 200
# "Chapter 3", "3.", "3.1", "II.", "Item 1A.": what a heading may begin with.
NUMBER = re.compile(
    (
        r"(?:(?:chapter|part|section|annex|appendix|item|article"
        r"|note)\s+(?P<named>[\dIVXA-Z]{1,5}[A-Z]?(?:\.\d+)*)\b[.:)–—-]?|(?P<bare>\d{1,2}(?:\.\d{1,2}){0,2}"
        r"|[IVX]{1,4})[.)]?(?=\s))\s*"
    ),
    re.IGNORECASE,
)
SMALL = 3
WORD = re.compile(r"[^\W_]+")
WORDS_OF_NUMBERS = {
    name: str(value)
    for value, name in enumerate("one two three four five six seven eight nine ten".split(), 1)
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document. title: its heading, as it stands there; page, last: physical, 1-based, of its
    beginning and of its end.
    """

    title: str
    page: int
    last: int

    @property
    def name(self) -> str:
        """Its heading without that number."""
        found = NUMBER.match(self.title)
        if found:
            return self.title[found.end() :].strip()
        return self.title

    @property
    def number(self) -> str:
        """What its heading is numbered, "" for none: "3.1", "II"."""
        found = NUMBER.match(self.title)
        return ((found["named"] or found["bare"]) if found else "").casefold()


def sections(
    texts: Sequence[str], kinds: Mapping[int, Sequence[str]], labels: Mapping[str, int]
) -> list[Section]:
    """The parts in order. texts: of all pages; kinds: what a page is, by its number; labels: printed page
    number -> physical page.
    """
    lists = [page for page, of in kinds.items() if CONTENTS in of or INDEX_OF_STATEMENTS in of]
    found = _listed(texts, lists, labels) or _headed(texts, lists)
    ends = [*(begin for _, begin in found[1:]), len(texts) + 1][: len(found)]
    return [
        Section(title, page, max(page, end - (end > page)))
        for (title, page), end in zip(found, ends, strict=True)
    ]


def part_of(found: Sequence[Section], said: str) -> Section | None:
    """The part that is meant by "chapter 3", "the introduction" or words of a title; None where none is."""
    words = said.casefold().split()
    if len(words) == 2 and words[1] in WORDS_OF_NUMBERS:
        return _numbered(found, WORDS_OF_NUMBERS[words[1]])
    numbered = NUMBER.match(f"{said} ")
    if numbered and not said[numbered.end() :].strip():
        return _numbered(found, (numbered["named"] or numbered["bare"]).casefold())
    wanted = set(content_terms(said))
    titled = [one for one in found if wanted and wanted <= set(content_terms(one.title))]
    return min(titled, key=lambda one: len(one.title), default=None)


def _numbered(found: Sequence[Section], number: str) -> Section | None:
    """The part of that number, to the end of its own parts."""
    roman = {
        "1": "i",
        "2": "ii",
        "3": "iii",
        "4": "iv",
        "5": "v",
        "6": "vi",
        "7": "vii",
        "8": "viii",
        "9": "ix",
        "10": "x",
    }.get(number, number)
    first = next((at for at, one in enumerate(found) if one.number in {number, roman}), None)
    if first is None:
        return None
    last = first
    while last + 1 < len(found) and found[last + 1].number.startswith(f"{found[first].number}."):
        last += 1
    return Section(found[first].title, found[first].page, found[last].last)


class _Plain(dict[int, str]):
    """The words of pages, by number, with a blank around each; made as they are asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, page: int) -> str:
        self[page] = f" {' '.join(WORD.findall(self._texts[page - 1].casefold()))} "
        return self[page]


def _listed(texts: Sequence[str], pages: Sequence[int], labels: Mapping[str, int]) -> list[tuple[str, int]]:
    """(title, page) of the entries of lists of contents, each on the page where its title stands; [] where
    too few do.
    """
    found: list[tuple[str, int]] = []
    plain = _Plain(texts)
    for page in sorted(pages)[:MOST_REPEATED]:
        for line in texts[page - 1].split("\n"):
            entry = ENTRY.fullmatch(" ".join(line.split()))
            if entry is None:
                continue
            title = (entry["title"] or entry["short"]).strip(" .·…_")
            printed = entry["page"] or entry["last"]
            if len(found) == MOST_ENTRIES or not WORD.search(title):
                continue
            physical = labels.get(printed) or (int(printed) if printed.isdigit() else 0)
            near = [
                at
                for at in (physical, physical + 1, physical - 1)
                if 1 <= at <= len(texts) and at not in pages
            ]
            spaced = re.compile(r"[\W_]{0,4}".join(map(re.escape, WORD.findall(title))), re.IGNORECASE)
            words = f" {' '.join(WORD.findall(title.casefold()))} "
            near = [
                at for at in near if words in plain[at]
            ]  # before the pattern, which is slow where a page repeats itself
            there = next(
                (
                    (" ".join(stands[0].split()), at)
                    for at in near
                    if (stands := spaced.search(texts[at - 1]))
                ),
                None,
            )
            if there and (not found or there[1] >= found[-1][1]):
                found.append(there)
    if len(found) >= FEWEST_ENTRIES:
        return found
    return []


def _headed(texts: Sequence[str], aside: Sequence[int]) -> list[tuple[str, int]]:
    """(line, page) of lines that look like headings and run through no pages."""
    lines = {
        page: [line.strip() for line in text.split("\n") if line.strip()]
        for page, text in enumerate(texts, 1)
        if page not in aside
    }
    often = Counter(_shape(line) for of in lines.values() for line in set(of))
    found: list[tuple[str, int]] = []
    for page, of in lines.items():
        widths = sorted(map(len, of))
        if widths:
            width = widths[len(widths) * 9 // 10]
        else:
            width = 0
        on_page = [
            line
            for line, following in pairwise([*of, ""])
            if often[_shape(line)] < MOST_REPEATED
            and len(line) <= max(width * WIDTH, SHORTEST)
            and _is_heading(line, following)
        ]
        found += [(line, page) for line in on_page] if len(on_page) <= MOST_OF_A_PAGE else []
    return found


def _is_heading(line: str, following: str) -> bool:
    """A short line without the end of a sentence, numbered or in capitals, after which a sentence begins."""
    if (
        not SHORTEST <= len(line) <= LONGEST
        or is_finished(line, also=":;,")
        or not following[:1].isalnum()
        or following[:1].islower()
    ):
        return False
    numbered = NUMBER.match(line)
    if numbered:
        title = line[numbered.end() :]
    else:
        title = line
    words = re.findall(r"[^\W\d_]+", title)
    if (
        not words
        or "," in title
        or (":" in title and not numbered)
        or sum(map(str.isdigit, title)) > SMALL + 1
        or (words[-1].islower() and len(words[-1]) <= SMALL)
    ):
        return False
    if not words[0][0].isupper() or len(words) > 12 or len(following) < len(line):
        return False
    large = [word for word in words if len(word) > SMALL]
    return bool(large) and (
        (all(word[0].isupper() for word in large) and (len(large) > 1 or bool(numbered)))
        or bool(numbered and numbered["named"])
    )


def _shape(line: str) -> str:
    return re.sub(r"\d+", "0", line.casefold())
