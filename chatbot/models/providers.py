"""Knows the providers of chat models: their addresses, clients and keys. The facts are in providers.tsv."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

__all__ = ["CLIENTS", "PROVIDERS", "Provider", "provider_by_host", "provider_named", "provider_of_key"]

# What the endpoints speak: OpenAI's API, the same at Azure's addresses, and Anthropic's own.
CLIENTS = ("openai", "azure", "anthropic")
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of chat models, or a program that serves them on this machine.

    id: its name in FINPOLICY_PROVIDER and in what is stored.
    is_local: whether it runs on this machine.
    client: one of CLIENTS.
    address: its base URL; "" of Azure, where each resource has one.
    key: "needed", "optional" or "none".
    key_variable: the environment variable of its key, "" for none of its own.
    key_start: what only its keys begin with, "" if they tell nothing.
    suggested: beginnings of the names of models to take, best first.
    sees: beginnings of the names of models that see pictures.
    note: where the key is found, or how the program is started, in a sentence.
    """

    id: str
    name: str
    is_local: bool
    client: str
    address: str
    key: str
    key_variable: str
    key_start: str
    suggested: tuple[str, ...]
    sees: tuple[str, ...]
    note: str

    @property
    def host(self) -> str:
        """The host of its address."""
        return urlsplit(self.address).hostname or ""


def _read() -> dict[str, Provider]:
    lines = Path(__file__).with_name("providers.tsv").read_text("utf-8").splitlines()
    found = {}
    for line in lines:
        if line.startswith("#"):
            continue
        name, title, where, client, address, key, variable, start, models, seeing, note = line.split("\t")
        suggested, sees = (tuple(filter(None, names.split("|"))) for names in (models, seeing))
        found[name] = Provider(
            name, title, where == "local", client, address, key, variable, start, suggested, sees, note
        )
    return found


PROVIDERS = _read()


def provider_by_host(url: str) -> Provider | None:
    """Returns the provider whose address a URL leads to; None for another endpoint, and on this machine.

    Programs on this machine are told apart by nothing but their port, which proves nothing.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return None
    if host.endswith(_AZURE_HOSTS):
        return PROVIDERS["azure"]
    for provider in PROVIDERS.values():
        if not provider.is_local and provider.host == host:
            return provider
    return None


def provider_named(text: str) -> str:
    """Returns the id of the provider that is written by its id or name in any case, else the text itself."""
    for provider in PROVIDERS.values():
        if text.casefold() in (provider.id, provider.name.casefold()):
            return provider.id
    return text


def provider_of_key(key: str) -> Provider | None:
    """Returns the provider that a key is one of, by its beginning; None for keys that tell nothing."""
    for provider in PROVIDERS.values():
        if provider.key_start and key.startswith(provider.key_start):
            return provider
    return None
