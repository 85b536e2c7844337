"""Advice on the Memory page: the form that adds it, the list, files in and out, and how it fares; what is
recalled of it is the memory's.
"""

from __future__ import annotations

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.memory.situations import situation_types
from chatbot.memory.situations.situation_store import SituationHealth
from chatbot.memory.situations.situation_types import Situation
from chatbot.ui import session
from chatbot.ui.app_context import AppContext
from chatbot.ui.file_import import Wording
from chatbot.ui.list_controls import page_of, search_box
from chatbot.ui.memory_dialogs import Dialog, draw_changes, draw_choice, finish
from chatbot.ui.memory_files import Files, draw_files
from chatbot.ui.safe_text import (
    notice_html,
    paragraphs_html,
    plain_markdown,
    quiet_html,
    short,
    situation_html,
)

__all__ = ["draw", "health_text"]

ROWS = 20
# Characters that the form takes; what is longer is a document.
LONGEST_SITUATION = 10_000
LONGEST_RECOMMENDATION = 2_000
LONGEST_SUBJECT = 60
# Advice of one situation that the dialog corrects; what is older stays as it is.
MOST_FIELDS = 10
EMPTY = (
    "No advice is recorded yet. Write on the Chat page “When inflation rises above target, then shorten "
    "duration.”, or fill in the form below. "
    "When a question describes such a situation, the advice is recalled beside the documents, with its "
    "day, and never mixed with what they say."
)
FILES = Files(
    "advice",
    "Import a file of JSON lines: a situation, what is advised in it, and a subject where it has one",
    "advice.jsonl",
    Wording("situation with advice", "situations with advice", "known already"),
)
NOTHING_FOUND = "No advice holds all of these words."
ABOUT_SUBJECT = "With a subject, such as a country or a fund, it is recalled only for questions that name it."


def draw(context: AppContext) -> None:
    """The tab. Raises StoreError where the situations cannot be read."""
    situations = context.chatbot.situations
    owner = session.owner()
    health = situations.health(owner)
    st.html(quiet_html(health_text(health)) if health.situations else paragraphs_html(EMPTY))
    if health.situations:
        wanted = search_box("Search advice", key="find-advice")
        found = situations.listed(owner, search=wanted)
        for one in page_of(found, ROWS, key="advice-page"):
            with st.container(key=f"advice-{one.key}", gap=None):
                st.html(situation_html(one))
                draw_changes(
                    EDIT, DELETE, one, one.key, f"advice: {plain_markdown(short(one.situation, 60))}"
                )
        if not found:
            st.html(quiet_html(NOTHING_FOUND))
    _draw_form(context)
    draw_files(context, FILES, situations, empty=not health.situations)


def health_text(health: SituationHealth) -> str:
    """One line on how much there is, and on what is not recalled now."""
    subjects = len([scope for scope in health.scopes if scope])
    counted = f"{health.situations:,} situation{'' if health.situations == 1 else 's'} with advice"
    counted += (
        (
            f", on {subjects:,} "
            f"subject{'' if subjects == 1 else 's'}{' and in general' if '' in health.scopes else ''}."
        )
        if subjects
        else "."
    )
    return counted + (
        f" {health.waiting:,} of all here not recalled yet, for vectors are still to be made."
        if health.waiting
        else ""
    )


def _draw_form(context: AppContext) -> None:
    number = st.session_state.setdefault("advice_form", 0)
    with st.form(f"advice-{number}"):
        situation = st.text_area(
            "When …",
            key=f"situation-{number}",
            max_chars=LONGEST_SITUATION,
            height=68,
            placeholder="inflation rises above target",
        )
        advice = st.text_input(
            "then …",
            key=f"recommendation-{number}",
            max_chars=LONGEST_RECOMMENDATION,
            placeholder="shorten duration",
        )
        subject = st.text_input(
            "Subject (optional)", key=f"subject-{number}", max_chars=LONGEST_SUBJECT, help=ABOUT_SUBJECT
        )
        added = st.form_submit_button("Add advice", key="add-advice")
    if not added:
        return
    try:
        context.chatbot.situations.add(session.owner(), [(situation, advice)], scope=subject)
    except ProjectError as error:
        if not (situation.strip() and advice.strip()):
            told = "Say both when and then what."
        else:
            told = error.message
        st.html(notice_html(told, error.hint))
        return
    st.session_state["advice_form"] = number + 1
    st.rerun()


def _edit(one: Situation, context: AppContext) -> None:
    shown = one.recommendations[:MOST_FIELDS]
    kept = one.recommendations[MOST_FIELDS:]
    with st.form("edit-advice", border=False):
        situation = st.text_area(
            "When …",
            one.situation,
            key="edit-situation",
            max_chars=situation_types.LONGEST_SITUATION,
            height=68,
        )
        advice = [
            st.text_area(
                "also …" if at else "then …",
                text,
                key=f"edit-recommendation-{at}",
                max_chars=situation_types.LONGEST_RECOMMENDATION,
                height=68,
            )
            for at, text in enumerate(shown)
        ]
        subject = st.text_input(
            "Subject (optional)",
            one.scope,
            key="edit-subject",
            max_chars=max(LONGEST_SUBJECT, len(one.scope)),
        )
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if not saved:
        return
    said = situation.strip()
    texts = [*(text.strip() for text in advice if text.strip()), *kept]
    if not said or not texts:
        st.html(notice_html("Say both when and then what."))
        return
    finish(
        lambda: context.chatbot.situations.edit(
            session.owner(), one.key, texts, situation=said, scope=subject
        )
    )


def _delete(one: Situation, context: AppContext) -> None:
    st.html(situation_html(one))
    st.caption("It is recalled no more, and cannot be brought back.")
    draw_choice(lambda: context.chatbot.situations.remove(session.owner(), one.key))


EDIT = Dialog("Correct this advice", _edit)
DELETE = Dialog("Delete this advice?", _delete)
