"""Draws the trial of a chat model while it runs and when it is over, in the words of the Settings page."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import streamlit as st

from chatbot.models.addresses import endpoint_host, tidied
from chatbot.models.connecting import RunningTrial
from chatbot.ui.safe_text import notice_html, plain_html
from chatbot.user_settings import reworded

__all__ = ["POLL_SECONDS", "draw_trial", "is_in_the_open", "is_on_this_machine", "worded"]


# Seconds between two looks at what goes on in a thread.
POLL_SECONDS = 0.5
HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def draw_trial(running: RunningTrial, key: str, *, own: bool) -> None:
    """Shows how a trial goes, or went.

    key: where the session keeps it. own: whether its user chose the model, and not the server's operator.
    """
    if running.trial is None:
        st.fragment(_await_trial, run_every=POLL_SECONDS)(running, key)
    elif running.trial.works:
        st.html(f'<p class="state" role="status">✓ {plain_html(running.trial.text)}</p>')
    elif own:
        st.html(notice_html(worded(running.trial.text), worded(running.trial.hint)))
    else:
        st.html(notice_html(running.trial.text, running.trial.hint))


def _await_trial(running: RunningTrial, key: str) -> None:
    if running.trial is not None:
        st.rerun()
    host = plain_html(endpoint_host(running.settings))
    seconds = time.monotonic() - running.begun
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="state" role="status">Asking {host} … {seconds:.0f} s</p>')
        if st.button("Cancel", key=f"{key}-cancel", type="tertiary"):
            running.cancelled = True
            st.session_state.pop(key, None)
            st.rerun()


def worded(text: str) -> str:
    """Rewords what an endpoint's error says for the Settings page itself."""
    return reworded(text).replace(" on the Settings page", "")


def is_in_the_open(url: str) -> bool:
    """Tells whether what goes to this address leaves the machine without encryption."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname not in HERE
    except ValueError:
        return False


def is_on_this_machine(url: str) -> bool:
    """Tells whether this is an address of this machine, as far as its text says."""
    try:
        return urlsplit(tidied(url)).hostname in HERE
    except ValueError:
        return False
