"""Finds the configured model endpoint, decides whether it may be contacted, and explains its failures."""

from __future__ import annotations

import re
import socket
import time
from email.utils import mktime_tz, parsedate_tz
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from chatbot.errors import ModelError
from chatbot.models.timeouts import Timeouts, explain_limit, patient
from chatbot.settings import Settings
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from httpcore2 import NetworkBackend
    from httpx2 import BaseTransport
    from openai import APIStatusError, OpenAI

__all__ = [
    "EndpointError",
    "check_endpoint",
    "clean_text",
    "endpoint_failures",
    "endpoint_host",
    "endpoint_url",
    "explain_failure",
    "open_client",
]

# How the transport reports a server that dies while it answers.
_DIED = "peer closed connection"
OPENAI_URL = "https://api.openai.com/v1"
# Enough for a provider's own sentence. A whole HTML error page would bury it.
MOST_PROVIDER_CHARACTERS = 200
# 2,048 vectors of 3,072 numbers, the largest possible answer, take 100 MB as text.
MOST_ANSWER_BYTES = 128 * 2**20
# A reader is waiting: a longer pause is reported, not waited for.
LONGEST_WAIT_SECONDS = 20.0

# Addresses where clouds hand credentials to anybody who asks. Link-local addresses are refused as a whole;
# these are the known ones outside of them.
_METADATA_ADDRESSES = frozenset(
    map(ip_address, ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
# Networks whose addresses end in the IPv4 address that is meant: translated, local translators', stateless
# translation, IPv4-compatible.
_HOLDS_IPV4 = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]+")
_CONTEXT_EXCEEDED = re.compile(
    (
        r"context[ _](length|window|size)|(prompt|input) is too long|too many (input )?tokens"
        r"|exceeds? (the )?(available |maximum |model'?s? )?context"
    ),
    re.IGNORECASE,
)


class EndpointError(ModelError):
    """An endpoint failed.

    wait: seconds after which another try makes sense (0: the caller's own pause), None if it does not.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        wait: float | None = None,
        retryable: bool = True,
        kind: str = "",
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable, kind=kind)
        self.wait = wait


def endpoint_url(settings: Settings) -> str:
    """Returns the configured base URL, or OpenAI's. It is not checked."""
    return settings.base_url or OPENAI_URL


def endpoint_host(settings: Settings) -> str:
    """Returns who receives what is sent, for display: the host, with its port if given.

    Never raises and never shows a password.
    """
    try:
        parts = _split(endpoint_url(settings))
    except ModelError:
        return "an unreadable address"
    host = str(parts.hostname)
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{parts.port}" if parts.port else shown


def check_endpoint(url: str, settings: Settings) -> None:
    """Raises ModelError if `url` must not be contacted.

    That is the case offline, for anything but a plain http(s) address, for link-local or cloud metadata
    addresses, and against `settings.endpoint_rule`. A name is resolved, and refused if any address behind it
    is. A name that does not resolve here passes, since a proxy may know it.
    """
    if settings.offline:
        raise ModelError(
            "FINPOLICY_OFFLINE is set, so no model endpoint is contacted.",
            hint="Unset FINPOLICY_OFFLINE, or unset the model's own setting.",
        )
    parts = _split(url)
    host = str(parts.hostname).rstrip(".")
    addresses = _addresses(host)
    if host in _METADATA_NAMES or any(map(_is_forbidden, addresses)):
        raise ModelError(
            f"OPENAI_BASE_URL leads to {host}, a link-local or cloud metadata address.",
            hint="Set it to the address of a model endpoint.",
        )
    _check_rule(parts.scheme, host, addresses, settings.endpoint_rule)


def _check_rule(scheme: str, host: str, addresses: Sequence[IPv4Address | IPv6Address], rule: str) -> None:
    """Raises ModelError if an endpoint that a user chose violates `settings.endpoint_rule`."""
    if rule == "public" and not all(_is_public(_plain(address)) for address in addresses):
        raise ModelError(
            f"OPENAI_BASE_URL leads to {host}, an address of this machine or its network.",
            hint=(
                "Name an endpoint on the internet; whoever runs this server can set one inside for everybody."
            ),
        )
    if (
        rule
        and scheme == "http"
        and not (addresses and all(_plain(address).is_loopback for address in addresses))
    ):
        raise ModelError(
            f"What is sent to {host} over http:// can be read on the way, the key with it.",
            hint="Begin the address with https://.",
        )


def open_client(settings: Settings, patience: Timeouts | None = None) -> OpenAI:
    """Returns a client for the checked endpoint, as a context manager that the caller closes.

    Raises ModelError without connecting.

    The client neither retries nor follows redirects, as a redirect could lead to a refused address. When it
    connects, it checks the addresses of the name again and uses just those, since they may have changed a
    moment before. `settings.timeout` seconds limit the connecting. An answer that is too large, or later than
    `patience` allows (by default an answer in one piece), is broken off, including its headers and anything
    else that fills the line. The client takes no key from the environment, but proxies and certificates.
    """
    url = endpoint_url(settings)
    key = settings.api_key
    check_endpoint(url, settings)
    if not key and urlsplit(url).hostname == "api.openai.com":
        raise ModelError(
            "OPENAI_API_KEY is not set, and api.openai.com needs one.",
            hint="Set it, or point OPENAI_BASE_URL elsewhere.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(
            "OPENAI_API_KEY holds characters that no key has.",
            hint="Set it again, without quotes, spaces or line breaks.",
        )
    import httpx2
    from openai import OpenAI

    patience = patience or Timeouts.for_one_piece(settings)
    # The connection itself knows how long it may be read.
    timeout = httpx2.Timeout(None, connect=settings.timeout)
    transport = httpx2.Client(
        timeout=timeout, follow_redirects=False, transport=_bounded_transport(settings, patience)
    )
    # Empty strings keep the client from looking in the environment. Local servers ignore the placeholder for
    # a key.
    return OpenAI(
        api_key=key or "none",
        admin_api_key="",
        base_url=url,
        timeout=timeout,
        max_retries=0,
        http_client=transport,
    )


def _bounded_transport(settings: Settings, patience: Timeouts) -> BaseTransport:
    """Returns a transport that limits answers in size and time, whatever the endpoint sends."""
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, inner: httpx2.SyncByteStream) -> None:
            self._inner = inner

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for part in self._inner:
                size += len(part)
                if size > MOST_ANSWER_BYTES:
                    raise httpx2.ReadError("the answer does not end")
                yield part

        def close(self) -> None:
            self._inner.close()

    class Transport(httpx2.HTTPTransport):
        def __init__(self) -> None:
            super().__init__()
            assert hasattr(
                self._pool, "_network_backend"
            )  # a test connects to refused addresses, should this move
            self._pool._network_backend = _checked_backend(settings, patience)

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            patience.begin()
            answer = super().handle_request(request)
            assert isinstance(answer.stream, httpx2.SyncByteStream)
            answer.stream = Bounded(answer.stream)
            return answer

    return Transport()


