"""Finds out which chat models an endpoint has, how much each takes and what it can do. Sends no text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from chatbot.errors import ModelError
from chatbot.models.addresses import address_of, client_of, provider_of
from chatbot.models.endpoint_errors import EndpointError, clean_text, explaining
from chatbot.models.endpoints import open_client
from chatbot.models.providers import provider_by_host
from chatbot.settings import Settings

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

Row: TypeAlias = Mapping[str, object]

__all__ = ["LONGEST_NAME", "ListedModel", "context_of", "list_models", "suggested"]

# An endpoint that tells nothing within this is not waited for: the answer shows what it takes.
CONTEXT_SECONDS = 2.0
LIST_SECONDS = 10.0
# Fewer tokens, or more, are no context: the field means something else.
FEWEST_TOKENS, MOST_TOKENS = 512, 10**9
# Of a list that has no end.
MOST_LISTED = 10_000
LONGEST_NAME = 200
# Names of the field at vLLM, OpenRouter and Together, Groq, llama.cpp, Anthropic, LM Studio.
_CONTEXT_FIELDS = (
    "max_model_len",
    "context_length",
    "context_window",
    "n_ctx",
    "max_input_tokens",
    "loaded_context_length",
)
# Models that write no answers, by what their names have.
_NO_CHAT = (
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "moderation",
    "transcribe",
    "realtime",
    "rerank",
    "image",
    "audio",
    "davinci",
    "babbage",
    "sora",
    "speech",
)


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A chat model in the list of its endpoint.

    name: as it is asked for. It is another party's text, on one line.
    context: tokens of prompt and answer together, 0 where the list does not say.
    thinks: whether it thinks before it answers, None where the list does not say.
    price_in, price_out: of a million tokens of prompt and of answer, in US dollars, None where not said.
    """

    name: str
    context: int = 0
    thinks: bool | None = None
    price_in: float | None = None
    price_out: float | None = None


def list_models(settings: Settings) -> list[ListedModel]:
    """Returns the chat models of the endpoint by name, at most MOST_LISTED.

    If others can open the pages and users choose the endpoint, nothing is listed: the list may be meant for
    this server alone.

    Raises ModelError if the endpoint has no list that can be read.
    """
    if settings.endpoint_rule == "public" and provider_by_host(address_of(settings).base) is None:
        return []
    with open_client(settings.hurried(LIST_SECONDS)) as client:
        endpoint = _Endpoint(client, settings)
        rows = endpoint.models()
        others = set[object]()
        if any(row.get("owned_by") == "organization_owner" for row in rows):  # of LM Studio
            kinds = endpoint.rows("/api/v0/models")
            others = {row.get("id") for row in kinds if row.get("type") not in {"llm", "vlm"}}
    found = (_listed(row, settings) for row in rows)
    by_name = {model.name: model for model in found if model.name and model.name not in others}
    return sorted(by_name.values(), key=lambda model: model.name.casefold())


def suggested(models: list[ListedModel], settings: Settings) -> str:
    """Returns the model to take where nobody has chosen, "" for none.

    That is the provider's usual one, in its newest version, which is the last by name; else the first.
    """
    provider = provider_of(settings) if settings.provider or settings.base_url else None
    names = [model.name for model in models]
    for beginning in provider.suggested if provider else ():
        fitting = [name for name in names if name.startswith(beginning)]
        if beginning in fitting:
            return beginning
        if fitting:
            return fitting[-1]
    return next(iter(names), "")


def context_of(settings: Settings) -> int | None:
    """Returns the tokens of prompt and answer together that the chosen model has room for.

    0 if the endpoint does not say, None if it may say once the model is loaded. It asks vLLM, llama.cpp, LM
    Studio, Ollama, Anthropic and servers that list their models in the same ways.
    """
    if client_of(settings) == "openai" and not settings.base_url and not settings.provider:
        return 0  # OpenAI's own list tells none
    model = settings.chat_model
    with suppress(ModelError), open_client(settings.hurried(CONTEXT_SECONDS)) as client:
        endpoint = _Endpoint(client, settings)
        row = _entry(endpoint.models(), model, "id")
        if told := _context(row):
            return told
        match row.get("owned_by"):
            case "llamacpp":
                return _context(endpoint.told("/props"))
            case "library":  # of Ollama
                return _of_ollama(endpoint, model)
            case "organization_owner":
                return _context(_entry(endpoint.rows("/api/v0/models"), model, "id")) or None
    return 0


