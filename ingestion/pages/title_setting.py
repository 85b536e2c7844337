"""Tells the running text of a cover from the lines that are set apart from it, by size, length and how lines
go on.

Sizes are those of the boxes of lines. Where they are not known, or OCR measured them, lengths decide alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ingestion.language.sentences import is_finished, sentences
from ingestion.pages.issuers import company_alone, public_body
from ingestion.pages.title_text import COVER_LINES, TextPage, cover_pages, is_shouted, tidied
from ingestion.records import Line, Rect

__all__ = ["GOES_BEFORE", "GOES_ON", "SetApart", "SetPage", "set_apart"]

# What goes on with a title: its wrapped line ends with a small word, or the next one begins with one.
GOES_ON = re.compile(
    r"(?:\b(?:of|on|for|the|and|to|in|by|de|du|des|la|et|y|für|und|der|di|della|do|da)|[-–—:&,])$", re.I
)
GOES_BEFORE = re.compile(r"^(?:of|on|for|and|to|in|de|du|des|et|y|für|und|&)\b", re.I)
# How much larger than the text a line is that is set apart by its size.
LARGE = 1.1
# How much two lines of one size differ at most, and how far apart they are as lines of one title.
SAME_SIZE, CLOSE = 0.05, 0.5
# A longer line is of running text in columns, whose box is as high as its columns are out of step.
LONGEST_LARGE = 70
# A line of running text takes this share of the longest of the next lines, and these have so many characters.
FULL, SHORTEST_MEASURE = 0.85, 40
LINES_BELOW = 2
# The share of longer words with a capital from which a line is in title case, and their letters.
TITLED, LONGER = 0.6, 4
# A line that wraps into one in small letters has more words than these, or it is a title's.
MOST_SMALL = 5


class SetPage(TextPage, Protocol):
    """A page with the places of its lines, () where they are not kept. method: as in Page."""

    @property
    def method(self) -> str: ...
    @property
    def lines(self) -> tuple[Line, ...]: ...


@dataclass(frozen=True, slots=True)
class SetApart:
    """The lines of a cover as they are set.

    prose: those of running text, tidied.
    sizes: of the lines that are set larger than the text, as multiples of its size, in order.
    wrapped: those of them that the line right below goes on, set in the same size, unless they say who issued
    the document.
    """

    prose: frozenset[str]
    sizes: dict[str, float]
    wrapped: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Set:
    """A line with its size as a multiple of the text's, 0 where it is not known, and its place."""

    text: str
    size: float
    box: Rect | None


def set_apart(pages: Sequence[SetPage]) -> SetApart:
    """The lines of the cover as they are set, without running heads and feet."""
    usual = _usual_size(pages)
    prose: set[str] = set()
    sizes: dict[str, float] = {}
    wrapped: set[str] = set()
    for page in cover_pages(pages):
        lines = list(_lines(page, usual))[:COVER_LINES]
        in_prose = False
        for at, line in enumerate(lines):
            goes_on = in_prose and not is_finished(lines[at - 1].text)
            is_large = line.size > LARGE and len(line.text) <= LONGEST_LARGE
            in_prose = not is_large and (goes_on or _is_prose(lines, at))
            for part in tidied(line.text):
                if in_prose:
                    prose.add(part)
                elif is_large:
                    sizes.setdefault(part, line.size)
                    if _is_wrapped(lines, at):
                        wrapped.add(part)
    return SetApart(frozenset(prose), sizes, frozenset(wrapped))


def _lines(page: SetPage, usual: float) -> Iterator[_Set]:
    boxes = _boxes(page) if usual else {}
    start = 0
    for text in page.text.split("\n"):
        is_running = any(first <= start < last for first, last in page.running)
        if text.strip() and not is_running:
            box = boxes.get(start)
            yield _Set(text.strip(), box.height / usual if box else 0.0, box)
        start += len(text) + 1


def _boxes(page: SetPage) -> dict[int, Rect]:
    """Where each level line of a text layer begins -> its box."""
    if page.method != "text":
        return {}
    level = (line for line in page.lines if 0 < line.box.height < line.box.width)
    return {line.start: line.box for line in level}


def _usual_size(pages: Sequence[SetPage]) -> float:
    """The height of the lines that have most characters; 0 where none is known."""
    characters: Counter[float] = Counter()
    for page in pages:
        lengths = {line.start: line.end - line.start for line in page.lines}
        for start, box in _boxes(page).items():
            characters[round(box.height, 3)] += lengths[start]
    return characters.most_common(1)[0][0] if characters else 0.0


def _is_wrapped(lines: Sequence[_Set], at: int) -> bool:
    """Whether the next line is as large and right below, and no line is the name of an issuer."""
    box, below = lines[at].box, lines[at + 1].box if at + 1 < len(lines) else None
    if box is None or below is None or abs(below.height - box.height) > SAME_SIZE * box.height:
        return False
    names = [[line.text] for line in lines[at : at + 2]]
    if any(public_body(name) or company_alone(name) for name in names):
        return False
    return -box.height < below.y0 - box.y1 < CLOSE * box.height


def _is_prose(lines: Sequence[_Set], at: int) -> bool:
    """Whether a line is of a paragraph: it has the end of a sentence, or goes on in the next line."""
    line = lines[at]
    if len(sentences(line.text)) > 1:
        return True
    below = lines[at + 1 : at + 1 + LINES_BELOW]
    if not below or is_shouted(line.text):
        return False
    goes_on = below[0].text[0].islower()
    measure = max(len(other.text) for other in below)
    if measure >= SHORTEST_MEASURE and len(line.text) >= FULL * measure:
        is_of_size = bool(line.size) and abs(below[0].size - line.size) < LARGE - 1
        return goes_on or is_of_size or not _is_titled(line.text)
    if GOES_ON.search(line.text) or GOES_BEFORE.match(below[0].text):
        return False
    return goes_on and len(line.text.split()) > MOST_SMALL


def _is_titled(text: str) -> bool:
    longer = [word for word in text.split() if len(word) >= LONGER and word[0].isalpha()]
    return sum(word[0].isupper() for word in longer) >= TITLED * max(1, len(longer))
