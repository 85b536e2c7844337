"""Weights of passages learned from right ones."""

import numpy as np
import pytest

from benchmarks import calibrate_passages
from tests.commands import usage_of


def passages_of(group: str, right: int, count: int = 8) -> Example:
    """A question whose right passage alone has the first sign; the second says nothing."""
    places = np.arange(count)
    is_right = places == right
    idle = places * 7 % 5 / 5
    signs = np.column_stack([is_right.astype(float), idle])
    return Example(group, signs, is_right)


def test_the_sign_of_right_passages_gets_the_weight() -> None:
    examples = [passages_of(f"{group}.pdf", right) for group in range(4) for right in range(5)]
    first, second = fit(examples)
    assert first > 5 * abs(second)
    assert ranks_left_out(examples) == [0] * 20
    with pytest.raises(ValueError, match="right passage"):
        fit([])


def test_the_rank_counts_what_comes_before_the_first_right_passage() -> None:
    signs, right = np.array([[3.0], [1.0], [2.0]]), np.array([False, True, True])
    example = calibrate_passages.Example("A.pdf", signs, right)
    assert calibrate_passages.rank(example, np.array([1.0])) == 1
    assert calibrate_passages.rank(example, np.array([-1.0])) == 0


def test_the_script_runs_as_the_readme_calls_it() -> None:
    assert "--ridge" in usage_of("calibrate_passages.py")
