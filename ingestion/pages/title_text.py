"""Tidies lines that may be titles: rules, marks and page numbers go, broken words are mended, capitals
lowered.

What a document calls itself is data of unknown origin. Lines with markup, addresses or orders to machines are
no titles.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Protocol, TypeVar

from ingestion.invisible_characters import one_line
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.formats import is_named_like_a_document

__all__ = [
    "COVER_LINES",
    "LONGEST_TITLE",
    "READ_PAGES",
    "TextPage",
    "Written",
    "cover_lines",
    "cover_pages",
    "fit_title",
    "is_shouted",
    "is_sound",
    "name_title",
    "tidied",
]

LONGEST_TITLE = 90
# Pages whose words show how the document writes a name, and the most characters read of each.
READ_PAGES = 20
READ_CHARACTERS = 6_000
# The cover, and the pages that follow while there is little on them.
COVER_PAGES = 3
COVER_LETTERS = 200
COVER_LINES = 40
# The most characters of a line that are looked at.
LONGEST_LINE = 400
# Rules drawn with characters, points between parts of a line, and boxes that are ticked or not.
RULES = re.compile(r"\s[·|•]\s|[_=~*•·–—-]{4,}|[_\s]{2,}_|[☐☑☒□■\uf000-\uf0ff]")
WORD = re.compile(r"[^\W_](?:[\w'’&.-]*[^\W_])?")
# Markup, addresses, templates and code: no person writes a title with these.
MARKUP = re.compile(r"[<>{}`|\\]|\]\(|https?:|www\.|\w@\w|\$[^\W\d]|&#?\w+;|\*\*|__|javascript:", re.I)
# What would look like a mark of this program, a key of a source or a path.
OURS = re.compile(r"[✓✔☑⚠≈]|\bS\d+-[0-9a-f]{4}|(?:^|\s)\.{0,2}/|\.\./")
# A figure drawn in place of letters that could not be read.
UNREADABLE = re.compile(r"[\ufffd\ufffe\uffff]|\(cid:|\?{2,}")
SMALL_WORDS = frozenset(
    "a an and as at by for from in into of on or per the to upon with de des du la le les et von der die das "
    "und für zu zum zur el los las y del en e da do dos das di della il".split()
)
PARTS = re.compile(r"(: |, | [–—-] )")
MOST_PIECES = 8
SHORTEST_MENDED = 4
# Fewer words than these do not tell whether a line's words are the document's.
ENOUGH_WORDS = 150
BROKEN = 0.34
COMMON = 0.2
UNUSUAL_CASE = re.compile(r"[^\W\d_]*[a-z][A-Z]|[A-Z]{2}")
SHOUTED = 0.7
FEWEST_LETTERS = 4


class TextPage(Protocol):
    """A page, as read or as stored. running: offsets of its running heads and feet."""

    @property
    def text(self) -> str: ...
    @property
    def running(self) -> tuple[tuple[int, int], ...]: ...


AnyPage = TypeVar("AnyPage", bound=TextPage)


class Written:
    """How a document writes its words, by its first pages."""

    def __init__(self, pages: Sequence[TextPage]) -> None:
        self._texts = [page.text[:READ_CHARACTERS] for page in pages[:READ_PAGES]]

    @cached_property
    def text(self) -> str:
        """The text of the first pages, blanks and line ends as one blank each."""
        return " ".join(" ".join(self._texts).split())

    @cached_property
    def _forms(self) -> dict[str, Counter[str]]:
        """Word in lower case -> how it is written, without what stands in lines of capitals."""
        forms: dict[str, Counter[str]] = {}
        for line in "\n".join(self._texts).split("\n"):
            if not is_shouted(line):
                for word in WORD.findall(line):
                    forms.setdefault(word.casefold(), Counter())[word] += 1
        return forms

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word.casefold() for word in WORD.findall(self.text))

    def has(self, line: str) -> bool:
        """Whether most of a line's words stand elsewhere in the document too, or it is too short to tell."""
        if len(self._counts) < ENOUGH_WORDS:
            return True
        words = [word.casefold() for word in WORD.findall(line) if len(word) > 1]
        unknown = sum(self._counts[word] <= words.count(word) for word in words)
        return unknown <= BROKEN * len(words)

    def knows(self, line: str) -> bool:
        """Whether the first pages have most of a line's longer words, or too few words to tell."""
        if len(self._counts) < ENOUGH_WORDS:
            return True
        words = [word.casefold() for word in WORD.findall(line) if len(word) >= FEWEST_LETTERS]
        known = sum(word in self._counts for word in words)
        return 2 * known >= len(words)

    def is_common(self, name: str) -> bool:
        """Whether a name is often in small letters, and so is a word like others: "Bank", "Auditor"."""
        forms = self._forms.get(name.casefold(), Counter())
        return forms[name.casefold()] > COMMON * forms.total()

    def mended(self, line: str) -> str:
        """A line with words joined that were torn apart: "cha nnels" where the document has "channels"."""
        words = line.split(" ")
        done: list[str] = []
        at = 0
        while at < len(words):
            size = next(
                filter(lambda size: self._is_torn(words[at : at + size]), range(MOST_PIECES, 1, -1)), 1
            )
            done.append("".join(words[at : at + size]))
            at += size
        return " ".join(done)

    def _is_torn(self, pieces: Sequence[str]) -> bool:
        """Whether pieces make up a word of the document, and at least one of them is none itself."""
        whole = "".join(pieces).strip(".,:;").casefold()
        if (
            len(pieces) < 2
            or len(whole) < SHORTEST_MENDED
            or not whole.isalnum()
            or whole not in self._counts
        ):
            return False
        return any(self._counts[piece.casefold()] < self._counts[whole] for piece in pieces)

    def lowered(self, line: str) -> str:
        """A line with its parts in capitals as the document writes these words elsewhere."""
        parts = PARTS.split(line)
        return "".join(map(self._lowered_part, parts))

    def _lowered_part(self, line: str) -> str:
        if not is_shouted(line):
            return line
        first = WORD.search(line)
        start = first.start() if first else 0
        return WORD.sub(lambda found: self._written(found[0], first=found.start() == start), line)

    def _written(self, word: str, *, first: bool) -> str:
        folded = word.casefold()
        usual = next((form for form, _ in self._forms.get(folded, Counter()).most_common(1)), "")
        if UNUSUAL_CASE.match(usual):
            return usual
        if folded in SMALL_WORDS and not first:
            return folded
        if not usual and len(word) < FEWEST_LETTERS and not re.search("[aeiouy]", folded):
            return word
        return usual if usual[:1].isupper() else _capitalised(folded)


