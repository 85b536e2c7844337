"""Finds columns of prose whose lines were drawn, or read, across all of them, and reads one after the other.

Tables, forms, lists and letters have columns too, which belong together row by row: only running prose on
both sides of a gutter is parted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise, product
from statistics import median

from ingestion.records import HorizontalExtent, Rect, VerticalExtent, Word, around_words

__all__ = ["in_columns"]

# Words this many letters apart are parted by more than a space.
GUTTER = 1.7
# A gutter passes at least so many rows with text on both sides. So many places are tried for one.
FEWEST_ROWS = 6
MOST_GUTTERS = 4
# A page with more pieces is a drawing, or hostile.
MOST_PIECES = 1000
# Lines beside each other have this share of their height in common.
SAME_ROW = 0.3
# The lines of a column have on average at least so many characters, most of them letters, and fill most of
# its width.
SHORTEST_LINES = 18
LETTERS = 0.75
FILLED = 0.6
# The share of its lines that go on with the sentence of the line before.
GOING_ON = 0.4
# In a table of texts, so many rows and this share of them begin anew on both sides.
FEWEST_TOGETHER = 2
TOGETHER = 0.6
# The greatest share of rows with text on one side only, before the shorter side ends.
ONE_SIDED = 0.3
ENDS = ".;:!?"


@dataclass(slots=True)
class _Piece(HorizontalExtent, VerticalExtent):
    """Words of one line that stand together. line: its number."""

    words: list[Word]
    line: int
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


_Pieces = Sequence[_Piece]


def in_columns(lines: Sequence[Sequence[Word]], is_ruled: Callable[[Rect], bool]) -> list[list[Word]]:
    """The lines of a page as they are read, those that cross a gutter between columns of prose parted.

    is_ruled: whether lines are drawn across an area, as those of tables are.
    """
    pieces = [_piece(words, number) for number, line in enumerate(lines) for words in _parts(line)]
    if len(pieces) <= MOST_PIECES:
        pieces = _ordered(pieces, is_ruled)
    return [_words(group) for _, group in groupby(pieces, lambda piece: piece.line)]


def _words(pieces: Iterable[_Piece]) -> list[Word]:
    return list(chain.from_iterable(piece.words for piece in pieces))


def _parts(line: Sequence[Word]) -> list[list[Word]]:
    """The words of a line, parted at wide gaps."""
    letters = sum(len(word.text) for word in line)
    widest = GUTTER * sum(word.box.width for word in line) / letters
    parts = [[line[0]]]
    for before, word in pairwise(line):
        if word.box.x0 - before.box.x1 > widest:
            parts.append([])
        parts[-1].append(word)
    return parts


def _piece(words: list[Word], line: int) -> _Piece:
    box = around_words(words)
    return _Piece(words, line, box.x0, box.y0, box.x1, box.y1)


def _ordered(pieces: _Pieces, is_ruled: Callable[[Rect], bool]) -> list[_Piece]:
    """The pieces with those of columns one column after the other."""
    for gutter in _gutters(pieces):
        for start, end in _runs(pieces, gutter):
            run = pieces[start:end]
            left = [piece for piece in run if piece.x1 <= gutter]
            right = [piece for piece in run if piece.x1 > gutter]
            if _are_columns(_rows(left), _rows(right)) and not is_ruled(around_words(_words(run))):
                parts = (pieces[:start], left, right, pieces[end:])
                return [piece for part in parts for piece in _ordered(part, is_ruled)]
    return list(pieces)


def _gutters(pieces: _Pieces) -> Iterator[float]:
    """Yields places that gaps of many rows have in common, that of most rows first."""
    gaps = [
        (before.x1, piece.x0)
        for before, piece in pairwise(pieces)
        if piece.x0 > before.x1 and piece.level(before) > 0
    ]
    for _ in range(MOST_GUTTERS):
        common, start = max(((len(_over(gaps, x)), x) for x, _ in gaps), default=(0, 0.0))
        if common < FEWEST_ROWS:
            return
        over = _over(gaps, start)
        yield (start + min(x1 for _, x1 in over)) / 2
        gaps = [gap for gap in gaps if gap not in over]


def _over(gaps: Sequence[tuple[float, float]], x: float) -> list[tuple[float, float]]:
    return [gap for gap in gaps if gap[0] <= x < gap[1]]


def _runs(pieces: _Pieces, gutter: float) -> list[tuple[int, int]]:
    """(start, end) of pieces beside each other that leave a gutter free, without rows of tables."""
    runs = list[tuple[int, int]]()
    start = at = 0
    for _, group in groupby(pieces, lambda piece: piece.line):
        row = list(group)
        # Whether a piece has letters, or is a figure that ends a sentence.
        if not all(
            (any(map(str.isalpha, piece.text)) or piece.text.endswith("."))
            and not piece.x0 < gutter < piece.x1
            for piece in row
        ):
            runs.append((start, at))
            start = at + len(row)
        at += len(row)
    return [(start, end) for start, end in (*runs, (start, at)) if end - start >= 2 * FEWEST_ROWS]


def _rows(pieces: _Pieces) -> list[_Piece]:
    """The lines of one column, each as one piece."""
    return [_piece(_words(group), line) for line, group in groupby(pieces, lambda piece: piece.line)]


def _are_columns(left: _Pieces, right: _Pieces) -> bool:
    """Whether the lines on both sides of a gutter are prose that goes on down its side, read across."""
    beside = [pair for pair in product(left, right) if pair[0].level(pair[1]) > SAME_ROW * pair[0].height]
    accompanied = {piece.line for piece in chain.from_iterable(beside)}
    # The text leads to the right and back again and again.
    order = sorted([(piece.line, False) for piece in left] + [(piece.line, True) for piece in right])
    turns = sum(before != after for (_, before), (_, after) in pairwise(order))
    if len({one.line for one, _ in beside}) < FEWEST_ROWS or turns < FEWEST_ROWS:
        return False
    last = min(left[-1].y1, right[-1].y1)
    alone = [piece for piece in (*left, *right) if piece.middle < last and piece.line not in accompanied]
    if len(alone) > ONE_SIDED * len(accompanied) or not _is_prose(left) or not _is_prose(right):
        return False
    begun, other_begun = _begun(left), _begun(right)
    together = {one.line for one, other in beside[1:] if one.line in begun and other.line in other_begun}
    return len(together) < max(FEWEST_TOGETHER, TOGETHER * (len(begun) + len(other_begun) - len(together)))


def _is_prose(lines: _Pieces) -> bool:
    """Whether these are lines of running text, wrapped where their column ends."""
    texts = [line.text for line in lines]
    shown = "".join("".join(texts).split())
    if len(shown) < SHORTEST_LINES * len(lines) or sum(map(str.isalpha, shown)) < LETTERS * len(shown):
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    if median(line.width for line in lines) < FILLED * width:
        return False
    return sum(map(_goes_on, texts[1:])) >= GOING_ON * (len(texts) - 1)


def _goes_on(text: str) -> bool:
    """Whether a line begins in the middle of a sentence."""
    return text[0].isalpha() and not text[0].isupper()


def _begun(lines: _Pieces) -> set[int]:
    """The lines that begin a paragraph or a cell: after a line that ends a sentence or ends early."""
    right = max(line.x1 for line in lines)
    width = right - min(line.x0 for line in lines)
    early = right - (1 - FILLED) * width / 2
    after = (line for before, line in pairwise(lines) if before.text[-1] in ENDS or before.x1 < early)
    return {line.line for line in after if not _goes_on(line.text)}
