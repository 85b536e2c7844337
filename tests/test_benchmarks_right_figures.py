"""What the benchmark of right figures takes for right; how many are doubted stays out of these tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.right_figures import RightFigure, draw, is_printed_in, of_answer, report
from chatbot.records import Answer, Citation, NumberCheck


@pytest.mark.parametrize(
    ("figure", "text", "there"),
    [
        ("$ 1,093 thousand", "Bonds $ 1,093 1,200", True),
        ("1,093", "Bonds 21,093", False),
        ("1.5", "a rate of 1.55", False),
        ("93", "Bonds 1,093", False),
        ("5", "5, 6 and 7.", True),
        ("nine years", "nine years", False),
    ],
)
def test_a_figure_is_printed_where_its_digits_stand_alone(figure: str, text: str, there: bool) -> None:
    assert is_printed_in(figure, text) is there


def checked(text: str, status: str) -> NumberCheck:
    return NumberCheck(text, 5.0, None, 1.0, None, status, "S1", reason="it stands elsewhere")


def test_figures_of_verified_quotes_are_drawn_once_and_the_doubted_are_listed() -> None:
    quote = Citation("S1", "a.pdf", 1, None, quote="Total 12,500", verified=True, version=1)
    answer = Answer(
        "q",
        "q",
        "Total 12,500",
        True,
        citations=(quote,),
        numbers=(checked("12,500", "supported"), checked("13,000", "unsupported")),
    )
    right = list(of_answer("q", answer))
    assert [one.check.text for one in right] == ["12,500"]
    doubted = RightFigure("simple", "How much?", "It was 5.", checked("5", "unsupported"))
    drawn = draw([*right, *right, doubted], seed=1, most=200)
    assert len(drawn) == 2 and len(draw(drawn, seed=1, most=1)) == 1
    assert "| all | 2 | 1 |" in report(drawn) and "5: unsupported, it stands elsewhere" in report(drawn)


def test_the_script_says_how_it_is_used(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/right_figures.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:")
