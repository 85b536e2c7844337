"""What lies open over a page of this browser's session: a document's page with what was cited of it, or a
dialog of the chat; and the passwords of protected files."""

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
    "open_page",
    "password_for",
    "set_zoom",
    "turn_page",
    "zoom",
]


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page to be looked at. page: physical, 1-based. quote: what to mark where the page is `quoted`, "" for
    nothing; start: its offset in the page's text, -1 where that is not known. number: of the passage as its
    answer shows it, 0 for none."""

    document: str
    version: int
    page: int
    quote: str = ""
    quoted: int = 0
    number: int = 0
    start: int = -1


def ask_dialog(kind: str, conversation: str, number: int = 0) -> None:
    """Open a dialog of the Chat page in the next run. kind: erase | shortened. number: of an exchange."""
    close_page()
    st.session_state["dialog"] = (kind, conversation, number)


def dialog() -> tuple[str, str, int]:
    """The dialog to show, as it was asked for; its kind is "" for none."""
    found: tuple[str, str, int] = st.session_state.get("dialog", ("", "", 0))
    return found


def close_dialog() -> None:
    """Put the dialog away."""
    st.session_state.pop("dialog", None)


def open_page(page: OpenPage, among: tuple[OpenPage, ...] = ()) -> None:
    """Lay a page open in the next run. among: the passages of its answer, by number."""
    close_dialog()
    st.session_state["open_page"], st.session_state["open_among"] = page, among


def lying_open() -> OpenPage | None:
    """The page to show, None for none."""
    found: OpenPage | None = st.session_state.get("open_page")
    return found


def lying_among() -> tuple[OpenPage, ...]:
    """The passages of the answer whose page lies open, by number; none where it was not opened from an
    answer's.
    """
    found: tuple[OpenPage, ...] = st.session_state.get("open_among", ())
    return found


def enter(place: str) -> None:
    """This run draws the page of this name: what lies open on another is put away."""
    if st.session_state.get("place", place) != place:
        close_page()
    st.session_state["place"] = place


def turn_page(by: int) -> None:
    """Leaf in the document that lies open."""
    if (opened := lying_open()) is not None:
        st.session_state["open_page"] = replace(opened, page=opened.page + by)


def zoom() -> float:
    """How large an open page is shown, as a share of the panel's width."""
    found: float = st.session_state.get("zoom", 1.0)
    return found


def set_zoom(value: float) -> None:
    """Show open pages so large from now on."""
    st.session_state["zoom"] = value


def close_page() -> None:
    """Put the open page away."""
    st.session_state.pop("open_page", None)
    st.session_state.pop("open_among", None)


def keep_password(version: int, password: str) -> None:
    """Remember, for this session only, what opens a protected file."""
    st.session_state.setdefault("passwords", {})[version] = password


def password_for(version: int) -> str | None:
    """What this session opens a protected file with, None where it was not asked yet."""
    found: str | None = st.session_state.get("passwords", {}).get(version)
    return found
