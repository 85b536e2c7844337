"""Finds programs that serve chat models on this machine."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from chatbot.errors import ModelError
from chatbot.models.model_catalog import ListedModel, list_models
from chatbot.models.providers import PROVIDERS, Provider
from chatbot.settings import Settings

__all__ = ["LocalModels", "RunningProgram", "look_for_programs"]

# A program on this machine answers at once, or is busy loading a model.
MOST_SECONDS = 1.5
# How long a finding holds: programs are started while the page is open.
KNOWN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program that answers at its usual port with a list of chat models, of which it has at least one."""

    provider: Provider
    models: tuple[ListedModel, ...]


def look_for_programs(settings: Settings) -> list[RunningProgram]:
    """Returns the programs that answer at the usual ports, all asked at once. Takes MOST_SECONDS at most.

    Nothing is asked offline, and where others can open the pages.
    """
    if settings.offline or settings.open_to_others:
        return []
    local = [provider for provider in PROVIDERS.values() if provider.is_local]
    asked = replace(settings.hurried(MOST_SECONDS), endpoint_rule="", api_key="")
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
        self._looking = False

    def programs(self) -> list[RunningProgram]:
        """Returns what was found last. Looks again in the background if that is no longer fresh."""
        with self._lock:
            if time.monotonic() > self._until and not self._looking:
                self._looking = True
                threading.Thread(target=self._look, name="local-models", daemon=True).start()
            return list(self._found)

    @property
    def is_looking(self) -> bool:
        """Whether a look is under way."""
        return self._looking

    def _look(self) -> None:
        try:
            self._found = look_for_programs(self._settings)
        finally:
            self._until = time.monotonic() + KNOWN_SECONDS
            self._looking = False
