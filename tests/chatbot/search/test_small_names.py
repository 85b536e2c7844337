"""Names that are typed without a capital are names all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from tests.stores import of_pages

PAGES = {
    "Ostrava_report_2024.pdf": (
        "Annual report of Ostrava\nNet income was 40 million crowns in 2024.\nThe company sold machines."
    ),
    "Norland_report_2024.pdf": (
        "Annual report of Norland\nNet income was 52 million crowns in 2024.\nThe company sold ships."
    ),
}


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    with of_pages(tmp_path_factory.mktemp("names"), PAGES) as opened:
        yield opened


def ask(chatbot: Chatbot, question: str) -> Answer:
    *_, answer = chatbot.ask(Ask(question))
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize(
    ("question", "figure"),
    [("what was norland's net income in 2024?", "52 million"), ("ostrava net income 2024", "40 million")],
)
def test_a_document_is_named_in_small_letters(chatbot: Chatbot, question: str, figure: str) -> None:
    answer = ask(chatbot, question)
    assert figure in answer.text
    assert len({citation.document for citation in answer.citations}) == 1


def test_who_is_in_no_document_is_not_taken_for_another(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "what was tesla's net income in 2024?")
    assert not answer.answered
    assert answer.reason == "no_entity"


def test_an_owner_that_is_a_common_noun_is_no_name(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "What was the company's net income in 2024?")
    assert answer.understanding is not None
    assert answer.understanding.names == ()
