"""Draws the table of a comparison: each entry with its figure or passage, change and pages to open."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import Running
from chatbot.comparison import (
    Change,
    Comparison,
    Entry,
    EntryPlace,
    Nearest,
    Quantity,
    ShownFigure,
    unit_text,
)
from chatbot.records import FIGURE_VERDICTS, FINE, Citation, PageRef
from chatbot.ui import overlay
from chatbot.ui.compare_view import (
    SHORT_PASSAGE,
    ComparisonView,
    change_at,
    moved_text,
    overall,
    page_citations,
    place_of,
    plain_rows,
    printed_text,
    sides,
)
from chatbot.ui.overlay import OpenPage
from chatbot.ui.safe_text import page_text, plain_html, plain_markdown, short, table_html

__all__ = ["draw_plain", "draw_table", "entry_html"]

# The relative width of the first column, where each other column has 1: for names, and for years.
FIRST_WIDTH, YEAR_WIDTH = 1.25, 0.5
LONGEST_NAME = 90
NARROW = 3


def draw_table(running: Running, view: ComparisonView, context: AppContext) -> None:
    """Draws the table as far as it has come."""
    down, across = sides(view.comparison)
    with st.container(key="compared"):
        _draw_head(view, across)
        for row, label in enumerate(down):
            with st.container(key=f"compared-row-{row}"):
                columns = _columns(view.comparison, across)
                columns[0].html(_name_html(view, label))
                for column, (box, name) in enumerate(zip(columns[1:], across, strict=True)):
                    place = place_of(view.comparison, label, name)
                    with box.container(key=f"entry-{row}-{column}", gap=None):
                        _draw_entry(running, view, place, context, view.title(name))


def draw_plain(view: ComparisonView) -> None:
    """Draws the same as a text table, to be copied, and read out with its headings."""
    comparison = view.comparison
    _, across = sides(comparison)
    with st.expander("Show as plain text", key="compare-plain"):
        head = [
            ("Year" if comparison.by_year else "Document"),
            *[view.title(name) or "Answer" for name in across],
        ]
        st.html(table_html(comparison.question, head, plain_rows(view)))


def _columns(comparison: Comparison, across: Sequence[str]) -> Sequence[DeltaGenerator]:
    return st.columns([YEAR_WIDTH if comparison.by_year else FIRST_WIDTH, *[1.0] * len(across)], gap="small")


def _draw_head(view: ComparisonView, across: Sequence[str]) -> None:
    if not any(across):
        return
    with st.container(key="compared-head"):
        columns = _columns(view.comparison, across)
        columns[0].html(f'<p class="quiet">{"Year" if view.comparison.by_year else "Document"}</p>')
        for column, name in zip(columns[1:], across, strict=True):
            column.html(_name_html(view, name))


def _name_html(view: ComparisonView, name: str) -> str:
    """Renders a document or a year as the heading of its row or column.

    A document's heading also has its fiscal year, and the change over all the years that are compared.
    """
    title = short(view.title(name), LONGEST_NAME)
    text = f'<p class="named" title="{plain_html(name)}">{plain_html(title)}</p>'
    year = view.years.get(name, "")
    if year and year not in title:
        text += f'<p class="quiet">{plain_html(year)}</p>'
    last, moved = overall(view.comparison, name, view.found) or ("", None)
    if moved is None or moved.why_not:
        return text
    over_all = plain_html(f"{moved.since.year} to {last}: {moved_text(moved)}")
    return f'{text}<p class="quiet" title="{plain_html(moved.formula)}">{over_all}</p>'


# --- one entry
# ------------------------------------------------------------------------------------------------------------


def _draw_entry(
    running: Running, view: ComparisonView, place: EntryPlace, context: AppContext, above: str
) -> None:
    entry = view.found.get(place)
    top = f'<p class="column">{plain_html(short(above, LONGEST_NAME))}</p>' if above else ""
    if entry is None:
        if place == running.asking:
            waiting = "Asking …"
        else:
            waiting = "Waiting" if running.busy else "Not asked"
        st.html(f'{top}<p class="stage">{waiting}</p>')
        return
    narrow = len(sides(view.comparison)[1]) >= NARROW
    html = entry_html(
        entry,
        change_at(place, view),
        passage=SHORT_PASSAGE if narrow else 0,
        rank=view.ranked.get(place, ""),
        shown=view.shown.get(place),
    )
    st.html(top + html)
    key = f"{view.comparison.names.index(place.document)}-{place.year or 'all'}"
    for at, citation in enumerate(page_citations(entry)):
        _citation_button(citation, f"cite-compared-{key}-{at}")
    for at, page in enumerate(entry.nearest[:1]):
        _nearest_button(page, f"near-compared-{key}-{at}", view.title(page.document))
    if entry.state == "failed" and not running.busy:
        st.button(
            "Ask again",
            key=f"compare-again-{key}",
            icon=":material/refresh:",
            on_click=context.comparisons.go_on,
            args=(running, (place,)),
        )


def entry_html(
    entry: Entry,
    change: Change | None,
    *,
    passage: int = 0,
    rank: str = "",
    shown: ShownFigure | None = None,
) -> str:
    """Renders an entry without its pages.

    passage: the characters of it that are shown, 0 for all. rank: of its figure, "" for none. shown: its
    figure in the table's scale, None as it is printed.
    """
    remark = f'<p class="remark">{plain_html(entry.reason)}</p>' if entry.reason else ""
    if entry.state == "failed":
        return (
            f'<p class="strong" role="alert">⚠ {plain_html(entry.reason)}</p>'
            f'<p class="remark">{plain_html(entry.hint)}</p>'
        )
    if entry.state == "absent":
        return f'<p class="absent">Not in this document</p>{remark}'
    if entry.passage:
        said = (
            f'<p class="words">{plain_html(short(entry.passage, passage) if passage else entry.passage)}</p>'
        )
    else:
        said = ""
    if entry.quantity is None:
        return said + remark
    return (
        _figure_html(entry.quantity, shown)
        + _change_html(change)
        + (f'<p class="moved">{plain_html(rank)}</p>' if rank else "")
        + remark
        + (said if not entry.quantity.formula and _is_sentence(entry) else "")
    )


def _is_sentence(entry: Entry) -> bool:
    """Tells whether the passage says more than the figure's row does."""
    return not entry.passage.endswith(")")


