"""Tracks which conversation the browser's address names, and whether the browser has followed the page."""

from __future__ import annotations

import streamlit as st

from chatbot.ui import overlay

__all__ = ["conversation", "follow", "go_to"]

PARAMETER = "c"
# How often the page went to another conversation, and how often the browser says that it did.
MOVES, MOVES_SEEN = "moves", "moves_seen"


def conversation() -> str | None:
    """Returns the id of the conversation that is shown, None before the first question.

    It stands in the address, so that a refresh keeps it.
    """
    given = st.query_params.get(PARAMETER)
    found = st.session_state.get("conversation")
    if given and not _is_behind():
        st.session_state["conversation"] = found = given
    elif found:  # back from another page, whose address has none; or the browser is behind
        st.query_params[PARAMETER] = found
    elif given:
        del st.query_params[PARAMETER]
    return found


def follow() -> None:
    """Finds out whether the browser's address is that of the page it was sent from.

    To be called before the page of a run is drawn. On a busy machine, what is done just after a click comes
    with the address from before the click, and a question would go to the conversation that was left. The
    number of moves is therefore drawn as a hidden field, which the browser sends back with everything it
    sends once it knows the new address.
    """
    if PARAMETER in st.query_params and _is_behind():
        conversation()
    if _is_behind() or MOVES_SEEN not in st.session_state:
        st.session_state[MOVES_SEEN] = _moves()
    st.number_input("Moves", key=MOVES_SEEN, step=1)


def go_to(conversation: str | None) -> None:
    """Shows this conversation from now on; None for a new one. The page of another that is open is closed."""
    if conversation != st.session_state.get("conversation"):
        overlay.close_page()
    if st.query_params.get(PARAMETER) not in {None, conversation}:
        st.session_state[MOVES] = _moves() + 1
    if conversation is None:
        st.session_state.pop("conversation", None)
        st.query_params.pop(PARAMETER, None)
    else:
        st.query_params[PARAMETER] = st.session_state["conversation"] = conversation


def _moves() -> int:
    found: int = st.session_state.get(MOVES, 0)
    return found


def _is_behind() -> bool:
    return bool(st.session_state.get(MOVES_SEEN, _moves()) != _moves())
