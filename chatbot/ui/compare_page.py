"""Draws the Compare page: choice of question, documents and years, progress, table, chart and file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import Running
from chatbot.comparison import Comparison, Entry, EntryPlace, csv_bytes
from chatbot.errors import QuestionError
from chatbot.records import DocumentRow
from chatbot.search.editions import Listed, series_of
from chatbot.ui import compare_session, overlay, session
from chatbot.ui.compare_chart import draw_chart
from chatbot.ui.compare_entries import ComparisonView, begin_view, filled, table_of
from chatbot.ui.example_questions import is_sample
from chatbot.ui.figure_table import Drawing, draw_figures, draw_file, draw_table
from chatbot.ui.model_comparison import draw_model_comparison
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import (
    choose_documents,
    draw_button,
    draw_notice,
    draw_problem,
    draw_quiet,
    draw_quiet_button,
    teach,
)
from chatbot.ui.safe_text import counted, plain_markdown, table_html
from ingestion.language.periods import find_periods
from ingestion.pages.document_facts import period_in
from ingestion.records import DocumentFacts

__all__ = ["examples", "suggested_years", "summary_text"]

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
# The number of documents of an example, and of examples.
MOST_IN_EXAMPLE, MOST_EXAMPLES = 4, 3
# Documents that are looked at for statements of income, and the kind of such pages.
MOST_LOOKED_AT, INCOME = 8, "income_statement"
# Examples for the sample documents: figures of several years with their changes and a chart, and two editions
# of a policy.
SAMPLES = (
    ("What is total expenditure?", ("Valmora_Budget_Book_2025-26.pdf",), ("2023-24", "2024-25", "2025-26")),
    (
        "What is the maximum tender security?",
        ("Valmora_Procurement_Policy_2019.pdf", "Valmora_Procurement_Policy_2024.pdf"),
        (),
    ),
)
WHAT = "Ask one question of several documents or years. See the answers side by side."
FROM_CHAT = "This question comes from Chat. Add documents or years, then press Compare."


def show(context: AppContext) -> None:
    """Draws the page."""
    rows = session.documents(context)
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
    draw_quiet(WHAT)
    _draw_fields(rows, context)
    problem = session.notified()
    if problem is not None:
        draw_problem(problem)
    if comparison is None:
        if problem is None:
            invite(rows, context)
        return
    running = context.comparisons.find(comparison, session.owner())
    if running is None:
        draw_notice(NOT_KEPT, "Press Compare to run it again.")
        return
    begun = begin_view(comparison, context)
    found = partial(_draw_found, begun, context)
    drawing = Drawing(lambda place: f"Asking {_named(place, begun)}", summary_text, found)
    draw_table(running, drawing, context)


# --- what is chosen
# ------------------------------------------------------------------------------------------------------------


def _draw_fields(rows: Sequence[DocumentRow], context: AppContext) -> None:
    names = sorted(row.name for row in rows)
    before = st.session_state.get(compare_session.DOCUMENTS, [])
    chosen = [name for name in before if name in names]
    # Removed meanwhile; to write it each time would undo what is chosen while the page is drawn.
    if chosen != before:
        st.session_state[compare_session.DOCUMENTS] = chosen
    with st.container(key="compare-fields"):
        st.text_input(
            "Question",
            key=compare_session.QUESTION,
            placeholder="What was total revenue?",
            persist_state="session",
        )
        left, right = st.columns([3, 2])
        choose_documents(left, names, compare_session.DOCUMENTS, "Choose documents", context)
        years = suggested_years(rows, chosen)
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
        _offer_series(rows, chosen, context.chatbot.titles())
        draw_button("Compare", "compare", _compare, context, type="primary")


def _compare(context: AppContext) -> None:
    state = st.session_state
    try:
        asked = Comparison.of(
            state.get(compare_session.QUESTION) or "",
            state.get(compare_session.DOCUMENTS, []),
            state.get(compare_session.YEARS, []),
        )
    except QuestionError as error:
        session.notify(error)
        return
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
    draw_quiet_button(
        plain_markdown(label),
        "compare-series",
        compare_session.add_documents,
        others,
        icon=":material/library_add:",
        help=plain_markdown(f"Other years or versions of the same document: {told}"),
    )


# --- what has come
# ------------------------------------------------------------------------------------------------------------


def _draw_found(begun: ComparisonView, context: AppContext, running: Running) -> None:
    """Draws what has come so far, and once all has, the chart and the file. begun: the view of nothing."""
    view = filled(begun, running.found())
    draw_figures(table_of(view, running))
    if view.is_ranked_across_years:
        draw_quiet(ACROSS_YEARS)
    entries = [view.found[place] for place in view.comparison.places if place in view.found]
    if running.busy or not entries:
        return
    failed = tuple(entry.place for entry in entries if entry.state == "failed")
    if failed:
        again = partial(context.comparisons.go_on, running, failed)
        draw_button("Retry the failed ones", "compare-again", again, icon=":material/refresh:")
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
    draw_quiet("To come back to this comparison, bookmark this page.")


# --- examples to begin with
# ------------------------------------------------------------------------------------------------------------


def invite(rows: Sequence[DocumentRow], context: AppContext) -> None:
    """Says what the fields are for, with examples from these documents."""
    if compare_session.is_from_chat():
        draw_quiet(FROM_CHAT)
        return
    titles = context.chatbot.titles()
    found = examples(rows, _with_accounts(rows, context))
    if found:
        draw_quiet("Try comparing")
    for number, (question, names, years) in enumerate(found):
        of = titles.get(names[0], names[0]) if len(names) == 1 else counted(len(names), "document")
        about = ", ".join([of, *([counted(len(years), "year")] if years else [])])
        draw_button(
            plain_markdown(f"{question} ({about})"),
            f"compare-example-{number}",
            compare_session.fill,
            question,
            names,
            years,
        )


def _with_accounts(rows: Sequence[DocumentRow], context: AppContext) -> list[str]:
    """Returns the documents with a statement of income, of the newest few."""
    library = context.chatbot.library
    newest = sorted(rows, key=lambda row: -row.added_at)[:MOST_LOOKED_AT]
    scope = library.scope([row.name for row in newest])
    kinds = {name: library.page_kinds(version) for version, name in scope.items()}
    return [name for name, of in kinds.items() if INCOME in chain.from_iterable(of.values())]


def examples(
    rows: Sequence[DocumentRow], accounts: Sequence[str] = ()
) -> Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Returns questions, each with documents and years, to begin with.

    The documents are those with a statement of income, the largest series, and the first documents.

    accounts: documents with a statement of income.
    """
    there = {row.name for row in rows}
    if all(map(is_sample, there)):
        return [sample for sample in SAMPLES if there.issuperset(sample[1])]
    listed = [Listed(row.name, row.title, DocumentFacts(row.period, row.status)) for row in rows]
    series = max((series_of(row.name, listed) for row in rows), key=len, default=[])
    found = [
        ("What was net income?", sorted(accounts)),
        ("What are the main changes?", series[-MOST_IN_EXAMPLE:]),
        ("What are the main objectives?", sorted(there)[:MOST_IN_EXAMPLE]),
    ]
    kept = [(question, tuple(names[:MOST_IN_EXAMPLE]), ()) for question, names in found if len(names) > 1]
    return kept[:MOST_EXAMPLES]


if __name__ == "__main__" and (context := opening().context) is not None:
    show(context)
