"""What the benchmark of the API makes of its measurements is right."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from benchmarks.api import table
from tests.commands import usage_of


def test_it_says_how_it_is_used() -> None:
    assert usage_of("api.py").startswith("usage:")


@pytest.mark.parametrize(
    ("name", "judged", "verdict"),
    [
        ("overhead", 14.9, "kept, 15"),
        ("overhead", 15.1, "NOT kept, 15"),
        ("throughput", 0.91, "kept, 0.9"),
        ("throughput", 0.89, "NOT kept, 0.9"),
    ],
)
def test_the_table_says_whether_a_limit_is_kept(name: str, judged: float, verdict: str) -> None:
    assert f"| {verdict} |" in table({name: {"api": 1.0, "judged": judged}})
