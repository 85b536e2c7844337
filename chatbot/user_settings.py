"""Defines what each user may choose over the server's settings, and applies the choices.

Each preference has a name, an effect and a range. Choices are stored elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

from chatbot.errors import ModelError, SettingsError
from chatbot.models.addresses import address_of, endpoint_url, tidied
from chatbot.models.endpoints import check_endpoint
from chatbot.models.providers import PROVIDERS
from chatbot.settings import MOST_PAGES, STRATEGIES, Settings

__all__ = [
    "BY_NAME",
    "LONGEST_KEY",
    "LONGEST_MODEL",
    "LONGEST_URL",
    "MODEL_CHOICES",
    "PREFERENCES",
    "Chosen",
    "Preference",
    "Value",
    "applied",
    "check_address",
    "check_key",
    "check_model_name",
    "check_value",
    "in_own_words",
    "reworded",
    "server_value",
    "user_rule",
]

Value: TypeAlias = bool | int | float | str
Chosen: TypeAlias = Mapping[str, Value]

# Who writes the answers: the model of the server's settings, no model, or one that the user names.
MODEL_CHOICES = ("server", "none", "own")
# The longest model names are those of files in folders. A longer address is not an endpoint. Keys have up to
# 200 characters.
LONGEST_MODEL = 200
LONGEST_URL = 500
LONGEST_KEY = 1_000
# One year: older news is history.
MOST_HOURS = 8_760
# The most exchanges that help to understand a follow-up. With more, the page would take a moment to open.
MOST_WINDOW = 50
# The longest conversation before it is shortened: what the largest contexts hold.
MOST_TOKENS = 1_000_000
# For 1M tokens: ten times what the dearest model costs.
MOST_PRICE = 10_000
# A choice that is typed.
LONGEST_WORDS = 100
# The most notes of one memory.
MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class Preference:
    """A preference that is a switch, a number, one of several words or a text.

    name: the field of Settings.
    effect: what it does, in a sentence.
    least, most, step: of a number; both ends are allowed.
    choices: of a word.
    part: the part of the page it is in.
    needs_model: whether it has no effect on answers in the documents' own words.
    needs: another preference, without which it has no effect; "" for none.
    zero: what 0 means, if it is special.
    """

    name: str
    part: str
    label: str
    effect: str
    least: float = 0
    most: float = 1
    step: float = 1
    needs_model: bool = False
    needs: str = ""
    zero: str = ""
    choices: tuple[str, ...] = ()

    def has_effect(self, settings: Settings) -> bool:
        """Tells whether it changes anything for a user with these settings."""
        has_needed = not self.needs or bool(getattr(settings, self.needs))
        return has_needed and (not self.needs_model or bool(settings.chat_model))


PREFERENCES: tuple[Preference, ...] = (
    Preference(
        "pages",
        "answers",
        "Pages per answer",
        "More pages find more, but also more that is beside the point.",
        1,
        MOST_PAGES,
    ),
    Preference(
        "rerank",
        "answers",
        "Rank pages with the model",
        "The model sorts the ten best pages first. Better pages, but a few seconds slower.",
        needs_model=True,
    ),
    Preference(
        "verify",
        "answers",
        "Check answers with the model",
        "A second call compares each statement with its pages. Costs about as much as the answer.",
        needs_model=True,
    ),
    Preference(
        "strategy",
        "answers",
        "Search of long questions",
        "How the pieces of a question that is longer than a page are combined.",
        choices=STRATEGIES,
    ),
    Preference(
        "window",
        "follow-ups",
        "Questions remembered",
        "Follow-ups are understood from this many earlier questions and answers.",
        1,
        MOST_WINDOW,
    ),
    Preference(
        "prompt_exchanges",
        "follow-ups",
        "Questions sent to the model",
        "How many of these go along with each question. More leave less room for documents.",
        1,
        MOST_WINDOW,
        needs_model=True,
    ),
    Preference(
        "rewrite",
        "follow-ups",
        "Complete follow-ups with the model",
        "Completes “and the year before?” before the search. One extra short call.",
        needs_model=True,
    ),
    Preference(
        "summary",
        "follow-ups",
        "Summarise earlier questions",
        "Summarises what no longer fits. One short call for every five questions.",
        needs_model=True,
    ),
    Preference(
        "compression",
        "follow-ups",
        "Shorten long conversations",
        "Sends the whole conversation, and of a long one what matters for the question. The answer says so.",
        needs_model=True,
    ),
    Preference(
        "compression_tokens",
        "follow-ups",
        "Tokens before it is shortened",
        "Less if the prompt has less room beside the pages and the answer.",
        0,
        MOST_TOKENS,
        1_000,
        needs_model=True,
        needs="compression",
    ),
    Preference(
        "compression_ratio",
        "follow-ups",
        "Share kept when shortened",
        "Of a conversation that is too long. Lower is quicker and cheaper.",
        0.05,
        1,
        0.05,
        needs_model=True,
        needs="compression",
    ),
    Preference(
        "price_in",
        "cost",
        "Price per 1M tokens read, in US$",
        "Set both prices to see what each answer cost.",
        0,
        MOST_PRICE,
        0.01,
        needs_model=True,
        zero="not set",
    ),
    Preference(
        "price_out",
        "cost",
        "Price per 1M tokens written, in US$",
        "Includes what the model thinks before it answers.",
        0,
        MOST_PRICE,
        0.01,
        needs_model=True,
        zero="not set",
    ),
    Preference(
        "signals_notes",
        "signals",
        "Signals per question",
        "At most this many are shown beside the documents.",
        0,
        MOST_NOTES,
        zero="none",
    ),
    Preference(
        "compression_gamma",
        "follow-ups",
        "How unevenly to cut (γ)",
        "0 cuts all parts alike. Higher cuts more of what matters less.",
        0,
        10,
        0.1,
        needs_model=True,
    ),
    Preference(
        "compression_rho",
        "follow-ups",
        "Cut as whole messages (ρ)",
        "This share of the cut is whole messages. The rest is single sentences.",
        0,
        1,
        0.05,
        needs_model=True,
    ),
    Preference(
        "seed_scoring",
        "follow-ups",
        "Keep by financial words",
        (
            "Keeps what was said for its financial words, brevity, age and form. When off, for how it fits "
            "the question."
        ),
        needs_model=True,
    ),
    Preference(
        "signals_threshold",
        "signals",
        "Similarity to the question",
        "Only news at least this similar is shown. Higher shows less.",
        0,
        1,
        0.01,
        needs="signals_notes",
        zero="automatic",
    ),
    Preference(
        "signals_confidence",
        "signals",
        "Confidence of a signal",
        "Only signals at least this certain are shown. Higher shows fewer.",
        0,
        1,
        0.05,
        needs="signals_notes",
    ),
    Preference(
        "signals_hours",
        "signals",
        "Age of news, in hours",
        "Older news is not shown. A week has 168 hours.",
        1,
        MOST_HOURS,
        needs="signals_notes",
    ),
    Preference(
        "signals_assets",
        "signals",
        "Only news about these assets",
        "Codes such as BTC ETH. Empty shows news about any.",
        needs="signals_notes",
        zero="any",
    ),
)
BY_NAME: Mapping[str, Preference] = {preference.name: preference for preference in PREFERENCES}
_FIELDS = frozenset(field.name for field in fields(Settings))
assert BY_NAME.keys() <= _FIELDS

# What messages about endpoints call the settings for users, to whom they are not environment variables.
_WORDS = (
    ("a key belongs in OPENAI_API_KEY", "enter the key in its own field"),
    ("Set OPENAI_BASE_URL to the address itself.", "Enter the address it redirects to."),
    ("Raise FINPOLICY_ANSWER_TOKENS.", "Ask for less at once, or choose a model that thinks less."),
    ("Lower FINPOLICY_CONTEXT_TOKENS.", "Ask of fewer documents, or choose a model that reads more at once."),
    (
        (
            "lower FINPOLICY_CONTEXT_TOKENS, or raise FINPOLICY_FIRST_WORD_TIMEOUT (unset, it is five times "
            "FINPOLICY_TIMEOUT)"
        ),
        "choose a faster model",
    ),
    (", or raise FINPOLICY_ANSWER_TIMEOUT", ""),
    (", or raise FINPOLICY_TIMEOUT", ", or choose a faster model"),
    ("Set FINPOLICY_REASONING to low, or choose", "Choose"),
    ("FINPOLICY_CHAT_MODEL", "the model on the Settings page"),
    ("OPENAI_BASE_URL", "the address on the Settings page"),
    *(
        (provider.key_variable, "the key on the Settings page")
        for provider in PROVIDERS.values()
        if provider.key_variable
    ),
)


def server_value(name: str, settings: Settings) -> Value:
    """Returns the value of a preference that nobody changed."""
    value: Value = getattr(settings, name)
    return value


def check_value(name: str, value: object) -> Value:
    """Returns `value` in the preference's own type. Raises SettingsError for another type or out of range."""
    preference, kind = BY_NAME[name], type(server_value(name, Settings()))
    label, wrong = preference.label, f"{preference.label} cannot be {str(value)[:40]}."
    if kind is bool:
        if not isinstance(value, bool):
            raise SettingsError(f"{label} must be on or off.")
        return value
    if preference.choices:
        if value not in preference.choices:
            raise SettingsError(wrong, hint=f"Choose {', '.join(preference.choices)}.")
        return str(value)
    if kind is str:
        if not isinstance(value, str) or len(value) > LONGEST_WORDS or not value.isprintable():
            hint = f"Type at most {LONGEST_WORDS} characters on one line."
            raise SettingsError(f"{label} cannot be this text.", hint=hint)
        return value
    if (
        isinstance(value, bool)
        or not isinstance(value, int if kind is int else int | float)
        or not preference.least <= value <= preference.most
    ):
        number = "a whole number" if kind is int else "a number"  # NaN is neither
        hint = f"Choose {number} from {preference.least:g} to {preference.most:g}."
        raise SettingsError(wrong, hint=hint)
    return kind(value)


