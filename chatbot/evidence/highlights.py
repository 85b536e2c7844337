"""Finds where a quotation stands on a page, and the confidence of OCR in its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Protocol

from ingestion.reading.reader import Reader
from ingestion.records import Rect, Word, around

__all__ = ["ReadPage", "confidence_of", "locate_quote", "locate_quotes"]

# Boxes stand on one line if their vertical middles differ by less than this share of the greater height.
SAME_LINE = 0.6


class ReadPage(Protocol):
    """How a page was read. words: those that were read by OCR."""

    @property
    def method(self) -> str: ...

    @property
    def words(self) -> Sequence[Word]: ...

    @property
    def text(self) -> str: ...


def locate_quotes(
    reader: Reader, number: int, page: ReadPage, quotes: Iterable[tuple[str, int]]
) -> list[tuple[Rect, ...]]:
    """Returns the rectangles over each quotation on a page, none where it is not found. Raises DocumentError.

    number: of the page, physical, 1-based.
    quotes: (quotation, its offset in the page's text), -1 for an unknown offset.
    """
    wanted = list(quotes)
    if not any(quote for quote, _ in wanted):
        return [() for _ in wanted]
    glyphs = [] if page.method == "ocr" else reader.glyphs(number)
    # Text read by OCR from a picture on a text page is not among the characters of the file.
    if page.method in {"ocr", "text+ocr"}:
        glyphs += [(word.text, word.box) for word in page.words]
    return [locate_quote(glyphs, quote, page.text[: max(0, start)]) for quote, start in wanted]


def locate_quote(glyphs: Sequence[tuple[str, Rect]], quote: str, before: str = "") -> tuple[Rect, ...]:
    """Returns one rectangle for each line of `quote`, none if it is not found.

    Only letters and digits are compared, case-folded, so that spaces, line ends, hyphens and ligatures do not
    matter.

    glyphs: characters or whole words with their boxes, in text order.
    before: the page's text up to the quotation. It tells which of several equal places is meant: a row's
        label may stand in a heading too.
    """
    query = _plain(quote)
    if not query:
        return ()
    letters = list[str]()
    owner = list[int]()
    for index, (text, _) in enumerate(glyphs):
        plain = _plain(text)
        letters += plain
        owner += [index] * len(plain)
    near = len(_plain(before))
    found = re.finditer(f"(?={re.escape(query)})", "".join(letters))
    at = min((match.start() for match in found), key=lambda place: abs(place - near), default=-1)
    if at < 0:
        return ()
    first, last = owner[at], owner[at + len(query) - 1]
    for mark in _outer_marks(quote[::-1]):
        if first > 0 and glyphs[first - 1][0] == mark:
            first -= 1
    for mark in _outer_marks(quote):
        if last + 1 < len(glyphs) and glyphs[last + 1][0] == mark:
            last += 1
    # Blanks and line ends that PDFium adds have no box.
    return _by_line([(text, box) for text, box in glyphs[first : last + 1] if text.strip() and box.area > 0])


def confidence_of(words: Sequence[Word], start: int, end: int) -> float | None:
    """Returns how surely the words between two offsets of a page's text were read by OCR, in [0, 100].

    If there are words with a digit, it is the confidence of the least sure one, since a misread figure is
    wrong. Otherwise it is the mean over letters. It is None if none of the words was read by OCR.
    """
    between = [word for word in words if word.start < end and word.end > start]
    read = [word for word in between if word.confidence is not None]
    figures = [word.sure for word in read if any(map(str.isdigit, word.text))]
    if figures:
        return round(min(figures), 1)
    letters = sum(len(word.text) for word in read)
    return round(sum(word.sure * len(word.text) for word in read) / letters, 1) if letters else None


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _outer_marks(quote: str) -> str:
    """Returns what stands after the last letter or digit, without spaces: "%", ")."."""
    return re.split(r"[^\W_]", quote)[-1].replace(" ", "")


def _by_line(glyphs: Sequence[tuple[str, Rect]]) -> tuple[Rect, ...]:
    lines = list[Rect]()
    last = ("", Rect(0.0, 0.0, 0.0, 0.0))
    for text, box in glyphs:
        # A character stands close above or below another in a line that runs up or down the page.
        gap, across = -last[1].level(box), last[1].overlap(box)
        upright = (
            len(text) == len(last[0]) == 1
            and across > min(last[1].width, box.width) / 2
            and 0 <= gap < SAME_LINE * max(last[1].height, box.height)
        )
        apart = abs(lines[-1].middle - box.middle) if lines else 1.0
        if lines and (upright or apart < SAME_LINE * max(lines[-1].height, box.height)):
            lines[-1] = around((lines[-1], box))
        else:
            lines.append(box)
        last = text, box
    return tuple(lines)
