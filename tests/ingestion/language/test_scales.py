"""Scale words: every one is read in any case and number, and each scale has a name."""

import pytest

from ingestion.language.numbers import find_figures, magnitude
from ingestion.language.scales import SCALE_NAMES, SCALES, scale_of
from tests.case_rows import case_rows


@pytest.mark.parametrize("word", SCALES)
def test_each_word_is_read_in_any_case_and_number(word: str) -> None:
    scale = SCALES[word]
    assert scale_of(word) == scale
    assert scale_of(word.upper()) == scale
    assert scale_of(f"{word}s") == scale


def test_no_word_is_no_scale_and_each_scale_has_a_name() -> None:
    assert scale_of(None) == scale_of("") == 1.0
    named = {scale_of(name) for name in SCALE_NAMES.values()}
    assert named == set(SCALES.values())
    assert named == set(SCALE_NAMES)


SOUTH_ASIAN = case_rows("""
Rs 5 arab were spent.                          | 5e9
An outlay of 2.5 kharab rupees was approved.   | 2.5e11
The 22 Arab states met.                        | 22
""")


@pytest.mark.parametrize(("text", "value"), SOUTH_ASIAN)
def test_south_asian_words_scale_and_the_people_do_not(text: str, value: str) -> None:
    (figure,) = find_figures(text)
    assert magnitude(figure) == float(value)


def test_a_milliard_is_a_billion() -> None:
    (figure,) = find_figures("The Bundesbank holds 3.2 mrd euros of it.")
    assert magnitude(figure) == 3.2e9
    assert figure.unit == "EUR"
