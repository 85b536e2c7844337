"""Follow-ups become standalone queries; questions that stand alone stay as they are."""

import pytest

from chatbot.records import Exchange
from chatbot.search.rewrite import standalone_query

SAID = [Exchange("What is the infrastructure budget for 2025?", "50 million."), Exchange("And education?", "30 million.")]


@pytest.mark.parametrize("question", ["What about health?", "How do they compare?", "Why?", "and in 2026"])
def test_follow_ups_carry_the_last_standalone_question(question: str) -> None:
    query = standalone_query(question, SAID)
    assert "infrastructure budget for 2025" in query
    assert query.endswith(question)


def test_a_question_of_its_own_is_not_touched() -> None:
    question = "What share of general revenue came from excise duties in 2023?"
    assert standalone_query(question, SAID) == question
    assert standalone_query("Why?", []) == "Why?"