def _checked_backend(settings: Settings, patience: Timeouts) -> NetworkBackend:
    """Returns what opens connections: only to checked addresses, within the limits of `patience`."""
    import httpcore2

    scheme = urlsplit(endpoint_url(settings)).scheme

    class CheckedEndpoint(httpcore2.SyncBackend):
        def connect_tcp(self, host: str, *given: Any, **options: Any) -> httpcore2.NetworkStream:
            name = host.strip("[]").rstrip(".")
            addresses = list(dict.fromkeys(_addresses(name)))
            try:
                if any(map(_is_forbidden, addresses)):
                    raise ModelError("a link-local or cloud metadata address")
                _check_rule(scheme, name, addresses, settings.endpoint_rule)
            except ModelError as error:
                raise httpcore2.ConnectError(error.message) from None
            failure: Exception = httpcore2.ConnectError("the name is not known")
            for address in addresses:
                try:
                    return patient(super().connect_tcp(str(address), *given, **options), patience)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure = error
            raise failure

    return CheckedEndpoint()


def endpoint_failures() -> tuple[type[Exception], ...]:
    """Returns the errors of a call through `open_client` that the endpoint may cause.

    They are to be passed to `explain_failure`.
    """
    import httpx2
    from openai import OpenAIError

    # The client lets these through: broken JSON or UTF-8 in a stream, numbers of thousands of digits, JSON
    # nested too deep, a connection lost inside an error's body.
    return (OpenAIError, httpx2.HTTPError, ValueError, RecursionError)


