"""What the benchmark of the pages makes of its measurements is right; how fast anything is stays out of
the tests.
"""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from benchmarks.browser import Measured, Measurements, p95
from tests.commands import usage_of


def test_it_says_how_it_is_used() -> None:
    assert usage_of("browser.py").startswith("usage:")


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
def test_95_of_100_do_not_exceed_p95(count: int, expected: int) -> None:
    assert p95(range(count, 0, -1)) == expected


MEASURED = ["| citation, ms", "| first token, ms", "| whole answer, ms", "| memory, MB"]


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
    rows = measurements.table().splitlines()[2:]
    lines = [row.split(" | ") for row in rows]
    assert [line[6] for line in lines] == ["kept, 400", "NOT kept, 500", "–", "kept, 8"]
    assert [line[0] for line in lines] == MEASURED
    assert lines[3][1] == "3.2"
