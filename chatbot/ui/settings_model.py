"""Draws the chat model on the Settings page: which one answers, its key, and the providers as cards.

The key can only be written, never read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError, SettingsError
from chatbot.models.addresses import endpoint_host
from chatbot.models.connecting import Connection, LocalModels, RunningTrial
from chatbot.models.providers import PROVIDERS, Provider
from chatbot.settings import Settings
from chatbot.store.document_names import listed
from chatbot.ui import session
from chatbot.ui.model_choice import (
    draw_connection,
    draw_trial,
    forget_connection,
    is_in_the_open,
    is_on_this_machine,
)
from chatbot.ui.overlay import Dialog, ask_for
from chatbot.ui.page_parts import abreast, draw_button, draw_notice, draw_quiet, draw_two_ways, follow
from chatbot.ui.safe_text import paragraphs_html, plain_html, plain_markdown, quiet_html
from chatbot.user_settings import LONGEST_KEY, LONGEST_URL, MODEL_CHOICES, Chosen

__all__ = ["draw_model", "forget_form"]

ABOUT = (
    "Without a model, answers quote the documents. With one, they are written for your question. Citations "
    "and figures are checked either way."
)
NONE_IN_USE = "no model. Answers quote the documents"
FORBIDDEN = "This server does not allow models of your own."
OFFLINE = "This server is set to stay offline, so no model is asked."
# The card of an endpoint that is none of the providers'.
OTHER = Provider(
    "other",
    "Another endpoint",
    False,
    "openai",
    "",
    "optional",
    "",
    "",
    (),
    (),
    "Any server with an OpenAI-compatible API, such as a gateway of your organisation.",
)
CARDS = {**PROVIDERS, OTHER.id: OTHER}
GROUPS = (
    ("In the cloud", "cloud", [one for one in PROVIDERS.values() if not one.is_local]),
    ("On this machine", "local", [one for one in PROVIDERS.values() if one.is_local]),
    ("Your own", "other", [OTHER]),
)
LOCAL_NOTE = "At this address, nothing leaves this machine."
KEY_NOTE = "Your key goes to this provider only. It is never shown, and forgotten when the server stops."
OPEN_PAGE = "This page was opened over http://. Others may read a key on its way to the server."
AZURE_HINT = "Enter the one of yours, such as https://NAME.openai.azure.com."
ADDRESS_HINT = "Enter the address of the server, such as http://localhost:8000/v1."


def draw_model(context: AppContext, chosen: Chosen) -> None:
    """Draws this part of the page. Raises StoreError. chosen: the owner's settings as stored."""
    st.html('<h2 class="part">Chat model</h2>' + quiet_html(ABOUT))
    if context.settings.offline:
        draw_notice(OFFLINE)
    own = context.settings.allows_user_models
    with st.container():  # always there, see draw_open_card
        _draw_state(context)
    card = open_card(chosen)
    _draw_choices(context, chosen, is_card_open=bool(card))
    if not own:
        draw_quiet(FORBIDDEN)
    elif not context.settings.offline:
        draw_cards(card)
        draw_open_card(context, card, chosen)


def _draw_choices(context: AppContext, chosen: Chosen, *, is_card_open: bool) -> None:
    """Draws the choices that need nothing further: no model, and the server's."""
    labels = {"none": "No model"}
    if context.settings.chat_model:
        labels["server"] = f"This server's model: {context.settings.chat_model}"
    current = chosen.get("answers", MODEL_CHOICES[0])
    if current not in labels:
        current = "none"
    with st.container(gap=None):
        draw_quiet("Ready to use")
        with abreast(key="model-choices"):
            for choice, label in labels.items():
                draw_button(
                    plain_markdown(label),
                    f"answers-{choice}",
                    _choose,
                    choice,
                    context,
                    type="primary" if choice == current and not is_card_open else "secondary",
                )


def _choose(choice: str, context: AppContext) -> None:
    forget_form()
    session.attempt(context.chatbot.own.choose_model, session.owner(), choice)
    st.session_state["provider-card"] = ""


