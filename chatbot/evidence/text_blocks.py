"""Splits a page's lines into paragraphs, headings and table rows, by words and line lengths."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from chatbot.evidence.footnotes import SIGNS, begins_note, marks_in
from ingestion.language.currencies import CURRENCY, CURRENCY_NAME, DRAWN_SIGNS
from ingestion.language.list_items import DRAWN_AS, LINE_ITEM
from ingestion.language.periods import FISCAL, YEAR
from ingestion.language.scales import SCALE_WORD
from ingestion.language.sentences import RAISED, sentences

__all__ = [
    "CAPTION",
    "FIGURE_SAID",
    "PARAGRAPH_NUMBER",
    "ROW_FIGURE",
    "SPEAKER",
    "YEAR_SAID",
    "goes_on",
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
# Lines on each side of a line from which the width of its column is taken.
AROUND = 4
CAPTION = re.compile(r"(table|chart|figure|box|annex|schedule|exhibit)\s", re.I)
ROW_FIGURE = re.compile(rf"\(?[-−]?[{DRAWN_SIGNS}]?\s?\d(?:[\d,.]|[’'](?=\d{3}))*%?\)?")
YEAR_SAID = re.compile(rf"\b(?:{FISCAL})?{YEAR}(?:\s?[-/–]\s?\d{{2,4}})?\b")
# A figure with a meaning: with a unit, a scale or four digits.
FIGURE_SAID = re.compile(
    rf"\d[\d,.]*\s?(?:%|per ?cent|percent|bps|{SCALE_WORD}\b)|[{DRAWN_SIGNS}]\s?\d|\d[,.]\d", re.IGNORECASE
)
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}")
# The number or letter of an item that is not the first.
COUNTED = re.compile(r"\(([2-9]|[b-h])\)\s")
# The number of a paragraph: "158. In the new regime", "III.14 In its meeting", "2.3.1 Revenue".
PARAGRAPH_NUMBER = re.compile(r"(?:\d{1,3}\.|[IVXL]{1,6}\.\d{1,3}|\d{1,2}(?:\.\d{1,2}){1,3})\s+(?=[A-Z])")
# A speaker in a transcript: "CHAIR LOWE.", "MARY ANN HOLT:".
SPEAKER = re.compile(r"(?:[A-Z][A-Z.'’-]{1,30} ){0,4}[A-Z][A-Z'’-]{1,30}[.:] ")
# What may be among the figures of a row: figures, units, dashes, notes, and words for an empty cell.
_UNIT = re.compile(
    rf"[-−–—{DRAWN_SIGNS}`*†‡/%().,]+|{CURRENCY}|{CURRENCY_NAME}|per|cent|percent|pps?|ppts?|bps|bp"
    rf"|basis|points?|times|x|years?|months?|days?"
    rf"|{SCALE_WORD}|nil|n\.?/?a\.?|n\.m\.|nm|to|or|\[\d+\]|[a-z*†‡]",
    re.IGNORECASE,
)
_EMPTY = frozenset({"nil", "na", "nm"})
# Words after which a sentence goes on: no label, heading or sentence ends with them.
_GOES_ON = frozenset(
    "a an the of to in on at by for from with without and or nor but as than that which who whose "
    "whether if when while where is are was were be been being "
    "has have had will would shall should can could may might must its their his her our your this these "
    "those into onto over under above below between "
    "about around against during per not no including such through within upon via towards toward".split()
)
# A line with this beginning continues the one before it: "2025 remained", "(2023), where".
GOES_ON_WITH = re.compile(rf"(?:\({YEAR}\)|{YEAR})[,.;]?\s+[a-z]")
# Words of whole statements, which headings do not have.
_STATES = re.compile(
    r"\b(?:I|we|they|it|is|are|was|were|has|have|had|will|would|shall|should|could|might|must)\b(?!.*\?$)"
)
_ENDS = (".", ":", ";", "?", "!", ".”", '."', ".)")


def read_blocks(text: str) -> Iterator[tuple[str, bool]]:
    """(paragraph, heading or row; whether it is a row), in order.

    Lines of prose are joined; rows and headings stand by themselves.
    """
    stripped = map(str.strip, text.translate(DRAWN_AS).split("\n"))
    # Entries of a table of contents say nothing.
    lines = [line for line in stripped if not LEADER.search(line)]
    notes = marks_in(text)
    prose: list[str] = []
    for at, line in enumerate(lines):
        row = _is_row(line, prose, lines[at + 1] if at + 1 < len(lines) else "")
        if prose and (row or _is_note(line, prose[0], notes) or _begins_block(prose, lines, at)):
            yield " ".join(prose), False
            prose = []
        if row:
            yield line, True
        elif line:
            prose.append(line)
    if prose:
        yield " ".join(prose), False


def _is_note(line: str, first: str, notes: Collection[str]) -> bool:
    """Whether a line begins a note: its mark is referred to, or follows that of the note in `first`."""
    mark, before = begins_note(line), begins_note(first)
    return mark in notes or (mark.isdigit() and before in notes and before == str(int(mark) - 1))


def _begins_block(prose: Sequence[str], lines: Sequence[str], at: int) -> bool:
    """Whether a line that is no row ends the paragraph before it."""
    line = lines[at]
    if not line or _is_item(line, prose):
        return True
    if PARAGRAPH_NUMBER.match(line) or SPEAKER.match(line):
        return True
    return _ends_block(prose, lines, at)


def _is_item(line: str, prose: Sequence[str]) -> bool:
    """Whether a line begins an item of a list.

    It does not if the paragraph before it counts within its lines: "aimed at (1) …, (2) … and" and then
    "(3)".
    """
    if not LINE_ITEM.match(line):
        return False
    number = COUNTED.match(line)
    if not number:
        return True
    previous = f"({int(number[1]) - 1})" if number[1].isdigit() else f"({chr(ord(number[1]) - 1)})"
    return not any(previous in prose_line[1:] for prose_line in prose)


def is_head(text: str) -> bool:
    """Whether this can be a heading or a line of one.

    It has few words, does not end like a sentence and does not have to go on.
    """
    if len(YEAR_SAID.sub(" ", text).split()) > MOST_HEAD_WORDS or len(text) > LONGEST_HEAD:
        return False
    if text.rstrip(SIGNS).endswith((".", ";", ",")):
        return False
    return not LINE_ITEM.match(text) and not goes_on(text)


def is_title(text: str) -> bool:
    """Whether this looks like a heading or a running line.

    It is in title case, without a figure other than a page number or a year.
    """
    return is_head(text) and _is_titled(text) and not FIGURE_SAID.search(YEAR_SAID.sub(" ", text))


def goes_on(text: str) -> bool:
    """Whether the text ends where no sentence, label or heading can end."""
    last = text.split()[-1:] or [""]
    return last[0].endswith((",", "-")) or last[0].casefold() in _GOES_ON


def _is_row(line: str, prose: Sequence[str], following: str) -> bool:
    """Whether a line is a label, then figures, and nothing else but units.

    A sentence that holds figures is no row, nor is a head of years, a caption or a numbered heading. prose:
    the lines of the paragraph before it. following: the line after it.
    """
    if not line or len(line) > LONGEST_ROW or CAPTION.match(line):
        return False
    words = YEAR_SAID.sub(" ", line).split()
    tail = _values_begin(words)
    label, values = words[:tail], words[tail:]
    # An enumeration, or dates: "January 3, 2020 December 28, 2018".
    if any(word.endswith(",") for word in values):
        return False
    figures = sum(map(_is_figure, values))
    if not figures or len(label) > MOST_LABEL_WORDS:
        return False
    if len(sentences(line, also=";")) > 1 or line.endswith((".", ";", ",")):
        return False
    if figures > 1 and not label:
        return True
    label_text = " ".join(label)
    is_open = goes_on(label_text)
    if figures > 1:
        return not is_open or figures > 2
    goes_on_below = following[:1].islower()
    # "Top 12" above "in global competitiveness"
    if goes_on_below and not any(map(str.isdigit, following)):
        return False
    is_long = len(label) > 4 * (1 + label_text.count(":"))
    if (is_open or is_long) and (_continues(line, prose) or goes_on_below):
        return False
    return not is_open


def _values_begin(words: Sequence[str]) -> int:
    """Where the label of a row ends and its values begin."""
    tail = len(words)
    while tail and _is_value(words[tail - 1]):
        tail -= 1
    # "of year — 8,853": the unit is the label's.
    while tail < len(words) and words[tail].isalpha() and words[tail].casefold() not in _EMPTY:
        tail += 1
    return tail


def _is_figure(word: str) -> bool:
    """Whether a value is a figure or stands for an empty cell."""
    return any(map(str.isdigit, word)) or word.casefold() in _EMPTY


def _is_value(word: str) -> bool:
    return bool(
        ROW_FIGURE.fullmatch(word)
        or _UNIT.fullmatch(word)
        or re.fullmatch(
            rf"[(\[]?[-−]?[^\w\s]{{0,3}}\d[\d,./]*(?:[^\w\s]{{0,3}}|[a-z*†‡]|[{RAISED}]{{1,2}})", word
        )
    )


def _continues(line: str, prose: Sequence[str]) -> bool:
    """Whether the line goes on with the sentence before it."""
    if not prose or prose[-1].endswith(_ENDS):
        return False
    return line[:1].islower() or goes_on(prose[-1]) or len(prose) > 1


def _ends_block(prose: Sequence[str], lines: Sequence[str], at: int) -> bool:
    """Whether a new block begins at line `at`.

    It does if what is before it was a heading or ended its sentence well before the margin, or if it is a
    heading itself.
    """
    line = lines[at]
    last = prose[-1]
    first = line[:1]
    if first.isalnum() and not first.isupper() and not first.isdigit():
        return False
    ended = last.rstrip(SIGNS).endswith(_ENDS)
    if not ended and GOES_ON_WITH.match(line):
        return False
    width = _width(lines, at)
    if ended:
        return len(last) < PARAGRAPH_END * width or _is_heading([line], width)
    return len(prose) <= MOST_HEAD_LINES and _is_heading(prose, width)


def _is_heading(lines: Sequence[str], width: int) -> bool:
    text = " ".join(lines)
    first = text[:1]
    if not is_head(text) or not (first.isupper() or first.isdigit()):
        return False
    if _STATES.search(text):
        return False
    return _is_titled(text) or len(lines[-1]) < SHORT_OF_WIDTH * width


def _is_titled(text: str) -> bool:
    words = [word for word in text.split() if word[0].isalpha() and word.casefold() not in _GOES_ON]
    return sum(word[0].isupper() for word in words) >= TITLED * max(1, len(words))


def _width(lines: Sequence[str], at: int) -> int:
    """How wide the column is around a line: the second longest of its neighbours."""
    return sorted(map(len, lines[max(0, at - AROUND) : at + AROUND + 1]), reverse=True)[:2][-1]
