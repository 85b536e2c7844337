"""Finds printed page numbers as series that run through headers and footers; looks at text only and never guesses an offset."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ingestion.records import Page

__all__ = ["line_shape", "page_labels", "roman_value", "running_lines", "running_spans"]

# Headers and footers are within the first and last lines; three takes a running title set in two lines with the number below.
EDGE_LINES = 3
# A line longer than this is body text, not a header.
LONGEST_EDGE_LINE = 160
# Pages near each other, the page itself among them, that must share one offset before it counts as a series, and how far "near"
# reaches: three of seven lets a number be missing on chapter openings and charts, and contents pages find no company.
SUPPORT = 3
NEAR = 3
# Below this share of agreement with the printed numbers, the file's own labels are taken to be wrong.
AGREEMENT = 0.8
# A running head may name the section too: lines that share so many first words, on so large a share of the pages, are one.
SAME_WORDS = 3
SHARE = 0.3
CAPTION = re.compile(r"(table|chart|figure|box|annex|schedule|exhibit|note)\b")
NUMBER = re.compile(r"(?<![\w.,/%$-])(\d{1,4}|[ivxlc]{1,8}|[IVXLC]{1,8})(?![\w%/]|[.,-]\w)")
ROMAN = re.compile(r"^(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$")
ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def roman_value(text: str) -> int | None:
    """Value of a roman numeral from 1 to 99 in either case, None where `text` is not one."""
    lower = text.casefold()
    if not lower or not ROMAN.match(lower):
        return None
    digits = [ROMAN_DIGITS[letter] for letter in lower]
    return sum(-value if any(later > value for later in digits[i + 1 : i + 2]) else value for i, value in enumerate(digits))


def page_labels(pages: Sequence[Page], embedded: Sequence[str | None]) -> list[tuple[str | None, str | None]]:
    """(label, source) for each page in physical order; source "printed", "pdf" (the file's own labels) or None.

    A number counts as printed only where at least SUPPORT near pages carry one with the same offset to the physical page.
    """
    candidates = [_candidates(page.text) for page in pages]
    printed = [_printed(candidates, index) for index in range(len(pages))]
    trusted = _trusted(printed, embedded)
    return [(label, "printed") if label else (own, "pdf") if own and trusted else (None, None) for label, own in zip(printed, embedded, strict=True)]


def line_shape(line: str) -> str:
    """A line with its digits and roman numerals made alike, so that the same header on two pages is the same text."""
    return re.sub(r"\d+|\b[ivxlc]+\b", "#", line.strip().casefold())


def running_lines(texts: Sequence[str]) -> frozenset[str]:
    """Shapes (see line_shape) of lines that run through the edges of at least SUPPORT pages: headers and footers; ending in "…"
    the beginnings that lines at the edges of at least SHARE of all pages have in common."""
    edges = [{line_shape(line) for line in _edge(text)} for text in texts]
    pages = Counter(shape for edge in edges for shape in edge)
    beginnings = Counter(start for edge in edges for start in {_beginning(shape) for shape in edge} if start)
    whole = {shape for shape, count in pages.items() if count >= SUPPORT}
    return frozenset(whole | {start for start, count in beginnings.items() if count >= max(SUPPORT, SHARE * len(texts))})


def running_spans(text: str, running: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """(start, end) of the lines at a page's edges that are running heads, feet and bare page numbers; running: see running_lines."""
    spans, at = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            spans.append((at, at + len(line)))
        at += len(line)
    edge = spans[:EDGE_LINES] + spans[max(EDGE_LINES, len(spans) - EDGE_LINES) :]
    return tuple(span for span in edge if _runs(text[slice(*span)], running))


def _runs(line: str, running: frozenset[str]) -> bool:
    shape = line_shape(line)
    return shape in {"", "#"} or shape in running or _beginning(shape) in running


def _beginning(shape: str) -> str:
    """The first words of a running head that names the section after them; "" for a line without any more words, and for captions."""
    words = shape.split()
    return " ".join(words[:SAME_WORDS]) + " …" if len(words) > SAME_WORDS and not CAPTION.match(shape) else ""


def _edge(text: str) -> list[str]:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines[:EDGE_LINES] + lines[-EDGE_LINES:]


def _candidates(text: str) -> dict[tuple[str, int], tuple[int, str]]:
    """(kind, value) -> (how much of its line it is: 2 all, 1 an end, 0 within; as printed), from the page's first and last lines."""
    found: dict[tuple[str, int], tuple[int, str]] = {}
    for line in _edge(text):
        for match in NUMBER.finditer(line) if len(line) <= LONGEST_EDGE_LINE else ():
            token = match.group(1)
            value = int(token) if token.isdigit() else roman_value(token)
            if value:
                key = ("arabic" if token.isdigit() else "roman", value)
                found[key] = max(found.get(key, (0, token)), ((match.start() == 0) + (match.end() == len(line)), token))
    return found


def _printed(candidates: Sequence[dict[tuple[str, int], tuple[int, str]]], index: int) -> str | None:
    support: Counter[tuple[str, int]] = Counter()
    for near in range(max(0, index - NEAR), min(len(candidates), index + NEAR + 1)):
        support.update({(kind, value - near) for kind, value in candidates[near]})
    own = [
        (place, support[kind, value - index], token)
        for (kind, value), (place, token) in candidates[index].items()
        if support[kind, value - index] >= SUPPORT
    ]
    return max(own)[2] if own else None


def _trusted(printed: Sequence[str | None], embedded: Sequence[str | None]) -> bool:
    both = [(label, own) for label, own in zip(printed, embedded, strict=True) if label and own]
    return not both or sum(label.casefold() == own.casefold() for label, own in both) >= AGREEMENT * len(both)
