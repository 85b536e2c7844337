"""Makes the lines of a page, with their boxes, from its words."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.records import Line, Rect, Word, around

__all__ = ["lines_of"]


def lines_of(text: str, words: Sequence[Word]) -> tuple[Line, ...]:
    """The lines of `text` with a box around each, without lines that have no words.

    words: in the text's order, with offsets.
    """
    lines: list[Line] = []
    box = Rect(0.0, 0.0, 0.0, 0.0)
    start = 0
    end = 0
    line_end = -1
    for word in words:
        if word.start < line_end:
            box = around((box, word.box))
            end = word.end
            continue
        if line_end >= 0:
            lines.append(Line(start, end, box))
        box = word.box
        start = word.start
        end = word.end
        found = text.find("\n", word.end)
        if found >= 0:
            line_end = found
        else:
            line_end = len(text) + 1
    if line_end >= 0:
        return (*lines, Line(start, end, box))
    return ()
