"""Questions that go back to what was said before, and those that do not."""

from __future__ import annotations

import pytest

from chatbot.memory.conversations.topic_return import TopicReturn, asks_again, goes_back


@pytest.mark.parametrize(
    ("question", "topic", "rest"),
    [
        ("Go back to the budget topic", "budget", ""),
        ("Let's go back to the budget topic.", "budget", ""),
        ("Can we return to debt service: what was it in 2030?", "debt service", "what was it in 2030?"),
        ("OK, back to the fiscal rules. Who monitors them?", "fiscal rules", "Who monitors them?"),
        ("What did you say about the contingency reserve?", "What about the contingency reserve?", None),
        ("Remind me of the debt anchor", "the debt anchor", None),
        (
            "What was the deficit figure you gave me at the beginning?",
            "What was the deficit figure ?",
            None,
        ),
    ],
)
def test_what_is_gone_back_to_and_what_is_asked_beside_it(
    question: str, topic: str, rest: str | None
) -> None:
    assert goes_back(question) == TopicReturn(topic, question if rest is None else rest)


OTHERS = """\
What is the deficit ceiling?
When did growth return to its trend?
Did the rate go back to 2 per cent?
What about education?

?
earlier"""


@pytest.mark.parametrize("question", OTHERS.splitlines())
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
