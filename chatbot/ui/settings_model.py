"""Draws the chat model on the Settings page: whose it is, its endpoint, its key, and a test button.

The key can only be written, never read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.models.addresses import endpoint_host
from chatbot.models.model_trial import Trial, try_model
from chatbot.models.providers import PROVIDERS
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.app_context import AppContext
from chatbot.ui.provider_cards import OTHER, draw_cards, draw_model_list, forget_cards
from chatbot.ui.safe_text import notice_html, plain_html, plain_markdown, quiet_html
from chatbot.user_settings import LONGEST_KEY, LONGEST_MODEL, LONGEST_URL, MODEL_CHOICES, Chosen, reworded

__all__ = ["draw_model", "forget_form", "is_in_the_open", "model_text"]

# Seconds between two looks at a model that is being tested.
POLL_SECONDS = 0.5
ABOUT = (
    "Without a model, answers are sentences and figures quoted from the documents. With one, they are "
    "written for your question; "
    "either way each citation and figure is checked."
)
FORBIDDEN = "Whoever runs this server lets nobody choose an endpoint of their own."
OFFLINE = "This server is set to stay offline: no model is asked, whatever is chosen here."
KEY_NOTE = (
    "The key is kept in the server's memory only, for you, until the server stops. It is sent to this "
    "endpoint and nowhere else, and never shown again."
)


def draw_model(context: AppContext, chosen: Chosen) -> None:
    """Draws this part of the page. Raises StoreError. chosen: the owner's settings as stored."""
    st.html('<h2 class="part">Chat model</h2>' + quiet_html(ABOUT))
    if context.settings.offline:
        st.html(notice_html(OFFLINE))
    own = context.settings.allows_user_models
    current = str(chosen.get("answers", MODEL_CHOICES[0]))
    there = {"server": True, "none": bool(context.settings.chat_model) or current == "none", "own": own}
    choices = [choice for choice in MODEL_CHOICES if there[choice]]
    if current not in choices:
        current = MODEL_CHOICES[0]
    wanted = st.session_state.get("answers-wanted", current)  # "own" before its form was saved
    if wanted not in choices:
        wanted = current
    # Each state has a field of its own, which begins with what it is: a browser sends what a field had for a
    # moment after it was given another value, and that would count as a choice.
    key = f"answers-by-{wanted}-{st.session_state.get('answers-chosen', 0)}"
    labels = {
        "server": f"As this server is set up: {model_text(context.settings)}",
        "none": "No model: the documents' own words",
        "own": "A model of my own",
    }
    st.radio(
        "Who writes the answers",
        choices,
        index=choices.index(wanted),
        key=key,
        format_func=lambda choice: plain_markdown(labels[choice]),
        label_visibility="collapsed",
        on_change=_choose,
        args=(key, wanted, context),
    )
    if not own:
        st.html(quiet_html(FORBIDDEN))
    if own and not context.settings.offline:
        card = draw_cards(context, chosen, KEY_NOTE)
        if card == OTHER or (not card and wanted == "own"):
            _draw_form(context, chosen)
    _draw_state(context, chosen, saved=current == wanted)


def forget_form() -> None:
    """Shows what is stored instead of what was typed."""
    for key in ("answers-wanted", "own-model", "own-endpoint", "own-key"):
        st.session_state.pop(key, None)
    forget_cards()


def model_text(settings: Settings) -> str:
    """Says which model answers by these settings."""
    return (
        f"{settings.chat_model} at {endpoint_host(settings)}"
        if settings.chat_model
        else "no model, the documents' own words"
    )


def _choose(key: str, before: str, context: AppContext) -> None:
    choice = st.session_state[key]
    if choice == before:  # a field that is not drawn any more (Streamlit 1.67)
        return
    st.session_state["answers-chosen"] = st.session_state.get("answers-chosen", 0) + 1
    if choice == "own":  # nothing applies before it is named and saved
        st.session_state["answers-wanted"] = choice
        return
    st.session_state.pop("answers-wanted", None)
    _change(lambda: context.chatbot.own.choose_model(session.owner(), choice))


def _draw_form(context: AppContext, chosen: Chosen) -> None:
    for key, name in (("own-model", "chat_model"), ("own-endpoint", "base_url")):
        st.session_state.setdefault(key, str(chosen.get(name, "")))
    has_key = context.chatbot.own.has_key(session.owner())
    with st.form("own-model-form"):
        st.text_input(
            "Model",
            key="own-model",
            max_chars=LONGEST_MODEL,
            placeholder="such as qwen3 or gpt-4o",
            autocomplete="off",
        )
        st.text_input(
            "Endpoint",
            key="own-endpoint",
            max_chars=LONGEST_URL,
            placeholder="such as http://localhost:11434/v1",
            autocomplete="off",
        )
        st.text_input(
            "Key",
            key="own-key",
            max_chars=LONGEST_KEY,
            type="password",
            placeholder="a key is set; a new one replaces it" if has_key else "none is set",
            autocomplete="new-password",
        )
        st.html(
            quiet_html(
                f"Without an endpoint the model is asked at the server's own, "
                f"{endpoint_host(context.settings)}. {KEY_NOTE}"
            )
        )
        if is_in_the_open(st.context.url or ""):
            st.html(
                notice_html(
                    "This page came over http://: a key that you give here can be read on the way to "
                    "this server."
                )
            )
        st.form_submit_button("Save", type="primary", key="save-own-model", on_click=_save, args=(context,))


