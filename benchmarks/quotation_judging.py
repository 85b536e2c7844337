"""Tells whether what an answer shows as quoted stands so on its page: letters, lines and boxes.

It uses neither the product's sentence splitter nor its citations.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ingestion.records import Rect, Word

__all__ = ["Sheet", "Shown", "plain", "shown_parts"]

Span = tuple[int, int]
Ends = Callable[[str], Sequence[int]]
ELLIPSIS = re.compile(r"\[?(?:\.\.\.+|…)\]?")
# What stands before an item of a list, and the marks of a word broken over two lines.
BULLET, ITEM, BROKEN = (
    re.compile(r"[•●▪◦‣–\-*†‡:]{1,3}"),
    re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]"),
    re.compile("[\ufffe\x02\xad]"),
)
# Share of a word's width, and of a line's letters, that a rectangle must cover to cover it.
COVERED = 0.5
# Two boxes stand on one line where their middles differ by less than this share of the lower one's height.
SAME_LINE = 0.5
# A gap to the next line this many times the usual one, or letters so much larger, begin a paragraph.
WIDE_GAP, OTHER_SIZE = 1.35, 1.12
# Lines on each side that tell how wide a column is.
AROUND = 6
# Lines before and behind a quotation that the judge is given.
MOST_LINES = 40


def plain(text: str) -> str:
    """Letters and digits alone, case-folded."""
    return "".join(letter for letter in unicodedata.normalize("NFKC", text).casefold() if letter.isalnum())


@dataclass(frozen=True, slots=True)
class Shown:
    """What a text at a key quotes. runs: spans in the page's letters, each contiguous there; whole: no gap
    without an ellipsis; headed: a head stood before it.
    """

    runs: tuple[Span, ...]
    whole: bool
    headed: bool


def shown_parts(shown: str, letters: str, near: int) -> Shown | None:
    """Where the page has what is shown: all of it, or a row without the head before it and the columns read
    out behind it. None where it has not.

    near: of several places the one next to this position.
    """
    ways = list(_ways(shown))
    for text, headed in ways:
        parts = [part for part in map(plain, ELLIPSIS.split(text)) if part]
        if runs := _placed(parts, letters, near):
            return Shown(runs, True, headed)
    for text, headed in ways:
        lines = [line for line in map(plain, re.split(r"\n|(?<=[.;:])\s", text)) if line]
        if len(lines) > 1 and (runs := _placed(lines, letters, near)):
            return Shown(_joined(runs), False, headed)
    return None


def _ways(shown: str) -> Iterator[tuple[str, bool]]:
    """(what may be quoted, whether something before it is a head), the longest first."""
    ends = [len(shown)]
    # What is read out of a row's columns stands in one pair of brackets behind it.
    ends += [match.start() for match in re.finditer(r"\s\(", shown) if _closes_last(shown[match.end() :])]
    starts = [0, *(match.end() for match in re.finditer(r":\s", shown))]
    for start in starts:
        for end in ends:
            if end > start:
                yield shown[start:end], start > 0


def _closes_last(text: str) -> bool:
    """Whether the bracket opened before this text is closed by its last character, and not before."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def _placed(parts: Sequence[str], letters: str, near: int) -> tuple[Span, ...]:
    """A place of each part behind the one before; () where they do not stand so."""
    runs: list[Span] = []
    for part in parts:
        at = letters.find(part, runs[-1][1]) if runs else _nearest(part, letters, near)
        if at < 0:
            return ()
        runs.append((at, at + len(part)))
    return tuple(runs)


def _nearest(part: str, letters: str, near: int) -> int:
    best, at = -1, letters.find(part)
    while at >= 0:
        if best < 0 or abs(at - near) < abs(best - near):
            best = at
        at = letters.find(part, at + 1)
    return best


def _joined(runs: Sequence[Span]) -> tuple[Span, ...]:
    joined = [runs[0]]
    for start, end in runs[1:]:
        if start == joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


@dataclass(frozen=True, slots=True)
class Line:
    """Words first to last of a page, on one line. box: around them. size: the median height of its words."""

    first: int
    last: int
    box: Rect
    size: float


