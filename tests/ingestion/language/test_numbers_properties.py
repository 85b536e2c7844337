"""What holds of any figure and any period, however it is written."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.numbers import Figure, find_figures
from ingestion.language.periods import find_periods

WORDS = "$4.5 million|3.0 per cent|Rs. 12 crore|25 basis points|in 2024|of debt|(0.5)|,|and|\n".split("|")
SAID = st.lists(st.sampled_from(WORDS), max_size=15)


def facts(figure: Figure) -> tuple[object, ...]:
    """What does not depend on where the figure stands."""
    return figure.text, figure.value, figure.unit, figure.scale


@given(SAID, SAID)
def test_what_stands_in_another_paragraph_changes_no_figure(said: list[str], before: list[str]) -> None:
    text = " ".join(said)
    above = f"{' '.join(before)} were.\n\nThe rest is told below.\n\n"
    together = find_figures(above + text)
    below = [facts(figure) for figure in together if figure.start >= len(above)]
    alone = [facts(figure) for figure in find_figures(text)]
    assert below == alone


@given(SAID)
def test_periods_stand_where_they_say_in_order(said: list[str]) -> None:
    text = " ".join(said)
    found = find_periods(text)
    for period in found:
        assert text[period.start : period.end] == period.text
        assert period.start_year <= period.end_year
    for before, after in pairwise(found):
        assert before.end <= after.start
    assert len(found) == text.count("2024")
