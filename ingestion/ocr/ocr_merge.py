"""Merges the lines that several OCR passes found on one image, drops noise, and lays the text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ingestion.records import Rect, Word, around_words

__all__ = ["OcrLine", "add_pass", "lay_out", "letters", "mean_confidence", "without_noise", "words_of"]

# Characters that rules, frames and specks are read as. Alone they mean nothing.
MARKS = "|¦_—–-=~.,:;'`‘’“”\"°·«»¢©®¥§*•<>\\/[]{}()!^+"
# How a table's rule at either end of a word is read.
RULES = "|¦"
# Marks that mean something alone where the reading is sure: a nil, a bullet, a unit.
MEANINGFUL = frozenset("- – — -- • * + / = § ©".split())
SURE_OF_MARK = 85
# The confidence from which words of so many letters were more often right than wrong on 30 measured pages;
# longer words nearly always were.
SURE_OF_SHORT = {1: 30, 2: 50, 3: 40}
SURE_OF_LONG = 5
# Two boxes hold the same word where they share this part of the smaller box.
SAME_PLACE = 0.3
# A second reading of a word replaces the first only where it is surer by this much: a tie says nothing.
SURER = 5.0
# ... and has at least this share of its letters: half a word may be surer than all of it.
SAME_LETTERS = 0.8
# The confidence from which a word of a further pass is believed where no other word stands. A short word,
# and any word of a pass that read mostly specks and drawings, must be surer.
BELIEVED, BELIEVED_AT_ONCE = 60, 85
SHORT = 2
# Mean confidence below which most of what a pass has read is no text: over drawings it is 20 to 30, over
# cells that were left out 70 and more.
MOSTLY_NOISE = 45
# Words on one row belong to one line where the gap between them is less than this many times their height.
WIDEST_GAP = 3.0
# Boxes stand on one row where they share this part of the lower box's height.
SAME_ROW = 0.5
# ... and neither is higher than this many times the other: a higher one is an upright rule or text that runs
# upwards.
SAME_HEIGHT = 2.5


@dataclass(frozen=True, slots=True)
class OcrLine:
    """Words of one line, left to right. first: whether it begins a paragraph."""

    words: tuple[Word, ...]
    first: bool = False


def words_of(lines: Sequence[OcrLine]) -> list[Word]:
    """All words of these lines."""
    return [word for line in lines for word in line.words]


def letters(words: Sequence[Word]) -> int:
    """How many letters and digits these words have."""
    return sum(character.isalnum() for word in words for character in word.text)


def mean_confidence(words: Sequence[Word]) -> float:
    """The mean confidence of these words' characters, 0-100; 0.0 without words."""
    total = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.sure for word in words) / total if total else 0.0


