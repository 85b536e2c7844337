"""The conversations that the product is described with, over a made paper: other words for a thing, a
comparison of what was said, and the return to a topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer, Exchange
from chatbot.service import Chatbot
from chatbot.settings import load_settings
from chatbot.store.library import Upload
from tests.pdfs import make_pdf

DEBT = """Fiscal report of Norland 2023.

The outstanding obligations of the central government were
34.2 billion crowns at the end of 2023, against 31.5 billion crowns
a year earlier.

Revenue reached 12.4 billion crowns in 2023."""
BUDGET = """The budget for 2024 sets expenditure at 15.8 billion crowns.
Revenue is expected at 13.1 billion crowns in 2024.

Inflation was 4.1 per cent in 2023 and 6.3 per cent in 2022."""


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    folder = tmp_path_factory.mktemp("examples")
    with Chatbot(replace(load_settings(), home=folder / "home")) as opened:
        list(opened.add([Upload(make_pdf(folder / "Paper.pdf", [DEBT, BUDGET]))]))
        yield opened


def said(chatbot: Chatbot, *questions: str) -> Answer:
    """The answer to the last of these questions, each asked after those before it."""
    history: tuple[Exchange, ...] = ()
    answer = None
    for question in questions:
        events = chatbot.ask(Ask(question, (), None, history))
        (answer,) = [event for event in events if isinstance(event, Answer)]
        history = (*history, Exchange(question, answer.text))
    assert answer is not None
    return answer


def test_another_word_for_what_is_asked_is_found_and_quoted(chatbot: Chatbot) -> None:
    for question in ("How much debt?", "How much is the debt?"):
        answer = said(chatbot, question)
        assert answer.answered
        assert answer.text.startswith(
            "The outstanding obligations of the central government were 34.2 billion"
        )
    assert not said(chatbot, "How much tourism?").answered


def test_what_was_said_is_compared_with_its_difference(chatbot: Chatbot) -> None:
    answer = said(chatbot, "What is revenue in 2023?", "and in 2024?", "How do they compare?")
    assert answer.answered
    assert "13.1 billion crowns (in 2024) - 12.4 billion crowns (in 2023) = 0.7 billion crowns" in answer.text


def test_a_topic_is_returned_to(chatbot: Chatbot) -> None:
    first = "What is the budget for 2024?"
    answer = said(chatbot, first, "How large was inflation in 2023?", "Go back to the budget topic")
    assert answer.answered
    assert answer.search_query == first
    assert answer.text.startswith("The budget for 2024 sets expenditure at 15.8 billion crowns.")
    assert said(chatbot, first, "Go back to the forestry topic").search_query != first
