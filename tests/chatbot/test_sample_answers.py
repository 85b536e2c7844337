"""What the sample documents answer to the first questions of a new reader, with the real embedded model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.comparison import Comparison
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload


@pytest.fixture(scope="module")
def chatbot(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    """The chatbot of the fiscal policy statement."""
    home = tmp_path_factory.mktemp("samples-indexed")
    with Chatbot(Settings(home=home)) as opened:
        list(opened.add([Upload(samples / "Valmora_Fiscal_Policy_Statement_2025.pdf")]))
        yield opened


def answer_to(chatbot: Chatbot, question: str) -> Answer:
    answer = list(chatbot.ask(Ask(question)))[-1]
    assert isinstance(answer, Answer)
    return answer


def test_conditions_are_quoted_whole_and_without_what_follows_their_list(chatbot: Chatbot) -> None:
    answer = answer_to(chatbot, "Under what conditions may the rules be suspended?")
    first, _, behind = answer.text.partition("\n\n")
    assert first.startswith("The application of the deficit ceiling and of the expenditure growth rule")
    assert [line[:4] for line in first.splitlines()[1:]] == ["(a) ", "(b) ", "(c) "]
    assert first.endswith("or public health. [S1]")
    assert "The limit is fixed for the year" not in behind  # a footnote of the page
    assert all(citation.verified for citation in answer.citations)


@pytest.mark.parametrize(("limit", "verdict"), [("4%", "No."), ("2%", "Yes.")])
def test_a_ceiling_is_compared_by_its_limit_and_not_by_the_plan(
    chatbot: Chatbot, limit: str, verdict: str
) -> None:
    answer = answer_to(chatbot, f"Is the deficit ceiling above {limit}?")
    assert answer.text.startswith(f"{verdict} Deficit ceiling (of GDP): 3.0% (Limit). [S1]")


@pytest.fixture(scope="module")
def budget(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chatbot]:
    """The chatbot of the budget book."""
    home = tmp_path_factory.mktemp("budget-indexed")
    with Chatbot(Settings(home=home)) as opened:
        list(opened.add([Upload(samples / BUDGET)]))
        yield opened


BUDGET = "Valmora_Budget_Book_2025-26.pdf"
RESERVE = "How large is the contingency reserve?"


def test_another_year_is_answered_from_the_row_of_the_first_one(budget: Chatbot) -> None:
    conversation = budget.conversations.begin("local")
    first, second = (
        list(budget.ask(Ask(question, conversation=conversation)))[-1]
        for question in (f"{RESERVE[:-1]} in 2025-26?", "And in 2024-25?")
    )
    assert isinstance(first, Answer)
    assert isinstance(second, Answer)
    assert first.text.startswith("Contingency reserve was 1,900 million crowns (2025-26 budget).")
    assert second.text.startswith("Contingency reserve was 1,250 million crowns (2024-25 revised).")


@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ("government revenue", "Total revenue was 139,750 million"),
        ("tax revenue", "Tax revenue was 126,865 million"),
    ],
)
def test_the_revenue_of_a_government_is_the_total_of_its_rows(budget: Chatbot, asked: str, row: str) -> None:
    answer = answer_to(budget, f"What is {asked} in 2025-26?")
    assert answer.text.startswith(row)


def test_years_are_compared_by_one_row(budget: Chatbot) -> None:
    comparison = Comparison.of(RESERVE, [BUDGET], ["2024-25", "2025-26"])
    entries = list(budget.compare(comparison))
    assert [entry.place.year for entry in entries] == ["2024-25", "2025-26"]
    assert [entry.quantity.text for entry in entries if entry.quantity] == [
        "1,250 million crowns",
        "1,900 million crowns",
    ]
