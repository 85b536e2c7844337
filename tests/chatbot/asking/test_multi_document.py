"""A question that names several documents is answered from each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.multi_document import with_titled_parts
from chatbot.asking.question import Ask
from chatbot.records import Answer, Hit
from chatbot.service import Chatbot
from tests.case_rows import case_rows
from tests.stores import of_pages

PAGES = {
    "Norland_budget_2025.pdf": (
        "Budget of Norland\nThe budget deficit was 3.4 per cent of output in 2025.\nThe house voted on it "
        "in spring."
    ),
    "Ostrava_budget_2025.pdf": (
        "Budget of Ostrava\nThe budget deficit was 12.1 per cent of output in 2025.\nThe house voted on it "
        "in autumn."
    ),
    "Acme_annual_report_2024.pdf": (
        "Annual report of Acme\nRevenue was 40 million crowns in 2024.\nThe company sold machines."
    ),
    "Acme_annual_report_2025.pdf": (
        "Annual report of Acme\nRevenue was 52 million crowns in 2025.\nThe company sold machines."
    ),
}


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    with of_pages(tmp_path_factory.mktemp("several"), PAGES) as opened:
        yield opened


def ask(chatbot: Chatbot, question: str) -> Answer:
    *_, answer = chatbot.ask(Ask(question))
    assert isinstance(answer, Answer)
    return answer


def are_in_order(text: str, *parts: str) -> bool:
    """Whether a text has these parts one behind the other."""
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def cited_documents(answer: Answer) -> set[str | None]:
    return {citation.document for citation in answer.citations}


def test_each_named_document_says_what_it_says_in_the_order_of_the_question(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "What was the budget deficit of Ostrava and of Norland in 2025?")
    assert are_in_order(answer.text, "Ostrava budget 2025:", "12.1 per cent", "Norland budget 2025:")
    assert "3.4 per cent" in answer.text
    assert answer.further == ""
    assert cited_documents(answer) == {"Norland_budget_2025.pdf", "Ostrava_budget_2025.pdf"}
    assert all(citation.verified for citation in answer.citations)


IN_ORDER = """
Which had the higher budget deficit in 2025, Norland or Ostrava? | Highest first: Ostrava budget 2025, 12.1 \
per cent; Norland budget 2025, 3.4 per cent.
Which had the lower budget deficit in 2025, Norland or Ostrava? | Lowest first: Norland budget 2025, 3.4 per \
cent; Ostrava budget 2025, 12.1 per cent.
"""


@pytest.mark.parametrize(("question", "first"), case_rows(IN_ORDER))
def test_what_is_asked_for_the_most_or_the_least_is_put_in_order(
    chatbot: Chatbot, question: str, first: str
) -> None:
    assert ask(chatbot, question).text.startswith(first)


def test_two_years_of_one_name_are_two_documents(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "How did the revenue of Acme change from 2024 to 2025?")
    assert "Acme annual report 2024:" in answer.text
    assert cited_documents(answer) == {"Acme_annual_report_2024.pdf", "Acme_annual_report_2025.pdf"}


def test_one_document_is_asked_alone(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "What was the budget deficit of Norland in 2025?")
    assert cited_documents(answer) == {"Norland_budget_2025.pdf"}
    assert "Norland budget 2025:" not in answer.text


def test_where_only_one_of_them_answers_it_is_said_of_the_other(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "What was the revenue of Acme and of Norland?")
    assert "40 million" in answer.text or "52 million" in answer.text


BOREL = "Annual report of Borel\nRevenue was 61 million crowns in 2025.\nThe company sold glass."
TERN = "Annual report of Tern\nRevenue was 70 million dollars in 2025.\nThe company sold rope."
HIGHEST_FIRST = "Highest first, among comparable figures, each for its own year"


def test_which_of_all_asks_each_and_puts_those_in_order_whose_figures_go_together(tmp_path: Path) -> None:
    pages = {name: page for name, page in PAGES.items() if name.startswith("Acme")}
    pages["Borel_annual_report_2025.pdf"] = BOREL
    pages["Tern_annual_report_2025.pdf"] = TERN
    pages["Minutes.pdf"] = "Minutes\nThe board met in spring."
    with of_pages(tmp_path, pages) as opened:
        answer = ask(opened, "Which company has the highest revenue?")
    ranked, others, *blocks = answer.text.split("\n\n")
    assert ranked.startswith(f"{HIGHEST_FIRST}: Borel annual report 2025")
    assert are_in_order(ranked, "Borel", "Acme annual report 2025", "Acme annual report 2024")
    assert others == "Not compared, as they give no yearly figure in that unit: Tern annual report 2025."
    assert blocks[-1] == "No answer was found in Minutes."
    assert all(citation.verified for citation in answer.citations)


def test_parts_are_headed_by_titles_where_they_are_shown() -> None:
    name, title = "Norland_budget_2025.pdf", "Norland, budget 2025"
    hit = Hit(name, 1, 1, None, None, "text", None, "1:1", "words")
    text = "Norland budget 2025:\nNorland budget 2025 says so.\n\nHighest first: Norland budget 2025, 3.4 %."
    answer = Answer("?", "?", text, True, considered=(hit,))
    assert with_titled_parts(answer, {name: title}) == (
        f"{title}:\nNorland budget 2025 says so.\n\nHighest first: {title}, 3.4 %."
    )
    assert with_titled_parts(answer, {}) == text
