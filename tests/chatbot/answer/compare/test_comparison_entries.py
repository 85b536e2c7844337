"""What of an answer becomes the figure of an entry, what its passage, and what is left out rather than be
wrong.
"""

from __future__ import annotations

import pytest

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.answer.prompt import Request, build_prompt
from chatbot.comparison import Entry, EntryPlace, question_in
from chatbot.records import Answer, Hit, PageRef
from chatbot.search.question_terms import understand
from ingestion.records import Cell, DocumentFacts, Rect, Row, Table

PAGE = """Consolidated statements of income
(In millions, except per share data)
2022 2021
Subscription revenue $ 16,388 $ 14,573
Total revenue 17,606 15,785
Diluted $ 11.27 $ 9.02
Number of stores 815 790
The fiscal deficit narrowed from 5 per cent of GDP in 2023 to 4.1 per cent in 2024.
The fiscal deficit is estimated to be 4.4 per cent of GDP.
The unemployment rate was below 4 percent.
Inflation slowed, though core inflation stood at 4.4 per cent in 2024.
Real growth for 2025-26 is put at 7.3 per cent."""


def entry(
    question: str,
    text: str,
    year: str = "",
    *,
    period: str | None = None,
    model: str = "extractive",
    page: str = PAGE,
    tables: tuple[Table, ...] = (),
) -> Entry:
    """The entry that an answer of this text gives, its keys written as [S1]."""
    asked = question_in(question, year)
    hit = Hit(
        "A.pdf",
        7,
        3,
        "1",
        "printed",
        "text",
        None,
        "7-3-0",
        page,
        page,
        page,
        facts=DocumentFacts(period, None),
        tables=tables,
    )
    prompt = build_prompt(Request(asked, asked, [hit], (), (), "7f3a", 12_000))
    key = next(iter(prompt.sources))
    shown, citations, numbers = check_answer(text.replace("[S1]", f"[{key}]"), prompt)
    answer = Answer(
        asked,
        asked,
        shown,
        True,
        citations=citations,
        numbers=numbers,
        considered=(hit,),
        prompt=prompt,
        model=model,
        understanding=understand(asked, asked),
    )
    return read_entry(answer, EntryPlace("A.pdf", year))


REVENUE = "Total revenue 17,606 15,785 (2022: 17,606; 2021: 15,785, In millions) [S1]"


@pytest.mark.parametrize(("year", "value"), [("2022", 17_606), ("2021", 15_785), ("FY2021", 15_785)])
def test_a_rows_figure_is_that_of_the_year_with_scale_and_the_pages_currency(year: str, value: float) -> None:
    quantity = entry("What was total revenue?", REVENUE, year).quantity
    assert quantity is not None
    assert (quantity.value, quantity.unit, quantity.scale, quantity.status) == (
        value,
        "USD",
        1e6,
        "supported",
    )


@pytest.mark.parametrize("year", ["2020", "2021-22", ""])
def test_a_row_without_that_very_year_or_with_several_gives_no_figure(year: str) -> None:
    assert entry("What was total revenue?", REVENUE, year).quantity is None


def test_a_column_that_may_only_be_meant_is_not_taken() -> None:
    assert (
        entry(
            "What was total revenue?",
            "Total revenue 17,606 15,785 (2022: 17,606, In millions) [S1]",
            "2021-22",
        ).quantity
        is None
    )


def test_the_row_of_a_part_is_not_the_measure() -> None:
    text = "Other subscription and licence services revenue 16,388 14,573 (2022: 16,388) [S1]"
    assert entry("What was total revenue?", text, "2022").quantity is None


def test_a_page_scales_a_row_that_states_no_unit_itself() -> None:
    quantity = entry(
        "What was total revenue?", "Total revenue 17,606 15,785 (2022: 17,606) [S1]", "2022"
    ).quantity
    assert quantity is not None and quantity.scale == 1e6


TARGETS = "Total revenue 31.0 30.9\nIn crowns million\nTotal revenue 127,850 139,750\n"


@pytest.mark.parametrize(
    ("section", "unit", "caption", "expected"),
    [
        ("", "", "Table 3: Fiscal targets, 2024 to 2026 Per cent of GDP, unless stated otherwise", "%"),
        ("", "Per cent of GDP", "Table 3: Fiscal targets", "%"),
        ("Per cent of GDP", "In crowns million", "Table 3: Fiscal targets", "%"),
        ("", "Crowns million and per cent of GDP", "Table 3: Fiscal targets", "crowns"),
        ("", "", "Table 3: Fiscal targets", "crowns"),
    ],
)
def test_a_row_has_the_unit_of_its_part_of_the_table(
    section: str, unit: str, caption: str, expected: str
) -> None:
    row = Row("Total revenue", (Cell("31.0", 14, 18), Cell("30.9", 19, 23)), section, 0, 23)
    table = Table(caption, unit, ("2024", "2026"), (row,), Rect(0.0, 0.0, 1.0, 1.0))
    found = entry(
        "What was total revenue?",
        "Total revenue 31.0 30.9 (2024: 31.0) [S1]",
        "2024",
        page=TARGETS,
        tables=(table,),
    ).quantity
    assert found is not None and (found.value, found.unit) == (31.0, expected)


