"""Asks several models one question at the same time, and compares what the checks make of their answers."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chatbot.asking.asker import Asker
from chatbot.asking.model_roles import FixedModel
from chatbot.asking.named_models import OWN_WORDS, model_settings
from chatbot.asking.question import Ask
from chatbot.comparison.model_answers import ComparedAnswer, compared_answer
from chatbot.errors import ProjectError, UsageError
from chatbot.models.addresses import endpoint_host
from chatbot.records import Answer, Notice
from chatbot.settings import Settings

log = logging.getLogger(__name__)

__all__ = ["MOST_MODELS", "ComparedModel", "SideBySide", "compared_models"]

# More cannot be read side by side.
MOST_MODELS = 4
# What a model did that refused a question.
FOUND_NO_ANSWER = "It found no answer in its pages."
# Models that were named in a question, whose connections are kept.
MOST_NAMED = 16
# Seconds between two looks at whether the reader has stopped it.
TICK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """A model that takes part.

    name: as it was asked for, "provider:model", "model", or OWN_WORDS.
    settings: those of its answers.
    """

    name: str
    settings: Settings

    @property
    def host(self) -> str:
        """Who gets the question, "" for nobody."""
        return endpoint_host(self.settings) if self.settings.chat_model else ""


def compared_models(names: Sequence[str], settings: Settings) -> list[ComparedModel]:
    """Returns the models by their names: "provider:model", "model" at the settings' own endpoint, OWN_WORDS.

    A provider that is named gets its own key of the environment. Raises UsageError.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not 2 <= len(wanted) <= MOST_MODELS:
        raise UsageError(
            f"Choose two to {MOST_MODELS} different models, not {len(wanted)}.",
            hint=f"Name them as in openai:gpt-5-mini,ollama:qwen3,{OWN_WORDS}.",
        )
    return [ComparedModel(name, model_settings(name, settings)) for name in wanted]


class SideBySide:
    """Asks several models one question. Nothing of it is remembered. Safe to use from several threads."""

    def __init__(self, asker: Asker, settings: Settings) -> None:
        self._asker, self._settings = asker, settings
        self._named = lru_cache(MOST_NAMED)(self._asker_of)

    def asker(self, model: str) -> Asker:
        """Returns what answers with the model of this name, or with the usual one for "". Raises UsageError.

        With a model that is named, nothing but the answer is asked of it.
        """
        if not model:
            return self._asker
        return self._named(model)

    def _asker_of(self, model: str) -> Asker:
        return replace(self._asker, models=FixedModel(model_settings(model, self._settings)))

    def answers(
        self, ask: Ask, models: Sequence[ComparedModel], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[ComparedAnswer]:
        """Yields each model's answer as soon as it is there; all are asked at once.

        stop: ends it; models that have not answered by then are told so.
        """
        done: queue.Queue[ComparedAnswer] = queue.Queue()
        stopped = threading.Event()
        waiting = {model.name: model for model in models}
        for model in models:
            arguments = (ask, model, stopped, done)
            threading.Thread(target=self._ask, args=arguments, name="side-by-side", daemon=True).start()
        try:
            while waiting:
                try:
                    answer = done.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    if stop():
                        break
                    continue
                del waiting[answer.name]
                yield answer
            for model in waiting.values():
                yield ComparedAnswer(model.name, model.host, None, "Stopped before it answered.")
        finally:
            stopped.set()

    def _ask(
        self,
        ask: Ask,
        model: ComparedModel,
        stopped: threading.Event,
        done: queue.Queue[ComparedAnswer],
    ) -> None:
        started = time.monotonic()
        asker = replace(self._asker, models=FixedModel(model.settings))
        answer: Answer | None = None
        notices: list[Notice] = []
        problem = ""
        try:
            for event in asker.events(replace(ask, conversation=None), stopped.is_set):
                if isinstance(event, Answer):
                    answer = event
                if isinstance(event, Notice):
                    notices.append(event)
        except ProjectError as error:
            problem = f"{error.message} {error.hint}".strip()
        except Exception as error:
            log.exception("a model that is compared")
            problem = f"It failed ({type(error).__name__})."
        if answer is not None and answer.instead:  # the documents' own words are not this model's
            problem = answer.error or FOUND_NO_ANSWER
            answer = None
        seconds = round(time.monotonic() - started, 3)
        compared = compared_answer(model.name, model.host, answer, problem, seconds)
        done.put(replace(compared, notices=tuple(f"{one.text} {one.hint}".strip() for one in notices)))
