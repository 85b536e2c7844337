"""What of an answer becomes the figure of an entry, what its passage, and what is left out rather than be
wrong.
"""

from __future__ import annotations

import pytest

from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.answer.prompt import Request, build_prompt
from chatbot.answer.verification.own_text import check_quoted
from chatbot.comparison import Entry, EntryPlace, Quantity, question_in
from chatbot.records import Answer, Hit, PageRef
from chatbot.search.question_terms import understand
from ingestion.records import Cell, DocumentFacts, Rect, Row, Table
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of

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
BOX = Rect(0.0, 0.0, 1.0, 1.0)


def hit(text: str = PAGE, *, period: str | None = None, tables: tuple[Table, ...] = ()) -> Hit:
    return hit_of(
        text,
        document="A.pdf",
        version=7,
        page=3,
        page_label="1",
        label_source="printed",
        body=text,
        facts=DocumentFacts(period, None),
        tables=tables,
    )


def entry(
    question: str,
    text: str,
    year: str = "",
    *,
    model: str = "extractive",
    page: Hit | None = None,
) -> Entry:
    """The entry that an answer of this text gives, its keys written as [S1]."""
    asked = question_in(question, year)
    given = page or hit()
    prompt = build_prompt(Request(asked, asked, [given], (), (), "7f3a", 12_000))
    checked = check_quoted(text.replace("[S1]", "[S1-7f3a]"), prompt)
    answer = Answer(
        asked,
        asked,
        checked.text,
        True,
        citations=checked.citations,
        numbers=checked.numbers,
        considered=(given,),
        prompt=prompt,
        model=model,
        understanding=understand(asked, asked),
    )
    return read_entry(answer, EntryPlace("A.pdf", year))


def quantity_of(question: str, text: str, year: str, page: Hit | None = None) -> Quantity:
    """The figure of an entry that has one."""
    quantity = entry(question, text, year, page=page).quantity
    assert quantity is not None
    return quantity


ASKED_FOR = "What was total revenue?"
REVENUE = "Total revenue 17,606 15,785 (2022: 17,606; 2021: 15,785, In millions) [S1]"


@pytest.mark.parametrize(("year", "value"), [("2022", 17_606), ("2021", 15_785), ("FY2021", 15_785)])
def test_a_rows_figure_is_that_of_the_year_with_scale_and_the_pages_currency(year: str, value: float) -> None:
    quantity = quantity_of(ASKED_FOR, REVENUE, year)
    assert quantity.value == value
    assert quantity.unit == "USD"
    assert quantity.scale == 1e6
    assert quantity.status == "supported"


@pytest.mark.parametrize("year", ["2020", "2021-22", ""])
def test_a_row_without_that_very_year_or_with_several_gives_no_figure(year: str) -> None:
    assert entry(ASKED_FOR, REVENUE, year).quantity is None


def test_the_row_of_a_part_is_not_the_measure() -> None:
    text = "Other subscription and licence services revenue 16,388 14,573 (2022: 16,388) [S1]"
    assert entry(ASKED_FOR, text, "2022").quantity is None


def test_a_page_scales_a_row_that_states_no_unit_itself() -> None:
    quantity = quantity_of(ASKED_FOR, "Total revenue 17,606 15,785 (2022: 17,606) [S1]", "2022")
    assert quantity.scale == 1e6


TARGETS = "Total revenue 31.0 30.9\nIn crowns million\nTotal revenue 127,850 139,750\n"
# "-" for none.
UNITS = """
% | - | - | Table 3: Fiscal targets, 2024 to 2026 Per cent of GDP, unless stated otherwise
% | - | Per cent of GDP | Table 3: Fiscal targets
% | Per cent of GDP | In crowns million | Table 3: Fiscal targets
crowns | - | Crowns million and per cent of GDP | Table 3: Fiscal targets
crowns | - | - | Table 3: Fiscal targets
"""


@pytest.mark.parametrize(("expected", "section", "unit", "caption"), case_rows(UNITS))
def test_a_row_has_the_unit_of_its_part_of_the_table(
    section: str, unit: str, caption: str, expected: str
) -> None:
    cells = (Cell("31.0", 14, 18), Cell("30.9", 19, 23))
    row = Row("Total revenue", cells, section.strip("-"), 0, 23)
    table = Table(caption, unit.strip("-"), ("2024", "2026"), (row,), BOX)
    page = hit(TARGETS, tables=(table,))
    quantity = quantity_of(ASKED_FOR, "Total revenue 31.0 30.9 (2024: 31.0) [S1]", "2024", page)
    assert quantity.value == 31.0
    assert quantity.unit == expected


def test_an_amount_for_each_share_is_not_scaled() -> None:
    question = "What was diluted earnings per share?"
    diluted = "Diluted earnings per share $ 11.27 $ 9.02 (2022: $ 11.27) [S1]"
    quantity = quantity_of(question, diluted, "2022")
    assert quantity.value == 11.27
    assert quantity.scale == 1.0
    basic = "Basic earnings per share $ 11.27 (2022: $ 11.27) [S1]"
    assert entry(question, basic, "2022").quantity is None
    counted = "Diluted earnings per share 815 790 (2022: 815) [S1]"
    assert entry(question, counted, "2022").quantity is None


