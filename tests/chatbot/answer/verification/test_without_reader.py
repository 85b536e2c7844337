"""What the program alone doubts: a figure that a page has otherwise, in words that are the page's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatbot.answer.verification.checked_text import check_statements
from chatbot.records import Hit
from ingestion.document import Circumstances, read_document
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

BORROWING, RISKS = 11, 12


@pytest.fixture(scope="module")
def pages(samples: Path) -> dict[int, Hit]:
    """Pages of a sample document, with their tables, by number."""
    path = samples / "Valmora_Fiscal_Policy_Statement_2025.pdf"
    read = read_document(path, Circumstances(processes=1)).pages
    return {
        page.number: hit_of(page.text, page=page.number, tables=page.tables)
        for page in read
        if page.number in {BORROWING, RISKS}
    }


def doubt_of(pages: dict[int, Hit], said: str, question: str = "What does it say?") -> str:
    prompt = prompt_over(pages[BORROWING], pages[RISKS], question=question)
    (one,) = check_statements(f"{said} [S1-7f3a].", prompt).statements
    assert one.mark in {"", "not_found"}
    return one.difference


DOUBTED = """
of another row | Fifteen-year bonds (April to June): 3,600 million crowns | 1,800
of another row, with a verb | In April to June, fifteen-year bonds came to 3,600 million crowns | 1,800
on another page alone | Ten-year bonds were 2,140 million crowns in July to September | 2,700
of another row, with a part of the label | Green bond, year: 2,700 million crowns | 2,500
a sign beside an empty cell | Foreign-currency bonds and loans were -2,900 million crowns | 2,900
a digit that becomes a zero | Bonds come beside the overall deficit of 11,760 million and redemptions of \
18,900 million | 18,970
"""


@pytest.mark.parametrize(("what", "said", "printed"), case_rows(DOUBTED))
def test_a_figure_that_is_not_in_its_place_is_doubted(
    pages: dict[int, Hit], what: str, said: str, printed: str
) -> None:
    assert printed in doubt_of(pages, said), what


UNDOUBTED = case_lines("""
Ten-year bonds, year: 11,430 million crowns
Ten-year bonds, year: 11.4 billion crowns
Ten-year bonds from July to December: 5,100 million crowns
Ten-year bonds and fifteen-year bonds, year: 11,430 and 6,500 million crowns
Ten-year bonds, July to September: 3,600 million crowns
Fifteen-year bonds are sold at monthly auctions, as a part of 30,730 million crowns
Year: thirty-year bond – 2,200 – 1,400 3,600
Treasury bills, net: 78 per cent of the year
""")


@pytest.mark.parametrize("said", UNDOUBTED)
def test_what_may_be_right_is_not(pages: dict[int, Hit], said: str) -> None:
    """What stands in another column, or is worked out, takes a reader."""
    assert doubt_of(pages, said) == ""


def test_the_question_names_the_row_of_an_answer_that_names_none(pages: dict[int, Hit]) -> None:
    asked = "What were Treasury bills, net, from October to December?"
    assert doubt_of(pages, "It was -600 million crowns", asked) == ""
    assert "(600)" in doubt_of(pages, "It was -600 billion crowns", asked)
