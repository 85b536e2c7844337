"""Shows the dialogs of the Memory page, one at a time. Each memory's own tab draws its dialogs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError, ProjectError
from chatbot.ui import session

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
    """A dialog. draw: draws its inside, given its subject."""

    title: str
    draw: Callable[[Any, AppContext], None]


def ask_for(dialog: Dialog, one: object) -> None:
    """Opens a dialog in the next run. one: its subject."""
    st.session_state[STATE] = (dialog, one)


def draw_changes(edit: Dialog, delete: Dialog, one: object, key: str, what: str) -> None:
    """Draws the buttons that open either dialog.

    key: the end of their keys.
    what: what they stand beside, for users who cannot see it.
    """
    with st.container(horizontal=True, gap="small"):
        draw_button("Correct", f"edit-{key}", ask_for, edit, one, told=f"Correct this {what}")
        draw_button("Delete", f"delete-{key}", ask_for, delete, one, told=f"Delete this {what}")


def draw_button(
    label: str, key: str, click: Callable[..., None], *given: object, told: str | None = None
) -> None:
    """Draws a small button.

    click: called with what is given.
    told: its tooltip.
    """
    st.button(label, key=key, type="tertiary", help=told, on_click=click, args=given)


def show_dialog(context: AppContext) -> None:
    """Opens the dialog that was asked for, if any."""
    if STATE in st.session_state:
        dialog, one = st.session_state[STATE]
        st.dialog(dialog.title, on_dismiss=_close)(dialog.draw)(one, context)


def attempt(change: Change) -> None:
    """Changes something. The next run reports errors, except that it is already gone, as the list shows."""
    try:
        change()
    except NotFoundError:
        return
    except ProjectError as error:
        session.notify(error)


def finish(change: Change) -> None:
    """Changes something, closes the dialog and draws the page again."""
    attempt(change)
    _close()
    st.rerun()


def draw_choice(change: Change) -> None:
    """Draws the two buttons below the question whether to delete something."""
    with st.container(horizontal=True):
        if st.button("Delete", key="dialog-yes", type="primary"):
            finish(change)
        if st.button("Keep it", key="dialog-no"):
            _close()
            st.rerun()


def _close() -> None:
    st.session_state.pop(STATE, None)
