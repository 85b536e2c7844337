"""Knows whether an answer has a line or a table's row as the page prints it, and no other that ends alike; judges no figure."""

from __future__ import annotations

import re
from functools import lru_cache

from chatbot.answer.checks.table_cells import TableView, forget_with_tables

__all__ = ["has_line", "rows_printed"]

# What may not stand beside a printed line: the rest of a word, of a number, or a sign that it lacks.
_OPEN = re.compile(r"(?:\w|[.,(−–-](?=\d)).\Z")
_GOES_ON = re.compile(r"[\w%]|[.,]\d")
REACH = 45  # characters before a line in which the word before it stands
MOST_PLACES = 20  # of one line in a text
_WORD_BEFORE = re.compile(r"([\w'’-]{1,40}) \Z")
_LABEL_END = re.compile(r"\s[^\w\s%]{0,3}\d")


def has_line(text: str, line: str, page: str) -> bool:
    """Whether a text has a line of a page from end to end, case and blanks aside, and not as the end of another: "Revenue 12 10" in "Other revenue 12 10",
    where the page knows other revenue too."""
    said, sought = _plain(text), _plain(line)
    at = said.find(sought) if sought else -1
    for _ in range(MOST_PLACES):
        if at < 0:
            return False
        end, before = at + len(sought), said[max(0, at - REACH) : at]
        touches = (before and sought[0].isalnum() and _OPEN.search(before + sought[0])) or _GOES_ON.match(said, end)
        if not touches and not _ends_another(before, sought, page):
            return True
        at = said.find(sought, at + 1)
    return False


@lru_cache(maxsize=256)  # asked for every place of every figure of the paragraph
def rows_printed(text: str, view: TableView, page: str) -> frozenset[int]:
    """The positions of a table's rows that a text has as printed, label and all."""
    lines = [page[max(0, row.start) : row.end] for row in view.table.rows]
    return frozenset(number for number, line in enumerate(lines) if any(map(str.isalpha, line)) and has_line(text, line, page))


def _ends_another(before: str, line: str, page: str) -> bool:
    """Whether the word before a printed line belongs to its label, as a line of the page shows that begins so."""
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    longer = f"{word[1]} {_LABEL_END.split(line, maxsplit=1)[0]}"
    return re.search(rf"(?<!\w){re.escape(longer)}(?!\w)", _plain_lines(page)) is not None


@lru_cache(maxsize=1_024)
def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@lru_cache(maxsize=128)
def _plain_lines(page: str) -> str:
    return "\n".join(map(_plain.__wrapped__, page.splitlines()))


for _kept in (rows_printed, _plain, _plain_lines):
    forget_with_tables(_kept.cache_clear)
