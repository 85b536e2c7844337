"""Requests for what stands in a place, and questions that only speak of pages."""

from __future__ import annotations

import pytest

from chatbot.search.places import PagePlace, place_of
from tests.case_rows import case_lines, case_rows

DOCUMENTS = ("karsk_budget_2025.pdf", "norland_report.pdf")
PLACES = case_rows("""
What does page 4 say? | page 0 4
What's on p. 12? | page 0 12
Show me page four please | page 0 4
What does page iv say? | page 0 iv
What is written on page number 7? | page 0 7
the second table on page 7 | table 2 7
the last paragraph of page 2 | paragraph -1 2
Can you quote the first sentence on page 5, word for word? | sentence 1 5
Quote the penultimate sentence of page 3 | sentence -2 3
What is the last table on the last page? | table -1 -1
What does the table on page 7 show? | table 1 7
the second-to-last page | page 0 -2
""")


@pytest.mark.parametrize(("message", "expected"), PLACES)
def test_a_place_on_a_page(message: str, expected: str) -> None:
    unit, number, page = expected.split()
    assert place_of(message, DOCUMENTS) == PagePlace(unit, int(number), page)


BESIDE = case_rows("""
Quote the sentence before it | sentence -1
Quote the sentence after that. | sentence 1
What is the paragraph above this one? | paragraph -1
Show me the table below it | table 1
What does the page after it say? | page 1
What comes before that? | sentence -1
the sentence that follows it | sentence 1
What comes next? | sentence 1
Which sentence comes right after the quotation? | sentence 1
""")


@pytest.mark.parametrize(("message", "expected"), BESIDE)
def test_a_place_beside_what_was_quoted(message: str, expected: str) -> None:
    unit, step = expected.split()
    assert place_of(message, DOCUMENTS) == PagePlace(unit, step=int(step))


def test_a_place_may_name_its_document_its_printed_number_and_a_summary() -> None:
    assert place_of("What does page 4 of the Karsk budget say?", DOCUMENTS) == PagePlace(
        "page", page="4", document="karsk_budget_2025.pdf"
    )
    assert place_of("What does printed page 4 say?", ()) == PagePlace("page", page="4", printed=True)
    assert place_of("the page numbered 12", ()) == PagePlace("page", page="12", printed=True)
    assert place_of("Summarise page 3", ()) == PagePlace("page", page="3", sums_up=True)
    assert place_of("What are the main points of page 3?", ()) == PagePlace("page", page="3", sums_up=True)


QUESTIONS = case_lines("""
On which page is the deficit?
How many pages are there?
What do pages 4 to 6 say about debt?
What was revenue the year before that?
What about after it?
Compare the first table with the second table.
What is the share of first-class travel?
What does table 4 show about debt?
What is the next step of the reform?
What was paid after the first sentence of the court?
Summarise the report
""")


@pytest.mark.parametrize("message", QUESTIONS)
def test_other_questions_ask_for_no_place(message: str) -> None:
    assert place_of(message, DOCUMENTS) is None


@pytest.mark.parametrize(
    ("message", "unit", "topic"),
    [
        ("According to page 4, what is the deficit?", "page", ("deficit",)),
        ("What is the deficit on page 4?", "page", ("deficit",)),
        ("In the second table on page 4, what was spent on meters?", "table", ("spent", "meter")),
        ("Compare page 3 with page 4", "", ()),
        ("What was the deficit before that?", "", ()),
    ],
)
def test_what_is_asked_about_a_place_is_its_topic(message: str, unit: str, topic: tuple[str, ...]) -> None:
    place = place_of(message, DOCUMENTS)
    assert (place.unit if place else "") == unit
    assert set(topic) <= set(place.topic if place else ())
