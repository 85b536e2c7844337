"""Tells how the lines of a cover are set, and tidies those that may be titles.

Sizes are those of the boxes of lines. Where they are not known, or OCR measured them, lengths decide alone.
What a document calls itself is data of unknown origin: rules, marks and page numbers go, broken words are
mended, capitals lowered, and lines with markup, addresses or orders to machines are no titles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from textwrap import shorten
from typing import Protocol

from ingestion.invisible_characters import one_line
from ingestion.language.sentences import is_finished, sentences
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.formats import is_named_like_a_document
from ingestion.records import Line, Rect, Span

__all__ = [
    "LONGEST_TITLE",
    "READ_PAGES",
    "CoverLine",
    "TextPage",
    "Written",
    "cover_lines",
    "fit_title",
    "is_sound",
    "name_title",
]

# The cover, and the pages that follow while there is little on them.
COVER_PAGES = 3
COVER_LETTERS = 200
COVER_LINES = 40
# The most characters that are looked at of a page.
READ_CHARACTERS = 6_000
# Rules drawn with characters, points between parts of a line, and boxes that are ticked or not.
RULES = re.compile(r"\s[·|•]\s|[_=~*•·–—-]{4,}|[_\s]{2,}_|[☐☑☒□■\uf000-\uf0ff]")
# What readers have filled in or noted, which names no document.
SET_BY_READERS = ("[field] ", "[note] ")
# How much larger than the text a line is that is set apart by its size.
LARGE = 1.1
# A longer line is of running text in columns, whose box is as high as its columns are out of step.
LONGEST_LARGE = 70
# A line of running text takes this share of the longest of the next lines, and these have so many characters.
FULL, SHORTEST_MEASURE = 0.85, 40
LINES_BELOW = 2
# Where sizes are not known a full line of running text has several small words in a row.
SMALL_WORDS = re.compile(r"(?: [a-z]+){3}")
# A line that wraps into one in small letters has more words than these, or it is a title's.
MOST_SMALL = 5
SHOUTED = 0.7


LONGEST_TITLE = 90
# Pages whose words show how the document writes a name.
READ_PAGES = 20
WORD = re.compile(r"[^\W_](?:[\w'’&.-]*[^\W_])?")
# What no person writes a title with: markup, addresses, templates and code; what would look like a mark of
# this program, a key of a source or a path; figures drawn in place of letters that could not be read.
UNSOUND = re.compile(
    r"(?i)[<>{}`|\\✓✔☑⚠≈\ufffd\ufffe\uffff]|\]\(|https?:|www\.|\w@\w|\$[^\W\d]|&#?\w+;|\*\*|__|javascript:"
    r"|\bS\d+-[0-9a-f]{4}|(?:^|\s)\.{0,2}/|\.\./|\(cid:|\?{2,}",
)
LOWERED_WORDS = frozenset(
    "a an and as at by for from in into of on or per the to upon with de des du la le les et von der die das "
    "und für zu zum zur el los las y del en e da do dos das di della il".split()
)
PARTS = re.compile(r"(: |, | [–—-] )")
MOST_PIECES = 8
# Fewer words than these do not tell whether a line's words are the document's.
ENOUGH_WORDS = 150
UNUSUAL_CASE = re.compile(r"[^\W\d_]*[a-z][A-Z]|[A-Z]{2}")
FEWEST_LETTERS = 4


class TextPage(Protocol):
    """A page, as read or as stored, with what Page has; lines is () where their places are not kept."""

    @property
    def text(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def lines(self) -> tuple[Line, ...]: ...
    @property
    def running(self) -> tuple[Span, ...]: ...


@dataclass(frozen=True, slots=True)
class CoverLine:
    """A part of a line of a cover.

    size: as a multiple of the text's, 1 where it is not larger. is_running: of a running head or foot.
    """

    text: str
    size: float
    box: Rect | None
    is_running: bool
    is_prose: bool = False


def cover_lines(pages: Sequence[TextPage]) -> list[CoverLine]:
    """The lines of the cover, each tidied; of the pages after it too while there is little on them."""
    characters: Counter[float] = Counter()
    for page in pages:
        for line in _level(page):
            characters[round(line.box.height, 3)] += line.end - line.start
    usual = max(characters, key=lambda height: characters[height], default=1.0)
    lines = list[CoverLine]()
    for page in pages[:COVER_PAGES]:
        lines += _tidied(list(_lines(page, usual)))
        if sum(map(str.isalpha, page.text)) >= COVER_LETTERS:
            break
    return lines[:COVER_LINES]


def _level(page: TextPage) -> list[Line]:
    """The level lines of a text layer."""
    return [line for line in page.lines if page.method == "text" and 0 < line.box.height < line.box.width]


def _lines(page: TextPage, usual: float) -> Iterator[CoverLine]:
    boxes = {line.start: line.box for line in _level(page)}
    for found in re.finditer(r"\S.*", page.text[:READ_CHARACTERS]):
        if found[0].startswith(SET_BY_READERS):
            continue
        box = boxes.get(found.start())
        size = box.height / usual if box and len(found[0]) <= LONGEST_LARGE else 1.0
        is_running = any(first <= found.start() < last for first, last in page.running)
        yield CoverLine(found[0].strip(), size if size > LARGE else 1.0, box, is_running)


def _tidied(lines: Sequence[CoverLine]) -> Iterator[CoverLine]:
    """The parts of lines that rules and points do not part, each without the marks around it."""
    goes_on = False
    for at, line in enumerate(lines):
        is_prose = False
        if not line.is_running:
            is_prose = line.size == 1 and (goes_on or _is_prose(line, lines[at + 1 :][:LINES_BELOW]))
            goes_on = is_prose and not is_finished(line.text)
        for part in RULES.split(line.text):
            text = re.sub(r"\s+(?=[,;:.](?:\s|$))", "", one_line(part)).strip(" \"'“”•·|")
            if any(map(str.isalnum, text)):
                yield replace(line, text=text, is_prose=is_prose)


def _is_prose(line: CoverLine, below: Sequence[CoverLine]) -> bool:
    """Whether a line is of a paragraph: it has the end of a sentence, or goes on in the next line."""
    if len(sentences(line.text)) > 1:
        return True
    if not below or _is_shouted(line.text):
        return False
    goes_on = below[0].text[0].islower()
    measure = max(len(other.text) for other in below)
    if measure >= SHORTEST_MEASURE and len(line.text) >= FULL * measure:
        return goes_on or bool(line.box or SMALL_WORDS.search(line.text))
    return goes_on and len(line.text.split()) > MOST_SMALL


def _is_shouted(line: str) -> bool:
    """Whether most letters of a line are capitals, in a script that has them."""
    return sum(map(str.isupper, line)) > SHOUTED * sum(map(str.isalpha, line))


class Written:
    """How a document writes its words, by its first pages."""

    def __init__(self, pages: Sequence[TextPage]) -> None:
        text = "\n".join(page.text[:READ_CHARACTERS] for page in pages[:READ_PAGES])
        # The text of the first pages, blanks and line ends as one blank each.
        self.text = " ".join(text.split())
        self._counts = Counter(WORD.findall(self.text.casefold()))
        # Word in lower case -> how it is written, without what stands in lines of capitals.
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for line in text.split("\n"):
            if not _is_shouted(line):
                for word in WORD.findall(line):
                    self._forms[word.casefold()][word] += 1

    def knows(self, line: str, times: int = 1) -> bool:
        """Whether the first pages have most of a line's longer words so often, or too few words to tell."""
        words = [word for word in WORD.findall(line.casefold()) if len(word) >= FEWEST_LETTERS]
        known = sum(self._counts[word] >= times for word in words)
        return len(self._counts) < ENOUGH_WORDS or 2 * known >= len(words)

    def mended(self, line: str) -> str:
        """A line with words joined that were torn apart: "cha nnels" where the document has "channels"."""
        words = line.split()
        for size in range(MOST_PIECES, 1, -1):
            for at in range(len(words)):
                pieces = words[at : at + size]
                joined = "".join(pieces)
                times = self._counts[joined.strip(".,:;").casefold()]
                torn = [piece for piece in pieces if self._counts[piece.casefold()] < times]
                if torn and len(joined) >= FEWEST_LETTERS:
                    words[at : at + size] = [joined]
        return " ".join(words)

    def lowered(self, line: str) -> str:
        """A line with its parts in capitals as the document writes these words elsewhere."""
        parts = PARTS.split(line)
        for at, part in enumerate(parts):
            if _is_shouted(part):
                parts[at] = WORD.sub(self._written, part)
        return "".join(parts)

    def _written(self, found: re.Match[str]) -> str:
        folded = found[0].casefold()
        usual = max(self._forms[folded], key=self._forms[folded].__getitem__, default="")
        if UNUSUAL_CASE.match(usual):
            return usual
        if folded in LOWERED_WORDS and WORD.search(found.string, 0, found.start()):
            return folded
        if usual[:1].isupper():
            return usual
        return re.sub(r"(?:^|(?<=-))[^\W\d_]", lambda first: first[0].upper(), folded)


