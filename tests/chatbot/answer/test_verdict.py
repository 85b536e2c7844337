"""Yes and no: said where figures or a sentence decide, and not where they leave a doubt."""

import pytest

from chatbot.answer.verdict import (
    NO,
    YES,
    Amount,
    by_bound,
    by_move,
    by_plan,
    by_sentence,
    is_other,
)
from chatbot.question_reading import read_question
from tests.case_rows import case_rows

MILLIONS = Amount(200.0, 1e6)
VERDICTS = {"yes": YES, "no": NO, "open": ""}
AGAINST_MILLIONS = """
yes | Is it above $150 million?
no | Is it above $0.3 billion?
yes | Is it at least 200 million?
no | Is it more than 200 million?
# Another kind.
open | Is it above 5%?
# Of what?
open | Is it above 150?
open | Is it not above 150 million?
"""


@pytest.mark.parametrize(("verdict", "question"), case_rows(AGAINST_MILLIONS))
def test_a_figure_of_millions_against_an_amount(verdict: str, question: str) -> None:
    assert by_bound(read_question(question), MILLIONS) == VERDICTS[verdict]


PERCENTAGE = Amount(5.5, percent=True)


# Of 150 million in 2023 and 200 million in 2024.
MOVES = """
yes | Did it rise?
no | Did it fall?
yes | Is it higher in 2024 than in 2023?
no | Is it higher in 2023 than in 2024?
open | Is it higher in 2024 than in 2019?
yes | Did it rise by more than 20%?
no | Did it rise by more than 40%?
no | Did it rise by less than 40 million?
no | Did it fall by more than 10%?
yes | Did it rise above 190 million?
open | Did it fall below 300 million?
open | Did it rise at least 2 million?
open | Did it stop falling?
open | Did it rise or fall?
open | Did it rise while costs fell?
open | Did it fail to rise?
"""
BEFORE, AFTER = (2023, Amount(150.0, 1e6)), (2024, MILLIONS)


@pytest.mark.parametrize(("verdict", "question"), case_rows(MOVES))
def test_two_figures(verdict: str, question: str) -> None:
    assert by_move(read_question(question), BEFORE, AFTER) == VERDICTS[verdict]


FIVE, EIGHT = Amount(5.0, percent=True), Amount(8.0, percent=True)


def test_a_percentage_is_above_another() -> None:
    assert by_bound(read_question("Is it above 5%?"), PERCENTAGE) == YES


def test_a_percentage_is_not_held_against_points() -> None:
    assert by_bound(read_question("Is it above 5 percentage points?"), PERCENTAGE) == ""


def test_an_amount_that_is_printed_in_full_is_held_against_one_with_its_scale() -> None:
    assert by_bound(read_question("Is it above 20 billion?"), Amount(23_167_325_387.0)) == YES


def test_an_amount_is_not_held_against_another_currency() -> None:
    dollars = Amount(200.0, 1e6, unit="USD")
    assert by_bound(read_question("Is it above €150 million?"), dollars) == ""


def test_a_cost_in_brackets_or_a_loss_is_not_held_against_an_amount() -> None:
    assert by_bound(read_question("Is it below 150 million?"), Amount(-200.0, 1e6)) == ""


def test_a_change_of_an_amount() -> None:
    assert by_move(read_question("Did it rise by more than 40 million?"), BEFORE, AFTER) == YES
    assert by_move(read_question("Did it rise by more than 60 million?"), BEFORE, AFTER) == NO
    question = "Did it rise by more than 2 percentage points?"
    assert by_move(read_question(question), (2023, FIVE), (2024, EIGHT)) == YES


def test_of_losses_no_direction_is_told() -> None:
    before, after = (2023, Amount(-5.0)), (2024, Amount(-8.0))
    assert by_move(read_question("Did the loss rise?"), before, after) == ""


SENTENCES = """
yes | Is growth above 3%? | Growth was 3.4% in the year.
open | Is growth above 3%? | Growth was 3.4%, after 2.1%.
open | Is growth above 3%? | Growth was just above 3%.
open | Was the rate over 1 per cent and under 2 per cent? | The rate was 3 per cent.
open | Was the profit of the airline above 40 million? | The loss of the airline was 45 million.
open | Is the tax on fuel 5%? | The tax on fuel is 15%.
open | Was the toll above 5 crowns in 2023? | The toll was 7 crowns in 2019.
open | Will a stabilisation fund be established? | Government will establish a stabilisation fund.
"""


@pytest.mark.parametrize(("verdict", "question", "sentence"), case_rows(SENTENCES))
def test_a_sentence(verdict: str, question: str, sentence: str) -> None:
    assert by_sentence(read_question(question), (), sentence) == VERDICTS[verdict]


DOUBTFUL = """
20 | 45 | Did losses on loans double?
900 | 950 | Was revenue higher than cost of sales?
1200 | 1100 | Did revenue fall to 900 million?
1200 | 1100 | Was revenue lower than budgeted?
500 | 550 | Did revenue rise because of higher prices?
500 | 550 | Did revenue rise in Q4?
"""


@pytest.mark.parametrize(("before", "after", "question"), case_rows(DOUBTFUL))
def test_two_figures_that_leave_a_doubt(before: str, after: str, question: str) -> None:
    earlier, later = Amount(float(before)), Amount(float(after))
    assert by_move(read_question(question), (2023, earlier), (2024, later)) == ""


def test_two_days_of_one_year_leave_a_doubt() -> None:
    january, july = (2023, Amount(4_372.0)), (2023, Amount(4_430.0))
    question = "Was goodwill lower at July 30, 2023 than at January 29, 2023?"
    assert by_move(read_question(question), january, july) == ""


def test_what_was_budgeted() -> None:
    assert by_plan(read_question("Was the surplus above budget?"), 48.0, 27.0) == NO
    assert by_plan(read_question("Was spending below budget?"), 48.0, 27.0) == YES
    assert by_plan(read_question("Was spending close to budget?"), 48.0, 27.0) == ""
    assert by_plan(read_question("Was spending within budget, over the year?"), 48.0, 57.0) == ""


def test_rows_of_something_else() -> None:
    assert is_other("Dividends declared and not paid", read_question("Was more than $1 billion paid?"))
    assert is_other("Net income", read_question("Was the net loss more than $5 million?"))
    assert not is_other("Net income (loss)", read_question("Was the net loss more than $5 million?"))


def test_the_growth_of_a_rate_in_per_cent_leaves_a_doubt() -> None:
    before, after = Amount(21.0, percent=True), Amount(24.0, percent=True)
    question = "Did the rate rise by more than 4%?"
    assert by_move(read_question(question), (2023, before), (2024, after)) == ""


def test_a_plan_beside_a_figure_leaves_a_doubt() -> None:
    actual, planned = Amount(500.0), Amount(550.0, planned=True)
    assert by_move(read_question("Did revenue rise?"), (2023, actual), (2024, planned)) == ""
