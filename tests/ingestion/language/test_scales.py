"""Scale words: every one is read in any case and number, and each scale has a name."""

import pytest

from ingestion.language.numbers import find_figures, magnitude
from ingestion.language.scales import SCALE_NAMES, SCALES, scale_of


@pytest.mark.parametrize("word", SCALES)
def test_each_word_is_read_in_any_case_and_number(word: str) -> None:
    assert scale_of(word) == scale_of(word.upper()) == scale_of(f"{word}s") == SCALES[word]


def test_no_word_is_no_scale_and_each_scale_has_a_name() -> None:
    assert scale_of(None) == scale_of("") == 1.0
    assert {scale_of(name) for name in SCALE_NAMES.values()} == set(SCALES.values()) == set(SCALE_NAMES)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Rs 5 arab were spent.", 5e9),
        ("An outlay of 2.5 kharab rupees was approved.", 2.5e11),
        ("The 22 Arab states met.", 22),
    ],
)
def test_south_asian_words_scale_and_the_people_do_not(text: str, value: float) -> None:
    assert [magnitude(figure) for figure in find_figures(text)] == [value]


def test_a_milliard_is_a_billion() -> None:
    (figure,) = find_figures("The Bundesbank holds 3.2 mrd euros of it.")
    assert (magnitude(figure), figure.unit) == (3.2e9, "EUR")
