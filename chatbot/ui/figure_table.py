"""Draws a table of figures: how far it is, rows and columns whose cells open their pages, and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.app.running_comparisons import Running
from chatbot.comparison.key_figure_records import KeyFigure
from chatbot.comparison.key_figures import FigureColumn
from chatbot.store.document_names import with_titles
from chatbot.ui import overlay
from chatbot.ui.list_controls import page_of
from chatbot.ui.overlay import OpenPage
from chatbot.ui.page_parts import abreast, draw_button, draw_download, draw_notice, follow
from chatbot.ui.safe_text import NOTHING, plain_html, plain_markdown

__all__ = [
    "Drawing",
    "FigureCell",
    "FigureTable",
    "PageLink",
    "draw_figures",
    "draw_file",
    "draw_table",
    "pages_of",
]

# The pages that a figure opens.
MOST_PAGES = 2
# The columns that scroll beside one another; there are pages of more.
MOST_COLUMNS = 60
MIMES = {"csv": "text/csv", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}


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
    follow(partial(_draw_table, running, drawing, context), lambda: running.busy)


def _draw_table(running: Running, drawing: Drawing, context: AppContext) -> None:
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
            draw_notice(with_titles(notice.text, titles), notice.hint)
        drawing.draw(running)
    if busy:
        st.html(NOTHING)


def _draw_progress(running: Running, drawing: Drawing, context: AppContext) -> None:
    found, total = running.found(), len(running.asked.places)
    said = "" if running.busy else drawing.summary(found, total)
    if not (running.busy or said or running.lacking):
        return
    with abreast(key="compare-progress"):
        if running.busy:
            label = drawing.named(running.asking) if running.asking else "Waiting for its turn"
            text = plain_markdown(f"{label}: {len(found)} of {total} done")
            st.progress(min(1.0, len(found) / max(1, total)), text=text)
            draw_button("Stop", "compare-stop", running.stop, icon=":material/stop_circle:")
            return
        if said:
            st.html(f'<p class="quiet" role="status">{said}</p>')
        if running.lacking:
            draw_button("Continue", "compare-on", context.comparisons.go_on, running)


def draw_figures(table: FigureTable, number: int = 0) -> None:
    """Draws a table. number: of it on the page, from 0."""
    shown = page_of(range(len(table.columns)), MOST_COLUMNS, key=f"compared-columns-{number}")
    corner = "<td></td>" if any(table.rows) else ""
    heads = "".join(f'<th scope="col">{table.columns[at]}</th>' for at in shown)
    lines = []
    for line, heading in enumerate(table.rows):
        cells = "".join(
            f"<td>{_cell_html(table.cell(line, at), f'{number}-{line}-{at}')}</td>" for at in shown
        )
        head = f'<th scope="row">{heading}</th>' if corner else ""
        lines.append(f"<tr>{head}{cells}</tr>")
    caption = plain_html(table.caption)
    st.html(
        f'<div class="figures" tabindex="0" role="region" aria-label="{caption}"><table>'
        f'<caption class="unseen">{caption}</caption>'
        f"<thead><tr>{corner}{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell_html(cell: FigureCell, key: str) -> str:
    buttons = [
        f'<button type="button" {overlay.offer(f"{key}-{at}", link.opened)} '
        f'data-tip="{plain_html(link.told)}">{link.html}</button>'
        for at, link in enumerate(cell.pages)
    ]
    return cell.html + " ".join(buttons)


def pages_of(figure: KeyFigure, column: FigureColumn) -> list[tuple[KeyFigure, OpenPage]]:
    """Returns the cells of a figure on the first pages that it is from, each with its row to be opened."""
    cells = {cell.page: cell for cell in reversed(figure.cells)}
    at = column.document, column.version
    return [
        (cell, OpenPage(*at, cell.page, cell.quote, cell.page, start=cell.start))
        for cell in list(cells.values())[:MOST_PAGES]
    ]


def draw_file(kind: str, name: str, make: Callable[[], bytes], said: str, context: AppContext) -> None:
    """Offers a table as a file. kind: "csv" or "xlsx". name: without its ending. make: see Download."""
    file = Download(make, f"{name}.{kind}", MIMES[kind])
    label = f"Download as {kind.upper()}"
    draw_download(label, context.downloads, f"table-{kind}", file, icon=":material/download:", said=said)
