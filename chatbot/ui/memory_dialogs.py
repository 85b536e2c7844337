"""The dialog of the Memory page, one at a time: asked for by a button, drawn by the memory's own tab,
closed when it is answered; knows no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from chatbot.errors import NotFoundError, ProjectError
from chatbot.ui import session
from chatbot.ui.app_context import AppContext

__all__ = [
    "Dialog",
    "ask_for",
    "attempt",
    "draw_button",
    "draw_changes",
    "draw_choice",
    "finish",
    "show_dialog",
]

STATE = "memory_dialog"
Change = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Dialog:
    """draw: its inside, given what it is about."""

    title: str
    draw: Callable[[Any, AppContext], None]


def ask_for(dialog: Dialog, one: object) -> None:
    """Open a dialog in the next run. one: what it is about."""
    st.session_state[STATE] = (dialog, one)


def draw_changes(edit: Dialog, delete: Dialog, one: object, key: str, what: str) -> None:
    """The buttons that open either dialog. key: ends theirs; what: is said to those who do not see beside
    what they stand.
    """
    with st.container(horizontal=True, gap="small"):
        draw_button("Correct", f"edit-{key}", ask_for, edit, one, told=f"Correct this {what}")
        draw_button("Delete", f"delete-{key}", ask_for, delete, one, told=f"Delete this {what}")


def draw_button(
    label: str, key: str, click: Callable[..., None], *given: object, told: str | None = None
) -> None:
    """A small button. click: is called with what is given. told: said of it to those who point at it."""
    st.button(label, key=key, type="tertiary", help=told, on_click=click, args=given)


def show_dialog(context: AppContext) -> None:
    """Open the dialog that was asked for, if any."""
    if STATE in st.session_state:
        dialog, one = st.session_state[STATE]
        st.dialog(dialog.title, on_dismiss=_close)(dialog.draw)(one, context)


def attempt(change: Change) -> None:
    """Change something; what goes wrong is told in the next run, but that it is gone already, which the
    list shows.
    """
    try:
        change()
    except NotFoundError:
        return
    except ProjectError as error:
        session.tell(error)


def finish(change: Change) -> None:
    """Change something, close the dialog and draw the page anew."""
    attempt(change)
    _close()
    st.rerun()


def draw_choice(change: Change) -> None:
    """The two buttons below the question whether something is to be deleted."""
    with st.container(horizontal=True):
        if st.button("Delete", key="dialog-yes", type="primary"):
            finish(change)
        if st.button("Keep it", key="dialog-no"):
            _close()
            st.rerun()


def _close() -> None:
    st.session_state.pop(STATE, None)
