"""The Documents page: adding files and how that goes, what is there and how each page fared, removing and restoring."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.records import DocumentRow
from chatbot.store.jobs import Job, NewFile
from chatbot.store.library import UNDO_DAYS, AddResult
from chatbot.store.names import display_name
from chatbot.ui.document_dialogs import ask_for, show_dialog
from chatbot.ui.shared import House, opening
from chatbot.ui.text import notice_html, plain_html, plain_markdown, short

POLL_SECONDS = 0.5
ROWS = 20
NEW_VERSION, KEEP_BOTH = "New version", "Keep both"
HEAD = ("Document", "Pages", "Scanned", "State", "Added")
COLUMNS = (5, 1.2, 1.4, 2.6, 2.4, 2.8)


def show(house: House) -> None:
    """The page."""
    st.title("Documents", anchor=False)
    _add(house)
    busy = any(job.busy for job in house.additions.jobs()) or bool(house.additions.erasing())
    st.fragment(_state, run_every=POLL_SECONDS if busy else None)(house, busy)
    show_dialog(house)


def _state(house: House, was_busy: bool) -> None:
    """Jobs and documents as they stand; drawn anew twice a second while something goes on."""
    jobs = house.additions.jobs()
    _draw_jobs(jobs, house)
    _draw_documents(house)
    if was_busy and not any(job.busy for job in jobs) and not house.additions.erasing():
        st.rerun()


# --- adding ---------------------------------------------------------------------------------------------------------------------


def _add(house: House) -> None:
    number = st.session_state.setdefault("upload", 0)
    files = st.file_uploader(
        "Add PDF files, text or scans",
        type="pdf",
        accept_multiple_files=True,
        key=f"upload-{number}",
        max_upload_size=max(1, int(house.settings.max_upload_mb)),
    )
    if not files:
        return
    taken = {row.name for row in house.chatbot.documents() if row.removed_at is None}
    names = [_name_for(file.name, index, taken) for index, file in enumerate(files)]
    if st.button(f"Add {len(files)} files" if len(files) != 1 else "Add this file", type="primary", key="add"):
        house.additions.enqueue([NewFile(name, file) for name, file in zip(names, files, strict=True)])
        st.session_state["upload"] = number + 1
        st.rerun()


def _name_for(given: str, index: int, taken: Collection[str]) -> str:
    """The name to add a file under; where a document has it already, the choice is the user's."""
    name = given
    with suppress(ProjectError):  # an impossible name becomes a failed job, with the reason
        name = display_name(given)
    if name not in taken:
        return given
    shown = plain_markdown(short(name, 60))
    choice = st.radio(f"{shown} is there already. This file is:", (NEW_VERSION, KEEP_BOTH), horizontal=True, key=f"clash-{index}-{name}")
    return name if choice == NEW_VERSION else free_name(name, taken)


def free_name(name: str, taken: Collection[str]) -> str:
    """ "Budget.pdf" as "Budget (2).pdf", or with the next number that is not taken."""
    path = PurePath(name)
    number = 2
    while f"{path.stem} ({number}){path.suffix}" in taken:
        number += 1
    return f"{path.stem} ({number}){path.suffix}"


# --- how adding goes ------------------------------------------------------------------------------------------------------------


def _draw_jobs(jobs: Sequence[Job], house: House) -> None:
    for job in jobs:
        if job.phase == "password":
            _ask_password(job, house)
        elif job.finished:
            st.html(f'<p class="quiet" role="status">{plain_html(_ended(job))}</p>')
        else:
            _draw_running(job, house)
    if any(job.finished for job in jobs):
        st.button("Clear these messages", key="clear", type="tertiary", on_click=house.additions.clear_finished)


def _ask_password(job: Job, house: House) -> None:
    """The field for one protected file, asked for by its name; what is typed is used for this reading only."""
    with st.form(f"unlock-{job.id}", border=False, clear_on_submit=True):
        field, unlock, cancel = st.columns([5, 1, 1], vertical_alignment="bottom")
        label = f"{plain_markdown(short(job.name, 60))}: {plain_markdown(job.problem or 'it is protected by a password.')}"
        password = field.text_input(label, type="password", key=f"password-{job.id}", help="Used for this reading only, never stored.")
        if unlock.form_submit_button("Open", key=f"open-{job.id}", width="stretch") and password:
            house.additions.unlock(job.id, password)
            st.rerun()
        if cancel.form_submit_button("Leave out", key=f"leave-{job.id}", width="stretch"):
            house.additions.cancel(job.id)
            st.rerun()


def _draw_running(job: Job, house: House) -> None:
    bar, button = st.columns([5, 1], vertical_alignment="bottom")
    share = min(1.0, job.done / job.total) if job.total else 0.0
    bar.progress(share, text=f"{plain_markdown(short(job.name, 60))}: {plain_markdown(_phase(job))}")
    if job.cancellable:
        button.button("Cancel", key=f"cancel-{job.id}", on_click=house.additions.cancel, args=(job.id,), width="stretch")