class Sheet:
    """A page as words with boxes, in the order of its text. rows: of its tables; running: its heads and
    feet; both as spans of letters.
    """

    def __init__(
        self, words: Sequence[Word], rows: Sequence[Span] = (), running: Sequence[Span] = ()
    ) -> None:
        kept = [at for at, word in enumerate(words) if plain(word.text)]
        self.words = [words[at] for at in kept]
        items = [
            ITEM.fullmatch(words[at].text) or (at > 0 and BULLET.fullmatch(words[at - 1].text)) for at in kept
        ]
        self.items = [bool(item) for item in items]
        parts = [plain(word.text) for word in self.words]
        self.letters = "".join(parts)
        self.owner = [index for index, part in enumerate(parts) for _ in part]
        self.starts = [0]
        for part in parts:
            self.starts.append(self.starts[-1] + len(part))
        self.rows = frozenset(rows)
        self.lines = _lines(self.words)
        self.line_of = [
            number for number, line in enumerate(self.lines) for _ in range(line.first, line.last + 1)
        ]
        leads = [
            below.box.y1 - above.box.y1 for above, below in zip(self.lines, self.lines[1:], strict=False)
        ]
        apart = [span for span in (*rows, *running) if span[0] < span[1]]
        self.apart = {self.line_of[index] for span in apart for index in self.words_of(span)}
        self.lead = statistics.median([lead for lead in leads if lead > 0] or [1.0])

    def words_of(self, span: Span) -> list[int]:
        """Which words have letters in a span."""
        return list(range(self.owner[span[0]], self.owner[span[1] - 1] + 1))

    def is_row(self, span: Span) -> bool:
        """Whether the span is a table's row, or whole lines that hold a figure, of which each but the last
        is shorter than a line.
        """
        if span in self.rows:
            return True
        first, last = (self.lines[self.line_of[self.owner[at]]] for at in (span[0], span[1] - 1))
        whole = span == (self.starts[first.first], self.starts[last.last + 1])
        return whole and any(map(str.isdigit, self.letters[span[0] : span[1]])) and first == last

    def place(self, quote: str, near: int) -> Span | None:
        """Where a located quotation stands, next to a position; None where the page has it not."""
        wanted = plain(quote)
        at = _nearest(wanted, self.letters, near) if wanted else -1
        return (at, at + len(wanted)) if at >= 0 else None

    def cuts(self, span: Span, ends: Ends) -> tuple[str, ...]:
        """ "begins" and "ends" where the span does so inside a sentence as the judge cuts the paragraph
        around it.
        """
        first, last = self.line_of[self.owner[span[0]]], self.line_of[self.owner[span[1] - 1]]
        top, bottom = first, last
        while top > max(0, first - MOST_LINES) and not self._parted(top):
            top -= 1
        while bottom + 1 < min(len(self.lines), last + MOST_LINES) and not self._parted(bottom + 1):
            bottom += 1
        words = range(self.lines[top].first, self.lines[bottom].last + 1)
        text, places = "", []
        for index in words:
            text += (" " if text else "") + self.words[index].text
            places.append(len(text))
        cut = set()
        for end in ends(text):
            behind = [place for place in places if place <= end]
            cut.add(
                self.starts[words[len(behind)]] if len(behind) < len(words) else self.starts[words[-1] + 1]
            )
        allowed = {self.starts[words[0]], self.starts[words[-1] + 1], *cut}
        allowed |= {
            self.starts[self.lines[line].first] for line in range(top, bottom + 1) if self._parted(line)
        }
        return tuple(what for what, at in (("begins", span[0]), ("ends", span[1])) if at not in allowed)

    def _parted(self, line: int) -> bool:
        """Whether a paragraph may end before this line, by its looks: a gap, another size, or room for its
        first word on the line before.
        """
        if line == 0:
            return True
        here, above = self.lines[line], self.lines[line - 1]
        if self.items[here.first]:
            return True
        if self.words[here.first].text[:1].islower():
            return False
        if line in self.apart or line - 1 in self.apart:
            return True
        down = here.box.y1 - above.box.y1
        size = max(here.size, above.size) / max(1e-6, min(here.size, above.size))
        if size > OTHER_SIZE or down > WIDE_GAP * self.lead:
            return True
        if not _share(above.box, here.box):
            return False
        around = self.lines[max(0, line - AROUND) : line + AROUND]
        edge = max(other.box.x1 for other in around if _share(other.box, above.box))
        word = self.words[here.first].box
        return above.box.x1 + (word.x1 - word.x0) + 0.01 < edge

    def missed(self, span: Span, rectangles: Sequence[Rect]) -> list[str]:
        """The words of a span that no rectangle covers. One that is broken over two lines has no box of
        its own.
        """
        words = [self.words[index] for index in self.words_of(span)]
        whole = [word for word in words if not BROKEN.search(word.text)]
        return [word.text for word in whole if not _covered(word.box, rectangles)]

    def foreign(self, spans: Sequence[Span], rectangles: Sequence[Rect]) -> list[str]:
        """Whole lines without a word of the spans, which the rectangles cover. Where a page was also read
        from its image, a line stands there twice; a note's raised number is a line to PDFium."""
        own = {self.line_of[index] for span in spans for index in self.words_of(span)}
        quoted = "".join(self.letters[slice(*span)] for span in spans)
        found = []
        for number, line in enumerate(self.lines):
            words = self.words[line.first : line.last + 1]
            twice = self.letters[self.starts[line.first] : self.starts[line.last + 1]] in quoted
            if number in own or twice or not any(map(str.isalpha, words[0].text + words[-1].text)):
                continue
            if all(_covered(word.box, rectangles) for word in words):
                found.append(" ".join(word.text for word in words))
        return found


def _covered(box: Rect, rectangles: Sequence[Rect]) -> bool:
    return any(_covers(one, box) for one in rectangles)


def _lines(words: Sequence[Word]) -> list[Line]:
    lines: list[Line] = []
    first = 0
    for index in range(1, len(words) + 1):
        if index < len(words) and _goes_on(words[index - 1].box, words[index].box):
            continue
        boxes = [word.box for word in words[first:index]]
        around = Rect(
            min(b.x0 for b in boxes),
            min(b.y0 for b in boxes),
            max(b.x1 for b in boxes),
            max(b.y1 for b in boxes),
        )
        lines.append(Line(first, index - 1, around, statistics.median(b.y1 - b.y0 for b in boxes)))
        first = index
    return lines


def _goes_on(before: Rect, after: Rect) -> bool:
    height = max(1e-6, min(before.y1 - before.y0, after.y1 - after.y0))
    return (
        abs((before.y0 + before.y1) - (after.y0 + after.y1)) / 2 < SAME_LINE * height
        and after.x0 >= before.x0
    )


def _share(first: Rect, second: Rect) -> bool:
    return min(first.x1, second.x1) > max(first.x0, second.x0)


def _covers(rectangle: Rect, word: Rect) -> bool:
    across = min(rectangle.x1, word.x1) - max(rectangle.x0, word.x0)
    middle = (word.y0 + word.y1) / 2
    return across > COVERED * (word.x1 - word.x0) - 1e-6 and rectangle.y0 <= middle <= rectangle.y1
