"""Connects a user to a provider: lists its models with their key, takes the usual one, and tries it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from chatbot.errors import ModelError, ProjectError
from chatbot.models.model_catalog import ListedModel, list_models, suggested
from chatbot.models.model_trial import Trial, try_model
from chatbot.settings import Settings

__all__ = ["NO_LIST", "Connection"]

NO_LIST = "It lists no models: write the name of one."


class Connection:
    """One attempt to connect, in a thread of its own, so that the page may be left meanwhile.

    The key is held by that thread alone, until the attempt is over.

    settings: what holds if it succeeds, without the key.
    state: "listing" | "testing" | "over".
    models: those that the endpoint lists, by name.
    model: the one that was taken, "" for none.
    problem: why none was, None if one was.
    trial: how the model's test went, None until then.
    """

    def __init__(self, settings: Settings, model: str, choose: Callable[[str], None]) -> None:
        """settings: what would hold, with the key. model: to be taken, "" for the usual one of the list.

        choose: keeps the model of this name for the user. It may raise ProjectError.
        """
        self.settings = replace(settings, api_key="")
        self.state = "listing"
        self.models: list[ListedModel] = []
        self.model = ""
        self.problem: ProjectError | None = None
        self.trial: Trial | None = None
        self.cancelled = False
        # Settings and `choose` hold the key: the thread alone has them.
        given = (settings, model, choose)
        threading.Thread(target=self._run, args=given, name="connecting", daemon=True).start()

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.state == "over"

    def _run(self, settings: Settings, model: str, choose: Callable[[str], None]) -> None:
        try:
            self._connect(settings, model, choose)
        except ProjectError as error:
            self.problem = error
        finally:
            self.state = "over"

    def _connect(self, settings: Settings, model: str, choose: Callable[[str], None]) -> None:
        try:
            self.models = list_models(settings)
        except ModelError as error:
            # Many endpoints list nothing; a key that is refused is refused for everything.
            if not model:
                raise _with_advice(error) from None
        if self.cancelled:
            return
        listed = {listed.name for listed in self.models}
        kept = settings.chat_model if settings.chat_model in listed else ""
        model = model or kept or suggested(self.models, settings)
        if not model:
            raise ModelError("The endpoint answers, but has no chat model.", hint=NO_LIST)
        choose(model)
        self.model = model
        self.state = "testing"
        self.trial = try_model(replace(settings, chat_model=model), lambda: self.cancelled)


def _with_advice(error: ModelError) -> ModelError:
    """The error of a list, with the advice to name a model where the list alone is missing."""
    if error.kind in {"path", "model"}:
        return ModelError(error.message, hint=f"{error.hint} {NO_LIST}", kind=error.kind)
    return error
