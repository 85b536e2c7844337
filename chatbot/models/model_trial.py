"""Tries a chat model once and says plainly how it went, for the person who sets it up."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from chatbot.errors import ModelError
from chatbot.models.addresses import endpoint_host, key_of
from chatbot.models.chat import SpentError, named_model
from chatbot.models.endpoint_errors import EndpointError, endpoint_failures
from chatbot.models.model_catalog import list_models
from chatbot.settings import Settings

__all__ = ["Trial", "try_model"]

# The person who pressed the button is waiting. A model that is loaded from disk first may take so long.
MOST_SECONDS = 30.0
# One word; the rest is for models that think first.
REPLY_TOKENS = 512
# Model names that are offered instead. A dozen can be read, and the right one is mostly among them.
MOST_OFFERED, LONGEST_NAME = 12, 80
MESSAGES = (("user", "Reply with the one word: ready"),)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial. text, hint: a sentence each."""

    works: bool
    text: str
    hint: str = ""


def try_model(settings: Settings, stopped: Callable[[], bool] = lambda: False) -> Trial:
    """Has the chat model of the settings say a word. Raises nothing.

    Takes MOST_SECONDS at most, or until stopped.
    """
    endpoint_failures(settings)  # imports the client, which is not part of the model's time
    host = endpoint_host(settings)
    started = time.monotonic()
    model = named_model(settings.hurried(MOST_SECONDS))
    reply = model.stream(
        MESSAGES,
        max_tokens=REPLY_TOKENS,
        stop=lambda: stopped() or time.monotonic() - started > MOST_SECONDS,
    )
    try:
        with closing(reply):
            reply.whole()
    except SpentError:
        return Trial(
            False,
            f"{host} answered, but {settings.chat_model} used all {REPLY_TOKENS} tokens for thinking.",
            "Set FINPOLICY_REASONING to low, or choose a model that does not think first.",
        )
    except ModelError as error:
        if isinstance(error, EndpointError) and error.kind == "model":
            return _without_model(host, settings)
        if isinstance(error, EndpointError) and error.kind == "key":
            return _without_key(host, settings)
        return Trial(False, error.message, error.hint)
    seconds = time.monotonic() - started
    if seconds > MOST_SECONDS:
        return Trial(
            False,
            f"{host} did not answer within {MOST_SECONDS:.0f} s.",
            "Try again in a minute, or choose a faster model.",
        )
    return Trial(True, f"{host} answered in {seconds:.1f} s with model {settings.chat_model}.")


def _without_key(host: str, settings: Settings) -> Trial:
    if not key_of(settings):
        return Trial(False, f"{host} asks for a key, and none is set.", "Give the key for it.")
    return Trial(
        False,
        f"{host} refused the key.",
        "Copy the whole key again, and check that it is for this provider.",
    )


def _without_model(host: str, settings: Settings) -> Trial:
    try:
        offered = [model.name for model in list_models(settings)]
    except ModelError:
        offered = []
    if not offered:
        return Trial(
            False,
            f"{host} does not know a model {settings.chat_model}.",
            "Check its name and the address, which usually ends in /v1.",
        )
    shown = ", ".join(name[:LONGEST_NAME] for name in offered[:MOST_OFFERED])
    if len(offered) > MOST_OFFERED:
        shown = f"{shown} and {len(offered) - MOST_OFFERED} more"
    return Trial(False, f"{host} has no model {settings.chat_model}.", f"It offers: {shown}.")
