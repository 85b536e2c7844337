"""Questions that go back to what was said before, and those that do not."""

from __future__ import annotations

import time

import pytest

from chatbot.memory.conversations.topic_return import TopicReturn, asks_again, goes_back


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Go back to the budget topic", TopicReturn("budget", "")),
        ("Let's go back to the budget topic.", TopicReturn("budget", "")),
        (
            "Can we return to debt service: what was it in 2030?",
            TopicReturn("debt service", "what was it in 2030?"),
        ),
        (
            "OK, back to the fiscal rules. Who monitors them?",
            TopicReturn("fiscal rules", "Who monitors them?"),
        ),
        (
            "What did you say about the contingency reserve?",
            TopicReturn(
                "What about the contingency reserve?", "What did you say about the contingency reserve?"
            ),
        ),
        ("Remind me of the debt anchor", TopicReturn("the debt anchor", "Remind me of the debt anchor")),
        (
            "What was the deficit figure you gave me at the beginning?",
            TopicReturn(
                "What was the deficit figure ?", "What was the deficit figure you gave me at the beginning?"
            ),
        ),
    ],
)
def test_what_is_gone_back_to(question: str, expected: TopicReturn) -> None:
    assert goes_back(question) == expected


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
    assert asks_again(TopicReturn("budget", ""), said)
    assert asks_again(
        TopicReturn("What about the contingency reserve?", "What did you say about the contingency reserve?"),
        said,
    )
    assert not asks_again(
        TopicReturn(
            "the reserve is 250 million; what is the debt?",
            "You said the reserve is 250 million; what is the debt?",
        ),
        said,
    )


@pytest.mark.timed
def test_hostile_questions_take_no_time() -> None:
    began = time.process_time()
    for text in (
        "please " * 20_000,
        "back to " * 20_000,
        "you said " * 20_000,
        " " * 60_000,
        "let's " * 9_000 + "go back to",
    ):
        goes_back(text)
    assert time.process_time() - began < 2
