"""Finds out which chat models an endpoint has, how much each takes and what it can do. Sends no text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatbot.errors import ModelError
from chatbot.models.addresses import address_of, client_of
from chatbot.models.endpoint_errors import EndpointError, clean_text, endpoint_failures, explain_failure
from chatbot.models.endpoints import open_anthropic, open_client
from chatbot.models.providers import PROVIDERS, provider_by_host
from chatbot.settings import Settings

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

__all__ = ["LONGEST_NAME", "ListedModel", "context_of", "list_models", "suggested"]

# An endpoint that tells nothing within this is not waited for: the answer shows what it takes.
CONTEXT_SECONDS = 2.0
LIST_SECONDS = 10.0
# Fewer tokens, or more, are no context: the field means something else.
FEWEST_TOKENS, MOST_TOKENS = 512, 10**9
# Of a list that has no end.
MOST_LISTED = 10_000
LONGEST_NAME = 200
# Names of the field in the lists of vLLM, OpenRouter and Together, Groq, llama.cpp, Anthropic.
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "n_ctx", "max_input_tokens")
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
    failures = endpoint_failures(settings)
    hurried = settings.hurried(LIST_SECONDS)
    try:
        with _open(hurried) as client:
            rows = _rows(client, settings)
            found = [_listed(row, settings) for row in rows]
            with_details = _with_details(client, found, rows, settings)
    except failures as error:
        raise explain_failure(error, settings, model_setting="FINPOLICY_CHAT_MODEL") from None
    by_name = {model.name: model for model in with_details if model.name}
    return sorted(by_name.values(), key=lambda model: model.name.casefold())


def suggested(models: list[ListedModel], settings: Settings) -> str:
    """Returns the model to take where nobody has chosen, "" for none.

    That is the provider's usual one, in its newest version, which is the last by name; else the first.
    """
    provider = PROVIDERS.get(settings.provider) or provider_by_host(settings.base_url)
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
    expected: tuple[type[Exception], ...] = (ModelError, *endpoint_failures(settings))
    with suppress(*expected), _open(settings.hurried(CONTEXT_SECONDS)) as client:
        row = _entry(_rows(client, settings), settings.chat_model, "id")
        if told := _context(row) or _context(row.get("meta")):
            return told
        return _context_of_program(client, row.get("owned_by"), settings)
    return 0


def _open(settings: Settings) -> OpenAI | Anthropic:
    if client_of(settings) == "anthropic":
        return open_anthropic(settings)
    return open_client(settings)


def _rows(client: OpenAI | Anthropic, settings: Settings) -> list[Mapping[str, object]]:
    """Returns the entries of the endpoint's list. Raises EndpointError if there is none."""
    if client_of(settings) == "anthropic":
        paths = ["/v1/models?limit=1000"]
    elif address_of(settings).has_version:
        paths = ["/models"]
    else:
        paths = ["/models", "/v1/models"]
    failures = endpoint_failures(settings)
    failure: Exception = EndpointError("The list of models cannot be read.", kind="path")
    for path in paths:
        try:
            listed = client.get(path, cast_to=object)
        except failures as error:
            failure = error
            continue
        rows = _list_in(listed)
        if rows is not None:
            return rows[:MOST_LISTED]
    raise failure


def _list_in(listed: object) -> list[Mapping[str, object]] | None:
    """Returns the entries of a list, also of one that stands bare or under another name; None for no list."""
    if isinstance(listed, dict):
        listed = listed.get("data", listed.get("models"))
    if not isinstance(listed, list):
        return None
    return [entry for entry in listed if isinstance(entry, dict)]


def _listed(row: Mapping[str, object], settings: Settings) -> ListedModel:
    """Returns a model by its entry, without a name where it writes no answers."""
    name = row.get("id") or row.get("name")
    shown = clean_text(name, settings) if isinstance(name, str) else ""
    kind = row.get("type")
    if shown != name or len(shown) > LONGEST_NAME or kind in {"embeddings", "embedding"}:
        return ListedModel("")
    if any(part in shown.casefold() for part in _NO_CHAT):
        return ListedModel("")
    price_in, price_out = _prices(row.get("pricing"))
    return ListedModel(shown, _context(row) or _context(row.get("meta")), _thinks(row), price_in, price_out)


