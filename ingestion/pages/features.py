"""Prepares a page for the rules of page kinds: folds its lines, sets running heads apart, counts figures."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingestion.language.months import MONTH_WORDS
from ingestion.prompt_injection.obfuscation import fold
from ingestion.records import Page

__all__ = ["PageFeatures", "has_page_number", "look_at"]

# A title stands within this many lines of the top. Letterhead, item, company, unit and period may come first.
HEAD_LINES = 14
# A row of figures ends in a figure: "1,234", "(5.6)%", "12 %", "$ 7", or in a dash that stands for none.
FIGURE_AT_END = re.compile(r"(?:\d[.,\d]*\)?(?: ?[%*])?|(?<=[\d)\s$])[—–-])$")
# A title whose letters are set apart, and a large capital set apart before small ones.
LETTERS_APART = re.compile(r"\S(?: {1,3}\S){7,160}")
CAPITAL_APART = re.compile(r"\b([A-Z]) (?=[A-Z]{2})")
FEWEST_CAPITALS_APART = 2
PAGE_NUMBER = re.compile(r"(?:f ?- ?)?\d{1,3}(?:-\d{1,3})?|[ivxl]{1,6}")


class PageFeatures(NamedTuple):
    """A page prepared for the rules.

    lines: those of the page's own text, one space between words.
    folded: the same in lower case, without accents, curly quotes and long dashes.
    edges: running heads and feet, folded.
    figures: for each line whether it ends in a figure.
    text: all folded lines.
    """

    lines: tuple[str, ...]
    folded: tuple[str, ...]
    edges: tuple[str, ...]
    figures: tuple[bool, ...]
    text: str

    @property
    def head(self) -> int:
        """How many lines belong to the head of the page."""
        return min(HEAD_LINES, len(self.lines))

    @property
    def density(self) -> float:
        """The share of lines that end in a figure, in [0, 1]."""
        return self.rows / max(1, len(self.figures))

    @property
    def rows(self) -> int:
        """How many of the lines end in a figure."""
        return sum(self.figures)


def look_at(page: Page) -> PageFeatures:
    """Returns a page prepared for the rules, in time linear in its text."""
    lines = list[str]()
    edges = list[str]()
    start = 0
    for line in page.text.split("\n"):
        words = " ".join(line.split())
        if words and any(first <= start < end for first, end in page.running):
            edges.append(fold(words))
        elif words:
            lines.append(_joined(line, words) if len(lines) < HEAD_LINES else words)
        start += len(line) + 1
    text = fold("\n".join(lines))
    figures = (bool(FIGURE_AT_END.search(line[-12:])) for line in lines)
    return PageFeatures(tuple(lines), tuple(text.splitlines()), tuple(edges), tuple(figures), text)


def has_page_number(folded: str) -> bool:
    """Whether a line ends in a page number, like an entry of a list of contents, and not in a date."""
    *_, before, last = ["", "", *folded.rsplit(None, 2)]
    return before.rstrip(".") not in {"", *MONTH_WORDS} and PAGE_NUMBER.fullmatch(last) is not None


def _joined(line: str, words: str) -> str:
    """Returns a line with letters that are set apart in a title written together.

    line: as on the page.
    words: the same with one space between words.
    """
    if words[1:2] != " ":
        return words
    if LETTERS_APART.fullmatch(words):
        spaced = re.split(r"[ \t]{2,}", line.strip())
        return " ".join("".join(word.split()) for word in spaced)
    joined, times = CAPITAL_APART.subn(r"\1", words)
    return joined if times >= FEWEST_CAPITALS_APART else words
