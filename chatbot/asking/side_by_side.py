"""Asks several models one question at the same time, and compares what the checks make of their answers."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache

from chatbot.asking.asker import Asker
from chatbot.asking.model_roles import FixedModel
from chatbot.asking.question import Ask
from chatbot.comparison.model_answers import ComparedAnswer, compared_answer
from chatbot.errors import ProjectError, UsageError
from chatbot.models.addresses import endpoint_host, endpoint_url
from chatbot.models.providers import PROVIDERS, provider_by_host
from chatbot.records import Answer, Notice
from chatbot.settings import Settings

log = logging.getLogger(__name__)

__all__ = ["MOST_MODELS", "OWN_WORDS", "ComparedModel", "SideBySide", "compared_models", "model_settings"]

# More cannot be read side by side.
MOST_MODELS = 4
# What a model did that refused a question.
FOUND_NO_ANSWER = "It found no answer in its pages."
# The name of the answer without a model.
OWN_WORDS = "none"
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


def model_settings(name: str, settings: Settings) -> Settings:
    """Returns the settings of a model by its name, see `compared_models`. Raises UsageError."""
    if name == OWN_WORDS:
        return replace(settings, chat_model="")
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        _check_name(name, settings)
        return _without_price(replace(settings, chat_model=name), settings)
    is_own = settings.provider == provider
    url = settings.base_url if is_own else PROVIDERS[provider].address
    if not url:
        raise UsageError(
            f"{PROVIDERS[provider].name} needs the address of your resource.",
            hint=f"Set FINPOLICY_PROVIDER={provider} and OPENAI_BASE_URL.",
        )
    # Without a base_url, only the provider's own key is sent.
    base_url = settings.base_url if is_own else ""
    named = replace(settings, provider=provider, base_url=base_url, chat_model=model)
    if not is_own and provider_by_host(endpoint_url(settings)) != PROVIDERS["openai"]:
        named = replace(named, api_key="")  # it is that of another host
    return _without_price(named, settings)


def _check_name(name: str, settings: Settings) -> None:
    """Raises UsageError for a provider that is none, so that nothing goes to another host than was meant."""
    provider, colon, model = name.partition(":")
    near = get_close_matches(provider.casefold(), PROVIDERS, n=1, cutoff=0.75)
    if colon and not model and near:
        raise UsageError(
            f"{name} does not name a model.", hint=f"Write {near[0]}:MODEL, such as ollama:qwen3."
        )
    if colon and near:
        raise UsageError(f"There is no provider named {provider}.", hint=f"Did you mean {near[0]}:{model}?")
    if not (settings.chat_model or settings.provider or settings.base_url):
        raise UsageError(
            f"The provider of {name} is missing.",
            hint=f"Write PROVIDER:MODEL, such as ollama:qwen3, or set OPENAI_BASE_URL. The providers are "
            f"{', '.join(PROVIDERS)}.",
        )


def _without_price(wanted: Settings, settings: Settings) -> Settings:
    """The settings' prices are those of their own model."""
    if (wanted.provider, wanted.chat_model) == (settings.provider, settings.chat_model):
        return wanted
    return replace(wanted, price_in=0.0, price_out=0.0)


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
        models = FixedModel(model_settings(model, self._settings))
        return replace(self._asker, models=models)

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
        if answer is not None and answer.not_found:
            # What is quoted in its place is not the model's.
            wrote = sum(statement.status == "unsupported" for statement in answer.statements)
            compared = replace(compared, statements=wrote, holding=0, figures=0, right=0)
        done.put(replace(compared, notices=tuple(f"{one.text} {one.hint}".strip() for one in notices)))