def _draw_state(context: AppContext) -> None:
    """Shows what applies now, and whether it works."""
    mine = session.settings(context)
    has_key = context.chatbot.own.has_key(session.owner())
    st.html(f'<p class="state">{plain_html(_in_use(mine, context.settings, has_key=has_key))}</p>')
    with abreast(key="model-buttons"):
        tried = bool(mine.chat_model) and st.button(
            "Test the model",
            key="test-model",
            help="Sends the model one short line, and nothing from your documents.",
        )
        if has_key:
            draw_button("Remove the key", "remove-key", ask_for, REMOVE, None)
    if tried:
        st.session_state["trial"] = RunningTrial(mine)
    running: RunningTrial | None = st.session_state.get("trial")
    if running is not None and running.settings == replace(mine, api_key=""):
        draw_trial(running, "trial", own=context.chatbot.own.is_own(session.owner()))


def _ask_to_remove(_: None, context: AppContext) -> None:
    st.html(paragraphs_html("You will have to enter it again to use this model."))
    draw_two_ways("Remove", "Keep", partial(_remove_key, context))


def _remove_key(context: AppContext) -> None:
    forget_form()
    context.chatbot.own.remove_key(session.owner())


REMOVE = Dialog("Remove the key?", _ask_to_remove)


def _in_use(mine: Settings, servers: Settings, *, has_key: bool) -> str:
    """Says which model answers, whether it has a key, and what can be read on the way there."""
    used = f"{mine.chat_model} at {endpoint_host(mine)}" if mine.chat_model else NONE_IN_USE
    text = f"In use: {used}."
    if has_key:
        text += " Your key is set." if mine.chat_model else " Your key is kept."
    elif mine.base_url != servers.base_url and CARDS.get(mine.provider, OTHER).key != "none":
        text += " No key is set."
    if is_in_the_open(mine.base_url):
        text += " What is sent there over http:// can be read on the way."
    return text


# --- cards
# ------------------------------------------------------------------------------------------------------------


def draw_cards(card: str) -> None:
    """Draws the cards. card: the id of the one that is open, "" for none."""
    for title, name, providers in GROUPS:
        with st.container(key=f"provider-group-{name}", gap=None):
            draw_quiet(title)
            with abreast(key=f"provider-cards-{name}"):
                for provider in providers:
                    draw_button(
                        provider.name,
                        f"provider-{provider.id}",
                        _open_card,
                        provider.id,
                        type="primary" if card == provider.id else "secondary",
                    )


def draw_open_card(context: AppContext, card: str, chosen: Chosen) -> None:
    """Draws the open card: what it needs, its models, and what runs on this machine."""
    # Containers that are always there: where what comes later pushed a form on, the browser would draw it
    # anew and forget what was typed.
    with st.container():
        if card in CARDS:
            _draw_form(context, CARDS[card], chosen)
    with st.container():
        if card in CARDS:
            draw_connection(context, CARDS[card])
    with st.container():
        _draw_running(context)


def open_card(chosen: Chosen) -> str:
    """Returns the id of the card that is open: the one that was chosen, else that of the saved model."""
    stored = ""
    if chosen.get("answers") == "own":
        stored = str(chosen.get("provider", "")) or OTHER.id
    return str(st.session_state.get("provider-card", stored))


def forget_form() -> None:
    """Shows what is stored instead of what was opened, typed or tried."""
    forget_connection()
    typed = [f"provider-url-{name}" for name in CARDS]
    for key in ("trial", "provider-card", "provider-key", *typed):
        st.session_state.pop(key, None)


def _open_card(name: str) -> None:
    forget_form()
    st.session_state["provider-card"] = name


def _draw_running(context: AppContext) -> None:
    """Draws an offer for each program that serves models on this machine."""
    local: LocalModels = context.local_models
    for program in local.programs():
        with abreast(key=f"runs-{program.provider.id}"):
            provider, models = program.provider, listed([model.name for model in program.models])
            said = f"{provider.name} is running on this machine, with {models}."
            st.html(f'<p class="state">{plain_html(said)}</p>')
            draw_button(f"Use {provider.name}", f"use-{provider.id}", _connect, context, provider)
    follow(lambda: None, lambda: local.is_looking)


