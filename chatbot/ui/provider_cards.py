"""Draws the providers of chat models as cards, connects to one, and has its model tried and saved."""

from __future__ import annotations

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError, SettingsError
from chatbot.models.addresses import endpoint_host
from chatbot.models.connecting import Connection, LocalModels, RunningProgram
from chatbot.models.providers import PROVIDERS, Provider
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.model_choice import draw_connection, forget_connection
from chatbot.ui.model_trials import POLL_SECONDS, is_in_the_open, is_on_this_machine
from chatbot.ui.safe_text import notice_html, plain_html, plain_markdown, quiet_html
from chatbot.user_settings import LONGEST_KEY, LONGEST_URL, Chosen

__all__ = ["draw_cards", "draw_open_card", "forget_cards", "open_card"]

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
# Of the models of a program that runs, in its offer.
MOST_OFFERED = 4
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


def draw_cards(card: str) -> None:
    """Draws the cards. card: the id of the one that is open, "" for none."""
    for title, name, providers in GROUPS:
        with st.container(key=f"provider-group-{name}", gap=None):
            st.html(quiet_html(title))
            with st.container(horizontal=True, key=f"provider-cards-{name}"):
                for provider in providers:
                    st.button(
                        provider.name,
                        key=f"provider-{provider.id}",
                        type="primary" if card == provider.id else "secondary",
                        help=plain_markdown(provider.note),
                        on_click=_open_card,
                        args=(provider.id,),
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


def forget_cards() -> None:
    """Shows what is stored instead of what was opened or typed."""
    forget_connection()
    typed = [f"provider-url-{name}" for name in CARDS]
    for key in ("provider-card", "provider-key", *typed):
        st.session_state.pop(key, None)


def _open_card(name: str) -> None:
    forget_cards()
    st.session_state["provider-card"] = name


def _draw_running(context: AppContext) -> None:
    """Draws an offer for each program that serves models on this machine."""
    local: LocalModels = context.local_models
    for program in local.programs():
        with st.container(horizontal=True, vertical_alignment="center", key=f"runs-{program.provider.id}"):
            st.html(f'<p class="state">{plain_html(_running_text(program))}</p>')
            st.button(
                f"Use {program.provider.name}",
                key=f"use-{program.provider.id}",
                on_click=_connect,
                args=(context, program.provider),
            )
    if local.is_looking:
        st.fragment(_await_programs, run_every=POLL_SECONDS)(local)


def _await_programs(local: LocalModels) -> None:
    if not local.is_looking:
        st.rerun()


def _running_text(program: RunningProgram) -> str:
    names = [model.name for model in program.models]
    shown = ", ".join(names[:MOST_OFFERED])
    if len(names) > MOST_OFFERED:
        shown = f"{shown} and {len(names) - MOST_OFFERED:,} more"
    return f"{program.provider.name} is running on this machine, with {shown}."


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
            st.html(
                quiet_html(f"Empty means this server's own address, at {endpoint_host(context.settings)}.")
            )
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
                st.html(notice_html(OPEN_PAGE))
        is_here = is_on_this_machine(st.session_state[url_key])
        st.html(quiet_html(LOCAL_NOTE if is_here else KEY_NOTE))
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
