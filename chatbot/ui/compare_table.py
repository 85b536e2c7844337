"""Draws the table of a comparison: each entry with its figure or passage, change and pages to open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from chatbot.comparison import (
    Change,
    Comparison,
    Entry,
    EntryPlace,
    Nearest,
    Quantity,
    change_between,
    unit_text,
)
from chatbot.records import FIGURE_VERDICTS, FINE, Citation, PageRef
from chatbot.ui import overlay
from chatbot.ui.app_context import AppContext
from chatbot.ui.overlay import OpenPage
from chatbot.ui.running_comparisons import Running
from chatbot.ui.safe_text import page_text, plain_html, plain_markdown, short, table_html

__all__ = ["draw_plain", "draw_table", "entry_html", "overall", "plain_rows"]

# The pages that one entry offers: the operands of a ratio may stand on two.
MOST_PAGES = 3
# The relative width of the first column, where each other column has 1: for names, and for years.
FIRST_WIDTH, YEAR_WIDTH = 1.25, 0.5
LONGEST_NAME = 60
# The characters of a passage where columns are narrow.
SHORT_PASSAGE = 130
NARROW = 3


def draw_table(
    running: Running,
    found: Mapping[EntryPlace, Entry],
    changed: Mapping[EntryPlace, Change],
    context: AppContext,
    titles: Mapping[str, str],
) -> None:
    """Draws the table as far as it has come. titles: of the documents, by name."""
    comparison = running.comparison
    changed = _titled(changed, titles)
    down, across = _sides(comparison)
    with st.container(key="compared"):
        _draw_head(comparison, across, found, titles)
        for row, label in enumerate(down):
            with st.container(key=f"compared-row-{row}"):
                columns = _columns(comparison, across)
                columns[0].html(_name_html(comparison, label, found, titles))
                for column, (box, name) in enumerate(zip(columns[1:], across, strict=True)):
                    place = _place(comparison, label, name)
                    with box.container(key=f"entry-{row}-{column}", gap=None):
                        _draw_entry(running, place, found, changed, context, titles.get(name, name))


def _titled(changed: Mapping[EntryPlace, Change], titles: Mapping[str, str]) -> dict[EntryPlace, Change]:
    """Returns the changes with the titles of the documents that they are changes from."""
    said = {}
    for place, change in changed.items():
        name = change.since.document
        said[place] = replace(change, since=replace(change.since, document=titles.get(name, name)))
    return said


def draw_plain(
    comparison: Comparison,
    found: Mapping[EntryPlace, Entry],
    changed: Mapping[EntryPlace, Change],
    titles: Mapping[str, str],
) -> None:
    """Draws the same as a text table, to be copied, and read out with its headings."""
    _, across = _sides(comparison)
    with st.expander("The table as plain text", key="compare-plain"):
        head = [
            ("Year" if comparison.by_year else "Document"),
            *[titles.get(name, name) or "Answer" for name in across],
        ]
        rows = plain_rows(comparison, found, _titled(changed, titles))
        named = [[titles.get(label, label), *said] for label, *said in rows]
        st.html(table_html(comparison.question, head, named))


def _sides(comparison: Comparison) -> tuple[Sequence[str], Sequence[str]]:
    """Returns (row labels, column labels)."""
    years = comparison.years or ("",)
    if comparison.by_year:
        return (years, comparison.names)
    return (comparison.names, years)


def _columns(comparison: Comparison, across: Sequence[str]) -> Sequence[DeltaGenerator]:
    return st.columns([YEAR_WIDTH if comparison.by_year else FIRST_WIDTH, *[1.0] * len(across)], gap="small")


def _place(comparison: Comparison, left: str, above: str) -> EntryPlace:
    if comparison.by_year:
        return EntryPlace(above, left)
    return EntryPlace(left, above)


def _draw_head(
    comparison: Comparison,
    across: Sequence[str],
    found: Mapping[EntryPlace, Entry],
    titles: Mapping[str, str],
) -> None:
    if not any(across):
        return
    with st.container(key="compared-head"):
        columns = _columns(comparison, across)
        columns[0].html(f'<p class="quiet">{"Year" if comparison.by_year else "Document"}</p>')
        for column, name in zip(columns[1:], across, strict=True):
            column.html(_name_html(comparison, name, found, titles))


def _name_html(
    comparison: Comparison, name: str, found: Mapping[EntryPlace, Entry], titles: Mapping[str, str]
) -> str:
    """Renders a document or a year as the heading of its row or column.

    A document's heading also has the change over all its years.
    """
    title = short(titles.get(name, name), LONGEST_NAME)
    text = f'<p class="named" title="{plain_html(name)}">{plain_html(title)}</p>'
    last, moved = overall(comparison, name, found) or ("", None)
    if moved is None or moved.why_not:
        return text
    over_all = plain_html(f"{moved.since.year} to {last}: {_moved_text(moved)}")
    return f'{text}<p class="quiet" title="{plain_html(moved.formula)}">{over_all}</p>'


def overall(
    comparison: Comparison, document: str, found: Mapping[EntryPlace, Entry]
) -> tuple[str, Change] | None:
    """Returns (last year, the change to it from the first) of a document with figures of three years or more.

    Returns None with fewer.
    """
    there = [
        entry
        for year in comparison.years
        if (entry := found.get(EntryPlace(document, year))) is not None and entry.quantity is not None
    ]
    if len(there) > 2:
        return (there[-1].place.year, change_between(there[0], there[-1]))
    return None


# --- one entry
# ------------------------------------------------------------------------------------------------------------


def _draw_entry(
    running: Running,
    place: EntryPlace,
    found: Mapping[EntryPlace, Entry],
    changed: Mapping[EntryPlace, Change],
    context: AppContext,
    above: str,
) -> None:
    entry = found.get(place)
    top = f'<p class="column">{plain_html(short(above, LONGEST_NAME))}</p>' if above else ""
    if entry is None:
        if place == running.asking:
            waiting = "Asking …"
        else:
            waiting = "Waiting" if running.busy else "Not asked"
        st.html(f'{top}<p class="stage">{waiting}</p>')
        return
    narrow = len(_sides(running.comparison)[1]) >= NARROW
    st.html(top + entry_html(entry, changed.get(place), passage=SHORT_PASSAGE if narrow else 0))
    key = "-".join(
        str(part) for part in (running.comparison.names.index(place.document), place.year or "all")
    )
    for at, citation in enumerate(_shown_citations(entry)):
        _citation_button(citation, f"cite-compared-{key}-{at}", fits=entry.state == "figure")
    for at, page in enumerate(entry.nearest[:1]):
        _nearest_button(page, f"near-compared-{key}-{at}")
    if entry.state == "failed" and not running.busy:
        st.button(
            "Ask again",
            key=f"compare-again-{key}",
            icon=":material/refresh:",
            on_click=context.comparisons.go_on,
            args=(running, (place,)),
        )


def entry_html(entry: Entry, change: Change | None, *, passage: int = 0) -> str:
    """Renders an entry without its pages. passage: the characters of it that are shown, 0 for all."""
    remark = f'<p class="remark">{plain_html(entry.reason)}</p>' if entry.reason else ""
    if entry.state == "failed":
        return (
            f'<p class="strong" role="alert">⚠ {plain_html(entry.reason)}</p><p '
            f'class="remark">{plain_html(entry.hint)}</p>'
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
        _figure_html(entry.quantity)
        + _change_html(change)
        + remark
        + (said if not entry.quantity.formula and _is_sentence(entry) else "")
    )


def _is_sentence(entry: Entry) -> bool:
    """Tells whether the passage says more than the figure's row does."""
    return not entry.passage.endswith(")")


