"""Months in any form and in the languages of the table."""

import pytest

from ingestion.language.months import MONTHS, month_number
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentences
from ingestion.language.terms import terms


@pytest.mark.parametrize(
    ("word", "number"), [("January", 1), ("Sept.", 9), ("märz", 3), ("Jänner", 1), ("Dezember", 12)]
)
def test_a_month_is_known_in_any_form(word: str, number: int) -> None:
    assert month_number(word) == number
    assert terms(f"{word} 2024")[0] == terms(MONTHS[number - 1])[0]


def test_a_german_date_is_no_amount_and_ends_its_sentence() -> None:
    assert [figure.text for figure in find_figures("Am 15 März 2024 waren es 3,5 mrd.")] == ["3,5 mrd"]
    assert len(sentences("It ends in Dezember. The board stays.")) == 2
