"""Finds the digits and letters that are set as marks of notes, raised and small, and writes them with raised
signs.

Otherwise "45" with the mark 3 would be read as 453. Only those that begin a line of the page are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ingestion.language.sentences import LEVEL, RAISED
from ingestion.records import Rect, Span

__all__ = ["AS_RAISED", "is_raised", "with_raised_marks"]

# The number before a note, at the beginning of a line.
NUMBERED = re.compile(r"(?m)^\s?([1-9]\d?(?=\s{1,3}\S|[A-Z])|[a-h](?=\s{0,3}[A-Z]))")
# What may end in a mark: a word or figure, or one with a blank before its mark.
MARKED = re.compile(r"(?<=\S)[ ]?([1-9]\d?|[a-h])(?=\s|[.,;:)]|$)")
AS_RAISED = str.maketrans(LEVEL, RAISED)
# The most of the text's height that a mark has, and how far its foot is above the text's, as a share of that.
SMALL, ABOVE = 0.85, 0.1


def with_raised_marks(plain: str, around: Callable[[Sequence[Span]], list[Rect]]) -> str:
    """A page's text with raised signs for marks. around: the boxes of stretches of it."""
    numbers = set(NUMBERED.findall(plain))
    if not numbers:
        return plain
    pieces = list[str]()
    done = first = 0
    for found in MARKED.finditer(plain):
        for start in range(found.start(1), found.end()):
            mark = plain[start : found.end()]
            if not done or plain[done:start] != ",":  # no further mark of the same word
                first = start
            before = first - 1 if plain[first - 1] != " " else first - 2
            if mark in numbers and is_raised(*around([(first, start + 1), (before, before + 1)])):
                pieces += [plain[done:start], mark.translate(AS_RAISED)]
                done = found.end()
                break
    return "".join([*pieces, plain[done:]])


def is_raised(mark: Rect, text: Rect) -> bool:
    """Whether a mark is set smaller than the text before it, with its foot above."""
    is_beside = mark.level(text) > 0 and abs(mark.x0 - text.x1) < text.height
    return is_beside and mark.height < SMALL * text.height and mark.y1 < text.y1 - ABOVE * text.height
