"""Draws the Documents page's field for files and folders, and says what will become of each file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.store.addition_queue import NewFile
from chatbot.store.document_names import free_name
from chatbot.ui import document_session, uploads
from chatbot.ui.app_context import AppContext
from chatbot.ui.safe_text import plain_html, quiet_html, short, spoken
from chatbot.ui.upload_plan import ChosenFile, PlannedUpload, plan
from ingestion.reading.formats import SUFFIXES

__all__ = ["draw_adding"]

NEW_VERSION, KEEP_BOTH = "New version", "Keep both"
# The number of files with known names that are asked about one by one; if there are more, all at once.
MOST_ASKED = 4
# The number of remarks that are spelled out.
MOST_SAID = 8
FILES = "Add PDF files, text or scans, or drop a folder; files of other kinds are left out"
FOLDER = "Add the PDF files of a folder, and of the folders in it"


def draw_adding(context: AppContext) -> None:
    """Draws the field, what will become of the files in it, and the button that adds them."""
    folder = document_session.folder_wanted()
    files = st.file_uploader(
        FOLDER if folder else FILES,
        type=list(SUFFIXES),
        accept_multiple_files="directory" if folder else True,
        key=f"upload-{document_session.upload_number()}",
        max_upload_size=max(1, int(context.settings.max_upload_mb)),
    )
    if not files:
        label = "Choose files instead" if folder else "Choose a folder instead"
        st.button(
            label, key="folder", type="tertiary", on_click=document_session.want_folder, args=(not folder,)
        )
        return
    there = {row.name: row.id for row in context.chatbot.documents() if row.removed_at is None}
    dropped = [
        ChosenFile(
            file.name,
            file.size,
            document_session.digest_of(
                file.file_id,
                lambda file=file: hashlib.sha256(file.getbuffer()).hexdigest(),  # type: ignore[misc]
            ),
        )
        for file in files
    ]
    planned = plan(dropped, there)
    _explain(dropped, planned)
    names = _named(planned, {*there, *(one.name for one in planned)})
    added = [NewFile(name, file) for name, file in zip(names, files, strict=True) if name]
    checking = context.check.running
    if len(added) == 1:
        label = "Add this file"
    else:
        label = f"Add {len(added):,} files"
    with st.container(horizontal=True):
        told = "Possible once the store is checked." if checking else None
        if st.button(label, type="primary", key="add", disabled=checking or not added, help=told):
            context.additions.enqueue(added)
            context.check.put_away()
            _empty(files)
            st.rerun()
        st.button(
            "Leave them all out" if len(files) > 1 else "Leave it out",
            key="add-none",
            type="tertiary",
            on_click=_empty,
            args=(files,),
        )


def _empty(files: Sequence[UploadedFile]) -> None:
    """Empties the field, after the files were taken or dismissed."""
    uploads.let_go(files)
    document_session.uploaded()


def _explain(dropped: Sequence[ChosenFile], planned: Sequence[PlannedUpload]) -> None:
    """Says what the user should know before they are added."""
    if any(PurePosixPath(file.path).parent.name for file in dropped):
        inside = len({str(PurePosixPath(file.path).parent) for file in dropped})
        where = "one folder" if inside == 1 else f"{inside:,} folders"
        st.html(
            quiet_html(
                f"{len(dropped):,} PDF files of {where}. Each is called by its own name, without its "
                f"folder; files of other kinds are left out."
            )
        )
    said = [(one.name, one.said) for one in planned if one.said]
    if said:
        lines = "".join(
            f"<li><strong>{plain_html(short(name, 80))}</strong>: {plain_html(text)}</li>"
            for name, text in said[:MOST_SAID]
        )
        if len(said) > MOST_SAID:
            more = f"<li>And {len(said) - MOST_SAID:,} more like these.</li>"
        else:
            more = ""
        st.html(f'<ul class="quiet lines" role="status">{lines}{more}</ul>')


def _named(planned: Sequence[PlannedUpload], taken: set[str]) -> list[str]:
    """Returns the name to add each file under, "" for one that is left out.

    If a document has the name already, the choice is the user's.
    """
    asked = [one for one in planned if one.action == "ask"]
    if len(asked) > MOST_ASKED:
        at_once = _choose(
            f"{len(asked):,} files have names of documents that are there, and other pages. They are:", "all"
        )
    else:
        at_once = ""
    names = []
    for index, one in enumerate(planned):
        if one.action == "leave":
            name = ""
        else:
            name = one.name
        if one.action == "ask":
            choice = at_once or _choose(
                f"{short(one.name, 60)} is there already, with other pages. This file is:",
                f"{index}-{one.name}",
            )
            if choice == NEW_VERSION:
                name = one.name
            else:
                name = free_name(one.name, taken)
            taken.add(name)
        names.append(name)
    return names


def _choose(said: str, key: str) -> str:
    st.html(f"<p>{plain_html(said)}</p>")
    chosen: str = st.radio(
        spoken(said),
        (NEW_VERSION, KEEP_BOTH),
        horizontal=True,
        key=f"clash-{key}",
        label_visibility="collapsed",
    )
    return chosen
