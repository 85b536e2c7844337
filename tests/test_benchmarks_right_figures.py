"""What the benchmark of right figures takes for right; how many are doubted stays out of these tests."""

import pytest

from benchmarks.right_figures import is_printed_in
from tests.case_rows import case_rows

FIGURES = case_rows("""
yes | $ 1,093 thousand | Bonds $ 1,093 1,200
yes | 5                | 5, 6 and 7.
no  | 1,093            | Bonds 21,093
no  | 1.5              | a rate of 1.55
no  | 93               | Bonds 1,093
no  | nine years       | nine years
""")


@pytest.mark.parametrize(("printed", "figure", "text"), FIGURES)
def test_a_figure_is_printed_where_its_digits_stand_alone(printed: str, figure: str, text: str) -> None:
    assert is_printed_in(figure, text) is (printed == "yes")
