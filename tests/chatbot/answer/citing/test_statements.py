"""Which sentences of a model's answer rest on a page: those written to pass for it do not."""

from __future__ import annotations

import pytest

from chatbot.answer.citing.statements import check_statements
from tests.chatbot.answer.citing.test_citations import hit, prompt

RESERVES = "Reserves cover nine months of imports. The reserve fund is invested abroad.\nThe ceiling is 3.0 per cent of output.\n"
DUTIES = "The Bank has these duties: it sets the rates for 2024; it keeps the reserves for 2025.\n"


def judged(answer: str, *pages: str, question: str = "What was it?") -> list[tuple[str, str]]:
    asked = prompt(*(hit(number, text) for number, text in enumerate(pages or (RESERVES,), 1)), question=question)
    return [(one.text, one.status) for one in check_statements(answer, asked).statements]


def statuses(answer: str, *pages: str, question: str = "What was it?") -> list[str]:
    return [status for _, status in judged(answer, *pages, question=question)]


# ---------------------------------------------------------------- lists and keys


@pytest.mark.parametrize("marks", [("1.", "2."), ("(a)", "(b)"), ("a)", "b)"), ("i.", "ii."), ("(iii)", "(iv)"), ("(A)", "(B)"), ("•", "•")])
def test_an_item_rests_on_the_key_of_the_line_that_leads_its_list_in(marks: tuple[str, str]) -> None:
    said = "The Bank has these duties [S1-7f3a]:\n{} it sets the rates for 2024;\n{} it keeps the reserves for 2025.".format(*marks)
    assert statuses(said, DUTIES) == ["cited", "cited", "cited"]
