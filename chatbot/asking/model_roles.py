"""Chooses the chat model for each task: answering, ordering pages, completing follow-ups.

It asks none of them anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from chatbot.asking.model_limits import ModelLimits
from chatbot.asking.named_models import model_settings
from chatbot.memory.user_settings_store import UserModel, UserSettingsStore
from chatbot.models.chat import LLM, make_model, named_model
from chatbot.records import Usage
from chatbot.search.follow_up.llm import make_rewriting_model
from chatbot.search.reranking import make_reranking_model
from chatbot.settings import Settings

__all__ = ["ChatModels", "FixedModel", "Verifier"]

# Providers give their prices for so many tokens.
TOKENS_PER_PRICE = 1e6
# Keeps the connections of models that only read answers back.
_kept_model = lru_cache(16)(named_model)


@dataclass(frozen=True, slots=True)
class Verifier:
    """A chat model that reads answers back.

    context: of the model, in tokens. timeout: seconds for one answer. tokens: the most of the prompts for it.
    cost: gets what it used and returns what it costs, None without prices.
    """

    model: LLM
    context: int
    timeout: float
    tokens: int
    cost: Callable[[Usage], float | None]


class ChatModels:
    """The chat models of the settings and of their owners. Safe to use from several threads."""

    def __init__(self, settings: Settings, own: UserSettingsStore, given: LLM | None = None) -> None:
        """own: what each owner chose. given: a model that does everything instead of that of the settings."""
        self._settings, self._own, self._given = settings, own, given
        self._model = given
        self._chosen = given is not None
        self._limits = ModelLimits() if given is None else ModelLimits(lambda _: 0)

    def settings_of(self, owner: str | None) -> Settings:
        """The settings that hold for an owner; None for the settings of everyone who chose nothing."""
        if owner is None:
            return self._settings
        return self._own.settings(owner)

    def answering(self, owner: str | None = None) -> LLM | None:
        """The chat model that an owner or the settings chose; None for extractive answers.

        owner: None for the settings' own.
        """
        if owner is not None:
            return self._own.model(owner, self.answering)
        if not self._chosen:
            self._model, self._chosen = make_model(self._settings), True
        return self._model

    def reranking(self, owner: str | None = None) -> LLM | None:
        """The chat model that orders pages; None if that is off, or if the model is slow."""
        settings = self.settings_of(owner)
        if settings.rerank and not self._limits.is_slow(settings):
            return self._helper(settings, owner, make_reranking_model)
        return None

    def rewriting(self, owner: str) -> LLM | None:
        """The chat model that completes follow-ups; None if that is off, or if the model is slow."""
        settings = self.settings_of(owner)
        if settings.rewrite and not self._limits.is_slow(settings):
            return self._helper(settings, owner, make_rewriting_model)
        return None

    def verifying(self, owner: str) -> Verifier | None:
        """Who reads an owner's answers back; None if that is off. Raises UsageError for a wrong name."""
        settings = self.settings_of(owner)
        model = self.answering(owner)
        if not settings.verify or model is None:
            return None
        if settings.verify_model and not self._is_own(owner):
            settings = model_settings(settings.verify_model, settings)
            model = _kept_model(settings)
        limit = self._limits.context_tokens(settings)
        cost = partial(_cost, settings)
        return Verifier(model, limit, settings.verify_timeout, settings.verify_tokens, cost)

    def prompt_tokens(self, owner: str) -> int:
        """What the prompt of this owner's chat model may take."""
        return self._limits.prompt_tokens(self.settings_of(owner))

    def answer_tokens(self, owner: str) -> int:
        """What the answer of this owner's chat model may take."""
        return self._limits.answer_tokens(self.settings_of(owner))

    def cost(self, owner: str, usage: Usage) -> float | None:
        """What this owner's chat model costs for what it used, in dollars; None without prices."""
        return _cost(self.settings_of(owner), usage)

    def too_long(self, owner: str, tokens: int) -> int:
        """Note that a prompt was too long for this owner's chat model.

        Returns what the next one may take.
        """
        return self._limits.too_long(self.settings_of(owner), tokens)

    def found_slow(self, owner: str) -> bool:
        """Note that this owner's chat model took too long.

        True if it was used for more than answers until now, and is not for a while.
        """
        settings = self.settings_of(owner)
        return self._limits.found_slow(settings) and (settings.rerank or settings.rewrite)

    def _is_own(self, owner: str) -> bool:
        """Whether an owner chose a model, to which alone their questions go."""
        return self._own.is_own(owner)

    def _helper(
        self, settings: Settings, owner: str | None, make: Callable[[Settings], LLM | None]
    ) -> LLM | None:
        """The chat model for a short call beside the answer; a model that was passed in does all."""
        if owner is not None and self._is_own(owner):
            made = make(settings)
            if made:
                return UserModel(made)
            return None
        if self._given is None:
            return make(settings)
        return self._given


class FixedModel(ChatModels):
    """One model that answers whoever asks, and does nothing else. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        """settings: those of its answers; without a chat model these are in the documents' own words."""
        self._settings, self._model = settings, make_model(settings)
        self._limits = ModelLimits()

    def settings_of(self, owner: str | None) -> Settings:
        """The settings it was made with."""
        return self._settings

    def answering(self, owner: str | None = None) -> LLM | None:
        """The model."""
        return self._model

    def reranking(self, owner: str | None = None) -> LLM | None:
        """None: models that are compared get the same pages."""
        return None

    def rewriting(self, owner: str) -> LLM | None:
        """None, see `reranking`."""
        return None

    def _is_own(self, owner: str) -> bool:
        return False


def _cost(settings: Settings, usage: Usage) -> float | None:
    """What a model costs for what it used, in dollars; None without prices."""
    if not settings.price_in and not settings.price_out:
        return None
    price = usage.prompt_tokens * settings.price_in + usage.answer_tokens * settings.price_out
    return price / TOKENS_PER_PRICE
