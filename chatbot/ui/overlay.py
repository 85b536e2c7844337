"""Keeps what lies open over a session's page, and the passwords of protected files.

That is a document's page with what was cited of it, or a dialog of the chat.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

__all__ = [
    "OpenPage",
    "ask_dialog",
    "close_dialog",
    "close_page",
    "dialog",
    "enter",
    "keep_password",
    "lying_among",
    "lying_open",
    "moved",
    "open_page",
    "opened_from",
    "password_for",
    "set_zoom",
    "turn_page",
    "turn_to",
    "zoom",
]


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page to look at.

    page: physical, 1-based.
    quote: what to mark if the page is `quoted`, "" for nothing.
    start: the quote's offset in the page's text, -1 if not known.
    number: the number of the passage in its answer, 0 for none.
    """

    document: str
    version: int
    page: int
    quote: str = ""
    quoted: int = 0
    number: int = 0
    start: int = -1


def ask_dialog(kind: str, conversation: str, number: int = 0) -> None:
    """Opens a dialog of the Chat page in the next run.

    kind: erase | shortened.
    number: of an exchange.
    """
    close_page()
    st.session_state["dialog"] = (kind, conversation, number)


def dialog() -> tuple[str, str, int]:
    """Returns the dialog to show, as it was asked for. Its kind is "" for none."""
    found: tuple[str, str, int] = st.session_state.get("dialog", ("", "", 0))
    return found


def close_dialog() -> None:
    """Closes the dialog."""
    st.session_state.pop("dialog", None)


def open_page(page: OpenPage, among: tuple[OpenPage, ...] = (), place: str = "") -> None:
    """Opens a page in the next run.

    among: the passages of its answer, by number.
    place: the part of the page that draws it, "" for the page itself.
    """
    close_dialog()
    st.session_state["open_page"], st.session_state["open_among"] = page, among
    st.session_state["open_from"] = place


def lying_open() -> OpenPage | None:
    """Returns the page to show, None for none."""
    found: OpenPage | None = st.session_state.get("open_page")
    return found


def lying_among() -> tuple[OpenPage, ...]:
    """Returns the passages, by number, of the answer from which the page was opened; else nothing."""
    found: tuple[OpenPage, ...] = st.session_state.get("open_among", ())
    return found


def opened_from() -> str:
    """Returns the part of the page that draws the open page, "" for the page itself."""
    found: str = st.session_state.get("open_from", "")
    return found


def moved(place: str) -> bool:
    """Notes that the open page is now drawn by `place`; tells whether it was drawn by another part before."""
    before: str = st.session_state.get("open_drawn", place)
    st.session_state["open_drawn"] = place
    return before != place


def enter(place: str) -> None:
    """Notes that this run draws the page of this name. What is open on another page is closed."""
    if st.session_state.get("place", place) != place:
        close_page()
    st.session_state["place"] = place


def turn_page(by: int) -> None:
    """Turns to another page of the open document."""
    if (opened := lying_open()) is not None:
        turn_to(replace(opened, page=opened.page + by))


def turn_to(page: OpenPage) -> None:
    """Shows another page in the place of the open one."""
    st.session_state["open_page"] = page


def zoom() -> float:
    """Returns the size of open pages, as a share of the panel's width."""
    found: float = st.session_state.get("zoom", 1.0)
    return found


def set_zoom(value: float) -> None:
    """Shows open pages in this size from now on."""
    st.session_state["zoom"] = value


def close_page() -> None:
    """Closes the open page."""
    for key in ("open_page", "open_among", "open_from", "open_drawn"):
        st.session_state.pop(key, None)


def keep_password(version: int, password: str) -> None:
    """Remembers the password of a protected file, for this session only."""
    st.session_state.setdefault("passwords", {})[version] = password


def password_for(version: int) -> str | None:
    """Returns this session's password for a protected file, None if it was not asked yet."""
    found: str | None = st.session_state.get("passwords", {}).get(version)
    return found
