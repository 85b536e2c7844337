"""Draws the Key figures page: measures as rows, documents and periods as columns, each cell at its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import AskedFigures, Running
from chatbot.comparison.key_figure_files import gap_text, original_text, sheet_csv, sheet_xlsx
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.comparison.key_figures import (
    FigureColumn,
    KeyFigureSheet,
    SheetRow,
    key_figure_sheet,
    sheet_parts,
)
from chatbot.records import PageRef
from chatbot.ui import session
from chatbot.ui.figure_table import (
    Drawing,
    FigureCell,
    FigureTable,
    PageLink,
    draw_figures,
    draw_file,
    draw_table,
    pages_of,
)
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import abreast, choose_documents, draw_quiet, teach
from chatbot.ui.safe_text import page_text, plain_html, short

# So long a page waits for a sheet before it shows progress: ten annual reports take less.
WAIT_SECONDS = 3.0
DOCUMENTS, PERIODS, RUN = "figures-documents", "figures-periods", "figures-run"
LONGEST_NAME = 60
# Documents without figures that are named together.
MOST_NAMED = 8
WHAT = "The main figures from your documents' tables. Press one to see its row on the page."


def show(context: AppContext) -> None:
    """Draws the choice of documents and their sheet, which makes itself."""
    rows = session.documents(context)
    st.title("Key figures", anchor=False)
    if not rows:
        teach(WHAT)
        return
    draw_quiet(WHAT)
    names = sorted(row.name for row in rows)
    choose_documents(st.container(key="compare-fields"), names, DOCUMENTS, "All documents", context)
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
    drawing = Drawing(
        lambda document: f"Reading {short(context.chatbot.title(document), LONGEST_NAME)}",
        lambda found, total: "You stopped it, so some documents are missing." * (len(found) < total),
        partial(_draw_found, context),
    )
    draw_table(running, drawing, context)


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
    with abreast(key="figures-files"):
        every = len(sheet.main) == len(sheet.columns) or st.toggle("All periods", key=PERIODS)
        lines = "One line per figure, with document, period, page, row and the figure as printed."
        draw_file("csv", "key-figures", partial(sheet_csv, sheet), lines, context)
        sheets = "A sheet for each table, and one with one line per figure."
        draw_file("xlsx", "key-figures", partial(sheet_xlsx, sheet), sheets, context)
    for number, part in enumerate(sheet_parts(sheet)):
        draw_figures(_table(part, part.columns if every else part.main, titles), number)
    _draw_remarks(sheet, titles)
    if sheet.lacking:
        draw_quiet(f"Not recognised in these tables: {', '.join(sheet.lacking)}.")


def _draw_remarks(sheet: KeyFigureSheet, titles: Mapping[str, str]) -> None:
    """Says of which documents nothing is shown, and why."""
    for remark in dict.fromkeys(sheet.remarks.values()):
        names = [titles.get(name, name) for name, said in sheet.remarks.items() if said == remark]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        draw_quiet(f"{'; '.join(names[:MOST_NAMED])}{more}: {remark}.")


def _table(part: KeyFigureSheet, columns: Sequence[FigureColumn], titles: Mapping[str, str]) -> FigureTable:
    """The table of documents that share rows, without rows that are empty in these columns."""
    there = {(measure, figure.unit or "") for (measure, at), figure in part.cells.items() if at in columns}
    rows = [row for row in part.rows if (row.measure, row.unit) in there]
    return FigureTable(
        "Key figures",
        [_column_html(column, titles) for column in columns],
        [f"{plain_html(row.shown)}<small>{plain_html(row.unit_text)}</small>" for row in rows],
        lambda row, at: _cell(part, rows[row], columns[at]),
    )


def _column_html(column: FigureColumn, titles: Mapping[str, str]) -> str:
    title = short(titles.get(column.document, column.document), LONGEST_NAME)
    name = plain_html(column.document)
    return f'<span data-tip="{name}">{plain_html(title)}</span><small>{plain_html(column.shown)}</small>'


def _cell(part: KeyFigureSheet, row: SheetRow, column: FigureColumn) -> FigureCell:
    """A figure with its pages, or why there is none."""
    figure = part.cell(row, column)
    if figure is None:
        said = plain_html(gap_text(row, elsewhere=part.is_elsewhere(row, column)))
        return FigureCell(f'<span class="gap" data-tip="{said}"><span class="unseen">{said}</span>–</span>')
    links = []
    for cell, opened in pages_of(figure, column):
        told = f"{page_text(PageRef('', cell.page, cell.page_label))}, as printed: {original_text(cell)}"
        links.append(PageLink(f"<small>p.\u00a0{cell.page}</small>", told, opened))
    amount = f'<span class="amount">{plain_html(row.text_of(figure))}</span>'
    if figure.formula:
        told = plain_html(original_text(figure))
        return FigureCell(
            f'<span data-tip="{told}">{amount}<small>{plain_html(figure.formula)}</small></span>', links
        )
    first = PageLink(f"{amount} {links[0].html}", links[0].told, links[0].opened)
    return FigureCell("", [first, *links[1:]])


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
