"""Sums by the operation that is asked for, over rows that the question names in its own words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from chatbot.answer.tables.operations import by_operation, by_row
from chatbot.records import Hit, Understanding
from ingestion.records import Rect, Table
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_of

HEADS = ("Year ended May 31, > 2019", "Year ended May 31, > 2018", "Year ended May 31, > 2017")
ROWS = """
Expenses:
Research and development | 126 | 67 | 60
Selling costs | 453 | 361 | 384
Total expenses | 579 | 428 | 444
Revenue:
Asia Pacific | 4,100 | 3,900 | 3,700
Total revenue | 12,629 | 10,310 | 9,100
:
Net cash used in investing | (97) | (20) | (30)
Result of discontinued units | (5) | 4 | 3
Dividend yield | 1.7% | 1.5% | 1.6%
"""


def made(rows: str = ROWS, heads: tuple[str, ...] = HEADS) -> Hit:
    title = "Results\n"
    lines, found = rows_of(rows, len(title))
    text = title + lines
    table = Table("Results", "(in millions)", heads, found, Rect(0, 0, 1, 1))
    return hit_of(text, body=text, tables=(table,))


def asked(question: str, years: str = "") -> Understanding:
    """years: parted by blanks, "-" for none."""
    named = tuple(int(year) for year in years.split() if year != "-")
    return Understanding(question, question, years=named)


def answer(question: str, years: str, *pages: Hit) -> str:
    return by_operation(prompt_over(*pages, question=question), asked(question, years))


def test_actual_figures_are_compared_with_those_that_were_planned() -> None:
    question = "By how much did selling costs exceed the 2019 budget?"
    said = answer(question, "2019", made(heads=("Budget 2019", "Actual 2019", "Actual 2018")))
    difference = "Selling costs, Actual 2019 less Budget 2019, in millions: 361 - 453 = -92"
    assert f"{difference}; 100 × (361 - 453) / 453 = -20.3%." in said
    # Without a budget nothing is compared with one.
    assert answer(question, "2019", made()) == ""


WORKED_OUT = """
2018 2019 | , in millions: 126 - 67 = 59; 100 × (126 - 67) / 67 = 88.1%. | What was the change in research \
and development from 2018 to 2019?
2018 2019 | 100 × (453 - 361) / 361 = 25.5%. | What is the percentage change in selling costs between 2018 \
and 2019?
- | (384 + 361 + 453) / 3 = 399.33, in millions. | What is the average of selling costs?
2018 2019 | (1.5% + 1.7%) / 2 = 1.60%. | What is the average dividend yield for 2018 and 2019?
2018 2019 | 67 + 126 = 193, in millions. | What is the sum of research and development in 2018 and 2019?
2018 | 100 × 67 / 428 = 15.7%. | What percentage of total expenses is research and development in 2018?
2019 | , in millions: 579 - 453 = 126; | What is the difference between total expenses and selling costs in \
2019?
2018 2019 | = 385.0%. | By what percentage did net cash used in investing increase from 2018 to 2019, i.e. \
the percentage change?
# Of the total of its block, though the question does not call it one, and against the newest year.
2019 | 100 × 453 / 579 = 78.2%. | What share of expenses were selling costs in 2019?
2018 | 100 × 3,900 / 10,310 = 37.8%. | How much of revenue came from Asia Pacific in 2018?
2017 | 126 - 60 = 66; | Did research and development grow compared with 2017, and by how much?
2018 2019 | (3,900 + 4,100) / 2 = 4,000 | What was the average revenue from Asia Pacific in 2018 and 2019?
"""


@pytest.mark.parametrize(("years", "formula", "question"), case_rows(WORKED_OUT))
def test_the_operation_that_is_asked_for_is_worked_out_and_its_rows_are_cited(
    question: str, years: str, formula: str
) -> None:
    said = answer(question, years, made())
    assert formula in said
    assert "[S1-7f3a]" in said


IN_DOUBT = """
2018 2019 | What was the change in marketing from 2018 to 2019?
2015 2019 | What was the change in selling costs from 2015 to 2019?
2018 2019 | What is the average revenue from Europe in 2018 and 2019?
# One operation upon another.
2018 2019 | What is the change in the average of selling costs between 2018 and 2019?
# Of a base on the other side of nought a percentage says nothing.
2018 2019 | What is the percentage change in the result of discontinued units from 2018 to 2019?
2019 | What were selling costs in 2019?
"""


@pytest.mark.parametrize(("years", "question"), case_rows(IN_DOUBT))
def test_where_a_row_a_year_or_the_operation_is_in_doubt_nothing_is_worked_out(
    question: str, years: str
) -> None:
    assert answer(question, years, made()) == ""


YES_OR_NO = """
2019 | Yes. Selling costs rose from 361 (Year ended May 31, 2018) to 453 (Year ended May 31, 2019), in \
millions: 453 - 361 = 92; | Did selling \
costs rise in 2019?
2018 2019 | No. Selling costs | Were selling costs lower in 2019 than in 2018?
2019 | No. Selling costs | Did selling costs rise by more than 30% in 2019?
2019 | Yes. Total expenses were 579 million (Year ended May 31, 2019). [S1-7f3a] | Were total expenses above \
500 million in 2019?
2019 | No. Dividend yield was 1.7% (Year ended May 31, 2019). [S1-7f3a] | Is the dividend yield below 1.6% \
in 2019?
"""


@pytest.mark.parametrize(("years", "begins", "question"), case_rows(YES_OR_NO))
def test_yes_or_no_stands_before_what_decides_it(question: str, years: str, begins: str) -> None:
    assert answer(question, years, made()).startswith(begins)


def test_a_row_that_says_yes_or_no_must_have_the_question_s_words() -> None:
    page = made()
    (table,) = page.tables
    research, selling, *_ = table.rows
    question = replace(asked("Were selling costs above 400 million in 2019?", "2019"), whose="Tern")
    decided = by_row("S1-7f3a", {"S1-7f3a": page}, table, selling, question)
    assert decided == "Yes. Tern's selling costs were 453 million (Year ended May 31, 2019)."
    assert by_row("S1-7f3a", {"S1-7f3a": page}, table, research, question) == ""
    of_another_year = asked("Were selling costs above 400 million in 2012?", "2012")
    assert by_row("S1-7f3a", {"S1-7f3a": page}, table, selling, of_another_year) == ""


def moved(question: str, row: str, *pages: Hit) -> str:
    """What the row of this label on the first page says of how it moved."""
    sources = prompt_over(*pages).sources
    key, first = next(iter(sources.items()))
    table = first.tables[0]
    found = next(one for one in table.rows if one.label == row)
    return by_row(key, sources, table, found, replace(asked(question, "2018 2019"), compares=True))


def test_how_a_row_moved_is_said_only_of_the_row_that_is_asked_for() -> None:
    page = made()
    assert "rose from 361" in moved("How did selling costs change from 2018 to 2019?", "Selling costs", page)
    # Something else, a total of nothing that is named, or a part of what is meant.
    assert moved("How did wages change from 2018 to 2019?", "Selling costs", page) == ""
    assert moved("How did that change from 2018 to 2019?", "Selling costs", page) == ""
    assert moved("How did retail selling costs change from 2018 to 2019?", "Selling costs", page) == ""
    total = made("Total | 12 | 12 | 9")
    assert moved("How did the total results change from 2018 to 2019?", "Total", total) == ""


def test_a_row_with_another_of_its_name_on_another_page_is_not_said_to_have_moved() -> None:
    question, row = "How did selling costs change from 2018 to 2019?", "Selling costs"
    same = replace(made("Selling costs | 453.4 | 361.4 | 384.4"), page=2)
    other = replace(made("Selling costs | 126 | 67 | 60"), page=2)
    of_another_document = replace(other, version=9, document="Other.pdf")
    assert moved(question, row, made(), same)
    assert moved(question, row, made(), of_another_document)
    assert moved(question, row, made(), other) == ""


def test_of_amounts_below_zero_the_difference_alone_is_said() -> None:
    question = "What was the change in the balance of trade from 2018 to 2019?"
    said = answer(question, "2018 2019", made("Balance of trade | (97) | (20) | 30"))
    assert "(97) - (20) = -77" in said
    assert not re.search("rose|fell", said)
    question = "What was the change in growth of wages from 2018 to 2019?"
    rates = answer(question, "2018 2019", made("Growth of wages | -1.5% | -2.0% | 1.0%"))
    assert "rose from -2.0%" in rates


def test_notes_are_no_total() -> None:
    rows = "Cash | 10 | 9 | 8\nNotes | 50 | 40 | 30\nTotal assets | 60 | 49 | 38"
    said = answer("What share of total assets came from cash in 2019?", "2019", made(rows))
    assert "100 × 10 / 60 = 16.7%" in said


OTHER_COLUMNS = """
Year ended May 31, 2019 | Three months ended May 31, 2018 | 2017
2019 budget | 2018 actual | 2017 actual
December 31, 2019 | June 30, 2018 | June 30, 2017
2019 | Note 2018 | 2017
"""


@pytest.mark.parametrize("heads", case_rows(OTHER_COLUMNS))
def test_columns_of_another_kind_are_not_reckoned_together(heads: tuple[str, ...]) -> None:
    question = "What was the change in selling costs from 2018 to 2019?"
    assert answer(question, "2018 2019", made(heads=heads)) == ""


OF_PARTS = """
Six months to 31 Dec 24 | Six months to 31 Dec 23 | Year to 30 Jun 24 | 453 - 361 = 92; 100 × (453 - 361) / \
361 | How did selling costs change from the six months to December 2023 to the six months to December 2024?
1–6/2024 | 4–6/2024 | 1–6/2023 | 453 - 384 = 69; | How did selling costs change from January–June 2023 to \
January–June 2024?
FY3/22 | FY3/23 | FY3/24 plan | 361 - 453 = -92; | How did selling costs change from the fiscal year ended \
March 2022 to the fiscal year ended March 2023?
Oct-24 | YTD Oct-24 | Oct-23 | 453 - 384 = 69; | How did selling costs change from October 2023 to October \
2024?
2024-06-30 | 2023-12-31 | 2023-06-30 | 453 - 361 = 92; | How did selling costs change from 31 December 2023 \
to 30 June 2024?
FY24A | FY25B | FY25E | 384 - 453 = -69; | How do selling costs change from FY24A to FY25E?
Q1 FY 2024/25 | FY 2023/24 | FY 2022/23 | 361 - 384 = -23; | How did selling costs change from FY 2022/23 \
to FY 2023/24?
"""


@pytest.mark.parametrize(("first", "second", "third", "formula", "question"), case_rows(OF_PARTS))
def test_the_two_periods_that_are_asked_for_are_compared(
    first: str, second: str, third: str, formula: str, question: str
) -> None:
    page = made(heads=(first, second, third))
    assert formula in answer(question, "", page)
    (table,) = page.tables
    changes = replace(asked(question), compares=True)
    assert formula in by_row("S1-7f3a", {"S1-7f3a": page}, table, table.rows[1], changes)