def _save(context: AppContext) -> None:
    """Saves the form. The key leaves the session at once; from here on only the chatbot holds it."""
    key, st.session_state["own-key"] = st.session_state["own-key"], ""

    def change() -> None:
        context.chatbot.own.choose_model(
            session.owner(), "own", st.session_state["own-model"], st.session_state["own-endpoint"], key
        )
        st.session_state.pop("answers-wanted", None)
        st.session_state.pop("own-endpoint", None)  # shown as it is stored

    _change(change)


def _change(change: Callable[[], None]) -> None:
    st.session_state.pop("trial", None)
    try:
        change()
    except ProjectError as error:
        session.notify(error)


def _draw_state(context: AppContext, chosen: Chosen, *, saved: bool) -> None:
    """Shows what applies now, and whether it works."""
    mine = session.settings(context)
    has_key = context.chatbot.own.has_key(session.owner())
    if not saved:
        st.html(quiet_html(f"Not saved yet. Until then answers come from: {model_text(mine)}."))
    elif mine.chat_model:
        st.html(f'<p class="state">{plain_html(_held(mine, context.settings, has_key=has_key))}</p>')
    draw_model_list(context, mine, chosen)
    with st.container(horizontal=True, key="model-buttons"):
        tried = bool(mine.chat_model) and st.button(
            "Test the model",
            key="test-model",
            help="Sends the model one short line, and nothing of the documents.",
        )
        if has_key:
            st.button("Remove the key", key="remove-key", on_click=_remove_key, args=(context,))
    if tried:
        st.session_state["trial"] = _Running(mine)
    running = st.session_state.get("trial")
    if running is not None and running.settings == replace(mine, api_key=""):
        st.fragment(_draw_trial, run_every=None if running.over else POLL_SECONDS)(
            running, was_over=running.over, own=context.chatbot.own.is_own(session.owner())
        )


class _Running:
    """A test of a model in a thread of its own, so that the page may be left meanwhile."""

    def __init__(self, settings: Settings) -> None:
        """settings: kept without the key, which is only for this test."""
        self.settings, self.begun = replace(settings, api_key=""), time.monotonic()
        self.trial: Trial | None = None
        self.cancelled = False
        threading.Thread(target=self._run, args=(settings,), name="model-trial", daemon=True).start()

    @property
    def over(self) -> bool:
        return self.trial is not None

    def _run(self, settings: Settings) -> None:
        self.trial = try_model(settings, lambda: self.cancelled)


def _draw_trial(running: _Running, *, was_over: bool, own: bool) -> None:
    """Shows how the test goes, or went. own: whether its user chose the model."""
    trial = running.trial
    if trial is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            seconds = time.monotonic() - running.begun
            st.html(
                f'<p class="state" role="status">Asking {plain_html(endpoint_host(running.settings))} … '
                f"{seconds:.0f} s</p>"
            )
            if st.button("Cancel", key="trial-cancel", type="tertiary"):
                running.cancelled = True
                st.session_state.pop("trial", None)
                st.toast("The test was cancelled.")
                st.rerun()
    elif not was_over:
        st.rerun()  # drawn once more, and polled no longer
    elif trial.works:
        st.html(f'<p class="state" role="status">✓ {plain_html(trial.text)}</p>')
    else:
        if own:
            text = reworded(trial.text)
            hint = reworded(trial.hint)
        else:
            text = trial.text
            hint = trial.hint
        st.html(notice_html(text, hint))


def _held(mine: Settings, servers: Settings, *, has_key: bool) -> str:
    own = mine.base_url != servers.base_url
    if has_key:
        key = "Your key is set."
    else:
        needs_none = PROVIDERS[mine.provider].key == "none" if mine.provider in PROVIDERS else False
        key = "No key is set." if own and not needs_none else ""
    if is_in_the_open(mine.base_url):
        unprotected = " What is sent there over http:// can be read on the way."
    else:
        unprotected = ""
    return f"In use: {model_text(mine)}. {key}{unprotected}".strip()


def is_in_the_open(url: str) -> bool:
    """Tells whether what goes to this address leaves the machine without encryption."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname not in {"localhost", "127.0.0.1", "::1"}
    except ValueError:
        return False


def _remove_key(context: AppContext) -> None:
    st.session_state.pop("trial", None)
    context.chatbot.own.remove_key(session.owner())
