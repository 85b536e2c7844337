"""What is read of a question: what it asks for, its operation and operands, bound, direction and order."""

from __future__ import annotations

import pytest

from chatbot.question_reading import read_question
from chatbot.records import Understanding
from tests.case_rows import case_rows

READ = """
asks_yes_or_no | Did revenue rise?
asks_yes_or_no | And is it above 5%?
asks_yes_or_no | Isn’t debt lower now?
asks_yes_or_no | Has the fund been set up?
asks_yes_or_no | Is the company a bank or not?
# More is asked for.
not asks_yes_or_no | Is it higher or lower?
not asks_yes_or_no | Can you list the risks?
not asks_yes_or_no | Do you know what it costs?
not asks_yes_or_no | What was it?
not asks_yes_or_no | Did it say when?
not asks_yes_or_no | Is
not asks_yes_or_no |
asks_move | Did revenue rise?
not asks_move | Did revenue stay above 5 billion?
not asks_move | How much did revenue rise?
compares | How did revenue develop?
compares | By how much is the revenue of Acme higher than that of Borealis?
# What was before, or the newest.
asks older | What was the limit under the policy before that?
asks older | What did the old rules ask for?
asks older | How did the limit change?
not asks older | From what value on is an open tender held?
not asks older | What is the ceiling before tax?
# No amount, or several.
not bound | Was it 5% in 2024?
not bound | Is it above 5% and below 8%?
not bound | Is turnover 5 million?
not operation | Who audits the accounts of water boards?
not operation | What is the change in the average wage?
not operation | What is revenue excluding the sum of grants?
not operation | How much did the group pay in dividends?
not operation | How much did the company raise from bonds in 2024?
not operation | How did the board follow up on audit findings?
not operation | How has the company cut its costs?
"""


@pytest.mark.parametrize(("what", "question"), case_rows(READ))
def test_what_a_question_is(what: str, question: str) -> None:
    reading = read_question(question)
    name = what.removeprefix("not ")
    if name == "asks older":
        found = reading.asks("older")
    else:
        found = getattr(reading, name)
    assert bool(found) is not what.startswith("not ")


SAID = """
above | Is it above 5%?
below | Is it less than the 5 million?
least | Is it at least $5?
most | Did up to 30% vote?
growth | By what percent did revenue grow from 2022 to 2023?
change | How did spending on health change?
change | What is the difference between exports and imports?
mean | What was the average deficit?
sum | What is the sum of exports and imports?
share | What is rent as a share of income?
part | What share of sales came from the north?
plan | Was spending above its budget?
bound | Is debt above 60 per cent?
change | Did revenue rise?
change | How much did prices go up?
change | How fast did revenue grow?
"""


@pytest.mark.parametrize(("kind", "question"), case_rows(SAID))
def test_the_kind_of_its_bound_or_operation(kind: str, question: str) -> None:
    reading = read_question(question)
    kinds = {reading.operation and reading.operation.kind, reading.bound and reading.bound[1]}
    assert kind in kinds


OF_EACH = """
Which company has the highest debt? | What is the debt?
Which of these documents reports the largest dividend per share? | What is the dividend per share?
Which company spent the most on research? | Which company spent the most on research?
"""


@pytest.mark.parametrize(("question", "each"), case_rows(OF_EACH))
def test_what_is_asked_of_each(question: str, each: str) -> None:
    assert read_question(question).asks("which of all")
    assert read_question(question).of_each == each


def test_operands_are_named_by_their_own_words() -> None:
    operation = read_question("What is the difference between total exports and imports in 2024?").operation
    assert operation is not None
    assert [sorted(read_question(topic).topic) for topic in operation.topics] == [["export"], ["import"]]


def test_short_forms_are_spelled_out() -> None:
    asked = read_question("How did R&D change?")
    assert asked.spelled_terms == read_question("How did research and development change?").terms
    assert asked.operation == read_question("How did research and development change?").operation


def test_a_year_that_another_is_compared_with() -> None:
    assert Understanding("", "Revenue since 2021", years=(2021,)).is_since
    assert not Understanding("", "Revenue in 2021", years=(2021,)).is_since
    assert not Understanding("", "Revenue since 2021 and 2022", years=(2021, 2022)).is_since