def _with_details(
    client: OpenAI | Anthropic,
    models: list[ListedModel],
    rows: list[Mapping[str, object]],
    settings: Settings,
) -> Iterator[ListedModel]:
    """Yields the models; of LM Studio without those of other kinds."""
    is_lm_studio = any(row.get("owned_by") == "organization_owner" for row in rows)
    others = set[object]()
    if is_lm_studio:
        told = _list_in(_get(client, settings, f"{_root(settings)}/api/v0/models")) or []
        others = {row.get("id") for row in told if row.get("type") not in {"llm", "vlm"}}
    yield from (model for model in models if model.name not in others)


def _thinks(row: Mapping[str, object]) -> bool | None:
    """Whether a model thinks before it answers, as OpenRouter, Anthropic and Ollama tell."""
    match row:
        case {"supported_parameters": list(parameters)}:
            return "reasoning" in parameters
        case {"capabilities": {"thinking": {"supported": bool(thinks)}}}:
            return thinks
        case {"capabilities": list(abilities)}:
            return "thinking" in abilities
    return None


def _prices(pricing: object) -> tuple[float | None, float | None]:
    """The prices of a million tokens, of OpenRouter's list, which gives those of one."""
    if not isinstance(pricing, dict):
        return None, None
    found: list[float | None] = []
    for name in ("prompt", "completion"):
        try:
            price = float(str(pricing.get(name))) * 1e6
        except ValueError:
            price = -1.0
        found.append(price if 0 <= price < 1e6 else None)
    return found[0], found[1]


def _context_of_program(client: OpenAI | Anthropic, owner: object, settings: Settings) -> int | None:
    """The context of a model that a program on some machine has loaded, by the program's own interface."""
    root = _root(settings)
    if owner == "llamacpp":
        return _context(_get(client, settings, f"{root}/props").get("default_generation_settings"))
    if owner == "library":
        return _of_ollama(client, root, settings)
    if owner == "organization_owner":
        rows = _list_in(_get(client, settings, f"{root}/api/v0/models")) or []
        return _number(_entry(rows, settings.chat_model, "id").get("loaded_context_length")) or None
    return 0


def _root(settings: Settings) -> str:
    """The address without the version."""
    return address_of(settings).base.removesuffix("/v1")


def _of_ollama(client: OpenAI | Anthropic, root: str, settings: Settings) -> int | None:
    """The context of the model as it is loaded, or else as its file asks for."""
    model = settings.chat_model
    running = _entry(_list_in(_get(client, settings, f"{root}/api/ps")) or [], model, "name")
    loaded = _context(running)
    if loaded:
        return loaded
    parameters = _get(client, settings, f"{root}/api/show", {"model": model}).get("parameters")
    if not isinstance(parameters, str):
        return None
    for line in parameters.splitlines():
        words = line.split()
        if words[:1] == ["num_ctx"] and words[1:]:
            value = words[1]
            is_number = value.isascii() and value.isdigit() and len(value) < 9
            if not is_number:
                return None
            return _number(int(value)) or None
    return None


def _get(
    client: OpenAI | Anthropic,
    settings: Settings,
    address: str,
    body: Mapping[str, object] | None = None,
) -> Mapping[str, object]:
    """The JSON object that is answered, {} for anything else. It posts where there is a body."""
    with suppress(*endpoint_failures(settings)):
        if body is None:
            answer = client.get(address, cast_to=object)
        else:
            answer = client.post(address, body=body, cast_to=object)
        if isinstance(answer, dict):
            return answer
    return {}


def _entry(entries: list[Mapping[str, object]], model: str, name: str) -> Mapping[str, object]:
    """The model's own entry of a list, or the only one: some servers name a model by its file."""
    for entry in entries:
        if entry.get(name) in (model, f"{model}:latest"):
            return entry
    if len(entries) == 1:
        return entries[0]
    return {}


def _context(entry: object) -> int:
    """The first of the fields that gives a context, 0 if none does."""
    if not isinstance(entry, dict):
        return 0
    for name in _CONTEXT_FIELDS:
        number = _number(entry.get(name))
        if number:
            return number
    return 0


def _number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and FEWEST_TOKENS <= value <= MOST_TOKENS:
        return value
    return 0
