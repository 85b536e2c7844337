"""Finds the footnotes of a page, and the marks in sentences and rows that refer to them.

A note is a line that begins with a mark to which the text above it refers. What it means is left to its
reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ingestion.language.sentences import LEVEL, RAISED

__all__ = ["SIGNS", "begins_note", "marks_in", "notes_begin", "notes_in", "referred_to"]

SIGNS = f"*†‡§#{RAISED}"
_AS_LEVEL = str.maketrans(RAISED, LEVEL)
# The mark at a note's beginning: "* In", "1 In", "a In", "(1) In", "a) In", "¹In".
_NOTE = re.compile(
    rf"\s*(?:(?P<sign>\*{{1,4}}|[†‡]{{1,2}}|[§#]{{1,2}}(?!\s*\d)|[{RAISED}]{{1,2}})\s*"
    r"|(?P<bracketed>\(?(?:\d{1,2}|[a-z])\))\s+"
    r"|(?P<letter>[a-h])\s+(?=[A-Z])|(?P<number>\d{1,2})\.?\s+(?=[^\W\da-z]|[\"“‘]|\d))(?=\S)"
)
# A mark in the text. One that is set level is known by the word it touches: "night.1", "Hotel1 130", but not
# "Q1" or "CO2"; one in brackets also stands behind a row's label.
_MARK = re.compile(
    r"(?<=[^\s*†‡§#(])(?P<sign>\*{1,4}|[†‡§#]{1,2})(?![\w*†‡])"
    r"|(?<=[\w)] )(?P<apart>[†‡§#]{1,2}|(?<=[^\W\d_] )\*{1,4}|(?<=\) )\*{1,4})(?=\s|$)"
    rf"|(?<=[^\s{RAISED}])(?P<raised>[{RAISED}]{{1,2}})(?![{RAISED}])"
    r"|(?<=[a-z]{2})[)”\"]?[.,;:]?(?P<level>[1-9]\d?)(?![\w%]|[.,]\d)"
    r"|(?<=\w)(?P<bracketed>\((?:\d{1,2}|[a-z])\)|(?<=[a-z]{2}) \(?(?:\d{1,2}|[a-z])\)(?=\s+[-−–(]?\d))"
)
# A note at the foot of a page has at most so many lines, and so many words.
MOST_LINES, LONGEST_NOTE = 4, 600


def marks_in(text: str) -> frozenset[str]:
    """The marks of notes that a text refers to, as `begins_note` gives them."""
    return frozenset(_plain(found[found.lastgroup or 0]) for found in _MARK.finditer(text))


def begins_note(line: str) -> str:
    """The mark that a line begins with, "" for none."""
    found = _NOTE.match(line)
    return _plain(found[found.lastgroup or 0]) if found else ""


def _plain(mark: str) -> str:
    return mark.translate(_AS_LEVEL).strip(" ().")


def notes_in(passages: Sequence[str], above: str) -> Mapping[str, str]:
    """Mark -> note, of those passages that are notes. above: the text that may refer to them."""
    marks = marks_in(above)
    notes: dict[str, str] = {}
    for passage in passages:
        mark = begins_note(passage)
        if mark in marks and len(passage) <= LONGEST_NOTE:
            notes.setdefault(mark, passage)
    return notes


def referred_to(text: str, notes: Mapping[str, str]) -> list[str]:
    """The notes that a sentence or row refers to, in their order; none for a note itself."""
    if text in notes.values():
        return []
    marks = marks_in(text)
    return [note for mark, note in notes.items() if mark in marks]


def notes_begin(lines: Sequence[str]) -> int:
    """The index of the line with which the notes at a page's foot begin; the count of lines without any."""
    seen: set[str] = set()
    starts = []
    for at, line in enumerate(lines):
        if begins_note(line) in seen:
            starts.append(at)
        seen |= marks_in(line)
    while starts and len(lines) - starts[0] > MOST_LINES * len(starts):
        starts = starts[1:]
    return starts[0] if starts else len(lines)
