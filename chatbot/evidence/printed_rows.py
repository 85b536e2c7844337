"""Tells whether an answer has a line or a table row exactly as the page prints it.

A row that only ends alike does not count.
"""

from __future__ import annotations

import re

from chatbot.evidence.table_cells import TableView

__all__ = ["has_line", "plain_lines", "rows_printed"]

# What may not stand beside a printed line: the rest of a word, of a number, or a sign that it lacks.
_OPEN = re.compile(r"(?:\w|[.,(−–-](?=\d)).\Z")
_GOES_ON = re.compile(r"[\w%]|[.,]\d")
REACH = 45  # characters before a line in which the word before it stands
MOST_PLACES = 20  # of one line in a text
_WORD_BEFORE = re.compile(r"([\w'’-]{1,40}) \Z")
_LABEL_END = re.compile(r"\s[^\w\s%]{0,3}\d")


def has_line(text: str, line: str, lines: str) -> bool:
    """Whether a text has a line of a page from end to end, case and blanks aside.

    It does not count as the end of another line: "Revenue 12 10" in "Other revenue 12 10", if the page has
    other revenue too. lines: the page's, as `plain_lines` gives them.
    """
    plain_text = _plain(text)
    sought = _plain(line)
    if not sought:
        return False
    at = plain_text.find(sought)
    for _ in range(MOST_PLACES):
        if at < 0:
            return False
        end = at + len(sought)
        before = plain_text[max(0, at - REACH) : at]
        touches = before and sought[0].isalnum() and _OPEN.search(before + sought[0])
        goes_on = touches or _GOES_ON.match(plain_text, end)
        if not goes_on and not _ends_another(before, sought, lines):
            return True
        at = plain_text.find(sought, at + 1)
    return False


def rows_printed(text: str, view: TableView, page: str, lines: str) -> frozenset[int]:
    """The positions of a table's rows that a text has as printed, with their labels.

    lines: the page's, as `plain_lines` gives them.
    """
    found = set()
    for number, row in enumerate(view.table.rows):
        line = page[max(0, row.start) : row.end]
        if any(map(str.isalpha, line)) and has_line(text, line, lines):
            found.add(number)
    return frozenset(found)


def _ends_another(before: str, line: str, lines: str) -> bool:
    """Whether the word before a printed line belongs to its label.

    It does if a line of the page begins like that.
    """
    word = _WORD_BEFORE.search(before)
    if word is None:
        return False
    longer = f"{word[1]} {_LABEL_END.split(line, maxsplit=1)[0]}"
    return re.search(rf"(?<!\w){re.escape(longer)}(?!\w)", lines) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def plain_lines(page: str) -> str:
    """The lines of a page, with single blanks and case-folded."""
    return "\n".join(map(_plain, page.splitlines()))
