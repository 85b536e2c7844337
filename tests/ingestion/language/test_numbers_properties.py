"""What holds of any figure and any period, however it is written."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingestion.language.numbers import Figure, find_figures, magnitude, same_value, units_agree
from ingestion.language.periods import find_periods, periods_agree

UNITS = st.sampled_from([None, "USD", "EUR", "INR", "%", "percentage points", "basis points", "x"])
VALUES = st.integers(-10_000, 10_000).map(lambda tenths: tenths / 10)
SCALES = st.sampled_from([1.0, 1e3, 1e6, 1e7])
FIGURES = st.builds(Figure, st.just(""), st.just(0), st.just(0), VALUES, UNITS, SCALES)
YEARS = st.integers(1950, 2049)
WRITTEN = st.one_of(
    YEARS.map(str),
    YEARS.map(lambda year: f"{year}-{(year + 1) % 100:02}"),
    YEARS.map(lambda year: f"FY{year}"),
    YEARS.map(lambda year: f"Q2 {year}"),
)
WORDS = "$4.5 million|3.0 per cent|Rs. 12 crore|25 basis points|in 2024|of debt|(0.5)|,|and|\n".split("|")
SAID = st.lists(st.sampled_from(WORDS), max_size=15)


@given(FIGURES, FIGURES)
def test_agreement_does_not_depend_on_the_order(one: Figure, other: Figure) -> None:
    assert units_agree(one, other) == units_agree(other, one)
    assert same_value(one, other) == same_value(other, one)


@given(FIGURES)
def test_a_figure_agrees_with_itself_and_not_with_ten_times_itself(figure: Figure) -> None:
    assert units_agree(figure, figure)
    assert same_value(figure, figure)
    assert same_value(figure, figure, rounding=True)
    tenfold = replace(figure, value=10 * figure.value)
    assert not figure.value or not same_value(figure, tenfold)


@given(FIGURES)
def test_the_magnitude_grows_with_value_and_scale(figure: Figure) -> None:
    scaled = replace(figure, scale=figure.scale * 1000)
    expected = 1000 * magnitude(figure)
    difference = abs(magnitude(scaled) - expected)
    assert difference <= 1e-6 * abs(expected)
    negative = replace(figure, value=-figure.value)
    assert magnitude(negative) == -magnitude(figure)


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


@given(WRITTEN)
def test_a_period_is_found_whole_and_agrees_with_itself_best(written: str) -> None:
    (found,) = find_periods(f"Spending rose in {written} as planned.")
    assert written.endswith(found.text[-2:])
    assert periods_agree(found, found) == 2


@given(WRITTEN, WRITTEN)
def test_periods_that_share_no_year_do_not_agree(one: str, other: str) -> None:
    (first,) = find_periods(f"in {one},")
    (second,) = find_periods(f"in {other},")
    if first.end_year < second.start_year - 1 or second.end_year < first.start_year - 1:
        assert periods_agree(first, second) == 0
        assert periods_agree(second, first) == 0


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
