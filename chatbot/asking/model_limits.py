"""Finds out how much each chat model takes, from its endpoint, and whether it is slow.

A slow model is used for nothing but the answer. It sends no question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from chatbot.errors import ModelError
from chatbot.models.addresses import endpoint_url
from chatbot.models.endpoint_errors import endpoint_failures
from chatbot.models.endpoints import open_client
from chatbot.settings import LEAST_CONTEXT, Settings

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["ModelLimits", "ask_context"]

# An endpoint that tells nothing within this is not waited for: the answer shows what it takes.
MOST_SECONDS = 2.0
# How long what was found out holds: models are loaded anew, and machines become free again.
KNOWN_SECONDS = 600.0
# Other vocabularies take up to 36 percent more tokens for the same text than ours.
SHARE_OF_CONTEXT = 0.7
# Of a prompt that was too long.
SHRUNK = 0.5
# Fewer tokens, or more, are no context: the field means something else.
FEWEST_TOKENS, MOST_TOKENS = 512, 10**9
# Names of the field in the lists of vLLM, OpenRouter and Together, Groq, llama.cpp.
_FIELDS = ("max_model_len", "context_length", "context_window", "n_ctx")


class ModelLimits:
    """What was found out about chat models in this process.

    Safe to use from several threads; the latest finding counts.
    """

    def __init__(self, ask: Callable[[Settings], int | None] | None = None) -> None:
        """ask: finds a context out, as `ask_context` does."""
        self._ask, self._lock = ask or ask_context, threading.Lock()
        self._contexts = dict[tuple[str, str], tuple[float, int]]()
        self._slow = dict[tuple[str, str], float]()

    def prompt_tokens(self, settings: Settings) -> int:
        """What a prompt may take: as the settings say, or less if the endpoint's context is shorter."""
        key = _key(settings)
        now = time.monotonic()
        until, context = self._contexts.get(key, (0.0, 0))
        if until < now:
            found = self._ask(settings)
            context = found or 0
            if found is not None:
                with self._lock:
                    self._contexts[key] = (now + KNOWN_SECONDS, context)
        if not context:
            return settings.context_tokens
        return min(
            settings.context_tokens,
            max(LEAST_CONTEXT, int(context * SHARE_OF_CONTEXT) - settings.answer_tokens),
        )

    def too_long(self, settings: Settings, tokens: int) -> int:
        """Note that a prompt of so many tokens was too long, and return what the next one may take."""
        less = max(LEAST_CONTEXT, int(tokens * SHRUNK))
        with self._lock:
            self._contexts[_key(settings)] = (
                time.monotonic() + KNOWN_SECONDS,
                int((less + settings.answer_tokens) / SHARE_OF_CONTEXT) + 1,
            )
        return less

    def found_slow(self, settings: Settings) -> bool:
        """Note that a model took too long. True if that was not known."""
        with self._lock:
            new = not self.is_slow(settings)
            self._slow[_key(settings)] = time.monotonic() + KNOWN_SECONDS
        return new

    def is_slow(self, settings: Settings) -> bool:
        """Whether a model took too long lately."""
        return self._slow.get(_key(settings), 0.0) > time.monotonic()


def ask_context(settings: Settings) -> int | None:
    """The tokens of prompt and answer together that an endpoint has room for.

    0 if it does not say, None if it may say once the model is loaded. It asks vLLM, llama.cpp, LM Studio,
    Ollama and servers that list their models in the same ways, and sends no text.
    """
    if not settings.base_url:  # OpenAI's own, whose list tells none
        return 0
    root = endpoint_url(settings).rstrip("/").removesuffix("/v1")
    with suppress(ModelError), open_client(settings.hurried(MOST_SECONDS)) as client:
        listed = _entry(_get(client, "/models").get("data"), settings.chat_model, "id")
        if told := _context_of(listed) or _context_of(listed.get("meta")):
            return told
        owner = listed.get("owned_by")
        if owner == "llamacpp":
            return _context_of(_get(client, f"{root}/props").get("default_generation_settings"))
        if owner == "library":
            return _of_ollama(client, root, settings.chat_model)
        if owner == "organization_owner":
            models = _get(client, f"{root}/api/v0/models").get("data")
            return _number(_entry(models, settings.chat_model, "id").get("loaded_context_length")) or None
    return 0


def _of_ollama(client: OpenAI, root: str, model: str) -> int | None:
    """The context of the model as it is loaded, or else as its file asks for."""
    running = _entry(_get(client, f"{root}/api/ps").get("models"), model, "name")
    loaded = _context_of(running)
    if loaded:
        return loaded
    parameters = _get(client, f"{root}/api/show", {"model": model}).get("parameters")
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


def _get(client: OpenAI, address: str, body: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """The JSON object that is answered, {} for anything else. It posts where there is a body."""
    with suppress(*endpoint_failures()):
        if body is None:
            answer = client.get(address, cast_to=object)
        else:
            answer = client.post(address, body=body, cast_to=object)
        if isinstance(answer, dict):
            return answer
    return {}


def _entry(listed: object, model: str, name: str) -> Mapping[str, object]:
    """The model's own entry of a list, or the only one: some servers name a model by its file."""
    if not isinstance(listed, list):
        return {}
    entries = [entry for entry in listed if isinstance(entry, dict)]
    for entry in entries:
        if entry.get(name) in (model, f"{model}:latest"):
            return entry
    if len(entries) == 1:
        return entries[0]
    return {}


def _context_of(entry: object) -> int:
    """The first of the fields that gives a context, 0 if none does."""
    if not isinstance(entry, dict):
        return 0
    for name in _FIELDS:
        number = _number(entry.get(name))
        if number:
            return number
    return 0


def _number(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and FEWEST_TOKENS <= value <= MOST_TOKENS:
        return value
    return 0


def _key(settings: Settings) -> tuple[str, str]:
    return endpoint_url(settings), settings.chat_model
