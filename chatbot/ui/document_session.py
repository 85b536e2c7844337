"""Keeps the session state of the Documents page: the chosen document, the last drop and removal, the address.

The address of a document's page, ?document=NAME&page=N, is opened and followed as pages are turned. What it
names may be any text. No other module uses the key of the state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError, ProjectError
from chatbot.ui import overlay, session
from chatbot.ui.overlay import OpenPage

__all__ = [
    "AskedFile",
    "Drop",
    "attempt",
    "choose",
    "follow_address",
    "forget_removal",
    "note_drop",
    "notify",
    "open_document",
    "page_number",
    "put_remarks_away",
    "state",
    "uploaded",
    "want_folder",
    "write_open",
]

# No page number has more digits.
MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class AskedFile:
    """A dropped file that has the name of a document with other content. name: of both."""

    name: str
    file: UploadedFile


@dataclass(frozen=True, slots=True)
class Drop:
    """What became of the files that were dropped last.

    jobs: of those that are being added.
    asked: those that need a decision.
    remarks: (name, what is to be said of it).
    """

    jobs: Sequence[int] = ()
    asked: Sequence[AskedFile] = ()
    remarks: Sequence[tuple[str, str]] = ()


@dataclass(slots=True)
class DocumentsState:
    """What the session keeps.

    chosen: the document whose guide is shown, "" for none. corrected: whether its period or status was set
        right just now.
    removed: the document that was removed here last, "" for none.
    uploads: the number of the field for files; each emptied field gets a new one. folder: it takes a folder.
    address: (document, page) as last written to the address, ("", "") for none.
    """

    chosen: str = ""
    corrected: bool = False
    removed: str = ""
    uploads: int = 0
    folder: bool = False
    drop: Drop = field(default_factory=Drop)
    address: tuple[str, str] = ("", "")


def state() -> DocumentsState:
    """Returns the session's."""
    found: DocumentsState = st.session_state.setdefault("documents", DocumentsState())
    return found


def notify(message: str, hint: str = "") -> None:
    """Shows an error in the next run. hint: what to do."""
    session.notify(ProjectError(message, hint=hint))


def attempt(do: Callable[[str], object], name: str) -> None:
    """Does something with a document. If it fails, as when another tab was quicker, the next run says so."""
    try:
        do(name)
    except ProjectError as error:
        notify(error.message, "" if "python -m" in error.hint else error.hint)


def forget_removal() -> None:
    """Stops offering to undo the removal."""
    state().removed = ""


def uploaded() -> None:
    """Empties the field, as its files were taken."""
    state().uploads += 1


def want_folder(wanted: bool) -> None:
    """Makes the field take a folder, or files."""
    state().folder = wanted
    uploaded()


def note_drop(
    jobs: Sequence[int] = (), asked: Sequence[AskedFile] = (), remarks: Sequence[tuple[str, str]] = ()
) -> None:
    """Notes what became of files, see `Drop`."""
    state().drop = Drop(tuple(jobs), tuple(asked), tuple(remarks))


def put_remarks_away() -> None:
    """Says no more of the files of the last drop."""
    note_drop(state().drop.jobs, state().drop.asked)


def choose(name: str) -> None:
    """Shows this document's guide, "" for none."""
    state().chosen, state().corrected = name, False


def write_address(document: str, page: str) -> None:
    """Makes the address lead to this page; ("", "") for none."""
    for key, value in (("document", document), ("page", page)):
        if value and st.query_params.get(key) != value:
            st.query_params[key] = value
        elif not value:
            st.query_params.pop(key, None)
    state().address = (document, page)


def follow_address(context: AppContext) -> None:
    """Opens what the address asks for. To be called before anything is drawn."""
    given = st.query_params.get("document", ""), st.query_params.get("page", "")
    if given[0] and given != state().address:
        open_document(context, given[0], page_number(given[1]))
        write_address(*given)


def open_document(context: AppContext, name: str, page: int = 1) -> None:
    """Opens a page in the next run; for a number beyond the last page, the last.

    If there is no such document, the next run says so.
    """
    overlay.close_dialog()
    try:
        version, named = next(iter(context.chatbot.library.scope([name]).items()))
    except NotFoundError:
        notify("There is no such document here.", "It was removed or has another name. Check the list.")
        return
    stored = context.chatbot.library.catalog.version(version)
    overlay.open_page(OpenPage(named, version, max(1, min(page, stored.pages if stored else 1))))


def write_open(opened: OpenPage | None) -> None:
    """Makes the address of the Documents page lead to the page that is shown, None for none."""
    if overlay.is_on("Documents"):
        write_address(*((opened.document, str(opened.page)) if opened else ("", "")))


def page_number(text: str) -> int:
    """Returns the page that an address names, by default the first."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else 1
