"""Words that tell one row from another."""

from __future__ import annotations

from chatbot.evidence.figure_names import label_words


def test_currencies_tell_rows_apart_and_units_do_not() -> None:
    assert label_words("Yen") != label_words("Euro") and label_words("Yen")
    assert label_words("Revenue in US dollars, million") == label_words("Revenue")
    assert label_words("Exports to Arab countries") != label_words("Exports to countries")
