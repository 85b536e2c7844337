"""Fetches pages and feeds from the web, within limits of address, time and size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from chatbot.errors import ModelError, ProjectError, UsageError
from chatbot.models.endpoints import check_endpoint, web_transport
from chatbot.settings import Settings

__all__ = ["FetchedPage", "WebError", "fetch_page", "host_of"]

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
            httpx2.Client(transport=web_transport(limits), follow_redirects=False) as client,
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
