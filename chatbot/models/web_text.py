"""Reads the text of one web page from the internet.

It runs nothing of the page, and reaches no address inside this network.
"""

from __future__ import annotations

import codecs
import re
import time
from contextlib import suppress
from html.parser import HTMLParser

from chatbot.errors import ProjectError, UsageError
from chatbot.models.web_pages import fetch_page
from chatbot.settings import Settings

__all__ = ["page_text", "read_page"]

MOST_ADDRESS = 2_000
KINDS = ("text/html", "application/xhtml+xml", "text/plain")
# Elements that are no text of the page, and those that begin a line.
SILENT = frozenset("script style noscript template svg nav footer form button select iframe".split())
BLOCKS = frozenset(
    "p div br li ul ol tr table h1 h2 h3 h4 h5 h6 section article header main blockquote pre dd dt".split()
)
# Characters that are read at once, and seconds for a page. Elements that are open at the same time, and
# characters of an unfinished tag at its end: Python's parser takes their square.
PIECE, MOST_SECONDS = 16_384, 3.0
MOST_OPEN, MOST_UNFINISHED = 100, 1_000
# The encodings of pages, as Python names them. Others of its own make half characters, are slow, or no text.
ENCODINGS = re.compile(r"utf-(?:8|16).*|iso.*|cp\d+|koi8-.|gb.*|big5.*|euc_.*|shift_jis|mac-.*|tis-620")
SPACE = re.compile(r"\s+")
BLANKS = re.compile(r"[^\S\n]+")
EMPTY_LINES = re.compile(r"\s*\n\s*")


def read_page(address: str, settings: Settings, *, rule: str = "public") -> tuple[str, str]:
    """Returns (title, text) of a page.

    rule: as Settings.endpoint_rule; "public" allows https to the internet alone.

    Raises UsageError for an address that may not be fetched and for what is no page.
    """
    if len(address) > MOST_ADDRESS:
        raise _refused("The address is too long.")
    try:
        page = fetch_page(address, settings, rule=rule)
    except ProjectError as error:
        raise _refused(error.message) from error
    kind = page.mime.casefold()
    if not kind.startswith(KINDS):
        raise _refused(f"The page is of the kind {kind[:60] or 'unknown'}.")
    text = page.body.decode(_charset(kind), "replace")
    return ("", text) if kind.startswith("text/plain") else page_text(text)


def page_text(html: str) -> tuple[str, str]:
    """Returns (title, text) of a page's HTML, a line for each block; of one made to be slow, a part."""
    reader = _PageReader()
    end = time.monotonic() + MOST_SECONDS
    for start in range(0, len(html), PIECE):
        reader.feed(html[start : start + PIECE])
        if time.monotonic() > end:
            break
    if len(reader.rawdata) <= MOST_UNFINISHED or "<" not in reader.rawdata:
        reader.close()
    text = EMPTY_LINES.sub("\n", BLANKS.sub(" ", "".join(reader.pieces))).strip()
    return " ".join("".join(reader.title).split()), text


def _charset(kind: str) -> str:
    """The encoding that a content type names, UTF-8 if it names none that is known."""
    found = re.search(r"charset=\"?([\w-]{1,40})", kind)
    with suppress(LookupError):
        name = codecs.lookup(found[1] if found else "utf-8").name
        if ENCODINGS.fullmatch(name):
            return name
    return "utf-8"


def _refused(said: str) -> UsageError:
    return UsageError(said, hint="Send its text instead: POST /input_webtext/")


class _PageReader(HTMLParser):
    """Takes the title and the text out of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._silent: list[str] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in_title = tag == "title"
        if tag in SILENT:
            if len(self._silent) < MOST_OPEN:
                self._silent.append(tag)
        elif tag in BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif tag in BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title and not self._silent:
            self.title.append(data)
        elif not self._silent:
            self.pieces.append(SPACE.sub(" ", data))