def is_sound(line: str) -> bool:
    """Whether a line can be shown as a title: it has words, no markup, and no orders to machines."""
    is_worded = sum(map(str.isalpha, line)) >= max(FEWEST_LETTERS, len(line.replace(" ", "")) / 2)
    return is_worded and not UNSOUND.search(line) and not find_instructions(line)


def fit_title(text: str, most: int = LONGEST_TITLE) -> str:
    """Text as a title of at most so many characters: on one line, without what a formula begins with, cut
    after a whole word.
    """
    line = re.sub(r"\s--?\s", " – ", one_line(text)).strip(" ,;:-–—=+@*#_/")
    return shorten(line, most, placeholder="…")


@lru_cache(maxsize=4_096)  # asked for with every page that is drawn
def name_title(name: str) -> str:
    """A file's name as a title: "Net debt 2024" for "net_debt-2024.pdf".

    A name without words stays as it is, and so does one with markup or orders to machines.
    """
    stem = name.rpartition(".")[0] if is_named_like_a_document(name) else name
    words = re.sub(r"[_\s]+", " ", stem)
    if " " not in stem:
        words = re.sub(r"(?<=[^\W\d_])-|-(?=[^\W\d_])", " ", words)
    words = fit_title(words)
    return words[:1].upper() + words[1:] if is_sound(words) else name
