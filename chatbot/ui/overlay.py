"""Keeps what lies open over a session's page, and the passwords of protected files.

That is a document's page with what was cited of it, or a dialog.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from chatbot.records import Citation

if TYPE_CHECKING:
    from chatbot.app.app_context import AppContext

__all__ = [
    "Dialog",
    "OpenPage",
    "ask_for",
    "cited_page",
    "close_dialog",
    "close_page",
    "dialog",
    "enter",
    "is_on",
    "keep_password",
    "lying_among",
    "lying_open",
    "offer",
    "open_offered",
    "open_page",
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


def cited_page(citation: Citation, number: int = 0) -> OpenPage:
    """Returns the page that a citation leads to. number: see OpenPage."""
    name, page = citation.document or "", citation.page or 1
    return OpenPage(name, citation.version or 0, page, citation.quote, page, number, citation.start)


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog. title: as Markdown. draw: draws its inside, given its subject."""

    title: str
    draw: Callable[[Any, AppContext], None]
    width: Literal["small", "large"] = "small"


def ask_for(wanted: Dialog, one: object) -> None:
    """Opens a dialog in the next run. one: its subject."""
    close_page()
    st.session_state["dialog"] = (wanted, one)


def dialog() -> tuple[Dialog, Any] | None:
    """Returns the dialog to show and its subject, None for none."""
    found: tuple[Dialog, Any] | None = st.session_state.get("dialog")
    return found


def close_dialog() -> None:
    """Closes the dialog."""
    st.session_state.pop("dialog", None)


def offer(key: str, page: OpenPage, among: tuple[OpenPage, ...] = ()) -> str:
    """Returns the attribute with which a button opens a page: static/interaction.js sends its key.

    key: unique on the page, without a blank. among: the passages of its answer, by number.
    """
    st.session_state.setdefault("offered", {})[key] = (page, among)
    return f'data-open="{key}"'


def open_offered(key: str) -> None:
    """Opens what the button of this key offers; any text may come as a key."""
    if key in (offered := st.session_state.get("offered", {})):
        open_page(*offered[key])


def open_page(page: OpenPage, among: tuple[OpenPage, ...] = ()) -> None:
    """Opens a page in the next run. among: see `offer`."""
    close_dialog()
    st.session_state["open_page"], st.session_state["open_among"] = page, among


def lying_open() -> OpenPage | None:
    """Returns the page to show, None for none."""
    found: OpenPage | None = st.session_state.get("open_page")
    return found


def lying_among() -> tuple[OpenPage, ...]:
    """Returns the passages, by number, of the answer from which the page was opened; else nothing."""
    found: tuple[OpenPage, ...] = st.session_state.get("open_among", ())
    return found


def enter(place: str) -> None:
    """Notes that this run draws the page of this name. What is open or offered on another is forgotten."""
    if st.session_state.get("place", place) != place:
        close_page()
        st.session_state.pop("offered", None)
    st.session_state["place"] = place


def is_on(place: str) -> bool:
    """Tells whether this run draws the page of this name."""
    return bool(st.session_state.get("place") == place)


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
    for key in ("open_page", "open_among"):
        st.session_state.pop(key, None)


def keep_password(version: int, password: str) -> None:
    """Remembers the password of a protected file, for this session only."""
    st.session_state.setdefault("passwords", {})[version] = password


def password_for(version: int) -> str | None:
    """Returns this session's password for a protected file, None if it was not asked yet."""
    found: str | None = st.session_state.get("passwords", {}).get(version)
    return found
