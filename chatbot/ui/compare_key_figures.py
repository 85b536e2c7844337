"""Draws the sheet of key figures on the Compare page: progress, table with pages to open, files."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.comparison.key_figure_files import gap_text, original_text, sheet_csv, sheet_xlsx
from chatbot.comparison.key_figure_records import KeyFigure
from chatbot.comparison.key_figures import FigureColumn, KeyFigureSheet, SheetRow, sheet_parts
from chatbot.errors import ProjectError
from chatbot.records import DocumentRow, PageRef
from chatbot.ui import overlay
from chatbot.ui.download_links import draw_download
from chatbot.ui.list_controls import page_of
from chatbot.ui.overlay import OpenPage
from chatbot.ui.safe_text import (
    NOTHING,
    notice_html,
    page_text,
    plain_html,
    plain_markdown,
    quiet_html,
    short,
)
from chatbot.ui.safe_text import table_html as plain_table

__all__ = ["draw_key_figures", "plain_sheet"]

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
# So long a page waits for a sheet before it shows progress: ten annual reports take less.
WAIT_SECONDS = 3.0
DOCUMENTS, PERIODS, RUN = "figures-documents", "figures-periods", "figures-run"
EACH, ALL = "One period per document", "All periods"
# Columns beside one another, and tables one below another; there are pages of more.
MOST_COLUMNS, MOST_PARTS = 6, 3
FIRST_WIDTH = 1.4
LONGEST_NAME = 44
MOST_PAGES = 2
# Documents without figures that are named together.
MOST_NAMED = 8
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WHAT = (
    "The main figures from the tables of your documents: revenue, income and debt of companies; spending, "
    "balance and growth of budgets. Press a page number to see the row marked on its page."
)
NOT_CONVERTED = "These amounts are in different currencies and are not converted: {rows}."


@dataclass(frozen=True, slots=True)
class _SheetChoice:
    """What a sheet was made of; it is made anew when this changes. rows: the documents as they are stored."""

    names: tuple[str, ...]
    rows: tuple[DocumentRow, ...]


class _SheetRun:
    """A sheet that is made in a thread, so that the page can show how far it is."""

    def __init__(self, context: AppContext, asked: _SheetChoice) -> None:
        self.asked = asked
        self.sheet: KeyFigureSheet | None = None
        self.problem: ProjectError | None = None
        self.document, self.done, self.total = "", 0, len(asked.names)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._make, args=(context,), name="key figures", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether there is a sheet or a problem."""
        return not self._thread.is_alive()

    @property
    def was_stopped(self) -> bool:
        """Whether documents may be missing because it was stopped."""
        return self._stopped.is_set()

    def wait(self, seconds: float) -> None:
        """Waits for its end, at most so long."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Ends it with what has come."""
        self._stopped.set()

    def _make(self, context: AppContext) -> None:
        try:
            self.sheet = context.chatbot.key_figures(
                self.asked.names, progress=self._note, stop=self._stopped.is_set
            )
        except ProjectError as error:
            self.problem = error
        except Exception:
            log.exception("key figures failed")
            self.problem = ProjectError("Something inside failed.", hint="The server's log says what.")

    def _note(self, document: str, done: int, total: int) -> None:
        self.document, self.done, self.total = document, done, total


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
    run = _run_for(_SheetChoice(tuple(chosen or names), tuple(rows)), context)
    polled = not run.is_over
    st.fragment(_draw_run, run_every=POLL_SECONDS if polled else None)(run, context, polled)


def _run_for(asked: _SheetChoice, context: AppContext) -> _SheetRun:
    """The sheet of these documents, begun where there is none."""
    run: _SheetRun | None = st.session_state.get(RUN)
    if run is None or run.asked != asked:
        if run is not None:
            run.stop()
        run = _SheetRun(context, asked)
        st.session_state[RUN] = run
        run.wait(WAIT_SECONDS)
    return run


