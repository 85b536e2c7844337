"""Lines that OCR passes over one image found: judges words by their confidence, merges passes, lays text
out; runs no OCR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ingestion.records import Rect, Word, around

__all__ = ["OcrLine", "add_pass", "lay_out", "letters", "mean_confidence", "without_noise", "words_of"]

# What rules, frames and specks are read as. None of it says anything where it stands alone.
MARKS = "|¦_—–-=~.,:;'`‘’“”\"°·«»¢©®¥§*•<>\\/[]{}()!^+"
# The rule of a table at either end of a word.
RULES = "|¦"
# Marks that say something alone: a nil, a bullet, a unit, where the reading is sure.
MEANINGFUL = frozenset({"-", "–", "—", "--", "•", "*", "+", "/", "=", "§", "©"})
SURE_OF_MARK = 85
# The confidence from which words of so many letters were right rather than wrong on 30 measured pages; longer
# ones nearly always.
SURE_OF_SHORT = {1: 30, 2: 50, 3: 40}
SURE_OF_LONG = 5
# Two boxes hold the same word where they share this part of the smaller one.
SAME_PLACE = 0.3
# A second reading of a word replaces the first only where it is surer by this much: a tie says nothing.
SURER = 5.0
# ... and where it has at least this share of its letters: half a word may be surer than all of it.
SAME_LETTERS = 0.8
# A word of a further pass, where no other stands, is believed from here; a short one, and any of a pass that
# read mostly specks and drawings, only when it is sure.
BELIEVED, BELIEVED_AT_ONCE = 60, 85
SHORT = 2
# Mean confidence below which a pass has read mostly what is no text; over drawings it is 20 to 30, over
# left-out cells 70 and more.
MOSTLY_NOISE = 45
# Words on one row stand in one line where less than this many of their heights lies between them.
WIDEST_GAP = 3.0
# Boxes stand on one row where they share this part of the lower one's height.
SAME_ROW = 0.5
# ... and are no higher than this many times the other: what is, is no line of text but an upright rule, or
# text that runs upwards.
SAME_HEIGHT = 2.5


@dataclass(frozen=True, slots=True)
class OcrLine:
    """Words of one line, left to right. first: it begins a paragraph."""

    words: tuple[Word, ...]
    first: bool = False


def words_of(lines: Sequence[OcrLine]) -> list[Word]:
    """All words of some lines."""
    return [word for line in lines for word in line.words]


def letters(words: Sequence[Word]) -> int:
    """Letters and digits in all."""
    return sum(character.isalnum() for word in words for character in word.text)


def mean_confidence(words: Sequence[Word]) -> float:
    """The mean confidence of these words' characters, 0-100; 0.0 without words."""
    total = sum(len(word.text) for word in words)
    if total:
        return sum(len(word.text) * word.sure for word in words) / total
    return 0.0