def test_an_amount_for_each_share_is_not_scaled() -> None:
    found = entry(
        "What was diluted earnings per share?",
        "Diluted earnings per share $ 11.27 $ 9.02 (2022: $ 11.27) [S1]",
        "2022",
    ).quantity
    assert found is not None and (found.value, found.scale) == (11.27, 1.0)
    assert (
        entry(
            "What was diluted earnings per share?",
            "Basic earnings per share $ 11.27 (2022: $ 11.27) [S1]",
            "2022",
        ).quantity
        is None
    )
    assert (
        entry(
            "What was diluted earnings per share?",
            "Diluted earnings per share 815 790 (2022: 815) [S1]",
            "2022",
        ).quantity
        is None
    )


def test_what_is_counted_has_no_currency() -> None:
    found = entry(
        "What is the number of stores?", "Number of stores 815 790 (2022: 815) [S1]", "2022"
    ).quantity
    assert found is not None and (found.unit, found.scale) == (None, 1.0)


def test_a_worked_out_ratio_is_its_result_with_its_formula() -> None:
    text = (
        "Operating margin (2022) = 100 × 6,098 / 17,606 = 34.6%.\n\nOperating income 6,098 (2022: "
        "6,098, In millions) [S1]\n\n"
    ) + REVENUE
    page = PAGE + "\nOperating income 6,098 5,802"
    quantity = entry("What was the operating margin?", text, "2022", page=page).quantity
    assert quantity is not None and (quantity.text, quantity.unit, quantity.status) == (
        "34.6%",
        "%",
        "derived",
    )
    assert quantity.formula == "100 × 6,098 / 17,606 = 34.6%"


DEFICIT = "What is the fiscal deficit as a share of GDP?"
NARROWED = "The fiscal deficit narrowed from 5 per cent of GDP in 2023 to 4.1 per cent in 2024. [S1]"
ESTIMATED = "The fiscal deficit is estimated to be 4.4 per cent of GDP. [S1]"


def test_a_sentence_gives_the_figure_of_its_year() -> None:
    assert [
        getattr(entry(DEFICIT, NARROWED, year).quantity, "value", None) for year in ("2023", "2024", "2025")
    ] == [5, 4.1, None]


def test_a_sentence_without_a_year_counts_for_the_documents_own_and_says_so() -> None:
    own = entry(DEFICIT, ESTIMATED, "2025-26", period="2025-26")
    assert (
        own.quantity is not None
        and not own.quantity.dated
        and own.reason == "The sentence names no year; the document is of 2025-26."
    )
    assert entry(DEFICIT, ESTIMATED, "2024-25", period="2025-26").state == "absent"
    assert entry(DEFICIT, ESTIMATED).quantity is not None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was the unemployment rate?", "The unemployment rate was below 4 percent. [S1]"),
        (
            "What was inflation?",
            "Inflation slowed, though core inflation stood at 4.4 per cent in 2024. [S1]",
        ),
        ("What is said on the fiscal deficit?", ESTIMATED),
        (DEFICIT, NARROWED + " " + ESTIMATED.replace("estimated", "put")),
    ],
)
def test_a_bound_another_measure_and_a_question_for_words_give_no_figure(question: str, text: str) -> None:
    found = entry(question, text) if question != DEFICIT else entry(question, text, "2022", period="2022-25")
    assert found.quantity is None


def test_what_names_neither_measure_nor_year_is_not_in_the_document() -> None:
    found = entry(
        "What was inflation?",
        "Real growth for 2025-26 is put at 7.3 per cent. [S1]",
        "2024",
        period="2025-26",
    )
    assert (found.state, found.passage) == ("absent", "") and [page.page for page in found.nearest] == [3]


def test_a_models_sentence_that_names_no_known_measure_is_a_passage() -> None:
    found = entry("What was inflation?", "Growth is put at 7.3 per cent. [S1]", model="some-model")
    assert found.state == "passage" and found.passage == "Growth is put at 7.3 per cent."


def test_a_refusal_gives_the_nearest_pages() -> None:
    hit = Hit("A.pdf", 7, 3, "1", "printed", "text", None, "7-3-0", PAGE, PAGE, PAGE)
    answer = Answer(
        "Q?",
        "Q?",
        "Not in these documents. Nothing is said.",
        False,
        "no_page",
        (PageRef("A.pdf", 3, "1"),),
        considered=(hit,),
    )
    found = read_entry(answer, EntryPlace("A.pdf", "2021"))
    assert (found.state, found.reason, found.nearest[0].version) == ("absent", "Nothing is said.", 7)


def test_a_figure_that_the_page_does_not_have_is_shown_as_that() -> None:
    found = entry(
        "What was total revenue?",
        "Total revenue in 2022 was $19,999 million. [S1]",
        "2022",
        model="some-model",
    ).quantity
    assert found is not None and found.value == 19_999 and found.status not in {"supported", "derived"}


def test_a_year_that_two_fiscal_years_share_is_told_of_both() -> None:
    page = "Total revenue 450 480 510"
    text = "Total revenue 450 480 510 (2023-24: 450; 2024-25: 480) [S1]"
    found = entry("What was total revenue?", text, "2024", page=page)
    assert found.state == "passage"
    assert found.reason == "It has figures of 2023-24 and 2024-25, not of 2024 as such: ask for one of these."
    assert entry("What was total revenue?", text, "2024-25", page=page).reason == ""
