"""Pages, tables, paragraphs and sentences that are asked for by their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from chatbot.asking.page_answers import NOTHING_CITED
from chatbot.asking.question import Ask
from chatbot.records import GUIDE, Answer, Exchange
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.case_rows import case_rows
from tests.pdfs import draw, grid, make_pdf
from tests.stores import add_now, hashing

RULES = [
    "Rules of Karsk 2025\n1 Reserve\n2 Loans",
    """1 Reserve
The reserve is 12 million crowns in all. It is kept in cash and in bonds of the state.
It is counted each spring by the auditor.
The auditor is paid by the council of the town,
which meets in May, and the limit of a payment is""",
    """60 crowns. A payment above it needs a vote.
Votes are public and their minutes are kept for nine years by the clerk of the town.

2 Loans
No loan is given to a member of the council.""",
]


@pytest.fixture(scope="module")
def chatbot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    folder = tmp_path_factory.mktemp("places")
    rows = [("", "2023", "2024"), ("Health", "120", "130"), ("Schools", "210", "240"), ("Roads", "40", "45")]
    others = [("", "2023", "2024"), ("Fees", "12", "13"), ("Fines", "21", "24"), ("Rents", "4", "5")]
    tables = [
        (60, 60, "Table 1: Spending of the town"),
        *grid(90, rows),
        (60, 300, "Table 2: Income of the town"),
        *grid(330, others),
    ]
    draw(folder / "figures.pdf", tables)
    paths = [make_pdf(folder / "rules.pdf", RULES), folder / "figures.pdf"]
    with Chatbot(Settings(home=folder / "home"), embedder=hashing()) as opened:
        add_now(opened.library, [Upload(path) for path in paths])
        yield opened


def ask(chatbot: Chatbot, question: str, *names: str, **given: object) -> Answer:
    *_, answer = chatbot.ask(Ask(question, names or ("rules.pdf",), **given))  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


SAID = case_rows("""
What does page 3 say? | Page 3 of Rules of Karsk 2025: | 3 | 60 crowns. A payment above it needs a vote.
the last page | Page 3 of Rules of Karsk 2025: | 3 | No loan is given to a member of the council. [S1]
the first sentence on page 2 | Sentence 1 of 4 on page 2 of | 2 | The reserve is 12 million crowns in all.
the last paragraph of page 3 | Paragraph 2 of 2 on page 3 of | 3 | No loan is given to a member
Quote sentence 3 on page 2 | Sentence 3 of 4 on page 2 of | 2 | It is counted each spring by the auditor. [S1]
""")


@pytest.mark.parametrize(("question", "lead", "page", "text"), SAID)
def test_what_stands_there_is_quoted_with_its_page(
    chatbot: Chatbot, question: str, lead: str, page: str, text: str
) -> None:
    answer = ask(chatbot, question)
    assert answer.answered
    assert answer.text.startswith(lead)
    assert text in answer.text
    assert answer.citations
    assert {citation.page for citation in answer.citations} == {int(page)}
    assert all(citation.verified for citation in answer.citations)
    assert not any(check.status == "unsupported" for check in answer.numbers)


def test_a_sentence_over_the_page_break_is_given_whole(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "the last sentence on page 2")
    assert "the limit of a payment is [S1] 60 crowns. [S2]" in answer.text
    assert [citation.page for citation in answer.citations] == [2, 3]


def test_a_table_is_found_by_its_number_on_the_page(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "the second table on page 1", "figures.pdf")
    assert answer.text.startswith("Table 2 of 2 on page 1 of")
    assert "Fines 21 24" in answer.text
    assert "Schools" not in answer.text
    assert all(citation.verified for citation in answer.citations)
    missing = ask(chatbot, "the third table on page 1", "figures.pdf")
    assert (missing.answered, missing.reason) == (False, "no_page")
    assert missing.text.startswith("There is no such table on page 1 of ")
    assert missing.text.endswith("; it has 2.")


def test_sentences_before_and_after_a_table_are_beside_all_its_rows(chatbot: Chatbot, tmp_path: Path) -> None:
    rows = [("", "2023", "2024"), ("Health", "120", "130"), ("Schools", "210", "240"), ("Roads", "40", "45")]
    above, below = "Spending rose in all three parts of the town.", "The roads were mended in the spring."
    draw(tmp_path / "spending.pdf", [(60, 60, above), *grid(100, rows), (60, 260, below)])
    add_now(chatbot.library, [Upload(tmp_path / "spending.pdf")])
    for side, sentence in (("after", below), ("before", above)):
        ask(chatbot, "the first table on page 1", "spending.pdf", conversation=side)
        said = ask(chatbot, f"Quote the sentence {side} it", "spending.pdf", conversation=side)
        assert f"{sentence} [S1]" in said.text


def test_what_a_page_or_table_says_about_a_subject_is_quoted_alone(chatbot: Chatbot, tmp_path: Path) -> None:
    rows = [("", "2023", "2024"), ("Health", "120", "130"), ("Schools", "210", "240"), ("Roads", "40", "45")]
    draw(tmp_path / "spending.pdf", [(60, 60, "The town has one table."), *grid(100, rows)])
    add_now(chatbot.library, [Upload(tmp_path / "spending.pdf")])
    row = ask(chatbot, "In the first table on page 1, what went to schools?", "spending.pdf").text
    assert "Schools 210 240 [S1]" in row
    assert "Roads" not in row
    # Of a place that says nothing about it, or of no document by name, the documents are searched.
    elsewhere = ask(chatbot, "What does page 1 say about the auditor?").text
    assert not elsewhere.startswith("Page 1")
    *_, several = chatbot.ask(Ask("What is the town's table on page 1?"))
    assert isinstance(several, Answer)
    assert "Which document?" not in several.text


def test_a_page_that_does_not_exist_or_is_blank_is_said(chatbot: Chatbot, tmp_path: Path) -> None:
    answer = ask(chatbot, "What does page 9 say?")
    assert (answer.answered, answer.reason) == (False, "no_page")
    assert answer.text == "Rules of Karsk 2025 has 3 pages, and no page 9."
    with Chatbot(Settings(home=tmp_path / "home"), embedder=hashing()) as other:
        add_now(other.library, [Upload(make_pdf(tmp_path / "blank.pdf", ["Text of the first page.", ""]))])
        blank = ask(other, "What does page 2 say?", "blank.pdf")
        assert blank.text == "No text could be read on page 2 of Blank."
        assert not blank.answered


def test_of_several_documents_it_asks_which_unless_one_is_named_or_was_cited(chatbot: Chatbot) -> None:
    *_, answer = chatbot.ask(Ask("What does page 2 say?"))
    assert isinstance(answer, Answer)
    assert answer.text.startswith("Which document? Name one, such as “What does page 1 of ")
    assert answer.model == GUIDE
    *_, titled = chatbot.ask(Ask("What does page 2 of the rules of Karsk say?"))
    assert isinstance(titled, Answer)
    assert titled.text.startswith("Page 2 of Rules of Karsk 2025:")
    *_, named = chatbot.ask(Ask("What does page 2 of rules.pdf say?"))
    assert isinstance(named, Answer)
    assert named.text.startswith("Page 2 of Rules of Karsk 2025:")
    *_, _ = chatbot.ask(Ask("Who pays the auditor?", ("rules.pdf",), "talk"))
    *_, after = chatbot.ask(Ask("What does page 3 say?", (), "talk"))
    assert isinstance(after, Answer)
    assert after.text.startswith("Page 3 of Rules of Karsk 2025:")


def test_what_stands_beside_the_last_quotation(chatbot: Chatbot) -> None:
    said = "The auditor is paid by the council of the town,"
    for talk, history in (
        ("beside", None),
        (None, (Exchange("?", "It is counted each spring by the auditor. (rules.pdf, p. 2)"),)),
    ):
        if talk:
            assert (
                "counted each spring" in ask(chatbot, "the third sentence on page 2", conversation=talk).text
            )
        before = ask(chatbot, "Quote the sentence before it", conversation=talk, history=history)
        assert before.text.startswith("Previous sentence, on page 2 of Rules of Karsk 2025:")
        assert "It is kept in cash and in bonds of the state. [S1]" in before.text
    ask(chatbot, "the third sentence on page 2", conversation="other")
    after = ask(chatbot, "And the sentence after it?", conversation="other")
    assert f"{said} which meets in May" in after.text
    over = ask(chatbot, "What does the next page say?", conversation="other")
    assert over.text.startswith("Page 3 of ")


def test_without_a_quotation_there_is_nothing_beside_it(chatbot: Chatbot) -> None:
    assert ask(chatbot, "Quote the sentence before it", conversation="new").text == NOTHING_CITED


def test_a_page_is_summed_up_in_its_own_sentences(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "Summarise page 2")
    assert "• The reserve is 12 million crowns in all. [S1]" in answer.text
    assert {citation.page for citation in answer.citations} == {2}


def test_pages_are_counted_and_other_printed_numbers_are_named(tmp_path: Path) -> None:
    path = tmp_path / "numbered.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    for number, text in enumerate(["Cover of the plan", "The plan is one.", "It has parts.", "It ends."]):
        canvas.drawString(60, 700, text)
        if number:
            canvas.drawString(290, 40, str(number))
        canvas.showPage()
    canvas.save()
    with Chatbot(Settings(home=tmp_path / "home"), embedder=hashing()) as other:
        add_now(other.library, [Upload(path)])
        counted = ask(other, "What does page 2 say?", "numbered.pdf")
        assert counted.text.startswith("Page 2 of Cover of the plan (printed 1; the printed 2 is page 3):")
        assert "The plan is one." in counted.text
        printed = ask(other, "What does printed page 2 say?", "numbered.pdf")
        assert printed.text.startswith("Page 3 of Cover of the plan (printed 2):")
        assert "It has parts." in printed.text


def test_figures_of_headings_on_the_page_are_not_doubted(chatbot: Chatbot) -> None:
    answer = ask(chatbot, "What does page 3 say?")
    assert "2 Loans" in answer.text
    assert {(number.text, number.citation) for number in answer.numbers} >= {("60 crowns", "S1")}
    assert all(number.citation == "S1" for number in answer.numbers)
