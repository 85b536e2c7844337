"""Draws the Compare page: choice of question, documents and years, progress, table, chart and file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from chatbot.comparison import Change, Comparison, Entry, EntryPlace, changes, csv_bytes
from chatbot.errors import QuestionError
from chatbot.records import DocumentRow
from chatbot.search.editions import Listed, series_of
from chatbot.ui import compare_session, overlay, session
from chatbot.ui.app_context import AppContext, opening
from chatbot.ui.compare_chart import draw_chart
from chatbot.ui.compare_key_figures import draw_key_figures
from chatbot.ui.compare_table import draw_plain, draw_table
from chatbot.ui.downloads import Download, draw_download
from chatbot.ui.example_questions import only_samples, wait_for_examples
from chatbot.ui.model_comparison import draw_model_comparison
from chatbot.ui.page_view import show_open_page
from chatbot.ui.running_comparisons import Running
from chatbot.ui.safe_text import counted, notice_html, paragraphs_html, plain_markdown, quiet_html, table_html
from ingestion.language.periods import find_periods
from ingestion.pages.document_facts import period_in
from ingestion.records import DocumentFacts

__all__ = ["example", "suggested_years", "summary_text"]

POLL_SECONDS = 0.5
# What the page compares.
VIEWS = ("Documents and years", "Key figures", "Models")
# The number of years that are suggested, the newest ones.
MOST_SUGGESTED = 12
# The number of years before its own for which a report usually has figures.
YEARS_BEFORE = 2
# The number of documents of an example.
MOST_IN_EXAMPLE = 4
# The example for the sample documents, with figures, their changes and a chart.
SAMPLE = "What is total expenditure?", ("Valmora_Budget_Book_2025-26.pdf",), ("2023-24", "2024-25", "2025-26")
# The words of the question in the name of the table's file.
MOST_NAME_WORDS = 6
WHAT = (
    "Ask one question of several documents, in several years, or both, and see the answers side by side: "
    "each figure with its page, and what changed."
)
NOT_KEPT = (
    "This comparison is not kept here any more: it was asked in another browser, or before the server was "
    "started."
)


def show(context: AppContext) -> None:
    """Draws the page."""
    rows = [row for row in context.chatbot.documents() if row.removed_at is None]
    st.title("Compare", anchor=False)
    show_open_page(context)
    if not rows:
        _teach()
        return
    comparison = compare_session.shown()
    view = st.radio(
        "What to compare", VIEWS, key="compare-view", horizontal=True, label_visibility="collapsed"
    )
    if view == VIEWS[1]:
        draw_key_figures(rows, context)
        return
    if view == VIEWS[2]:
        draw_model_comparison(sorted(row.name for row in rows), context)
        return
    _draw_fields(rows, context)
    problem = compare_session.problem()
    if problem is not None:
        st.html(notice_html(problem.message, problem.hint))
    if comparison is None:
        if problem is None:
            _invite(rows, context)
        return
    running = context.comparisons.find(comparison, session.owner())
    if running is None:
        st.html(notice_html(NOT_KEPT, "Press Compare to ask it again."))
        return
    polled = running.busy
    st.fragment(_draw, run_every=POLL_SECONDS if polled else None)(running, context, polled)


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
            placeholder="Choose or type years, if any",
            accept_new_options=True,
            wrap=True,
            help=(
                "The question is asked of each year. Leave it empty to ask it as it is. Type any other "
                "year, such as 2019 or 2024-25."
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
        if len(found) == 1 and found[0].start_year == found[0].end_year and written.isdecimal():
            years.update(str(found[0].start_year - before) for before in range(1, YEARS_BEFORE + 1))
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
        help=plain_markdown(f"Of the same series as what is chosen: {told}"),
        on_click=compare_session.add_documents,
        args=(others,),
    )


# --- nothing yet
# ------------------------------------------------------------------------------------------------------------


def _teach() -> None:
    st.html('<p class="refusal">There are no documents yet</p>')
    st.html(paragraphs_html(f"{WHAT} Add documents first."))
    st.page_link("documents_page.py", label="Add documents", icon=":material/upload_file:")


def _invite(rows: Sequence[DocumentRow], context: AppContext) -> None:
    st.html(paragraphs_html(WHAT))
    if context.examples.of(rows) is None:
        wait_for_examples(context.examples, rows)
        return
    question, names, years = example(rows, context.examples.shared(rows))
    if len(names) * max(1, len(years)) < 2:
        return
    st.caption("For example:")
    label = f"{question} In {counted(len(names), 'document')}" + (
        f", {counted(len(years), 'year')}" if years else ""
    )
    st.button(
        plain_markdown(label),
        key="compare-example",
        on_click=compare_session.fill,
        args=(question, names, years),
    )


def example(
    rows: Sequence[DocumentRow], shared: tuple[str, tuple[str, ...]] = ("", ())
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Returns a question, documents and years to begin with.

    The documents are several with figures for the question, else the largest series, else the first
    documents.

    shared: a question to several documents, and these documents; ("", ()) for none.
    """
    if any(row.name == SAMPLE[1][0] for row in rows) and only_samples(rows):
        return SAMPLE
    if shared[0]:
        return shared[0], shared[1][:MOST_IN_EXAMPLE], ()
    listed = [Listed(row.name, row.title, DocumentFacts(row.period, row.status)) for row in rows]
    found = max((series_of(row.name, listed) for row in rows), key=len, default=[])
    if len(found) > 1:
        return "What are the main changes?", tuple(found[-MOST_IN_EXAMPLE:]), ()
    return "What are the main objectives?", tuple(sorted(row.name for row in rows)[:MOST_IN_EXAMPLE]), ()


