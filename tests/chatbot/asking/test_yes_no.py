"""A question that yes or no would answer begins with one of them where a figure decides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from tests.case_rows import case_rows
from tests.stores import of_pages

PAGES = {
    "Norland_budget_2025.pdf": (
        "Budget of Norland\n"
        "The budget deficit was 3.4 per cent of output in 2025.\n"
        "The government will establish a stabilisation fund in 2026.\n"
        "The ministry has not raised the fuel duty.\n"
        "Pensions are indexed to wages every spring."
    ),
}


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    with of_pages(tmp_path_factory.mktemp("yes_no"), PAGES) as opened:
        yield opened


YES_OR_NO = """
Was the budget deficit of Norland above 3 per cent in 2025? | Yes. The budget deficit was 3.4 per cent of \
output in 2025.
Was the budget deficit of Norland below 3 per cent in 2025? | No. The budget deficit was 3.4 per cent of \
output in 2025.
Will the government establish a stabilisation fund in 2026? | The government will establish a \
stabilisation fund in 2026.
Has the ministry raised the fuel duty? | The ministry has not raised the fuel duty.
What is indexed to wages? | Pensions are indexed to wages every spring.
"""
OPEN = (
    "Are pensions indexed to wages by a law?",
    "Pensions are indexed to wages every spring.",
)


@pytest.mark.parametrize(("question", "begins"), [*case_rows(YES_OR_NO), OPEN])
def test_the_answer_begins_with_it_and_its_citations_hold(
    chatbot: Chatbot, question: str, begins: str
) -> None:
    *_, answer = chatbot.ask(Ask(question))
    assert isinstance(answer, Answer)
    assert answer.text.startswith(begins)
    assert answer.citations
    assert all(citation.verified for citation in answer.citations)
