"""Keeps which comparison this session shows, in the session and in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from chatbot.comparison import Comparison
from chatbot.errors import QuestionError

__all__ = [
    "DOCUMENTS",
    "QUESTION",
    "YEARS",
    "add_documents",
    "fill",
    "open_comparison",
    "problem",
    "put_problem",
    "shown",
]

# Keys of the fields.
QUESTION = "compare-question"
DOCUMENTS = "compare-documents"
YEARS = "compare-years"
SHOWN, PROBLEM = "comparison", "compare-problem"
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
        put_problem(error)
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


def add_documents(names: Sequence[str]) -> None:
    """Chooses these documents too."""
    st.session_state[DOCUMENTS] = list(dict.fromkeys([*st.session_state.get(DOCUMENTS, []), *names]))


def open_comparison(comparison: Comparison) -> None:
    """Shows a comparison, and names it in the address."""
    st.session_state[SHOWN] = comparison
    _write(comparison)


def put_problem(error: QuestionError | None) -> None:
    """Stores why what was chosen cannot be compared, None once it can."""
    st.session_state[PROBLEM] = error


def problem() -> QuestionError | None:
    """Returns the stored reason."""
    found: QuestionError | None = st.session_state.get(PROBLEM)
    return found


def _write(comparison: Comparison) -> None:
    st.query_params.from_dict(
        {ASKED: comparison.question, NAMED: list(comparison.names), IN_YEAR: list(comparison.years)}
    )
