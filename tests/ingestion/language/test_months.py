"""Months in any form and in the languages of the table."""

import pytest

from ingestion.language.months import MONTHS, month_number
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentences
from ingestion.language.terms import terms
from tests.case_rows import case_rows

MONTH_FORMS = case_rows("""
January  | 1
Sept.    | 9
märz     | 3
Jänner   | 1
Dezember | 12
""")


@pytest.mark.parametrize(("word", "number"), MONTH_FORMS)
def test_a_month_is_known_in_any_form(word: str, number: str) -> None:
    place = int(number)
    assert month_number(word) == place
    month, _ = terms(f"{word} 2024")
    (named,) = terms(MONTHS[place - 1])
    assert month == named


def test_a_german_date_is_no_amount_and_ends_its_sentence() -> None:
    (figure,) = find_figures("Am 15 März 2024 waren es 3,5 mrd.")
    assert figure.text == "3,5 mrd"
    assert len(sentences("It ends in Dezember. The board stays.")) == 2
