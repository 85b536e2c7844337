"""A chat model's Markdown as HTML in which nothing else takes effect: paragraphs, lists, tables, bold, code;
checks nothing.

Links, images and HTML stay text as they were written: what a model was talked into must not be loaded, nor
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
# Private characters stand for what is put in, which Markdown takes for letters; a text's own go.
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_OPEN = "\ue000"
_CLOSE = "\ue001"
_STAR = "\ue002"
_DIGITS = 0xE010
# Before a key and behind a statement, which end what is bold as a space does; no space is shown.
_GAP = "\u2005"
_UNSAID = f" .{_GAP}"
_PLACED = re.compile(f"{_OPEN}([{chr(_DIGITS)}-{chr(_DIGITS + 9)}]+){_CLOSE}")
# "3*4" is a product.
_TIMES = re.compile(rf"(?<=[0-9)%{_CLOSE}])(\s?)\*(?=\s?[0-9({DRAWN_SIGNS}{_OPEN}])")
_TAG = re.compile(r"<[^>]*>")
# Numbers of items, which are no text in HTML, and the language of code.
_UNSHOWN = re.compile(
    r"^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)+|(?<=```)[^`\n]*$|(?<=~~~).*$", re.MULTILINE
)
# A head of many cells makes each of its rows as long.
MOST_GROWTH, LEAST_HTML = 20, 10_000
_NO_HEAD = '<th scope="col"></th>'
# Text of another direction than the page's.
_DIRECTED = frozenset(("paragraph_open", "heading_open", "list_item_open", "td_open"))


def formatted_html(text: str, marks: Iterable[tuple[int, int, str]] = ()) -> str:
    """The text as HTML. marks: (start, end, HTML to stand there), in order and apart; an empty stretch
    adds what stands there.
    """
    plain = _PRIVATE.sub("\ufffd", text)
    placed: list[str] = []
    pieces: list[str] = []
    position = 0
    for start, end, html in marks:
        if KEYS_IN_BRACKETS.match(plain, start) or html.startswith(" "):
            gap = _GAP
        else:
            gap = ""
        pieces += [
            plain[position:start],
            f"{gap}{_OPEN}{''.join(chr(_DIGITS + int(digit)) for digit in str(len(placed)))}{_CLOSE}",
        ]
        placed.append(html)
        position = end
    written = _TIMES.sub(rf"\1{_STAR}", "".join([*pieces, plain[position:]]))
    html = (
        _markdown()
        .render("\n".join(map(_within_row, written.split("\n"))))
        .replace(_NO_HEAD, "<td></td>")
        .replace("<br>\n", "<br>")
    )
    if not _is_whole(written, html, len(placed)):
        html = f'<p dir="auto">{escape(written).replace(chr(10), "<br>")}</p>\n'
    return _PLACED.sub(
        lambda found: placed[_number(found[1])], html.replace(f"{_GAP}{_OPEN}", _OPEN).replace(_STAR, "*")
    )


def _is_whole(written: str, html: str, placed: int) -> bool:
    """Whether Markdown left nothing out, as it does with the cells that a table has no head for: neither
    what was put in nor a letter or figure.
    """
    if (
        len({found[1] for found in _PLACED.finditer(html)}) < placed
        or len(html) > MOST_GROWTH * len(written) + LEAST_HTML
    ):
        return False
    shown = sum(map(str.isalnum, unescape(_TAG.sub("", html))))
    return shown >= sum(map(str.isalnum, _UNSHOWN.sub("", written)))


def _within_row(line: str) -> str:
    """A row with what is put, or cited, behind its last bar in its last cell: the table has no other for
    it.
    """
    if not line.lstrip().startswith("|"):
        return line
    row, _, behind = line.rpartition("|")
    beside = KEYS_IN_BRACKETS.sub("", _PLACED.sub("", behind)).strip(_UNSAID)
    if beside or not behind.strip(_UNSAID):
        return line
    return f"{row.rstrip()} {behind.strip()} |"


def _number(digits: str) -> int:
    return int("".join(str(ord(digit) - _DIGITS) for digit in digits))


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("zero", {"html": False, "breaks": True}).enable(list(RULES))
    made.core.ruler.push("safe", _plainer)
    return made


def _plainer(state: StateCore) -> None:
    """A heading of an answer is none of the page it stands on, and the language of code and the sides of
    columns have no use there.
    """
    for at, token in enumerate(state.tokens):
        match token.type:
            case "heading_open":
                token.tag, bold = "p", state.tokens[at + 1]
                bold.children = [
                    Token("strong_open", "strong", 1),
                    *(bold.children or []),
                    Token("strong_close", "strong", -1),
                ]
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
