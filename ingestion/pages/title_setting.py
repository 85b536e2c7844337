"""Tells how the lines of a cover are set: which are large, and which are of running text.

Sizes are those of the boxes of lines. Where they are not known, or OCR measured them, lengths decide alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ingestion.invisible_characters import one_line
from ingestion.language.sentences import is_finished, sentences
from ingestion.records import Line, Rect, Span

__all__ = ["READ_CHARACTERS", "CoverLine", "TextPage", "cover_lines", "is_shouted"]

# The cover, and the pages that follow while there is little on them.
COVER_PAGES = 3
COVER_LETTERS = 200
COVER_LINES = 40
# The most characters that are looked at of a page.
READ_CHARACTERS = 6_000
# Rules drawn with characters, points between parts of a line, and boxes that are ticked or not.
RULES = re.compile(r"\s[·|•]\s|[_=~*•·–—-]{4,}|[_\s]{2,}_|[☐☑☒□■\uf000-\uf0ff]")
# What readers have filled in or noted, which names no document.
SET_BY_READERS = ("[field] ", "[note] ")
# How much larger than the text a line is that is set apart by its size.
LARGE = 1.1
# A longer line is of running text in columns, whose box is as high as its columns are out of step.
LONGEST_LARGE = 70
# A line of running text takes this share of the longest of the next lines, and these have so many characters.
FULL, SHORTEST_MEASURE = 0.85, 40
LINES_BELOW = 2
# Where sizes are not known a full line of running text has several small words in a row.
SMALL_WORDS = re.compile(r"(?: [a-z]+){3}")
# A line that wraps into one in small letters has more words than these, or it is a title's.
MOST_SMALL = 5
SHOUTED = 0.7


class TextPage(Protocol):
    """A page, as read or as stored, with what Page has; lines is () where their places are not kept."""

    @property
    def text(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def lines(self) -> tuple[Line, ...]: ...
    @property
    def running(self) -> tuple[Span, ...]: ...


@dataclass(frozen=True, slots=True)
class CoverLine:
    """A part of a line of a cover.

    size: as a multiple of the text's, 1 where it is not larger. is_running: of a running head or foot.
    """

    text: str
    size: float
    box: Rect | None
    is_running: bool
    is_prose: bool = False


def cover_lines(pages: Sequence[TextPage]) -> list[CoverLine]:
    """The lines of the cover, each tidied; of the pages after it too while there is little on them."""
    characters: Counter[float] = Counter()
    for page in pages:
        for line in _level(page):
            characters[round(line.box.height, 3)] += line.end - line.start
    usual = max(characters, key=lambda height: characters[height], default=1.0)
    lines = list[CoverLine]()
    for page in pages[:COVER_PAGES]:
        lines += _tidied(list(_lines(page, usual)))
        if sum(map(str.isalpha, page.text)) >= COVER_LETTERS:
            break
    return lines[:COVER_LINES]


def _level(page: TextPage) -> list[Line]:
    """The level lines of a text layer."""
    return [line for line in page.lines if page.method == "text" and 0 < line.box.height < line.box.width]


def _lines(page: TextPage, usual: float) -> Iterator[CoverLine]:
    boxes = {line.start: line.box for line in _level(page)}
    for found in re.finditer(r"\S.*", page.text[:READ_CHARACTERS]):
        if found[0].startswith(SET_BY_READERS):
            continue
        box = boxes.get(found.start())
        size = box.height / usual if box and len(found[0]) <= LONGEST_LARGE else 1.0
        is_running = any(first <= found.start() < last for first, last in page.running)
        yield CoverLine(found[0].strip(), size if size > LARGE else 1.0, box, is_running)


def _tidied(lines: Sequence[CoverLine]) -> Iterator[CoverLine]:
    """The parts of lines that rules and points do not part, each without the marks around it."""
    goes_on = False
    for at, line in enumerate(lines):
        is_prose = False
        if not line.is_running:
            is_prose = line.size == 1 and (goes_on or _is_prose(line, lines[at + 1 :][:LINES_BELOW]))
            goes_on = is_prose and not is_finished(line.text)
        for part in RULES.split(line.text):
            text = re.sub(r"\s+(?=[,;:.](?:\s|$))", "", one_line(part)).strip(" \"'“”•·|")
            if any(map(str.isalnum, text)):
                yield replace(line, text=text, is_prose=is_prose)


def _is_prose(line: CoverLine, below: Sequence[CoverLine]) -> bool:
    """Whether a line is of a paragraph: it has the end of a sentence, or goes on in the next line."""
    if len(sentences(line.text)) > 1:
        return True
    if not below or is_shouted(line.text):
        return False
    goes_on = below[0].text[0].islower()
    measure = max(len(other.text) for other in below)
    if measure >= SHORTEST_MEASURE and len(line.text) >= FULL * measure:
        return goes_on or bool(line.box or SMALL_WORDS.search(line.text))
    return goes_on and len(line.text.split()) > MOST_SMALL


def is_shouted(line: str) -> bool:
    """Whether most letters of a line are capitals, in a script that has them."""
    return sum(map(str.isupper, line)) > SHOUTED * sum(map(str.isalpha, line))
