"""The dialogs of the Memory page: correcting a rating, an advice or a signal, and the question before something is deleted; lists nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from chatbot.errors import NotFoundError, ProjectError
from chatbot.memory.cases.records import Case
from chatbot.memory.cases.store import KEPT_DAYS
from chatbot.memory.signals.records import ACTIONS, Reading, Row
from chatbot.memory.situations.rows import LONGEST_RECOMMENDATION, LONGEST_SITUATION, Situation
from chatbot.ui import session
from chatbot.ui.ratings import LONGEST_WORD
from chatbot.ui.shared import House
from chatbot.ui.text import VERDICTS, case_html, notice_html, signal_html, situation_html

__all__ = ["ask_for", "attempt", "draw_changes", "show_dialog"]

STATE = "memory_dialog"
Change = Callable[[], object]
# What a signal that somebody corrected is said to be by.
PERSON = "a person"
# Advice of one situation that the dialog corrects; what is older stays as it is.
MOST_FIELDS = 10
# Characters of a subject, and of the summary and the assets of a signal.
LONGEST_SUBJECT, LONGEST_SUMMARY, LONGEST_ASSETS = 60, 400, 100


def ask_for(kind: str, one: Case | Situation | Row) -> None:
    """Open a dialog in the next run. kind: edit | delete. one: what it is about."""
    st.session_state[STATE] = (kind, one)


def draw_changes(one: Situation | Row, key: str, what: str) -> None:
    """The buttons that open either dialog. key: ends theirs; what: is said to those who do not see beside what they stand."""
    with st.container(horizontal=True, gap="small"):
        for label, kind in (("Correct", "edit"), ("Delete", "delete")):
            st.button(label, key=f"{kind}-{key}", type="tertiary", help=f"{label} this {what}", on_click=ask_for, args=(kind, one))


def show_dialog(house: House) -> None:
    """Open the dialog that was asked for, if any."""
    kind, one = st.session_state.get(STATE, ("", None))
    edit = kind == "edit"
    if isinstance(one, Case):
        st.dialog("Correct this rating" if edit else "Delete this rating?", on_dismiss=_close)(_edit if edit else _delete_case)(one, house)
    elif isinstance(one, Situation):
        st.dialog("Correct this advice" if edit else "Delete this advice?", on_dismiss=_close)(_edit_advice if edit else _delete_advice)(one, house)
    elif isinstance(one, Row):
        st.dialog("Correct this signal" if edit else "Delete this news?", on_dismiss=_close)(_edit_signal if edit else _delete_signal)(one, house)


def attempt(change: Change) -> None:
    """Change something; what goes wrong is told in the next run, but that it is gone already, which the list shows."""
    try:
        change()
    except NotFoundError:
        return
    except ProjectError as error:
        session.tell(error)


def _close() -> None:
    st.session_state.pop(STATE, None)


def _edit(case: Case, house: House) -> None:
    with st.form("edit-case", border=False):
        st.html(case_html(case, whole=True))
        verdict = st.radio("Verdict", (1, 0), 1 - case.reward, format_func=VERDICTS.__getitem__, key="edit-verdict", horizontal=True)
        word = st.text_input("Why? (optional)", case.word[:LONGEST_WORD], key="edit-word", max_chars=LONGEST_WORD)
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if saved:
        attempt(lambda: house.chatbot.cases.edit(session.owner(), case.id, lambda old: replace(old, reward=int(verdict or 0), word=word.strip())))
        _close()
        st.rerun()


def _edit_advice(one: Situation, house: House) -> None:
    shown, kept = one.recommendations[:MOST_FIELDS], one.recommendations[MOST_FIELDS:]
    with st.form("edit-advice", border=False):
        situation = st.text_area("When …", one.situation, key="edit-situation", max_chars=LONGEST_SITUATION, height=68)
        advice = [
            st.text_area("also …" if at else "then …", text, key=f"edit-recommendation-{at}", max_chars=LONGEST_RECOMMENDATION, height=68)
            for at, text in enumerate(shown)
        ]
        subject = st.text_input("Subject (optional)", one.scope, key="edit-subject", max_chars=max(LONGEST_SUBJECT, len(one.scope)))
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if not saved:
        return
    said, texts = (situation or "").strip(), [*(text.strip() for text in advice if text and text.strip()), *kept]
    if not said or not texts:
        st.html(notice_html("Say both when and then what."))
        return
    attempt(lambda: house.chatbot.situations.edit(session.owner(), one.key, texts, situation=said, scope=subject or ""))
    _close()
    st.rerun()


def _edit_signal(row: Row, house: House) -> None:
    best = row.readings[0] if row.readings else Reading(" ".join(row.text.split()), (), "observe", 0.5, PERSON)
    with st.form("edit-signal", border=False):
        st.html(signal_html(row))
        summary = st.text_area("What happened", best.summary[:LONGEST_SUMMARY], key="edit-summary", max_chars=LONGEST_SUMMARY, height=68)
        assets = st.text_input(
            "Assets", ", ".join(best.assets)[:LONGEST_ASSETS], key="edit-assets", max_chars=LONGEST_ASSETS, help="Codes, such as EUR, GOLD"
        )
        action = st.selectbox("It speaks for", ACTIONS, ACTIONS.index(best.action), key="edit-action")
        confidence = st.slider("Confidence", 0.0, 1.0, float(best.confidence), 0.05, key="edit-confidence")
        st.caption("Everybody who uses this server then has your reading in the place of the others.")
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if not saved:
        return
    if not (summary or "").strip():
        st.html(notice_html("Say what happened."))
        return
    codes = tuple(dict.fromkeys(code.upper() for code in (assets or "").replace(",", " ").split()))
    reading = Reading(" ".join((summary or "").split()), codes, action, round(confidence, 2), PERSON)
    attempt(lambda: house.chatbot.signals.correct(row.event, reading))
    _close()
    st.rerun()


def _delete_signal(row: Row, house: House) -> None:
    st.html(signal_html(row))
    st.caption("Nobody on this server is shown it any more, and no import brings it back.")
    _choice(lambda: house.chatbot.signals.remove(row.event))


def _delete_case(case: Case, house: House) -> None:
    told = (
        f"It guides no answer any more, nobody else's either. It can be restored for {KEPT_DAYS} days. The conversation it comes from stays as it is."
    )
    st.html(case_html(case, (told,)))
    _choice(lambda: house.chatbot.cases.delete(session.owner(), case.id))


def _delete_advice(one: Situation, house: House) -> None:
    st.html(situation_html(one))
    st.caption("It is recalled no more, and cannot be brought back.")
    _choice(lambda: house.chatbot.situations.remove(session.owner(), one.key))


def _choice(change: Change) -> None:
    with st.container(horizontal=True):
        if st.button("Delete", key="dialog-yes", type="primary"):
            attempt(change)
            _close()
            st.rerun()
        if st.button("Keep it", key="dialog-no"):
            _close()
            st.rerun()
