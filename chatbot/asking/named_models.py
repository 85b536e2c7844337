"""Turns the names of models, such as "ollama:qwen3", into the settings that they are asked with."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from chatbot.errors import UsageError
from chatbot.models.addresses import endpoint_url
from chatbot.models.providers import PROVIDERS, provider_by_host
from chatbot.settings import Settings

__all__ = ["OWN_WORDS", "model_settings"]

# The name of the answer without a model.
OWN_WORDS = "none"


def model_settings(name: str, settings: Settings) -> Settings:
    """Returns the settings of a model by its name, see `side_by_side.compared_models`. Raises UsageError."""
    if name == OWN_WORDS:
        return replace(settings, chat_model="")
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        _check_name(name, settings)
        return _without_price(replace(settings, chat_model=name), settings)
    is_own = settings.provider == provider
    if not (settings.base_url if is_own else PROVIDERS[provider].address):
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
