"""What is read of a question: what it asks for, its operation and operands, bound, direction and order."""

from __future__ import annotations

import pytest

from chatbot.question_reading import read_question
from chatbot.records import Understanding
from tests.case_rows import case_lines, case_rows

ASKING = """
Did revenue rise?
And is it above 5%?
Isn’t debt lower now?
Has the fund been set up?
"""


@pytest.mark.parametrize("question", case_lines(ASKING))
def test_questions_that_yes_or_no_would_answer(question: str) -> None:
    assert read_question(question).asks_yes_or_no


ASKING_FOR_MORE = """
Is it higher or lower?
Can you list the risks?
Do you know what it costs?
What was it?
How much did it rise?
Did it say when?
Is
"""


@pytest.mark.parametrize(
    "question",
    [
        *case_lines(ASKING_FOR_MORE),
        "",
    ],
)
def test_questions_that_ask_for_more(question: str) -> None:
    assert not read_question(question).asks_yes_or_no


def test_a_question_about_a_move() -> None:
    assert read_question("Did revenue rise?").asks_move
    assert not read_question("Did revenue stay above 5 billion?").asks_move
    assert not read_question("How much did revenue rise?").asks_move


BOUNDS = """
Is it above 5%? | above
Is it less than the 5 million? | below
Is it at least $5? | least
Did up to 30% vote? | most
"""


@pytest.mark.parametrize(("question", "how"), case_rows(BOUNDS))
def test_the_amount_that_a_question_names(question: str, how: str) -> None:
    bound = read_question(question).bound
    assert bound is not None
    _, found = bound
    assert found == how


def test_no_amount_or_several_are_no_bound() -> None:
    assert read_question("Was it 5% in 2024?").bound is None
    assert read_question("Is it above 5% and below 8%?").bound is None
    assert read_question("Is turnover 5 million?").bound is None


ABOUT_BEFORE = """
What was the limit under the policy before that?
What did the old rules ask for?
How did the limit change?
"""


@pytest.mark.parametrize("question", case_lines(ABOUT_BEFORE))
def test_a_question_for_what_was_before_is_known(question: str) -> None:
    assert read_question(question).asks("older")


ABOUT_NOW = """
From what value on is an open tender held?
What is the ceiling before tax?
Who holds the budget?
"""


@pytest.mark.parametrize("question", case_lines(ABOUT_NOW))
def test_other_questions_want_the_newest(question: str) -> None:
    assert not read_question(question).asks("older")


OF_EACH = """
Which company has the highest debt? | What is the debt?
Which of these documents reports the largest dividend per share? | What is the dividend per share?
Which company spent the most on research? | Which company spent the most on research?
"""


@pytest.mark.parametrize(("question", "each"), case_rows(OF_EACH))
def test_what_is_asked_of_each(question: str, each: str) -> None:
    assert read_question(question).asks("which of all")
    assert read_question(question).of_each == each


OPERATIONS = """
By what percent did revenue grow from 2022 to 2023? | growth
How did spending on health change? | change
What is the difference between exports and imports? | change
What was the average deficit? | mean
What is the sum of exports and imports? | sum
What is rent as a share of income? | share
What share of sales came from the north? | part
Was spending above its budget? | plan
Is debt above 60 per cent? | bound
Did revenue rise? | change
How much did prices go up? | change
How much has revenue grown? | change
How fast did revenue grow? | change
"""


@pytest.mark.parametrize(("question", "kind"), case_rows(OPERATIONS))
def test_what_is_to_be_worked_out(question: str, kind: str) -> None:
    operation = read_question(question).operation
    assert operation is not None
    assert operation.kind == kind


NOTHING = """
Who audits the accounts of water boards?
What is the change in the average wage?
What is revenue excluding the sum of grants?
How much did the group pay in dividends?
How much did the company raise from bonds in 2024?
How did the board follow up on audit findings?
How has the company cut its costs?
"""


@pytest.mark.parametrize("question", case_lines(NOTHING))
def test_nothing_is_to_be_worked_out(question: str) -> None:
    assert read_question(question).operation is None


def test_operands_are_named_by_their_own_words() -> None:
    operation = read_question("What is the difference between total exports and imports in 2024?").operation
    assert operation is not None
    assert [sorted(read_question(topic).topic) for topic in operation.topics] == [["export"], ["import"]]


def test_more_than_one_figure_is_compared() -> None:
    assert read_question("How did revenue develop?").compares
    assert read_question("By how much is the revenue of Acme higher than that of Borealis?").compares


def test_yes_or_not_is_yes_or_no() -> None:
    assert read_question("Is the company a bank or not?").asks_yes_or_no


def test_short_forms_are_spelled_out() -> None:
    asked = read_question("How did R&D change?")
    assert asked.spelled_terms == read_question("How did research and development change?").terms
    assert asked.operation == read_question("How did research and development change?").operation


def test_a_year_that_another_is_compared_with() -> None:
    assert Understanding("", "Revenue since 2021", years=(2021,)).is_since
    assert not Understanding("", "Revenue in 2021", years=(2021,)).is_since
    assert not Understanding("", "Revenue since 2021 and 2022", years=(2021, 2022)).is_since
