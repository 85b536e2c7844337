"""Fetches pages and feeds from the web, within limits of address, time and size, and reads a page's text.

It runs nothing of a page. What a user names reaches no address inside this network.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from urllib.parse import urlsplit

from chatbot.errors import ModelError, ProjectError, UsageError
from chatbot.models.endpoints import check_endpoint, checked_transport
from chatbot.settings import Settings

__all__ = ["FetchedPage", "WebError", "fetch_page", "host_of", "page_text", "read_page"]

FETCH_SECONDS = 20.0
MOST_REDIRECTS = 3
MOST_BYTES = 5 * 2**20
NOT_CHANGED = 304
WEB_ADDRESSES = "Name an https:// address on the internet, not one of this machine or its network."
OWN_ADDRESSES = "Name an https:// address, or an http:// one of this machine or its network."


class WebError(ProjectError):
    """A page could not be fetched."""


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """What an address returned.

    url: where it was found, after redirects.
    changed: False if it is as it was when it was last fetched; the body is then empty.
    mark: what to pass as `known` the next time.
    """

    url: str
    body: bytes = b""
    mime: str = ""
    changed: bool = True
    mark: Mapping[str, str] = field(default_factory=dict)


def fetch_page(
    url: str, settings: Settings, *, rule: str, known: Mapping[str, str] | None = None
) -> FetchedPage:
    """Returns the page at an address.

    rule: as `Settings.endpoint_rule`; "public" for addresses that a user or a program names. With "", which
        is for the operator's own, a redirect to another host leads to the internet alone: whoever answers
        there must not choose what this machine asks for in its own network, or of this very server.
    known: the mark of what is already there.

    Raises UsageError for an address that must not be contacted, and WebError.
    """
    for _ in range(MOST_REDIRECTS + 1):
        found = _fetched(url, settings, rule, known or {})
        if isinstance(found, FetchedPage):
            return found
        if not rule and _place(found) != _place(url):
            rule = "web"
        url = found
    raise WebError(f"{host_of(url)} redirects again and again.", hint="Name the page's final address.")


def _fetched(url: str, settings: Settings, rule: str, known: Mapping[str, str]) -> FetchedPage | str:
    """Returns the page, or the address that it redirects to."""
    import httpx2

    limits = replace(
        settings, base_url=url, provider="", endpoint_rule=rule, timeout=min(settings.timeout, FETCH_SECONDS)
    )
    try:
        check_endpoint(url, limits)
    except ModelError as error:
        if settings.offline:
            raise WebError("FINPOLICY_OFFLINE is set, so nothing is fetched.", hint="Unset it.") from error
        raise UsageError(
            f"{url[:200]!r} cannot be fetched.",
            hint=OWN_ADDRESSES if not rule else WEB_ADDRESSES,
        ) from error
    try:
        with (
            httpx2.Client(transport=checked_transport(limits), follow_redirects=False) as client,
            client.stream("GET", url, headers=dict(known)) as answer,
        ):
            if answer.next_request is not None:
                return str(answer.next_request.url)
            if answer.status_code == NOT_CHANGED:
                return FetchedPage(url, changed=False, mark=known)
            if answer.status_code != 200:
                raise WebError(
                    f"{host_of(url)} answered with status {answer.status_code}.", hint="Try later."
                )
            body = bytearray()
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise WebError(
                        f"The page of {host_of(url)} is larger than {MOST_BYTES:,} bytes.",
                        hint="Name a smaller one.",
                    )
            mark = {
                name: answer.headers[header]
                for name, header in (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
                if header in answer.headers
            }
            return FetchedPage(url, bytes(body), str(answer.headers.get("content-type", "")), mark=mark)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise WebError(
            f"{host_of(url)} cannot be reached.", hint="Check the address and the network.", retryable=True
        ) from error


def _place(url: str) -> tuple[str, int | None]:
    """The host and port of an address; a scheme's usual port is none."""
    import httpx2

    parts = httpx2.URL(url)
    return parts.host, parts.port


def host_of(url: str) -> str:
    """Returns the host of an address, to be named in a message."""
    try:
        return urlsplit(url).hostname or "The address"
    except ValueError:
        return "The address"


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
