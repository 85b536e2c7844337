"""LaTeX of models as plain text."""

from __future__ import annotations

import time

import pytest

from chatbot.answer.citations.latex import plain_arithmetic


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (
            r"\[ \text{Ratio} = \frac{\$4,698.8}{\$3,802.1} \approx 1.24 \]",
            " Ratio = $4,698.8 / $3,802.1 ≈ 1.24 ",
        ),
        (r"\( \frac{2 + 3}{4} \times 100\% \)", " (2 + 3) / 4 × 100% "),
        (r"\dfrac{\frac{6}{3}}{2}", "(6 / 3) / 2"),
        (
            "It cost $5 million, C:\\frac stays, and so does a\\b.",
            "It cost $5 million, C:\\frac stays, and so does a\\b.",
        ),
        ("No arithmetic here: 5 / 2.", "No arithmetic here: 5 / 2."),
    ],
)
def test_arithmetic_is_written_plainly(written: str, plain: str) -> None:
    assert plain_arithmetic(written) == plain


@pytest.mark.alone
def test_it_takes_no_more_than_the_length() -> None:
    endless = r"\frac{" * 20_000
    began = time.perf_counter()
    plain_arithmetic(endless)
    assert time.perf_counter() - began < 2
