"""Decides whether a model endpoint may be contacted, and opens clients that contact nothing else."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatbot.errors import ModelError
from chatbot.models.addresses import (
    Address,
    address_of,
    address_variable,
    client_of,
    key_of,
    key_variable,
    split_url,
)
from chatbot.models.providers import provider_by_host, provider_of_key
from chatbot.models.timeouts import Timeouts, patient
from chatbot.settings import Settings
from ingestion.precedence import giving_way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anthropic import Anthropic
    from httpcore2 import NetworkBackend
    from httpx2 import BaseTransport
    from openai import OpenAI

__all__ = ["check_endpoint", "checked_addresses", "checked_transport", "connect_by", "open_client"]

# 2,048 vectors of 3,072 numbers, the largest possible answer, take 100 MB as text.
MOST_ANSWER_BYTES = 128 * 2**20
# Of an answer that comes word by word, each word with some hundred bytes around it, and of one of its lines.
MOST_WORDS_BYTES, LONGEST_EVENT = 32 * 2**20, 2**20
# All else that the clients send is left out: they read further headers from the environment of the server,
# which may hold secrets of other hosts.
SENT_HEADERS = frozenset(
    """
    host accept connection content-length content-type transfer-encoding user-agent authorization api-key
    x-api-key anthropic-version anthropic-beta if-none-match if-modified-since
    """.split()
)
# Addresses where clouds hand credentials to anybody who asks. Link-local addresses are refused as a whole;
# these are the known ones outside of them.
_METADATA_ADDRESSES = frozenset(
    map(ip_address, ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog"})
# Networks whose addresses end in the IPv4 address that is meant: translated, local translators', stateless
# translation, IPv4-compatible.
_HOLDS_IPV4 = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96")))


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
    parts = split_url(url)
    checked_addresses(str(parts.hostname), scheme=parts.scheme, rule=settings.endpoint_rule)


def checked_addresses(host: str, *, scheme: str = "https", rule: str = "") -> list[str]:
    """Returns the addresses behind a name, each once. Raises ModelError if one must not be contacted.

    rule: as `Settings.endpoint_rule`.
    """
    host = host.strip("[]").rstrip(".")
    addresses = list(dict.fromkeys(_addresses(host)))
    meant = list(map(_plain, addresses))
    if host in _METADATA_NAMES or any(one.is_link_local or one in _METADATA_ADDRESSES for one in meant):
        raise ModelError(
            f"OPENAI_BASE_URL points to {host}, a link-local or cloud metadata address.",
            hint="Set it to the address of a model endpoint.",
        )
    if rule in {"public", "web"} and not all(map(_is_public, meant)):
        raise ModelError(
            f"OPENAI_BASE_URL points to {host}, on this machine or its network.",
            hint=(
                "Use an endpoint on the internet, or ask your administrator to set one inside the network."
            ),
        )
    is_here = bool(meant) and all(one.is_loopback for one in meant)
    if rule not in {"", "web"} and scheme == "http" and not is_here:
        raise ModelError(
            f"Others can read what you send to {host} over http://, including the key.",
            hint="Start the address with https://.",
        )
    return list(map(str, addresses))


def open_client(settings: Settings, patience: Timeouts | None = None) -> OpenAI | Anthropic:
    """Returns the client for the checked endpoint, as a context manager that the caller closes.

    Raises ModelError without connecting.

    The client neither retries nor follows redirects, as a redirect could lead to a refused address. When it
    connects, it checks the addresses of the name again and uses just those, since they may have changed a
    moment before. `settings.timeout` seconds limit the connecting. An answer that is too large, or later than
    `patience` allows (by default an answer in one piece), is broken off, including its headers and anything
    else that fills the line. The client takes no key from the environment, but proxies and certificates.
    """
    import httpx2

    address = address_of(settings)
    check_endpoint(address.base, settings)
    _check_key(address, settings)
    # The connection itself knows how long it may be read.
    timeout = httpx2.Timeout(None, connect=settings.timeout)
    transport = checked_transport(settings, patience)
    http = httpx2.Client(timeout=timeout, follow_redirects=False, transport=transport)
    # Local servers ignore the placeholder for a key. Empty strings keep the client from looking in the
    # environment.
    key = key_of(settings) or "none"
    options: dict[str, Any] = {"timeout": timeout, "max_retries": 0, "http_client": http}
    client = client_of(settings)
    if client == "anthropic":
        from anthropic import Anthropic

        return Anthropic(api_key=key, base_url=address.base, **options)
    from openai import OpenAI

    if client == "azure":  # which takes the key in a header of its own
        options["default_headers"] = {"api-key": key_of(settings)}
    if address.api_version:
        options["default_query"] = {"api-version": address.api_version}
    return OpenAI(api_key=key, admin_api_key="", base_url=address.base, **options)


def _check_key(address: Address, settings: Settings) -> None:
    """Raises ModelError for a missing key, for characters that no key has, and for another provider's key."""
    key = key_of(settings)
    provider = provider_by_host(address.base)
    if not key and provider is not None and provider.key == "needed":
        variable = provider.key_variable
        raise ModelError(
            f"{variable} is not set, and {urlsplit(address.base).hostname} needs one.",
            hint=f"Set it, or change {address_variable(settings)}.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(
            f"{key_variable(settings)} has characters in it that no key has.",
            hint="Set it again, without quotes, spaces or line breaks.",
        )
    owner = provider_of_key(key)
    if provider is not None and owner is not None and owner != provider:
        raise ModelError(
            f"This is a key for {owner.name}, so it is not sent to {provider.name}.",
            hint=f"Set a key for {provider.name}, or choose {owner.name}.",
            kind="key",
        )


