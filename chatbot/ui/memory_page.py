"""Draws the Memory page: a tab for each memory, and what all have in common."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.errors import ProjectError
from chatbot.memory.layers import layers_with
from chatbot.ui import session
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import draw_problem, draw_quiet

WHOSE = (
    "What guides later answers beside the documents. Your ratings and advice are used {} only, "
    "unless you share them. You can turn memory off in each conversation's menu."
)


def show(context: AppContext) -> None:
    """Draws the page."""
    st.title("Memory", anchor=False)
    draw_quiet(WHOSE.format(session.where_seen()))
    problem = session.notified()
    if problem is not None:
        draw_problem(problem)
    layers = layers_with("tab")
    tabs = st.tabs([one.tab for one in layers], key="memory-tab", on_change="rerun")
    for tab, layer in zip(tabs, layers, strict=True):
        if tab.open:
            with tab:
                _draw(layer.part("tab").draw, context)


def _draw(draw: Callable[[AppContext], None], context: AppContext) -> None:
    try:
        draw(context)
    except ProjectError as error:  # one memory that cannot be read leaves the others as they are
        draw_problem(error)


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
