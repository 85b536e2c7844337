"""Scale words: every one is read in any case and number, and each scale has a name."""

import pytest

from ingestion.language.scales import SCALE_NAMES, SCALES, scale_of


@pytest.mark.parametrize("word", SCALES)
def test_each_word_is_read_in_any_case_and_number(word: str) -> None:
    assert scale_of(word) == scale_of(word.upper()) == scale_of(f"{word}s") == SCALES[word]


def test_no_word_is_no_scale_and_each_scale_has_a_name() -> None:
    assert scale_of(None) == scale_of("") == 1.0
    assert {scale_of(name) for name in SCALE_NAMES.values()} == set(SCALES.values()) == set(SCALE_NAMES)