def _draw_run(run: _SheetRun, context: AppContext, polled: bool) -> None:
    if not run.is_over:
        _draw_progress(run, context.chatbot.title(run.document) if run.document else "")
        return
    st.html(NOTHING)  # in the place of the progress, of which no button may stay
    if polled:
        st.rerun()
    if run.problem is not None or run.sheet is None:
        problem = run.problem or ProjectError("There is no sheet.", hint="Choose the documents again.")
        st.html(notice_html(problem.message, problem.hint))
        return
    if run.was_stopped:
        st.html(
            notice_html(
                "You stopped it, so some documents are missing.", "Choose other documents to start again."
            )
        )
    _draw_sheet(run.sheet, context)


def _draw_progress(run: _SheetRun, title: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="figures-progress"):
        label = plain_markdown(f"Reading {short(title, LONGEST_NAME)}: {run.done} of {run.total} done")
        st.progress(min(1.0, run.done / max(1, run.total)), text=label)
        st.button("Stop", key="figures-stop", icon=":material/stop_circle:", on_click=run.stop)


def _draw_sheet(sheet: KeyFigureSheet, context: AppContext) -> None:
    titles = context.chatbot.titles()
    if not sheet.rows:
        st.html('<p class="refusal">No key figures were found in tables</p>')
        _draw_remarks(sheet, titles)
        return
    shown = _shown_periods(sheet)
    parts = sheet_parts(sheet)
    with st.container(key="figures-grid"):
        for number, part in enumerate(page_of(parts, MOST_PARTS, key="figures-parts")):
            columns = part.main if shown == EACH else part.columns
            _draw_grid(part, page_of(columns, MOST_COLUMNS, key=f"figures-columns-{number}"), titles, number)
    mixed = [row.shown for row in sheet.rows if _is_mixed(sheet, row)]
    if mixed:
        st.html(quiet_html(NOT_CONVERTED.format(rows=", ".join(mixed))))
    _draw_remarks(sheet, titles)
    if sheet.lacking:
        st.html(quiet_html(f"Not in the tables of any of these documents: {', '.join(sheet.lacking)}."))
    with st.expander("Show as plain text", key="figures-plain"):
        for part in parts:
            head = ["Figure", "Unit", *[_named(one, titles) for one in part.columns]]
            st.html(plain_table("Key figures", head, plain_sheet(part)))
    _draw_files(sheet, context)


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


def _shown_periods(sheet: KeyFigureSheet) -> str:
    """Draws the choice between one period of each document and all; returns what is chosen."""
    if len(sheet.main) < 2 or len(sheet.columns) == len(sheet.main):
        return ALL
    return st.radio("Periods", (EACH, ALL), key=PERIODS, horizontal=True, label_visibility="collapsed")


def _named(column: FigureColumn, titles: Mapping[str, str]) -> str:
    """A column by the title of its document and its period."""
    return f"{titles.get(column.document, column.document)}, {column.shown}"


def _draw_grid(
    part: KeyFigureSheet, columns: Sequence[FigureColumn], titles: Mapping[str, str], number: int
) -> None:
    """Draws a table of documents that share rows. number: of the table, from 0."""
    widths = [FIRST_WIDTH, *[1.0] * len(columns)]
    place, of_part = (f"{number}-", f"-part-{number}") if number else ("", "")
    stated = {measure for measure, column in part.cells if column in columns}
    rows = [row for row in part.rows if row.measure in stated]
    with st.container(key=f"compared{of_part}"):
        with st.container(key=f"compared-head{of_part}"):
            boxes = st.columns(widths, gap="small")
            for box, column in zip(boxes[1:], columns, strict=True):
                box.html(_column_html(column, titles))
        for at_row, row in enumerate(rows):
            with st.container(key=f"compared-row-{place}{at_row}"):
                boxes = st.columns(widths, gap="small")
                boxes[0].html(_row_html(row))
                for at, (box, column) in enumerate(zip(boxes[1:], columns, strict=True)):
                    key = f"{place}{at_row}-{at}"
                    with box.container(key=f"entry-{key}", gap=None):
                        top = f'<p class="column">{plain_html(_named(column, titles))}</p>'
                        _draw_cell(part, row, column, key, top)