# --- what has come
# ------------------------------------------------------------------------------------------------------------


def _draw(running: Running, context: AppContext, polled: bool) -> None:
    """Draws progress and table as they stand, again twice a second while entries come."""
    comparison = running.comparison
    found = running.found()
    titles = context.chatbot.titles()
    changed = changes(comparison, found)
    _draw_progress(running, found, context)
    for notice in running.told():
        st.html(notice_html(notice.text, notice.hint))
    draw_table(running, found, changed, context, titles)
    entries = [found[place] for place in comparison.places if place in found]
    if not running.busy and entries:
        draw_chart(comparison, entries, titles)
        _draw_formulas(entries, changed, titles)
        draw_plain(comparison, found, changed, titles)
        _draw_file(context, comparison.question, entries, changed)
    if polled != running.busy:
        st.rerun()


def _draw_progress(running: Running, found: dict[EntryPlace, Entry], context: AppContext) -> None:
    total = len(running.comparison.places)
    with st.container(horizontal=True, vertical_alignment="center", key="compare-progress"):
        if running.busy:
            label = (
                f"Asking {_named(running.asking, context.chatbot.titles())}"
                if running.asking
                else "Waiting for its turn"
            )
            st.progress(
                min(1.0, len(found) / total), text=plain_markdown(f"{label}: {len(found)} of {total} done")
            )
            st.button("Stop", key="compare-stop", icon=":material/stop_circle:", on_click=running.stop)
            return
        st.html(f'<p class="quiet" role="status">{summary_text(found, total)}</p>')
        if running.lacking:
            st.button("Go on", key="compare-on", on_click=context.comparisons.go_on, args=(running,))


def summary_text(found: dict[EntryPlace, Entry], total: int) -> str:
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


def _named(place: EntryPlace | None, titles: Mapping[str, str]) -> str:
    if place:
        return ", ".join(filter(None, [titles.get(place.document, place.document), place.year]))
    return ""


def _draw_formulas(
    entries: Sequence[Entry], changed: dict[EntryPlace, Change], titles: Mapping[str, str]
) -> None:
    """Shows how every change, and every figure that no page states, was worked out."""
    rows = []
    for entry in entries:
        change = changed.get(entry.place)
        if entry.quantity is not None and entry.quantity.formula:
            rows.append((_named(entry.place, titles), "the figure", entry.quantity.formula))
        if change is not None:
            rows.append(
                (
                    _named(entry.place, titles),
                    f"against {change.since.year or titles.get(change.since.document, '')}",
                    change.formula or change.why_not,
                )
            )
    if rows:
        with st.expander("How it was worked out", key="compare-formulas"):
            st.html(
                table_html("Changes, and figures that no page states as such", ("Where", "What", "How"), rows)
            )


def _draw_file(
    context: AppContext, question: str, entries: Sequence[Entry], changed: dict[EntryPlace, Change]
) -> None:
    words = re.findall(r"[a-z0-9]+", question.casefold())[:MOST_NAME_WORDS]
    download = Download(
        partial(csv_bytes, entries, changed, question), f"{'-'.join(['comparison', *words])}.csv", "text/csv"
    )
    said = (
        "A line for each answer, with document, page, quotation and whether it is verified. Opens in any "
        "spreadsheet."
    )
    draw_download(
        "Download as CSV", context.downloads, "compare-csv", download, icon=":material/download:", said=said
    )
    st.html(quiet_html("The address of this page leads back to this comparison."))


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
