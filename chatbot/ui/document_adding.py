"""Draws the field for files and folders, and adds what is dropped there at once.

It asks only about files that have the name of a document with other content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import streamlit as st
from streamlit.typing import UploadedFile

from chatbot.app.app_context import AppContext
from chatbot.app.upload_plan import ChosenFile, plan
from chatbot.store.addition_queue import NewFile
from chatbot.store.document_names import free_name
from chatbot.ui import document_session, session, uploads
from chatbot.ui.document_jobs import own_jobs
from chatbot.ui.document_session import AskedFile
from chatbot.ui.page_parts import abreast, draw_button, draw_quiet, draw_quiet_button
from chatbot.ui.safe_text import plain_html, short
from ingestion.ocr.scan_languages import spoken
from ingestion.reading.formats import KINDS, SUFFIXES

__all__ = ["draw_adding", "language_choice"]

# The number of files with known names that are asked about one by one; if there are more, all at once.
MOST_ASKED = 4
# The number of remarks that are spelled out.
MOST_SAID = 8
FILES = "Add documents, up to {:,} MB each. You can drop a folder too."
FOLDER = "Add all documents in a folder and its subfolders, up to {:,} MB each."


def draw_adding(context: AppContext) -> None:
    """Draws the field, and the questions and remarks about files that were dropped."""
    folder = document_session.state().folder
    languages = language_choice(context)
    largest = max(1, int(context.settings.max_upload_mb))
    files = st.file_uploader(
        (FOLDER if folder else FILES).format(largest),
        # Other files come too, so that they can be named; from a folder they do not.
        type=list(SUFFIXES) if folder else None,
        accept_multiple_files="directory" if folder else True,
        key=f"upload-{document_session.state().uploads}",
        max_upload_size=largest,
        help=f"{KINDS[0].upper()}{KINDS[1:]}.",
    )
    if len(languages) > 1:  # before files are taken, or the choice is forgotten
        st.selectbox("Language of scans", languages, key="scan-languages", width=150)
    if not files:
        label = "Choose files instead" if folder else "Choose a folder instead"
        draw_quiet_button(label, "folder", document_session.want_folder, not folder)
    elif context.check.running:
        draw_quiet("These files are added once the check has ended.")
    else:
        take_files(files, context)
        st.rerun()
    _draw_asked(context)
    _draw_remarks(document_session.state().drop.remarks)


def language_choice(context: AppContext, first: str = "") -> list[str]:
    """Returns the languages that scans may be read in: these first, then the setting's and all installed."""
    setting = context.settings.scan_languages
    return list(dict.fromkeys(filter(None, (first, setting.codes, *spoken(setting.folder)))))


def take_files(files: Sequence[UploadedFile], context: AppContext) -> None:
    """Adds files; those that need a decision are kept until there is one. Empties the field."""
    there = {row.name: row.digest for row in session.documents(context)}
    chosen = [
        ChosenFile(file.name, file.size, hashlib.sha256(file.getbuffer()).hexdigest()) for file in files
    ]
    planned = plan(chosen, there)
    owner, languages = session.owner(), _chosen(context)
    pairs = list(zip(planned, files, strict=True))
    added = [
        NewFile(one.name, file, owner=owner, languages=languages)
        for one, file in pairs
        if one.action == "add"
    ]
    asked = [AskedFile(one.name, file) for one, file in pairs if one.action == "ask"]
    context.additions.clear_finished({job.id for job in own_jobs(context)})
    document_session.note_drop(
        context.additions.enqueue(added) if added else [],
        [*document_session.state().drop.asked, *asked],
        [(one.name, one.said) for one in planned if one.said],
    )
    uploads.let_go([file for one, file in pairs if one.action != "ask"])
    context.check.put_away()
    document_session.uploaded()


def _chosen(context: AppContext) -> str:
    """Returns the chosen languages, "" for those of the setting."""
    chosen = str(st.session_state.get("scan-languages") or "")
    return "" if chosen == context.settings.scan_languages.codes else chosen


def _draw_asked(context: AppContext) -> None:
    """Asks what to do with files that have the name of a document with other content."""
    asked = document_session.state().drop.asked
    if len(asked) > MOST_ASKED:
        said = f"{len(asked):,} files have the names of documents that are already here, with other content."
        _draw_choice(said, asked, "all", context)
        return
    for one in asked:
        said = f"{short(one.name, 60)} is already here, with other content."
        _draw_choice(said, [one], one.file.file_id, context)


def _draw_choice(said: str, asked: Sequence[AskedFile], key: str, context: AppContext) -> None:
    with st.container(key=f"clash-{key}", border=True):
        st.html(f'<p role="alert">{plain_html(said)}</p>')
        with abreast(gap="small"):
            for label in ("Replace", "Keep both", "Skip"):
                draw_button(
                    label,
                    f"{label}-{key}",
                    _decide,
                    label,
                    asked,
                    context,
                    type="primary" if label == "Replace" else "secondary",
                    disabled=context.check.running,
                )


def _decide(label: str, asked: Sequence[AskedFile], context: AppContext) -> None:
    """Adds files that were asked about, under their names or free ones, or skips them."""
    taken = {row.name for row in context.chatbot.documents()} | {
        job.name for job in context.additions.jobs() if not job.finished
    }
    added = []
    for one in asked:
        name = one.name
        if label == "Keep both":
            name = free_name(name, taken)
            taken.add(name)
        if label != "Skip":
            added.append(NewFile(name, one.file, owner=session.owner(), languages=_chosen(context)))
    drop = document_session.state().drop
    left = [one for one in drop.asked if one not in asked]
    jobs = context.additions.enqueue(added) if added else []
    document_session.note_drop([*drop.jobs, *jobs], left, drop.remarks)
    uploads.let_go([one.file for one in asked])


def _draw_remarks(remarks: Sequence[tuple[str, str]]) -> None:
    """Says what became of files that were not added, or not under their own name."""
    if not remarks:
        return
    lines = "".join(
        f"<li><strong>{plain_html(short(name, 80))}</strong>: {plain_html(said)}</li>"
        for name, said in remarks[:MOST_SAID]
    )
    more = f"<li>And {len(remarks) - MOST_SAID:,} more.</li>" if len(remarks) > MOST_SAID else ""
    with st.container(key="remarks", gap="small"):
        st.html(f'<ul class="quiet lines" role="status">{lines}{more}</ul>')
        draw_quiet_button("Dismiss", "remarks-away", document_session.put_remarks_away)
