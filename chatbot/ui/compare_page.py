"""Draws the Compare page: choice of question, documents and years, progress, table, chart and file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import Running
from chatbot.comparison import Comparison, Entry, EntryPlace, csv_bytes
from chatbot.errors import QuestionError
from chatbot.records import DocumentRow
from chatbot.search.editions import Listed, series_of
from chatbot.ui import compare_session, overlay, session
from chatbot.ui.app_opening import opening
from chatbot.ui.compare_chart import draw_chart
from chatbot.ui.compare_entries import ComparisonView, begin_view, filled, table_of
from chatbot.ui.compare_start import WHAT, invite, teach
from chatbot.ui.figure_table import Drawing, draw_figures, draw_file, draw_pane, draw_table
from chatbot.ui.model_comparison import draw_model_comparison
from chatbot.ui.safe_text import counted, notice_html, plain_markdown, quiet_html, table_html
from ingestion.language.periods import find_periods
from ingestion.pages.document_facts import period_in
from ingestion.records import DocumentFacts

__all__ = ["suggested_years", "summary_text"]

# The number of years that are suggested, the newest ones.
MOST_SUGGESTED = 12
# The number of years before its own for which a report usually has figures.
YEARS_BEFORE = 2
# The words of the question in the name of the table's file.
MOST_NAME_WORDS = 6
ACROSS_YEARS = "These figures are of different fiscal years. Keep that in mind when you read their ranks."
NOT_KEPT = (
    "This comparison is no longer here. It was made in another browser, or before the server last started."
)


def show(context: AppContext) -> None:
    """Draws the page."""
    rows = [row for row in context.chatbot.documents() if row.removed_at is None]
    st.title("Compare", anchor=False)
    if not rows:
        teach(WHAT)
        return
    comparison = compare_session.shown()
    if comparison is None:
        compare_session.take_from_chat(context)
    views = compare_session.VIEWS
    view = st.radio(
        "What to compare", views, key=compare_session.VIEW, horizontal=True, label_visibility="collapsed"
    )
    if view == views[1]:
        draw_model_comparison(sorted(row.name for row in rows), context)
        return
    _draw_fields(rows, context)
    problem = compare_session.problem()
    if problem is not None:
        st.html(notice_html(problem.message, problem.hint))
    if comparison is None:
        if problem is None:
            invite(rows, context)
        return
    running = context.comparisons.find(comparison, session.owner())
    if running is None:
        st.html(notice_html(NOT_KEPT, "Press Compare to run it again."))
        return
    draw_pane(context)
    begun = begin_view(comparison, context)

    def named(place: EntryPlace) -> str:
        return f"Asking {_named(place, begun)}"

    draw_table(running, Drawing(named, summary_text, partial(_draw_found, begun, context)), context)


# --- what is chosen
# ------------------------------------------------------------------------------------------------------------


def _draw_fields(rows: Sequence[DocumentRow], context: AppContext) -> None:
    names = sorted(row.name for row in rows)
    titles = context.chatbot.titles()
    before = st.session_state.get(compare_session.DOCUMENTS, [])
    chosen = [name for name in before if name in names]
    if (
        chosen != before
    ):  # removed meanwhile; to write it each time would undo what is chosen while the page is drawn
        st.session_state[compare_session.DOCUMENTS] = chosen
    with st.container(key="compare-fields"):
        st.text_input(
            "Question",
            key=compare_session.QUESTION,
            placeholder="What was total revenue?",
            persist_state="session",
        )
        left, right = st.columns([3, 2])
        left.multiselect(
            "Documents",
            names,
            key=compare_session.DOCUMENTS,
            format_func=lambda name: titles.get(name, name),
            placeholder="Choose documents",
            wrap=True,
            persist_state="session",
        )
        years = [*suggested_years(rows, chosen)]
        years += [year for year in st.session_state.get(compare_session.YEARS, []) if year not in years]
        right.multiselect(
            "Years",
            years,
            key=compare_session.YEARS,
            placeholder="Choose or type years (optional)",
            accept_new_options=True,
            wrap=True,
            help=(
                "The question is asked for each year. Leave this empty to ask it as it is. You can type "
                "other years, such as 2019 or 2024-25."
            ),
            persist_state="session",
        )
        _offer_series(rows, chosen, titles)
        st.button("Compare", type="primary", key="compare", on_click=_compare, args=(context,))


def _compare(context: AppContext) -> None:
    state = st.session_state
    try:
        asked = Comparison.of(
            state.get(compare_session.QUESTION) or "",
            state.get(compare_session.DOCUMENTS, []),
            state.get(compare_session.YEARS, []),
        )
    except QuestionError as error:
        compare_session.put_problem(error)
        return
    compare_session.put_problem(None)
    overlay.close_page()
    compare_session.open_comparison(asked)
    context.comparisons.begin(asked, session.owner(), anew=True)


def suggested_years(rows: Sequence[DocumentRow], chosen: Sequence[str]) -> list[str]:
    """Returns the years of the chosen documents (all if none is chosen), the newest first.

    For reports of one year the years before are added, which the reports compare themselves with.
    """
    said = [row.period or period_in(row.name) for row in rows if not chosen or row.name in chosen]
    periods = [period for period in said if period]
    years = set(periods)
    for written in periods if chosen else ():
        found = find_periods(written)
        if len(found) != 1:
            continue
        first, last = found[0].start_year, found[0].end_year
        for before in range(1, YEARS_BEFORE + 1):
            if first == last and written.isdecimal():
                years.add(str(first - before))
            elif written == f"{first}-{last % 100:02}" and last == first + 1:
                years.add(f"{first - before}-{(last - before) % 100:02}")
    spans = {year: found[0] for year in years if len(found := find_periods(year)) == 1}
    return sorted(spans, key=lambda year: (-spans[year].end_year, -spans[year].start_year, year))[
        :MOST_SUGGESTED
    ]


def _offer_series(rows: Sequence[DocumentRow], chosen: Sequence[str], titles: Mapping[str, str]) -> None:
    """Offers other editions of what is chosen, to be added with one click."""
    listed = [Listed(row.name, row.title, DocumentFacts(row.period, row.status)) for row in rows]
    others = list(
        dict.fromkeys(name for one in chosen for name in series_of(one, listed) if name not in chosen)
    )
    if not others:
        return
    if len(others) == 1:
        label = f"Add {titles.get(others[0], others[0])}"
    else:
        label = f"Add {len(others)} other editions"
    told = ", ".join(f"{titles.get(name, name)} ({name})" for name in others)
    st.button(
        plain_markdown(label),
        key="compare-series",
        type="tertiary",
        icon=":material/library_add:",
        help=plain_markdown(f"Other years or versions of the same document: {told}"),
        on_click=compare_session.add_documents,
        args=(others,),
    )


# --- what has come
# ------------------------------------------------------------------------------------------------------------


def _draw_found(begun: ComparisonView, context: AppContext, running: Running) -> None:
    """Draws what has come so far, and once all has, the chart and the file. begun: the view of nothing."""
    view = filled(begun, running.found())
    draw_figures(table_of(view, running))
    if view.is_ranked_across_years:
        st.html(quiet_html(ACROSS_YEARS))
    entries = [view.found[place] for place in view.comparison.places if place in view.found]
    if running.busy or not entries:
        return
    failed = tuple(entry.place for entry in entries if entry.state == "failed")
    if failed:
        again = partial(context.comparisons.go_on, running, failed)
        st.button("Ask the failed ones again", key="compare-again", icon=":material/refresh:", on_click=again)
    draw_chart(view.comparison, entries, view.titles)
    _draw_formulas(entries, view)
    _draw_file(context, entries, view)


def summary_text(found: Mapping[EntryPlace, Entry], total: int) -> str:
    """Returns a text such as "8 answers: 6 figures, 1 passage, 1 not in its document." """
    counts = Counter(entry.state for entry in found.values())
    parts = [counted(counts[state], state) for state in ("figure", "passage") if counts[state]]
    absent = counts["absent"]
    if absent:
        parts.append(f"{absent} not in {'its document' if absent == 1 else 'their documents'}")
    if counts["failed"]:
        parts.append(f"{counts['failed']} failed")
    if len(found) < total:
        parts.append(f"{total - len(found)} not asked")
    return f"{counted(total, 'answer')}: {', '.join(parts)}."


def _named(place: EntryPlace, view: ComparisonView) -> str:
    return ", ".join(filter(None, [view.title(place.document), place.year]))


def _draw_formulas(entries: Sequence[Entry], view: ComparisonView) -> None:
    """Shows how every change, and every figure that no page states, was worked out."""
    rows = []
    for entry in entries:
        change = view.changed.get(entry.place)
        where = _named(entry.place, view)
        if entry.quantity is not None and entry.quantity.formula:
            rows.append((where, "Figure", entry.quantity.formula))
        if change is not None:
            since = change.since.year or view.title(change.since.document)
            rows.append((where, f"Change from {since}", change.formula or change.why_not))
    if rows:
        with st.expander("How it was worked out", key="compare-formulas"):
            st.html(table_html("Changes, and figures that no page states", ("Where", "What", "How"), rows))


def _draw_file(context: AppContext, entries: Sequence[Entry], view: ComparisonView) -> None:
    question = view.comparison.question
    words = re.findall(r"[a-z0-9]+", question.casefold())[:MOST_NAME_WORDS]
    made = partial(csv_bytes, entries, view.changed, question, view.ranked)
    said = "One line per answer, with document, page, quotation and figure as printed."
    draw_file("csv", "-".join(["comparison", *words]), made, said, context)
    st.html(quiet_html("To come back to this comparison, bookmark this page."))


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