class _Endpoint:
    """Asks an endpoint what it has."""

    def __init__(self, client: OpenAI | Anthropic, settings: Settings) -> None:
        self._client, self._settings = client, settings

    def models(self) -> list[Row]:
        """Returns the entries of its list. Raises EndpointError if there is none."""
        paths = ["/models", "/v1/models"][: 1 if address_of(self._settings).has_version else 2]
        if client_of(self._settings) == "anthropic":
            paths = ["/v1/models?limit=1000"]
        failure = EndpointError("The list of models cannot be read.", kind="path")
        for path in paths:
            try:
                rows = _list_in(self._asked(path))
            except EndpointError as error:
                failure = error
            else:
                if rows is not None:
                    return rows[:MOST_LISTED]
        raise failure

    def told(self, path: str, body: Row | None = None) -> object:
        """Returns the JSON at a path of a program's own interface, None if it fails. Posts a body."""
        with suppress(EndpointError):
            return self._asked(address_of(self._settings).base.removesuffix("/v1") + path, body)
        return None

    def rows(self, path: str) -> list[Row]:
        """Returns the entries of a list there."""
        return _list_in(self.told(path)) or []

    def _asked(self, path: str, body: Row | None = None) -> object:
        with explaining(self._settings):
            if body is None:
                return self._client.get(path, cast_to=object)
            return self._client.post(path, body=body, cast_to=object)


def _list_in(listed: object) -> list[Row] | None:
    """Returns the entries of a list, also of one that stands bare or under another name; None for no list."""
    if isinstance(listed, dict):
        listed = listed.get("data", listed.get("models"))
    if not isinstance(listed, list):
        return None
    return [entry for entry in listed if isinstance(entry, dict)]


def _listed(row: Row, settings: Settings) -> ListedModel:
    """Returns a model by its entry, without a name where it writes no answers."""
    name = row.get("id") or row.get("name")
    shown = clean_text(name, settings) if isinstance(name, str) else ""
    kind = row.get("type")
    is_other = kind in {"embeddings", "embedding"} or any(part in shown.casefold() for part in _NO_CHAT)
    if is_other or shown != name or len(shown) > LONGEST_NAME:
        return ListedModel("")
    prices = (_price(row.get("pricing"), name) for name in ("prompt", "completion"))
    return ListedModel(shown, _context(row), _thinks(row), *prices)


def _thinks(row: Row) -> bool | None:
    """Whether a model thinks before it answers, as OpenRouter, Anthropic and Ollama tell."""
    match row:
        case {"supported_parameters": list(parameters)}:
            return "reasoning" in parameters
        case {"capabilities": {"thinking": {"supported": bool(thinks)}}}:
            return thinks
        case {"capabilities": list(abilities)}:
            return "thinking" in abilities
    return None


def _price(pricing: object, name: str) -> float | None:
    """The price of a million tokens, of OpenRouter's list, which gives that of one."""
    try:
        price = float(str(pricing.get(name) if isinstance(pricing, dict) else None)) * 1e6
    except ValueError:
        return None
    return price if 0 <= price < 1e6 else None


def _of_ollama(endpoint: _Endpoint, model: str) -> int | None:
    """The context of the model as it is loaded, or else as its file asks for."""
    if loaded := _context(_entry(endpoint.rows("/api/ps"), model, "name")):
        return loaded
    match endpoint.told("/api/show", {"model": model}):
        case {"parameters": str(parameters)}:
            named = re.search(r"^num_ctx\s+(\d{1,8})\s*$", parameters, re.ASCII | re.MULTILINE)
            return (_context({"n_ctx": int(named[1])}) or None) if named else None
    return None


def _entry(entries: list[Row], model: str, name: str) -> Row:
    """The model's own entry of a list, or the only one: some servers name a model by its file."""
    for entry in entries:
        if entry.get(name) in (model, f"{model}:latest"):
            return entry
    return entries[0] if len(entries) == 1 else {}


def _context(entry: object) -> int:
    """The first of the fields that gives a context, in what may hold such a field, 0 if none does."""
    if not isinstance(entry, dict):
        return 0
    for name in _CONTEXT_FIELDS:
        number = entry.get(name)
        if type(number) is int and FEWEST_TOKENS <= number <= MOST_TOKENS:
            return number
    return _context(entry.get("meta")) or _context(entry.get("default_generation_settings"))
