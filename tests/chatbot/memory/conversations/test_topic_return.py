"""Questions that go back to what was said before, and those that do not."""

from __future__ import annotations

import pytest

from chatbot.memory.conversations.topic_return import TopicReturn, asks_again, goes_back
from tests.case_rows import case_rows


@pytest.mark.parametrize("question", ["Go back to the budget topic", "Let's go back to the budget topic."])
def test_a_topic_is_gone_back_to_where_nothing_more_is_asked(question: str) -> None:
    assert goes_back(question) == TopicReturn("budget", "")


@pytest.mark.parametrize(
    ("question", "topic", "rest"),
    case_rows("""
        Can we return to debt service: what was it in 2030?    | debt service | what was it in 2030?
        OK, back to the fiscal rules. Who monitors them?       | fiscal rules | Who monitors them?
    """),
)
def test_what_is_gone_back_to(question: str, topic: str, rest: str) -> None:
    assert goes_back(question) == TopicReturn(topic, rest)


@pytest.mark.parametrize(
    ("question", "topic"),
    case_rows("""
        What did you say about the contingency reserve?             | What about the contingency reserve?
        Remind me of the debt anchor                                | the debt anchor
        What was the deficit figure you gave me at the beginning?   | What was the deficit figure ?
    """),
)
def test_what_was_said_before_is_gone_back_to_with_the_whole_question(question: str, topic: str) -> None:
    assert goes_back(question) == TopicReturn(topic, question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the deficit ceiling?",
        "When did growth return to its trend?",
        "Did the rate go back to 2 per cent?",
        "What about education?",
        "",
        "?",
        "earlier",
    ],
)
def test_other_questions_go_back_to_nothing(question: str) -> None:
    assert goes_back(question) is None


def test_a_question_is_asked_again_only_where_it_asks_nothing_more() -> None:
    said = (
        "What is the contingency reserve set at for 2025-26?\nIt is set at 250 million crowns (Budget.pdf, "
        "p. 3)."
    )
    topic = TopicReturn("budget", "")
    assert asks_again(topic, said)
    question = "What did you say about the contingency reserve?"
    same = TopicReturn("What about the contingency reserve?", question)
    assert asks_again(same, said)
    rest = "the reserve is 250 million; what is the debt?"
    more = TopicReturn(rest, f"You said {rest}")
    assert not asks_again(more, said)
