"""Tidies lines that may be titles: rules, marks and page numbers go, broken words are mended, capitals
lowered.

What a document calls itself is data of unknown origin. Lines with markup, addresses or orders to machines are
no titles.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from textwrap import shorten

from ingestion.invisible_characters import one_line
from ingestion.pages.title_setting import READ_CHARACTERS, TextPage, is_shouted
from ingestion.prompt_injection.injections import find_instructions
from ingestion.reading.formats import is_named_like_a_document

__all__ = ["LONGEST_TITLE", "READ_PAGES", "Written", "fit_title", "is_sound", "name_title"]

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
            if not is_shouted(line):
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
            if is_shouted(part):
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
