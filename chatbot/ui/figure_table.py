"""Draws a table of figures: how far it is, rows and columns whose cells open their pages, and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.app.running_comparisons import Running
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay
from chatbot.ui.download_links import draw_download
from chatbot.ui.list_controls import page_of
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_view import show_open_page
from chatbot.ui.safe_text import NOTHING, notice_html, plain_html, plain_markdown

__all__ = [
    "Drawing",
    "FigureCell",
    "FigureTable",
    "PageLink",
    "draw_figures",
    "draw_file",
    "draw_pane",
    "draw_table",
]

POLL_SECONDS = 0.5
# The columns that scroll beside one another; there are pages of more.
MOST_COLUMNS = 60
MIMES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
# The field that takes which cell was pressed, what the cells open, and the part of the page that opens it.
PRESSED, OPENS, PLACE = "cell", "cell-pages", "figures"


@dataclass(frozen=True, slots=True)
class PageLink:
    """A button that opens a page. html: what it is called. told: shown while it is pointed at."""

    html: str
    told: str
    opened: OpenPage


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A cell of a table. html: what stands above the buttons that open its pages."""

    html: str
    pages: Sequence[PageLink] = ()


@dataclass(frozen=True, slots=True)
class FigureTable:
    """A table. caption: plain text. columns, rows: HTML of their headings; rows of "" have none.
    cell: returns that of a row and column, by their places in the order.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[str]
    cell: Callable[[int, int], FigureCell]


@dataclass(frozen=True, slots=True)
class Drawing:
    """How a table is drawn.

    named: names a place in the progress. summary: says what has come, of how many places, "" for nothing.
    draw: draws what has come.
    """

    named: Callable[[Any], str]
    summary: Callable[[Mapping[Any, Any], int], str]
    draw: Callable[[Running], None]


def draw_table(running: Running, drawing: Drawing, context: AppContext) -> None:
    """Draws how far a table is and what has come, again twice a second while it is on its way."""
    polled = running.busy
    st.fragment(_draw_table, run_every=POLL_SECONDS if polled else None)(running, drawing, context, polled)


def _draw_table(running: Running, drawing: Drawing, context: AppContext, polled: bool) -> None:
    """What is complete is drawn in another place than what is not, so that nothing of either stays in the
    other.
    """
    busy = running.busy
    if not busy:
        st.html(NOTHING)
    with st.container():
        _draw_progress(running, drawing, context)
        titles = context.chatbot.titles()
        for notice in running.told():
            st.html(notice_html(with_titles(notice.text, titles), notice.hint))
        drawing.draw(running)
    if busy:
        st.html(NOTHING)
    if polled != running.busy:
        st.rerun()


def _draw_progress(running: Running, drawing: Drawing, context: AppContext) -> None:
    found, total = running.found(), len(running.asked.places)
    said = "" if running.busy else drawing.summary(found, total)
    if not (running.busy or said or running.lacking):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="compare-progress"):
        if running.busy:
            label = drawing.named(running.asking) if running.asking else "Waiting for its turn"
            text = plain_markdown(f"{label}: {len(found)} of {total} done")
            st.progress(min(1.0, len(found) / max(1, total)), text=text)
            st.button("Stop", key="compare-stop", icon=":material/stop_circle:", on_click=running.stop)
            return
        if said:
            st.html(f'<p class="quiet" role="status">{said}</p>')
        if running.lacking:
            st.button("Continue", key="compare-on", on_click=context.comparisons.go_on, args=(running,))


@st.fragment
def draw_pane(context: AppContext) -> None:
    """Draws the pane with the page of the cell that was pressed. To be called before the tables are drawn."""
    # Never shown: static/interaction.js writes into it. A button for each cell would take seconds.
    st.text_input("Cell", key=PRESSED, on_change=_open)
    show_open_page(context, place=PLACE)


def _open() -> None:
    opened = st.session_state.get(OPENS, {}).get(st.session_state[PRESSED].partition(" ")[0])
    if opened is not None:
        overlay.open_page(opened, place=PLACE)


def draw_figures(table: FigureTable, number: int = 0) -> None:
    """Draws a table. number: of it on the page, from 0."""
    if not number:
        st.session_state[OPENS] = {}
    opens: dict[str, OpenPage] = st.session_state[OPENS]
    shown = page_of(range(len(table.columns)), MOST_COLUMNS, key=f"compared-columns-{number}")
    corner = "<td></td>" if any(table.rows) else ""
    heads = "".join(f'<th scope="col">{table.columns[at]}</th>' for at in shown)
    lines = []
    for row, heading in enumerate(table.rows):
        cells = "".join(
            f"<td>{_cell_html(table.cell(row, at), f'{number}-{row}-{at}', opens)}</td>" for at in shown
        )
        head = f'<th scope="row">{heading}</th>' if corner else ""
        lines.append(f"<tr>{head}{cells}</tr>")
    caption = plain_html(table.caption)
    st.html(
        f'<div class="figures" tabindex="0" role="region" aria-label="{caption}"><table>'
        f'<caption class="unseen">{caption}</caption>'
        f"<thead><tr>{corner}{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell_html(cell: FigureCell, key: str, opens: dict[str, OpenPage]) -> str:
    """key: of the cell. opens: takes what its buttons open."""
    buttons = []
    for at, link in enumerate(cell.pages):
        opens[f"{key}-{at}"] = link.opened
        buttons.append(
            f'<button type="button" data-cell="{key}-{at}" data-tip="{plain_html(link.told)}">'
            f"{link.html}</button>"
        )
    return cell.html + " ".join(buttons)


def draw_file(kind: str, name: str, make: Callable[[], bytes], said: str, context: AppContext) -> None:
    """Offers a table as a file. kind: "csv" or "xlsx". name: without its ending. make: see Download."""
    file = Download(make, f"{name}.{kind}", MIMES[kind])
    label, icon = f"Download as {kind.upper()}", ":material/download:"
    draw_download(label, context.downloads, f"table-{kind}", file, icon=icon, said=said)
