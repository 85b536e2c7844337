"""Draws advice on the Memory page: its state, the list, the form that adds it, and files in and out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.file_import import Wording, outcome_lines
from chatbot.errors import ProjectError
from chatbot.memory.import_files import Progress
from chatbot.memory.layers import counted
from chatbot.memory.situations import situation_types
from chatbot.memory.situations.situation_store import SituationHealth
from chatbot.memory.situations.situation_types import Situation
from chatbot.ui import session
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
# Characters that the form takes; a longer text is a document.
LONGEST_SITUATION = 10_000
LONGEST_RECOMMENDATION = 2_000
LONGEST_SUBJECT = 60
# Recommendations of one situation that the dialog shows; older ones stay as they are.
MOST_FIELDS = 10
EMPTY = (
    "You have not added any advice yet. Write “When inflation rises above target, then shorten "
    "duration.” on the Chat page, or fill in the form below. When a question describes this situation, "
    "your advice appears below its answer, with its date."
)
FILES = Files(
    "advice",
    "Import a file of JSON lines: a situation, its advice and an optional subject",
    partial(
        outcome_lines, wording=Wording("situation with advice", "situations with advice", "already known")
    ),
    "advice.jsonl",
)
NOT_FILLED = "Fill in both the situation and the advice."
NOTHING_FOUND = "No advice has all of these words."
ABOUT_SUBJECT = (
    "With a subject, such as a country or fund, it is recalled only for questions that mention it."
)


def draw(context: AppContext) -> None:
    """Draw the tab. Raises StoreError if the situations cannot be read."""
    situations = context.chatbot.situations
    owner = session.owner()
    health = situations.health(owner)
    if health.situations:
        st.html(quiet_html(health_text(health)))
        search = search_box("Search advice", key="find-advice")
        found = situations.listed(owner, search=search)
        for situation in page_of(found, ROWS, key="advice-page"):
            with st.container(key=f"advice-{situation.key}", gap=None):
                st.html(situation_html(situation))
                what = f"advice: {plain_markdown(short(situation.situation, 60))}"
                draw_changes(EDIT, DELETE, situation, situation.key, what)
        if not found:
            st.html(quiet_html(NOTHING_FOUND))
    else:
        st.html(paragraphs_html(EMPTY))
    _draw_form(context)
    export = partial(situations.export, owner) if health.situations else None

    def load(path: Path, _: str, tell: Progress) -> object:
        return situations.import_file(owner, path, progress=tell)

    draw_files(context, FILES, load, export)


def health_text(health: SituationHealth) -> str:
    """One line on how many situations there are and which are not recalled now."""
    text = f"{counted(health.situations, 'situation')} with advice"
    if subjects := sum(map(bool, health.scopes)):
        general = " and in general" if "" in health.scopes else ""
        text += f", on {counted(subjects, 'subject')}{general}"
    return f"{text}. {health.waiting:,} in all are still being indexed." if health.waiting else f"{text}."


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
        situations = context.chatbot.situations
        situations.add(session.owner(), [(situation, advice)], scope=subject)
    except ProjectError as error:
        filled = situation.strip() and advice.strip()
        st.html(notice_html(error.message if filled else NOT_FILLED, error.hint))
        return
    st.session_state["advice_form"] = number + 1
    st.rerun()


def _edit(one: Situation, context: AppContext) -> None:
    shown, kept = one.recommendations[:MOST_FIELDS], one.recommendations[MOST_FIELDS:]
    with st.form("edit-advice", border=False):
        situation = st.text_area(
            "When …",
            one.situation,
            key="edit-situation",
            max_chars=situation_types.LONGEST_SITUATION,
            height=68,
        )
        advice = [_draw_recommendation(at, text) for at, text in enumerate(shown)]
        longest = max(LONGEST_SUBJECT, len(one.scope))
        subject = st.text_input("Subject (optional)", one.scope, key="edit-subject", max_chars=longest)
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if not saved:
        return
    situation = situation.strip()
    texts = [*filter(None, map(str.strip, advice)), *kept]
    if not situation or not texts:
        st.html(notice_html(NOT_FILLED))
        return
    edit = partial(context.chatbot.situations.edit, session.owner(), one.key, texts)
    finish(lambda: edit(situation=situation, scope=subject))


def _draw_recommendation(at: int, text: str) -> str:
    """Draw the field of a recommendation, and return its text."""
    return st.text_area(
        "also …" if at else "then …",
        text,
        key=f"edit-recommendation-{at}",
        max_chars=situation_types.LONGEST_RECOMMENDATION,
        height=68,
    )


def _delete(one: Situation, context: AppContext) -> None:
    st.html(situation_html(one))
    st.caption("It will not be recalled again. You cannot undo this.")
    draw_choice(lambda: context.chatbot.situations.remove(session.owner(), one.key))


EDIT = Dialog("Correct this advice", _edit)
DELETE = Dialog("Delete this advice?", _delete)
