"""What a question asks, by rules: subject, form, periods, names, measures, statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.search.question_terms import measures_of, operands_of, subject_of, understand
from tests.case_rows import case_rows

FORMS = case_rows("""
How much is spent on health in 2025-26?                                                | figure
What is the deficit ceiling?                                                           | figure
When was the rate last cut?                                                            | figure
Is the ceiling binding?                                                                | yes_no
Name the four pillars of the plan.                                                     | list
Which three principles guide the budget?                                               | list
Why was the reserve drawn down?                                                        | reason
How do they define structural balance?                                                 | definition
What is the net working capital? Define it as current assets less current liabilities. | figure
Where will the plant stand?                                                            | passage
""")


@pytest.mark.parametrize(("question", "form"), FORMS)
def test_forms(question: str, form: str) -> None:
    asked = understand(question, question)
    assert asked.form == form


YEARS = case_rows("""
2018           | revenue in FY2018
2016 2017 2018 | the average from FY2016 to FY2018
2017 2018 2019 | FY2017 - FY2019 3 year average of capex
2021 2024      | growth between 2021 and 2024
2025 2026      | spending in 2025-26
               | debt
""")


@pytest.mark.parametrize(("years", "question"), YEARS)
def test_periods(years: str, question: str) -> None:
    asked = understand(question, question)
    assert asked.years == tuple(int(year) for year in years.split())


def test_last_year_is_a_step_from_the_documents_own() -> None:
    last = understand("x", "How did receipts change from last year?")
    coming = understand("x", "What is planned for the coming year?")
    assert last.relative_years == (-1,)
    assert coming.relative_years == (1,)


SUBJECTS = case_rows("""
What is the debt anchor? Round your answer to one decimal place.           | What is the debt anchor?
Using only the balance sheet, what are total assets?                       | what are total assets?
We want to calculate a metric. Here's the question: what is capex in 2020? | what is capex in 2020?
Answer in millions.                                                        | Answer in millions.
""")


@pytest.mark.parametrize(("question", "subject"), SUBJECTS)
def test_what_is_said_of_the_answer_is_no_part_of_the_subject(question: str, subject: str) -> None:
    assert subject_of(question) == subject


def test_measures_their_operands_and_where_they_stand() -> None:
    asked = understand("x", "What was the FY2020 free cash flow of Acme?")
    assert asked.measures == ("free cash flow",)
    operands = [measure.name for measure in operands_of(measures_of(asked))]
    assert operands == ["operating cash flow", "capital expenditure"]
    assert "cash_flow_statement" in asked.kinds
    ratio = understand("x", "quick ratio")
    assert ratio.measures == ("quick ratio",)
    revenue = understand("x", "From the balance sheet, what is the revenue?")
    assert revenue.kinds == ("balance_sheet",)


def test_a_measure_inside_a_longer_ones_name_is_not_meant() -> None:
    asked = understand("x", "What is the structural deficit?")
    assert "fiscal deficit" not in asked.measures


def test_names_are_kept_and_first_words_are_not() -> None:
    asked = understand("x", "Did Valmora adopt the rule that Mira Holt proposed?")
    assert asked.names == ("Valmora", "Mira Holt")


@given(st.text(max_size=300))
def test_any_text_is_understood(text: str) -> None:
    asked = understand(text, text)
    assert asked.query == text
    assert list(asked.years) == sorted(set(asked.years))


BOUGHT = ["purchases of property, plant and equipment", "additions to property, plant and equipment", "capex"]


@pytest.mark.parametrize("bought", BOUGHT)
def test_what_is_bought_is_not_what_is_owned(bought: str) -> None:
    question = f"What were Acme's {bought} in 2018?"
    asked = understand(question, question)
    assert asked.measures == ("capital expenditure",)
