"""Draws the list of documents: searching and sorting, the rows and their buttons."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from chatbot.records import DocumentRow
from chatbot.settings import PROGRAM, is_installed
from chatbot.store.library import UNDO_DAYS
from chatbot.ui import document_session
from chatbot.ui.app_context import AppContext
from chatbot.ui.document_address import open_document
from chatbot.ui.list_controls import page_of, search_box
from chatbot.ui.safe_text import plain_html, plain_markdown, quiet_html, short

__all__ = ["arranged", "draw_documents", "remarks", "state_text", "undo_until"]

UNDO_SECONDS = UNDO_DAYS * 86_400
ROWS = 20
# Fewer documents need neither search nor sorting.
WORTH_SEARCHING = 8
ADDED = "in the order added"
NEWEST = "newest first"
TITLE = "by title"
NAME = "by name"
PAGES = "most pages first"
HEAD = ("Document", "Pages", "Scanned", "State", "Added")
COLUMNS = (4.7, 0.8, 1.15, 2.2, 1.5, 3.4)


def draw_documents(context: AppContext) -> None:
    """Draws the documents, page by page, and above them the way to undo a removal."""
    rows = context.chatbot.documents()
    titles = context.chatbot.titles()
    _draw_undo(rows, context)
    if not rows:
        st.html(
            quiet_html(
                "There are no documents yet. Drop PDFs above: reports, budgets, policies, as text or as "
                "scans. What you ask is then answered from them."
            )
        )
        folder = context.chatbot.library.copies.folder
        where = folder if is_installed() else folder.name
        when = f"they are added when the server starts, or by `{PROGRAM} add`"
        st.caption(f"PDFs can also be copied into the folder `{where}/`, sub-folders too; {when}.")
        if not is_installed():
            st.caption("Nothing at hand? `make samples` makes four to try, in `documents/samples`.")
        return
    wanted, order = "", ADDED
    if len(rows) > WORTH_SEARCHING:
        with st.container(horizontal=True, key="documents-find"):
            wanted = search_box("Search by title or name", key="documents-search")
            order = st.selectbox(
                "Order of the documents",
                (ADDED, NEWEST, TITLE, NAME, PAGES),
                key="documents-order",
                label_visibility="collapsed",
                filter_mode=None,
                width=210,
            )
        rows = arranged(rows, wanted, order, titles)
        if not rows:
            st.html(quiet_html("No document has all of these words in its title or name."))
    shown = page_of(rows, ROWS, key=f"documents-page-{wanted}-{order}")
    with st.container(key="documents"):
        if rows:
            _draw_line(HEAD, head=True)
        for row in shown:
            _draw_row(row, context, titles.get(row.name, row.name))


def arranged(
    rows: Sequence[DocumentRow], wanted: str, order: str, titles: Mapping[str, str]
) -> list[DocumentRow]:
    """Returns the documents whose titles and names contain all these words, in that order.

    titles: by name.
    """
    words = wanted.casefold().split()
    found = []
    for row in rows:
        name = f"{titles.get(row.name, '')} {row.name}".casefold()
        if all(word in name for word in words):
            found.append(row)
    keys: dict[str, Callable[[DocumentRow], Any]] = {
        NEWEST: lambda row: -row.added_at,
        TITLE: lambda row: (titles.get(row.name, row.name).casefold(), row.name),
        NAME: lambda row: (row.name.casefold(), row.name),
        PAGES: lambda row: (-row.pages, row.name.casefold()),
    }
    if order in keys:
        return sorted(found, key=keys[order])
    return found


def _draw_undo(rows: Sequence[DocumentRow], context: AppContext) -> None:
    """Draws what was removed here just now, and the way to restore it."""
    row = next(
        (row for row in rows if row.name == document_session.removed_last() and row.removed_at is not None),
        None,
    )
    if row is None:
        document_session.put_undo_away()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="document-undo"):
        st.html(f'<p role="status">{plain_html(short(row.name, 60))} was removed.</p>', width="content")
        st.button(
            "Undo",
            key="undo-removed",
            help="Brings it back (key U)",
            shortcut="U",
            on_click=_restore,
            args=(row, context),
        )
        st.button("Dismiss", key="undo-away", type="tertiary", on_click=document_session.put_undo_away)


def _restore(row: DocumentRow, context: AppContext) -> None:
    """Restores what a row showed, unless another tab did so meanwhile."""
    now = next((one for one in context.chatbot.documents() if one.name == row.name), None)
    document_session.put_undo_away()
    if (
        now is not None
        and (now.removed_at is None) == (row.removed_at is None)
        and (row.removed_at is not None or now.replaced_at == row.replaced_at)
    ):
        document_session.attempt(context.restore, row.name)
    elif now is None or row.removed_at is None:
        document_session.notify(
            "This was changed in another tab meanwhile.", "The list shows what is there now."
        )


def _draw_line(cells: Sequence[str], *, remarks: Sequence[str] = (), head: bool = False) -> Any:
    """Draws one row of the table and returns the place for its buttons.

    Each cell names its column for users who cannot see the heading.

    remarks: lines under the first cell.
    """
    *columns, last = st.columns(COLUMNS, vertical_alignment="center", gap="small")
    for column, name, cell in zip(columns, HEAD, cells, strict=True):
        if head or name == HEAD[0]:
            label = ""
        else:
            label = f'<span class="column">{name}: </span>'
        if name == HEAD[0]:
            more = "".join(f'<p class="remark">{plain_html(remark)}</p>' for remark in remarks)
        else:
            more = ""
        column.html(f'<p class="quiet{" strong" if head else ""}">{label}{plain_html(cell)}</p>{more}')
    return last


def _draw_row(row: DocumentRow, context: AppContext, title: str) -> None:
    erasing = row.name in context.additions.erasing()
    scanned = f"{row.ocr_pages:,}" if row.ocr_pages else "–"
    cells = (
        title,
        f"{row.pages:,}",
        scanned,
        "being erased" if erasing else state_text(row),
        _day(row.added_at),
    )
    named = [] if title == row.name else [row.name]
    place = _draw_line(cells, remarks=[*named, *remarks(row, time.time())])
    name = plain_markdown(short(row.name, 60))
    if erasing:
        return
    with place.container(horizontal=True, gap="small"):
        if row.removed_at is None:
            _button("Open", row, f"Look at the pages of {name}", open_document, context, row.name)
            _button(
                "Details",
                row,
                f"How the pages of {name} were read, its period and status",
                document_session.ask_for,
                "report",
                row.name,
            )
            if undo_until(row, time.time()) is not None:
                _button(
                    "Undo",
                    row,
                    f"Bring back the version of {name} that was there before",
                    _restore,
                    row,
                    context,
                )
            _button("Remove", row, f"Remove {name}", document_session.ask_for, "remove", row.name)
        else:
            _button("Restore", row, f"Bring {name} back", _restore, row, context)
            _button("Erase", row, f"Erase {name} for good", document_session.ask_for, "erase", row.name)


def _button(label: str, row: DocumentRow, explained: str, do: Callable[..., None], *arguments: Any) -> None:
    """Draws a button that acts on the row as it was shown, whatever another tab did since."""
    if st.button(
        label, key=f"{label}-{row.name}", help=explained, type="tertiary", on_click=do, args=arguments
    ):
        st.rerun()  # dialogs are outside of what is drawn again here


def state_text(row: DocumentRow) -> str:
    """Says what can be done with a document now."""
    if row.removed_at is not None:
        return f"removed, can be restored until {_day(row.removed_at + UNDO_SECONDS)}"
    coming = f"; {row.coming}" if row.coming else ""
    if row.state == "ready":
        if row.chunks or coming:
            return f"ready{coming}"
        return "no text was found"
    return f"searchable by words; by meaning {row.embedded:,} of {row.chunks:,}{coming}"


def remarks(row: DocumentRow, now: float) -> list[str]:
    """Returns what is special about a document. now: seconds since the epoch."""
    facts = ", ".join(fact for fact in (row.period, row.status) if fact)
    said = [facts] if facts else []
    if row.failed_pages:
        said.append(
            f"⚠ {row.failed_pages:,} page{' was' if row.failed_pages == 1 else 's were'} not read: see "
            f"Details."
        )
    if row.same_as is not None:
        said.append(f"The same file as {row.same_as}; kept once, under both names.")
    if row.protected:
        said.append("Protected: its pages are shown to who knows its password.")
    until = undo_until(row, now)
    if row.replaced_at is not None and until is not None:
        said.append(
            f"Took the place of another version on {_day(row.replaced_at)}, which can be brought back "
            f"until {_day(until)}."
        )
    return said


def undo_until(row: DocumentRow, now: float) -> float | None:
    """Returns when undoing a replacement ends, in seconds since the epoch; None if it cannot be undone."""
    if row.removed_at is not None or row.replaced_at is None or row.replaced_at + UNDO_SECONDS <= now:
        return None
    return row.replaced_at + UNDO_SECONDS


def _day(seconds: float) -> str:
    return time.strftime("%d %b %Y", time.localtime(seconds))
