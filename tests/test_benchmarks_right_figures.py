"""What the benchmark of right figures takes for right; how many are doubted stays out of these tests."""

import pytest

from benchmarks.right_figures import RightFigure, draw, is_printed_in, of_answer, report
from chatbot.records import Answer, Citation, NumberCheck
from tests.case_rows import case_rows
from tests.commands import usage_of

PRINTED = case_rows("""
$ 1,093 thousand | Bonds $ 1,093 1,200
5                | 5, 6 and 7.
""")
NOT_PRINTED = case_rows("""
1,093      | Bonds 21,093
1.5        | a rate of 1.55
93         | Bonds 1,093
nine years | nine years
""")


@pytest.mark.parametrize(("figure", "text"), PRINTED)
def test_a_figure_is_printed_where_its_digits_stand_alone(figure: str, text: str) -> None:
    assert is_printed_in(figure, text) is True


def checked(text: str, status: str) -> NumberCheck:
    return NumberCheck(text, 5.0, None, 1.0, None, status, "S1", reason="it stands elsewhere")


@pytest.mark.parametrize(("figure", "text"), NOT_PRINTED)
def test_a_figure_is_not_printed_where_its_digits_are_part_of_others(figure: str, text: str) -> None:
    assert is_printed_in(figure, text) is False


def test_figures_of_verified_quotes_are_drawn_once_and_the_doubted_are_listed() -> None:
    quote = Citation("S1", "a.pdf", 1, None, quote="Total 12,500", verified=True, version=1)
    numbers = checked("12,500", "supported"), checked("13,000", "unsupported")
    answer = Answer("q", "q", "Total 12,500", True, citations=(quote,), numbers=numbers)
    (right,) = of_answer("q", answer)
    assert right.check.text == "12,500"
    doubted = RightFigure("simple", "How much?", "It was 5.", checked("5", "unsupported"))
    drawn = draw([right, right, doubted], seed=1, most=200)
    assert len(drawn) == 2
    (_,) = draw(drawn, seed=1, most=1)
    table = report(drawn)
    assert "| all | 2 | 1 |" in table
    assert "5: unsupported, it stands elsewhere" in table


def test_the_script_says_how_it_is_used() -> None:
    assert usage_of("right_figures.py").startswith("usage:")
