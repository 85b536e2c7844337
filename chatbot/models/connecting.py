"""Connects a user to a chat model: finds programs on this machine, lists an endpoint's models, and tries one.

A trial says plainly how it went, for the person who sets the model up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace

from chatbot.errors import ModelError, ProjectError
from chatbot.models.addresses import endpoint_host, key_of
from chatbot.models.chat import SpentError, named_model
from chatbot.models.endpoint_errors import EndpointError, endpoint_failures
from chatbot.models.model_catalog import ListedModel, list_models, suggested
from chatbot.models.providers import PROVIDERS, Provider
from chatbot.settings import Settings

__all__ = [
    "Connection",
    "LocalModels",
    "RunningProgram",
    "RunningTrial",
    "Trial",
    "look_for_programs",
    "try_model",
]

# A program on this machine answers at once, or is busy loading a model.
LOOK_SECONDS = 1.5
# How long a finding holds: programs are started while the page is open.
KNOWN_SECONDS = 20.0
# The person who pressed the button is waiting. A model that is loaded from disk first may take so long.
MOST_SECONDS = 30.0
# One word; the rest is for models that think first.
REPLY_TOKENS = 512
# Model names that are offered instead. A dozen can be read, and the right one is mostly among them.
MOST_OFFERED, LONGEST_NAME = 12, 80
MESSAGES = (("user", "Reply with the one word: ready"),)


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program that answers at its usual port with a list of chat models, of which it has at least one."""

    provider: Provider
    models: tuple[ListedModel, ...]


def look_for_programs(settings: Settings) -> list[RunningProgram]:
    """Returns the programs that answer at the usual ports, all asked at once. Takes LOOK_SECONDS at most.

    Nothing is asked offline, and where others can open the pages.
    """
    if settings.offline or settings.open_to_others:
        return []
    local = [provider for provider in PROVIDERS.values() if provider.is_local]
    asked = replace(settings.hurried(LOOK_SECONDS), endpoint_rule="", api_key="")
    with ThreadPoolExecutor(len(local)) as pool:
        lists = pool.map(lambda provider: _models_of(provider, asked), local)
        found = zip(local, lists, strict=True)
        return [RunningProgram(provider, models) for provider, models in found if models]


def _models_of(provider: Provider, settings: Settings) -> tuple[ListedModel, ...]:
    try:
        return tuple(list_models(replace(settings, provider=provider.id, base_url=provider.address)))
    except ModelError:
        return ()


class LocalModels:
    """What runs on this machine, looked for beside the page. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._lock = settings, threading.Lock()
        self._found: list[RunningProgram] = []
        self._until = 0.0
        self.is_looking = False

    def programs(self) -> list[RunningProgram]:
        """Returns what was found last. Looks again in the background if that is no longer fresh."""
        with self._lock:
            if time.monotonic() > self._until and not self.is_looking:
                self.is_looking = True
                _begin(self._look)
            return list(self._found)

    def _look(self) -> None:
        try:
            self._found = look_for_programs(self._settings)
        finally:
            self._until = time.monotonic() + KNOWN_SECONDS
            self.is_looking = False


class Connection:
    """An endpoint that a user has given: its list of models, asked in a thread, and what saves one of them.

    The key is held here until another card is opened or the session ends, and is never given out.

    settings: those of the endpoint, without the key.
    is_over: whether the list has come, or failed.
    models: those that the endpoint lists, by name.
    problem: why there is no list, None if there is one.
    """

    def __init__(self, settings: Settings, choose: Callable[[str], None]) -> None:
        """settings: what would hold, with the key.

        choose: keeps the model of this name for the user, as `save`. It may raise ProjectError.
        """
        self.settings = replace(settings, api_key="")
        self._with_key, self.save = settings, choose
        self.is_over = False
        self.models: list[ListedModel] = []
        self.problem: ProjectError | None = None
        _begin(self._list)

    @property
    def suggested(self) -> str:
        """The model to begin with: the one that was chosen before, else the provider's usual one, else ""."""
        listed = {model.name for model in self.models}
        before = self.settings.chat_model
        return before if before in listed else suggested(self.models, self.settings)

    def try_model(self, name: str) -> RunningTrial:
        """Begins a trial of the model of this name."""
        return RunningTrial(replace(self._with_key, chat_model=name))

    def _list(self) -> None:
        try:
            self.models = list_models(self._with_key)
        except ProjectError as error:
            self.problem = error
        finally:
            self.is_over = True


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial. text, hint: a sentence each."""

    works: bool
    text: str
    hint: str = ""


class RunningTrial:
    """A trial of a model in a thread of its own, so that the page may be left meanwhile.

    settings: without the key, which only the thread has. begun: on the monotonic clock.
    trial: how it went, None until then.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.begun = replace(settings, api_key=""), time.monotonic()
        self.trial: Trial | None = None
        self.cancelled = False

        def run() -> None:
            self.trial = try_model(settings, lambda: self.cancelled)

        _begin(run)


def _begin(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="connecting", daemon=True).start()


def try_model(settings: Settings, stopped: Callable[[], bool] = lambda: False) -> Trial:
    """Has the chat model of the settings say a word. Raises nothing.

    Takes MOST_SECONDS at most, or until stopped.
    """
    endpoint_failures(settings)  # imports the client, which is not part of the model's time
    host, name = endpoint_host(settings), settings.chat_model
    started = time.monotonic()

    def late() -> bool:
        return time.monotonic() - started > MOST_SECONDS

    model = named_model(settings.hurried(MOST_SECONDS))
    reply = model.stream(MESSAGES, max_tokens=REPLY_TOKENS, stop=lambda: stopped() or late())
    try:
        with closing(reply):
            reply.whole()
    except SpentError:
        return Trial(
            False,
            f"{host} answered, but {name} used all {REPLY_TOKENS} tokens for thinking.",
            "Set FINPOLICY_REASONING to low, or choose a model that does not think first.",
        )
    except ModelError as error:
        return _failed(error, host, settings)
    if late():
        return Trial(
            False,
            f"{host} did not answer within {MOST_SECONDS:.0f} s.",
            "Try again in a minute, or choose a faster model.",
        )
    return Trial(True, f"{host} answered in {time.monotonic() - started:.1f} s with model {name}.")


def _failed(error: ModelError, host: str, settings: Settings) -> Trial:
    text, hint = error.message, error.hint
    kind = error.kind if isinstance(error, EndpointError) else ""
    if kind == "key" and not key_of(settings):
        text, hint = f"{host} asks for a key, and none is set.", "Give the key for it."
    elif kind == "key":
        text = f"{host} refused the key."
        hint = "Copy the whole key again, and check that it is for this provider."
    elif kind == "model":
        text = f"{host} does not know a model {settings.chat_model}."
        hint = "Check its name and the address, which usually ends in /v1."
        try:
            offered = [model.name[:LONGEST_NAME] for model in list_models(settings)]
        except ModelError:
            offered = []
        if offered:
            others = len(offered) - MOST_OFFERED
            more = f" and {others} more" if others > 0 else ""
            text = f"{host} has no model {settings.chat_model}."
            hint = f"It offers: {', '.join(offered[:MOST_OFFERED])}{more}."
    return Trial(False, text, hint)
