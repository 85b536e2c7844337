"""Finds the parts of a document by their headings: in its list of contents, else in its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chatbot.store.library import Library
from ingestion.language.sentences import is_finished
from ingestion.language.terms import content_terms
from ingestion.pages.kinds import CONTENTS

__all__ = ["PlainPages", "Section", "document_sections", "part_of", "plain_words", "sections"]

# Characters of a heading, and how much of the page's width it takes at most: a line of running text that is
# broken off begins like one.
SHORTEST = 4
LONGEST = 90
WIDTH = 0.75
# A line that stands on this many pages is a running head.
MOST_REPEATED = 3
# Headings of one page at most; more are the labels of a table or a chart.
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
ROMAN = dict(zip("1 2 3 4 5 6 7 8 9 10".split(), "i ii iii iv v vi vii viii ix x".split(), strict=True))
MOST_WORDS = 12
SMALL = 3
WORD = re.compile(r"[^\W_]+")
LETTERS = re.compile(r"[^\W\d_]+")
WORDS_OF_NUMBERS = {
    name: str(value)
    for value, name in enumerate("one two three four five six seven eight nine ten".split(), 1)
}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document.

    title: its heading, as it stands there.
    page: physical, 1-based, on which it begins.
    last: physical, 1-based, on which it ends.
    """

    title: str
    page: int
    last: int

    @property
    def name(self) -> str:
        """Its heading without its number."""
        found = NUMBER.match(self.title)
        if found:
            return self.title[found.end() :].strip()
        return self.title

    @property
    def number(self) -> str:
        """The number of its heading, "" for none: "3.1", "II"."""
        found = NUMBER.match(self.title)
        if not found:
            return ""
        return _number_in(found)


def sections(
    texts: Sequence[str], kinds: Mapping[int, Sequence[str]], labels: Mapping[str, int]
) -> list[Section]:
    """The parts in order. texts: of all pages; kinds: what a page is, by its number; labels: printed page
    number -> physical page.
    """
    lists = [page for page, of_page in kinds.items() if CONTENTS in of_page]
    found = _listed(texts, lists, labels) or _headed(texts, lists)
    parts = []
    for at, (title, page) in enumerate(found):
        end = found[at + 1][1] if at + 1 < len(found) else len(texts) + 1
        parts.append(Section(title, page, max(page, end - 1)))
    return parts


def document_sections(library: Library, version: int) -> list[Section]:
    """The parts of a stored version."""
    catalog = library.catalog
    kinds = library.page_kinds(version)
    labels = {}
    # Only a list of contents refers to printed page numbers.
    if any(CONTENTS in page_kinds for page_kinds in kinds.values()):
        labels = {page.label: page.number for page in catalog.report(version) if page.label}
    return sections(catalog.page_texts(version), kinds, labels)


def part_of(found: Sequence[Section], said: str) -> Section | None:
    """The part that is meant by "chapter 3", "the introduction" or words of a title; None where none is."""
    words = said.casefold().split()
    if len(words) == 2 and words[1] in WORDS_OF_NUMBERS:
        return _numbered(found, WORDS_OF_NUMBERS[words[1]])
    numbered = NUMBER.match(f"{said} ")
    if numbered and not said[numbered.end() :].strip():
        return _numbered(found, _number_in(numbered))
    wanted = set(content_terms(said))
    if not wanted:
        return None
    titled = [section for section in found if wanted.issubset(content_terms(section.title))]
    return min(titled, key=lambda section: len(section.title), default=None)


def _number_in(found: re.Match[str]) -> str:
    """The number that a match of NUMBER holds, case-folded."""
    number: str = found["named"] or found["bare"]
    return number.casefold()


def _numbered(found: Sequence[Section], number: str) -> Section | None:
    """The part of that number, to the end of its own parts."""
    numbers = {number, ROMAN.get(number, number)}
    begin = next((section for section in found if section.number in numbers), None)
    if begin is None:
        return None
    last = found.index(begin)
    while last + 1 < len(found) and found[last + 1].number.startswith(f"{begin.number}."):
        last += 1
    return Section(begin.title, begin.page, found[last].last)