def check_model_name(model: str) -> str:
    """Returns the name of a model as it is kept. Raises SettingsError."""
    model = model.strip()
    if not model:
        raise SettingsError(
            "The model has no name.", hint="Type its name as the server knows it, such as qwen3."
        )
    if len(model) > LONGEST_MODEL or not model.isprintable():
        raise SettingsError(
            "This is not the name of a model.",
            hint=f"A name is one line of at most {LONGEST_MODEL} characters.",
        )
    return model


def check_address(url: str, settings: Settings, provider: str = "") -> str:
    """Returns a user's endpoint as it is kept, "" for the server's own. Resolves its host name.

    settings: the server's. provider: whose endpoint it is, "" for any.

    Raises SettingsError or ModelError, in the words of the Settings page.
    """
    url = tidied(url)
    if provider and provider not in PROVIDERS:
        raise SettingsError(
            "There is no provider with that name.", hint=f"Choose one of {', '.join(PROVIDERS)}."
        )
    if provider and not url:
        url = PROVIDERS[provider].address
    if len(url) > LONGEST_URL:
        raise SettingsError(
            "The address is too long.",
            hint=f"It can have {LONGEST_URL} characters.",
        )
    try:
        rule = user_rule(settings) if url else settings.endpoint_rule
        own = replace(settings, provider=provider, base_url=url or settings.base_url, endpoint_rule=rule)
        address = address_of(own)
        check_endpoint(address.base, own)
    except ModelError as error:
        raise in_own_words(error) from None
    if not url:
        return ""
    if address.api_version:
        return f"{address.base}?api-version={address.api_version}"
    return address.base


