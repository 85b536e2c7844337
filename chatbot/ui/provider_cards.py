"""Draws the providers of chat models as cards, connects to one, and lets its models be chosen from a list."""

from __future__ import annotations

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.models.addresses import endpoint_host
from chatbot.models.connecting import Connection
from chatbot.models.local_models import LocalModels, RunningProgram
from chatbot.models.model_catalog import ListedModel
from chatbot.models.providers import PROVIDERS, Provider
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.app_context import AppContext
from chatbot.ui.safe_text import notice_html, plain_html, plain_markdown, quiet_html
from chatbot.user_settings import LONGEST_KEY, LONGEST_MODEL, LONGEST_URL, Chosen, reworded

__all__ = ["OTHER", "draw_cards", "draw_model_list", "forget_cards"]

# The card of an endpoint that is none of the providers'.
OTHER = "other"
# Seconds between two looks at an attempt to connect, and at what runs on this machine.
POLL_SECONDS = 0.5
# Of the models of a program that runs, in its offer.
MOST_OFFERED = 4
CHOOSE = "Choose who is to serve the model. The address is filled in; cloud providers need a key."
LOCAL_NOTE = "Nothing leaves this machine."


def draw_cards(context: AppContext, chosen: Chosen, key_note: str) -> str:
    """Draws the cards and the form of the one that is open. Returns its id, OTHER or "" for none.

    key_note: what becomes of a key.
    """
    stored = str(chosen.get("provider", "")) if chosen.get("answers") == "own" else ""
    if not stored and chosen.get("answers") == "own":
        stored = OTHER
    card = st.session_state.get("provider-card", stored)
    st.html(quiet_html(CHOOSE))
    with st.container(horizontal=True, key="provider-cards"):
        for provider in PROVIDERS.values():
            _draw_card(provider.id, provider.name, provider.note, is_open=card == provider.id)
        note = "Any endpoint that speaks OpenAI's API."
        _draw_card(OTHER, "Another endpoint", note, is_open=card == OTHER)
    if card in PROVIDERS:
        _draw_form(context, PROVIDERS[card], chosen, key_note)
    # Containers that are always there: where what comes later pushed a form on, the browser would draw it
    # anew and forget what was typed.
    with st.container():
        _draw_connection()
    with st.container():
        _draw_running(context)
    return str(card)


def forget_cards() -> None:
    """Shows what is stored instead of what was opened or typed."""
    typed = [f"provider-url-{name}" for name in PROVIDERS]
    for key in ("provider-card", "provider-key", "provider-model", "connection", "connect-problem", *typed):
        st.session_state.pop(key, None)


def draw_model_list(context: AppContext, mine: Settings, chosen: Chosen) -> None:
    """Draws the models that the endpoint listed when it was connected, to choose another."""
    connection: Connection | None = st.session_state.get("connection")
    if connection is None or not connection.is_over or not connection.models:
        return
    if endpoint_host(connection.settings) != endpoint_host(mine) or not mine.chat_model:
        return
    by_name = {model.name: model for model in connection.models}
    names = list(by_name)
    if mine.chat_model not in by_name:
        names.insert(0, mine.chat_model)
    key = f"listed-model-{mine.chat_model}"  # see the choice of who answers
    st.selectbox(
        f"Model ({len(by_name):,} to choose from; type to search)",
        names,
        index=names.index(mine.chat_model),
        key=key,
        format_func=lambda name: _described(by_name.get(name) or ListedModel(name)),
        on_change=_take_listed,
        args=(key, mine.chat_model, context, chosen),
    )


def _draw_card(name: str, title: str, note: str, *, is_open: bool) -> None:
    st.button(
        title,
        key=f"provider-{name}",
        type="primary" if is_open else "secondary",
        help=plain_markdown(note),
        on_click=_open_card,
        args=(name,),
    )


def _open_card(name: str) -> None:
    forget_cards()
    st.session_state["provider-card"] = name
    st.session_state.pop("trial", None)
    st.session_state["answers-wanted"] = "own"


def _draw_running(context: AppContext) -> None:
    """Draws an offer for each program that serves models on this machine."""
    local: LocalModels = context.local_models
    programs = local.programs()
    for program in programs:
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


