"""Follow-ups become standalone queries; questions that stand alone stay as they are."""

import time

import pytest

from chatbot.records import Exchange
from chatbot.search.rewrite import LONGEST_CARRIED, standalone_query
from chatbot.service import LONGEST_QUESTION

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
        (["What is the deficit target for 2025-26?", "and for the year before?"], "What is the deficit target for 2024-25?"),
        (["What is the deficit target for 1999/2000?", "and the year after?"], "What is the deficit target for 2000/2001?"),
        # The last question is leant on whether it was answered or refused.
        (
            ["What was Acme's revenue in 2022?", "What about Costalan?", "By how much did it grow?"],
            "What was Costalan's revenue in 2022? By how much did it grow?",
        ),
        (["What is the debt anchor?", "Why?"], "What is the debt anchor? Why?"),
    ],
)
def test_what_a_follow_up_names_takes_the_place_of_its_like(talk: list[str], expected: str) -> None:
    *before, last = talk
    assert standalone_query(last, [Exchange(question, "") for question in before]) == expected


@pytest.mark.parametrize(
    "said",
    ["What is spent of" + " " * (LONGEST_CARRIED - 20) + "(", "What is spent of" + " \t" * (LONGEST_CARRIED // 2 - 10) + "(", "for a of " * 100],
    ids=["blanks", "blanks and tabs", "words"],
)
def test_an_earlier_question_of_blanks_costs_no_more_than_another(said: str) -> None:
    """A thousand blanks that can be divided in every way take half a second."""
    started = time.process_time()
    for _ in range(5):
        standalone_query("What about education?", [Exchange(said, "")])
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("unit", ["and ", "(and ", "What about ", "in ", "it is that, ", "1,234.5 million 2.3% ", "2019-20 ", "a-", "("])
def test_a_follow_up_of_any_length_is_read_in_time(unit: str) -> None:
    started = time.process_time()
    standalone_query(unit * (LONGEST_QUESTION // len(unit)), SAID)
    assert time.process_time() - started < 1
