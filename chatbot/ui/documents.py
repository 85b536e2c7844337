"""The Documents page: adding files, what is there, removing and bringing back; how additions go is told in document_jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.records import DocumentRow
from chatbot.store.jobs import NewFile
from chatbot.store.library import UNDO_DAYS
from chatbot.store.names import display_name, free_name
from chatbot.ui.document_dialogs import ask_for, show_dialog
from chatbot.ui.document_jobs import draw_jobs
from chatbot.ui.lists import page_of
from chatbot.ui.shared import House, opening
from chatbot.ui.store_check import show_check
from chatbot.ui.text import notice_html, plain_html, plain_markdown, short, spoken

POLL_SECONDS = 0.5
UNDO_SECONDS = UNDO_DAYS * 86_400
ROWS = 20
NEW_VERSION, KEEP_BOTH = "New version", "Keep both"
HEAD = ("Document", "Pages", "Scanned", "State", "Added")
COLUMNS = (5, 0.9, 1.2, 2.5, 1.7, 2.9)


def show(house: House) -> None:
    """The page."""
    st.title("Documents", anchor=False)
    _add(house)
    polled = moving(house)
    st.fragment(_state, run_every=POLL_SECONDS if polled else None)(house, polled)
    if house.chatbot.documents():
        show_check(house.check, busy=lambda: _busy(house))
    show_dialog(house)


def _state(house: House, polled: bool) -> None:
    """Jobs and documents as they stand; drawn anew twice a second while something goes on."""
    draw_jobs(house.additions.jobs(), house)
    _draw_documents(house)
    if polled and not moving(house):
        st.rerun()


def moving(house: House) -> bool:
    """Whether what is shown changes by itself. After a restart vectors are missing a moment before there is a job that makes them."""
    return _busy(house) or bool(house.chatbot.library.without_vectors())


def _busy(house: House) -> bool:
    """Whether the queue is at work."""
    return any(job.busy for job in house.additions.jobs()) or bool(house.additions.erasing())


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
    label = f"Add {len(files)} files" if len(files) != 1 else "Add this file"
    checking = house.check.running
    if st.button(label, type="primary", key="add", disabled=checking, help="Possible once the store is checked." if checking else None):
        house.additions.enqueue([NewFile(name, file) for name, file in zip(names, files, strict=True)])
        house.check.put_away()
        st.session_state["upload"] = number + 1
        st.rerun()


def _name_for(given: str, index: int, taken: Collection[str]) -> str:
    """The name to add a file under; where a document has it already, the choice is the user's."""
    name = given
    with suppress(ProjectError):  # an impossible name becomes a failed job, with the reason
        name = display_name(given)
    if name not in taken:
        return given
    st.html(f"<p><strong>{plain_html(short(name, 60))}</strong> is there already. This file is:</p>")
    said, key = f"{spoken(name)} is there already. This file is:", f"clash-{index}-{name}"
    choice = st.radio(said, (NEW_VERSION, KEEP_BOTH), horizontal=True, key=key, label_visibility="collapsed")
    return name if choice == NEW_VERSION else free_name(name, taken)


# --- what is there --------------------------------------------------------------------------------------------------------------


def _draw_documents(house: House) -> None:
    rows = house.chatbot.documents()
    if not rows:
        st.caption("There are no documents yet. `make samples` makes four to try, in `documents/samples`.")
        return
    if problem := st.session_state.pop("documents_problem", None):
        st.html(notice_html(problem))
    shown = page_of(rows, ROWS, key="documents-page")
    with st.container(key="documents"):
        _draw_line(HEAD, head=True)
        for row in shown:
            _draw_row(row, house)


def _draw_line(cells: Sequence[str], *, remarks: Sequence[str] = (), head: bool = False) -> Any:
    """One row of the table; returns the place for its buttons. Each cell names its column to those who do not see it above.

    remarks: lines under the first cell.
    """
    *columns, last = st.columns(COLUMNS, vertical_alignment="center", gap="small")
    for column, name, cell in zip(columns, HEAD, cells, strict=True):
        label = "" if head or name == HEAD[0] else f'<span class="column">{name}: </span>'
        more = "".join(f'<p class="remark">{plain_html(remark)}</p>' for remark in remarks) if name == HEAD[0] else ""
        column.html(f'<p class="quiet{" strong" if head else ""}">{label}{plain_html(cell)}</p>{more}')
    return last


def _draw_row(row: DocumentRow, house: House) -> None:
    erasing = row.name in house.additions.erasing()
    scanned = f"{row.ocr_pages:,}" if row.ocr_pages else "–"
    cells = (row.name, f"{row.pages:,}", scanned, "being erased" if erasing else state_text(row), _day(row.added_at))
    place = _draw_line(cells, remarks=remarks(row, time.time()))
    name = plain_markdown(short(row.name, 60))
    if erasing:
        return
    with place.container(horizontal=True, gap="small"):
        if row.removed_at is None:
            _button("Pages", row, f"How each page of {name} was read", ask_for, "report", row.name)
            if undo_until(row, time.time()) is not None:
                _button("Undo", row, f"Bring back the version of {name} that was there before", _attempt, house.restore, row.name)
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
        return f"removed, can be restored until {_day(row.removed_at + UNDO_SECONDS)}"
    if row.state == "ready":
        return "ready" if row.chunks else "no text was found"
    return f"searchable by words; by meaning {row.embedded:,} of {row.chunks:,}"


def remarks(row: DocumentRow, now: float) -> list[str]:
    """What is special about a document. now: seconds since the epoch."""
    said = []
    if row.failed_pages:
        said.append(f"⚠ {row.failed_pages:,} page{' was' if row.failed_pages == 1 else 's were'} not read: see Pages.")
    if row.same_as is not None:
        said.append(f"The same file as {row.same_as}; kept once, under both names.")
    if row.protected:
        said.append("Protected: its pages are shown to who knows its password.")
    until = undo_until(row, now)
    if row.replaced_at is not None and until is not None:
        said.append(f"Took the place of another version on {_day(row.replaced_at)}, which can be brought back until {_day(until)}.")
    return said


def undo_until(row: DocumentRow, now: float) -> float | None:
    """Until when the version before can be brought back, None where it cannot. Seconds since the epoch."""
    if row.removed_at is not None or row.replaced_at is None or row.replaced_at + UNDO_SECONDS <= now:
        return None
    return row.replaced_at + UNDO_SECONDS


def _day(seconds: float) -> str:
    return time.strftime("%d %b %Y", time.localtime(seconds))


if __name__ == "__main__" and (house := opening().house) is not None:
    show(house)