def _draw_form(context: AppContext, provider: Provider, chosen: Chosen, key_note: str) -> None:
    """Draws what a provider needs: its address where it has none of its own, a key, a deployment."""
    is_stored = chosen.get("provider") == provider.id
    stored_url = str(chosen.get("base_url", "")) if is_stored else ""
    url_key = f"provider-url-{provider.id}"
    st.session_state.setdefault(url_key, stored_url or provider.address)
    has_key = is_stored and context.chatbot.own.has_key(session.owner())
    with st.form("provider-form"):
        st.html(quiet_html(f"{provider.note} {LOCAL_NOTE if provider.is_local else key_note}"))
        if provider.is_local or not provider.address:
            st.text_input(
                "Endpoint",
                key=url_key,
                max_chars=LONGEST_URL,
                placeholder="such as https://NAME.openai.azure.com",
                autocomplete="off",
            )
        if not provider.suggested and not provider.is_local:
            st.text_input(
                "Deployment",
                key="provider-model",
                max_chars=LONGEST_MODEL,
                placeholder="the name that you gave it; empty where the endpoint has it",
                autocomplete="off",
            )
        if provider.key != "none":
            st.text_input(
                "Key",
                key="provider-key",
                max_chars=LONGEST_KEY,
                type="password",
                placeholder="a key is set; a new one replaces it" if has_key else _key_placeholder(provider),
                autocomplete="new-password",
            )
        st.form_submit_button(
            "Connect", type="primary", key="connect", on_click=_connect_form, args=(context, provider)
        )


def _key_placeholder(provider: Provider) -> str:
    if provider.key == "optional":
        return "only if it was started with one"
    return f"paste it here; it begins with {provider.key_start}" if provider.key_start else "paste it here"


def _connect_form(context: AppContext, provider: Provider) -> None:
    """Connects with what the form has. The key leaves the session at once."""
    key = ""
    if "provider-key" in st.session_state:
        key, st.session_state["provider-key"] = st.session_state["provider-key"], ""
    key = key.strip().removeprefix("Bearer ").strip("\"' ")  # as documentation has it
    url = str(st.session_state.get(f"provider-url-{provider.id}", ""))
    if provider.address and not provider.is_local:
        url = provider.address
    _connect(context, provider, url, key, str(st.session_state.get("provider-model", "")).strip())


def _connect(context: AppContext, provider: Provider, url: str = "", key: str = "", model: str = "") -> None:
    owner = session.owner()
    own = context.chatbot.own
    st.session_state["provider-card"] = provider.id
    for old in ("trial", "connection", "connect-problem"):
        st.session_state.pop(old, None)
    try:
        settings, address = own.connecting(owner, provider.id, url or provider.address, key)
    except ProjectError as error:
        st.session_state["connect-problem"] = error
        return
    if not model and "/deployments/" in address:
        model = address.partition("/deployments/")[2].partition("?")[0]

    def choose(name: str) -> None:
        own.choose_model(owner, "own", name, address, key, provider.id)

    st.session_state["connection"] = Connection(settings, model, choose)
    st.session_state.pop("answers-wanted", None)


def _draw_connection() -> None:
    problem: ProjectError | None = st.session_state.get("connect-problem")
    if problem is not None:
        st.html(notice_html(reworded(problem.message), reworded(problem.hint)))
    connection: Connection | None = st.session_state.get("connection")
    if connection is not None:
        every = None if connection.is_over else POLL_SECONDS
        st.fragment(_draw_progress, run_every=every)(connection, was_over=connection.is_over)


def _draw_progress(connection: Connection, *, was_over: bool) -> None:
    """Shows how connecting goes, or went."""
    host = endpoint_host(connection.settings)
    if not connection.is_over:
        step = {"listing": "Asking {} for its models …", "testing": "Trying {} with model {} …"}
        text = step.get(connection.state, "").format(host, connection.model)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.html(f'<p class="state" role="status">{plain_html(text)}</p>')
            if st.button("Cancel", key="connect-cancel", type="tertiary"):
                connection.cancelled = True
                st.session_state.pop("connection", None)
                st.rerun()
    elif not was_over:
        st.rerun()  # drawn once more, and polled no longer
    elif connection.problem is not None:
        problem = connection.problem
        st.html(notice_html(reworded(problem.message), reworded(problem.hint)))
    elif connection.trial is not None and connection.trial.works:
        st.html(f'<p class="state" role="status">✓ {plain_html(connection.trial.text)}</p>')
    elif connection.trial is not None:
        st.html(notice_html(reworded(connection.trial.text), reworded(connection.trial.hint)))


def _described(model: ListedModel) -> str:
    """A model for the list: its name, what it takes, and what it costs, as far as the endpoint tells."""
    parts = [model.name]
    if model.context:
        parts.append(f"{model.context:,} tokens")
    if model.thinks:
        parts.append("thinks first")
    if model.price_in is not None and model.price_out is not None:
        parts.append(f"${model.price_in:g} / ${model.price_out:g} per 1M tokens")
    return " · ".join(parts)


def _take_listed(key: str, before: str, context: AppContext, chosen: Chosen) -> None:
    if st.session_state[key] == before:
        return
    st.session_state.pop("trial", None)
    if (connection := st.session_state.get("connection")) is not None:
        connection.trial = None  # it was another model's
    try:
        context.chatbot.own.choose_model(
            session.owner(),
            "own",
            st.session_state[key],
            str(chosen.get("base_url", "")),
            "",
            str(chosen.get("provider", "")),
        )
    except ProjectError as error:
        session.notify(error)
