"""Keeps which comparison this session shows, in session and address, and fills its fields from Chat."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.comparison import Comparison, question_without_years
from chatbot.errors import QuestionError
from chatbot.records import Answer
from chatbot.ui import session

__all__ = [
    "DOCUMENTS",
    "QUESTION",
    "VIEW",
    "VIEWS",
    "YEARS",
    "add_documents",
    "draw_compare_action",
    "fill",
    "is_from_chat",
    "open_comparison",
    "shown",
    "take_from_chat",
]

# Keys of the fields.
QUESTION = "compare-question"
DOCUMENTS = "compare-documents"
YEARS = "compare-years"
VIEW = "compare-view"
# What the page compares.
VIEWS = ("Documents and years", "Models")
# What Chat brought into the fields, and from which exchange.
BROUGHT, EXCHANGE = "compare-brought", "compare-exchange"
SHOWN = "comparison"
# Keys of the address: the question, and each document and year.
ASKED = "q"
NAMED = "d"
IN_YEAR = "y"


def shown() -> Comparison | None:
    """Returns the comparison of the address, or the one shown before; None for none.

    The fields are filled with a comparison that comes by its address.
    """
    question = st.query_params.get(ASKED, "")
    kept: Comparison | None = st.session_state.get(SHOWN)
    if not question:
        if kept is not None:  # back from another page, whose address has none
            _write(kept)
        return kept
    try:
        named = Comparison.of(question, st.query_params.get_all(NAMED), st.query_params.get_all(IN_YEAR))
    except QuestionError as error:
        session.notify(error)
        st.query_params.clear()
        return kept
    if named != kept:
        st.session_state[SHOWN] = named
        fill(named.question, named.names, named.years)
    return named


def fill(question: str, names: Sequence[str], years: Sequence[str] = ()) -> None:
    """Puts this into the fields."""
    st.session_state[QUESTION], st.session_state[DOCUMENTS], st.session_state[YEARS] = (
        question,
        list(names),
        list(years),
    )


def take_from_chat(context: AppContext) -> None:
    """Puts the last question of the open conversation into the fields, unless the user has filled them."""
    fields = _fields()
    if any(fields) and fields != st.session_state.get(BROUGHT):
        return
    # The address of this page names no conversation, so it is that of the session.
    answer = session.last_answer(st.session_state.get("conversation"), context)
    if answer is None or st.session_state.get(EXCHANGE) == (answer.conversation, answer.exchange):
        return
    st.session_state[EXCHANGE] = (answer.conversation, answer.exchange)
    if answer.from_documents:
        _bring(answer, context)


def is_from_chat() -> bool:
    """Tells whether the fields have what Chat brought."""
    fields = _fields()
    return any(fields) and fields == st.session_state.get(BROUGHT)


def draw_compare_action(answer: Answer, number: int, context: AppContext) -> None:
    """Offers to ask the same of other documents and years, below an answer that gives a figure.

    number: of its exchange.
    """
    understanding = answer.understanding
    if not answer.answered or not answer.numbers or understanding is None or understanding.form != "figure":
        return
    told = "Ask this of several documents or years, side by side."
    if st.button(
        "Compare",
        key=f"compare-this-{number}",
        type="tertiary",
        icon=":material/table_chart:",
        help=told,
    ):
        st.session_state.pop(SHOWN, None)
        st.session_state.pop(VIEW, None)
        _bring(answer, context)
        st.session_state[EXCHANGE] = (answer.conversation, number)
        st.switch_page("compare_page.py")


def _bring(answer: Answer, context: AppContext) -> None:
    """Puts an answer's question, documents and years into the fields.

    The documents are those that were asked; if all were, those that the answer cites.
    """
    question, years = question_without_years(answer.search_query or answer.question)
    there = {row.name for row in session.documents(context)}
    cited = (citation.document for citation in answer.citations if citation.document)
    names = [name for name in dict.fromkeys(answer.names or cited) if name in there]
    fill(question, names, years)
    st.session_state[BROUGHT] = _fields()


def _fields() -> tuple[str, list[str], list[str]]:
    state = st.session_state
    return state.get(QUESTION) or "", list(state.get(DOCUMENTS) or []), list(state.get(YEARS) or [])


def add_documents(names: Sequence[str]) -> None:
    """Chooses these documents too."""
    st.session_state[DOCUMENTS] = list(dict.fromkeys([*st.session_state.get(DOCUMENTS, []), *names]))


def open_comparison(comparison: Comparison) -> None:
    """Shows a comparison, and names it in the address."""
    st.session_state[SHOWN] = comparison
    _write(comparison)


def _write(comparison: Comparison) -> None:
    st.query_params.from_dict(
        {ASKED: comparison.question, NAMED: list(comparison.names), IN_YEAR: list(comparison.years)}
    )
