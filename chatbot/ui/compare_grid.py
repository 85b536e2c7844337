"""Draws a table of the Compare page: how far it is, its figures with their pages, plain text and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from chatbot.ui.safe_text import NOTHING, notice_html, plain_html, plain_markdown, short, table_html

__all__ = [
    "LONGEST_NAME",
    "Drawing",
    "FigureGrid",
    "GridCell",
    "GridHeading",
    "PageLink",
    "draw_file",
    "draw_grid",
    "draw_plain",
    "draw_table",
    "plain_rows",
]

POLL_SECONDS = 0.5
# The columns beside one another; there are pages of more.
MOST_COLUMNS = 6
# The relative width of the first column, where each other column has 1.
FIRST_WIDTH = 1.4
# The characters of a document's title in a heading.
LONGEST_NAME = 90
MIMES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}


@dataclass(frozen=True, slots=True)
class GridHeading:
    """The heading of a row or column. texts: the same in plain text, in one cell or several."""

    html: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageLink:
    """A button that opens a page. label, told: Markdown, the latter shown while it is pointed at."""

    label: str
    told: str
    opened: OpenPage


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of a table.

    html: it, without its pages. text: all of it in plain text.
    again: asks for it again, None if it cannot be asked.
    is_gap: whether there is nothing. A row of gaps is not drawn.
    """

    html: str
    text: str
    pages: Sequence[PageLink] = ()
    again: Callable[[], None] | None = None
    is_gap: bool = False


@dataclass(frozen=True, slots=True)
class FigureGrid:
    """A table. corner: what its rows are headed by, in plain text. cell: returns that of a row and column,
    by their places in the order.
    """

    corner: tuple[str, ...]
    rows: Sequence[GridHeading]
    columns: Sequence[GridHeading]
    cell: Callable[[int, int], GridCell]


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
    with st.container(horizontal=True, vertical_alignment="center", key="compare-progress"):
        if running.busy:
            label = drawing.named(running.asking) if running.asking else "Waiting for its turn"
            text = plain_markdown(f"{label}: {len(found)} of {total} done")
            st.progress(min(1.0, len(found) / max(1, total)), text=text)
            st.button("Stop", key="compare-stop", icon=":material/stop_circle:", on_click=running.stop)
            return
        if said := drawing.summary(found, total):
            st.html(f'<p class="quiet" role="status">{said}</p>')
        if running.lacking:
            st.button("Continue", key="compare-on", on_click=context.comparisons.go_on, args=(running,))


def draw_grid(grid: FigureGrid, number: int = 0) -> None:
    """Draws a table. number: of it on the page, from 0."""
    place, of_part = (f"{number}-", f"-part-{number}") if number else ("", "")
    shown = page_of(range(len(grid.columns)), MOST_COLUMNS, key=f"compared-columns-{number}")
    widths = [FIRST_WIDTH, *[1.0] * len(shown)]
    with st.container(key=f"compared{of_part}"):
        if any(grid.columns[at].html for at in shown):
            with st.container(key=f"compared-head{of_part}"):
                for box, at in zip(st.columns(widths, gap="small")[1:], shown, strict=True):
                    box.html(grid.columns[at].html)
        for row, heading in enumerate(grid.rows):
            cells = {at: grid.cell(row, at) for at in shown}
            if all(cell.is_gap for cell in cells.values()):
                continue
            with st.container(key=f"compared-row-{place}{row}"):
                first, *boxes = st.columns(widths, gap="small")
                first.html(heading.html)
                for box, (at, cell) in zip(boxes, cells.items(), strict=True):
                    key = f"{place}{row}-{at}"
                    with box.container(key=f"entry-{key}", gap=None):
                        _draw_cell(cell, grid.columns[at].texts[0], key)


def _draw_cell(cell: GridCell, above: str, key: str) -> None:
    """above: the heading of its column, for where columns have none."""
    top = f'<p class="column">{plain_html(short(above, LONGEST_NAME))}</p>' if above else ""
    st.html(top + cell.html)
    for at, link in enumerate(cell.pages):
        if st.button(link.label, key=f"cite-compared-{key}-{at}", help=link.told, wrap=True):
            overlay.open_page(link.opened)
            st.rerun()
    if cell.again is not None:
        st.button("Ask again", key=f"compare-again-{key}", icon=":material/refresh:", on_click=cell.again)


def draw_plain(caption: str, grids: Sequence[FigureGrid]) -> None:
    """Draws tables as text, to be copied, and read out with their headings."""
    with st.expander("Show as plain text", key="compare-plain"):
        for grid in grids:
            head = [*grid.corner, *(column.texts[0] or "Answer" for column in grid.columns)]
            st.html(table_html(caption, head, plain_rows(grid)))


def plain_rows(grid: FigureGrid) -> Iterator[list[str]]:
    """Yields the rows of a table as text."""
    for row, heading in enumerate(grid.rows):
        yield [*heading.texts, *(grid.cell(row, at).text for at in range(len(grid.columns)))]


def draw_file(kind: str, name: str, make: Callable[[], bytes], said: str, context: AppContext) -> None:
    """Offers a table as a file. kind: "csv" or "xlsx". name: without its ending. make: see Download."""
    file = Download(make, f"{name}.{kind}", MIMES[kind])
    label, icon = f"Download as {kind.upper()}", ":material/download:"
    draw_download(label, context.downloads, f"table-{kind}", file, icon=icon, said=said)
