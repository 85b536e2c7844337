"""Draws the links of downloads that are made on request."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from chatbot.app.downloads import Download, Downloads
from chatbot.ui.guard import OWNER_COOKIE
from chatbot.ui.streamlit_internals import is_open, runs, this_session

__all__ = ["draw_download", "is_session"]


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
