"""A page as the rules for page kinds look at it: folded lines, running heads apart, figures counted; knows
no accounting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ingestion.language.months import MONTH_WORDS
from ingestion.language.periods import YEAR
from ingestion.records import Page

__all__ = ["Look", "count_found", "fold", "has_page_number", "look_at"]

# A title stands within so many lines of the top: letterhead, item, company, unit and period lines may come
# first.
HEAD_LINES = 14
# Longer lines are prose or merged table rows, no headings.
LONGEST_HEADING = 110
LONGEST_CAPTION = 200
ACCENTS = re.compile("[\u00c0-\u024f]")
# A row of figures ends in one: "1,234", "(5.6)%", "12 %", "$ 7", or in the dash that stands for none.
FIGURE_AT_END = re.compile(r"(?:\d[.,\d]*\)?(?: ?[%*])?|(?<=[\d)\s$])[—–-])$")
# What remains where each letter of a title is set apart, or a large capital before small ones.
LETTERS_APART = re.compile(r"\S(?: {1,3}\S){7,160}")
CAPITAL_APART = re.compile(r"\b([A-Z]) (?=[A-Z]{2})")
FEWEST_CAPITALS_APART = 2
# A page in a language with accents has one early.
ACCENTS_WITHIN = 1500
LAST_OF_FIGURES = "0123456789)%*—–-"
ENDS_IN_YEAR = re.compile(rf"{YEAR}\b")
PAGE_NUMBER = re.compile(r"(?:f ?- ?)?\d{1,3}(?:-\d{1,3})?|[ivxl]{1,6}")


@dataclass(frozen=True, slots=True)
class Look:
    """lines: those of the page's own text, one space between words. folded: the same in lower case without
    accents, curly quotes and long dashes. edges: running heads and feet, folded. figures: for each line
    whether it ends in a figure. headings: (line, folded) of what may head something: short lines that are no
    sentence and no row, and the captions of tables, these with line -1. text: all folded lines."""

    lines: tuple[str, ...]
    folded: tuple[str, ...]
    edges: tuple[str, ...]
    figures: tuple[bool, ...]
    headings: tuple[tuple[int, str], ...]
    text: str

    @property
    def head(self) -> int:
        """How many lines belong to the head of the page."""
        return min(HEAD_LINES, len(self.lines))

    @property
    def density(self) -> float:
        """Share of lines that end in a figure, in [0, 1]."""
        return sum(self.figures) / max(1, len(self.figures))

    def rows(self, start: int = 0, end: int | None = None) -> int:
        """How many of the lines `start` to `end` end in a figure."""
        return sum(self.figures[start:end])


def look_at(page: Page) -> Look:
    """The page's lines, in time linear in its text."""
    lines: list[str] = []
    edges: list[str] = []
    at = 0
    for line in page.text.split("\n"):
        words = " ".join(line.split())
        if words:
            if any(start <= at < end for start, end in page.running):
                edges.append(fold(words))
            else:
                lines.append(_joined(line, words) if len(lines) < HEAD_LINES else words)
        at += len(line) + 1
    text = fold("\n".join(lines))
    if lines:
        folded = tuple(text.split("\n"))
    else:
        folded = ()
    figures = tuple(line[-1] in LAST_OF_FIGURES and bool(FIGURE_AT_END.search(line[-12:])) for line in lines)
    headings = [
        (number, folded[number])
        for number, line in enumerate(lines)
        if _may_head(line, ends_in_figure=figures[number])
    ]
    headings += [
        (-1, fold(" ".join(table.caption[:LONGEST_CAPTION].split())))
        for table in page.tables
        if table.caption
    ]
    return Look(tuple(lines), folded, tuple(edges), figures, tuple(headings), text)


def fold(text: str) -> str:
    """Lower case, quotes straight, dashes short, accents taken off."""
    text = text.lower().replace("’", "'").replace("–", "-").replace("—", "-").replace("‑", "-")
    if not ACCENTS.search(text, 0, ACCENTS_WITHIN):
        return text
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter)
    )


def count_found(patterns: Iterable[re.Pattern[str]], text: str) -> int:
    """How many of the patterns are found in a text."""
    return sum(bool(pattern.search(text)) for pattern in patterns)


def has_page_number(folded: str) -> bool:
    """Whether a line ends in what is a page number and not the day of a date: an entry of a list."""
    words = folded.rsplit(None, 2)
    return (
        len(words) > 1 and bool(PAGE_NUMBER.fullmatch(words[-1])) and words[-2].rstrip(".") not in MONTH_WORDS
    )


def _may_head(line: str, *, ends_in_figure: bool) -> bool:
    if len(line) > LONGEST_HEADING or line[-1] in ".,;" or line[0].islower():
        return False
    return not ends_in_figure or bool(ENDS_IN_YEAR.search(line[-8:]))


def _joined(line: str, words: str) -> str:
    """A title whose letters are set apart, written together; other lines as they are."""
    if words[1:2] != " ":
        return words
    if LETTERS_APART.fullmatch(words):
        return " ".join("".join(word.split()) for word in re.split(r"[ \t]{2,}", line.strip()))
    joined, times = CAPITAL_APART.subn(r"\1", words)
    return joined if times >= FEWEST_CAPITALS_APART else words
