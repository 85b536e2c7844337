"""Cuts a page's lines into paragraphs, headings and table rows, by words and line lengths; knows no
sentence and no question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.language.currencies import CURRENCY, CURRENCY_NAME, DRAWN_SIGNS
from ingestion.language.list_items import DRAWN_AS, LINE_ITEM
from ingestion.language.periods import FISCAL, YEAR
from ingestion.language.scales import SCALE_WORD
from ingestion.language.sentences import sentences

__all__ = [
    "CAPTION",
    "PARAGRAPH_NUMBER",
    "ROW_FIGURE",
    "SPEAKER",
    "YEAR_SAID",
    "is_head",
    "is_title",
    "read_blocks",
]

LONGEST_ROW = 200
MOST_LABEL_WORDS = 14
LONGEST_HEAD = 110
MOST_HEAD_WORDS = 14
MOST_HEAD_LINES = 4
# A heading is shorter than its column, or most of its words begin with a capital.
SHORT_OF_WIDTH = 0.75
TITLED = 0.6
# A line that ends its sentence this far from the margin ends its paragraph.
PARAGRAPH_END = 0.85
# Lines on each side of one that tell how wide its column is.
AROUND = 4
CAPTION = re.compile(r"(table|chart|figure|box|annex|schedule|exhibit)\s", re.I)
ROW_FIGURE = re.compile(rf"\(?[-−]?[{DRAWN_SIGNS}]?\s?\d[\d,.]*%?\)?")
YEAR_SAID = re.compile(rf"\b(?:{FISCAL})?{YEAR}(?:\s?[-/–]\s?\d{{2,4}})?\b")
# A figure that says something: with a unit, a scale or four digits.
FIGURE_SAID = re.compile(
    rf"\d[\d,.]*\s?(?:%|per ?cent|percent|bps|{SCALE_WORD}\b)|[{DRAWN_SIGNS}]\s?\d|\d[,.]\d", re.IGNORECASE
)
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}")
# The number of an item, or its letter, that counts on from one before it.
COUNTED = re.compile(r"\(([2-9]|[b-h])\)\s")
# The number of a paragraph: "158. In the new regime", "III.14 In its meeting", "2.3.1 Revenue".
PARAGRAPH_NUMBER = re.compile(r"(?:\d{1,3}\.|[IVXL]{1,6}\.\d{1,3}|\d{1,2}(?:\.\d{1,2}){1,3})\s+(?=[A-Z])")
# Who speaks, in a transcript: "CHAIR LOWE.", "MARY ANN HOLT:".
SPEAKER = re.compile(r"(?:[A-Z][A-Z.'’-]{1,30} ){0,4}[A-Z][A-Z'’-]{1,30}[.:] ")
# What may stand among the figures of a row: figures, units, dashes, notes, and words for an empty cell.
_UNIT = re.compile(
    rf"[-−–—{DRAWN_SIGNS}`*†‡/%().,]+|{CURRENCY}|{CURRENCY_NAME}|per|cent|percent|pps?|ppts?|bps|bp"
    rf"|basis|points?|times|x|years?|months?|days?"
    rf"|{SCALE_WORD}|nil|n\.?/?a\.?|n\.m\.|nm|to|or|\[\d+\]|[a-z*†‡]",
    re.IGNORECASE,
)
_EMPTY = frozenset({"nil", "na", "nm"})
# After one of these a sentence goes on: no label, heading or sentence ends so.
_GOES_ON = frozenset(
    "a an the of to in on at by for from with without and or nor but as than that which who whose "
    "whether if when while where is are was were be been being "
    "has have had will would shall should can could may might must its their his her our your this these "
    "those into onto over under above below between "
    "about around against during per not no including such through within upon via towards toward".split()
)
# A line that begins so goes on with the one before it: "2025 remained", "(2023), where".
GOES_ON_WITH = re.compile(rf"(?:\({YEAR}\)|{YEAR})[,.;]?\s+[a-z]")
# Words of whole statements that headings do without.
_STATES = re.compile(
    r"\b(?:I|we|they|it|is|are|was|were|has|have|had|will|would|shall|should|could|might|must)\b(?!.*\?$)"
)
_ENDS = (".", ":", ";", "?", "!", ".”", '."', ".)")


def read_blocks(text: str) -> Iterator[tuple[str, bool]]:
    """(paragraph, heading or row; is it a row) in order: lines of prose joined, rows and headings by
    themselves.
    """
    lines = [
        line for line in map(str.strip, text.translate(DRAWN_AS).split("\n")) if not LEADER.search(line)
    ]  # an entry of a table of contents says nothing
    prose: list[str] = []
    for at, line in enumerate(lines):
        row = _is_row(line, prose, lines[at + 1] if at + 1 < len(lines) else "")
        if prose and (
            not line
            or row
            or _is_item(line, prose)
            or PARAGRAPH_NUMBER.match(line)
            or SPEAKER.match(line)
            or _ends_block(prose, lines, at)
        ):
            yield " ".join(prose), False
            prose = []
        if row:
            yield line, True
        elif line:
            prose.append(line)
    if prose:
        yield " ".join(prose), False


def _is_item(line: str, prose: Sequence[str]) -> bool:
    """Whether a line begins an item of a list: not where the paragraph before it counts within its lines,
    "aimed at (1) …, (2) … and" and then "(3)".
    """
    if not LINE_ITEM.match(line):
        return False
    number = COUNTED.match(line)
    if not number:
        return True
    if number[1].isdigit():
        before = f"({int(number[1]) - 1})"
    else:
        before = f"({chr(ord(number[1]) - 1)})"
    return not any(before in said[1:] for said in prose)


def is_head(text: str) -> bool:
    """Whether this can be a heading or a line of one: few words, no end of a sentence, nothing that must
    go on.
    """
    words = YEAR_SAID.sub(" ", text).split()
    short = len(words) <= MOST_HEAD_WORDS and len(text) <= LONGEST_HEAD
    return short and not text.endswith((".", ";", ",")) and not LINE_ITEM.match(text) and not _goes_on(text)


def is_title(text: str) -> bool:
    """Whether this is a heading or a running line by its looks: title case, without a figure beyond a page
    number or a year.
    """
    return is_head(text) and _is_titled(text) and not FIGURE_SAID.search(YEAR_SAID.sub(" ", text))


def _goes_on(text: str) -> bool:
    """Whether the text ends where no sentence, label or heading can."""
    last = text.split()[-1:] or [""]
    return last[0].endswith((",", "-")) or last[0].casefold() in _GOES_ON


def _is_row(line: str, prose: Sequence[str], following: str) -> bool:
    """A line of a label, then figures, and nothing else but units; a sentence that holds figures is none, nor
    a head of years, a caption or a numbered heading. prose: the lines of the paragraph before it; following:
    the line after it."""
    if not line or len(line) > LONGEST_ROW or CAPTION.match(line):
        return False
    words = YEAR_SAID.sub(" ", line).split()
    tail = len(words)
    while tail and _is_value(words[tail - 1]):
        tail -= 1
    while (
        tail < len(words) and words[tail].isalpha() and words[tail].casefold() not in _EMPTY
    ):  # "of year — 8,853": the unit is the label's
        tail += 1
    if any(
        word.endswith(",") for word in words[tail:]
    ):  # of an enumeration, or of dates: "January 3, 2020 December 28, 2018"
        return False
    label = words[:tail]
    figures = sum(any(map(str.isdigit, word)) or word.casefold() in _EMPTY for word in words[tail:])
    if (
        not figures
        or len(label) > MOST_LABEL_WORDS
        or len(sentences(line, also=";")) > 1
        or line.endswith((".", ";", ","))
    ):
        return False
    if figures > 1 and not label:
        return True
    if (
        figures == 1 and following[:1].islower() and not any(map(str.isdigit, following))
    ):  # "Top 12" above "in global competitiveness"
        return False
    said = " ".join(label)
    if (
        figures == 1
        and (_goes_on(said) or len(label) > 4 * (1 + said.count(":")))
        and (_continues(line, prose) or following[:1].islower())
    ):
        return False
    return not _goes_on(said) or figures > 2


def _is_value(word: str) -> bool:
    return bool(
        ROW_FIGURE.fullmatch(word)
        or _UNIT.fullmatch(word)
        or re.fullmatch(r"[(\[]?[-−]?[^\w\s]{0,3}\d[\d,./]*(?:[^\w\s]{0,3}|[a-z*†‡])", word)
    )


def _continues(line: str, prose: Sequence[str]) -> bool:
    """Whether the line goes on with the sentence before it."""
    return (
        bool(prose)
        and not prose[-1].endswith(_ENDS)
        and (line[:1].islower() or _goes_on(prose[-1]) or len(prose) > 1)
    )


def _ends_block(prose: Sequence[str], lines: Sequence[str], at: int) -> bool:
    """Whether a new block begins at line `at`: what is before was a heading, or ended its sentence well
    before the margin, or a heading follows it.
    """
    line = lines[at]
    last = prose[-1]
    if not (line[:1].isupper() or line[:1].isdigit() or not line[:1].isalnum()) or (
        GOES_ON_WITH.match(line) and not last.endswith(_ENDS)
    ):
        return False
    width = _width(lines, at)
    if last.endswith(_ENDS):
        return len(last) < PARAGRAPH_END * width or _is_heading([line], width)
    return len(prose) <= MOST_HEAD_LINES and _is_heading(prose, width)


def _is_heading(said: Sequence[str], width: int) -> bool:
    whole = " ".join(said)
    if not is_head(whole) or not (whole[:1].isupper() or whole[:1].isdigit()) or _STATES.search(whole):
        return False
    return _is_titled(whole) or len(said[-1]) < SHORT_OF_WIDTH * width


def _is_titled(text: str) -> bool:
    words = [word for word in text.split() if word[0].isalpha() and word.casefold() not in _GOES_ON]
    return sum(word[0].isupper() for word in words) >= TITLED * max(1, len(words))


def _width(lines: Sequence[str], at: int) -> int:
    """How wide the column is around a line: the second longest of its neighbours."""
    return sorted((len(line) for line in lines[max(0, at - AROUND) : at + AROUND + 1]), reverse=True)[:2][-1]
