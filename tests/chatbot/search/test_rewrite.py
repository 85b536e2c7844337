"""Follow-ups become standalone queries; questions that stand alone stay as they are."""

import pytest

from chatbot.records import Exchange
from chatbot.search.rewrite import standalone_query

SAID = [Exchange("What is the infrastructure budget for 2025?", "50 million."), Exchange("And education?", "30 million.")]


@pytest.mark.parametrize(
    "question",
    ["What about health?", "How do they compare?", "Why?", "and in 2026", "How does that compare with the year before?", "Has that been decided?"],
)
def test_follow_ups_carry_the_last_standalone_question(question: str) -> None:
    query = standalone_query(question, SAID)
    assert "infrastructure budget for 2025" in query
    assert query.endswith(question)


@pytest.mark.parametrize(
    "question",
    [
        "What share of general revenue came from excise duties in 2023?",
        "What is the deficit ceiling?",
        "What is the VAT rate?",
        "Who audits the accounts?",
        "How many posts does Justice have?",
        "Is there a rule that limits debt?",
    ],
)
def test_a_question_of_its_own_is_not_touched(question: str) -> None:
    assert standalone_query(question, SAID) == question
    assert standalone_query("Why?", []) == "Why?"