def without_noise(lines: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines without what specks and rules were read as.

    A paragraph whose first line is dropped begins with the next.
    """
    kept = list[OcrLine]()
    first = False
    for line in lines:
        first = first or line.first
        unruled = (replace(word, text=word.text.strip(RULES) or word.text) for word in line.words)
        if words := tuple(filter(_has_meaning, unruled)):
            kept.append(OcrLine(words, first))
            first = False
    return kept


def _has_meaning(word: Word) -> bool:
    count = letters([word])
    if count:
        return word.sure >= SURE_OF_SHORT.get(count, SURE_OF_LONG)
    return word.sure >= SURE_OF_MARK and (word.text in MEANINGFUL or bool(word.text.strip(MARKS)))


def add_pass(lines: Sequence[OcrLine], further: Sequence[OcrLine]) -> list[OcrLine]:
    """The lines of a first pass with what a further pass read better or where nothing stood.

    The boxes of both are on one image. The further pass is better where its words at one place, taken
    together, are surer by SURER and have not clearly fewer letters.
    """
    old = words_of(lines)
    boxes = np.array([astuple(word.box) for word in old]).reshape(-1, 4)
    noisy = mean_confidence(words_of(further)) < MOSTLY_NOISE
    new = list[OcrLine]()
    competing: list[tuple[set[int], list[Word]]] = []  # numbers of old words, the new words at their places
    for line in further:
        alone = list[Word]()
        for word in line.words:
            under = set(np.flatnonzero(_shared(boxes, word.box) >= SAME_PLACE).tolist())
            if not under:
                alone += [word] if _is_believed(word, noisy=noisy) else []
                continue
            claims = [word]
            for group in [group for group in competing if not under.isdisjoint(group[0])]:
                competing.remove(group)
                under |= group[0]
                claims += group[1]
            competing.append((under, claims))
        new += [OcrLine(tuple(words), line.first) for words in _close_together(alone)]
    replaced = dict[int, list[Word]]()
    for under, claims in competing:
        first = [old[index] for index in under]
        surer = mean_confidence(claims) >= mean_confidence(first) + SURER
        if surer and letters(claims) >= letters(first) * SAME_LETTERS:
            replaced |= {index: [] for index in under}
            replaced[min(under)] = sorted(claims, key=_left)
    result = list[OcrLine]()
    index = 0
    for line in lines:
        kept = list[Word]()
        for at in range(index, index + len(line.words)):
            kept += replaced.get(at, [old[at]])
        index += len(line.words)
        result.append(OcrLine(tuple(kept), line.first))
    for line in new:
        _put_in(result, line)
    return [line for line in result if line.words]


def _is_believed(word: Word, *, noisy: bool) -> bool:
    count = letters([word])
    least = BELIEVED_AT_ONCE if noisy or count <= SHORT else BELIEVED
    return count > 0 and word.sure >= least


def _left(word: Word) -> float:
    return word.box.x0


def _shared(boxes: NDArray[np.float64], box: Rect) -> NDArray[np.float64]:
    """How much of the smaller of the two each box shares with `box`, 0-1."""
    x0, y0, x1, y1 = boxes.T
    width = np.minimum(x1, box.x1) - np.maximum(x0, box.x0)
    height = np.minimum(y1, box.y1) - np.maximum(y0, box.y0)
    common = np.clip(width, 0, None) * np.clip(height, 0, None)
    areas = (x1 - x0) * (y1 - y0)
    smaller = np.minimum(areas, box.width * box.height)
    share: NDArray[np.float64] = common / np.maximum(smaller, 1e-12)
    return share


def _close_together(words: Sequence[Word]) -> list[list[Word]]:
    """Words of one line as stretches without a wide gap."""
    runs = list[list[Word]]()
    for word in words:
        gap = word.box.x0 - runs[-1][-1].box.x1 + 1e-9 if runs else -1
        if 0 <= gap < WIDEST_GAP * word.box.height:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def _put_in(lines: list[OcrLine], new: OcrLine) -> None:
    """Put a line where it is read: into the line of its row, else below the nearest line above it.

    A line above it in its own column goes before one that is nearer.
    """
    box = around_words(new.words)
    widest = WIDEST_GAP * new.words[0].box.height
    above = list[tuple[bool, float, int]]()
    for index, line in enumerate(lines):
        if not line.words:
            continue
        other = around_words(line.words)
        low, high = sorted((box.height, other.height))
        on_one_row = box.level(other) >= SAME_ROW * low and high <= SAME_HEIGHT * low
        if on_one_row and -box.overlap(other) < widest:
            words = sorted((*line.words, *new.words), key=_left)
            lines[index] = OcrLine(tuple(words), line.first)
            return
        if other.middle <= box.middle:
            above.append((box.overlap(other) > 0, other.y1, index))
    place = max(above)[2] + 1 if above else 0
    lines.insert(place, replace(new, first=True))


def lay_out(lines: Sequence[OcrLine]) -> tuple[str, tuple[Word, ...]]:
    """The text, an empty line between paragraphs, and the words with their offsets in it."""
    text = ""
    placed = list[Word]()
    for line in lines:
        if text:
            text += "\n\n" if line.first else "\n"
        for place, word in enumerate(line.words):
            text += " " if place else ""
            start = len(text)
            text += word.text
            placed.append(replace(word, start=start, end=len(text)))
    return text, tuple(placed)
