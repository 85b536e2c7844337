"""Joins words with boxes to visual lines of values and texts, by where the words stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingestion.records import Across, Down, Word
from ingestion.tables.word_kinds import (
    BROKEN,
    DIGITS,
    GROUP,
    LONGEST_FIGURE,
    MARK,
    OPEN_GROUP,
    SIGNS,
    is_period,
    is_value,
    printed,
    words_kind,
)

__all__ = ["INK", "Piece", "VisualLine", "text_piece", "visual_lines"]

# Share of the lower word's height that two words of one line have in common: footnote marks stand high but
# inside, and the staggered lines of neighbouring heads, half a line apart, have less.
SAME_LINE = 0.63
SAME_LINE_MARK = 0.35
# Rotated words and ornamental initials are taller than so many usual words.
TALLEST = 2.6
# Letters of a rotated word seem so many times more slender than usual.
ROTATED = 2.6
# Words of a value with its measure: "5 per cent", "4 to 8 lakh"; one of time may be a head: "1-3 years".
MEASURED_WORDS = range(2, 5)
OF_TIME = re.compile(r"(?:day|month|year)s?", re.IGNORECASE)
# Gaps are in widths of the line's mean letter; a space between words is about half of one, up to one and a
# half in justified lines.
SPLIT_DIGITS_GAP = 0.3
SPACE_GAP = 0.75
RANGE_GAP = 1.0
THOUSANDS_GAP = 1.25
SCANNED_THOUSANDS_GAP = 1.7
SIGN_GAP = 1.4
UNIT_GAP = 1.2
LABEL_GAP = 1.5
TEXT_GAP = 1.9
PERCENT_GAP = 3.5
FAR = 99.0
# A footnote mark is so much lower than the figure it hangs on.
MARK_HEIGHT = 0.8
LONGEST_MARK = 6
# A scanned word's box is this share of its height lower, above and below, than a font's.
INK = 0.15
# Crookedness of a scan is measured on lines at least this long, as a share of the page's width; steeper ones
# are not text lines.
LONG_LINE = 0.2
STEEPEST = 0.04


@dataclass(slots=True)
class Piece(Across):
    """Words that stand together on a line. x0, x1: its sides. figure: it is a value, or a sign that there is
    none; text: as printed.

    core: the left side without a currency sign that is set apart.
    """

    words: list[Word]
    x0: float
    x1: float
    figure: bool
    text: str
    core: float


def text_piece(words: Sequence[Word]) -> Piece:
    """Words from left to right that are no value."""
    left = words[0].box.x0
    return Piece(list(words), left, words[-1].box.x1, False, " ".join(map(printed, words)), left)


@dataclass(slots=True)
class VisualLine(Down):
    """What stands at one height, left to right. letter: mean width of a letter on it."""

    pieces: list[Piece]
    y0: float
    y1: float
    letter: float

    @property
    def text(self) -> str:
        """All of it as printed."""
        return " ".join(piece.text for piece in self.pieces)


def visual_lines(words: Sequence[Word]) -> list[VisualLine]:
    """The lines of a page from top to bottom, whatever the order of `words`. Rotated words are left out."""
    placed = _levelled([word for word in words if word.box.x1 > word.box.x0 and word.box.y1 > word.box.y0])
    if not placed:
        return []
    usual = median(y1 - y0 for y0, y1, _ in placed)
    # A rotated word is high and narrow; a word broken at a line end has a box over two lines and is wide.
    slender = median((y1 - y0) * len(word.text) / word.box.width for y0, y1, word in placed)
    upright = [
        item for item in placed if item[1] - item[0] <= TALLEST * usual and not _is_rotated(item, slender)
    ]
    upright.sort(key=lambda item: item[0] + item[1])
    return [_line(group) for group in _grouped(upright) if not _is_marks(group, MARK_HEIGHT * usual)]


def _levelled(words: Sequence[Word]) -> list[tuple[float, float, Word]]:
    """(top, bottom, word), a scan's crookedness taken out and its boxes, which end where the ink ends,
    made as high as a font's.
    """
    scanned = any(word.confidence is not None for word in words)
    slope = _slope(words) if scanned else 0.0
    tops = [(word.box.y0 - slope * word.box.x0, word.box.y1 - slope * word.box.x0, word) for word in words]
    if tops:
        usual = median(y1 - y0 for y0, y1, _ in tops)
    else:
        usual = 0.0
    if scanned:
        return [(y0 - INK * usual, y1 + INK * usual, word) for y0, y1, word in tops]
    # A word broken at a line's end has a box over two lines: it stands where it begins.
    return [
        (y0, y0 + usual, word) if y1 - y0 > 1.5 * usual and BROKEN.search(word.text) else (y0, y1, word)
        for y0, y1, word in tops
    ]


def _slope(words: Sequence[Word]) -> float:
    """Rise of text lines over the width of the page, from words that follow each other at about one
    height.
    """
    slopes: list[float] = []
    first = last = None
    for word in [*words, None]:
        if (
            word
            and last
            and word.box.x0 > last.box.x0
            and abs(word.box.y1 - last.box.y1) < _drift(last, word)
        ):
            last = word
            continue
        if first and last and last.box.x0 - first.box.x0 > LONG_LINE:
            slopes.append((last.box.y1 - first.box.y1) / (last.box.x0 - first.box.x0))
        first = last = word
    slope = median(slopes) if slopes else 0.0
    if abs(slope) < STEEPEST:
        return slope
    return 0.0


def _drift(last: Word, word: Word) -> float:
    """How far the next word of a crooked line may stand above or below the last."""
    return 0.5 * last.box.height + STEEPEST * (word.box.x0 - last.box.x1)


def _grouped(placed: Sequence[tuple[float, float, Word]]) -> list[list[tuple[float, float, Word]]]:
    """The words of each line; placed: sorted by height."""
    groups: list[list[tuple[float, float, Word]]] = []
    top = bottom = 0.0
    for item in placed:
        y0, y1, word = item
        height = bottom - top
        low = y1 - y0
        smaller = word.text
        if low >= height:
            smaller = groups[-1][0][2].text if groups else ""
        uneven = min(height, low) < MARK_HEIGHT * max(height, low)
        mark = len(smaller) <= LONGEST_MARK and uneven
        share = SAME_LINE_MARK if mark else SAME_LINE
        common = min(y1, bottom) - max(y0, top)
        if groups and common >= share * min(low, height):
            groups[-1].append(item)
            # A line that a footnote mark began has the height of its words.
            if mark and low > height:
                top, bottom = y0, y1
        else:
            groups.append([item])
            top, bottom = y0, y1
    return groups


def _is_rotated(item: tuple[float, float, Word], slender: float) -> bool:
    """Whether a word is set upwards; slender: the usual height of a letter over its width."""
    y0, y1, word = item
    return (
        len(word.text) > 2
        and not BROKEN.search(word.text)
        and (y1 - y0) * len(word.text) > ROTATED * slender * word.box.width
    )


def _is_marks(group: Sequence[tuple[float, float, Word]], low: float) -> bool:
    """Whether there is nothing on a line but footnote marks, set so high that they look like a line of
    their own.
    """
    return all(y1 - y0 < low and MARK.fullmatch(word.text[:LONGEST_FIGURE]) for y0, y1, word in group)


def _line(group: Sequence[tuple[float, float, Word]]) -> VisualLine:
    words = sorted((word for _, _, word in group), key=lambda word: word.box.x0)
    letters = sum(len(word.text) for word in words)
    letter = sum(word.box.width for word in words) / max(1, letters)
    heights = sorted(group, key=lambda item: item[1] - item[0])
    y0, y1, _ = heights[len(heights) // 2]
    usual = median(word.box.height for word in words)
    return VisualLine(_WordJoiner(words, letter, MARK_HEIGHT * usual).pieces(), y0, y1, letter)


def _measure(pieces: Sequence[Piece]) -> None:
    """Take texts beside a label that are figures with their measure for values, those of time where the
    line has other values.
    """
    valued = any(piece.figure for piece in pieces[1:])
    for piece in pieces[1:]:
        if piece.figure or len(piece.words) not in MEASURED_WORDS:
            continue
        first = piece.words[0].text
        last = piece.words[-1].text
        measured = (
            words_kind(first) in "vscd"
            and not is_period(first)
            and (last.endswith("%") or words_kind(last) == "w")
            and is_value(piece.text)
        )
        piece.figure = measured and (valued or not OF_TIME.fullmatch(last))


class _WordJoiner:
    """Joins the words of one line to values and texts."""

    def __init__(self, words: Sequence[Word], letter: float, mark: float) -> None:
        """words: left to right; letter: mean width; mark: what is lower is a footnote mark."""
        self._words, self._letter, self._mark = words, letter, mark
        self._kinds = [words_kind(word.text) for word in words]

    def pieces(self) -> list[Piece]:
        """Values, and texts whose words stand close."""
        if set(self._kinds) == {"w"}:
            return self._texts()
        pieces: list[Piece] = []
        opened = False  # a leader stood last: what follows is apart
        for token in self._tokens():
            if pieces and not opened:
                last = pieces[-1]
            else:
                last = None
            opened = not token.words
            if opened:
                continue
            if last:
                gap = (token.x0 - last.x1) / self._letter
            else:
                gap = 0.0
            if last and last.figure:
                widest = SPACE_GAP if token.figure else UNIT_GAP
            else:
                widest = LABEL_GAP if token.figure else TEXT_GAP
            # A currency sign set apart begins a value of its own, however close the one before it ends.
            if last and gap < widest and not (last.figure and token.core > token.x0):
                pieces[-1] = Piece(
                    [*last.words, *token.words],
                    last.x0,
                    token.x1,
                    False,
                    f"{last.text} {token.text}",
                    last.x0,
                )
            else:
                pieces.append(token)
        _measure(pieces)
        return pieces

    def _texts(self) -> list[Piece]:
        """The pieces of a line that holds nothing but words: most lines of most pages, done the short way."""
        starts = [
            0,
            *(index for index in range(1, len(self._words)) if self._gap(index) >= TEXT_GAP),
            len(self._words),
        ]
        groups = [self._words[start:end] for start, end in pairwise(starts)]
        return list(map(text_piece, groups))

    def _tokens(self) -> list[Piece]:
        """Words, those that make up one value together; a piece without words where a leader stands."""
        tokens: list[Piece] = []
        before: list[Word] = []  # currency and signs that wait for their value
        for index, word in enumerate(self._words):
            x0 = word.box.x0
            x1 = word.box.x1
            if tokens and tokens[-1].figure:
                last = tokens[-1]
            else:
                last = None
            if self._waits(index):
                before.append(word)
            elif self._kinds[index] == "l":
                tokens.append(Piece([], x0, x1, False, "", x0))
            elif before:
                words = [*before, word]
                core = min(item.box.x0 for item in words if words_kind(item.text) != "c")
                text = (
                    " ".join(item.text for item in before)
                    + ("" if self._gap(index) < SPLIT_DIGITS_GAP else " ")
                    + word.text
                )
                tokens.append(Piece(words, before[0].box.x0, x1, True, text, core))
                before = []
            elif last and (self._belongs(index, last)):
                last.x1 = max(last.x1, x1)
                last.words.append(word)
                last.text += ("" if self._gap(index) < SPLIT_DIGITS_GAP else " ") + word.text
            elif not self._is_loose_mark(index, last):
                tokens.append(Piece([word], x0, x1, self._kinds[index] in "vd", printed(word), x0))
        return tokens

    def _is_loose_mark(self, index: int, last: Piece | None) -> bool:
        """Whether the word is a footnote mark that hangs on a value, or on nothing."""
        word = self._words[index]
        if word.box.height >= self._mark or not MARK.fullmatch(word.text[:LONGEST_FIGURE]):
            return False
        return last is not None or self._gap(index) >= LABEL_GAP

    def _gap(self, index: int) -> float:
        """Distance of a word from the one before it, in letters."""
        if not 0 < index < len(self._words):
            return FAR
        return (self._words[index].box.x0 - self._words[index - 1].box.x1) / self._letter

    def _waits(self, index: int) -> bool:
        """Whether the word is a currency or sign of the value after it."""
        kind = self._kinds[index]
        after = "".join(self._kinds[index + 1 : index + 3])
        if kind == "c":
            return after[:1] in {"v", "d"} or after in {"sv", "sd", "dv"}
        if after[:1] != "v" or (kind != "s" and self._words[index].text not in SIGNS):
            return False
        apart = kind == "s" or index == 0 or self._gap(index) >= SIGN_GAP or self._kinds[index - 1] == "c"
        return apart and self._gap(index + 1) <= SIGN_GAP

    def _belongs(self, index: int, last: Piece) -> bool:
        """Whether a word goes on with the value before it: a unit, digits that were split off, a group of
        three, the end of a range.
        """
        word = self._words[index]
        kind = self._kinds[index]
        gap = self._gap(index)
        if kind == "u":
            return gap <= PERCENT_GAP
        if self._is_range(index):
            return True
        if kind != "v" or word.box.height < self._mark:
            return False
        if gap < SPLIT_DIGITS_GAP and last.text[-1] in DIGITS and word.text[0] in DIGITS:
            return True
        head, _, group = last.text.rpartition(" ")
        if head and OPEN_GROUP.fullmatch(head.rpartition(" ")[2]):
            grouped = GROUP.fullmatch(group)
        else:
            grouped = OPEN_GROUP.fullmatch(group)
        widest = THOUSANDS_GAP if word.confidence is None else SCANNED_THOUSANDS_GAP
        return gap <= widest and bool(grouped and GROUP.fullmatch(word.text))

    def _is_range(self, index: int) -> bool:
        """Whether the word is the dash between the two ends of a range, or the second end."""
        if self._words[index].text in SIGNS:
            dash = index
        else:
            dash = index - 1
        if (
            not 0 < dash < len(self._words) - 1
            or self._words[dash].text not in SIGNS
            or self._kinds[dash - 1] + self._kinds[dash + 1] != "vv"
        ):
            return False
        return self._gap(dash) < RANGE_GAP and self._gap(dash + 1) < RANGE_GAP