def explain_failure(error: Exception, settings: Settings, *, model_setting: str) -> EndpointError:
    """Explains one of `endpoint_failures` in the project's words, with the setting to check.

    The provider's own words are data: see `clean_text`. Raise the result `from None`, so that no traceback
    shows what was removed.

    model_setting: the name of the setting that chose the model, such as FINPOLICY_CHAT_MODEL.
    """
    import httpx2
    from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

    host = endpoint_host(settings)
    if isinstance(error, APITimeoutError | httpx2.TimeoutException):
        limit = explain_limit(str(error.__cause__ if isinstance(error, APITimeoutError) else error), settings)
        what, hint = limit or (
            f"took no connection within {settings.timeout:g} s",
            "Check that OPENAI_BASE_URL is right and running.",
        )
        return EndpointError(f"{host} {what}.", hint=hint, kind="silent")
    if isinstance(error, APIConnectionError | httpx2.HTTPError):
        cause = error.__cause__ or error
        gone = isinstance(cause, httpx2.ConnectError)
        what = "cannot be reached" if gone else "broke off the connection"
        # For a dying server the transport's own words say less than these; for a server that does not speak
        # HTTP they quote what it sent.
        plain = isinstance(cause, httpx2.RemoteProtocolError) and _DIED in str(cause)
        if plain or not (gone or _shows_words(settings)):
            said = ""
        else:
            said = f": {clean_text(str(cause), settings)}"
        message = f"{host} {what}{said}".rstrip(".") + "."
        return EndpointError(
            message,
            hint="Check that OPENAI_BASE_URL is right and running.",
            wait=0,
            kind="unreachable" if gone else "",
        )
    if isinstance(error, APIStatusError):
        return _explain_status(error, settings, model_setting)
    if isinstance(error, APIError):
        return EndpointError(f"{host} reported an error{_quoted(error.message, settings)}")
    return EndpointError(
        f"{host} sent something that is not a model's answer.",
        hint="Check OPENAI_BASE_URL; it usually ends in /v1.",
    )


def _shows_words(settings: Settings) -> bool:
    """Tells whether an endpoint's error text is shown.

    Not if a user chose the endpoint: pointed at something that is no model, the server would show users what
        only it can reach.
    """
    return not settings.endpoint_rule


def _quoted(said: str, settings: Settings) -> str:
    """Returns the end of a sentence with the provider's own words, or without them."""
    if _shows_words(settings):
        return f": {clean_text(said, settings)}"
    return "."


def clean_text(text: str, settings: Settings) -> str:
    """Makes another party's text fit to show.

    The result is one line of at most 200 characters, without control or invisible characters, with the key as
    ***.
    """
    line = one_line(text)
    return one_line(
        line.replace(settings.api_key, "***") if settings.api_key else line, MOST_PROVIDER_CHARACTERS
    )


def _explain_status(error: APIStatusError, settings: Settings, model_setting: str) -> EndpointError:
    host = endpoint_host(settings)
    status = error.status_code
    said = _provider_words(error.body, error.message)
    shown = _quoted(said, settings)
    if status in {401, 403}:
        return EndpointError(
            f"{host} refused the key (status {status}){shown}",
            hint="Check OPENAI_API_KEY.",
            retryable=False,
            kind="key",
        )
    if status == 404:
        if model_setting == "FINPOLICY_CHAT_MODEL":
            model = settings.chat_model
        else:
            model = settings.embedding_model
        hint = f"Check {model_setting}, and OPENAI_BASE_URL, which usually ends in /v1."
        return EndpointError(
            f"{host} does not know the model {model!r} (status 404){shown}",
            hint=hint,
            retryable=False,
            kind="model",
        )
    if status == 429:
        return _explain_limit(
            f"{host} is limiting requests (status 429){shown}",
            error.code,
            _retry_after(error.response.headers),
        )
    if status == 413 or error.code == "context_length_exceeded" or _CONTEXT_EXCEEDED.search(said):
        message = f"The prompt is too long for the model at {host} (status {status}){shown}"
        return EndpointError(message, hint="Lower FINPOLICY_CONTEXT_TOKENS.", retryable=False, kind="length")
    if 300 <= status < 400:
        return EndpointError(
            f"{host} redirects elsewhere (status {status}).",
            hint="Set OPENAI_BASE_URL to the address itself.",
            retryable=False,
        )
    if status == 408 or status >= 500:
        wait = _retry_after(error.response.headers)
        hint = "Ask again in a minute; the endpoint's own log may say why."
        return EndpointError(
            f"{host} failed (status {status}){shown}",
            hint=hint,
            wait=wait if wait <= LONGEST_WAIT_SECONDS else None,
        )
    return EndpointError(
        f"{host} rejected the request (status {status}){shown}",
        hint=f"Check {model_setting}.",
        retryable=False,
    )


