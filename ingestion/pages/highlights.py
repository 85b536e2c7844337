"""Where a quotation stands on a page, as rectangles, and how surely it was read; knows characters and
boxes, not PDFs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from ingestion.records import Rect, Word, around

__all__ = ["confidence_of", "locate_quote"]

# Boxes whose vertical middles differ by less than this share of their height stand on one line.
SAME_LINE = 0.6


def locate_quote(glyphs: Sequence[tuple[str, Rect]], quote: str, before: str = "") -> tuple[Rect, ...]:
    """One rectangle a line over `quote`; empty where it is not found.

    glyphs: characters or whole words with their boxes, in text order. before: the page's text up to the
    quotation, which tells which of several equal places is meant: a row's label may stand in a heading too.
    Letters and digits alone are compared, case-folded, so that spaces, line ends, hyphens and ligatures do
    not matter.
    """
    letters: list[str] = []
    owner: list[int] = []
    for index, (text, _) in enumerate(glyphs):
        plain = _plain(text)
        letters.extend(plain)
        owner.extend([index] * len(plain))
    wanted = _plain(quote)
    if not wanted:
        return ()
    at = _nearest("".join(letters), wanted, len(_plain(before)))
    if at < 0:
        return ()
    first = owner[at]
    last = owner[at + len(wanted) - 1]
    for mark in _outer_marks(quote[::-1])[::-1]:
        first -= first > 0 and glyphs[first - 1][0] == mark
    for mark in _outer_marks(quote):
        last += last + 1 < len(glyphs) and glyphs[last + 1][0] == mark
    # Blanks and line ends that PDFium adds have no box.
    return _by_line(
        box for text, box in glyphs[first : last + 1] if text.strip() and box.x1 > box.x0 and box.y1 > box.y0
    )


def confidence_of(words: Sequence[Word], start: int, end: int) -> float | None:
    """How surely the words between two offsets of a page's text were read by OCR, 0-100: the least sure word
    with a digit where there is one, for a figure misread is a figure wrong; else the mean over letters. None
    where none of them was read by OCR."""
    read = [word for word in words if word.confidence is not None and word.start < end and word.end > start]
    figures = [word.sure for word in read if any(map(str.isdigit, word.text))]
    if figures:
        return round(min(figures), 1)
    letters = sum(len(word.text) for word in read)
    if letters:
        return round(sum(word.sure * len(word.text) for word in read) / letters, 1)
    return None


def _plain(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


def _nearest(text: str, wanted: str, near: int) -> int:
    """Where `wanted` stands next to offset `near`; -1 where it does not."""
    best = at = text.find(wanted)
    while at >= 0:
        best = min(best, at, key=lambda place: abs(place - near))
        at = text.find(wanted, at + 1)
    return best


def _outer_marks(quote: str) -> str:
    """What stands behind the last letter or digit: "%", ")."."""
    return next((quote[at:] for at in range(len(quote), 0, -1) if quote[at - 1].isalnum()), quote).replace(
        " ", ""
    )


def _by_line(boxes: Iterable[Rect]) -> tuple[Rect, ...]:
    lines: list[Rect] = []
    for box in boxes:
        if lines and abs(lines[-1].middle - box.middle) < SAME_LINE * max(lines[-1].height, box.height):
            lines[-1] = around((lines[-1], box))
        else:
            lines.append(box)
    return tuple(lines)
