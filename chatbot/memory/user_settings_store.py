"""Stores each owner's settings and provides the model that comes of them.

Preferences are in the database of all memories; keys are kept in this process only.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from chatbot.errors import ModelError, SettingsError, StoreError
from chatbot.memory.memory_database import MemoryDatabase, Tables, keep_latest
from chatbot.models.addresses import endpoint_url
from chatbot.models.chat import LLM, Reply, named_model
from chatbot.settings import Settings
from chatbot.store.damage import json_in
from chatbot.user_settings import (
    BY_NAME,
    MODEL_CHOICES,
    Value,
    applied,
    check_address,
    check_key,
    check_model_name,
    check_value,
    in_own_words,
)

__all__ = ["MODEL_NAMES", "TABLES", "UserModel", "UserSettingsStore"]

log = logging.getLogger(__name__)

TABLES = Tables(
    "preferences",
    "create table preference (owner text not null, name text not null, value text not null, primary "
    "key (owner, name)) without rowid;\n",
)
KEEP = (
    "insert into preference values (?, ?, ?) on conflict (owner, name) do update set value = excluded.value"
)
# Owner of what was found out about models, which no user is.
NOBODY = ""
MODEL_NAMES = ("answers", "chat_model", "base_url", "provider")
# Owners whose keys and models are held at once; who comes after so many others gives the key again.
MOST_KEYS, MOST_MODELS = 1_000, 100


class UserSettingsStore:
    """Preferences by owner. Safe to use from several threads."""

    def __init__(self, database: MemoryDatabase, settings: Settings) -> None:
        """settings: the server's, which hold for what nobody changed. Raises StoreError."""
        database.prepare(TABLES)
        self._database, self._settings, self._lock = database, settings, threading.Lock()
        self._keys = OrderedDict[str, tuple[str, str]]()  # owner to endpoint and key
        self._models = OrderedDict[str, tuple[Settings, UserModel]]()

    # --- what holds
    # --------------------------------------------------------------------------------------------------------

    def settings(self, owner: str) -> Settings:
        """The settings that a question of this owner uses.

        If they cannot be read, no model is used, because the owner may have chosen to send nothing.
        """
        try:
            chosen = self.chosen(owner)
        except StoreError as error:
            log.warning("preferences: %s", error)
            return replace(self._settings, chat_model="", api_key="")
        return applied(self._settings, chosen, self._key(owner, chosen))

    def chosen(self, owner: str) -> dict[str, Value]:
        """What an owner changed, by name: preferences, and of the model "answers" (of MODEL_CHOICES),
        "chat_model", "base_url". Raises StoreError.
        """
        found: dict[str, Value] = {}
        for name, text in self._database.read("select name, value from preference where owner = ?", (owner,)):
            with suppress(ValueError, TypeError):  # a damaged value counts as none
                value = json_in(text)
                if isinstance(value, bool | int | float | str):
                    found[name] = value
        return found

    def model(self, owner: str, servers: Callable[[], LLM | None]) -> LLM | None:
        """The chat model that answers this owner: their own, none, or the server's."""
        if not self.is_own(owner):
            return servers()
        settings = self.settings(owner)
        if not settings.chat_model:
            return None
        with self._lock:
            kept = self._models.pop(owner, None)
            if kept is None or kept[0] != settings:
                kept = (settings, UserModel(named_model(settings)))
            keep_latest(self._models, owner, kept, MOST_MODELS)
        return kept[1]

    def is_own(self, owner: str) -> bool:
        """Whether the owner does not leave the answers to the server's model; True if that cannot be read."""
        try:
            choice = self.chosen(owner).get("answers", MODEL_CHOICES[0])
        except StoreError:
            return True
        return choice == "none" or (choice == "own" and self._settings.allows_user_models)

    def has_key(self, owner: str) -> bool:
        """Whether the owner gave a key for the chosen endpoint."""
        return bool(self._key(owner, self.chosen(owner)))

    # --- changes
    # --------------------------------------------------------------------------------------------------------

    def choose(self, owner: str, name: str, value: object) -> None:
        """Change a preference. Raises SettingsError and StoreError."""
        self._keep(owner, {name: check_value(name, value)})

    def choose_model(
        self, owner: str, choice: str, model: str = "", url: str = "", key: str = "", provider: str = ""
    ) -> None:
        """Choose who writes the answers.

        choice: one of MODEL_CHOICES. model, url, key, provider: of the owner's own model, see check_address.
        An empty key keeps the one that was given for this very endpoint; one for any other is dropped.

        Raises SettingsError, ModelError and StoreError, and then changes nothing.
        """
        if choice not in MODEL_CHOICES:
            raise SettingsError(
                f"{choice[:40]!r} is no choice of a model.", hint=f"Choose one of {', '.join(MODEL_CHOICES)}."
            )
        if choice != "own":
            if choice == "server":
                self._database.change("delete from preference where owner = ? and name = 'answers'", (owner,))
            else:
                self._keep(owner, {"answers": choice})
            return
        if not self._settings.allows_user_models:
            raise SettingsError(
                "This server lets nobody choose a model of their own.",
                hint="Ask whoever runs it (FINPOLICY_USER_MODELS).",
            )
        model, url = check_model_name(model), check_address(url, self._settings, provider)
        given = check_key(key)
        self._keep(owner, {"answers": choice, "chat_model": model, "base_url": url, "provider": provider})
        endpoint = url or endpoint_url(self._settings)
        with self._lock:
            if given:
                keep_latest(self._keys, owner, (endpoint, given), MOST_KEYS)
            elif owner in self._keys and self._keys[owner][0] != endpoint:
                del self._keys[owner]
            self._models.pop(owner, None)

    def connecting(self, owner: str, provider: str, url: str, key: str) -> tuple[Settings, str]:
        """The settings that would hold for a provider's endpoint with this key, and its address as kept.

        The model is the one that was chosen there before, "?" for none.

        An empty key is the one that was given for this very endpoint. Nothing is changed. Raises
        SettingsError and ModelError.
        """
        address = check_address(url, self._settings, provider)
        given = check_key(key) or self._key(owner, {"base_url": address})
        before = self.chosen(owner)
        is_same = (before.get("provider"), before.get("base_url")) == (provider, address)
        model = before.get("chat_model", "?") if is_same else "?"
        chosen = {"answers": "own", "chat_model": model, "base_url": address, "provider": provider}
        return applied(self._settings, {**before, **chosen}, given), address

    def remove_key(self, owner: str) -> None:
        """Forget the key, and everything made with it."""
        with self._lock:
            self._keys.pop(owner, None)
            self._models.pop(owner, None)

    def reset(self, owner: str, name: str | None = None) -> None:
        """Leave a preference to the server again; with None all of them, with model and key.

        Raises StoreError.
        """
        self._database.change(
            "delete from preference where owner = ? and name = coalesce(?, name)", (owner, name)
        )
        if name is None:
            self.remove_key(owner)

    # --- readers
    # --------------------------------------------------------------------------------------------------------

    def probe(self, reader: str) -> int | None:
        """What was kept of a model's probe; None if it was not tried.

        reader: its name and host. Raises StoreError.
        """
        statement = "select value from preference where owner = ? and name = ?"
        for (text,) in self._database.read(statement, (NOBODY, f"probe {reader}")):
            with suppress(ValueError, TypeError):
                found = json_in(text)
                return found if type(found) is int else None
        return None

    def keep_probe(self, reader: str, right: int) -> None:
        """Remember what `probe` returns. Raises StoreError."""
        self._database.change_each(KEEP, [(NOBODY, f"probe {reader}", json.dumps(right))])

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _keep(self, owner: str, values: Mapping[str, Value]) -> None:
        assert values.keys() <= {*BY_NAME, *MODEL_NAMES}
        rows = [(owner, name, json.dumps(value)) for name, value in values.items()]
        self._database.change_each(KEEP, rows)

    def _key(self, owner: str, chosen: Mapping[str, Value]) -> str:
        """The key that the owner gave for the very endpoint that is chosen, "" for none."""
        endpoint = str(chosen.get("base_url", "")) or endpoint_url(self._settings)
        with self._lock:
            given, key = self._keys.get(owner, ("", ""))
        return key if given == endpoint else ""


class UserModel:
    """A chat model that its user chose: its errors say what the user can change."""

    def __init__(self, model: LLM) -> None:
        self._model, self.name, self.host = model, model.name, model.host

    def stream(self, messages: Sequence[tuple[str, str]], **given: Any) -> Reply:
        """As LLM.stream."""
        reply = self._model.stream(messages, **given)
        return Reply(_worded(reply), reply.usage, reply.called)

    @property
    def calls_tools(self) -> bool:
        """See LLM."""
        return self._model.calls_tools

    @property
    def sees(self) -> bool:
        """See LLM."""
        return self._model.sees


def _worded(reply: Reply) -> Generator[str, None, str]:
    try:
        yield from reply
    except ModelError as error:
        raise in_own_words(error) from None
    finally:
        reply.close()
    return reply.finish