def _explain_limit(message: str, code: str | None, wait: float) -> EndpointError:
    if code == "insufficient_quota":
        return EndpointError(
            message, hint="The account of OPENAI_API_KEY has no credit left.", retryable=False
        )
    if wait > LONGEST_WAIT_SECONDS:
        return EndpointError(message, hint=f"It asks to wait {wait:.0f} s.")
    return EndpointError(message, hint="Ask again in a minute.", wait=wait)


def _provider_words(body: object, otherwise: str) -> str:
    if isinstance(body, dict):
        words = body.get("message") or body.get("detail")
    else:
        words = None
    if isinstance(words, str):
        return words
    return otherwise


def _retry_after(headers: Mapping[str, str]) -> float:
    """Returns the seconds of a Retry-After header, given in seconds or as a date; 0 without a valid one."""
    text = headers.get("retry-after", "")
    date = parsedate_tz(text)
    try:
        if date:
            seconds = mktime_tz(date) - time.time()
        else:
            seconds = float(text)
    except (ValueError, OverflowError):
        return 0.0
    return seconds if seconds > 0 else 0.0


def _split(url: str) -> SplitResult:
    """Splits a plain http(s) URL so strictly that no other parser can find another host in it.

    Raises ModelError for any other URL.
    """
    if "@" in url:
        raise ModelError(
            "OPENAI_BASE_URL holds a user name or password.",
            hint="Take it out; a key belongs in OPENAI_API_KEY.",
        )
    wrong = ModelError(
        f"OPENAI_BASE_URL is {url[:MOST_PROVIDER_CHARACTERS]!r}.",
        hint="Set it to an address such as http://localhost:11434/v1.",
    )
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port
        if ":" in host:
            ip_address(host)
    except ValueError:
        raise wrong from None
    host_is_plain = ":" in host or ("[" not in url and _HOST_NAME.fullmatch(host))
    if (
        parts.scheme not in {"http", "https"}
        or not host_is_plain
        or port == 0
        or not url.isprintable()
        or " " in url
    ):
        raise wrong
    return parts


def _addresses(host: str) -> list[IPv4Address | IPv6Address]:
    """Returns every address behind `host`.

    Resolving also reads spellings that an address parser refuses, such as 2852039166.
    """
    if (
        ":" in host
    ):  # not resolved: that fails for a zone this machine does not have, and would hide the address
        return [ip_address(host)]
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ip_address(str(entry[4][0])) for entry in found]


def _is_forbidden(address: IPv4Address | IPv6Address) -> bool:
    address = _plain(address)
    return address.is_link_local or address in _METADATA_ADDRESSES


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Tells whether an address is that of one host on the internet.

    Python 3.11 also counts site-local and multicast addresses.
    """
    return (
        address.is_global
        and not address.is_multicast
        and not (isinstance(address, IPv6Address) and address.is_site_local)
    )


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Returns the address that is really meant: the IPv4 address inside another, without a zone.

    With a zone it would not equal the same address in a set.
    """
    if isinstance(address, IPv6Address):
        # The last of these networks also contains "::1" and "::".
        held = int(address) > 1 and any(address in network for network in _HOLDS_IPV4)
        inner = (
            address.ipv4_mapped
            or address.sixtofour
            or (IPv4Address(int(address) & 0xFFFFFFFF) if held else None)
        )
        return inner or IPv6Address(address.packed)
    return address
