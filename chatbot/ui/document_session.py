"""Keeps the session state of the Documents page: its dialog, the chosen document, the last drop and removal.

No other module uses these keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.errors import ProjectError
from chatbot.ui import overlay

__all__ = [
    "AskedFile",
    "added_last",
    "address_written",
    "ask_for",
    "asked",
    "attempt",
    "choose",
    "chosen",
    "close_dialog",
    "corrected",
    "dialog",
    "folder_wanted",
    "note_corrected",
    "note_drop",
    "note_removed",
    "notify",
    "problem",
    "put_remarks_away",
    "put_undo_away",
    "remarks",
    "removed_last",
    "upload_number",
    "uploaded",
    "want_folder",
    "write_address",
]

DIALOG, PROBLEM, REMOVED, UPLOAD, FOLDER, ADDRESS, ADDED, ASKED, REMARKS, CHOSEN, CORRECTED = (
    f"document_{name}"
    for name in (
        "dialog",
        "problem",
        "removed",
        "upload",
        "folder",
        "address",
        "added",
        "asked",
        "remarks",
        "chosen",
        "corrected",
    )
)


@dataclass(frozen=True, slots=True)
class AskedFile:
    """A dropped file that has the name of a document with other content. name: of both."""

    name: str
    file: UploadedFile


def ask_for(kind: str, name: str) -> None:
    """Opens a dialog in the next run. kind: report | remove | erase."""
    overlay.close_page()
    st.session_state[DIALOG] = (kind, name)


def dialog() -> tuple[str, str]:
    """Returns (kind, document's name) of the dialog to show, ("", "") for none."""
    found: tuple[str, str] = st.session_state.get(DIALOG, ("", ""))
    return found


def close_dialog() -> None:
    """Closes the dialog."""
    st.session_state.pop(DIALOG, None)


def notify(message: str, hint: str = "") -> None:
    """Shows an error in the next run. hint: what to do."""
    st.session_state[PROBLEM] = (message, hint)


def problem() -> tuple[str, str]:
    """Returns (message, hint) of an error, once; ("", "") if there was none."""
    found: tuple[str, str] = st.session_state.pop(PROBLEM, ("", ""))
    return found


def attempt(do: Callable[[str], object], name: str) -> None:
    """Does something with a document. If it fails, as when another tab was quicker, the next run says so."""
    try:
        do(name)
    except ProjectError as error:
        notify(error.message, "" if "python -m" in error.hint else error.hint)


def note_corrected(name: str) -> None:
    """Notes that period or status of this document were set right just now."""
    st.session_state[CORRECTED] = name


def corrected() -> str:
    """Returns the document whose period or status were set right last, "" once another is chosen."""
    found: str = st.session_state.get(CORRECTED, "")
    return found


def note_removed(name: str) -> None:
    """Notes that this document was removed here just now."""
    st.session_state[REMOVED] = name


def removed_last() -> str:
    """Returns the document that was removed here last, "" for none."""
    found: str = st.session_state.get(REMOVED, "")
    return found


def put_undo_away() -> None:
    """Stops offering to undo the removal."""
    st.session_state.pop(REMOVED, None)


def upload_number() -> int:
    """Returns the number of the field for files. Each emptied field gets a new one."""
    found: int = st.session_state.setdefault(UPLOAD, 0)
    return found


def uploaded() -> None:
    """Empties the field, as its files were taken."""
    st.session_state[UPLOAD] = upload_number() + 1


def folder_wanted() -> bool:
    """Tells whether the field takes a folder."""
    return bool(st.session_state.get(FOLDER))


def want_folder(wanted: bool) -> None:
    """Makes the field take a folder, or files."""
    st.session_state[FOLDER] = wanted
    uploaded()


def note_drop(jobs: Sequence[int], asked: Sequence[AskedFile], remarks: Sequence[tuple[str, str]]) -> None:
    """Notes the last drop.

    jobs: of the files that are being added.
    asked: files that need a decision.
    remarks: (name, what is to be said of it).
    """
    st.session_state[ADDED], st.session_state[ASKED] = tuple(jobs), tuple(asked)
    st.session_state[REMARKS] = tuple(remarks)


def added_last() -> tuple[int, ...]:
    """Returns the jobs of the last drop."""
    found: tuple[int, ...] = st.session_state.get(ADDED, ())
    return found


def asked() -> tuple[AskedFile, ...]:
    """Returns the files that need a decision."""
    found: tuple[AskedFile, ...] = st.session_state.get(ASKED, ())
    return found


def remarks() -> tuple[tuple[str, str], ...]:
    """Returns what is to be said of files of the last drop, as (name, remark)."""
    found: tuple[tuple[str, str], ...] = st.session_state.get(REMARKS, ())
    return found


def put_remarks_away() -> None:
    """Says no more of the files of the last drop."""
    st.session_state.pop(REMARKS, None)


def chosen() -> str:
    """Returns the document whose guide is shown, "" for none."""
    found: str = st.session_state.get(CHOSEN, "")
    return found


def choose(name: str) -> None:
    """Shows this document's guide, "" for none."""
    st.session_state[CHOSEN] = name
    st.session_state.pop(CORRECTED, None)


def address_written() -> tuple[str, str]:
    """Returns the (document, page) last written to the address, ("", "") for none."""
    found: tuple[str, str] = st.session_state.get(ADDRESS, ("", ""))
    return found


def write_address(document: str, page: str) -> None:
    """Makes the address lead to this page; ("", "") for none."""
    for key, value in (("document", document), ("page", page)):
        if value and st.query_params.get(key) != value:
            st.query_params[key] = value
        elif not value:
            st.query_params.pop(key, None)
    st.session_state[ADDRESS] = (document, page)
