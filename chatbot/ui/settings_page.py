"""Draws the Settings page: each user's own choices over the server's settings, with their effects."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.settings import Settings
from chatbot.ui import session
from chatbot.ui.model_choice import worded
from chatbot.ui.network_exposure import opening
from chatbot.ui.overlay import Dialog, ask_for
from chatbot.ui.page_parts import (
    draw_button,
    draw_notice,
    draw_problem,
    draw_quiet,
    draw_quiet_button,
    draw_two_ways,
)
from chatbot.ui.safe_text import paragraphs_html, plain_html, plain_markdown, quiet_html
from chatbot.ui.settings_model import draw_model, forget_form
from chatbot.user_settings import PREFERENCES, Chosen, Preference, Value, server_value

__all__ = ["show", "shown_value"]

WHOSE = "These settings are yours alone. They change nobody else's answers."
# The groups under "Advanced", with the text under their headings.
PARTS = (
    ("answers", "Answers", ""),
    ("follow-ups", "Follow-up questions", ""),
    ("cost", "Cost", ""),
    ("signals", "News signals", "From the news that was imported on the Memory page."),
)
NO_MODEL = "Choose a model to see the settings that need one."


def show(context: AppContext) -> None:
    """Draws the page."""
    st.title("Settings", anchor=False)
    draw_quiet(WHOSE)
    with st.container():  # always there, so that nothing below is drawn anew
        problem = session.notified()
        if problem is not None:
            draw_notice(worded(problem.message), worded(problem.hint))
    try:
        chosen = context.chatbot.own.chosen(session.owner())
        with st.container():
            draw_model(context, chosen)
        with st.expander("Advanced", key="advanced"):
            _draw_advanced(context, chosen)
        _draw_reset(changed=bool(chosen) or context.chatbot.own.has_key(session.owner()))
    except ProjectError as error:
        draw_problem(error)


def _draw_advanced(context: AppContext, chosen: Chosen) -> None:
    """Draws all settings that have an effect now, in their groups."""
    mine = session.settings(context)
    for part, heading, about in PARTS:
        if part == "signals" and context.chatbot.signals.off:
            continue
        shown = [one for one in PREFERENCES if one.part == part and one.has_effect(mine)]
        if not shown:
            continue
        st.html(f'<h2 class="part">{plain_html(heading)}</h2>' + (quiet_html(about) if about else ""))
        with st.container(key=f"preferences-{part}"):
            for one in shown:
                _draw_preference(one, context, changed=one.name in chosen)
    servers = context.settings
    can_choose = servers.allows_user_models or bool(servers.chat_model)
    if can_choose and not mine.chat_model and not servers.offline:
        draw_quiet(NO_MODEL)


def shown_value(one: Preference, value: Value) -> str:
    """Says a value: on, off, 10, 0.6, or what 0 means."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if one.zero and not value:
        return one.zero
    return f"{value:g}" if isinstance(value, float) else str(value)


def _draw_preference(one: Preference, context: AppContext, *, changed: bool) -> None:
    mine = session.settings(context)
    default = server_value(one.name, context.settings)
    with st.container(key=f"preference-{one.name}"):
        words, control = st.columns([2, 1], vertical_alignment="center", gap="medium")
        with words:
            special = f" 0 means {one.zero}." if one.zero else ""
            default_text = f"Default: {shown_value(one, default)}."
            st.html(
                f'<p class="choice">{plain_html(one.label)}</p>'
                + quiet_html(f"{one.effect}{special} {default_text}")
                + (quiet_html(_reader(context)) if one.name == "verify" and mine.verify else "")
            )
        with control:
            _draw_control(one, mine, context)
            if changed:
                draw_quiet_button(
                    f"Reset to {shown_value(one, default)}",
                    f"reset-{one.name}",
                    session.attempt,
                    context.chatbot.own.reset,
                    session.owner(),
                    one.name,
                    help=plain_markdown(f"{one.label}: use the server's setting again."),
                )


def _reader(context: AppContext) -> str:
    """Says who reads this user's answers back, and how that model did in the test."""
    try:
        verifier = context.chatbot.models.verifying(session.owner())
    except ProjectError as error:
        return f"{error.message} {error.hint}"
    return context.chatbot.reading.standing(verifier) if verifier else ""


def _draw_control(one: Preference, mine: Settings, context: AppContext) -> None:
    """Draws the switch or number with the current value, which another tab may have changed.

    It also begins with that value: a browser that misses what the session sets shows what a field begins
    with, and sends that back as if it were chosen.
    """
    key = f"set-{one.name}"
    value = server_value(one.name, mine)
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    kind: type[float] | type[int] = int if isinstance(value, int) else float
    most = mine.window if one.name == "prompt_exchanges" else one.most
    common: dict[str, Any] = {
        "key": key,
        "label_visibility": "collapsed",
        "on_change": partial(_choose, one.name, key, context),
    }
    if one.choices:
        st.selectbox(one.label, one.choices, one.choices.index(str(value)), width=160, **common)
    elif isinstance(value, str):
        st.text_input(one.label, value, width=160, **common)
    elif isinstance(value, bool):
        st.toggle(one.label, value, **common)
    else:
        limits = kind(one.least), kind(most), value
        form = None if kind is int else "%.2f"
        st.number_input(one.label, *limits, step=kind(one.step), format=form, width=160, **common)


def _choose(name: str, key: str, context: AppContext) -> None:
    """Stores what was chosen, unless it applies already."""
    if st.session_state[key] != server_value(name, session.settings(context)):
        session.attempt(context.chatbot.own.choose, session.owner(), name, st.session_state[key])


def _draw_reset(*, changed: bool) -> None:
    with st.container(key="reset-everything"):
        told = None if changed else "You have not changed anything."
        draw_button("Reset all settings", "reset-all", ask_for, RESET, None, disabled=not changed, help=told)


def _ask_to_reset(_: None, context: AppContext) -> None:
    st.html(paragraphs_html("The server's settings then apply, and your model and key are forgotten."))
    draw_two_ways("Reset", "Keep", partial(_reset_all, context))


def _reset_all(context: AppContext) -> None:
    session.attempt(context.chatbot.own.reset, session.owner())
    forget_form()


RESET = Dialog("Reset all settings?", _ask_to_reset)


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
