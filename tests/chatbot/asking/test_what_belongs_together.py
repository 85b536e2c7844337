"""What belongs together is answered together: sentences over page breaks, footnotes, amendments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer, Event
from chatbot.serialize import answer_record
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.pdfs import make_pdf
from tests.stores import add_now, hashing

FILLING = "\n".join(
    ["The Board reviews this policy once a year and reports to the Audit Committee on it."] * 3
)
PAGES = {
    "moving.pdf": [
        f"Rules for Moving Funds 2024\n{FILLING}\nA holder may move funds to another centre up to a limit of",
        f"Rules for Moving Funds 2024\n75,000 pounds in a year; more needs a vote of the Cabinet.\n{FILLING}",
    ],
    "travel.pdf": [
        f"""Travel Policy 2025
Hotel costs are reimbursed up to 140 euros a night.*
{FILLING}
First-class rail travel is reimbursed to judges.**
* In capital cities the maximum is 190 euros a night.
** Except for journeys by night."""
    ],
    "reserve_2022.pdf": [
        f"""Reserve Policy of Quill County 2022
The general reserve must be at least 10 per cent of spending.
{FILLING}
The reserve is invested in bonds of the county."""
    ],
    "reserve_change.pdf": [
        f"""Quill County: First Amendment to the Reserve Policy, 2024
The general reserve must be at least 15 per cent of spending from 1 January 2025.
{FILLING}"""
    ],
    "loans_2022.pdf": ["Loan Policy of Quill County 2022\nA loan of the county must be repaid in 9 years."],
}


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    folder = tmp_path_factory.mktemp("together")
    with Chatbot(Settings(home=folder / "home"), embedder=hashing()) as opened:
        add_now(opened.library, [Upload(make_pdf(folder / name, pages)) for name, pages in PAGES.items()])
        yield opened


def ask(chatbot: Chatbot, question: str, *names: str) -> tuple[Answer, list[Event]]:
    *events, answer = chatbot.ask(Ask(question, names))
    assert isinstance(answer, Answer)
    return answer, events


def cited(answer: Answer) -> list[tuple[str | None, int | None]]:
    found = [(citation.document, citation.page) for citation in answer.citations]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("question", ["Up to what limit may a holder move funds?", "What needs a vote?"])
def test_a_sentence_over_a_page_break_is_whole_and_cites_both_pages(chatbot: Chatbot, question: str) -> None:
    answer, _ = ask(chatbot, question, "moving.pdf")
    first, _, second = answer.first.partition(" [S")
    assert first.endswith("may move funds to another centre up to a limit of")
    assert "] 75,000 pounds in a year; more needs a vote of the Cabinet. [S" in second
    assert [page for _, page in cited(answer)[:2]] == [1, 2]
    assert all(citation.verified for citation in answer.citations)
    assert {check.text: check.status for check in answer.numbers}["75,000 pounds"] == "supported"
    record = answer_record(answer)
    assert not any("".join(hit["beside"]) for hit in record["considered"])  # pages are kept by the catalogue


def test_a_quotation_comes_with_the_note_of_its_mark(chatbot: Chatbot) -> None:
    answer, _ = ask(chatbot, "Is first-class rail travel reimbursed?", "travel.pdf")
    assert "reimbursed to judges.** [S1] ** Except for journeys by night. [S1]" in answer.first
    assert "190" not in answer.first
    answer, _ = ask(chatbot, "Up to how much are hotel costs reimbursed?", "travel.pdf")
    assert (
        "140 euros a night.* [S1] * In capital cities the maximum is 190 euros a night. [S1]" in answer.text
    )


def test_a_note_that_says_what_is_asked_comes_first(chatbot: Chatbot) -> None:
    answer, _ = ask(chatbot, "Up to how much are hotel costs reimbursed in capital cities?", "travel.pdf")
    assert answer.text.startswith("* In capital cities the maximum is 190 euros a night. [S1] Hotel costs")
    assert all(citation.verified for citation in answer.citations)


def test_an_amendment_is_quoted_beside_what_it_amends(chatbot: Chatbot) -> None:
    question = "What must the general reserve of Quill County in the Reserve Policy be at least?"
    answer, _ = ask(chatbot, question, "reserve_2022.pdf", "reserve_change.pdf")
    assert "15 per cent of spending from 1 January 2025" in answer.first
    assert {"reserve_2022.pdf", "reserve_change.pdf"} >= {name for name, _ in cited(answer)}
    if "10 per cent" in answer.first:
        assert "A later document, reserve_change.pdf, amends reserve_2022.pdf." in answer.first
    assert not answer.superseded


def test_an_amendment_that_was_not_asked_or_says_nothing_of_it_is_named(chatbot: Chatbot) -> None:
    sentence = "A later document, reserve_change.pdf, amends reserve_2022.pdf."
    answer, _ = ask(chatbot, "What must the general reserve be at least?", "reserve_2022.pdf")
    assert "15 per cent" not in answer.text
    assert answer.superseded == (sentence,)
    both = ("reserve_2022.pdf", "reserve_change.pdf")
    answer, _ = ask(chatbot, "In which bonds is the reserve invested?", *both)
    assert answer.superseded == (sentence,)
    answer, _ = ask(chatbot, "In how many years must a loan of the county be repaid?", "loans_2022.pdf")
    assert answer.superseded == ()
