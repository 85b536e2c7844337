"""Weights of passages learned from right ones."""

import numpy as np
import pytest

from benchmarks import calibrate_passages


def passages_of(group: str, right: int, count: int = 8) -> calibrate_passages.Example:
    """A question whose right passage alone has the first sign; the second says nothing."""
    signs = np.array([[float(at == right), (at * 7 % 5) / 5] for at in range(count)])
    return calibrate_passages.Example(group, signs, np.arange(count) == right)


def test_the_sign_of_right_passages_gets_the_weight() -> None:
    examples = [passages_of(f"{group}.pdf", right) for group in range(4) for right in range(5)]
    first, second = calibrate_passages.fit(examples)
    assert first > 5 * abs(second)
    assert calibrate_passages.ranks_left_out(examples) == [0] * 20
    with pytest.raises(ValueError, match="right passage"):
        calibrate_passages.fit([])


def test_the_rank_counts_what_comes_before_the_first_right_passage() -> None:
    signs, right = np.array([[3.0], [1.0], [2.0]]), np.array([False, True, True])
    example = calibrate_passages.Example("A.pdf", signs, right)
    assert calibrate_passages.rank(example, np.array([1.0])) == 1
    assert calibrate_passages.rank(example, np.array([-1.0])) == 0
