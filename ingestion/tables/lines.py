"""Joins the words of a page to visual lines of values and texts, by where the words stand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from statistics import median

from ingestion.language.numbers import stated_mark
from ingestion.records import Cell, HorizontalExtent, Rect, Row, VerticalExtent, Word, around_words
from ingestion.tables.word_kinds import (
    BROKEN,
    GROUP,
    LONGEST_FIGURE,
    MARK,
    OPEN_GROUP,
    SIGNS,
    are_periods,
    is_value,
    text_of,
    words_kind,
)

__all__ = ["INK", "Lines", "Piece", "VisualLine", "join", "row_of", "text_piece", "visual_lines"]

# Two words of one line overlap by at least this share of the height of the lower one. Footnote marks stand
# high but overlap. The staggered lines of neighbouring heads, half a line apart, overlap less.
SAME_LINE = 0.63
SAME_LINE_MARK = 0.35
# Rotated words and ornamental initials are more than this many times as tall as a usual word.
TALLEST = 2.6
# Letters of a rotated word seem more than this many times as slender as usual.
ROTATED = 2.6
LONGEST_SHORT = 3
# It is so many words before or after a rotated one, on its line or the next.
BESIDE = 5
# Rotated words of one font are as wide, and level ones as high, to this share.
SAME_SIZE = 0.03
# The first values stand at most so many line heights below upright heads.
FAR_BELOW = 5.0
MOST_HEADS = 60
# How many words a value with its measure has: "5 per cent", "4 to 8 lakh". One of time may be a head: "1-3
# years".
MEASURED_WORDS = range(2, 5)
OF_TIME = re.compile(r"(?i)(?:day|month|year)s?")
# Gaps are in widths of the line's mean letter. A space between words is about half a letter wide, up to one
# and a half in justified lines.
SPLIT_DIGITS_GAP = 0.3
SPACE_GAP = 0.75
RANGE_GAP = 1.0
THOUSANDS_GAP = 1.25
SIGN_GAP = 1.4
UNIT_GAP = 1.2
LABEL_GAP = 1.5
TEXT_GAP = 1.9
PERCENT_GAP = 3.5
FAR = 99.0
# A footnote mark is lower than this share of the height of the figure that it belongs to.
MARK_HEIGHT = 0.8
LONGEST_MARK = 6
# A scanned word's box ends where the ink ends. A font's box is higher by this share, above and below.
INK = 0.15

# A word with the top and the bottom that are taken for its box's.
_Placed = tuple[float, float, Word]


@dataclass(slots=True)
class Piece(HorizontalExtent):
    """Words that stand together on a line.

    words: from left to right.
    x0, x1: its sides.
    figure: whether it is a value, or a sign that there is none.
    text: as printed.
    core: the left side without a currency sign that is set apart.
    """

    words: list[Word]
    x0: float
    x1: float
    figure: bool
    text: str
    core: float


def text_piece(words: Sequence[Word], *, figure: bool = False) -> Piece:
    """Returns a piece of words, as they are read."""
    box = around_words(words)
    return Piece(list(words), box.x0, box.x1, figure, text_of(words), box.x0)


def join(first: Piece, second: Piece) -> None:
    """Makes the first of two pieces one text with the second."""
    first.words += second.words
    first.text += f" {second.text}"
    first.x1 = max(first.x1, second.x1)
    first.figure = False


def row_of(label: str, words: Iterable[Word], pieces: Sequence[Piece | None], section: str) -> Row:
    """Returns a row of a table. words: those of its label. pieces: one for each cell, None if it is empty."""
    cells = tuple(Cell(piece.text, *_span_of(piece.words)) if piece else None for piece in pieces)
    filled = (piece.words for piece in pieces if piece)
    return Row(label, cells, section, *_span_of([*words, *chain.from_iterable(filled)]))


def _span_of(words: Sequence[Word]) -> tuple[int, int]:
    """Returns the first and the last offset of some words in the page's text."""
    return min(word.start for word in words), max(word.end for word in words)


@dataclass(slots=True)
class VisualLine(VerticalExtent):
    """What stands at one height.

    pieces: from left to right.
    y0, y1: its top and its bottom.
    letter: the mean width of a letter on it.
    """

    pieces: list[Piece]
    y0: float
    y1: float
    letter: float

    @property
    def text(self) -> str:
        """All of it as printed."""
        return " ".join(piece.text for piece in self.pieces)


Lines = Sequence[VisualLine]


