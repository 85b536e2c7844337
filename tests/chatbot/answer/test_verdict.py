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
AMOUNTS = {
    "200 million": MILLIONS,
    "5.5%": Amount(5.5, percent=True),
    "in full": Amount(23_167_325_387.0),
    "dollars": Amount(200.0, 1e6, unit="USD"),
    "(200) million": Amount(-200.0, 1e6),
}
AGAINST_AMOUNT = """
yes | 200 million | Is it above $150 million?
no | 200 million | Is it above $0.3 billion?
yes | 200 million | Is it at least 200 million?
no | 200 million | Is it more than 200 million?
# Another kind, of nobody knows what, denied, in another currency, a cost or a loss.
open | 200 million | Is it above 5%?
open | 200 million | Is it above 150?
open | 200 million | Is it not above 150 million?
open | dollars | Is it above €150 million?
open | (200) million | Is it below 150 million?
yes | 5.5% | Is it above 5%?
open | 5.5% | Is it above 5 percentage points?
yes | in full | Is it above 20 billion?
"""


@pytest.mark.parametrize(("verdict", "amount", "question"), case_rows(AGAINST_AMOUNT))
def test_a_figure_against_an_amount(verdict: str, amount: str, question: str) -> None:
    assert by_bound(read_question(question), AMOUNTS[amount]) == VERDICTS[verdict]


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
yes | Did it rise by more than 40 million?
no | Did it rise by more than 60 million?
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
-5 | -8 | Did the loss rise?
"""


@pytest.mark.parametrize(("before", "after", "question"), case_rows(DOUBTFUL))
def test_two_figures_that_leave_a_doubt(before: str, after: str, question: str) -> None:
    earlier, later = Amount(float(before)), Amount(float(after))
    assert by_move(read_question(question), (2023, earlier), (2024, later)) == ""


def test_rates_days_and_plans() -> None:
    def moved(question: str, before: Amount, after: Amount, *, year: int = 2024) -> str:
        return by_move(read_question(question), (2023, before), (year, after))

    five, eight = Amount(5.0, percent=True), Amount(8.0, percent=True)
    assert moved("Did it rise by more than 2 percentage points?", five, eight) == YES
    assert moved("Did the rate rise by more than 4%?", five, eight) == "", "of the rate, or in points?"
    question = "Was goodwill lower at July 30, 2023 than at January 29, 2023?"
    assert moved(question, Amount(4_372.0), Amount(4_430.0), year=2023) == ""
    assert moved("Did revenue rise?", Amount(500.0), Amount(550.0, planned=True)) == ""


def test_what_was_budgeted() -> None:
    assert by_plan(read_question("Was the surplus above budget?"), 48.0, 27.0) == NO
    assert by_plan(read_question("Was spending below budget?"), 48.0, 27.0) == YES
    assert by_plan(read_question("Was spending close to budget?"), 48.0, 27.0) == ""
    assert by_plan(read_question("Was spending within budget, over the year?"), 48.0, 57.0) == ""


def test_rows_of_something_else() -> None:
    assert is_other("Dividends declared and not paid", read_question("Was more than $1 billion paid?"))
    assert is_other("Net income", read_question("Was the net loss more than $5 million?"))
    assert not is_other("Net income (loss)", read_question("Was the net loss more than $5 million?"))
