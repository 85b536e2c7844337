"""Lines of a page from its words; knows text, offsets and boxes only."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.records import Line, Rect, Word, around

__all__ = ["lines_of"]


def lines_of(text: str, words: Sequence[Word]) -> tuple[Line, ...]:
    """The lines of `text` with a box around each; words: in the text's order, with offsets. Lines without
    words are left out.
    """
    lines: list[Line] = []
    box, start, end, line_end = Rect(0.0, 0.0, 0.0, 0.0), 0, 0, -1
    for word in words:
        if word.start < line_end:
            box, end = around((box, word.box)), word.end
            continue
        if line_end >= 0:
            lines.append(Line(start, end, box))
        box, start, end = word.box, word.start, word.end
        found = text.find("\n", word.end)
        line_end = found if found >= 0 else len(text) + 1
    return (*lines, Line(start, end, box)) if line_end >= 0 else ()