def visual_lines(words: Sequence[Word]) -> list[VisualLine]:
    """Returns the lines of a page from top to bottom, whatever the order of `words`.

    Upright heads of columns are one line. Other rotated words are left out.
    """
    words = [word for word in words if word.box.area > 0]
    if not words:
        return []
    placed = _levelled(words)
    usual = median(y1 - y0 for y0, y1, _ in placed)
    # A rotated word is high and narrow. A word broken at a line's end has a box over two lines and is wide.
    slender = median((y1 - y0) * len(word.text) / word.box.width for y0, y1, word in placed)
    tallest = TALLEST * usual
    rotated = _rotated(placed, slender, usual)
    turned = {id(word) for line in rotated for word in line}
    upright = [item for item in placed if item[1] - item[0] <= tallest and id(item[2]) not in turned]
    upright.sort(key=lambda item: item[0] + item[1])
    low = MARK_HEIGHT * usual
    lines = [_line(group) for group in _grouped(upright) if not _is_marks(group, low)]
    for heads in _upright_heads(rotated, upright, usual):
        beside = [line for line in lines if heads.y0 < line.middle < heads.y1]
        for line in beside:
            heads.pieces += line.pieces
        heads.pieces.sort(key=lambda piece: piece.x0)
        lines = sorted([heads, *(line for line in lines if line not in beside)], key=lambda line: line.middle)
    return lines


def _rotated(placed: Sequence[_Placed], slender: float, usual: float) -> list[list[Word]]:
    """Returns the words of each line that runs up or down the page.

    slender: the usual height of a letter over its width. usual: the height of level words.
    """
    words = [word for _, _, word in placed]
    rotated = [
        len(word.text) > 2
        and not BROKEN.search(word.text)
        and (y1 - y0) * len(word.text) > ROTATED * slender * word.box.width
        for y0, y1, word in placed
    ]
    if not any(rotated):
        return []
    near = [(at, at + far) for at in range(len(words)) for far in range(1, BESIDE) if at + far < len(words)]
    # A short word looks like a level one, but for the rotated ones before or after it.
    for number, other in (*near, *((after, before) for before, after in reversed(near))):
        if rotated[number] and not rotated[other]:
            rotated[other] = _is_rotated_too(words[number].box, words[other], usual)
    lines = list[list[Word]]()
    for word in compress(words, rotated):
        if lines and _are_in_line(lines[-1][-1].box, word.box, usual):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _is_rotated_too(box: Rect, short: Word, usual: float) -> bool:
    """Whether a short word stands in the line of a rotated one, or in the next line beside it."""
    other = short.box
    if len(short.text) <= LONGEST_SHORT and short.text.isalpha() and _are_in_line(box, other, usual):
        return True
    if abs(other.width - box.width) > SAME_SIZE * box.width or abs(other.height - usual) <= SAME_SIZE * usual:
        return False
    return _are_in_line(box, other, usual) or (box.level(other) > 0 and box.overlap(other) > -box.width)


def _are_in_line(box: Rect, other: Rect, usual: float) -> bool:
    """Whether two words stand close in one line that runs up or down. usual: the height of level ones."""
    gap = max(box.y0, other.y0) - min(box.y1, other.y1)
    return box.overlap(other) > 0.5 * max(box.width, other.width) and gap < 0.5 * usual


def _upright_heads(
    rotated: Sequence[Sequence[Word]], level: Sequence[_Placed], usual: float
) -> Iterator[VisualLine]:
    """Yields a line for each row of rotated texts side by side that stand over values.

    level: the other words. usual: their height.
    """
    letter = median(word.box.width / len(word.text) for _, _, word in level) if level else 0.0
    lines = [(around_words(words), words) for words in rotated[:MOST_HEADS]]
    left = [box for box, _ in lines if _value_below(box, level, usual)]
    while left:
        row = [box for box in left if box.level(left[0]) > 0]
        left = [box for box in left if box not in row]
        bottom = max(box.y1 for box in row)
        heads = dict[int, list[Word]]()
        beside = [line for line in lines if line[0].level(row[0]) > 0]
        down = sum(words[-1].box.y0 - words[0].box.y0 for _, words in beside) > 0
        for box, words in sorted(beside, key=lambda line: line[0].x0, reverse=down):
            if box.y1 <= bottom and (value := _value_below(replace(box, y1=bottom), level, usual)):
                heads.setdefault(id(value), []).extend(words)
        if len(heads) > 1:
            area = around_words(chain.from_iterable(heads.values()))
            for words in heads.values():
                words[:] = [replace(word, box=replace(word.box, y0=area.y0, y1=area.y1)) for word in words]
            yield VisualLine(list(map(text_piece, heads.values())), area.y0, area.y1, letter)


