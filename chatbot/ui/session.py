"""Whose browser this is, which conversation it shows and which page lies open; the only module that knows the session's keys."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from chatbot.errors import NotFoundError
from chatbot.ui.guard import OWNER_COOKIE, is_owner
from chatbot.ui.shared import House

__all__ = [
    "OpenPage",
    "begin_conversation",
    "close_page",
    "connected",
    "conversation",
    "keep_password",
    "last_words",
    "leave_conversation",
    "lying_open",
    "open_page",
    "owner",
    "password_for",
]

PARAMETER = "c"
GOING_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page to be looked at. page: physical, 1-based. quote: what to mark where the page is `quoted`, "" for nothing."""

    document: str
    version: int
    page: int
    quote: str = ""
    quoted: int = 0


def owner() -> str:
    """The mark of this browser; where it takes no cookie, of this session."""
    given: str | None = st.context.cookies.get(OWNER_COOKIE)
    if given and is_owner(given):
        return given
    made: str = st.session_state.setdefault("owner", secrets.token_urlsafe(16))
    return made


def connected() -> bool:
    """Asked by a script that is being stopped: whether its browser is there still, so that it was its user who stopped it.

    A page that is refreshed or closed stops its script too, a moment before it counts as gone.
    """
    time.sleep(GOING_SECONDS)
    context = get_script_run_ctx()
    return context is not None and runtime.exists() and runtime.get_instance().is_active_session(context.session_id)


def last_words(draw: Callable[[], object]) -> None:
    """Draw something from a script that is being stopped, which may do so only in a thread beside its own."""
    thread = threading.Thread(target=draw, name="last words")
    add_script_run_ctx(thread)
    thread.start()
    thread.join()


def conversation() -> str | None:
    """The id of the conversation that is shown, None before the first question. It stands in the address, so that a refresh keeps it."""
    given = st.query_params.get(PARAMETER)
    if given:
        st.session_state["conversation"] = given
    elif st.session_state.get("conversation"):  # back from another page, whose address has none
        st.query_params[PARAMETER] = st.session_state["conversation"]
    found: str | None = st.session_state.get("conversation")
    return found


def begin_conversation(house: House) -> str:
    """The id of the conversation to write to: the one shown, or a new one where that is nobody's or somebody else's."""
    conversations = house.chatbot.conversations
    try:
        begun = conversations.begin(owner(), conversation())
    except NotFoundError:
        begun = conversations.begin(owner())
    st.query_params[PARAMETER] = st.session_state["conversation"] = begun
    return begun


def leave_conversation() -> None:
    """The next question begins a new conversation."""
    st.session_state.pop("conversation", None)
    st.query_params.pop(PARAMETER, None)


def open_page(page: OpenPage) -> None:
    """Lay a page open in the next run."""
    st.session_state["open_page"] = page


def lying_open() -> OpenPage | None:
    """The page to show, None for none."""
    found: OpenPage | None = st.session_state.get("open_page")
    return found


def close_page() -> None:
    """Put the open page away."""
    st.session_state.pop("open_page", None)


def keep_password(version: int, password: str) -> None:
    """Remember, for this session only, what opens a protected file."""
    st.session_state.setdefault("passwords", {})[version] = password


def password_for(version: int) -> str | None:
    """What this session opens a protected file with, None where it was not asked yet."""
    found: str | None = st.session_state.get("passwords", {}).get(version)
    return found
