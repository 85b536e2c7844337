"""Figures of a list within a sentence, each with what it is of."""

from __future__ import annotations

import pytest

from chatbot.answer.checks.enumerations import item_of
from chatbot.answer.citations.model_statements import check_statements
from ingestion.language.numbers import find_figures
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

BEHIND = (
    "The bank runs 847 branches, including 583 in Peru, 107 in Chile, 40 in Cuba, 31 in Japan and 29 in "
    "Korea."
)
BEFORE = "Of these wages took 12.4 million, rents at 5.1 million, fuel at 3.3 million, water at 2.2 million."
AGREED = "Of 90 members 40 in all and 20 in part agreed."
SENTENCES = {"behind": BEHIND, "before": BEFORE, "agreed": AGREED}
# Where the figure stands, its own item and the others, "-" for none.
OWN_ITEMS = """
behind | 29 | korea | peru chile cuba japan
behind | 583 | peru | chile cuba japan korea
behind | 847 | - | -
before | 3.3 million | fuel | rent water
agreed | 40 | - | -
"""


def items(named: str) -> set[str]:
    return set() if named == "-" else set(named.split())


@pytest.mark.parametrize(("place", "figure", "own", "others"), case_rows(OWN_ITEMS))
def test_each_figure_of_a_list_is_of_its_item(place: str, figure: str, own: str, others: str) -> None:
    sentence = SENTENCES[place]
    figures = find_figures(sentence)
    places = [(one.start, one.end) for one in figures]
    which = [one.text for one in figures].index(figure)
    found, rest = item_of(sentence, places, which)
    assert set(found) == items(own)
    assert set().union(*rest) == items(others)


ITEMS = """
The bank has 31 branches in Japan | supported
The bank has 29 branches in Japan | present_elsewhere
Of the 847 branches 583 are in Peru | supported
Branches in Japan are few, 31 | supported
Rents came to 3.3 million | present_elsewhere
Rents came to 5.1 million | supported
Fuel and water came to 3.3 million and 2.2 million | supported
"""


@pytest.mark.parametrize(("said", "status"), case_rows(ITEMS))
def test_a_figure_of_another_item_of_the_list_is_doubted(said: str, status: str) -> None:
    page = hit_of(f"{BEHIND}\n\n{BEFORE}\n")
    prompt = prompt_over(page, question="How many?")
    checked = check_statements(f"{said} [S1-7f3a].", prompt)
    assert {check.status for check in checked.numbers} == {status}
