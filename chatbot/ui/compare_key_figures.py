"""Draws the sheet of key figures on the Compare page: measures as rows, documents and periods as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import AskedFigures, Running
from chatbot.comparison.key_figure_files import gap_text, original_text, sheet_csv, sheet_xlsx
from chatbot.comparison.key_figure_records import DocumentFigures, KeyFigure
from chatbot.comparison.key_figures import (
    FigureColumn,
    KeyFigureSheet,
    SheetRow,
    key_figure_sheet,
    sheet_parts,
)
from chatbot.records import DocumentRow, PageRef
from chatbot.ui import session
from chatbot.ui.compare_grid import (
    Drawing,
    FigureGrid,
    GridCell,
    GridHeading,
    PageLink,
    draw_file,
    draw_grid,
    draw_plain,
    draw_table,
)
from chatbot.ui.list_controls import page_of
from chatbot.ui.overlay import OpenPage
from chatbot.ui.safe_text import page_text, plain_html, plain_markdown, quiet_html, short

__all__ = ["draw_key_figures"]

# So long a page waits for a sheet before it shows progress: ten annual reports take less.
WAIT_SECONDS = 3.0
DOCUMENTS, PERIODS, RUN = "figures-documents", "figures-periods", "figures-run"
EACH, ALL = "One period per document", "All periods"
# Tables below one another; there are pages of more.
MOST_PARTS = 3
LONGEST_NAME = 44
MOST_PAGES = 2
# Documents without figures that are named together.
MOST_NAMED = 8
WHAT = (
    "The main figures from the tables of your documents: revenue, income and debt of companies; spending, "
    "balance and growth of budgets. Press a page number to see the row marked on its page."
)
NOT_CONVERTED = "These amounts are in different currencies and are not converted: {rows}."


def draw_key_figures(rows: Sequence[DocumentRow], context: AppContext) -> None:
    """Draws the choice of documents and their sheet, which makes itself. rows: the documents."""
    st.html(quiet_html(WHAT))
    names = sorted(row.name for row in rows)
    titles = context.chatbot.titles()
    with st.container(key="compare-fields"):
        st.multiselect(
            "Documents",
            names,
            key=DOCUMENTS,
            format_func=lambda name: titles.get(name, name),
            placeholder="All documents",
            wrap=True,
            persist_state="session",
        )
    chosen = [name for name in st.session_state.get(DOCUMENTS, []) if name in names]
    asked = AskedFigures(tuple(chosen or names), tuple(rows))
    before: Running | None = st.session_state.get(RUN)
    if before is not None and before.asked != asked:
        context.comparisons.drop(before)
    running = context.comparisons.find(asked, session.owner())
    if running is None:
        running = context.comparisons.begin(asked, session.owner())
        running.wait(WAIT_SECONDS)
    st.session_state[RUN] = running

    def named(document: str) -> str:
        return f"Reading {short(context.chatbot.title(document), LONGEST_NAME)}"

    def summary(found: Mapping[str, DocumentFigures], total: int) -> str:
        return "You stopped it, so some documents are missing." if len(found) < total else ""

    draw_table(running, Drawing(named, summary, partial(_draw_found, context)), context)


def _draw_found(context: AppContext, running: Running) -> None:
    """Draws the sheet once all has come."""
    if not running.busy:
        found: Mapping[str, DocumentFigures] = running.found()
        _draw_sheet(key_figure_sheet(list(found.values())), context)


def _draw_sheet(sheet: KeyFigureSheet, context: AppContext) -> None:
    titles = context.chatbot.titles()
    if not sheet.rows:
        st.html('<p class="refusal">No key figures were found in tables</p>')
        _draw_remarks(sheet, titles)
        return
    shown = ALL
    if 1 < len(sheet.main) < len(sheet.columns):
        shown = st.radio("Periods", (EACH, ALL), key=PERIODS, horizontal=True, label_visibility="collapsed")
    parts = sheet_parts(sheet)
    with st.container(key="figures-grid"):
        for number, part in enumerate(page_of(parts, MOST_PARTS, key="figures-parts")):
            draw_grid(_grid(part, part.main if shown == EACH else part.columns, titles), number)
    mixed = [row.shown for row in sheet.rows if _is_mixed(sheet, row)]
    if mixed:
        st.html(quiet_html(NOT_CONVERTED.format(rows=", ".join(mixed))))
    _draw_remarks(sheet, titles)
    if sheet.lacking:
        st.html(quiet_html(f"Not in the tables of any of these documents: {', '.join(sheet.lacking)}."))
    draw_plain("Key figures", [_grid(part, part.columns, titles) for part in parts])
    lines = "One line per figure, with document, period, page, row and the figure as printed."
    with st.container(horizontal=True, key="figures-files"):
        draw_file("csv", "key-figures", partial(sheet_csv, sheet), lines, context)
        sheets = "A sheet for each table, and one with one line per figure."
        draw_file("xlsx", "key-figures", partial(sheet_xlsx, sheet), sheets, context)


def _is_mixed(sheet: KeyFigureSheet, row: SheetRow) -> bool:
    """Whether the amounts of a row are in several currencies."""
    found = (sheet.cell(row, column) for column in sheet.columns)
    return len({figure.unit for figure in found if figure and figure.unit not in {None, "%"}}) > 1


def _draw_remarks(sheet: KeyFigureSheet, titles: Mapping[str, str]) -> None:
    """Says of which documents nothing is shown, and why."""
    for remark in dict.fromkeys(sheet.remarks.values()):
        names = [titles.get(name, name) for name, said in sheet.remarks.items() if said == remark]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        st.html(quiet_html(f"{'; '.join(names[:MOST_NAMED])}{more}: {remark}."))


def _grid(part: KeyFigureSheet, columns: Sequence[FigureColumn], titles: Mapping[str, str]) -> FigureGrid:
    """The table of documents that share rows."""
    return FigureGrid(
        ("Figure", "Unit"),
        [GridHeading(_named(row.shown, row.unit_text), (row.shown, row.unit_text)) for row in part.rows],
        [_column_heading(column, titles) for column in columns],
        lambda row, at: _cell(part, part.rows[row], columns[at]),
    )


def _named(name: str, below: str, tip: str = "") -> str:
    titled = f' title="{plain_html(tip)}"' if tip else ""
    quiet = f'<p class="quiet">{plain_html(below)}</p>' if below else ""
    return f'<p class="named"{titled}>{plain_html(name)}</p>{quiet}'


def _column_heading(column: FigureColumn, titles: Mapping[str, str]) -> GridHeading:
    title = titles.get(column.document, column.document)
    html = _named(short(title, LONGEST_NAME), column.shown, column.document)
    return GridHeading(html, (f"{title}, {column.shown}",))


def _cell(part: KeyFigureSheet, row: SheetRow, column: FigureColumn) -> GridCell:
    """A figure with its pages, or why there is none."""
    figure = part.cell(row, column)
    if figure is None:
        said = "Not worked out" if row.is_worked_out else "Not in its tables"
        html = f'<p class="absent" title="{plain_html(gap_text(row))}">{said}</p>'
        return GridCell(html, gap_text(row), is_gap=True)
    text, told = row.text_of(figure), plain_html(original_text(figure))
    html = f'<p class="amount" title="{told}">{plain_html(text)}</p>'
    if figure.formula:
        html += f'<p class="remark">{plain_html(figure.formula)}</p>'
    cells = {cell.page: cell for cell in reversed(figure.cells)}
    pages = {page: page_text(PageRef("", page, cell.page_label)) for page, cell in cells.items()}
    links = [_link(column, cell, pages[page]) for page, cell in list(cells.items())[:MOST_PAGES]]
    return GridCell(html, f"{text} ({', '.join(pages.values())})", links)


def _link(column: FigureColumn, cell: KeyFigure, where: str) -> PageLink:
    """Opens the page of a cell, with its row marked."""
    told = plain_markdown(f"{column.document}, {where}, as printed: {original_text(cell)}")
    opened = OpenPage(column.document, column.version, cell.page, cell.quote, cell.page, start=cell.start)
    return PageLink(plain_markdown(f"p.\u00a0{cell.page}"), told, opened)
