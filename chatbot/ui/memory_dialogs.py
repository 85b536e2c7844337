"""Draws the buttons of the tabs of the memories that open dialogs, and the ends of those."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from chatbot.ui import overlay
from chatbot.ui.overlay import Dialog, ask_for
from chatbot.ui.page_parts import abreast, draw_quiet_button, draw_two_ways
from chatbot.ui.session import attempt

__all__ = ["Dialog", "ask_for", "attempt", "draw_button", "draw_changes", "draw_choice", "finish"]

Change = Callable[[], object]


def draw_changes(edit: Dialog, delete: Dialog, one: object, key: str, what: str) -> None:
    """Draws the buttons that open either dialog.

    key: the end of their keys.
    what: what they stand beside, for users who cannot see it.
    """
    with abreast(gap="small"):
        draw_button("Correct", f"edit-{key}", ask_for, edit, one, told=f"Correct this {what}")
        draw_button("Delete", f"delete-{key}", ask_for, delete, one, told=f"Delete this {what}")


def draw_button(
    label: str, key: str, click: Callable[..., None], *given: object, told: str | None = None
) -> None:
    """Draws a small button.

    click: called with what is given.
    told: its tooltip.
    """
    draw_quiet_button(label, key, click, *given, help=told)


def finish(change: Change) -> None:
    """Changes something, closes the dialog and draws the page again."""
    attempt(change)
    overlay.close_dialog()
    st.rerun()


def draw_choice(change: Change) -> None:
    """Draws the two buttons below the question whether to delete something."""
    draw_two_ways("Delete", "Keep it", lambda: attempt(change))
