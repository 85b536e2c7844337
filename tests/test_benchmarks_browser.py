"""What the benchmark of the pages makes of its measurements is right; how fast anything is stays out of
the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from benchmarks.browser import Measured, Measurements, p95


def test_it_says_how_it_is_used(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/browser.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:") and not done.stderr


@pytest.mark.parametrize(("count", "expected"), [(1, 1), (19, 19), (20, 19), (21, 20), (100, 95)])
def test_95_of_100_do_not_exceed_p95(count: int, expected: int) -> None:
    assert p95(range(count, 0, -1)) == expected


def test_who_waits_with_others_is_held_to_p95_and_who_waits_alone_to_the_median() -> None:
    values = [100.0] * 18 + [3_000.0] * 2
    assert Measured("20 at once, in turn", values=values).judged() == 3_000
    assert Measured("citation", values=values).judged() == 100


def test_the_table_says_whether_a_limit_is_kept() -> None:
    measurements = Measurements()
    measurements.take("citation", 100.0, 300.0)
    measurements.take("first token", 700.0)
    measurements.take("whole answer", 900.0)
    measurements.take("memory", 3.25, unit="MB")
    lines = [line.split(" | ") for line in measurements.table().splitlines()[2:]]
    assert [line[6] for line in lines] == ["kept, 400", "NOT kept, 500", "–", "kept, 8"]
    assert [line[0] for line in lines] == [
        "| citation, ms",
        "| first token, ms",
        "| whole answer, ms",
        "| memory, MB",
    ]
    assert lines[3][1] == "3.2"