def without_noise(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines without what specks and rules were read as; a paragraph whose first line goes begins with
    the next.
    """
    kept: list[OcrLine] = []
    first = False
    for line in lines:
        first = first or line.first
        words = tuple(
            clean
            for word in line.words
            if _says_something(clean := replace(word, text=word.text.strip(RULES) or word.text))
        )
        if words:
            kept.append(OcrLine(words, first))
            first = False
    return kept


def _says_something(word: Word) -> bool:
    count = letters([word])
    if count:
        return word.sure >= SURE_OF_SHORT.get(count, SURE_OF_LONG)
    return word.sure >= SURE_OF_MARK and (word.text in MEANINGFUL or bool(word.text.strip(MARKS)))


def add_pass(lines: Sequence[OcrLine], further: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines of a first pass with what a further pass read better, and with what it read where nothing
    stood.

    Boxes of both are on one image. Better: the words at one place, taken together, are surer by SURER and no
    fewer letters.
    """
    old = words_of(lines)
    places = _Places(old)
    new: list[OcrLine] = []
    noisy = mean_confidence(words_of(further)) < MOSTLY_NOISE
    for line in further:
        alone = [word for word in line.words if not places.claim(word) and _is_believed(word, noisy=noisy)]
        new += [OcrLine(tuple(words), line.first) for words in _close_together(alone)]
    put = places.replaced()
    result, index = [], 0
    for line in lines:
        words = tuple(word for at in range(index, index + len(line.words)) for word in put.get(at, [old[at]]))
        index += len(line.words)
        result.append(OcrLine(words, line.first))
    for line in new:
        _put_in(result, line)
    return [line for line in result if line.words]


def _is_believed(word: Word, *, noisy: bool) -> bool:
    count = letters([word])
    return count > 0 and word.sure >= (BELIEVED_AT_ONCE if noisy or count <= SHORT else BELIEVED)


class _Places:
    """Words of a first pass, and what a further pass has read at the same places."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self._boxes = np.array([astuple(word.box) for word in words]).reshape(-1, 4)
        self._group: dict[int, int] = {}
        self._claims: dict[int, list[Word]] = {}

    def claim(self, word: Word) -> bool:
        """True where words of the first pass stand at this word's place, which it now competes for."""
        under = [int(index) for index in np.flatnonzero(_shared(self._boxes, word.box) >= SAME_PLACE)]
        if not under:
            return False
        group = min([under[0], *(self._group[index] for index in under if index in self._group)])
        joined = {self._group[index] for index in under if index in self._group} - {group}
        for index, of in self._group.items():
            if of in joined:
                self._group[index] = group
        claims = [claim for other in sorted(joined) for claim in self._claims.pop(other)]
        self._group.update(dict.fromkeys(under, group))
        self._claims.setdefault(group, []).extend([*claims, word])
        return True

    def replaced(self) -> dict[int, list[Word]]:
        """Number of a word of the first pass -> what takes its place, nothing for the others of its group.
        Only where that is better.
        """
        put: dict[int, list[Word]] = {}
        for group, claims in self._claims.items():
            indexes = sorted(index for index, of in self._group.items() if of == group)
            old = [self._words[index] for index in indexes]
            if (
                mean_confidence(claims) >= mean_confidence(old) + SURER
                and letters(claims) >= letters(old) * SAME_LETTERS
            ):
                put |= {index: [] for index in indexes}
                put[indexes[0]] = sorted(claims, key=lambda word: word.box.x0)
        return put


def _shared(boxes: NDArray[np.float64], box: Rect) -> NDArray[np.float64]:
    """How much of the smaller of the two each box shares with `box`, 0-1."""
    width = np.minimum(boxes[:, 2], box.x1) - np.maximum(boxes[:, 0], box.x0)
    height = np.minimum(boxes[:, 3], box.y1) - np.maximum(boxes[:, 1], box.y0)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    smaller = np.minimum(areas, box.width * box.height)
    share: NDArray[np.float64] = (
        np.clip(width, 0, None) * np.clip(height, 0, None) / np.maximum(smaller, 1e-12)
    )
    return share


def _close_together(words: Sequence[Word]) -> list[list[Word]]:
    """Words of one line as stretches without a wide gap."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and 0 <= word.box.x0 - runs[-1][-1].box.x1 + 1e-9 < WIDEST_GAP * word.box.height:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _put_in(lines: list[OcrLine], new: OcrLine) -> None:
    """Put a line where it is read: into the line on whose row it stands, else below the nearest line above
    it, of its own column where there is one."""
    box = around(word.box for word in new.words)
    below: list[tuple[bool, float, int]] = []
    for index, line in enumerate(lines):
        if not line.words:
            continue
        other = around(word.box for word in line.words)
        if _on_one_row(box, other) and -box.overlap(other) < WIDEST_GAP * new.words[0].box.height:
            lines[index] = OcrLine(
                tuple(sorted((*line.words, *new.words), key=lambda word: word.box.x0)), line.first
            )
            return
        if other.middle <= box.middle:
            below.append((box.overlap(other) > 0, other.y1, index))
    lines.insert(max(below)[2] + 1 if below else 0, replace(new, first=True))


def _on_one_row(first: Rect, second: Rect) -> bool:
    low, high = sorted((first.height, second.height))
    return first.level(second) >= SAME_ROW * low and high <= SAME_HEIGHT * low


def lay_out(lines: Sequence[OcrLine]) -> tuple[str, tuple[Word, ...]]:
    """The text, an empty line between paragraphs, and the words with their offsets in it."""
    text = ""
    placed: list[Word] = []
    for line in lines:
        text += "" if not text else "\n\n" if line.first else "\n"
        for place, word in enumerate(line.words):
            text += " " if place else ""
            placed.append(replace(word, start=len(text), end=len(text) + len(word.text)))
            text += word.text
    return text, tuple(placed)