def _phase(job: Job) -> str:
    if job.cancelling:
        return "cancelling"
    text = {
        "waiting": "waiting",
        "reading": f"reading page {job.done} of {job.total}" if job.total else "opening",
        "ocr": f"reading scanned pages, {job.done} of {job.total}",
        "embedding": f"searchable by words, vectors {job.done} of {job.total}",
    }[job.phase]
    return f"{text}. Waiting: {job.problem}" if job.problem else f"{text}{_left(job.seconds_left)}"


def _left(seconds: float | None) -> str:
    """The time that is left, as people say it; "" where nobody can tell."""
    if seconds is None or seconds < 1:
        return ""
    if seconds < 90:
        return f", about {max(5, round(seconds / 5) * 5)} s left"
    return f", about {round(seconds / 60)} min left"


def _ended(job: Job) -> str:
    result = job.result
    name = short(job.name, 80)
    if job.phase == "cancelled":
        return f"{name}: cancelled, nothing of it is kept."
    if result is None:
        return f"✓ {name}: its vectors are complete."
    if job.phase == "failed":
        return f"⚠ {name}: not added. {result.error}"
    if result.status == "unchanged":
        return f"✓ {name}: it is there already, unchanged."
    return " ".join([f"✓ {name}: {'added' if result.status == 'added' else 'a new version'}, {_counted(result)}.", *_doubts(result)])


def _counted(result: AddResult) -> str:
    ocr = f", {result.ocr_pages} of them scanned" if result.ocr_pages else ""
    return f"{_number(result.pages, 'page')}{ocr}, {_number(result.chunks, 'passage')}, {result.seconds:.1f} s"


def _doubts(result: AddResult) -> list[str]:
    pages = [f"Page {page}: {reason}" for page, reason in result.failed_pages[:3]]
    more = [f"And {len(result.failed_pages) - 3} more pages."] if len(result.failed_pages) > 3 else []
    return [*([f"⚠ {result.warning}"] if result.warning else []), *([f"⚠ {' '.join([*pages, *more])}"] if pages else [])]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# --- what is there --------------------------------------------------------------------------------------------------------------


def _draw_documents(house: House) -> None:
    rows = house.chatbot.documents()
    if not rows:
        st.caption("There are no documents yet. `make samples` makes four to try, in `documents/samples`.")
        return
    if problem := st.session_state.pop("documents_problem", None):
        st.html(notice_html(problem))
    first = 0
    if len(rows) > ROWS:
        first = ROWS * (st.pagination(-(-len(rows) // ROWS), key="documents-page") - 1)
    with st.container(key="documents"):
        _draw_line(HEAD, head=True)
        for row in rows[first : first + ROWS]:
            _draw_row(row, house)


def _draw_line(cells: Sequence[str], *, head: bool = False) -> Any:
    """One row of the table; returns the place for its buttons. Each cell names its column to those who do not see it above."""
    *columns, last = st.columns(COLUMNS, vertical_alignment="center", gap="small")
    for column, name, cell in zip(columns, HEAD, cells, strict=True):
        label = "" if head or name == HEAD[0] else f'<span class="column">{name}: </span>'
        column.html(f'<p class="quiet{" strong" if head else ""}">{label}{plain_html(cell)}</p>')
    return last


def _draw_row(row: DocumentRow, house: House) -> None:
    erasing = row.name in house.additions.erasing()
    added = time.strftime("%d %b %Y, %H:%M", time.localtime(row.added_at))
    pages = str(row.pages) + (f" ({row.failed_pages} unread)" if row.failed_pages else "")
    place = _draw_line((row.name, pages, str(row.ocr_pages or "–"), "being erased" if erasing else state_text(row), added))
    name = plain_markdown(short(row.name, 60))
    if erasing:
        return
    with place.container(horizontal=True, gap="small"):
        if row.removed_at is None:
            _button("Pages", row, f"How each page of {name} was read", ask_for, "report", row.name)
            _button("Remove", row, f"Remove {name}", ask_for, "remove", row.name)
        else:
            _button("Restore", row, f"Bring {name} back", _attempt, house.restore, row.name)
            _button("Erase", row, f"Erase {name} for good", ask_for, "erase", row.name)


def _button(label: str, row: DocumentRow, explained: str, do: Callable[..., None], *arguments: Any) -> None:
    if st.button(label, key=f"{label}-{row.name}", help=explained, type="tertiary"):
        do(*arguments)
        st.rerun()


def _attempt(call: Callable[[str], None], name: str) -> None:
    try:
        call(name)
    except ProjectError as error:
        st.session_state["documents_problem"] = str(error)


def state_text(row: DocumentRow) -> str:
    """What can be done with a document now, in words."""
    if row.removed_at is not None:
        until = time.strftime("%d %b %Y", time.localtime(row.removed_at + UNDO_DAYS * 86_400))
        return f"removed, can be restored until {until}"
    if row.state == "ready":
        return "ready" if row.chunks else "no text was found"
    return f"searchable by words, vectors {row.embedded} of {row.chunks}"


if __name__ == "__main__" and (house := opening().house) is not None:
    show(house)
