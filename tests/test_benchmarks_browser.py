"""What the benchmark of the pages makes of its measurements is right; how fast anything is stays out of
the tests.
"""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from benchmarks.browser import Measured, Measurements, p95
from tests.case_rows import case_rows
from tests.commands import usage_of


def test_it_says_how_it_is_used() -> None:
    usage = usage_of("benchmarks/browser.py")
    assert usage.startswith("usage:")


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
def test_95_of_100_do_not_exceed_p95(count: int, expected: int) -> None:
    falling = range(count, 0, -1)
    assert p95(falling) == expected


def test_who_waits_with_others_is_held_to_p95_and_who_waits_alone_to_the_median() -> None:
    values = [100.0] * 18 + [3_000.0] * 2
    with_others = Measured("20 at once, in turn", values=values)
    alone = Measured("citation", values=values)
    assert with_others.judged() == 3_000
    assert alone.judged() == 100


def test_the_table_says_whether_a_limit_is_kept() -> None:
    measurements = Measurements()
    measurements.take("citation", 100.0, 300.0)
    measurements.take("first token", 700.0)
    measurements.take("whole answer", 900.0)
    measurements.take("memory", 3.25, unit="MB")
    rows = case_rows(measurements.table())
    citation, first_token, answer, memory = rows[2:]
    assert citation[1] == "citation, ms"
    assert citation[7] == "kept, 400"
    assert first_token[1] == "first token, ms"
    assert first_token[7] == "NOT kept, 500"
    assert answer[1] == "whole answer, ms"
    assert answer[7] == "–"
    assert memory[1] == "memory, MB"
    assert memory[7] == "kept, 8"
    assert memory[2] == "3.2"
