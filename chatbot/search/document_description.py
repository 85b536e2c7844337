"""Describes one document for its guide, without a model: who issued it, what kind it is, its parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.search.sections import PlainPages, Section, document_sections, plain_words
from chatbot.store.library import Library
from ingestion.language.periods import YEAR
from ingestion.pages.document_titles import TITLE_WORD
from ingestion.pages.issuers import (
    company_alone,
    company_in,
    place_in,
    public_body,
    registrant,
    without_legal_form,
)
from ingestion.pages.title_text import READ_PAGES, TextPage, Written, cover_lines, is_sound
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["Description", "described", "issuer_of", "kind_in"]

# The most parts of an outline, and lines of a cover on which a company's name may be alone.
MOST_PARTS = 24
COVER_TOP = 14
# Fewer bookmarks are no outline, but a title.
FEWEST_BOOKMARKS = 3
# The most words of a kind of document, such as "Medium-term budget policy statement".
MOST_WORDS = 5
# Before these words and after a possessive a longer title speaks of something else.
SMALL_WORD = re.compile(r"\b(?:of|on|for|to|by|the|and|in)\s|['’]s\s", re.I)
RELEASE = re.compile(r"\brelease\b", re.I)
DATES = re.compile(rf"\b(?:Q[1-4]\s|FY\s?)?{YEAR}(?:\s?[-–/]\s?\d{{2,4}})?\b")


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a document.

    issuer, kind: "" where nothing is sure.
    parts: in order, at most MOST_PARTS.
    more: how many smaller parts are not among them.
    """

    issuer: str = ""
    kind: str = ""
    parts: tuple[Section, ...] = ()
    more: int = 0


def described(
    library: Library, version: int, title: str, bookmarks: Sequence[tuple[str, int, int]] = ()
) -> Description:
    """Describes a stored version.

    title: of its document. bookmarks: (title, page, depth from 0) of its file's own, in their order.
    """
    catalog = library.catalog
    pages = catalog.pages(version, range(1, READ_PAGES + 1))
    issuer = issuer_of(title, [pages[number] for number in sorted(pages)])
    texts = catalog.page_texts(version)
    found = bookmarked(printed(bookmarks, texts), len(texts)) or document_sections(library, version)
    safe = [part for part in found if part.name and not find_instructions(part.title)]
    kept = main_parts(safe)
    return Description(issuer, kind_in(title, issuer), kept, len(safe) - len(kept))


def printed(bookmarks: Sequence[tuple[str, int, int]], texts: Sequence[str]) -> list[tuple[str, int, int]]:
    """The bookmarks whose words are printed on their page; the others are names of files or blank pages.

    texts: of all pages.
    """
    plain = PlainPages(texts)
    return [
        mark for mark in bookmarks if 1 <= mark[1] <= len(texts) and plain_words(mark[0]) in plain[mark[1]]
    ]


def bookmarked(bookmarks: Sequence[tuple[str, int, int]], pages: int) -> list[Section]:
    """Returns the parts that a file's own bookmarks name; none if they are too few for an outline.

    Those of the highest rank, unless they are too few. pages: how many the document has.
    """
    shown = [(title.strip(), page, depth) for title, page, depth in bookmarks if title.strip()]
    highest = [mark for mark in shown if mark[2] == 0]
    chosen = highest if len(highest) >= FEWEST_BOOKMARKS else shown
    if len(chosen) < FEWEST_BOOKMARKS:
        return []
    in_order = sorted(chosen, key=lambda mark: mark[1])
    ends = [*(page for _, page, _ in in_order[1:]), pages + 1]
    return [
        Section(title, page, max(page, end - 1)) for (title, page, _), end in zip(in_order, ends, strict=True)
    ]


def main_parts(parts: Sequence[Section]) -> tuple[Section, ...]:
    """The parts of an outline: if there are too many, the longest, in their order."""
    longest = sorted(parts, key=lambda part: part.page - part.last)[:MOST_PARTS]
    return tuple(part for part in parts if part in longest)[:MOST_PARTS]


def issuer_of(title: str, pages: Sequence[TextPage]) -> str:
    """Returns who issued a document: as its title says, if the cover agrees, or as the cover says alone.

    pages: the first of the document, in order.
    """
    lines, written = [line.text for line in cover_lines(pages)], Written(pages)
    alone = [
        written.lowered(public_body(lines)),
        _said(company_alone(lines[:COVER_TOP]), written),
    ]
    others = [
        _said(registrant(lines), written),
        _said(company_in(written), written),
        place_in(lines, written),
    ]
    named, comma, _ = title.partition(", ")
    if comma and named.casefold() in {one.casefold() for one in [*alone, *others] if one}:
        return named
    return next((one for one in alone if one and is_sound(one)), "")


def _said(name: str, written: Written) -> str:
    return written.lowered(without_legal_form(name)) if name else ""


def kind_in(title: str, issuer: str) -> str:
    """Returns what kind of document a title names, such as "Annual report"; "" if it names none."""
    rest = title.removeprefix(f"{issuer}, ") if issuer else title
    for part in DATES.sub("", rest).split(", "):
        ends = [found.end() for pattern in (TITLE_WORD, RELEASE) for found in pattern.finditer(part)]
        if ends:
            words = part.rstrip("0123456789 ").split()
            if len(words) > MOST_WORDS:
                words = SMALL_WORD.split(part[: max(ends)])[-1].split()[-MOST_WORDS:]
            kind = " ".join(words)
            return kind[:1].upper() + kind[1:]
    return ""
