"""Reads the address of a model endpoint as people paste it: which client it needs, base, version and host."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qs, urlsplit

from chatbot.errors import ModelError
from chatbot.models.providers import PROVIDERS, Provider, provider_by_host
from chatbot.settings import Settings

__all__ = [
    "MOST_SHOWN_CHARACTERS",
    "Address",
    "address_of",
    "address_variable",
    "client_of",
    "endpoint_host",
    "endpoint_url",
    "is_this_machine",
    "key_of",
    "key_variable",
    "provider_of",
    "split_url",
    "tidied",
]

# Of an address that cannot be read, in a message.
MOST_SHOWN_CHARACTERS = 200
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]+")
# What a documentation's example has behind the base URL.
_PATH_OF_A_CALL = re.compile(
    r"/(?:chat/completions|completions|responses|embeddings|messages|models|chat)/*$", re.IGNORECASE
)
_VERSION = re.compile(r"/v\d+(?:beta\d?)?(?:/|$)")
_AZURE_DEPLOYMENT = re.compile(r"(?:/openai)?(/deployments/[^/]+)", re.IGNORECASE)
# The version of Azure's older form of address, where none is given: the last that is generally available.
_AZURE_VERSION = "2024-10-21"
# Hosts that are asked over http:// where an address begins with neither.
_LOCAL_NAME = re.compile(r"(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)(?::\d+)?(?:/|$)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HOST_FIRST = re.compile(r"[A-Za-z0-9.-]+\.[A-Za-z]{2,}(?::\d+)?(?:/|$)")


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint as a client needs it.

    base: the URL to which paths such as /chat/completions are added, without a query.
    has_version: whether the base names the API's version, as in /v1, or needs none.
    api_version: of Azure's older form of address, "" for none.
    """

    base: str
    has_version: bool = True
    api_version: str = ""


def endpoint_url(settings: Settings) -> str:
    """Returns the configured base URL, or the provider's. It is not checked."""
    return settings.base_url or PROVIDERS.get(settings.provider, PROVIDERS["openai"]).address


def provider_of(settings: Settings) -> Provider | None:
    """Returns the provider that is named, or whose address it is; None for another endpoint."""
    return PROVIDERS.get(settings.provider) or provider_by_host(tidied(endpoint_url(settings)))


def client_of(settings: Settings) -> str:
    """Returns the client that the endpoint needs, one of providers.CLIENTS."""
    provider = provider_of(settings)
    return provider.client if provider else "openai"


def sees_pictures(settings: Settings) -> bool:
    """Tells whether the chat model gets pictures of pages: as is set, else if it is known to see."""
    provider = provider_of(settings)
    name = settings.chat_model.casefold()
    known = provider is not None and name.startswith(provider.sees)
    return settings.pictures == "1" or (known and not settings.pictures)


def address_variable(settings: Settings) -> str:
    """Returns the environment variable that gives the endpoint its address, for messages."""
    return "FINPOLICY_PROVIDER" if settings.provider and not settings.base_url else "OPENAI_BASE_URL"


def key_variable(settings: Settings) -> str:
    """Returns the environment variable of the endpoint's key, for messages."""
    provider = provider_of(settings)
    return (provider.key_variable if provider else "") or "OPENAI_API_KEY"


def key_of(settings: Settings) -> str:
    """Returns the key that the endpoint gets, "" for none.

    That is the provider's own. OPENAI_API_KEY goes to OpenAI and to what OPENAI_BASE_URL names, never to a
    provider that is named alone.
    """
    provider = provider_of(settings)
    if provider is None or provider.id == "openai":
        return settings.api_key
    own: str = getattr(settings, f"{provider.id}_key", "")
    return own or (settings.api_key if settings.base_url else "")


def is_this_machine(host: str) -> bool:
    """Tells whether a host, as `endpoint_host` shows it, is this machine."""
    return _LOCAL_NAME.fullmatch(host) is not None


def endpoint_host(settings: Settings) -> str:
    """Returns who receives what is sent, for display: the host, with its port if given.

    Never raises and never shows a password.
    """
    try:
        parts = split_url(tidied(endpoint_url(settings)))
    except ModelError:
        return "an unreadable address"
    host = str(parts.hostname)
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{parts.port}" if parts.port else shown


def address_of(settings: Settings) -> Address:
    """Returns the configured endpoint for its client. Raises ModelError for an address that is none."""
    url = tidied(endpoint_url(settings))
    client = client_of(settings)
    if not url:
        raise ModelError(
            "OPENAI_BASE_URL is not set, and every Azure resource has its own address.",
            hint="Set it to your endpoint, such as https://NAME.openai.azure.com.",
        )
    parts = split_url(url)
    root = f"{parts.scheme}://{parts.netloc}"
    path = parts.path.rstrip("/")
    if client == "azure":
        return _azure_address(root, path, parts.query)
    path = _PATH_OF_A_CALL.sub("", path).rstrip("/")
    if client == "anthropic":  # whose client adds the version itself
        return Address(root + path.removesuffix("/v1"))
    known = provider_by_host(url)
    if known is not None and path in {"", "/v1"}:
        path = urlsplit(known.address).path
    return Address(root + path, _VERSION.search(path) is not None)


def tidied(url: str) -> str:
    """Returns an address as it was meant, where it was pasted with blanks around it or without http(s)://."""
    url = url.strip()
    if _SCHEME.match(url):
        return url
    if _LOCAL_NAME.match(url):
        return f"http://{url}"
    if _HOST_FIRST.match(url):
        return f"https://{url}"
    return url


def _azure_address(root: str, path: str, query: str) -> Address:
    deployment = _AZURE_DEPLOYMENT.search(path)
    if deployment is None:
        return Address(f"{root}/openai/v1")
    given = parse_qs(query).get("api-version", [""])[0]
    version = given if re.fullmatch(r"[\w.-]{1,40}", given) else _AZURE_VERSION
    return Address(f"{root}/openai{deployment[1]}", api_version=version)


def split_url(url: str) -> SplitResult:
    """Splits a plain http(s) URL so strictly that no other parser can find another host in it.

    Raises ModelError for any other URL.
    """
    if "@" in url:
        raise ModelError(
            "OPENAI_BASE_URL has a user name or password in it.",
            hint="Take it out; a key belongs in OPENAI_API_KEY.",
        )
    wrong = ModelError(
        f"OPENAI_BASE_URL is {url[:MOST_SHOWN_CHARACTERS]!r}, which is not a web address.",
        hint="Begin it with https:// or http://, as in http://localhost:11434/v1.",
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