def check_key(key: str) -> str:
    """Returns a key as it is sent. Raises SettingsError, which never contains the key."""
    key = key.strip()
    if len(key) > LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            "The key has characters that no key has, or is too long.",
            hint="Copy it again, without quotes, spaces or line breaks.",
        )
    return key


def applied(settings: Settings, chosen: Chosen, own_key: str = "") -> Settings:
    """Returns the settings of a user: the server's, with what the user chose.

    Choices that can no longer be used, as after an update of the program, are ignored. An endpoint of the
    user's never gets the server's key. The server's FINPOLICY_OFFLINE and limits stay in force.

    own_key: the key that the user gave for the chosen endpoint, "" for none.
    """
    changes: dict[str, Value] = {}
    for name in BY_NAME.keys() & chosen.keys():
        try:
            changes[name] = check_value(name, chosen[name])
        except SettingsError:
            continue
    made = replace(settings, **changes)  # type: ignore[arg-type]
    made = replace(made, prompt_exchanges=min(made.prompt_exchanges, made.window))
    return _with_model(made, chosen, own_key)


def _with_model(settings: Settings, chosen: Chosen, own_key: str) -> Settings:
    names = ("answers", "chat_model", "base_url", "provider")
    choice, model, url, provider = (str(chosen.get(name, "")) for name in names)
    if choice == "none":
        return without_keys(replace(settings, chat_model=""))
    if choice != "own" or not model or not settings.allows_user_models:
        return settings
    if not url and not own_key:
        return replace(settings, chat_model=model)
    # Keys of the server go to no endpoint of a user's, and a user's own goes before them.
    made = replace(without_keys(settings), chat_model=model, api_key=own_key)
    if not url:
        return replace(made, base_url=endpoint_url(settings))
    return replace(made, provider=provider, base_url=url, endpoint_rule=user_rule(settings))


def without_keys(settings: Settings) -> Settings:
    """Returns the settings without the key of any provider."""
    return replace(settings, api_key="", anthropic_key="", azure_key="", deepseek_key="", openrouter_key="")


def user_rule(settings: Settings) -> str:
    """Returns the Settings.endpoint_rule for an endpoint that a user chose."""
    return "public" if settings.open_to_others else "user"


def in_own_words(error: ModelError) -> ModelError:
    """Rewords the error of a model that its user chose, see `reworded`."""
    return ModelError(
        reworded(error.message), hint=reworded(error.hint), retryable=error.retryable, kind=error.kind
    )


def reworded(text: str) -> str:
    """Removes from a sentence the names of variables that only the server's operator can set."""
    for name, words in _WORDS:
        text = text.replace(name, words)
    if text.startswith("the "):
        return text[:1].upper() + text[1:]
    return text