def _value_below(box: Rect, level: Sequence[_Placed], usual: float) -> Word | None:
    """The word below a rotated text on the first line there, if that is a value and not far below."""
    below = [item for item in level if item[0] > box.y1 - usual / 2 and item[2].box.overlap(box) > -box.width]
    top = min((item[0] for item in below), default=math.inf)
    if top - box.y1 >= FAR_BELOW * usual:
        return None
    first = [word for y0, _, word in below if y0 < top + usual / 2]
    nearest = min(first, key=lambda word: abs(word.box.centre - box.centre))
    return nearest if words_kind(nearest.text) != "w" else None


def _levelled(words: Sequence[Word]) -> list[_Placed]:
    """Returns the words with boxes as high as a font's.

    A word that is broken at a line's end, with a box over two lines, stands where it begins.
    """
    usual = median(word.box.height for word in words)
    ink = INK * usual if any(word.confidence is not None for word in words) else 0.0
    placed = list[_Placed]()
    for word in words:
        y0, y1 = word.box.y0, word.box.y1
        if not ink and y1 - y0 > 1.5 * usual and BROKEN.search(word.text):
            y1 = y0 + usual
        placed.append((y0 - ink, y1 + ink, word))
    return placed


def _grouped(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """Returns the words of each line. placed: sorted by height."""
    groups = list[list[_Placed]]()
    top = bottom = 0.0
    for item in placed:
        y0, y1, word = item
        line_height = bottom - top
        word_height = y1 - y0
        lower = min(line_height, word_height)
        higher = max(line_height, word_height)
        smaller = word.text
        if word_height >= line_height:
            smaller = groups[-1][0][2].text if groups else ""
        mark = len(smaller) <= LONGEST_MARK and lower < MARK_HEIGHT * higher
        share = SAME_LINE_MARK if mark else SAME_LINE
        common = min(y1, bottom) - max(y0, top)
        if groups and common >= share * lower:
            groups[-1].append(item)
            # A line that a footnote mark began has the height of its words.
            if mark and word_height > line_height:
                top, bottom = y0, y1
        else:
            groups.append([item])
            top, bottom = y0, y1
    return groups


def _is_marks(group: Sequence[_Placed], low: float) -> bool:
    """Whether a line has nothing but footnote marks, set so high that they look like a line of their own."""
    return all(y1 - y0 < low and _reads_as_mark(word) for y0, y1, word in group)


def _reads_as_mark(word: Word) -> bool:
    """Whether a word is written like a footnote mark."""
    return bool(MARK.fullmatch(word.text[:LONGEST_FIGURE]))


def _line(group: Sequence[_Placed]) -> VisualLine:
    words = sorted((word for *_, word in group), key=lambda word: word.box.x0)
    letter = sum(word.box.width for word in words) / sum(len(word.text) for word in words)
    by_height = sorted(group, key=lambda item: item[1] - item[0])
    y0, y1, _ = by_height[len(by_height) // 2]
    usual = median(word.box.height for word in words)
    joiner = _WordJoiner(words, letter, MARK_HEIGHT * usual)
    return VisualLine(joiner.pieces(), y0, y1, letter)


def _is_measured(piece: Piece) -> bool:
    """Whether a text is a figure with its measure: "5 per cent"."""
    if len(piece.words) not in MEASURED_WORDS:
        return False
    last = piece.words[-1].text
    after = last.endswith("%") or words_kind(last) == "w"
    return after and words_kind(piece.words[0].text) in "vscd" and is_value(piece.text)


class _WordJoiner:
    """Joins the words of one line to values and texts."""

    def __init__(self, words: Sequence[Word], letter: float, mark: float) -> None:
        """Takes the words of a line from left to right.

        letter: the mean width of a letter.
        mark: what is lower than this is a footnote mark.
        """
        self._words, self._letter, self._mark = words, letter, mark
        self._kinds = [words_kind(word.text) for word in words]

    def pieces(self) -> list[Piece]:
        """Returns values, and texts whose words stand close.

        Texts beside a label that are figures with their measure are values, but those of time only if the
        line has other values.
        """
        pieces = list[Piece]()
        for token in self._tokens():
            if pieces and self._is_close(pieces[-1], token):
                join(pieces[-1], token)
            else:
                pieces.append(token)
        valued = any(piece.figure for piece in pieces[1:])
        for piece in filter(_is_measured, pieces[1:]):
            piece.figure |= valued or not OF_TIME.fullmatch(piece.words[-1].text)
        corner = pieces[0] if len(pieces) > 1 else None
        if (
            corner
            and corner.figure
            and stated_mark(corner.text)
            and are_periods(self._words[len(corner.words) :])
        ):
            corner.figure = False  # "NOK 1 000 2024 2023"
        return pieces

    def _is_close(self, last: Piece, token: Piece) -> bool:
        """Whether a token stands close enough to the piece before it to belong to it."""
        if last.figure:
            # A currency sign set apart begins a value of its own, however close the one before it ends.
            if token.core > token.x0:
                return False
            widest = SPACE_GAP if token.figure else UNIT_GAP
        else:
            widest = LABEL_GAP if token.figure else TEXT_GAP
        return (token.x0 - last.x1) / self._letter < widest

    def _tokens(self) -> list[Piece]:
        """Returns words, those of one value together, without leaders."""
        tokens = list[Piece]()
        before: list[Word] = []  # currency and signs that wait for their value
        for index, word in enumerate(self._words):
            kind = self._kinds[index]
            beside = index and self._kinds[index - 1] != "l"
            last = tokens[-1] if beside and tokens and tokens[-1].figure else None
            if self._waits(index):
                before.append(word)
            elif before:
                tokens.append(self._signed_value(before, index))
                before = []
            elif last and self._belongs(index, last):
                last.x1 = max(last.x1, word.box.x1)
                last.words.append(word)
                last.text += self._space(index) + word.text
            elif kind != "l" and not self._is_loose_mark(index, last):
                box = word.box
                tokens.append(Piece([word], box.x0, box.x1, kind in "vd", BROKEN.sub("-", word.text), box.x0))
        return tokens

    def _signed_value(self, before: Sequence[Word], index: int) -> Piece:
        """Makes a value of a word and the currency and signs before it."""
        word = self._words[index]
        words = [*before, word]
        core = min(part.box.x0 for part in words if words_kind(part.text) != "c")
        signs = " ".join(part.text for part in before)
        text = signs + self._space(index) + word.text
        return Piece(words, before[0].box.x0, word.box.x1, True, text, core)

    def _is_loose_mark(self, index: int, last: Piece | None) -> bool:
        """Whether the word is a footnote mark of a value, or of nothing."""
        word = self._words[index]
        is_low = word.box.height < self._mark
        return is_low and (last is not None or self._gap(index) >= LABEL_GAP) and _reads_as_mark(word)

    def _gap(self, index: int) -> float:
        """Returns the distance of a word from the one before it, in letters."""
        if not 0 < index < len(self._words):
            return FAR
        left = self._words[index - 1].box
        right = self._words[index].box
        return (right.x0 - left.x1) / self._letter

    def _space(self, index: int) -> str:
        """Returns what to write before a word of a value: nothing where its digits were split."""
        return "" if self._gap(index) < SPLIT_DIGITS_GAP else " "

    def _waits(self, index: int) -> bool:
        """Whether the word is a currency or sign of the value after it."""
        kind = self._kinds[index]
        if kind not in "cs" and self._words[index].text not in SIGNS:
            return False
        after = self._kinds[index + 1 : index + 2]
        if kind == "c":
            # The last word of a unit in the corner: "in CHF 2024 2023", "Mio. € 31 December 2024"
            is_corner = self._gap(index + 1) > SIGN_GAP and are_periods(self._words[index + 1 :])
            return after in (["v"], ["d"]) and not is_corner
        if self._gap(index + 1) > SIGN_GAP:
            return False
        if after != ["v"]:
            return kind == "s" and self._kinds[index + 1 : index + 3] == ["c", "v"]  # "( ₦ 4,312 )"
        return kind == "s" or self._gap(index) >= SIGN_GAP or self._kinds[index - 1] == "c"

    def _belongs(self, index: int, last: Piece) -> bool:
        """Whether a word continues the value before it.

        It is a unit, digits that were split off, a group of three, or the end of a range.
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
        if gap < SPLIT_DIGITS_GAP:
            return True
        return gap <= THOUSANDS_GAP and bool(OPEN_GROUP.fullmatch(last.text) and GROUP.fullmatch(word.text))

    def _is_range(self, index: int) -> bool:
        """Whether the word is the dash between the two ends of a range, or the second end."""
        dash = index if self._words[index].text in SIGNS else index - 1
        if not 0 < dash < len(self._words) - 1 or self._gap(dash) >= RANGE_GAP:
            return False
        ends = self._kinds[dash - 1], self._kinds[dash + 1]
        return self._words[dash].text in SIGNS and ends == ("v", "v")
