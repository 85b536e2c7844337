"""Draws a connection to an endpoint: its models, or a field for the name of one, which is tried and saved.

A trial is drawn while it runs and when it is over, in the words of the Settings page.
"""

from __future__ import annotations

import time
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ModelError, ProjectError
from chatbot.models.addresses import endpoint_host, tidied
from chatbot.models.connecting import Connection, RunningTrial
from chatbot.models.model_catalog import ListedModel
from chatbot.models.providers import Provider
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.page_parts import abreast, draw_notice, draw_quiet, follow
from chatbot.ui.safe_text import plain_html
from chatbot.user_settings import LONGEST_MODEL, check_model_name, reworded

__all__ = [
    "draw_connection",
    "draw_invitation",
    "draw_trial",
    "forget_connection",
    "is_in_the_open",
    "is_on_this_machine",
    "worded",
]

HERE = frozenset({"localhost", "127.0.0.1", "::1"})
OR_NAME = "Or type the model's name now, and save it."
INVITATION = "Connect a model for written answers"
NO_LIST = "This server offers no list of models. Type the model's name as the server knows it."


def forget_connection() -> None:
    """Forgets the connection, its key with it, and what was chosen and tried there."""
    for key in ("connection", "connect-problem", "card-trial", "chosen-model", "saved-model"):
        st.session_state.pop(key, None)


def draw_invitation(context: AppContext, place: str) -> None:
    """Invites to connect a model where answers are made without one, and may be made with one.

    place: where it is drawn, once a page.
    """
    if session.settings(context).chat_model or context.settings.offline:
        return
    with st.container(key=f"invitation-{place}"):
        st.page_link("settings_page.py", label=INVITATION, icon=":material/tune:")


def draw_connection(context: AppContext, provider: Provider) -> None:
    """Shows how connecting goes, or went, and then the models."""
    problem: ProjectError | None = st.session_state.get("connect-problem")
    if problem is not None:
        draw_notice(worded(problem.message), worded(problem.hint))
    connection: Connection | None = st.session_state.get("connection")
    if connection is None:
        return
    if not connection.is_over:
        follow(partial(_draw_wait, connection), lambda: not connection.is_over)
        return
    failure = connection.problem
    if failure is not None and not _has_no_list(failure):
        hint = _start_hint(failure, provider)
        draw_notice(worded(failure.message), worded(hint))
        if isinstance(failure, ModelError) and failure.kind == "key":
            return
    _draw_models(context, connection, provider)


def _has_no_list(failure: ProjectError) -> bool:
    """Tells whether the endpoint answers, and only its list is missing."""
    return isinstance(failure, ModelError) and failure.kind in {"path", "model"}


def _start_hint(failure: ProjectError, provider: Provider) -> str:
    """Says what to do about it: how a program on this machine is started, if nothing answers."""
    is_down = isinstance(failure, ModelError) and failure.kind == "unreachable"
    if is_down and provider.is_local:
        return f"{provider.note} Then press Connect again."
    return failure.hint


def _draw_wait(connection: Connection) -> None:
    host = plain_html(endpoint_host(connection.settings))
    with abreast():
        st.html(f'<p class="state" role="status">Asking {host} for its models …</p>')
        if st.button("Cancel", key="connect-cancel", type="tertiary"):
            st.session_state.pop("connection", None)
            st.rerun()


def _draw_models(context: AppContext, connection: Connection, provider: Provider) -> None:
    """Draws the list of models, or a field for the name of one, with buttons to test and save it."""
    by_name = {model.name: model for model in connection.models}
    with st.form("model-form"):
        # A deployment of Azure's is called as its owner chose; the list has the models behind them.
        if by_name and provider.id != "azure":
            name = st.session_state.setdefault("chosen-model", connection.suggested)
            st.selectbox(
                f"Model ({len(by_name):,} to choose from)",
                list(by_name),
                index=list(by_name).index(name) if name in by_name else None,
                key="chosen-model",
                format_func=lambda name: _described(by_name.get(name) or ListedModel(name)),
                accept_new_options=True,
            )
        else:
            name = st.session_state.setdefault("chosen-model", _name_to_begin_with(connection.settings))
            st.text_input(
                "Deployment" if provider.id == "azure" else "Model",
                value=name,
                key="chosen-model",
                max_chars=LONGEST_MODEL,
                placeholder="The name that you gave it" if provider.id == "azure" else "such as qwen3",
                autocomplete="off",
            )
            if provider.id != "azure":
                has_none = connection.problem is None or _has_no_list(connection.problem)
                draw_quiet(NO_LIST if has_none else OR_NAME)
        with abreast():
            st.form_submit_button("Test", key="test-chosen", on_click=_test, args=(connection,))
            st.form_submit_button(
                "Save", type="primary", key="save-chosen", on_click=_save, args=(connection,)
            )
    running: RunningTrial | None = st.session_state.get("card-trial")
    if running is not None:
        draw_trial(running, "card-trial", own=True)
    saved = st.session_state.get("saved-model")
    mine = session.settings(context)
    if saved and saved == mine.chat_model:
        said = f"✓ Saved. {saved} at {endpoint_host(mine)} now writes your answers."
        st.html(f'<p class="state" role="status">{plain_html(said)}</p>')


def _name_to_begin_with(settings: Settings) -> str:
    """The model that was chosen before, or the deployment in the address; "" for neither."""
    if settings.chat_model != "?":
        return settings.chat_model
    return settings.base_url.partition("/deployments/")[2].partition("?")[0]


def _test(connection: Connection) -> None:
    st.session_state.pop("saved-model", None)
    try:
        name = check_model_name(str(st.session_state.get("chosen-model") or ""))
    except ProjectError as error:
        session.notify(error)
        return
    st.session_state["card-trial"] = connection.try_model(name)


def _save(connection: Connection) -> None:
    name = str(st.session_state.get("chosen-model") or "").strip()
    try:
        connection.save(name)
    except ProjectError as error:
        session.notify(error)
        return
    st.session_state["saved-model"] = name


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


def draw_trial(running: RunningTrial, key: str, *, own: bool) -> None:
    """Shows how a trial goes, or went.

    key: where the session keeps it. own: whether its user chose the model, and not the server's operator.
    """
    if running.trial is None:
        follow(partial(_draw_trial, running, key), lambda: running.trial is None)
    elif running.trial.works:
        st.html(f'<p class="state" role="status">✓ {plain_html(running.trial.text)}</p>')
    else:
        said = worded if own else str
        draw_notice(said(running.trial.text), said(running.trial.hint))


def _draw_trial(running: RunningTrial, key: str) -> None:
    host = plain_html(endpoint_host(running.settings))
    seconds = time.monotonic() - running.begun
    with abreast():
        st.html(f'<p class="state" role="status">Asking {host} … {seconds:.0f} s</p>')
        if st.button("Cancel", key=f"{key}-cancel", type="tertiary"):
            running.cancelled = True
            st.session_state.pop(key, None)
            st.rerun()


def worded(text: str) -> str:
    """Rewords what an endpoint's error says for the Settings page itself."""
    return reworded(text).replace(" on the Settings page", "")


def is_in_the_open(url: str) -> bool:
    """Tells whether what goes to this address leaves the machine without encryption."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname not in HERE
    except ValueError:
        return False


def is_on_this_machine(url: str) -> bool:
    """Tells whether this is an address of this machine, as far as its text says."""
    try:
        return urlsplit(tidied(url)).hostname in HERE
    except ValueError:
        return False