def _column_html(column: FigureColumn, titles: Mapping[str, str]) -> str:
    name = plain_html(short(titles.get(column.document, column.document), LONGEST_NAME))
    title = plain_html(column.document)
    return f'<p class="named" title="{title}">{name}</p><p class="quiet">{plain_html(column.shown)}</p>'


def _row_html(row: SheetRow) -> str:
    unit = f'<p class="quiet">{plain_html(row.unit_text)}</p>' if row.unit_text else ""
    return f'<p class="named">{plain_html(row.shown)}</p>{unit}'


def _draw_cell(sheet: KeyFigureSheet, row: SheetRow, column: FigureColumn, key: str, top: str) -> None:
    """Draws a figure with its pages, or why there is none. top: what stands above it where columns do not."""
    figure = sheet.cell(row, column)
    if figure is None:
        said = "Not worked out" if row.is_worked_out else "Not in its tables"
        st.html(f'{top}<p class="absent" title="{plain_html(gap_text(row))}">{said}</p>')
        return
    st.html(top + _figure_html(row, figure))
    pages = {cell.page: cell for cell in reversed(figure.cells)}
    for at, cell in enumerate(list(pages.values())[:MOST_PAGES]):
        _page_button(column, cell, f"cite-figure-{key}-{at}")


def _figure_html(row: SheetRow, figure: KeyFigure) -> str:
    told = plain_html(original_text(figure))
    text = f'<p class="amount" title="{told}">{plain_html(row.text_of(figure))}</p>'
    return text + (f'<p class="remark">{plain_html(figure.formula)}</p>' if figure.formula else "")


def _page_button(column: FigureColumn, cell: KeyFigure, key: str) -> None:
    """Draws the button that opens the page of a cell, with its row marked."""
    where = page_text(PageRef(column.document, cell.page, cell.page_label))
    told = plain_markdown(f"{column.document}, {where}, as printed: {original_text(cell)}")
    opened = OpenPage(column.document, column.version, cell.page, cell.quote, cell.page, start=cell.start)
    if st.button(plain_markdown(f"p.\u00a0{cell.page}"), key=key, help=told):
        overlay.open_page(opened)
        st.rerun()


def plain_sheet(sheet: KeyFigureSheet) -> list[list[str]]:
    """Returns the rows of the sheet as text, with the page of each figure."""
    rows = []
    for row in sheet.rows:
        cells = [_plain(row, sheet.cell(row, column)) for column in sheet.columns]
        rows.append([row.shown, row.unit_text, *cells])
    return rows


def _plain(row: SheetRow, figure: KeyFigure | None) -> str:
    if figure is None:
        return gap_text(row)
    pages = {cell.page: page_text(PageRef("", cell.page, cell.page_label)) for cell in figure.cells}
    return f"{row.text_of(figure)} ({', '.join(pages.values())})"


def _draw_files(sheet: KeyFigureSheet, context: AppContext) -> None:
    csv = Download(lambda: sheet_csv(sheet), "key-figures.csv", "text/csv")
    xlsx = Download(lambda: sheet_xlsx(sheet), "key-figures.xlsx", XLSX)
    files = (
        ("CSV", csv, "One line per figure, with document, period, page, row and the figure as printed."),
        ("XLSX", xlsx, "A sheet for each table, and one with one line per figure."),
    )
    with st.container(horizontal=True, key="figures-files"):
        for kind, file, said in files:
            key = f"figures-{kind.lower()}"
            label = f"Download as {kind}"
            draw_download(label, context.downloads, key, file, icon=":material/download:", said=said)
