"""Connects a user to a provider: lists its models with their key, tries one, and keeps the one they save."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

from chatbot.errors import ProjectError
from chatbot.models.model_catalog import ListedModel, list_models, suggested
from chatbot.models.model_trial import Trial, try_model
from chatbot.settings import Settings

__all__ = ["Connection", "RunningTrial"]


class RunningTrial:
    """A trial of a model in a thread of its own, so that the page may be left meanwhile.

    settings: without the key, which only the thread has. begun: on the monotonic clock.
    trial: how it went, None until then.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.begun = replace(settings, api_key=""), time.monotonic()
        self.trial: Trial | None = None
        self.cancelled = False
        threading.Thread(target=self._run, args=(settings,), name="model-trial", daemon=True).start()

    def _run(self, settings: Settings) -> None:
        self.trial = try_model(settings, lambda: self.cancelled)


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
        threading.Thread(target=self._list, name="connecting", daemon=True).start()

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
