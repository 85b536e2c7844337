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


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        (["What was Acme's gross profit in fiscal 2022?", "And in 2023?"], "What was Acme's gross profit in 2023?"),
        (["What was Acme's gross profit in 2022?", "And Costalan?"], "What was Costalan's gross profit in 2022?"),
        (["What was Acme's gross profit in 2022?", "And in 2023?", "What about net income?"], "What was Acme's net income in 2023?"),
        (["What was the net income of Acme in 2023?", "And the year before?"], "What was the net income of Acme in 2022?"),
        (["How much is spent on health in 2025-26?", "What about education?"], "How much is spent on education in 2025-26?"),
        (["What did it forecast at its April meeting?", "And in June?"], "What did it forecast at its June meeting?"),
        (
            ["How did the committee vote?", "What did the odd one out want instead?"],
            "How did the committee vote? What did the odd one out want instead?",
        ),
        (["What is the debt anchor?", "Why?"], "What is the debt anchor? Why?"),
    ],
)
def test_what_a_follow_up_names_takes_the_place_of_its_like(talk: list[str], expected: str) -> None:
    *before, last = talk
    assert standalone_query(last, [Exchange(question, "") for question in before]) == expected