def checked_transport(settings: Settings, patience: Timeouts | None = None) -> BaseTransport:
    """Returns a transport to `settings.base_url` with the checks and limits of `open_client`."""
    import httpx2

    limits = patience or Timeouts.for_one_piece(settings)
    most, longest = (MOST_ANSWER_BYTES,) * 2 if limits.in_one_piece else (MOST_WORDS_BYTES, LONGEST_EVENT)

    class Bounded(httpx2.SyncByteStream):
        def __init__(self, inner: httpx2.SyncByteStream) -> None:
            self._inner = inner

        def __iter__(self) -> Iterator[bytes]:
            size = line = 0
            for part in giving_way(self._inner):
                size += len(part)
                end = part.rfind(b"\n") + 1
                line = len(part) - end + (0 if end else line)
                if size > most or line > longest:
                    raise httpx2.ReadError("the answer does not end")
                yield part

        def close(self) -> None:
            self._inner.close()

    class Transport(httpx2.HTTPTransport):
        def __init__(self) -> None:
            super().__init__()
            connect_by(self, _checked_backend(settings, limits))

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            limits.begin()
            for name in set(request.headers) - SENT_HEADERS:
                del request.headers[name]
            if "api-key" in request.headers:  # Azure's, instead of the usual header
                request.headers.pop("authorization", None)
            request.headers["Accept-Encoding"] = "identity"
            answer = super().handle_request(request)
            if answer.headers.get("Content-Encoding", "identity").casefold() != "identity":
                answer.close()
                raise httpx2.ReadError("the answer is compressed, which was not asked for")
            assert isinstance(answer.stream, httpx2.SyncByteStream)
            answer.stream = Bounded(answer.stream)
            return answer

    return Transport()


def connect_by(transport: Any, backend: Any) -> None:
    """Has a transport open its connections by a backend, for which httpx2 has no public way (as of 2.16)."""
    assert hasattr(transport._pool, "_network_backend")  # a test connects to refused addresses
    transport._pool._network_backend = backend


def _checked_backend(settings: Settings, patience: Timeouts) -> NetworkBackend:
    """Returns what opens connections: only to checked addresses, within the limits of `patience`."""
    import httpcore2

    scheme = urlsplit(address_of(settings).base).scheme

    class RefusedAddress(httpcore2.ConnectError):
        """An address that must not be connected to."""

        def __init__(self, reason: str) -> None:
            super().__init__(reason)
            self.refused_because = reason

    class CheckedEndpoint(httpcore2.SyncBackend):
        def connect_tcp(self, host: str, *given: Any, **options: Any) -> httpcore2.NetworkStream:
            try:
                addresses = checked_addresses(host, scheme=scheme, rule=settings.endpoint_rule)
            except ModelError as error:
                raise RefusedAddress(error.message) from None
            failure: Exception = httpcore2.ConnectError("the name is not known")
            for address in addresses:
                try:
                    return patient(super().connect_tcp(address, *given, **options), patience)
                except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                    failure = error
            raise failure

    return CheckedEndpoint()


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
