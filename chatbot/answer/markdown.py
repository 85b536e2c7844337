"""Turns a chat model's Markdown into HTML: paragraphs, lists, tables, bold and code, and nothing else.

Links, images and HTML stay text as they were written: what a model was tricked into must not load anything or
lead anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.token import Token

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from ingestion.language.currencies import DRAWN_SIGNS

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore

__all__ = ["formatted_html"]

RULES = ("table", "fence", "list", "heading", "hr", "newline", "escape", "backticks", "emphasis")
# Private characters stand for the HTML that is put in. Markdown takes them for letters; a text's own are
# dropped.
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_OPEN = "\ue000"
_CLOSE = "\ue001"
_STAR = "\ue002"
_DIGITS = 0xE010
# Stands before a key and behind a statement, where bold text must end as it does before a space. It is not
# shown.
_GAP = "\u2005"
_UNSAID = f" .{_GAP}"
_PLACED = re.compile(f"{_OPEN}([{chr(_DIGITS)}-{chr(_DIGITS + 9)}]+){_CLOSE}")
# "3*4" is a product.
_TIMES = re.compile(rf"(?<=[0-9)%{_CLOSE}])(\s?)\*(?=\s?[0-9({DRAWN_SIGNS}{_OPEN}])")
_TAG = re.compile(r"<[^>]*>")
# What is no text in HTML: the numbers of list items and the language of code.
_UNSHOWN = re.compile(
    r"^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+|(?<=```)[^`\n]*$|(?<=~~~).*$", re.MULTILINE
)
# The HTML may be so many times as long as the text, with an allowance for short texts. A head of many cells
# makes each of its rows as long.
MOST_GROWTH, LEAST_HTML = 20, 10_000
_NO_HEAD = '<th scope="col"></th>'
# These may hold text of another direction than the page's.
_DIRECTED = frozenset(("paragraph_open", "heading_open", "list_item_open", "td_open"))


def formatted_html(text: str, marks: Iterable[tuple[int, int, str]] = ()) -> str:
    """The text as HTML.

    marks: (start, end, HTML to put there), in order and apart; where start is end, the HTML is added.
    """
    plain = _PRIVATE.sub("\ufffd", text)
    placed: list[str] = []
    pieces: list[str] = []
    position = 0
    for start, end, html in marks:
        pieces.append(plain[position:start])
        if KEYS_IN_BRACKETS.match(plain, start) or html.startswith(" "):
            pieces.append(_GAP)
        pieces.append(_placeholder(len(placed)))
        placed.append(html)
        position = end
    pieces.append(plain[position:])
    written = _TIMES.sub(rf"\1{_STAR}", "".join(pieces))
    html = _rendered(written)
    if not _is_whole(written, html, len(placed)):
        html = f'<p dir="auto">{escape(written).replace(chr(10), "<br>")}</p>\n'
    html = html.replace(f"{_GAP}{_OPEN}", _OPEN).replace(_STAR, "*")
    return _PLACED.sub(lambda found: placed[_number(found[1])], html)


def _placeholder(number: int) -> str:
    """What stands in the text for the n-th HTML that is put in."""
    digits = "".join(chr(_DIGITS + int(digit)) for digit in str(number))
    return f"{_OPEN}{digits}{_CLOSE}"


def _rendered(text: str) -> str:
    lines = map(_within_row, text.split("\n"))
    html: str = _markdown().render("\n".join(lines))
    return html.replace(_NO_HEAD, "<td></td>").replace("<br>\n", "<br>")


def _is_whole(written: str, html: str, placed: int) -> bool:
    """Whether Markdown left out nothing that was put in, and no letter or figure.

    It leaves out the cells that a table has no head for. placed: how many pieces of HTML were put in.
    """
    if len({found[1] for found in _PLACED.finditer(html)}) < placed:
        return False
    if len(html) > MOST_GROWTH * len(written) + LEAST_HTML:
        return False
    shown = sum(map(str.isalnum, unescape(_TAG.sub("", html))))
    return shown >= sum(map(str.isalnum, _UNSHOWN.sub("", written)))


def _within_row(line: str) -> str:
    """A row that has what was put, or cited, behind its last bar in its last cell: no other can hold it."""
    if not line.lstrip().startswith("|"):
        return line
    row, _, behind = line.rpartition("|")
    beside = KEYS_IN_BRACKETS.sub("", _PLACED.sub("", behind)).strip(_UNSAID)
    if beside or not behind.strip(_UNSAID):
        return line
    return f"{row.rstrip()} {behind.strip()} |"


def _number(digits: str) -> int:
    """The number of a placeholder."""
    return int("".join(str(ord(digit) - _DIGITS) for digit in digits))


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("zero", {"html": False, "breaks": True}).enable(list(RULES))
    made.core.ruler.push("safe", _plainer)
    return made


def _plainer(state: StateCore) -> None:
    """Makes headings bold paragraphs, for they are no headings of the page that shows the answer.

    Drops the language of code and the alignment of columns, which have no use there.
    """
    for at, token in enumerate(state.tokens):
        match token.type:
            case "heading_open":
                token.tag = "p"
                heading = state.tokens[at + 1]
                begin = Token("strong_open", "strong", 1)
                end = Token("strong_close", "strong", -1)
                heading.children = [begin, *(heading.children or []), end]
            case "heading_close":
                token.tag = "p"
            case "table_open":
                token.attrs = {"class": "told"}
            case "th_open":
                token.attrs = {"scope": "col"}
            case "td_open":
                token.attrs = {}
            case "fence":
                token.info = ""
        if token.type in _DIRECTED:
            token.attrSet("dir", "auto")