def test_what_is_counted_has_no_currency() -> None:
    text = "Number of stores 815 790 (2022: 815) [S1]"
    quantity = quantity_of("What is the number of stores?", text, "2022")
    assert quantity.unit is None
    assert quantity.scale == 1.0


def test_a_worked_out_ratio_is_its_result_with_its_formula() -> None:
    formula = "100 × 6,098 / 17,606 = 34.6%"
    operand = "Operating income 6,098 5,802 (2022: 6,098, In millions) [S1]"
    text = f"Operating margin (2022) = {formula}.\n\n{operand}\n\n{REVENUE}"
    page = hit(PAGE + "\nOperating income 6,098 5,802")
    quantity = quantity_of("What was the operating margin?", text, "2022", page)
    assert quantity.text == "34.6%"
    assert quantity.unit == "%"
    assert quantity.status == "derived"
    assert quantity.formula == formula


DEFICIT = "What is the fiscal deficit as a share of GDP?"
NARROWED = "The fiscal deficit narrowed from 5 per cent of GDP in 2023 to 4.1 per cent in 2024. [S1]"
ESTIMATED = "The fiscal deficit is estimated to be 4.4 per cent of GDP. [S1]"


def test_a_sentence_gives_the_figure_of_its_year() -> None:
    assert quantity_of(DEFICIT, NARROWED, "2023").value == 5
    assert quantity_of(DEFICIT, NARROWED, "2024").value == 4.1
    assert entry(DEFICIT, NARROWED, "2025").quantity is None


def test_a_sentence_without_a_year_counts_for_the_documents_own_and_says_so() -> None:
    page = hit(period="2025-26")
    own = entry(DEFICIT, ESTIMATED, "2025-26", page=page)
    assert own.quantity is not None
    assert not own.quantity.dated
    assert own.reason == "The sentence names no year; the document is for 2025-26."
    assert entry(DEFICIT, ESTIMATED, "2024-25", page=page).state == "absent"
    assert entry(DEFICIT, ESTIMATED).quantity is not None


NO_FIGURES = """
What was the unemployment rate? | The unemployment rate was below 4 percent. [S1]
What was inflation? | Inflation slowed, though core inflation stood at 4.4 per cent in 2024. [S1]
"""


@pytest.mark.parametrize(
    ("question", "text"),
    [*case_rows(NO_FIGURES), ("What is said on the fiscal deficit?", ESTIMATED)],
)
def test_a_bound_another_measure_and_a_question_for_words_give_no_figure(question: str, text: str) -> None:
    assert entry(question, text).quantity is None


def test_two_sentences_of_other_years_give_no_figure() -> None:
    text = NARROWED + " " + ESTIMATED.replace("estimated", "put")
    assert entry(DEFICIT, text, "2022", page=hit(period="2022-25")).quantity is None


def test_what_names_neither_measure_nor_year_is_not_in_the_document() -> None:
    text = "Real growth for 2025-26 is put at 7.3 per cent. [S1]"
    found = entry("What was inflation?", text, "2024", page=hit(period="2025-26"))
    assert found.state == "absent"
    assert found.passage == ""
    assert [page.page for page in found.nearest] == [3]


def test_a_models_sentence_that_names_no_known_measure_is_a_passage() -> None:
    found = entry("What was inflation?", "Growth is put at 7.3 per cent. [S1]", model="some-model")
    assert found.state == "passage"
    assert found.passage == "Growth is put at 7.3 per cent."


def test_a_refusal_gives_the_nearest_pages() -> None:
    refusal = "Not in these documents. Nothing is said."
    nearest = (PageRef("A.pdf", 3, "1"),)
    answer = Answer("Q?", "Q?", refusal, False, "no_page", nearest, considered=(hit(),))
    found = read_entry(answer, EntryPlace("A.pdf", "2021"))
    assert found.state == "absent"
    assert found.reason == "Nothing is said."
    assert found.nearest[0].version == 7


def test_a_figure_that_the_page_does_not_have_is_shown_as_that() -> None:
    text = "Total revenue in 2022 was $19,999 million. [S1]"
    quantity = entry(ASKED_FOR, text, "2022", model="some-model").quantity
    assert quantity is not None
    assert quantity.value == 19_999
    assert quantity.status not in {"supported", "derived"}


def test_a_year_that_two_fiscal_years_share_is_told_of_both() -> None:
    page = hit("Total revenue 450 480 510")
    text = "Total revenue 450 480 510 (2023-24: 450; 2024-25: 480) [S1]"
    found = entry(ASKED_FOR, text, "2024", page=page)
    assert found.state == "passage"
    assert (
        found.reason
        == "It has figures for 2023-24 and 2024-25, but not for 2024 itself. Ask for one of these."
    )
    assert entry(ASKED_FOR, text, "2024-25", page=page).reason == ""
