"""Draws the chat model on the Settings page: which one answers, the choice of another, and its key.

The key can only be written, never read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.models.addresses import endpoint_host
from chatbot.models.connecting import RunningTrial
from chatbot.models.providers import PROVIDERS
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.model_trials import draw_trial, is_in_the_open
from chatbot.ui.provider_cards import draw_cards, draw_open_card, forget_cards, open_card
from chatbot.ui.safe_text import notice_html, plain_html, plain_markdown, quiet_html
from chatbot.user_settings import MODEL_CHOICES, Chosen

__all__ = ["draw_model", "forget_form", "model_text"]

ABOUT = (
    "Without a model, answers quote the documents. With one, they are written for your question. Citations "
    "and figures are checked either way."
)
FORBIDDEN = "This server does not allow models of your own."
OFFLINE = "This server is set to stay offline, so no model is asked."
REMOVE = "Remove the key? You will have to enter it again to use this model."


def draw_model(context: AppContext, chosen: Chosen) -> None:
    """Draws this part of the page. Raises StoreError. chosen: the owner's settings as stored."""
    st.html('<h2 class="part">Chat model</h2>' + quiet_html(ABOUT))
    if context.settings.offline:
        st.html(notice_html(OFFLINE))
    own = context.settings.allows_user_models
    with st.container():  # always there, see draw_open_card
        _draw_state(context)
    card = open_card(chosen)
    _draw_choices(context, chosen, is_card_open=bool(card))
    if not own:
        st.html(quiet_html(FORBIDDEN))
    elif not context.settings.offline:
        draw_cards(card)
        draw_open_card(context, card, chosen)


def forget_form() -> None:
    """Shows what is stored instead of what was typed."""
    for key in ("trial", "removing-key"):
        st.session_state.pop(key, None)
    forget_cards()


def model_text(settings: Settings) -> str:
    """Says which model answers by these settings."""
    if settings.chat_model:
        return f"{settings.chat_model} at {endpoint_host(settings)}"
    return "no model. Answers quote the documents"


def _draw_choices(context: AppContext, chosen: Chosen, *, is_card_open: bool) -> None:
    """Draws the choices that need nothing further: no model, and the server's."""
    labels = {"none": "No model"}
    if context.settings.chat_model:
        labels["server"] = f"This server's model: {context.settings.chat_model}"
    current = str(chosen.get("answers", MODEL_CHOICES[0]))
    if current not in labels:
        current = "none"
    with st.container(gap=None):
        st.html(quiet_html("Ready to use"))
        with st.container(horizontal=True, key="model-choices"):
            for choice, label in labels.items():
                st.button(
                    plain_markdown(label),
                    key=f"answers-{choice}",
                    type="primary" if choice == current and not is_card_open else "secondary",
                    on_click=_choose,
                    args=(choice, context),
                )


def _choose(choice: str, context: AppContext) -> None:
    forget_form()
    _change(lambda: context.chatbot.own.choose_model(session.owner(), choice))
    st.session_state["provider-card"] = ""


def _change(change: Callable[[], None]) -> None:
    try:
        change()
    except ProjectError as error:
        session.notify(error)


def _draw_state(context: AppContext) -> None:
    """Shows what applies now, and whether it works."""
    mine = session.settings(context)
    has_key = context.chatbot.own.has_key(session.owner())
    st.html(f'<p class="state">{plain_html(_in_use(mine, context.settings, has_key=has_key))}</p>')
    if st.session_state.get("removing-key") and has_key:
        _draw_removing(context)
        return
    with st.container(horizontal=True, key="model-buttons"):
        tried = bool(mine.chat_model) and st.button(
            "Test the model",
            key="test-model",
            help="Sends the model one short line, and nothing from your documents.",
        )
        if has_key:
            st.button("Remove the key", key="remove-key", on_click=_ask_to_remove)
    if tried:
        st.session_state["trial"] = RunningTrial(mine)
    running: RunningTrial | None = st.session_state.get("trial")
    if running is not None and running.settings == replace(mine, api_key=""):
        draw_trial(running, "trial", own=context.chatbot.own.is_own(session.owner()))


def _draw_removing(context: AppContext) -> None:
    st.html(notice_html(REMOVE))
    with st.container(horizontal=True, key="removing-buttons"):
        st.button("Remove", key="remove-key-now", type="primary", on_click=_remove_key, args=(context,))
        st.button("Keep", key="keep-key", on_click=_keep_key)


def _ask_to_remove() -> None:
    st.session_state["removing-key"] = True


def _keep_key() -> None:
    st.session_state.pop("removing-key", None)


def _remove_key(context: AppContext) -> None:
    forget_form()
    context.chatbot.own.remove_key(session.owner())


def _in_use(mine: Settings, servers: Settings, *, has_key: bool) -> str:
    """Says which model answers, whether it has a key, and what can be read on the way there."""
    text = f"In use: {model_text(mine)}."
    if has_key:
        text += " Your key is set." if mine.chat_model else " Your key is kept."
    elif mine.base_url != servers.base_url and _takes_key(mine):
        text += " No key is set."
    if is_in_the_open(mine.base_url):
        text += " What is sent there over http:// can be read on the way."
    return text


def _takes_key(settings: Settings) -> bool:
    return settings.provider not in PROVIDERS or PROVIDERS[settings.provider].key != "none"
