"""Prepares a page for the rules of page kinds: folds its lines, sets running heads apart, counts figures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from ingestion.language.months import MONTH_WORDS
from ingestion.language.periods import YEAR
from ingestion.records import Page

__all__ = ["Look", "count_found", "fold", "has_page_number", "look_at"]

# A title stands within this many lines of the top. Letterhead, item, company, unit and period may come first.
HEAD_LINES = 14
# Longer lines are prose or merged table rows, not headings.
LONGEST_HEADING = 110
LONGEST_CAPTION = 200
ACCENTS = re.compile("[\u00c0-\u024f]")
# A row of figures ends in a figure: "1,234", "(5.6)%", "12 %", "$ 7", or in a dash that stands for none.
FIGURE_AT_END = re.compile(r"(?:\d[.,\d]*\)?(?: ?[%*])?|(?<=[\d)\s$])[—–-])$")
# A title whose letters are set apart, and a large capital set apart before small ones.
LETTERS_APART = re.compile(r"\S(?: {1,3}\S){7,160}")
CAPITAL_APART = re.compile(r"\b([A-Z]) (?=[A-Z]{2})")
FEWEST_CAPITALS_APART = 2
# A page in a language with accents has one within this many characters.
ACCENTS_WITHIN = 1500
LAST_OF_FIGURES = "0123456789)%*—–-"
ENDS_IN_YEAR = re.compile(rf"{YEAR}\b")
PAGE_NUMBER = re.compile(r"(?:f ?- ?)?\d{1,3}(?:-\d{1,3})?|[ivxl]{1,6}")


@dataclass(frozen=True, slots=True)
class Look:
    """A page prepared for the rules.

    lines: those of the page's own text, one space between words.
    folded: the same in lower case, without accents, curly quotes and long dashes.
    edges: running heads and feet, folded.
    figures: for each line whether it ends in a figure.
    headings: (number of the line, folded text) of short lines that are neither sentence nor row, and of the
        captions of tables, with -1 as their number.
    text: all folded lines.
    """

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
        """The share of lines that end in a figure, in [0, 1]."""
        return sum(self.figures) / max(1, len(self.figures))

    def rows(self, start: int = 0, end: int | None = None) -> int:
        """Returns how many of the lines from `start` to before `end` end in a figure."""
        return sum(self.figures[start:end])


def look_at(page: Page) -> Look:
    """Returns a page prepared for the rules, in time linear in its text."""
    lines: list[str] = []
    edges: list[str] = []
    following = 0
    for line in page.text.split("\n"):
        start = following
        following += len(line) + 1
        words = " ".join(line.split())
        if not words:
            continue
        if _is_running(page, start):
            edges.append(fold(words))
        elif len(lines) < HEAD_LINES:
            lines.append(_joined(line, words))
        else:
            lines.append(words)
    text = fold("\n".join(lines))
    if lines:
        folded = tuple(text.split("\n"))
    else:
        folded = ()
    figures = tuple(map(_ends_in_figure, lines))
    headings: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if _may_head(line, ends_in_figure=figures[number]):
            headings.append((number, folded[number]))
    captions = [table.caption[:LONGEST_CAPTION] for table in page.tables if table.caption]
    headings += [(-1, fold(" ".join(caption.split()))) for caption in captions]
    return Look(tuple(lines), folded, tuple(edges), figures, tuple(headings), text)


def _is_running(page: Page, offset: int) -> bool:
    """Whether a running head or foot stands at an offset of a page's text."""
    return any(start <= offset < end for start, end in page.running)


def _ends_in_figure(line: str) -> bool:
    if line[-1] not in LAST_OF_FIGURES:
        return False
    return bool(FIGURE_AT_END.search(line[-12:]))


def fold(text: str) -> str:
    """Returns a text in lower case, with straight quotes and short dashes, and without accents."""
    text = text.lower().replace("’", "'")
    text = text.replace("–", "-").replace("—", "-").replace("‑", "-")
    if not ACCENTS.search(text, 0, ACCENTS_WITHIN):
        return text
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def count_found(patterns: Iterable[re.Pattern[str]], text: str) -> int:
    """Returns how many of the patterns are found in a text."""
    return sum(bool(pattern.search(text)) for pattern in patterns)


def has_page_number(folded: str) -> bool:
    """Whether a line ends in a page number, like an entry of a list of contents, and not in a date."""
    words = folded.rsplit(None, 2)
    if len(words) < 2 or not PAGE_NUMBER.fullmatch(words[-1]):
        return False
    return words[-2].rstrip(".") not in MONTH_WORDS


def _may_head(line: str, *, ends_in_figure: bool) -> bool:
    if len(line) > LONGEST_HEADING or line[-1] in ".,;" or line[0].islower():
        return False
    return not ends_in_figure or bool(ENDS_IN_YEAR.search(line[-8:]))


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
