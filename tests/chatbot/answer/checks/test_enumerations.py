"""Figures of a list within a sentence, each with what it is of."""

from __future__ import annotations

import pytest

from chatbot.answer.checks.enumerations import item_of
from chatbot.answer.citations.model_statements import check_statements
from chatbot.records import Hit, Prompt
from ingestion.language.numbers import find_figures

BEHIND = (
    "The bank runs 847 branches, including 583 in Peru, 107 in Chile, 40 in Cuba, 31 in Japan and 29 in "
    "Korea."
)
BEFORE = "Of these wages took 12.4 million, rents at 5.1 million, fuel at 3.3 million, water at 2.2 million."


@pytest.mark.parametrize(
    ("sentence", "figure", "own", "others"),
    [
        (BEHIND, "29", {"korea"}, {"peru", "chile", "cuba", "japan"}),
        (BEHIND, "583", {"peru"}, {"chile", "cuba", "japan", "korea"}),
        (BEHIND, "847", set(), set()),
        (BEFORE, "3.3 million", {"fuel"}, {"rent", "water"}),
        ("Of 90 members 40 in all and 20 in part agreed.", "40", set(), set()),
    ],
)
def test_each_figure_of_a_list_is_of_its_item(
    sentence: str, figure: str, own: set[str], others: set[str]
) -> None:
    figures = find_figures(sentence)
    mine = [one.text for one in figures].index(figure)
    found, rest = item_of(sentence, [(one.start, one.end) for one in figures], mine)
    assert set(found) == own and set().union(*rest) == others


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("The bank has 31 branches in Japan", "supported"),
        ("The bank has 29 branches in Japan", "present_elsewhere"),
        ("Of the 847 branches 583 are in Peru", "supported"),
        ("Branches in Japan are few, 31", "supported"),
        ("Rents came to 3.3 million", "present_elsewhere"),
        ("Rents came to 5.1 million", "supported"),
        ("Fuel and water came to 3.3 million and 2.2 million", "supported"),
    ],
)
def test_a_figure_of_another_item_of_the_list_is_doubted(said: str, status: str) -> None:
    page = f"{BEHIND}\n\n{BEFORE}\n"
    hit = Hit("Report.pdf", 1, 1, None, None, "text", None, "1:0", text=page, page_text=page)
    checked = check_statements(
        f"{said} [S1-7f3a].", Prompt("How many?", "How many?", {"S1-7f3a": hit}, (), (), (), "7f3a")
    )
    assert {check.status for check in checked.numbers} == {status}