def _figure_html(quantity: Quantity, shown: ShownFigure | None) -> str:
    figure = shown or ShownFigure(quantity.text, unit_text(quantity))
    of = f' <span class="of">{plain_html(figure.unit)}</span>' if figure.unit else ""
    printed = f' title="{plain_html(f"As printed: {printed_text(quantity)}")}"' if shown else ""
    if quantity.doubt:
        doubt = f"⚠ {quantity.doubt}"
    else:
        doubt = FIGURE_VERDICTS.get(quantity.status, quantity.status)
    check = "" if quantity.status in FINE else f'<p class="remark">{plain_html(doubt)}</p>'
    worked = (
        f'<p class="remark" title="{plain_html(quantity.formula)}">worked out from its figures</p>'
        if quantity.formula
        else ""
    )
    return f'<p class="amount"{printed}>{plain_html(figure.text)}{of}</p>{check}{worked}'


def _change_html(change: Change | None) -> str:
    if change is None:
        return ""
    against = short(change.since.year or change.since.document, 24)
    if change.why_not:
        reason = change.why_not[0].lower() + change.why_not[1:]
        return f'<p class="remark">{plain_html(f"Change from {against}: {reason}")}</p>'
    text = plain_html(f"{moved_text(change)} from {against}")
    return f'<p class="moved" title="{plain_html(change.formula)}">{text}</p>'


# --- pages
# ------------------------------------------------------------------------------------------------------------


def _citation_button(citation: Citation, key: str) -> None:
    where = page_text(PageRef(citation.document or "", citation.page or 1, citation.page_label))
    label = f"{plain_markdown(where)} **{citation.verdict}**"
    told = plain_markdown(
        f"{citation.document}: “{short(citation.quote, 240)}”" if citation.quote else "Opens the page."
    )
    opened = OpenPage(
        citation.document or "",
        citation.version or 0,
        citation.page or 1,
        citation.quote,
        citation.page or 1,
        start=citation.start,
    )
    if st.button(label, key=key, help=told, disabled=citation.version is None, wrap=True):
        overlay.open_page(opened)
        st.rerun()


def _nearest_button(page: Nearest, key: str, title: str) -> None:
    where = page_text(PageRef(page.document, page.page, page.page_label))
    if st.button(
        plain_markdown(f"Nearest: {where}"),
        key=key,
        help=plain_markdown(f"Opens the nearest page of {title}."),
        wrap=True,
    ):
        overlay.open_page(OpenPage(page.document, page.version, page.page))
        st.rerun()