def _capitalised(word: str) -> str:
    return re.sub(r"(?:^|(?<=-))[^\W\d_]", lambda found: found[0].upper(), word)


def is_shouted(line: str) -> bool:
    """Whether most letters of a line are capitals, in a script that has them."""
    letters = [letter for letter in line if letter.isalpha()]
    return bool(letters) and sum(map(str.isupper, letters)) > SHOUTED * len(letters)


def cover_lines(pages: Sequence[TextPage], *, running: bool = True) -> list[str]:
    """The lines of the cover, each tidied; of the pages after it too while there is little on them.

    running: whether running heads and feet are among them.
    """
    lines: list[str] = []
    for page in cover_pages(pages):
        lines += _lines_of(page, running=running)
    return lines[:COVER_LINES]


def cover_pages(pages: Sequence[AnyPage]) -> Iterator[AnyPage]:
    """The cover, and the pages after it while there is little on them."""
    there = 0
    for page in [page for page in pages[: 3 * COVER_PAGES] if page.text.strip()][:COVER_PAGES]:
        yield page
        there += sum(map(str.isalpha, page.text))
        if there >= COVER_LETTERS:
            return


def _lines_of(page: TextPage, *, running: bool) -> Iterator[str]:
    text = page.text[:READ_CHARACTERS]
    for start, end in () if running else reversed(page.running):
        text = text[:start] + "\n" + text[end:]
    for line in text.split("\n"):
        yield from tidied(line)


def tidied(line: str) -> Iterator[str]:
    """The parts of a line that rules and points do not part, each without the marks around it."""
    for part in RULES.split(line[:LONGEST_LINE]):
        line = re.sub(r"\s+(?=[,;:.](?:\s|$))", "", one_line(part))
        line = line.strip(" \"'“”•·|")
        if any(map(str.isalnum, line)):
            yield line


def is_sound(line: str) -> bool:
    """Whether a line can be shown as a title: it has words, no markup, and no orders to machines."""
    letters = sum(map(str.isalpha, line))
    if letters < FEWEST_LETTERS or 2 * letters < len(line.replace(" ", "")):
        return False
    if MARKUP.search(line) or UNREADABLE.search(line) or OURS.search(line):
        return False
    return not find_instructions(line)


def fit_title(text: str, most: int = LONGEST_TITLE) -> str:
    """Text as a title of at most so many characters: on one line, without what a formula begins with, cut
    after a whole word.
    """
    line = re.sub(r"\s--?\s", " – ", one_line(unicodedata.normalize("NFC", text))).strip(" ,;:-–—=+@*#_/")
    if len(line) <= most:
        return line
    kept = line[: most - 1]
    whole = kept.rpartition(" ")[0]
    if len(whole) > most // 2:
        kept = whole
    return f"{kept.rstrip(' ,;:-–—')}…"


@lru_cache(maxsize=4_096)  # asked for with every page that is drawn
def name_title(name: str) -> str:
    """A file's name as a title: "Net debt 2024" for "net_debt-2024.pdf".

    A name without words stays as it is, and so does one with markup or orders to machines.
    """
    stem = name
    if is_named_like_a_document(name):
        stem = name.rpartition(".")[0]
    words = re.sub(r"[_\s]+", " ", stem)
    if " " not in stem.strip():
        words = re.sub(r"(?<=[^\W\d_])-|-(?=[^\W\d_])", " ", words)
    words = fit_title(words)
    if not is_sound(words):
        return name
    return words[:1].upper() + words[1:]
