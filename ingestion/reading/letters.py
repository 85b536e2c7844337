"""Mends words that are drawn as such but not written so.

These are ligatures that have no meaning in their font, letters and digits that are set apart, and marks of
notes, raised and small.

Without raised signs "45" with the mark 3 would be read as 453. Only marks that begin a line of the page are
looked at.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pypdfium2.raw as raw

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.sentences import LEVEL, RAISED
from ingestion.ocr.plausibility import LIGATURES, fold, plausibility
from ingestion.reading.page_objects import loose_box
from ingestion.records import Rect, Span

__all__ = ["AS_RAISED", "is_raised", "with_plain_words", "with_raised_marks"]

# What PDFium gives for glyphs without a meaning, and a hyphen in front of a small letter.
UNKNOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffd\ufffe\ue000-\uf8ff]")
HYPHEN = re.compile(r"(?<=[\s(])[-\xad](?=[a-z]{2})")
HYPHENS = (" -", "\n-", "(-", "\xad")
WORD_START = re.compile(r"[^\W\d_]*")
WORD_END = re.compile(r"[^\W\d_]*$")
LONGEST_PART = 40
# A ligature is as wide as its letters together, to these shares.
NARROWEST, WIDEST = 0.87, 1.12
# At least five letters or digits with a space after each. The first pattern is quick to find nothing.
FOUR_ALONE = re.compile(r" \S \S \S \S(?!\S)")
SPACED = re.compile(r"(?<!\S)\S(?: \S){4,}(?!\S)")
# A gap between words is at least so many times as wide as the widest one between letters, which is at most
# this share of a letter's height, or of a digit's.
WORD_GAP = 1.5
LETTER_GAP, FIGURE_GAP = 0.5, 0.8
SHORTEST = 4
LINE_END = re.compile(r"\s*[\r\n]|\s*\Z")
FIGURE = re.compile(rf"[{DRAWN_SIGNS}]|\(?[{DRAWN_SIGNS}]?\d+(?:[.,]\d+)+%?\)?")

# The number before a note, at the beginning of a line.
NUMBERED = re.compile(r"(?m)^\s?([1-9]\d?(?=\s{1,3}\S|[A-Z])|[a-h](?=\s{0,3}[A-Z]))")
# What may end in a mark: a word or figure, or one with a blank before its mark.
MARKED = re.compile(r"(?<=\S)[ ]?([1-9]\d?|[a-h])(?=\s|[.,;:)]|$)")
AS_RAISED = str.maketrans(LEVEL, RAISED)
# The most of the text's height that a mark has, and how far its foot is above the text's, as a share of that.
SMALL, ABOVE = 0.85, 0.1

# (start, end) of a stretch, what is read in its place, and PDFium's indexes of that.
Change = tuple[int, int, str, list[int]]


def with_plain_words(text_page: Any, plain: str, indexes: Sequence[int]) -> tuple[str, Sequence[int]]:
    """The text with such words as they are read, and PDFium's index of each character.

    Returns the very same objects where there are none.
    """
    changes = list[Change]()
    for start, end, index in _unknown(plain, indexes):
        if found := _ligature(text_page, plain, indexes, (start, end, index)):
            changes.append((start, end, found, [index] * len(found)))
    if FOUR_ALONE.search(plain):
        for match in SPACED.finditer(plain):
            changes += _joined(text_page, match, indexes)
    if not changes:
        return plain, indexes
    parts = list[str]()
    made = list[int]()
    last = 0
    for start, end, text, of in sorted(changes):
        parts += (plain[last:start], text)
        made += (*indexes[last:start], *of)
        last = end
    return "".join((*parts, plain[last:])), [*made, *indexes[last:]]


def _unknown(plain: str, indexes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yields (start, end, PDFium's index) of what may be a ligature that has no meaning or is left out."""
    places = [match.start() for match in UNKNOWN.finditer(plain)]
    if any(hyphen in plain for hyphen in HYPHENS):
        places += (match.start() for match in HYPHEN.finditer(plain))
    for at in places:
        yield at, at + 1, indexes[at]
    if len(plain) and indexes[-1] - indexes[0] >= len(plain):
        for at, (before, after) in enumerate(pairwise(indexes), 1):
            if after == before + 2:
                yield at, at, before + 1


