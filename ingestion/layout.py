"""Lines of a page from its words; knows text, offsets and boxes only."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.records import Line, Rect, Word

__all__ = ["lines_of"]


def lines_of(text: str, words: Sequence[Word]) -> tuple[Line, ...]:
    """The lines of `text` with a box around each; words: in the text's order, with offsets. Lines without words are left out."""
    lines: list[Line] = []
    for word in words:
        if lines and "\n" not in text[lines[-1].end : word.start]:
            last = lines[-1]
            lines[-1] = Line(last.start, word.end, _around(last.box, word.box))
        else:
            lines.append(Line(word.start, word.end, word.box))
    return tuple(lines)


def _around(first: Rect, second: Rect) -> Rect:
    return Rect(min(first.x0, second.x0), min(first.y0, second.y0), max(first.x1, second.x1), max(first.y1, second.y1))
