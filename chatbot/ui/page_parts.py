"""Draws what all pages have alike: quiet remarks, notices, rows, buttons, what changes by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download, Downloads
from chatbot.errors import ProjectError
from chatbot.ui import overlay
from chatbot.ui.guard import OWNER_COOKIE
from chatbot.ui.safe_text import notice_html, paragraphs_html, quiet_html
from chatbot.ui.streamlit_internals import is_open, runs, this_session

__all__ = [
    "abreast",
    "choose_documents",
    "draw_button",
    "draw_download",
    "draw_notice",
    "draw_problem",
    "draw_quiet",
    "draw_quiet_button",
    "draw_two_ways",
    "follow",
    "is_session",
    "teach",
]

# Between two looks at what changes by itself.
POLL_SECONDS = 0.5
# What stands beside one another.
abreast = partial(st.container, horizontal=True, vertical_alignment="center")


def draw_quiet(text: str) -> None:
    """Draws a remark in small print."""
    st.html(quiet_html(text))


def draw_notice(text: str, hint: str = "") -> None:
    """Draws an error or a warning in a frame. hint: what to do about it."""
    st.html(notice_html(text, hint))


def draw_problem(error: ProjectError) -> None:
    """Draws what went wrong, and what to do about it."""
    draw_notice(error.message, error.hint)


def draw_two_ways(yes: str, no: str, do: Callable[[], object]) -> None:
    """Draws the two buttons below the question of a dialog, which closes with either."""
    with abreast():
        if st.button(yes, key="dialog-yes", type="primary"):
            do()
            overlay.close_dialog()
            st.rerun()
        if st.button(no, key="dialog-no"):
            overlay.close_dialog()
            st.rerun()


def draw_button(label: str, key: str, do: Callable[..., Any], *given: object, **shown: Any) -> bool:
    """Draws a button and tells whether it was pressed just now.

    do: called with what is given when it is pressed. shown: how it looks, as st.button takes it.
    """
    return st.button(label, key=key, on_click=do, args=given, **shown)


def draw_quiet_button(label: str, key: str, do: Callable[..., Any], *given: object, **shown: Any) -> bool:
    """Draws a button without a frame, see `draw_button`."""
    return draw_button(label, key, do, *given, type="tertiary", **shown)


def follow(draw: Callable[[], None], is_busy: Callable[[], bool]) -> None:
    """Draws something, again and again while it changes by itself, and the whole page once that ends."""
    was_busy = is_busy()

    def drawn() -> None:
        if is_busy() != was_busy:
            st.rerun()
        draw()

    st.fragment(drawn, run_every=POLL_SECONDS if was_busy else None)()


def choose_documents(
    at: DeltaGenerator, names: Sequence[str], key: str, empty: str, context: AppContext
) -> None:
    """Draws the field in which documents are chosen by their titles. empty: what stands in it at first."""
    titles = context.chatbot.titles()
    at.multiselect(
        "Documents",
        names,
        key=key,
        format_func=lambda name: titles.get(name, name),
        placeholder=empty,
        select_all=False,
        wrap=True,
        persist_state="session",
    )


def teach(what: str) -> None:
    """Says what a page is for, where there are no documents."""
    st.html(paragraphs_html(what))
    st.html('<p class="refusal">There are no documents yet</p>')
    st.page_link("documents_page.py", label="Add documents", icon=":material/upload_file:")


def draw_download(
    label: str,
    downloads: Downloads,
    key: str,
    download: Download,
    *,
    icon: str | None = None,
    said: str | None = None,
) -> None:
    """Draws a link that looks like a quiet button.

    key: unique on the page.
    said: its tooltip.
    """
    mark = downloads.offer(
        this_session(),
        key,
        replace(download, browser=st.context.cookies.get(OWNER_COOKIE, "")),
        is_there=is_session,
    )
    with st.container(key=key, width="content"):
        st.link_button(label, f"download/{mark}", type="tertiary", icon=icon, help=said)


def is_session(session: str) -> bool:
    """Tells whether this session of a browser has not ended."""
    return not runs() or is_open(session)