def _draw_form(context: AppContext, provider: Provider, chosen: Chosen) -> None:
    """Draws what a provider needs: its address where it has none of its own, and a key."""
    is_stored = chosen.get("answers") == "own" and (chosen.get("provider") or OTHER.id) == provider.id
    stored_url = str(chosen.get("base_url", "")) if is_stored else ""
    url_key = f"provider-url-{provider.id}"
    # Also given to the field below: what is set here reaches the browser once, and is lost if the page is
    # drawn again before it is sent.
    begins_with = st.session_state.setdefault(url_key, stored_url or provider.address)
    has_key = is_stored and context.chatbot.own.has_key(session.owner())
    with st.form("provider-form"):
        st.html(f'<p class="choice">{plain_html(provider.name)}</p>{quiet_html(provider.note)}')
        if provider.is_local or not provider.address:
            st.text_input(
                "Address",
                value=begins_with,
                key=url_key,
                max_chars=LONGEST_URL,
                placeholder="such as https://NAME.openai.azure.com"
                if provider.id == "azure"
                else "such as http://localhost:8000/v1",
                autocomplete="off",
            )
        if provider is OTHER and _has_own_address(context.settings):
            draw_quiet(f"Empty means this server's own address, at {endpoint_host(context.settings)}.")
        if provider.key != "none":
            st.text_input(
                "Key",
                key="provider-key",
                max_chars=LONGEST_KEY,
                type="password",
                placeholder="A key is set. Enter another to replace it." if has_key else _key_hint(provider),
                autocomplete="new-password",
            )
            if is_in_the_open(st.context.url or ""):
                draw_notice(OPEN_PAGE)
        is_here = is_on_this_machine(st.session_state[url_key])
        draw_quiet(LOCAL_NOTE if is_here else KEY_NOTE)
        st.form_submit_button(
            "Connect", type="primary", key="connect", on_click=_connect_form, args=(context, provider)
        )


def _check_given(provider: Provider, url: str, servers: Settings) -> None:
    """Raises SettingsError if the address is missing, and nothing can take its place."""
    if url.strip():
        return
    if provider.id == "azure":
        raise SettingsError(
            "The address is missing, and every Azure resource has an address of its own.", hint=AZURE_HINT
        )
    if not _has_own_address(servers):
        raise SettingsError("The address is missing.", hint=ADDRESS_HINT)


def _has_own_address(settings: Settings) -> bool:
    """Tells whether the server's settings say where a model is."""
    return bool(settings.chat_model or settings.base_url or settings.provider)


def _key_hint(provider: Provider) -> str:
    if provider.key == "optional":
        return "Only if the server asks for one"
    return f"Begins with {provider.key_start}" if provider.key_start else "Paste your key"


def _connect_form(context: AppContext, provider: Provider) -> None:
    """Connects with what the form has. The key leaves the session at once."""
    key = ""
    if "provider-key" in st.session_state:
        key, st.session_state["provider-key"] = st.session_state["provider-key"], ""
    key = key.strip().removeprefix("Bearer ").strip("\"' ")  # as documentation has it
    url = str(st.session_state.get(f"provider-url-{provider.id}", ""))
    if provider.address and not provider.is_local:
        url = provider.address
    _connect(context, provider, url, key)


def _connect(context: AppContext, provider: Provider, url: str = "", key: str = "") -> None:
    owner = session.owner()
    own = context.chatbot.own
    name = "" if provider is OTHER else provider.id
    forget_connection()
    st.session_state["provider-card"] = provider.id
    try:
        _check_given(provider, url or provider.address, context.settings)
        settings, address = own.connecting(owner, name, url or provider.address, key)
        if provider.key == "needed" and not settings.api_key:
            raise SettingsError(f"{provider.name} needs a key.", hint=provider.note)
    except ProjectError as error:
        st.session_state["connect-problem"] = error
        return

    def choose(model: str) -> None:
        own.choose_model(owner, "own", model, address, key, name)

    st.session_state["connection"] = Connection(settings, choose)
