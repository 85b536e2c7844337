"""Gives patterns for how a list item begins: bullets, numbers and letters."""

from __future__ import annotations

import re

__all__ = [
    "BULLETS",
    "DRAWN_AS",
    "ITEM",
    "ITEM_LABEL",
    "ITEM_NUMBER",
    "ITEM_START",
    "LINE_ITEM",
    "NUMBERED_ITEM",
    "SAFE_ITEM",
    "without_item",
]

# Signs before items. Those of symbol fonts come out of a PDF in Unicode's private use area, where other fonts
# draw nothing.
BULLETS = "•‣◦▪●■□►➢➤\uf06e\uf076\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc"
DRAWN_AS = {ord(sign): "•" for sign in BULLETS if "\ue000" <= sign <= "\uf8ff"}

_NUMBER = r"\d{1,3}"
_ROMAN = "[ivx]{1,5}"
_ANY = rf"(?:{_NUMBER}|[a-zA-Z]|[ivxIVX]{{1,5}})"

# Anywhere in running text, with tables and headings of Markdown.
ITEM = re.compile(rf"[-*+–—{BULLETS}]\s|[(\[]?{_ANY}[.)\]]\s|[|#>]")
# In what a user writes: capitals only in brackets, because they may be initials.
SAFE_ITEM = re.compile(
    rf"[ \t]{{0,20}}(?:[-*+–{BULLETS}]|\(?(?:{_NUMBER}|[a-z]|{_ROMAN})[.)]|\(?(?:[A-Z]|[IVX]{{1,5}})\))[ \t]"
)
# At the start of a printed line: letters only in brackets, because a word may be broken there.
LINE_ITEM = re.compile(rf"^\s*(?:[{BULLETS}–-]|\(?[a-z]{{1,4}}\)|\(?\d{{1,2}}[.)])\s+")
# The mark alone, as the first word of a cell.
ITEM_LABEL = re.compile(rf"\((?:\d{{1,2}}|{_ROMAN}|[a-z])\)|(?:{_ROMAN}|[a-z])[.)]")
# The number without its stop: "2.3", "(iv".
ITEM_NUMBER = re.compile(rf"\s*[(\[]?{_ANY}(?:\.\d{{1,3}}){{0,4}}")
# What may stand between the start of a line and a quotation from it.
ITEM_START = re.compile(rf"[^\w\n]{{0,4}}(?:[(\[]?(?:{_NUMBER}|[a-zA-Z])[.)\]])?[^\w\n]{{0,4}}")
# Numbers that number items and are no amounts, bold or not.
NUMBERED_ITEM = (
    r"(?m)^[ \t>]{0,20}+(?:[-*•–][ \t]{1,3}+)?(?:\*\*|__)?[0-9]{1,3}+[.)](?:\*\*|__)?(?:[ \t]{1,5}+(?=\S)"
    r"|[ \t]{0,5}+$)"
)


def without_item(line: str) -> str:
    """A line without the mark of an item at its start."""
    mark = SAFE_ITEM.match(line)
    return line[mark.end() :] if mark else line
