"""The measure of growth tells what grows with the size from what grows with its square."""

import pytest

from tests.timing import growth


@pytest.mark.timed
def test_linear_and_square_are_told_apart() -> None:
    def linear(size: int) -> None:
        sum(range(1_000 * size))

    def square(size: int) -> None:
        for _ in range(size):
            sum(range(size))

    assert growth(linear, small=100, large=800) < 3
    assert growth(square, small=1_000, large=8_000) > 4