def _ligature(text_page: Any, plain: str, indexes: Sequence[int], place: tuple[int, int, int]) -> str:
    """The letters of a glyph without a meaning, "" where its width and the words do not tell them.

    place: see `_unknown`.
    """
    start, end, index = place
    if plain[start:end] == "\ufffe" and raw.FPDFText_GetUnicode(text_page, index):
        return ""  # a hyphen at a line's end
    before = WORD_END.search(plain[max(0, start - LONGEST_PART) : start])
    after = WORD_START.match(plain, end, end + LONGEST_PART)
    head, tail = before.group() if before else "", after.group() if after else ""
    if not head and not tail:
        return ""
    beside = indexes[end] if tail else indexes[start - 1]
    letter = tail[:1] or head[-1:]
    fitting = [text for text in LIGATURES if _fits(text_page, index, text, (beside, letter))]
    scores = {text: plausibility(fold(head + text + tail)) for text in fitting}
    best = [text for text in fitting if scores[text] == max(scores.values())]
    if len(best) > 1:
        best = [text for text in best if tail and text[-1] + tail[:3] in plain]
    return best[0] if len(best) == 1 and scores[best[0]] >= 0 else ""


def _fits(text_page: Any, index: int, ligature: str, beside: tuple[int, str]) -> bool:
    """Whether a glyph is as wide as these letters are together.

    beside: index and letter of a glyph of the same font, which tells the scale.
    """
    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text_page, index))
    width = ctypes.c_float()
    widths = list[float]()
    for letter in (*ligature, beside[1]):
        raw.FPDFFont_GetGlyphWidth(font, ord(letter), 1000.0, width)
        widths.append(width.value)
    scale = _width(text_page, beside[0]) / (widths.pop() or 1.0)
    return NARROWEST < _width(text_page, index) / (sum(widths) * scale or 1.0) < WIDEST


def _width(text_page: Any, index: int) -> float:
    left, _, right, _ = loose_box(text_page, index)
    return right - left


def _joined(text_page: Any, match: re.Match[str], indexes: Sequence[int]) -> Iterator[Change]:
    """Yields what to take out of a stretch of single letters: the spaces within words.

    Gaps of two widths tell words apart. With gaps of one width, it must spell a word, or be one figure with
    its separators.
    """
    start, text = match.start(), match.group()
    shown = [start + at for at, letter in enumerate(text) if letter != " "]
    boxes = [loose_box(text_page, indexes[at]) for at in shown]
    gaps = [after[0] - before[2] for before, after in pairwise(boxes)]
    # Gaps within words are followed at once by much wider ones.
    ordered = sorted(gaps)
    wide = (gap for gap, wider in pairwise(ordered) if wider > WORD_GAP * max(gap, 0.1))
    narrow = next(wide, ordered[-1])
    words = [text[0]]
    for letter, gap in zip(text.replace(" ", "")[1:], gaps, strict=True):
        words[-1:] = [words[-1] + letter] if gap <= narrow else [words[-1], letter]
    are_figures = all(map(FIGURE.fullmatch, words))
    if narrow > (FIGURE_GAP if are_figures else LETTER_GAP) * (boxes[0][1] - boxes[0][3]):
        return
    alone = match.string[:start].endswith(("\n", "")[start == 0]) and LINE_END.match(
        match.string, match.end()
    )
    if not (are_figures or _are_words(words)) or (len(words) == 1 and words[0].isalpha() and not alone):
        return
    for (before, after), gap in zip(pairwise(shown), gaps, strict=True):
        if gap <= narrow and after - before > 1:
            yield before + 1, after, "", []


def _are_words(words: Sequence[str]) -> bool:
    """Whether what single letters would be joined to is words, with figures between them."""
    long = [fold(word) for word in words if word.isalpha() and len(word) >= SHORTEST]
    # Letters in the order of the alphabet are marks.
    return bool(long) and all(plausibility(word) >= 0 and list(word) != sorted(word) for word in long)


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