class PlainPages(dict[int, str]):
    """The words of pages, by number, with a blank around each; made on demand."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, page: int) -> str:
        self[page] = plain_words(self._texts[page - 1])
        return self[page]


def plain_words(text: str) -> str:
    """The words of a text, case-folded, with a blank around each."""
    return f" {' '.join(WORD.findall(text.casefold()))} "


def _listed(texts: Sequence[str], pages: Sequence[int], labels: Mapping[str, int]) -> list[tuple[str, int]]:
    """(title, page) of the entries of lists of contents, each on the page where its title stands; [] where
    too few do.
    """
    found: list[tuple[str, int]] = []
    plain = PlainPages(texts)
    for page in sorted(pages)[:MOST_REPEATED]:
        for line in texts[page - 1].split("\n"):
            entry = ENTRY.fullmatch(" ".join(line.split()))
            if entry is None:
                continue
            title: str = (entry["title"] or entry["short"]).strip(" .·…_")
            if len(found) == MOST_ENTRIES or not WORD.search(title):
                continue
            printed: str = entry["page"] or entry["last"]
            physical = labels.get(printed) or (int(printed) if printed.isdigit() else 0)
            near = [at for at in (physical, physical + 1, physical - 1) if at not in pages]
            heading = _heading(title, near, texts, plain)
            if heading and (not found or heading[1] >= found[-1][1]):
                found.append(heading)
    if len(found) >= FEWEST_ENTRIES:
        return found
    return []


def _heading(
    title: str, near: Sequence[int], texts: Sequence[str], plain: Mapping[int, str]
) -> tuple[str, int] | None:
    """(title as it stands there, page) of the first of some pages that has a title, None where none has.

    near: may lie outside the document. plain: the words of each page.
    """
    spaced = re.compile(r"[\W_]{0,4}".join(map(re.escape, WORD.findall(title))), re.IGNORECASE)
    words = plain_words(title)
    for page in near:
        # Looked for before the pattern, which is slow where a page repeats itself.
        if not 1 <= page <= len(texts) or words not in plain[page]:
            continue
        stands = spaced.search(texts[page - 1])
        if stands:
            return " ".join(stands[0].split()), page
    return None


def _headed(texts: Sequence[str], aside: Sequence[int]) -> list[tuple[str, int]]:
    """(line, page) of lines that look like headings and are no running heads. aside: pages to leave out."""
    lines = {page: _lines(text) for page, text in enumerate(texts, 1) if page not in aside}
    often = Counter[str]()
    for on_page in lines.values():
        often.update(map(_shape, set(on_page)))
    found: list[tuple[str, int]] = []
    for page, on_page in lines.items():
        longest = max(_width(on_page) * WIDTH, SHORTEST)
        headings = []
        for line, following in pairwise([*on_page, ""]):
            if often[_shape(line)] >= MOST_REPEATED or len(line) > longest:
                continue
            if _is_heading(line, following):
                headings.append((line, page))
        if len(headings) <= MOST_OF_A_PAGE:
            found += headings
    return found


def _lines(text: str) -> list[str]:
    """The lines of a text that are not blank."""
    return [line for line in map(str.strip, text.split("\n")) if line]


def _width(lines: Sequence[str]) -> int:
    """The length of which nine in ten lines are shorter or equal; 0 without lines."""
    widths = sorted(map(len, lines))
    if not widths:
        return 0
    return widths[len(widths) * 9 // 10]


def _is_heading(line: str, following: str) -> bool:
    """Whether it is a short line without the end of a sentence, numbered or in capitals, after which a
    sentence begins.
    """
    if not SHORTEST <= len(line) <= LONGEST or is_finished(line, also=":;,"):
        return False
    if not following[:1].isalnum() or following[:1].islower():
        return False
    numbered = NUMBER.match(line)
    title = line[numbered.end() :] if numbered else line
    words = LETTERS.findall(title)
    if not words or "," in title or sum(map(str.isdigit, title)) > SMALL + 1:
        return False
    if ":" in title and not numbered:
        return False
    if words[-1].islower() and len(words[-1]) <= SMALL:
        return False
    if not words[0][0].isupper() or len(words) > MOST_WORDS:
        return False
    if len(following) < len(line):
        return False
    return _is_titled(words, numbered)


def _is_titled(words: Sequence[str], numbered: re.Match[str] | None) -> bool:
    """Whether the words of a heading are in capitals, and several or numbered; or it is called a chapter or
    the like, whatever its words.
    """
    large = [word for word in words if len(word) > SMALL]
    if not large:
        return False
    if numbered and numbered["named"]:
        return True
    if not all(word[0].isupper() for word in large):
        return False
    return len(large) > 1 or bool(numbered)


def _shape(line: str) -> str:
    return re.sub(r"\d+", "0", line.casefold())
