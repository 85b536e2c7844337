"""The dialogs of the Memory page: correcting a rating, and the question before something is deleted; lists nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from chatbot.errors import NotFoundError, ProjectError
from chatbot.memory.cases.records import Case, case_id
from chatbot.memory.cases.store import Cases
from chatbot.memory.situations.file import Situation
from chatbot.ui import session
from chatbot.ui.ratings import LONGEST_WORD
from chatbot.ui.shared import House
from chatbot.ui.text import VERDICTS, case_html, situation_html

__all__ = ["ask_for", "attempt", "show_dialog"]

STATE = "memory_dialog"
Change = Callable[[], object]


def ask_for(kind: str, one: Case | Situation) -> None:
    """Open a dialog in the next run. kind: edit | delete. one: what it is about."""
    st.session_state[STATE] = (kind, one)


def show_dialog(house: House) -> None:
    """Open the dialog that was asked for, if any."""
    kind, one = st.session_state.get(STATE, ("", None))
    if kind == "edit":
        st.dialog("Correct this rating", on_dismiss=_close)(_edit)(one, house)
    elif isinstance(one, Case):
        st.dialog("Delete this rating?", on_dismiss=_close)(_delete_case)(one, house)
    elif isinstance(one, Situation):
        st.dialog("Delete this advice?", on_dismiss=_close)(_delete_advice)(one, house)


def attempt(change: Change) -> None:
    """Change something; what goes wrong is told in the next run, but that it is gone already, which the list shows."""
    try:
        change()
    except NotFoundError:
        return
    except ProjectError as error:
        session.tell(error)


def _change(cases: Cases, case: Case, change: Callable[[Case], Case]) -> None:
    """Change a case; what is shared of it changes too. Raises NotFoundError, StoreError, UsageError."""
    owner = session.owner()
    cases.edit(owner, case.id, change)
    if _is_shared(cases, owner, case):
        cases.share(owner, case.id)


def _erase(cases: Cases, case: Case) -> None:
    """Erase a case, and what is shared of it. Raises NotFoundError, StoreError."""
    owner = session.owner()
    if _is_shared(cases, owner, case):
        cases.unshare(owner, _shared_id(cases, owner, case))
    cases.delete(owner, case.id)


def _shared_id(cases: Cases, owner: str, case: Case) -> str:
    """The id that a case of the owner has among the shared ones, there or not. Raises StoreError."""
    return case_id(case.question, cases.health(owner).path.stem)


def _is_shared(cases: Cases, owner: str, case: Case) -> bool:
    wanted = _shared_id(cases, owner, case)
    return any(row.case.id == wanted for row in cases.listed(owner, shared=True))


def _close() -> None:
    st.session_state.pop(STATE, None)


def _edit(case: Case, house: House) -> None:
    with st.form("edit-case", border=False):
        st.html(case_html(case, whole=True))
        verdict = st.radio("Verdict", (1, 0), 1 - case.reward, format_func=VERDICTS.__getitem__, key="edit-verdict", horizontal=True)
        word = st.text_input("Why? (optional)", case.word[:LONGEST_WORD], key="edit-word", max_chars=LONGEST_WORD)
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if saved:
        attempt(lambda: _change(house.chatbot.cases, case, lambda old: replace(old, reward=int(verdict or 0), word=word.strip())))
        _close()
        st.rerun()


def _delete_case(case: Case, house: House) -> None:
    st.html(case_html(case, ("It guides no answer any more, and cannot be brought back. The conversation it comes from stays as it is.",)))
    _choice(lambda: _erase(house.chatbot.cases, case))


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