def _figure_html(quantity: Quantity) -> str:
    unit = unit_text(quantity)
    of = f' <span class="of">{plain_html(unit)}</span>' if unit else ""
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
    return f'<p class="amount">{plain_html(quantity.text)}{of}</p>{check}{worked}'


def _change_html(change: Change | None) -> str:
    if change is None:
        return ""
    against = short(change.since.year or change.since.document, 24)
    if change.why_not:
        reason = change.why_not[0].lower() + change.why_not[1:]
        return f'<p class="remark">{plain_html(f"Change from {against}: {reason}")}</p>'
    text = plain_html(f"{_moved_text(change)} from {against}")
    return f'<p class="moved" title="{plain_html(change.formula)}">{text}</p>'


def _moved_text(change: Change) -> str:
    """Returns a text such as "+2,917 (+22.7%)", in the unit of the figure above, or points."""
    number, _, unit = change.absolute.partition(" ")
    points = " points" if unit == "percentage points" else ""
    return f"{number}{points}{f' ({change.relative})' if change.relative else ''}"


# --- pages
# ------------------------------------------------------------------------------------------------------------


def _shown_citations(entry: Entry) -> list[Citation]:
    """Returns one citation for each page, so that a cell stays small."""
    pages = {
        (citation.version, citation.page): citation
        for citation in reversed(entry.citations)
        if citation.document is not None
    }
    return list(reversed(pages.values()))[:MOST_PAGES]


def _citation_button(citation: Citation, key: str, *, fits: bool) -> None:
    where = page_text(PageRef(citation.document or "", citation.page or 1, citation.page_label))
    label = f"{plain_markdown(where)} **{citation.verdict_in(fits=fits)}**"
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


def _nearest_button(page: Nearest, key: str) -> None:
    where = page_text(PageRef(page.document, page.page, page.page_label))
    if st.button(
        plain_markdown(f"Nearest: {where}"),
        key=key,
        help=plain_markdown(f"Opens the nearest page of {page.document}."),
        wrap=True,
    ):
        overlay.open_page(OpenPage(page.document, page.version, page.page))
        st.rerun()


# --- as text
# ------------------------------------------------------------------------------------------------------------


def plain_rows(
    comparison: Comparison, found: Mapping[EntryPlace, Entry], changed: Mapping[EntryPlace, Change]
) -> list[list[str]]:
    """Returns the rows of the table as text."""
    down, across = _sides(comparison)
    rows = []
    for label in down:
        places = [_place(comparison, label, name) for name in across]
        rows.append([label, *(_plain(found.get(place), changed.get(place)) for place in places)])
    return rows


def _plain(entry: Entry | None, change: Change | None) -> str:
    if entry is None:
        return "not asked"
    if entry.state == "failed":
        return f"failed: {entry.reason}"
    if entry.state == "absent":
        return "not in this document"
    if entry.quantity:
        said = " ".join(filter(None, [entry.quantity.text, unit_text(entry.quantity)]))
    else:
        said = f"“{short(entry.passage, SHORT_PASSAGE)}”"
    pages = ", ".join(
        page_text(PageRef("", one.page or 1, one.page_label)) for one in _shown_citations(entry)
    )
    if change and not change.why_not:
        moved = f"; {_moved_text(change)} from {change.since.year or change.since.document}"
    else:
        moved = ""
    return f"{said} ({pages}){moved}" if pages else f"{said}{moved}"
