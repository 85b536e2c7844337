"""Draws what the Compare page shows before anything is compared: what it is for, and examples to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.records import DocumentRow
from chatbot.search.editions import Listed, series_of
from chatbot.ui import compare_session
from chatbot.ui.example_questions import is_sample
from chatbot.ui.safe_text import counted, paragraphs_html, plain_markdown, quiet_html
from ingestion.records import DocumentFacts

__all__ = ["WHAT", "examples", "invite", "teach"]

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


def teach(what: str) -> None:
    """Says what a page is for, where there are no documents."""
    st.html(paragraphs_html(what))
    st.html('<p class="refusal">There are no documents yet</p>')
    st.page_link("documents_page.py", label="Add documents", icon=":material/upload_file:")


def invite(rows: Sequence[DocumentRow], context: AppContext) -> None:
    """Says what the fields are for, with examples from these documents."""
    if compare_session.is_from_chat():
        st.html(quiet_html(FROM_CHAT))
        return
    st.html(paragraphs_html(WHAT))
    titles = context.chatbot.titles()
    found = examples(rows, _with_accounts(rows, context))
    if found:
        st.html(quiet_html("Try comparing"))
    for number, (question, names, years) in enumerate(found):
        of = titles.get(names[0], names[0]) if len(names) == 1 else counted(len(names), "document")
        about = ", ".join([of, *([counted(len(years), "year")] if years else [])])
        st.button(
            plain_markdown(f"{question} ({about})"),
            key=f"compare-example-{number}",
            on_click=compare_session.fill,
            args=(question, names, years),
        )


def _with_accounts(rows: Sequence[DocumentRow], context: AppContext) -> list[str]:
    """Returns the documents with a statement of income, of the newest few."""
    library = context.chatbot.library
    newest = sorted(rows, key=lambda row: -row.added_at)[:MOST_LOOKED_AT]
    scope = library.scope([row.name for row in newest])
    return [name for version, name in scope.items() if _states_income(library.page_kinds(version))]


def _states_income(kinds: Mapping[int, Sequence[str]]) -> bool:
    return any(INCOME in of_page for of_page in kinds.values())


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
